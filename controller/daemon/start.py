"""From a configuration to a table that stands where it stood: self-check, replay, all the parts.

Nothing is shown, sent or accepted before all of this has passed; what is wrong is said with its
file and code, and the table does not start.
"""

from __future__ import annotations

import secrets
import time
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any, Final

from nacl.secret import SecretBox

from controller.config.keys import link_keys, sealing_key
from controller.config.live import LiveConfig, line_kinds
from controller.daemon.changing import CONFIGURATION, Changing, Reloaded
from controller.daemon.decks import DECKWATCH, Decks
from controller.daemon.device_lockouts import DEVICE, DeviceLockouts
from controller.daemon.frames import Frames, open_frames
from controller.daemon.house_options import HouseOptions, house_options
from controller.daemon.linking import hearing_of
from controller.daemon.writer import Writer
from controller.history.entries import dump, load
from controller.history.errors import ReplayError
from controller.history.identity import opened_body
from controller.history.memory import differs, reopen
from controller.history.replay import TEST, UNREADABLE, Replayed, left_on, replay
from controller.history.sealing import CardSealer, TableKey
from controller.history.selection.selector import Selector
from controller.history.snapshot import Opening
from controller.history.table_log import TableLog
from controller.link.cursor import Places
from controller.link.witness import WITNESS, receipt_in
from controller.registers.chips.register import ChipRegister
from controller.registers.keys import load_public
from controller.registers.kinds import CHIPS, STAFF
from controller.registers.staff.attempts import Attempt, Attempts
from controller.registers.staff.register import StaffDesk, StaffRegister
from controller.rules.engine.state import Phase
from controller.rules.errors import UnderfeltError
from controller.table.core import TableCore
from controller.table.spots import SeatMap
from controller.table.staff import DEALER_1, SUPERVISOR_1, NoRegister, Staff
from drivers.build import build, vendor_kinds
from drivers.rig import Rig
from record.journal import Disk, Journal, Record
from record.link.keys import SecretKey
from record.link.messages import Receipt
from record.link.outbox import OUTBOX

KINDS = line_kinds()
MIB, KIB = 1 << 20, 1 << 10
UNTOLD: Final = 100


class WrongKey(UnderfeltError):
    """The sealing key is not the one that the round under way was sealed with: exit 78."""

    exit_code = 78
    code = "E-RUN-002"


class Retired(UnderfeltError):
    """The journal was closed for good: exit 78."""

    exit_code = 78
    code = "E-RUN-006"


class OtherGame(UnderfeltError):
    """The journal is of another game than the configuration: exit 78."""

    exit_code = 78
    code = "E-RUN-003"


@dataclass
class Started:
    """Everything a runtime needs."""

    config: LiveConfig
    journal: Journal
    replayed: Replayed
    writer: Writer
    rig: Rig
    opened: dict[str, Any]
    frames: Frames
    link_keys: tuple[SecretKey, str] | None
    places: Places
    receipt: Receipt | None
    """The link server's last one in the journal."""
    attempts: deque[Attempt]
    """Sign-ons that the log has not told of yet."""


def wall_ms() -> int:
    return time.time_ns() // 1_000_000


def utc_offset_min() -> int:
    """The table's clock against UTC: a gaming day has a date."""
    return (datetime.now().astimezone().utcoffset() or timedelta()) // timedelta(minutes=1)


def start(
    config: LiveConfig,
    *,
    today: date | None = None,
    disk: Disk | None = None,
    key: TableKey | None = None,
) -> Started:
    """Open the journal, replay it, and put the table together. A check gives a ``disk`` that writes
    nothing, and a ``key`` where it cannot have the table's."""
    today = today or datetime.now().astimezone().date()
    taken = house_options(config)
    key = key or sealing_key(config)
    register = ChipRegister.open(
        config.chips.register,
        load_public(CHIPS, config.chips.public_key),
        config.chips.minimum_version,
        config.chips.house,
    )
    options = config.journal
    journal = Journal.open(
        options.path,
        table=config.name,
        disk=disk,
        segment_bytes=options.segment_mib * MIB,
        reserve_bytes=options.reserve_kib * KIB,
        retention_days=options.retention_days,
        keep_from_seq=None if config.link is None else 1,  # until the server says what it has
        now_ms=wall_ms(),
    )
    try:
        return _put_together(config, journal, key, register, taken=taken, today=today)
    except BaseException:
        journal.close()
        raise


