"""The network cable between a simulated table and its link server.

The table connects to the near end, the far end is the server. A pulled cable is silence: nothing
passes and nobody is told. What was on its way arrives when the cable is back, as TCP has it.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
from typing import Final

CHUNK: Final = 1 << 16


class CableError(ValueError):
    """An address that cannot be used; the text says which."""


class Cable:
    """One thread only: the simulator's loop."""

    def __init__(self, server: str) -> None:
        """``server``: tcp://HOST:PORT."""
        found = re.fullmatch(r"tcp://([A-Za-z0-9.-]{1,253}):([0-9]{1,5})", server)
        if found is None or int(found[2]) > 65_535:
            raise CableError(f"--link-cable {server!r}: expected tcp://HOST:PORT")
        self._far = found[1], int(found[2])
        self._whole = asyncio.Event()
        self._whole.set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    @property
    def connected(self) -> bool:
        return self._whole.is_set()

    async def start(self) -> str:
        """The near end: an address of this machine."""
        self._server = await asyncio.start_server(self._plugged, "127.0.0.1", 0)
        port = self._server.sockets[0].getsockname()[1]
        return f"tcp://127.0.0.1:{port}"

    def cut(self) -> None:
        self._whole.clear()

    def restore(self) -> None:
        self._whole.set()

    async def _plugged(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        try:
            await self._whole.wait()
            far_reader, far_writer = await asyncio.open_connection(*self._far)
            try:
                ways = (self._pump(reader, far_writer), self._pump(far_reader, writer))
                pumps = [asyncio.ensure_future(way) for way in ways]
                await asyncio.wait(pumps, return_when=asyncio.FIRST_COMPLETED)
                for pump in pumps:
                    pump.cancel()
                await asyncio.gather(*pumps, return_exceptions=True)
            finally:
                far_writer.close()
        except OSError:
            pass  # no server there: the table tries again
        finally:
            writer.close()
            self._tasks.discard(task)

    async def _pump(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(OSError):
            while data := await reader.read(CHUNK):
                await self._whole.wait()
                writer.write(data)
                await writer.drain()
            await self._whole.wait()  # the end of a connection passes no pulled cable either

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
