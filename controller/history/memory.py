"""What the table knows from its journal: kept up while playing, rebuilt by a replay.

Pure. The live table and the replay run the same code over the same entries, so that what comes
back cannot differ from what was there.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from controller.history.entries import cards_in
from controller.history.gamingday import fold
from controller.history.gamingday.sheet import Day
from controller.history.link_events import bodies_of
from controller.history.revealing import REVEALED, Draw, Revealer, revealed_body
from controller.history.sealing import OpensCards, Sealed
from controller.history.snapshot import ROUND, Opening, Snapshot, StateDigest, round_body
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.entries import (
    ACCEPTORS,
    CreditDropped,
    CreditGivenBack,
    Key,
    NoFact,
    SignedOn,
    TableCall,
)
from controller.rules.engine.state import TableState
from controller.rules.engine.step import step
from record.journal.format import Record
from record.link.outbox import OUTBOX, outbox_body

OPENED: Final = 128
Body = tuple[str, bytes]
"""A record's kind and body."""


class Ahead(NamedTuple):
    """The state after a fact, its digest, and what the fact orders."""

    state: TableState
    digest: str
    effects: Sequence[fx.Effect]


class Undo(NamedTuple):
    """The last decision of a round."""

    seat: int
    spot: str
    choice: str


def goes_on(what: f.What) -> bool:
    """Is this the first of two facts that one reading may give?

    If the second is not on disk the reading must be taken again; the first one told twice changes
    nothing (controller/table/cards.py: a shuffle that ended, a deck that was verified).
    """
    failed = isinstance(what, f.DeckChecked) and not what.passed
    return failed or isinstance(what, f.ShufflerReady)


