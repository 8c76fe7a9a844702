"""PURE: who is connected as which table. The latest connection of a table is the one in force."""

from __future__ import annotations

from collections.abc import Iterator

from link.rows import KeyRow
from record.link.messages import Hello, MeterValue, TableNow

Peer = tuple[int, bytes]
"""A connection: the number of the door and ZeroMQ's routing id, new with every connection."""


class TableSession:
    __slots__ = (
        "game",
        "heard_ms",
        "journal",
        "key",
        "meters",
        "now",
        "peer",
        "slot",
        "table",
        "test",
        "version",
        "waiting_ms",
    )

    def __init__(self, peer: Peer, key: KeyRow, hello: Hello, version: int, heard_ms: int) -> None:
        self.peer, self.key, self.table = peer, key.public, key.table
        self.journal, self.game, self.version = hello.journal, hello.game, version
        self.heard_ms = heard_ms
        """Monotonic."""
        self.meters: tuple[MeterValue, ...] | None = None
        """What it was told last; the same object is not told again."""
        self.test = False
        """It is in test mode, as its last heartbeat said."""
        self.now: TableNow | None = None
        """How it stands, as its last heartbeat said."""
        self.waiting_ms = 0
        """Since when events wait there, by the wall clock; 0: none do."""
        self.slot = -1
        """Where its ack stands among the answers of this group."""


class Sessions:
    def __init__(self) -> None:
        self._by_peer: dict[Peer, TableSession] = {}
        self._by_table: dict[str, TableSession] = {}
        self.moves = 0
        """Counts what is told of them: openings, ends, and what tables say about themselves."""
        self.left_ms: dict[str, int] = {}
        """Table to the wall time at which its last connection ended."""
        self.now_ms = 0

    def __len__(self) -> int:
        return len(self._by_peer)

    def __iter__(self) -> Iterator[TableSession]:
        return iter(self._by_peer.values())

    def at(self, peer: Peer) -> TableSession | None:
        return self._by_peer.get(peer)

    def of(self, table: str) -> TableSession | None:
        return self._by_table.get(table)

    def open(self, session: TableSession) -> TableSession | None:
        """The other connection of the same table, which this one replaces, if there is one."""
        self.close(session.peer)
        replaced = self._by_table.get(session.table)
        if replaced is not None:
            self.close(replaced.peer)
        self._by_peer[session.peer] = session
        self._by_table[session.table] = session
        self.moves += 1
        return replaced

    def close(self, peer: Peer) -> TableSession | None:
        session = self._by_peer.pop(peer, None)
        if session is not None and self._by_table.get(session.table) is session:
            del self._by_table[session.table]
            self.left_ms[session.table] = self.now_ms
            self.moves += 1
        return session

    def silent_since(self, heard_ms: int) -> list[TableSession]:
        """Those who have not been heard since then."""
        return [session for session in self._by_peer.values() if session.heard_ms < heard_ms]
