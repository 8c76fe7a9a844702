"""The processes that are followed: one upstream subscription each, however many pages are open.

A source asks for changes, waits, and asks again. If it breaks off, it connects again after a pause
and continues where it was. Values of parts are kept as the bytes that came, and are encoded once.
"""

from __future__ import annotations

import asyncio
import http.client
import re
import traceback
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from time import monotonic
from typing import Annotated, Any, Final, Protocol, TypeVar
from urllib.parse import urlencode

import msgspec

from record.kit.feed import Changes, Mirror
from record.kit.lines import line_of
from record.kit.log_lines import LogLines
from record.kit.outside import WIRE_INT, printable
from web.problems import NO_SOURCE, OURS

WAIT_MS: Final = 2_000
ANSWER_S: Final = WAIT_MS / 1_000 + 8.0
LONGEST: Final = 16 << 20
"""Bytes of an answer."""
FIRST_PAUSE_S: Final = 0.1
LONGEST_PAUSE_S: Final = 3.0
PACE_S: Final = 0.02
"""Two requests are so far apart: changes that come faster are taken together."""
ADDRESS: Final = re.compile(r"http://(127\.0\.0\.1:([0-9]{1,5}))/?", re.ASCII)
NAME: Final = "underfelt web: "
_LOG: Final = LogLines(front=NAME)


class Broken(Exception):
    """The source does not answer as documented; the text says how."""


Number = Annotated[int, msgspec.Meta(ge=0, le=WIRE_INT)]


class _Answer(msgspec.Struct):
    feed: Annotated[str, msgspec.Meta(min_length=1)]
    n: Number
    reloaded: bool
    parts: dict[str, tuple[Number, msgspec.Raw]]
    log: list[dict[str, Any]]
    dropped: Number | None = None


class _Refused(msgspec.Struct):
    error: str = ""
    text: str = ""


T = TypeVar("T")


def read_answer(data: bytes | msgspec.Raw, kind: type[T]) -> T:
    """What another process answered; ``Broken`` if it is not JSON of this kind."""
    try:
        return msgspec.json.decode(data, type=kind)
    # Invalid UTF-8 is a ValueError, deep nesting a RecursionError.
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise Broken(printable(str(error)[:200])) from None


def read_changes(data: bytes) -> Changes:
    """``Broken`` if it is no answer to ``changes``."""
    try:
        answer = read_answer(data, _Answer)
    except Broken as broken:
        raise Broken(_refusal(data) or str(broken)) from None
    for _, raw in answer.parts.values():
        read_answer(raw, Any)  # until now it was only skipped
    last = 0
    for entry in answer.log:
        n = entry.get("n")
        if type(n) is not int or not last < n <= answer.n:
            raise Broken("a log entry without its number")
        last = n
    made: Changes = {
        "feed": answer.feed,
        "n": answer.n,
        "reloaded": answer.reloaded,
        # A copy: a part must not keep the whole answer in memory.
        "parts": {name: (n, raw.copy()) for name, (n, raw) in answer.parts.items()},
        "log": answer.log,
    }
    if answer.dropped is not None:
        made["dropped"] = answer.dropped
    return made


def _refusal(data: bytes) -> str:
    with suppress(Broken):
        refused = read_answer(data, _Refused)
        if refused.error:
            return printable(f"{refused.text[:200]} ({refused.error[:40]})")
    return ""


class Upstream(Protocol):
    """A way to ask a process for changes."""

    async def changes(self, request: Mapping[str, Any]) -> bytes:
        """OSError, TimeoutError or Broken if there is no answer."""
        ...

    async def close(self) -> None: ...


