"""PURE: who is connected as which table. The latest connection of a table is the one in force."""

from __future__ import annotations

from collections.abc import Iterator

from link.rows import KeyRow
from record.link.messages import MeterValue

Peer = tuple[int, bytes]
"""A connection: the number of the door and ZeroMQ's routing id, new with every connection."""


class TableSession:
    __slots__ = ("heard_ms", "journal", "key", "meters", "peer", "slot", "table", "test", "version")

    def __init__(self, peer: Peer, key: KeyRow, journal: str, version: int, heard_ms: int) -> None:
        self.peer, self.key, self.table = peer, key.public, key.table
        self.journal, self.version = journal, version
        self.heard_ms = heard_ms
        """Monotonic."""
        self.meters: tuple[MeterValue, ...] | None = None
        """What it was told last; the same object is not told again."""
        self.test = False
        """It is in test mode, as its last heartbeat said."""
        self.slot = -1
        """Where its ack stands among the answers of this group."""


class Sessions:
    def __init__(self) -> None:
        self._by_peer: dict[Peer, TableSession] = {}
        self._by_table: dict[str, TableSession] = {}

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
        return replaced

    def close(self, peer: Peer) -> TableSession | None:
        session = self._by_peer.pop(peer, None)
        if session is not None and self._by_table.get(session.table) is session:
            del self._by_table[session.table]
        return session

    def silent_since(self, heard_ms: int) -> list[TableSession]:
        """Those who have not been heard since then."""
        return [session for session in self._by_peer.values() if session.heard_ms < heard_ms]
