"""What the web process makes of a table's and a simulator's answers: every byte it would send.

The answers are those that a whole table in virtual time gave (``OpenTable``). They go through the
sources, the streams and the application of ``underfelt web``; only the network and its clock are
left out.
"""

from __future__ import annotations

import asyncio
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, NamedTuple, cast
from unittest.mock import patch

from tests.hidden.outside import Row
from web.app import App
from web.config import load
from web.sources import Source

PORT: Final = 8630
NAME: Final = "t"
CONFIG: Final = f"""
[web]
login = false
[[table]]
name = "{NAME}"
socket = "table.sock"
simulator = "control"
journal = "journal"
"""
TABLE, SIM = f"table:{NAME}", f"sim:{NAME}"
CHANNELS: Final = {"changes": TABLE, "simulator": SIM}
STREAM: Final = f"/api/v1/events?feeds={TABLE},{SIM}"
FOLLOWED: Final = "followed from the beginning"
PATHS: Final = (f"/api/v1/tables/{NAME}", "/api/v1/tables", "/api/v1/feeds", "/healthz", "/readyz")
ROUNDS: Final = (f"/api/v1/tables/{NAME}/rounds", f"/api/v1/tables/{NAME}/rounds/last")
TURNS: Final = 20
"""Of the event loop, until a stream that was woken has written."""


class Answer(NamedTuple):
    """What a source answered, and before which row of its table."""

    row: int
    source: str
    body: dict[str, Any]


class Sent(NamedTuple):
    row: int
    path: str
    data: bytes


def answers_of(rows: Sequence[Row]) -> list[Answer]:
    """Those of a follower from the beginning; ``changes`` also has rows of parts alone."""
    found = []
    for number, row in enumerate(rows):
        if row.channel in CHANNELS:
            (text,) = row.what
            body = json.loads(str(text))
            if "feed" in body:
                found.append(Answer(number, CHANNELS[row.channel], body))
    return found


def everything(answers: Sequence[Answer], folder: Path) -> list[Sent]:
    """What browsers get: one that follows from the beginning, one that comes after each answer, and
    one that asks for the latest values; and what the process logs."""
    with web_in(folder) as (app, log):
        sent = asyncio.run(_followed(app, answers))
    return [*sent, Sent(0, "log", log.getvalue().encode())]


def frame_log(rows: Sequence[Row]) -> dict[str, bytes]:
    """The files of a table's frame log after these rows."""
    files: dict[str, bytes] = {}
    for row in rows:
        if row.channel == "frame log":
            what, number, *more = row.what
            name = f"frames-{number:08}.bin"
            match what:
                case "write":
                    files[name] = files.get(name, b"") + cast(bytes, more[-1])
                case "remove":
                    files.pop(name, None)
    return files


def replayed(
    journal: Mapping[str, bytes], frames: Mapping[str, bytes], folder: Path
) -> dict[str, bytes]:
    """The pages about rounds, of a journal and a frame log with these files."""
    for name, files in (("journal", journal), ("frames", frames)):
        (folder / name).mkdir()
        for file, data in files.items():
            (folder / name / file).write_bytes(data)

    async def asked(app: App) -> dict[str, bytes]:
        return {path: await _ask(app, path) for path in ROUNDS}

    with web_in(folder) as (app, _):
        return asyncio.run(asked(app))


def difference(one: Sequence[Sent], other: Sequence[Sent]) -> str:
    """The first that differs, in short; empty if they are alike."""
    for a, b in zip(one, other, strict=False):
        if a != b:
            pairs = enumerate(zip(a.data, b.data, strict=False))
            at = next((i for i, (x, y) in pairs if x != y), 0)
            place = slice(max(0, at - 60), at + 60)
            return f"row {a.row}, {a.path}: {a.data[place]!r} and {b.path}: {b.data[place]!r}"
    return "" if len(one) == len(other) else f"{len(one)} and {len(other)} responses"


# --- the process, without its network ----------------------------------------------------------


@contextmanager
def web_in(folder: Path) -> Iterator[tuple[App, io.StringIO]]:
    config = folder / "web.toml"
    config.write_text(CONFIG)
    log = io.StringIO()
    with (
        patch("web.sources.monotonic", lambda: 0.0),
        patch("web.streams.monotonic", lambda: 0.0),
        patch("web.sources._LOG", log),
    ):
        yield App(load(config), PORT), log


class _Recorded:
    """An upstream with one answer."""

    def __init__(self, body: Mapping[str, Any]) -> None:
        self._line = json.dumps(body).encode() + b"\n"

    async def changes(self, _request: Mapping[str, Any]) -> bytes:
        return self._line

    async def close(self) -> None:
        pass


async def _followed(app: App, answers: Sequence[Answer]) -> list[Sent]:
    sent, heard = list[Sent](), list[bytes]()
    following = _stream(app, heard.append)
    for row, name, body in answers:
        source: Source = app.sources[name]
        await source._ask(_Recorded(body))
        app.streams.beat()
        await _turns()
        sent += [Sent(row, FOLLOWED, data) for data in heard]
        heard.clear()
        come = list[bytes]()
        late = _stream(app, come.append)
        await _turns()
        late.cancel()
        sent += [Sent(row, STREAM, data) for data in come]
        sent += [Sent(row, path, await _ask(app, path)) for path in PATHS]
    following.cancel()
    await asyncio.gather(following, return_exceptions=True)
    return sent


async def _turns() -> None:
    for _ in range(TURNS):
        await asyncio.sleep(0)


def _stream(app: App, heard: Callable[[bytes], object]) -> asyncio.Task[None]:
    async def receive() -> dict[str, Any]:
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Mapping[str, Any]) -> None:
        heard(_bytes(message))

    return asyncio.create_task(_call(app, STREAM, receive, send))


async def _ask(app: App, path: str) -> bytes:
    sent = list[bytes]()

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Mapping[str, Any]) -> None:
        sent.append(_bytes(message))

    await _call(app, path, receive, send)
    return b"".join(sent)


async def _call(app: App, path: str, receive: Any, send: Any) -> None:
    place, _, query = path.partition("?")
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "GET",
        "scheme": "http", "path": place, "raw_path": place.encode(), "root_path": "",
        "query_string": query.encode(), "headers": [(b"host", f"127.0.0.1:{PORT}".encode())],
        "client": ("127.0.0.1", 1), "server": ("127.0.0.1", PORT),
    }  # fmt: skip
    await app.asgi(scope, receive, send)


def _bytes(message: Mapping[str, Any]) -> bytes:
    if message["type"] == "http.response.start":
        return repr((message["status"], sorted(message["headers"]))).encode() + b"\n"
    return bytes(message.get("body", b""))