class Lines:
    """A unix socket with a JSON object per line: table and link server."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._open: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def changes(self, request: Mapping[str, Any]) -> bytes:
        if self._open is None:
            self._open = await asyncio.open_unix_connection(self._path, limit=LONGEST)
        reader, writer = self._open
        writer.write(line_of({"verb": "changes", **request}))
        async with asyncio.timeout(ANSWER_S):
            await writer.drain()
            try:
                line = await reader.readline()
            except ValueError:
                raise Broken(f"an answer of more than {LONGEST:,} bytes") from None
        if not line.endswith(b"\n"):
            raise Broken("the connection was closed")
        return line

    async def close(self) -> None:
        if self._open is not None:
            self._open[1].close()
            self._open = None


class Simulator:
    """The HTTP API of a simulator on this machine; a file has its address."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._thread = ThreadPoolExecutor(1, "simulator")
        self._connection: http.client.HTTPConnection | None = None

    async def changes(self, request: Mapping[str, Any]) -> bytes:
        loop = asyncio.get_running_loop()
        path = f"/changes?{urlencode(request)}"
        return await loop.run_in_executor(self._thread, self._get, path)

    def _get(self, path: str) -> bytes:
        connection = http.client.HTTPConnection(address_in(self._file), timeout=ANSWER_S)
        self._connection = connection
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            data = answer.read(LONGEST + 1)
            if answer.status != 200:
                raise Broken(f"status {answer.status}: {_refusal(data) or 'no changes'}")
        except http.client.HTTPException as error:
            raise Broken(f"{type(error).__name__} from the simulator") from None
        finally:
            self._connection = None
            connection.close()
        return data

    async def close(self) -> None:
        waiting = self._connection
        if waiting is not None and waiting.sock is not None:
            with suppress(OSError):
                waiting.sock.shutdown(2)
        self._thread.shutdown(wait=False, cancel_futures=True)


def address_in(file: Path) -> str:
    """``127.0.0.1:PORT`` of the simulator that wrote this file; OSError or Broken."""
    found = ADDRESS.fullmatch(file.read_text("ascii", "replace")[:200].strip())
    if found is None or not 0 < int(found[2]) <= 65_535:
        raise Broken("its file does not hold an address http://127.0.0.1:PORT")
    return found[1]


class Source:
    """A followed process: the latest parts, the end of its log, and when it was last heard."""

    def __init__(
        self,
        name: str,
        upstream: Callable[[], Upstream],
        changed: Callable[[Source], None] = lambda _source: None,
    ) -> None:
        self.name = name
        self.mirror = Mirror()
        self.error = "not asked yet"
        self.asked = 0
        """Requests so far."""
        self.changed = changed
        self._upstream = upstream
        self._heard_s: float | None = None
        self._all_of_it = False
        """The last answer did not fit: ask for everything."""

    @property
    def known(self) -> bool:
        """True once anything was heard."""
        return bool(self.mirror.feed)

    def age_ms(self) -> int | None:
        """Since the last answer; None if there was none."""
        return None if self._heard_s is None else int((monotonic() - self._heard_s) * 1_000)

    def part(self, name: str) -> Any:
        """Decoded; None if the source has no such part."""
        found = self.mirror.parts.get(name)
        return None if found is None else msgspec.json.decode(found[1])

    async def run(self) -> None:
        """Until it is cancelled."""
        pause_s = FIRST_PAUSE_S
        while True:
            upstream = self._upstream()
            try:
                while True:
                    next_s = monotonic() + PACE_S
                    await self._ask(upstream)
                    pause_s = FIRST_PAUSE_S
                    if (early_s := next_s - monotonic()) > 0:
                        await asyncio.sleep(early_s)
            except (OSError, TimeoutError, Broken) as error:
                why = getattr(error, "strerror", None) or str(error) or "no answer in time"
                self._lost(why, NO_SOURCE)
            except (
                Exception
            ) as error:  # a fault of ours; a source that is never asked again is dead
                self._all_of_it = True
                self._lost(f"{type(error).__name__} in {places(error)}", OURS)
            finally:
                await upstream.close()
            await asyncio.sleep(pause_s)
            pause_s = min(pause_s * 2, LONGEST_PAUSE_S)

    async def _ask(self, upstream: Upstream) -> None:
        self.asked += 1
        before = (self.mirror.feed, self.mirror.n)
        asking = {"feed": "", "after": 0} if self._all_of_it else self.mirror.request()
        request = {**asking, "wait_ms": WAIT_MS}
        changes = read_changes(await upstream.changes(request))
        try:
            self.mirror.take(changes)
        except ValueError as error:
            self._all_of_it = True
            raise Broken(str(error)) from None
        self._all_of_it = False
        self._heard_s = monotonic()
        if self.error:
            self.error = ""
            say(f"{self.name}: followed")
        if (self.mirror.feed, self.mirror.n) != before:
            self.changed(self)

    def _lost(self, why: str, code: str) -> None:
        if why != self.error:
            say(f"{self.name}: {why} ({code})")
        self.error = why


def places(error: BaseException) -> str:
    """Where it happened, without the values: one of them may be a password."""
    found = traceback.extract_tb(error.__traceback__)[-3:]
    return ", ".join(f"{place.name} line {place.lineno}" for place in found)


def say(text: str) -> None:
    """Write a line of the log; it does not wait for its reader."""
    _LOG.write(printable(f"{NAME}{text}") + "\n")
