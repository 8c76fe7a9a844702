"""The composition root of a table: journal, replay and all the parts, each complete when made.

The daemon, the check of a configuration and the tests build their tables here; disk, clock and
chance are given. Nothing is shown, sent or accepted before all of this has passed; what is wrong is
said with its file and code, and the table does not start.
"""

from __future__ import annotations

import secrets
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Any, Final, Protocol

from nacl.secret import SecretBox

from controller.config.keys import link_keys, sealing_key
from controller.config.live import LiveConfig, line_kinds
from controller.daemon.changing import CONFIGURATION, Changing, Reloaded
from controller.daemon.decks import DECKWATCH, Decks
from controller.daemon.device_lockouts import DEVICE, DeviceLockouts
from controller.daemon.frames import Frames, open_frames
from controller.daemon.house_options import HouseOptions, house_options
from controller.daemon.writer import Writer
from controller.history.entries import dump, load
from controller.history.errors import ReplayError
from controller.history.identity import opened_body
from controller.history.memory import differs, reopen
from controller.history.replay import TEST, UNREADABLE, Replayed, left_on, replay
from controller.history.sealing import CardSealer, Random, TableKey
from controller.history.selection.selector import Selector
from controller.history.snapshot import Opening
from controller.history.table_log import TableLog
from controller.link.cursor import Places
from controller.link.hearing import Hearing
from controller.link.witness import WITNESS, Witness, receipt_in
from controller.registers.chips.register import ChipRegister
from controller.registers.keys import load_public
from controller.registers.kinds import CHIPS, STAFF
from controller.registers.staff.attempts import Attempt, Attempts
from controller.registers.staff.register import StaffDesk, StaffRegister
from controller.rules.engine import facts as f
from controller.rules.engine.state import Phase
from controller.rules.errors import UnderfeltError
from controller.shell.testing.mode import TestMode
from controller.table.chips import Find
from controller.table.core import TableCore
from controller.table.options import DEFAULTS, Options
from controller.table.spots import SeatMap
from controller.table.staff import DEALER_1, SUPERVISOR_1, NoRegister, Staff
from controller.table.texts import Texts
from drivers.build import build, vendor_kinds
from drivers.rig import Rig
from record.journal import Disk, Journal, Record
from record.link.keys import SecretKey
from record.link.messages import Receipt
from record.link.outbox import OUTBOX

KINDS = line_kinds()
MIB, KIB = 1 << 20, 1 << 10
UNTOLD: Final = 100
LOCKED: Final = "locked out"
SILENT: Final = {"state": "unknown", "code": "", "detail": "has not answered yet"}
"""A device that never answers never tells its state: it is unknown from the start."""


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


class Clock(Protocol):
    """Where a table takes its time from."""

    def now_us(self) -> int: ...

    def wall_ms(self) -> int: ...

    def today(self) -> date: ...

    def utc_offset_min(self) -> int: ...


class SystemClock:
    def now_us(self) -> int:
        return time.monotonic_ns() // 1000

    def wall_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def today(self) -> date:
        return datetime.now().astimezone().date()

    def utc_offset_min(self) -> int:
        """The table's clock against UTC: a gaming day has a date."""
        return (datetime.now().astimezone().utcoffset() or timedelta()) // timedelta(minutes=1)


SYSTEM_CLOCK: Final = SystemClock()


class SignsOn(Protocol):
    """Makes the staff register's desk, given the attempts that the journal remembers."""

    def __call__(self, attempts: list[Attempt], note: Callable[[Attempt], None]) -> Staff: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Parts:
    """What a table is made of besides its journal: everything that files name, already open."""

    opening: Opening
    seat_map: SeatMap
    find: Find
    texts: Texts
    options: Options = DEFAULTS
    house: str = ""
    configuration: str = ""
    """The hash of the configuration in the files."""
    chosen: HouseOptions | None = None
    staff: SignsOn | None = None
    """None: nobody signs on, the same people stay."""
    card_devices: frozenset[str] = frozenset()
    meters: frozenset[str] = frozenset()
    """Displays that count up."""
    devices: frozenset[str] = frozenset()
    """All that should answer; each is unknown until it does."""
    key_file: str = ""
    journal_folder: str = ""
    """As the configuration names them, for what is said when they do not fit."""
    link_limit_us: int | None = None
    """How long the link may be silent; None: there is none."""
    scripted: f.SelectionRevealed | None = None
    """A simulated table's selections, written by its scenario instead of drawn."""