def _put_together(
    config: LiveConfig,
    journal: Journal,
    key: TableKey,
    register: ChipRegister,
    *,
    taken: HouseOptions,
    today: date,
) -> Started:
    cards = CardSealer(key, journal.journal_id, secrets.token_bytes)
    opening = opening_of(config, today)
    replayed = replay(journal.records(), cards, opening)
    kept = _kept(journal)
    changing = _changing(config, replayed, opening, kept.configuration)
    table_log = TableLog(replayed.memory, journal, cards, wall_ms)
    selector = _selector(journal.journal_id, key)
    if replayed.state.rules.table.selector == "table":
        for record in replayed.selections:
            selector.replay(record.body)
    if not selector.opens():
        raise WrongKey(
            f"keys.sealing: {config.keys.sealing}: does not open the draw of round "
            f"{selector.open_round}; give the key this journal was written with ({WrongKey.code})"
        )
    told: deque[Attempt] = deque(maxlen=UNTOLD)
    staff = _staff(config, journal, kept.attempts, told)
    simulated = isinstance(staff, NoRegister)
    card_devices = frozenset(
        line.name
        for line in config.layout.lines
        if line.kind not in ("feig", "alpha") and not line.antennas
    )
    core = TableCore(
        table_log,
        SeatMap(config.layout.spots),
        register.find,
        staff,
        taken.texts,
        house=config.chips.house,
        options=taken.options,
        card_devices=card_devices,
        dealer=DEALER_1 if simulated else replayed.dealer,
        supervisor=SUPERVISOR_1 if simulated else None,
        now_us=time.monotonic_ns() // 1000,
    )
    writer = Writer(core, table_log, journal, selector)
    writer.changing, writer.decks = changing, Decks.restored(kept.deckwatch)
    writer.chosen, writer.test.left_on = taken, kept.testing
    writer.meters = frozenset(
        (*(name for name in config.layout.boards if name.startswith("meter-")),
         *(line.name for line in config.layout.lines if line.kind == "alpha")),
    )  # fmt: skip
    writer.hearing = hearing_of(config, journal, kept.receipt)
    if replayed.lock is not None:
        writer.locked = str(load(replayed.lock.body).get("why", "locked out"))
    rig = build(config.layout, vendor_kinds())
    kept.lockouts.lock(rig, {line.name: line.serial for line in config.layout.lines})
    # A device that never answers never tells its state: it is unknown from the start.
    waited = {"state": "unknown", "code": "", "detail": "has not answered yet"}
    writer.devices = {name: dict(waited) for name in rig.counters() if name != "bus"}
    opened = opened_body(config.game, changing.in_force, config.layout_sha256, journal.repaired)
    opened["utc_offset_min"] = utc_offset_min()
    opened["configuration_change"] = None if changing.waiting is None else changing.waiting.hash
    frames = open_frames(config.journal.path, key, secrets.token_bytes, card_devices)
    return Started(
        config, journal, replayed, writer, rig, opened, frames, link_keys(config), kept.places,
        kept.receipt, told,
    )  # fmt: skip


@dataclass(slots=True)
class _Kept:
    """What a start needs from the journal besides the table itself."""

    attempts: list[Attempt]
    deckwatch: bytes | None = None
    configuration: str = ""
    """The hash that the round under way was opened with."""
    testing: bool = False
    """The last run ended in test mode."""
    lockouts: DeviceLockouts = field(default_factory=DeviceLockouts)
    """Card devices that have not proved their program."""
    places: Places = field(default_factory=Places)
    """Where the events for the link server stand."""
    receipt: Receipt | None = None
    """What the link server said last about its store."""


def _kept(journal: Journal) -> _Kept:
    kept = _Kept([])
    for record in journal.records():
        if record.kind == "attempt":
            kept.attempts.append(Attempt(**load(record.body)))
        elif record.kind == DECKWATCH:
            kept.deckwatch = record.body
        elif record.kind == "opened":
            kept.configuration = str(load(record.body).get("configuration", ""))
        elif record.kind == CONFIGURATION:
            kept.configuration = str(load(record.body).get("in_force", ""))
        elif record.kind == TEST:
            kept.testing = left_on(record.kind, record.body, kept.testing)
        elif record.kind == DEVICE:
            kept.lockouts.take(record.body)
        elif record.kind == OUTBOX:
            kept.places.take(record)
        elif record.kind == WITNESS:
            kept.receipt = _receipt(record)
        elif record.kind == "retired":
            text = "this journal was closed for good; underfelt retire puts it aside"
            raise Retired(f"record {record.seq}: {text} ({Retired.code})")
    return kept


def _receipt(record: Record) -> Receipt | None:
    try:
        return receipt_in(load(record.body))
    except ValueError as error:
        raise ReplayError(UNREADABLE, record.seq, f"witness: {error}") from None


def _changing(config: LiveConfig, replayed: Replayed, opening: Opening, before: str) -> Changing:
    """The settings of the files, at once between rounds and else after the round under way."""
    memory = replayed.memory
    if memory.opening.game != config.game:
        raise OtherGame(
            f"journal.path: {config.journal.path}: this journal is of {memory.opening.game}, the "
            f"configuration says {config.game}; give the game a journal of its own "
            f"({OtherGame.code})"
        )
    if differs(memory, opening):
        if memory.state.phase is not Phase.IDLE:
            return Changing(before, Reloaded(config.effective_hash, opening, "round"))
        reopen(memory, opening)
    return Changing(config.effective_hash)


def opening_of(config: LiveConfig, today: date | None = None) -> Opening:
    """What a table is opened with today under this configuration."""
    today = today or datetime.now().astimezone().date()
    return Opening(config.game, _settings(config), today.isoformat())


def _settings(config: LiveConfig) -> Mapping[str, Any]:
    """The rule settings as the configuration states them, in JSON values."""
    prefix = "settings."
    return {
        key.removeprefix(prefix): one.value
        for key, one in config.values.items()
        if key.startswith(prefix) and one.file is not None
    }


def _selector(journal_id: str, key: TableKey) -> Selector:
    box = SecretBox(key.for_frame("selection seeds", 0))
    return Selector(
        journal_id,
        secrets.token_bytes,
        lambda seed: bytes(box.encrypt(seed)),
        lambda sealed: bytes(box.decrypt(sealed)),
    )


def _staff(
    config: LiveConfig, journal: Journal, attempts: list[Attempt], told: deque[Attempt]
) -> Staff:
    if config.staff.register is None or config.staff.public_key is None:
        return NoRegister()
    public_key = load_public(STAFF, config.staff.public_key)
    register = StaffRegister.open(config.staff.register, public_key)

    def note(attempt: Attempt) -> None:
        journal.append("attempt", dump({"what": attempt.what, "who": attempt.who}), wall_ms())
        told.append(attempt)

    return StaffDesk(
        register,
        Attempts.restored(attempts, time.monotonic_ns() // 1_000_000),
        note,
        now_ms=lambda: time.monotonic_ns() // 1_000_000,
        today=lambda: datetime.now().astimezone().date(),
    )