@dataclass(slots=True)
class Memory:
    """The table as its journal tells it."""

    state: TableState
    opening: Opening
    last_keys: dict[str, int] = field(default_factory=dict)
    """Per device the key of the last reading whose facts are journalled."""
    untaken: set[int] = field(default_factory=set)
    """Seats whose last credit is journalled but whose acceptor has not let go."""
    dealer: f.Declared | None = None
    """Who signed on last at the dealer's position; None if nobody did."""
    table_closed: bool = False
    undo: Undo | None = None
    """The decision that ``UNDO`` would turn."""
    rounds: dict[int, int] = field(default_factory=dict)
    """Rounds in ``state.history``, and the record each stands in."""
    day: Day = field(default_factory=Day)
    """The gaming day so far, from the records of this journal."""
    sent: int | None = 0
    """Events for the link server so far; None in a journal that began before there were any."""
    opened: deque[Key] = field(default_factory=lambda: deque(maxlen=OPENED), compare=False)
    """Readings whose cards became public lately, once for each card: what may be shown of them."""
    facts: int = 0
    """Facts since the last snapshot."""
    _open_key: tuple[str, int | None] | None = None
    _digest: StateDigest = field(default_factory=StateDigest)
    _revealer: Revealer = field(default_factory=Revealer)

    def ahead(self, fact: f.Fact) -> Ahead | fx.Refused:
        """Where a fact leads, or why the rules refuse it; nothing is adopted."""
        state, effects = step(self.state, fact)
        if effects and isinstance(effects[0], fx.Refused):
            return effects[0]
        return Ahead(state, self._digest.of(state), effects)

    def adopt(
        self,
        fact: f.Fact,
        key: Key | None,
        ahead: Ahead,
        seq: int,
        *,
        sealed: list[Sealed],
        cards: OpensCards,
    ) -> list[Body]:
        """The fact stands in the journal at ``seq``. Returns the records that must follow it."""
        before, self.state = self.state, ahead.state
        after = ahead.state
        self.facts += 1
        for index, (card, one) in enumerate(zip(cards_in(fact), sealed, strict=True)):
            self._revealer.journalled(card, Draw(seq, index, one, key))
        self._note_key(fact.what, key)
        self._note(fact, before)
        owed: list[Body] = []
        if public := self._revealer.public(before, after):
            owed.append((REVEALED, revealed_body(public, seq, cards)))
            self.opened += [draw.key for draw, _ in public if draw.key is not None]
        if after.history is not before.history:
            known = {archive.round_no: archive for archive in before.history}
            changed = [a for a in after.history if known.get(a.round_no) is not a]
            owed += [(ROUND, round_body(archive)) for archive in changed]
        if self.sent is not None:
            for body in bodies_of(before, after, ahead.effects):
                self.sent += 1
                owed.append((OUTBOX, outbox_body(self.sent, body)))
        return owed

    def written(self, record: Record) -> None:
        """A record of any kind stands in the journal: the gaming day counts it."""
        self.day = fold.take(self.day, record)

    def note(self, entry: NoFact) -> list[Body]:
        """An entry that is no fact of a round. Returns the records that must follow it."""
        self._open_key = None
        match entry:
            case SignedOn(person, f.Role.DEALER):
                self.dealer = f.Declared(person, f.Role.DEALER)
            case TableCall(kind):
                self.table_closed = kind != "table open"
                if kind == fold.DAY_CLOSE:
                    return [(fold.DAY, fold.closed(self.day))]
            case CreditDropped(seat) | CreditGivenBack(seat):
                self.untaken.discard(seat)
            case _:
                pass  # a supervisor's position ends with the turn of the key
        return []

    def round_at(self, number: int, seq: int) -> None:
        """A closed round stands in the record ``seq``; those no longer kept are forgotten."""
        kept = {a.round_no for a in self.state.history}
        self.rounds = {n: at for n, at in self.rounds.items() if n in kept} | {number: seq}

    def settled_keys(self) -> dict[str, int]:
        """``last_keys``, without a reading of which only the first of two facts is here."""
        if self._open_key is None:
            return dict(self.last_keys)
        device, before = self._open_key
        kept = {d: n for d, n in self.last_keys.items() if d != device}
        return kept if before is None else {**kept, device: before}

    @property
    def digest(self) -> str:
        """Of the state as it is."""
        return self._digest.of(self.state)

    def tested(self, device: str, key: int) -> None:
        """A reading of a card device in test mode is journalled: no fact, and never told again."""
        self._open_key = None
        self.last_keys[device] = key

    def snapshot(self) -> Snapshot:
        return Snapshot(
            self.opening,
            self.state,
            self._digest.of(self.state),
            dict(self.last_keys),
            frozenset(self.untaken),
            self.dealer,
            self.table_closed,
            {a.round_no: self.rounds[a.round_no] for a in self.state.history},
            deepcopy(self.day),
            self.sent or 0,
        )

    def snapshot_written(self) -> None:
        """A snapshot is written: cards of closed rounds are followed no more."""
        self.facts, self.undo, self._open_key, self._revealer = 0, None, None, Revealer()
        self.sent = self.sent or 0

    def _note_key(self, what: f.What, key: Key | None) -> None:
        self._open_key = None
        if key is None:
            return
        device, number = key
        before = self.last_keys.get(device)
        if goes_on(what) and before != number:
            self._open_key = (device, before)
        self.last_keys[device] = number

    def _note(self, fact: f.Fact, before: TableState) -> None:
        match fact.what:
            case f.CreditsRead(seat, count) if fact.by == _ACCEPTORS:
                more = count > before.credits.get(seat, 0)
                (self.untaken.add if more else self.untaken.discard)(seat)
            case f.BetsOpened():
                self.undo = None
            case f.Decided(seat, spot, choice) | f.DecisionCorrected(seat, spot, choice):
                self.undo = Undo(seat, spot, choice)
            case _:
                pass


_ACCEPTORS: Final = f.Measured(ACCEPTORS)


def from_snapshot(snapshot: Snapshot) -> Memory:
    return Memory(
        snapshot.state,
        snapshot.opening,
        dict(snapshot.last_keys),
        set(snapshot.untaken),
        snapshot.dealer,
        snapshot.table_closed,
        rounds=dict(snapshot.rounds),
        day=deepcopy(snapshot.day),
        sent=snapshot.sent,
    )


_LIMITS: Final = ("min_wager", "max_wager")


def reopen(memory: Memory, opening: Opening) -> None:
    """Other rules for a table between rounds: all it knows stays, changed limits are posted.

    Limits that a supervisor has set stay unless the configuration's own have changed.
    """
    before, fresh = memory.state, opening.state()
    changed = {
        name: getattr(fresh, name)
        for name in _LIMITS
        if getattr(fresh.rules.money, name) != getattr(before.rules.money, name)
    }
    memory.state = replace(before, rules=fresh.rules, **changed)
    memory.opening = opening


def differs(memory: Memory, opening: Opening) -> bool:
    return opening.state().rules != memory.state.rules