@dataclass(frozen=True, slots=True)
class Table:
    """A table on its journal, complete; it has no devices yet."""

    journal: Journal
    replayed: Replayed
    writer: Writer
    kept: Kept
    changing: Changing
    attempts: deque[Attempt]
    """Sign-ons that the log has not told of yet."""


@dataclass(frozen=True, slots=True)
class Started:
    """Everything a runtime needs."""

    config: LiveConfig
    table: Table
    rig: Rig
    opened: dict[str, Any]
    frames: Frames
    link_keys: tuple[SecretKey, str] | None

    @property
    def journal(self) -> Journal:
        return self.table.journal

    @property
    def writer(self) -> Writer:
        return self.table.writer

    @property
    def replayed(self) -> Replayed:
        return self.table.replayed


def compose(
    config: LiveConfig,
    disk: Disk | None = None,
    clock: Clock = SYSTEM_CLOCK,
    chance: Random = secrets.token_bytes,
    *,
    key: TableKey | None = None,
    scripted: f.SelectionRevealed | None = None,
) -> Started:
    """From a configuration to a table that stands where it stood. A check gives a ``disk`` that
    writes nothing, and a ``key`` where it cannot have the table's."""
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
        now_ms=clock.wall_ms(),
    )
    try:
        rig = build(config.layout, vendor_kinds())
        parts = Parts(
            opening=opening_of(config, clock.today()),
            configuration=config.effective_hash,
            seat_map=SeatMap(config.layout.spots),
            find=register.find,
            texts=taken.texts,
            options=taken.options,
            chosen=taken,
            house=config.chips.house,
            staff=_staff(config, clock),
            card_devices=_card_devices(config),
            meters=_meters(config),
            devices=frozenset(rig.counters()) - {"bus"},
            link_limit_us=None if config.link is None else config.link.heartbeat_limit_ms * 1000,
            scripted=scripted,
            key_file=str(config.keys.sealing),
            journal_folder=str(config.journal.path),
        )
        cards = CardSealer(key, journal.journal_id, chance)
        table = put_together(journal, cards, key, parts, clock=clock, chance=chance)
        return _started(config, table, rig, key, clock)
    except BaseException:
        journal.close()
        raise


def _started(config: LiveConfig, table: Table, rig: Rig, key: TableKey, clock: Clock) -> Started:
    journal, changing = table.journal, table.changing
    table.kept.lockouts.lock(rig, {line.name: line.serial for line in config.layout.lines})
    opened = opened_body(config.game, changing.in_force, config.layout_sha256, journal.repaired)
    opened["utc_offset_min"] = clock.utc_offset_min()
    opened["configuration_change"] = None if changing.waiting is None else changing.waiting.hash
    frames = open_frames(config.journal.path, key, secrets.token_bytes, _card_devices(config))
    return Started(config, table, rig, opened, frames, link_keys(config))


