"""Single requests to other processes: the control socket of the link server, a simulator.

Few at a time: the control socket has room for eight connections, and people at the machine need
some of them. Each kind of request has places of its own, and nobody has more than a share of them.
"""

from __future__ import annotations

import asyncio
import http.client
import json
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final

from record.kit.lines import line_of
from web.places import Full, Places, Queue
from web.problems import BUSY, NO_SOURCE, Problem, refused
from web.sources import Broken, address_in, read_answer

LONGEST: Final = 8 << 20
QUESTION_S: Final = 20.0
ORDER_S: Final = 60.0
"""Passwords are checked one at a time, slowly."""
AT_ONCE: Final = 1
"""Of each kind. The link server checks one password at a time, too."""
WAITING: Final = 16
WAITING_EACH: Final = 4
"""Of one person; of one address where nobody has signed in yet."""
NOT_SENT: Final = "the link server does not answer; nothing was sent, try again"
MAYBE_DONE: Final = "the link server does not answer; what was asked may have been done"
STEP_S: Final = 180.0
STEPS: Final = 8


class Control:
    """The control socket; ``None`` where this machine has no link server."""

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._queue = Queue(AT_ONCE, Places(WAITING, WAITING_EACH))

    async def ask(
        self, request: Mapping[str, Any], key: str, limit_s: float = QUESTION_S
    ) -> dict[str, Any]:
        """Its answer; ``Problem`` if it refuses or does not answer. ``key``: who asks."""
        if self._path is None:
            raise Problem(404, NO_SOURCE, "no link server is configured here")
        said = NOT_SENT
        try:
            async with asyncio.timeout(limit_s), self._queue.turn(key):
                reader, writer = await asyncio.open_unix_connection(self._path, limit=LONGEST)
                try:
                    said = MAYBE_DONE
                    writer.write(line_of(request))
                    await writer.drain()
                    answer = read_answer(await reader.readline(), dict[str, Any])
                finally:
                    writer.close()
        except Full:
            why = "too many requests wait; try again"
            raise Problem(503, BUSY, why, {"Retry-After": "2"}) from None
        except (OSError, TimeoutError, ValueError, Broken):  # ValueError: an endless line
            raise Problem(503, NO_SOURCE, said, {"Retry-After": "2"}) from None
        if "error" in answer:
            raise refused(answer)
        return answer


class Hands:
    """Steps by hand at a simulated table."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._threads = ThreadPoolExecutor(STEPS, "steps")
        self._under_way = 0

    async def ask(self, method: str, path: str, body: Mapping[str, Any]) -> dict[str, Any]:
        if self._under_way >= STEPS:
            raise Problem(429, BUSY, f"{STEPS} steps are under way; wait for one to end")
        self._under_way += 1
        loop = asyncio.get_running_loop()
        data = json.dumps(body).encode() if body else b""
        done = loop.run_in_executor(self._threads, self._ask, method, path, data)
        done.add_done_callback(self._ended)
        try:
            # A browser that leaves does not stop the step, which then still counts.
            status, answer = await asyncio.shield(done)
        except (OSError, http.client.HTTPException, Broken):
            raise Problem(503, NO_SOURCE, "the simulator does not answer") from None
        if status != 200:
            detail = str(answer.get("error", ""))[:2_000]
            # 400: no such step at this table.
            passed_on = {400: 409, 404: 404, 409: 409, 429: 429}
            raise Problem(passed_on.get(status, 502), "E-WEB-023", detail)
        return answer

    def _ended(self, done: asyncio.Future[tuple[int, dict[str, Any]]]) -> None:
        self._under_way -= 1
        if not done.cancelled():
            done.exception()  # seen, also if nobody waits any more

    def _ask(self, method: str, path: str, data: bytes) -> tuple[int, dict[str, Any]]:
        connection = http.client.HTTPConnection(address_in(self._file), timeout=STEP_S)
        try:
            headers = {"Content-Type": "application/json"} if data else {}
            connection.request(method, path, data or None, headers)
            answer = connection.getresponse()
            return answer.status, read_answer(answer.read(LONGEST), dict[str, Any])
        finally:
            connection.close()

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
