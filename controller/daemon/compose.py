"""The composition root of a table: journal, replay and all the parts, each complete when made.

The daemon, the check of a configuration and the tests build their tables here; disk, clock, chance
and network are given. Nothing is shown, sent or accepted before all of this has passed; what is
wrong is reported with its file and code, and the table does not start.
"""

from __future__ import annotations

import hashlib
import os
import secrets
from collections import deque
from dataclasses import dataclass, field
from typing import Any, Final

from nacl.secret import SecretBox

from controller.config.live import line_kinds
from controller.daemon.changing import CONFIGURATION, Changing, Reloaded
from controller.daemon.decks import DECKWATCH, Decks
from controller.daemon.device_lockouts import DEVICE, DeviceLockouts
from controller.daemon.inbox import Inbox
from controller.daemon.linking import Link, LinkPlan, Network, zmq_network
from controller.daemon.selecting import Selecting
from controller.daemon.setup import SYSTEM_CLOCK, Clock, LinkSetup, TableSetup
from controller.daemon.standalone import StandaloneLink
from controller.daemon.testmode import TestMode
from controller.daemon.writer import Writer
from controller.faults.status import DeviceStatus
from controller.history.entries import dump, load
from controller.history.errors import ReplayError
from controller.history.memory import differs, reopen
from controller.history.replay import TEST, UNREADABLE, LeftOn, Replayed, left_on, replay
from controller.history.sealing import Random, TableKey
from controller.history.selection.selector import Selector
from controller.history.table_log import TableLog
from controller.identity import opened_body
from controller.link.cursor import Cursor, Places
from controller.link.hearing import Hearing
from controller.link.session import Head
from controller.link.witness import WITNESS, Witness, receipt_in
from controller.registers.staff.attempts import Attempt
from controller.rules.engine.state import Phase
from controller.rules.errors import UnderfeltError
from controller.table.core import TableCore
from controller.table.spots import SeatMap
from controller.table.staff import DEALER_1, SUPERVISOR_1, NoRegister
from drivers.build import build
from drivers.rig import Rig
from record.journal import Disk, Journal, Record
from record.kit.feed import Feed
from record.link.messages import Receipt
from record.link.outbox import OUTBOX

KINDS = line_kinds()
UNTOLD: Final = 100
FEED_ID_DIGITS: Final = 16
LOCKED: Final = "locked out"
SILENT: Final[DeviceStatus] = {"state": "unknown", "code": "", "detail": "has not answered yet"}
"""A device that never answers never tells its state: it is unknown from the start."""


class WrongKey(UnderfeltError):
    """The sealing key is not the one that the round under way was sealed with: exit 78."""

    exit_code = os.EX_CONFIG
    code = "E-RUN-002"


class Retired(UnderfeltError):
    """The journal was closed for good: exit 78."""

    exit_code = os.EX_CONFIG
    code = "E-RUN-006"


class OtherGame(UnderfeltError):
    """The journal is of another game than the configuration: exit 78."""

    exit_code = os.EX_CONFIG
    code = "E-RUN-003"


@dataclass(frozen=True, slots=True)
class Table:
    """A table on its journal, complete. Nothing of it runs yet."""

    setup: TableSetup
    journal: Journal
    replayed: Replayed
    writer: Writer
    rig: Rig
    inbox: Inbox
    link: Link
    attempts: deque[Attempt]
    """Sign-ons that the log has not told of yet."""
    feed: Feed
    """What is told of the table to anyone who follows it."""
    clock: Clock
    chance: Random
    """As it was made: the process around the table has the same."""


def compose(
    setup: TableSetup,
    disk: Disk | None = None,
    clock: Clock = SYSTEM_CLOCK,
    chance: Random = secrets.token_bytes,
    network: Network = zmq_network,
) -> Table:
    """A table as its journal left it. A check gives a ``disk`` that writes nothing."""
    journal = Journal.open(
        setup.journal.path,
        table=setup.name,
        disk=disk,
        segment_bytes=setup.journal.segment_bytes,
        reserve_bytes=setup.journal.reserve_bytes,
        retention_days=setup.journal.retention_days,
        keep_from_seq=None if setup.link is None else 1,  # until the server says what it has
        now_ms=clock.wall_ms(),
    )
    try:
        return _on_journal(journal, setup, disk, clock=clock, chance=chance, network=network)
    except BaseException:
        journal.close()
        raise