def put_together(
    journal: Journal,
    cards: CardSealer,
    key: TableKey,
    parts: Parts,
    *,
    clock: Clock,
    chance: Random,
) -> Table:
    """A table on its journal: read, stepped again, and every part complete."""
    replayed = replay(journal.records(), cards, parts.opening)
    kept = kept_in(journal)
    changing = _changing(parts, replayed, kept.configuration)
    selector = _selector(journal.journal_id, key, chance)
    if replayed.state.rules.table.selector == "table":
        for record in replayed.selections:
            selector.replay(record.body)
    if not selector.opens():
        raise WrongKey(
            f"keys.sealing: {parts.key_file}: does not open the draw of round "
            f"{selector.open_round}; give the key this journal was written with ({WrongKey.code})"
        )
    attempts: deque[Attempt] = deque(maxlen=UNTOLD)

    def note(attempt: Attempt) -> None:
        journal.append("attempt", dump({"what": attempt.what, "who": attempt.who}), clock.wall_ms())
        attempts.append(attempt)

    table_log = TableLog(replayed.memory, journal, cards, clock.wall_ms)
    core = TableCore(
        table_log,
        parts.seat_map,
        parts.find,
        NoRegister() if parts.staff is None else parts.staff(kept.attempts, note),
        parts.texts,
        house=parts.house,
        options=parts.options,
        card_devices=parts.card_devices,
        dealer=DEALER_1 if parts.staff is None else replayed.dealer,
        supervisor=SUPERVISOR_1 if parts.staff is None else None,
        now_us=clock.now_us(),
    )
    writer = Writer(
        core,
        table_log,
        journal,
        selector,
        changing=changing,
        chosen=parts.chosen,
        decks=Decks.restored(kept.deckwatch),
        devices={name: dict(SILENT) for name in sorted(parts.devices)},
        meters=parts.meters,
        hearing=_hearing(parts.link_limit_us, journal, kept.receipt),
        locked="" if replayed.lock is None else str(load(replayed.lock.body).get("why", LOCKED)),
        scripted=parts.scripted,
        test=TestMode(left_on=kept.testing),
    )
    return Table(journal, replayed, writer, kept, changing, attempts)


def _hearing(limit_us: int | None, journal: Journal, receipt: Receipt | None) -> Hearing | None:
    if limit_us is None:
        return None
    return Hearing(limit_us, journal.journal_id, witness=Witness(receipt))


def _card_devices(config: LiveConfig) -> frozenset[str]:
    lines = (line for line in config.layout.lines if not line.antennas)
    return frozenset(line.name for line in lines if line.kind not in ("feig", "alpha"))


def _meters(config: LiveConfig) -> frozenset[str]:
    boards = (name for name in config.layout.boards if name.startswith("meter-"))
    signs = (line.name for line in config.layout.lines if line.kind == "alpha")
    return frozenset((*boards, *signs))


@dataclass(slots=True)
class Kept:
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


def kept_in(journal: Journal) -> Kept:
    kept = Kept([])
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


def _changing(parts: Parts, replayed: Replayed, before: str) -> Changing:
    """The settings of the files, at once between rounds and else after the round under way."""
    memory, opening = replayed.memory, parts.opening
    if memory.opening.game != opening.game:
        raise OtherGame(
            f"journal.path: {parts.journal_folder}: this journal is of {memory.opening.game}, the "
            f"configuration says {opening.game}; give the game a journal of its own "
            f"({OtherGame.code})"
        )
    if differs(memory, opening):
        if memory.state.phase is not Phase.IDLE:
            return Changing(before, Reloaded(parts.configuration, opening, "round"))
        reopen(memory, opening)
    return Changing(parts.configuration)


def opening_of(config: LiveConfig, today: date | None = None) -> Opening:
    """What a table is opened with today under this configuration."""
    today = today or SYSTEM_CLOCK.today()
    return Opening(config.game, _settings(config), today.isoformat())


def _settings(config: LiveConfig) -> Mapping[str, Any]:
    """The rule settings as the configuration states them, in JSON values."""
    prefix = "settings."
    return {
        key.removeprefix(prefix): one.value
        for key, one in config.values.items()
        if key.startswith(prefix) and one.file is not None
    }


def _selector(journal_id: str, key: TableKey, chance: Random) -> Selector:
    box = SecretBox(key.for_frame("selection seeds", 0))
    return Selector(
        journal_id,
        chance,
        lambda seed: bytes(box.encrypt(seed, chance(SecretBox.NONCE_SIZE))),
        lambda sealed: bytes(box.decrypt(sealed)),
    )


def _staff(config: LiveConfig, clock: Clock) -> SignsOn | None:
    if config.staff.register is None or config.staff.public_key is None:
        return None
    register = StaffRegister.open(
        config.staff.register, load_public(STAFF, config.staff.public_key)
    )

    def desk(attempts: list[Attempt], note: Callable[[Attempt], None]) -> Staff:
        restored = Attempts.restored(attempts, clock.now_us() // 1000)
        return StaffDesk(
            register, restored, note, now_ms=lambda: clock.now_us() // 1000, today=clock.today
        )

    return desk
