"""The table core's journal hook: every entry becomes a record, sealed, with what must follow it.

Pure but for the journal it is given. It steps each fact itself, so the digest in the record is that
of the state the core is about to adopt. It makes nothing durable: the runtime syncs the journal
before it releases anything.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Protocol

from controller.history.codec import Hide
from controller.history.entries import encode_entry
from controller.history.memory import Body, Memory
from controller.history.sealing import CardSealer, Sealed
from controller.history.snapshot import ROUND, STANDING, round_number, standing_body
from controller.rules.cards import HiddenCard
from controller.rules.engine import facts as f
from controller.rules.engine.entries import Entry, Key
from controller.rules.engine.state import Phase, TableState
from record.link.messages import Event
from record.link.outbox import OUTBOX, event_of

STAND_AFTER: Final = 400
"""Facts after which a standing record is worth its bytes: about ten rounds."""


class Appended(Protocol):
    @property
    def seq(self) -> int: ...
    @property
    def hash(self) -> bytes: ...


@dataclass(frozen=True, slots=True)
class Written:
    """A record as a reader of the journal will find it."""

    seq: int
    kind: str
    body: bytes
    at_ms: int
    hash: bytes


class Appends(Protocol):
    """The journal, as far as the scribe uses it."""

    @property
    def next_seq(self) -> int: ...

    def append(self, kind: str, body: bytes, at_ms: int) -> Appended: ...


class Scribe:
    """``TableCore(..., journal=scribe)``. If it raises, nothing was adopted: stop the process."""

    __slots__ = ("_cards", "_journal", "_wall_ms", "bytes", "memory", "outgoing", "written")

    def __init__(
        self, memory: Memory, journal: Appends, cards: CardSealer, wall_ms: Callable[[], int]
    ) -> None:
        self.memory = memory
        self.outgoing: list[Event] = []
        """Events for the link server of this group: whoever syncs the journal takes them."""
        self._journal = journal
        self._cards = cards
        self._wall_ms = wall_ms
        self.written: Counter[str] = Counter()
        """Records since the start, by kind."""
        self.bytes = 0
        """Of their bodies."""

    def __call__(self, entry: Entry, key: Key | None) -> TableState | None:
        """Returns the state after a fact: the table takes it over, so that the two hold every
        closed round once."""
        memory, seq = self.memory, self._journal.next_seq
        hide, sealed = self._hiding(seq)
        if not isinstance(entry, f.Fact):
            self.append(*encode_entry(entry, key, hide))
            self.write(memory.note(entry))
            return None
        ahead = memory.ahead(entry)
        self.append(*encode_entry(entry, key, hide, ahead.digest))
        self.write(memory.adopt(entry, key, ahead, seq, sealed=sealed, cards=self._cards))
        return memory.state

    def write(self, bodies: list[Body]) -> None:
        """Records that follow a fact; after a start, those that the power cut took."""
        for kind, body in bodies:
            seq = self._journal.next_seq
            self.append(kind, body)
            if kind == ROUND:
                self.memory.round_at(round_number(body), seq)

    @property
    def standing_due(self) -> bool:
        return self.memory.facts >= STAND_AFTER and self.may_stand

    @property
    def may_stand(self) -> bool:
        return self.memory.state.phase is Phase.IDLE

    def stand(self) -> None:
        """Write down the whole table, between rounds: first in a journal, and now and then."""
        if not self.may_stand:
            raise ValueError("a table is written down between rounds only")
        hide, _ = self._hiding(self._journal.next_seq)
        self.append(STANDING, standing_body(self.memory.standing(), hide))
        self.memory.stood()

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
        record = Written(at.seq, kind, body, at_ms, at.hash)
        self.memory.written(record)
        if kind == OUTBOX:
            self.outgoing.append(event_of(record))
