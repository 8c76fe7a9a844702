"""Reports, replays and evidence: the documented commands, run as processes of their own.

An argument list and never a shell; a time limit; bounded output; few at a time, and one at a time
for each person.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Final, NamedTuple

from record.kit.outside import printable
from web.places import Full, Places, Queue
from web.problems import BUSY, COMMAND_FAILED, COMMAND_SLOW, Problem

LIMIT_S: Final = 60.0
MOST_BYTES: Final = 16 << 20
MOST_SAID: Final = 4_096
AT_ONCE: Final = 2
WAITING: Final = 32
WAITING_EACH: Final = 4
"""Of one person."""
CHUNK: Final = 1 << 16
COMMAND: Final = (sys.executable, "-P", "-m", "controller.cli")
PASSED_ON: Final = ("PATH", "LANG", "LC_ALL", "TZ", "PYTHONPATH", "PYTHONDONTWRITEBYTECODE")


class Done(NamedTuple):
    code: int
    output: bytes
    said: str
    """The end of what it wrote to standard error."""


class Runner:
    def __init__(
        self,
        command: Sequence[str] = COMMAND,
        *,
        limit_s: float = LIMIT_S,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self._command, self._limit_s, self._most = tuple(command), limit_s, most_bytes
        self._queue = Queue(AT_ONCE, Places(WAITING, WAITING_EACH))

    async def run(self, key: str, *arguments: str) -> Done:
        """Whatever its exit code; ``Problem`` if it takes too long or says too much. ``key``: who
        asks."""
        try:
            async with self._queue.turn(key):
                return await self._run(arguments)
        except Full:
            said = "too many reports wait; try again"
            raise Problem(503, BUSY, said, {"Retry-After": "5"}) from None

    async def _run(self, arguments: Sequence[str]) -> Done:
        process = await asyncio.create_subprocess_exec(
            *self._command,
            *arguments,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            start_new_session=True,
            env={name: os.environ[name] for name in PASSED_ON if name in os.environ},
        )
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            async with asyncio.timeout(self._limit_s):
                output, said, code = await asyncio.gather(
                    _first(process, process.stdout, self._most),
                    _last(process.stderr),
                    process.wait(),
                )
        except TimeoutError:
            said_ = f"{arguments[0]} took longer than {self._limit_s:.0f} s"
            raise Problem(504, COMMAND_SLOW, said_) from None
        finally:
            _kill(process)
            # `wait` returns after both pipes have ended, and a pipe that nobody reads never ends.
            await asyncio.gather(_last(process.stdout), _last(process.stderr), process.wait())
        if len(output) > self._most:
            said_ = f"{arguments[0]}: more than {self._most:,} bytes; ask for less"
            raise Problem(502, COMMAND_SLOW, said_)
        return Done(code, output, said)


async def _first(
    process: asyncio.subprocess.Process, stream: asyncio.StreamReader, most: int
) -> bytes:
    """All of it; where there is more than ``most``, the process ends and the rest is dropped."""
    found = bytearray()
    while part := await stream.read(CHUNK):
        if len(found) <= most:
            found += part
            if len(found) > most:
                _kill(process)
    return bytes(found)


async def _last(stream: asyncio.StreamReader) -> str:
    found = b""
    while part := await stream.read(CHUNK):
        found = (found + part)[-MOST_SAID:]
    return printable(found.decode("utf-8", "replace").strip().rpartition("\n")[2])


def _kill(process: asyncio.subprocess.Process) -> None:
    """It and what it started."""
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def failed(done: Done) -> Problem:
    """From an exit code of sysexits."""
    status = {os.EX_USAGE: 400, os.EX_NOINPUT: 404, os.EX_NOPERM: 403, os.EX_UNAVAILABLE: 503}
    said = done.said or f"the command ended with {done.code}"
    return Problem(status.get(done.code, 502), COMMAND_FAILED, said)
