"""The shell's own journal: every command and its author, on disk before it is answered.

A hash-chained journal beside the table's, with a thread of its own: the table never waits for it.
Commands that wait together are synced together. If it cannot be written the shell answers nothing,
and the table plays on.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from controller.history.entries import dump, load
from controller.shell.errors import NO_AUDIT, VerbRefused
from record.journal import Journal, JournalError

FOLDER: Final = "audit"
COMMAND: Final = "command"
COUNTED: Final = "counted"
SEGMENT_BYTES: Final = 1 << 20
RESERVE_BYTES: Final = 64 << 10
MOST: Final = 60
"""Commands of one uid that are written one by one, in a minute; those above are counted."""
MINUTE_MS: Final = 60_000


@dataclass(slots=True)
class Limiter:
    """Pure. Which commands are written by themselves, and what is to be said of the others."""

    _written: dict[int, int] = field(default_factory=dict)
    _counted: dict[int, int] = field(default_factory=dict)
    _from_ms: int = 0

    def writes(self, uid: int) -> bool:
        """Is this command written by itself?"""
        done = self._written.get(uid, 0)
        self._written[uid] = done + 1
        if done < MOST:
            return True
        self._counted[uid] = self._counted.get(uid, 0) + 1
        return False

    def turn(self, now_ms: int) -> list[dict[str, int]]:
        """A record for each uid with counted commands, once a minute is over."""
        if 0 <= now_ms - self._from_ms < MINUTE_MS:
            return []
        self._from_ms = now_ms
        return self.rest()

    def rest(self) -> list[dict[str, int]]:
        counted, self._counted, self._written = self._counted, {}, {}
        return [{"uid": uid, "more": number} for uid, number in sorted(counted.items())]

    @property
    def owes(self) -> bool:
        return bool(self._counted)


Row = tuple[str, Mapping[str, Any]]
Open = Callable[[int], Journal]
"""At this moment, in ms."""


def opener(journal: Path, table: str, retention_days: int) -> Open:
    """Opens the audit journal beside the table's; it is made with the first command."""

    def opened(now_ms: int) -> Journal:
        return Journal.open(
            journal.parent / FOLDER,
            table=table,
            segment_bytes=SEGMENT_BYTES,
            reserve_bytes=RESERVE_BYTES,
            retention_days=retention_days,
            now_ms=now_ms,
        )

    return opened


class Audit:
    """Everything is of the loop, but for ``_drain`` and the journal, which are of the thread."""

    def __init__(self, open_journal: Open, now_ms: Callable[[], int]) -> None:
        self._open, self._now_ms = open_journal, now_ms
        self._journal: Journal | None = None
        self._thread = ThreadPoolExecutor(1, "audit")
        self._limiter = Limiter()
        self._waiting: list[tuple[Row, asyncio.Future[str] | None]] = []
        self._working: asyncio.Task[None] | None = None
        self._timer: asyncio.TimerHandle | None = None

    async def note(self, uid: int, body: Mapping[str, Any]) -> None:
        """Returns when it is on disk, or counted. Raises Refused if it cannot be written."""
        self._turn()
        if not self._limiter.writes(uid):
            self._come_back()
            return
        await self.keep(COMMAND, body)

    async def keep(self, kind: str, body: Mapping[str, Any]) -> None:
        """A record that is never only counted: a certificate, a challenge."""
        done: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._waiting.append(((kind, body), done))
        self._work()
        if why := await done:
            raise VerbRefused(NO_AUDIT, f"the audit journal cannot be written: {why}")

    def _work(self) -> None:
        if self._waiting and self._working is None:
            self._working = asyncio.get_running_loop().create_task(self._write())

    async def _write(self) -> None:
        """What waits together is synced together."""
        loop = asyncio.get_running_loop()
        while self._waiting:
            group, self._waiting = self._waiting, []
            rows = [row for row, _ in group]
            why = await loop.run_in_executor(self._thread, self._drain, rows)
            for _, done in group:
                if done is not None and not done.done():
                    done.set_result(why)
        self._working = None

    def _drain(self, rows: list[Row]) -> str:
        """In the thread. Returns why it failed; the next group begins with what the disk has."""
        try:
            if self._journal is None:
                self._journal = self._open(self._now_ms())
            for kind, body in rows:
                self._journal.append(kind, dump(body), self._now_ms())
            self._journal.sync()
        except (JournalError, OSError) as error:
            self._let_go()
            return str(error)
        return ""

    async def rows_of(self, kind: str) -> list[dict[str, Any]]:
        """Every record of a kind that this journal still has, as far as it can be read."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._thread, self._read, kind)

    def _read(self, kind: str) -> list[dict[str, Any]]:
        try:
            if self._journal is None:
                self._journal = self._open(self._now_ms())
            return [load(r.body) for r in self._journal.records() if r.kind == kind]
        except (JournalError, OSError) as error:
            raise VerbRefused(NO_AUDIT, f"the audit journal cannot be read: {error}") from None

    def _let_go(self) -> None:
        journal, self._journal = self._journal, None
        if journal is not None:
            journal.close()

    def _turn(self) -> None:
        counted = self._limiter.turn(self._now_ms())
        self._waiting += [((COUNTED, row), None) for row in counted]

    def _come_back(self) -> None:
        """Commands that were only counted are written at the end of their minute."""
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(MINUTE_MS / 1000, self._minute_over)

    def _minute_over(self) -> None:
        self._timer = None
        self._turn()
        self._work()
        if self._limiter.owes:
            self._come_back()

    async def close(self) -> None:
        """Write what waits and what was counted, and let go of the journal."""
        if self._timer is not None:
            self._timer.cancel()
        self._waiting += [((COUNTED, row), None) for row in self._limiter.rest()]
        self._work()
        while self._working is not None:
            await self._working
        await asyncio.get_running_loop().run_in_executor(self._thread, self._let_go)
        self._thread.shutdown()
