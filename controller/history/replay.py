"""A table from its journal: the same state, byte for byte, and all the table core resumes with.

Pure: records go in, nothing is opened or written. Every entry goes through the real ``step``, every
digest is compared at its own record, and every card told is the card that was sealed. Whatever
differs refuses with its record's number; nothing is skipped or guessed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

from controller.history.codec import Unhide, no_hidden_card
from controller.history.entries import ENTRY_KINDS, decode_entry, load
from controller.history.errors import BodyError, ReplayError, SealError
from controller.history.gamingday.fold import DAY
from controller.history.memory import Ahead, Body, Memory, from_snapshot, reopen
from controller.history.revealing import REVEALED
from controller.history.sealing import OpensCards, Sealed
from controller.history.snapshot import (
    ROUND,
    SNAPSHOT,
    Opening,
    Snapshot,
    StateDigest,
    round_number,
    take_round,
    take_snapshot,
)
from controller.rules.cards import HiddenCard
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.settlement import KEPT_ROUNDS
from controller.rules.engine.state import Archive, TableState
from controller.rules.errors import SettingsError
from record.journal.format import Record
from record.link.outbox import OUTBOX

SELECTION: Final = "selection"
LOCK: Final = "lock"
UNLOCK: Final = "unlock"
TEST: Final = "test"
"""The kind of its records in the table's journal."""
BEGIN: Final = "begin"
END: Final = "end"
READING: Final = "reading"
PASSIVE: Final = frozenset(
    (
        "opened", "shown", "alarm", "device", "repair", "closed", "attempt", "configuration",
        "deckwatch", "odometer", "retired", "witness",
    )
)  # fmt: skip
"""Evidence that changes nothing of what the table resumes with."""

DIVERGED: Final = "E-RPL-001"
REFUSED: Final = "E-RPL-002"
NOT_OWED: Final = "E-RPL-003"
OWED: Final = "E-RPL-004"
UNREADABLE: Final = "E-RPL-005"
NO_START: Final = "E-RPL-006"
UNKNOWN: Final = "E-RPL-007"


@dataclass(frozen=True, slots=True)
class Replayed:
    """What comes back. ``memory`` goes to the table log, the rest to the core and the runtime."""

    memory: Memory
    missing: tuple[Body, ...]
    """Records that the last fact owes and the power cut took: write them before anything else."""
    selections: tuple[Record, ...]
    """Selection records of the round under way: what was drawn is never drawn again."""
    lock: Record | None
    """The lock-out nobody has cleared."""
    last_seq: int

    @property
    def state(self) -> TableState:
        return self.memory.state

    @property
    def last_keys(self) -> Mapping[str, int]:
        return self.memory.settled_keys()

    @property
    def untaken_credits(self) -> frozenset[int]:
        return frozenset(self.memory.untaken)

    @property
    def dealer(self) -> f.Declared | None:
        """Who stood at the dealer's position; None if nobody signed on since the journal began."""
        return self.memory.dealer

    @property
    def table_closed(self) -> bool:
        return self.memory.table_closed


def replay(
    records: Iterable[Record], cards: OpensCards, opening: Opening, *, whole: bool = False
) -> Replayed:
    """``records`` in order, from the first in the journal, or from any that lies ``KEPT_ROUNDS``
    rounds before the last snapshot. ``opening`` counts only where no snapshot comes
    first. A start steps what follows the last snapshot; ``whole`` steps everything and
    compares each snapshot too."""
    run = Replay(cards, opening)
    if not whole:
        records = run.skip(records)
    for record in records:
        run.take(record)
    return run.done()


