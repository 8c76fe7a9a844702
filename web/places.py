"""Places for what is bounded, shared between those who ask: one person or address never takes them
all."""

from __future__ import annotations

import asyncio
import ipaddress
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager


class Full(Exception):
    """No place is free, or none for this key."""


class Places:
    """``most`` places, of which each key has at most ``each``."""

    def __init__(self, most: int, each: int) -> None:
        self._most, self._each = most, each
        self._taken: Counter[str] = Counter()

    def __len__(self) -> int:
        return self._taken.total()

    def taken(self, key: str) -> int:
        return self._taken[key]

    def check(self, key: str) -> None:
        if len(self) >= self._most or self._taken[key] >= self._each:
            raise Full

    def take(self, key: str) -> None:
        self._taken[key] += 1

    def give(self, key: str) -> None:
        self._taken[key] -= 1
        if not self._taken[key]:
            del self._taken[key]

    @contextmanager
    def place(self, key: str) -> Iterator[None]:
        self.check(key)
        self.take(key)
        try:
            yield
        finally:
            self.give(key)


class Queue:
    """``at_once`` are served, the others wait in ``places``. A key is served once at a time, so
    that many requests of one key delay the others by one."""

    def __init__(self, at_once: int, places: Places) -> None:
        self._free, self._places = asyncio.Semaphore(at_once), places
        self._turns: dict[str, asyncio.Lock] = {}

    @asynccontextmanager
    async def turn(self, key: str) -> AsyncIterator[None]:
        """``Full`` at once if there is no place to wait."""
        with self._places.place(key):
            mine = self._turns.setdefault(key, asyncio.Lock())
            try:
                async with mine, self._free:
                    yield
            finally:
                if self._places.taken(key) == 1:  # this one alone
                    self._turns.pop(key, None)


def source_of(address: str) -> str:
    """Who shares a bound: a household or a host of IPv6 has a whole /64."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return address
    if isinstance(found, ipaddress.IPv4Address):
        return str(found)
    if found.ipv4_mapped is not None:
        return str(found.ipv4_mapped)
    return str(ipaddress.ip_network((int(found) >> 64 << 64, 64)))
