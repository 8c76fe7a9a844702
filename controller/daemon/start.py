"""From a configuration to a table that stands where it stood: self-check, replay, all the parts.

Nothing is shown, sent or accepted before all of this has passed; what is wrong is said with its
file and code, and the table does not start.
"""

from __future__ import annotations

import os
import secrets
import time
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from pathlib import Path
from typing import Any

from nacl.secret import SecretBox

import controller.table
from controller.chips.register import ChipRegister
from controller.chips.signing import load_public as chips_key
from controller.config.live import LiveConfig, line_kinds
from controller.daemon.entries import dump, load
from controller.daemon.identity import opened_body
from controller.daemon.replay import Replayed, replay
from controller.daemon.scribe import Scribe
from controller.daemon.sealing import CardSealer, TableKey, load_key
from controller.daemon.standing import Opening
from controller.daemon.writer import Writer
from controller.rules.books import BOOKS
from controller.selection.selector import Selector
from controller.signed.keys import load_public
from controller.staff.attempts import Attempt, Attempts
from controller.staff.document import TRADE
from controller.staff.register import StaffDesk, StaffRegister
from controller.table.core import TableCore
from controller.table.spots import SeatMap, missing_spots
from controller.table.staff import DEALER_1, SUPERVISOR_1, NoRegister, Staff
from controller.table.texts import Texts, parse_texts
from drivers.build import build, vendor_kinds
from drivers.rig import Rig
from record.journal import Journal

KINDS = line_kinds()
MIB, KIB = 1 << 20, 1 << 10


class WrongKey(ValueError):
    """The sealing key is not the one that the round under way was sealed with."""


class MissingSpots(ValueError):
    """The layout has no antenna for a spot that the game's book needs."""


@dataclass
class Started:
    """Everything a runtime needs."""

    config: LiveConfig
    journal: Journal
    replayed: Replayed
    writer: Writer
    rig: Rig
    opened: dict[str, Any]


def wall_ms() -> int:
    return time.time_ns() // 1_000_000


def start(config: LiveConfig, *, today: date | None = None) -> Started:
    """Open the journal, replay it, and put the table together."""
    today = today or datetime.now().astimezone().date()
    check_spots(config)
    key = _key(config)
    register = ChipRegister.open(
        config.chips.register,
        chips_key(config.chips.public_key),
        config.chips.minimum_version,
        config.chips.house,
    )
    options = config.journal
    journal = Journal.open(
        options.path,
        table=config.name,
        segment_bytes=options.segment_mib * MIB,
        reserve_bytes=options.reserve_kib * KIB,
        retention_days=options.retention_days,
        now_ms=wall_ms(),
    )
    try:
        return _put_together(config, journal, key, register, today)
    except BaseException:
        journal.close()
        raise


def _put_together(
    config: LiveConfig, journal: Journal, key: TableKey, register: ChipRegister, today: date
) -> Started:
    cards = CardSealer(key, journal.journal_id, secrets.token_bytes)
    opening = Opening(config.game, _settings(config), today.isoformat())
    replayed = replay(journal.records(), cards, opening)
    scribe = Scribe(replayed.memory, journal, cards, wall_ms)
    selector = _selector(journal.journal_id, key)
    for record in replayed.selections:
        selector.replay(record.body)
    if not selector.opens():
        raise WrongKey(
            f"keys.sealing: {config.keys.sealing}: does not open the draw of round "
            f"{selector.open_round}; give the key this journal was written with (E-RUN-002)"
        )
    attempts = [
        Attempt(**load(record.body)) for record in journal.records() if record.kind == "attempt"
    ]
    staff = _staff(config, journal, attempts)
    simulated = isinstance(staff, NoRegister)
    core = TableCore(
        replayed.state,
        SeatMap(config.layout.spots),
        register.find,
        staff,
        _texts(config),
        scribe,
        house=config.chips.house,
        card_devices=frozenset(
            line.name for line in config.layout.lines if line.kind not in ("feig", "alpha")
        ),
        dealer=DEALER_1 if simulated else replayed.dealer,
        supervisor=SUPERVISOR_1 if simulated else None,
        last_keys=replayed.last_keys,
        untaken_credits=replayed.untaken_credits,
        now_us=time.monotonic_ns() // 1000,
    )
    core.resume(table_closed=replayed.table_closed, undo=replayed.memory.undo)
    writer = Writer(core, scribe, journal, selector, wall_ms)
    if replayed.lock is not None:
        writer.locked = str(load(replayed.lock.body).get("why", "locked out"))
    rig = build(config.layout, vendor_kinds())
    opened = opened_body(config.game, config.effective_hash, config.layout_sha256, journal.repaired)
    return Started(config, journal, replayed, writer, rig, opened)


def check_spots(config: LiveConfig) -> None:
    """Every seat has an antenna for every spot of the book."""
    places = config.layout.spots.values()
    missing = missing_spots(BOOKS[config.game], config.table.seats, places)
    if missing:
        named = ", ".join(f"{seat}/{spot}" for seat, spot in missing)
        raise MissingSpots(
            f"{config.layout_path}: line.antennas: no antenna for {named}; "
            f"expected one for every spot of {config.game} (E-RUN-001)"
        )


def _settings(config: LiveConfig) -> Mapping[str, Any]:
    """The rule settings as the configuration states them, in JSON values."""
    prefix = "settings."
    return {
        key.removeprefix(prefix): one.value
        for key, one in config.values.items()
        if key.startswith(prefix) and one.file is not None
    }


def _key(config: LiveConfig) -> TableKey:
    folder = os.environ.get("CREDENTIALS_DIRECTORY")
    credentials = Path(folder) if folder else None
    path = config.secret_path("keys.sealing", config.keys.sealing, credentials)
    return load_key(path, credentials)


def _selector(journal_id: str, key: TableKey) -> Selector:
    box = SecretBox(key.for_frame("selection seeds", 0))
    return Selector(
        journal_id,
        secrets.token_bytes,
        lambda seed: bytes(box.encrypt(seed)),
        lambda sealed: bytes(box.decrypt(sealed)),
    )


def _staff(config: LiveConfig, journal: Journal, attempts: list[Attempt]) -> Staff:
    if config.staff.register is None or config.staff.public_key is None:
        return NoRegister()
    public_key = load_public(TRADE, config.staff.public_key)
    register = StaffRegister.open(config.staff.register, public_key)

    def note(attempt: Attempt) -> None:
        journal.append("attempt", dump({"what": attempt.what, "who": attempt.who}), wall_ms())

    return StaffDesk(
        register,
        Attempts.restored(attempts, time.monotonic_ns() // 1_000_000),
        note,
        now_ms=lambda: time.monotonic_ns() // 1_000_000,
        today=lambda: datetime.now().astimezone().date(),
    )


def _texts(config: LiveConfig) -> Texts:
    language = config.display.language
    if isinstance(language, Path):
        return parse_texts(language.read_text("utf-8"))
    folder = Path(controller.table.__file__).parent / "texts"
    return parse_texts((folder / f"{language}.toml").read_text("utf-8"))
