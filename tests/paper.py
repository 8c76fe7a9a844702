"""The journal without a disk: a table log that writes into a list, and keeps what it was told."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from controller.history.memory import Memory
from controller.history.sealing import CardSealer, TableKey
from controller.history.snapshot import Opening
from controller.history.table_log import TableLog
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.entries import Entry, Key, NoFact
from controller.rules.engine.state import TableState
from record.journal import Position, Record

JOURNAL_ID = "00112233445566778899aabbccddeeff"
KEY = TableKey(bytes(range(32)))


@dataclass(frozen=True, slots=True)
class Row(Record):
    """A record of a test, without the time and the chain."""

    at_ms: int = 0
    hash: bytes = b""


class Noise:
    """Nonces from a seed: the same ones in the same order, and how often it was asked."""

    def __init__(self, seed: str = "noise") -> None:
        self.seed = seed
        self.calls: list[int] = []

    def __call__(self, size: int) -> bytes:
        self.calls.append(size)
        return hashlib.shake_256(f"{self.seed} {len(self.calls)}".encode()).digest(size)


@dataclass
class Paper:
    """A journal in memory."""

    rows: list[Row] = field(default_factory=list)
    states: list[TableState] = field(default_factory=list)
    """The state that the core had adopted when each record was written."""

    @property
    def next_seq(self) -> int:
        return len(self.rows) + 1

    def wall_ms(self) -> int:
        return 0

    def append(self, kind: str, body: bytes, at_ms: int) -> Position:
        assert at_ms >= 0
        before = self.rows[-1].hash if self.rows else b""
        chained = hashlib.sha256(before + body).digest()
        self.rows.append(Row(self.next_seq, kind, body, at_ms, chained))
        return Position(self.rows[-1].seq, chained)


def cards(noise: Noise | None = None) -> CardSealer:
    return CardSealer(KEY, JOURNAL_ID, noise or Noise())


class KeptLog(TableLog):
    """Keeps every entry that went through; ``before`` may fail, as a disk does."""

    __slots__ = ("before", "entries")

    def __init__(
        self,
        memory: Memory,
        paper: Paper | None = None,
        noise: Noise | None = None,
    ) -> None:
        paper = paper or Paper()
        super().__init__(memory, paper, cards(noise), paper.wall_ms)
        self.entries: list[tuple[Entry, Key | None]] = []
        self.before: Callable[[f.Fact], None] = lambda _fact: None

    def apply(self, fact: f.Fact, key: Key | None) -> Sequence[fx.Effect] | fx.Refused:
        self.before(fact)
        effects = super().apply(fact, key)
        if not isinstance(effects, fx.Refused):
            self.entries.append((fact, key))
        return effects

    def note(self, entry: NoFact) -> None:
        super().note(entry)
        self.entries.append((entry, None))


def log_of(state: TableState, untaken: frozenset[int] = frozenset()) -> KeptLog:
    """A log that begins with a state of a test's own."""
    opening = Opening(state.rules.book.key, {}, "2026-01-01")
    return KeptLog(Memory(state, opening, untaken=set(untaken)))


def tell(log: TableLog, entry: Entry, key: Key | None = None) -> None:
    """An entry of any kind; a fact must be accepted."""
    if isinstance(entry, f.Fact):
        effects = log.apply(entry, key)
        assert not isinstance(effects, fx.Refused), effects
    else:
        log.note(entry)
