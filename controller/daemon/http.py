"""Metrics and health over HTTP: GET, two paths, one answer, the connection closed.

Off unless the configuration says otherwise. Requests are bounded in size, time and number, and
nothing a client sends is used for anything but to choose the answer. A port that is taken does not
keep a table from playing.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from http import HTTPStatus
from typing import Final

from controller.daemon.logbook import Entry, say
from record.kit.http import Answer, encoded, plain

LONGEST: Final = 4_096
"""Bytes of a request with all its headers."""
PATIENCE_S: Final = 5.0
MOST_AT_ONCE: Final = 8


Answers = Mapping[str, Callable[[], Answer]]


class Http:
    """``error`` says why nothing is served although it should be."""

    def __init__(self, address: str, port: int, patience_s: float = PATIENCE_S) -> None:
        self._address, self._port = address, port
        self._answers: Answers = {}
        self._patience_s = patience_s
        self.error = ""
        self._server: asyncio.Server | None = None
        self._open = 0

    async def start(self, answers: Answers) -> None:
        """A port that is taken is no failure: then ``error`` says so."""
        self._answers = answers
        try:
            self._server = await asyncio.start_server(
                self._serve, self._address, self._port, limit=LONGEST, backlog=MOST_AT_ONCE
            )
        except (OSError, UnicodeError) as error:
            said = getattr(error, "strerror", None) or str(error)
            self.error = f"{self._address} port {self._port}: {said}"

    @property
    def port(self) -> int:
        assert self._server is not None
        return int(self._server.sockets[0].getsockname()[1])

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._open += 1
        try:
            async with asyncio.timeout(self._patience_s):
                if self._open > MOST_AT_ONCE:
                    answer = plain(HTTPStatus.SERVICE_UNAVAILABLE)
                else:
                    answer = await self._answer(reader)
                writer.write(encoded(answer))
                await writer.drain()
        except (TimeoutError, ConnectionError, asyncio.CancelledError):
            writer.transport.abort()  # gone, or too slow
        finally:
            self._open -= 1
            writer.close()

    async def _answer(self, reader: asyncio.StreamReader) -> Answer:
        try:
            head = await reader.readuntil(b"\r\n\r\n")
        except asyncio.LimitOverrunError:
            return plain(HTTPStatus.REQUEST_HEADER_FIELDS_TOO_LARGE)
        except asyncio.IncompleteReadError:
            return plain(HTTPStatus.BAD_REQUEST)
        words = head.split(b"\r\n", 1)[0].split(b" ")
        if len(words) != 3 or not words[2].startswith(b"HTTP/1."):
            return plain(HTTPStatus.BAD_REQUEST)
        if words[0] != b"GET":
            return plain(HTTPStatus.METHOD_NOT_ALLOWED)
        path = words[1].split(b"?", 1)[0].decode("ascii", "replace")
        found = self._answers.get(path)
        if found is None:
            return plain(HTTPStatus.NOT_FOUND)
        try:
            return found()
        except Exception as error:  # a look at the table must never end it
            say(Entry("degraded", logging.ERROR, f"GET {path}: {type(error).__name__}"))
            return plain(HTTPStatus.INTERNAL_SERVER_ERROR)
