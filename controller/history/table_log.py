"""The table's one state and its journal: a fact is stepped once, sealed, appended and adopted.

Pure but for the journal it is given. It makes nothing durable: the writer syncs the journal before
anything that follows from a fact is released.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple, Protocol

from controller.history.codec import Hide
from controller.history.entries import encode_entry
from controller.history.memory import Ahead, Body, Memory
from controller.history.sealing import CardSealer, Sealed
from controller.history.snapshot import ROUND, SNAPSHOT, round_number, snapshot_body
from controller.rules.cards import HiddenCard
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.entries import Key, NoFact
from controller.rules.engine.state import Phase, TableState
from record.journal.format import Position, Record
from record.link.messages import Event
from record.link.outbox import OUTBOX, event_of

SNAPSHOT_AFTER: Final = 400
"""Facts after which a snapshot is worth its bytes: about ten rounds."""


class Appends(Protocol):
    """The journal, as far as the table log uses it."""

    @property
    def next_seq(self) -> int: ...

    def append(self, kind: str, body: bytes, at_ms: int) -> Position: ...


class Happened(NamedTuple):
    """A record that was written, and for a fact what it was and did."""

    record: Record
    round_no: int
    step: tuple[f.Fact, TableState, Ahead] | None = None
    """The fact, the state before it, and what it led to."""


class TableLog:
    """If it raises, nothing was adopted: stop the process."""

    __slots__ = (
        "_answered",
        "_cards",
        "_journal",
        "_wall_ms",
        "bytes",
        "happened",
        "memory",
        "outgoing",
        "written",
    )

    def __init__(
        self, memory: Memory, journal: Appends, cards: CardSealer, wall_ms: Callable[[], int]
    ) -> None:
        self.memory = memory
        self._answered = memory.settled_keys()
        self.outgoing: list[Event] = []
        """Events for the link server of this group: the code that syncs the journal takes them."""
        self.happened: list[Happened] = []
        """Records of this group, for the same code."""
        self._journal = journal
        self._cards = cards
        self._wall_ms = wall_ms
        self.written: Counter[str] = Counter()
        """Records since the start, by kind."""
        self.bytes = 0
        """Of their bodies."""

    @property
    def state(self) -> TableState:
        return self.memory.state

    def apply(self, fact: f.Fact, key: Key | None) -> Sequence[fx.Effect] | fx.Refused:
        """Step, seal, append, adopt. A fact that the rules refuse leaves no trace."""
        memory, seq = self.memory, self._journal.next_seq
        ahead = memory.ahead(fact)
        if isinstance(ahead, fx.Refused):
            return ahead
        hide, sealed = self._hiding(seq)
        before = memory.state
        self.append(*encode_entry(fact, key, hide, ahead.digest))
        one = self.happened[-1]
        self.happened[-1] = Happened(one.record, ahead.state.round_no, (fact, before, ahead))
        self.write(memory.adopt(fact, key, ahead, seq, sealed=sealed, cards=self._cards))
        return ahead.effects

    def note(self, entry: NoFact) -> None:
        """What people and acceptors did that is no fact of a round."""
        hide, _ = self._hiding(self._journal.next_seq)
        self.append(*encode_entry(entry, None, hide))
        self.write(self.memory.note(entry))

    def is_answered(self, key: Key) -> bool:
        """Was this reading acknowledged, in this run or by what the journal holds?"""
        device, number = key
        return self._answered.get(device) == number

    def answer(self, key: Key) -> None:
        """All that the reading says is in the journal, even if that is nothing."""
        self._answered[key[0]] = key[1]

    def tested(self, key: Key) -> None:
        """A reading of a card device in test mode: journalled, and no fact."""
        self.memory.tested(*key)
        self.answer(key)

    def write(self, bodies: list[Body]) -> None:
        """Records that follow a fact; after a start, those that the power cut took."""
        for kind, body in bodies:
            seq = self._journal.next_seq
            self.append(kind, body)
            if kind == ROUND:
                self.memory.round_at(round_number(body), seq)

    @property
    def snapshot_due(self) -> bool:
        return self.memory.facts >= SNAPSHOT_AFTER and self.may_write_snapshot

    @property
    def may_write_snapshot(self) -> bool:
        return self.memory.state.phase is Phase.IDLE

    def write_snapshot(self) -> None:
        """Write down the whole table, between rounds: first in a journal, and now and then."""
        if not self.may_write_snapshot:
            raise ValueError("a table is written down between rounds only")
        hide, _ = self._hiding(self._journal.next_seq)
        self.append(SNAPSHOT, snapshot_body(self.memory.snapshot(), hide))
        self.memory.snapshot_written()

    def _hiding(self, seq: int) -> tuple[Hide, list[Sealed]]:
        """Seals the cards of one record, numbered as they come."""
        sealed: list[Sealed] = []

        def hide(card: HiddenCard) -> Any:
            sealed.append(self._cards.seal(card, seq, len(sealed)))
            return sealed[-1].to_json()

        return hide, sealed

    def append(self, kind: str, body: bytes) -> None:
        """Any record: the one door to the journal, so that the gaming day misses none."""
        at_ms = self._wall_ms()
        at = self._journal.append(kind, body, at_ms)
        self.written[kind] += 1
        self.bytes += len(body)
        record = Record(at.seq, kind, body, at_ms, at.hash)
        self.happened.append(Happened(record, self.memory.state.round_no))
        self.memory.written(record)
        if kind == OUTBOX:
            self.outgoing.append(event_of(record))
