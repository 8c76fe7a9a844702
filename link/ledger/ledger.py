"""The ledger: pools, journals and awards in memory, changed by events and orders, one at a time.

Pure: it reads no clock, draws nothing and writes nothing. Whatever it changed since the last time
is handed over by ``group`` for the store to commit; only then may replies be sent. If the commit
fails the process stops or builds a new ledger from the store: nothing is rolled back here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from link.ledger.orders import Order, Person
from link.ledger.terms import Pool
from link.rows import Group, Saved
from record.link.messages import Checkpoint, Event, FromServer, Hello, MeterValue, Refused

Reply = tuple[str, FromServer]
"""The table it goes to, and the message. To be sent after the commit."""


@dataclass(frozen=True, slots=True)
class Greeting:
    """The answer to a ``Hello``: a ``Welcome`` with ``n`` and then the replies, or a refusal."""

    n: int
    refused: Refused | None = None
    replies: list[Reply] = field(default_factory=list)


class Sealer(Protocol):
    """Keeps the seed of a mystery trigger from everybody, the database's readers included."""

    def seal(self, secret: bytes) -> bytes: ...

    def unseal(self, sealed: bytes) -> bytes | None: ...


Recall = Callable[[str, int], str | None]
"""The hash stored for event ``n`` of a journal, for numbers the ledger no longer remembers."""


class Ledger:
    """See the module. ``pools`` is the configuration, ``saved`` what the store has."""

    def __init__(
        self,
        pools: Sequence[Pool],
        saved: Saved,
        *,
        recall: Recall | None = None,
        sealer: Sealer | None = None,
        chance: Callable[[], bytes] | None = None,
    ) -> None:
        """``chance`` gives 32 fresh bytes; needed with ``sealer`` where a level is a mystery."""
        raise NotImplementedError

    def open(self, at_ms: int) -> None:
        """Once after the start: opens new levels, plans changed parameters, links tables."""

    def hello(self, table: str, message: Hello, received_ms: int) -> Greeting:
        """``table`` is who the key belongs to."""
        raise NotImplementedError

    def take(
        self, table: str, journal: str, message: Event, received_ms: int, body: bytes = b""
    ) -> list[Reply]:
        """An event of the journal that this connection said hello with. ``body`` spares encoding it
        again. Always answers with an ``Ack`` or a ``Refused`` for this table, first in the list."""
        raise NotImplementedError

    def checkpoint(
        self, table: str, journal: str, message: Checkpoint, received_ms: int
    ) -> list[Reply]:
        """Answers ``Noted`` or ``Refused``."""
        raise NotImplementedError

    def order(self, order: Order, by: Person | Sequence[Person], at_ms: int) -> list[Reply]:
        """Raises ``PoolError`` if it cannot be; otherwise it is recorded and done."""
        raise NotImplementedError

    def due_ms(self) -> int | None:
        """When ``tick`` has something to do, by the server's clock; None if nothing waits."""
        raise NotImplementedError

    def tick(self, now_ms: int) -> list[Reply]:
        """What time decides: claims that waited for ties are locked."""
        raise NotImplementedError

    def meters(self, table: str | None = None) -> tuple[MeterValue, ...]:
        """What may be shown once the changes so far are committed: all levels, or those of the pool
        that a table plays for."""
        raise NotImplementedError

    def group(self, epoch: int) -> Group:
        """All that changed since the last call, checked (``LedgerBroken`` if it does not hold)."""
        raise NotImplementedError