def _on_journal(
    journal: Journal,
    setup: TableSetup,
    disk: Disk | None,
    *,
    clock: Clock,
    chance: Random,
    network: Network,
) -> Table:
    rig = build(setup.layout, setup.vendors)
    cards = setup.sealer(setup.key, journal.journal_id, chance)
    replayed = replay(journal.records(), cards, setup.opening)
    kept = kept_in(journal)
    kept.lockouts.lock(rig, {line.name: line.serial for line in setup.layout.lines})
    changing = _changing(setup, replayed, kept.configuration)
    selector = _opened_selector(journal, setup, replayed, chance)
    attempts: deque[Attempt] = deque(maxlen=UNTOLD)

    def note(attempt: Attempt) -> None:
        journal.append("attempt", dump({"what": attempt.what, "who": attempt.who}), clock.wall_ms())
        attempts.append(attempt)

    table_log = TableLog(replayed.memory, journal, cards, clock.wall_ms)
    core = TableCore(
        table_log,
        SeatMap(setup.layout.spots),
        setup.find,
        NoRegister() if setup.staff is None else setup.staff(kept.attempts, note),
        setup.choices.texts,
        house=setup.house,
        options=setup.choices.options,
        card_devices=setup.card_devices,
        dealer=DEALER_1 if setup.staff is None else replayed.dealer,
        supervisor=SUPERVISOR_1 if setup.staff is None else None,
        now_us=clock.now_us(),
    )
    writer = Writer(
        core,
        table_log,
        journal,
        Selecting(selector, setup.standalone.selection()),
        TestMode(core, table_log, left_on=kept.testing),
        opened=_opened(setup, changing, journal, clock),
        missing=replayed.missing,
        changing=changing,
        chosen=setup.choices,
        decks=Decks.restored(kept.deckwatch),
        devices={name: SILENT.copy() for name in sorted(rig.counters()) if name != "bus"},
        meters=setup.meters,
        hearing=_hearing(setup, journal, kept.receipt),
        locked="" if replayed.lock is None else str(load(replayed.lock.body).get("why", LOCKED)),
    )
    inbox = Inbox()
    if setup.link is None:
        link: Link = StandaloneLink(setup.standalone.meter_cents, inbox.put)
    else:
        link = network(_link_plan(setup, setup.link, journal, kept, disk), inbox.put)
    feed = Feed(_feed_id(journal))
    return Table(setup, journal, replayed, writer, rig, inbox, link, attempts, feed, clock, chance)


def _feed_id(journal: Journal) -> str:
    """Another one at each start, since a start is a record. No draw: chance is for the game."""
    start = f"{journal.journal_id} {journal.next_seq}".encode()
    return hashlib.sha256(start).hexdigest()[:FEED_ID_DIGITS]


def _opened(
    setup: TableSetup, changing: Changing, journal: Journal, clock: Clock
) -> dict[str, Any]:
    body = opened_body(setup.game, changing.in_force, setup.layout_sha256, journal.repaired)
    waiting = None if changing.waiting is None else changing.waiting.hash
    return {**body, "utc_offset_min": clock.utc_offset_min(), "configuration_change": waiting}


def _hearing(setup: TableSetup, journal: Journal, receipt: Receipt | None) -> Hearing | None:
    if setup.link is None:
        return None
    return Hearing(setup.link.limit_ms * 1000, journal.journal_id, witness=Witness(receipt))


def _link_plan(
    setup: TableSetup, servers: LinkSetup, journal: Journal, kept: Kept, disk: Disk | None
) -> LinkPlan:
    return LinkPlan(
        setup.identity(journal.journal_id),
        servers,
        Cursor(setup.journal.path, kept.places, disk),
        Head(kept.places.last, journal.next_seq - 1, journal.head.hex()),
        kept.receipt,
    )


@dataclass(slots=True)
class Kept:
    """What a start needs from the journal besides the table itself."""

    attempts: list[Attempt]
    deckwatch: bytes | None = None
    configuration: str = ""
    """The hash that the round under way was opened with."""
    testing: LeftOn | None = None
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
            kept.testing = left_on(record.body, kept.testing)
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


def _changing(setup: TableSetup, replayed: Replayed, before: str) -> Changing:
    """The settings of the files, at once between rounds and else after the round under way."""
    memory, opening = replayed.memory, setup.opening
    if memory.opening.game != opening.game:
        raise OtherGame(
            f"journal.path: {setup.journal.path}: this journal is of {memory.opening.game}, the "
            f"configuration says {opening.game}; give the game a journal of its own "
            f"({OtherGame.code})"
        )
    if differs(memory, opening):
        if memory.state.phase is not Phase.IDLE:
            return Changing(before, Reloaded(setup.configuration, opening, "round"))
        reopen(memory, opening)
    return Changing(setup.configuration)


def _opened_selector(
    journal: Journal, setup: TableSetup, replayed: Replayed, chance: Random
) -> Selector:
    """The draws of the round under way, which only the right key opens."""
    selector = _selector(journal.journal_id, setup.key, chance)
    if replayed.state.rules.table.selector == "table":
        for record in replayed.selections:
            selector.replay(record.body)
    if not selector.opens():
        raise WrongKey(
            f"keys.sealing: {setup.key_file}: does not open the draw of round "
            f"{selector.open_round}; give the key this journal was written with ({WrongKey.code})"
        )
    return selector


def _selector(journal_id: str, key: TableKey, chance: Random) -> Selector:
    box = SecretBox(key.for_frame("selection seeds", 0))
    return Selector(
        journal_id,
        chance,
        lambda seed: bytes(box.encrypt(seed, chance(SecretBox.NONCE_SIZE))),
        lambda sealed: bytes(box.decrypt(sealed)),
    )