class Replay:
    """One pass over the records."""

    def __init__(self, cards: OpensCards, opening: Opening | None) -> None:
        self.cards = cards
        self.opening = opening
        self.memory: Memory | None = None
        self.owed: list[Body] = []
        self.rounds: dict[int, tuple[int, bytes]] = {}
        """Closed rounds and the last record of each: snapshots refer to them."""
        self.selections: list[Record] = []
        self.lock: Record | None = None
        self.last_seq = 0

    def skip(self, records: Iterable[Record]) -> list[Record]:
        """The last snapshot and what follows it; of the rest only rounds and lock-outs."""
        tail: list[Record] = []
        for record in records:
            if record.kind == SNAPSHOT:
                for before in tail:
                    self.keep(before)
                tail.clear()
            tail.append(record)
        return tail

    def keep(self, record: Record) -> None:
        """A record before the snapshot: closed rounds and lock-outs are all that counts."""
        if record.kind == ROUND:
            try:
                number = round_number(record.body)
            except BodyError as error:
                raise ReplayError(UNREADABLE, record.seq, str(error)) from None
            self.rounds[number] = (record.seq, record.body)
            for old in [n for n in self.rounds if n <= number - 2 * KEPT_ROUNDS]:
                del self.rounds[old]
        elif record.kind in (LOCK, UNLOCK):
            self.lock = record if record.kind == LOCK else None

    def take(self, record: Record) -> None:
        """The next record; ``ReplayError`` names it if it is not what the table did."""
        try:
            self._take(record)
        except BodyError as error:
            raise ReplayError(UNREADABLE, record.seq, f"{record.kind}: {error}") from None
        except SealError as error:
            raise ReplayError(error.code, record.seq, str(error)) from None

    def stepped(self, record: Record, fact: f.Fact, before: TableState, ahead: Ahead) -> None:
        """A fact was stepped again and adopted; for the code that shows it."""

    def _take(self, record: Record) -> None:
        self.last_seq = record.seq
        kind = record.kind
        if kind != SNAPSHOT:
            self._memory().written(record)
        if kind in ENTRY_KINDS:
            self._entry(record)
        elif kind in (REVEALED, ROUND, OUTBOX, DAY):
            self._follows(record)
        elif kind == SNAPSHOT:
            self._stands(record)
        elif kind == SELECTION:
            self.selections.append(record)
        elif kind in (LOCK, UNLOCK):
            self.keep(record)
        elif kind == TEST:
            self._tested(record)
        elif kind not in PASSIVE:
            said = f"{kind!r}: no kind of this program; start the one that wrote it"
            raise ReplayError(UNKNOWN, record.seq, said)

    def done(self) -> Replayed:
        memory = self._memory()
        selections = tuple(self.selections)
        return Replayed(memory, tuple(self.owed), selections, self.lock, self.last_seq)

    def _memory(self) -> Memory:
        if self.memory is None:
            if self.opening is None:
                raise ReplayError(NO_START, self.last_seq, "no snapshot comes before it")
            self.memory = Memory(self.opening.state(), self.opening)
        return self.memory

    # --- entries -------------------------------------------------------------------------------

    def _entry(self, record: Record) -> None:
        self._nothing_owed(record)
        unhide, sealed = self._opening_cards(record.seq)
        found = decode_entry(record.kind, record.body, unhide)
        memory = self._memory()
        if not isinstance(found.entry, f.Fact):
            self.owed = memory.note(found.entry)
            return
        before = memory.state
        ahead = memory.ahead(found.entry)
        if isinstance(ahead, fx.Refused):
            said = f"the rules refuse this fact now: {ahead.reason}"
            raise ReplayError(REFUSED, record.seq, said)
        if ahead.digest != found.digest:
            said = f"the state is {ahead.digest}, it was {found.digest} when this was written"
            raise ReplayError(DIVERGED, record.seq, said)
        self.owed = memory.adopt(
            found.entry, found.key, ahead, record.seq, sealed=sealed, cards=self.cards
        )
        if isinstance(found.entry.what, f.BetsOpened):
            self.selections.clear()
        self.stepped(record, found.entry, before, ahead)

    def _tested(self, record: Record) -> None:
        """Test mode changes nothing: the table is the same when it begins and when it ends."""
        self._nothing_owed(record)
        found, memory = load(record.body), self._memory()
        if found.get("event") == READING:
            memory.tested(str(found["device"]), int(found["key"]))
        elif found.get("state") != memory.digest:
            said = f"test mode: the state is {memory.digest}, it was {found.get('state')}"
            raise ReplayError(DIVERGED, record.seq, said)

    def _opening_cards(self, seq: int) -> tuple[Unhide, list[Sealed]]:
        sealed: list[Sealed] = []

        def unhide(value: Any) -> HiddenCard:
            sealed.append(Sealed.from_json(value))
            return self.cards.open(sealed[-1], seq, len(sealed) - 1)[0]

        return unhide, sealed

    # --- records that follow a fact ------------------------------------------------------------

    def _follows(self, record: Record) -> None:
        if not self.owed or self.owed[0] != (record.kind, record.body):
            said = f"{record.kind}: not what the fact before it makes known"
            raise ReplayError(NOT_OWED, record.seq, said)
        del self.owed[0]
        if record.kind == ROUND:
            self.keep(record)
            self._memory().round_at(round_number(record.body), record.seq)

    def _nothing_owed(self, record: Record) -> None:
        if self.owed:
            said = f"a {self.owed[0][0]} record should stand here"
            raise ReplayError(OWED, record.seq, said)

    # --- snapshots ------------------------------------------------------------------------------

    def _stands(self, record: Record) -> None:
        self._nothing_owed(record)
        unhide, _ = self._opening_cards(record.seq)
        try:
            snapshot = take_snapshot(record.body, unhide, self._archive)
        except (SettingsError, ValueError, TypeError) as error:
            if isinstance(error, BodyError | SealError | ReplayError):
                raise
            raise ReplayError(UNREADABLE, record.seq, f"standing: {error}") from None
        restored = from_snapshot(snapshot)
        if StateDigest().of(restored.state) != snapshot.digest:
            raise ReplayError(DIVERGED, record.seq, "the state is not the one written down")
        if self.memory is not None and snapshot.opening != self.memory.opening:
            reopen(self.memory, snapshot.opening)  # other settings, taken between two rounds
        if self.memory is not None and not self.leads_to(snapshot):
            raise ReplayError(DIVERGED, record.seq, "the facts before lead to another state")
        self.memory = restored
        self.selections.clear()

    def leads_to(self, snapshot: Snapshot) -> bool:
        """Events are numbered from the first snapshot that says so."""
        memory = self._memory()
        if memory.sent is None:
            return replace(memory.snapshot(), sent=None) == replace(snapshot, sent=None)
        return memory.snapshot() == snapshot

    def _archive(self, number: int, seq: int) -> Archive:
        at, body = self.rounds.get(number, (0, b""))
        if at != seq:
            said = f"round {number} should stand in record {seq}: read from an earlier record on"
            raise ReplayError(NO_START, self.last_seq, said)
        return take_round(body, no_hidden_card)


@dataclass(frozen=True)
class LeftOn:
    """What a run leaves behind that ended in test mode."""

    drawn: int = 0
    """Cards drawn in the test since a deck was last loaded."""


def left_on(body: bytes, before: LeftOn | None) -> LeftOn | None:
    """Did a run end in test mode? Asked of one record of it after the other."""
    found = load(body)
    match found.get("event"):
        case "begin":
            return LeftOn()
        case "reading":
            return LeftOn(int(found.get("drawn", 0)))
        case "end":
            return None
    return before
