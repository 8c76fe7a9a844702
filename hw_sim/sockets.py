"""The Unix socket for bus and pins (docs/protocols/simulator.md, section 2)."""

from __future__ import annotations

import asyncio
import errno
import json
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from hw_sim.bus import Bus
from hw_sim.pins import Pins

STUCK_S = 1.0
MOST_BYTES = 8192
"""In one transfer, each way, as the kernel's i2c-dev takes them."""
MOST_TRANSFERS = 42
EXPECTED = f"expected hex and a length of at most {MOST_BYTES}"
Request = Mapping[str, object]
Reply = Mapping[str, str | int | bool | dict[str, bool] | None]


class Transfer(NamedTuple):
    write: bytes
    read: int
    """How many bytes."""


class TableSocket:
    def __init__(self, bus: Bus, pins: Pins) -> None:
        self.bus = bus
        self.pins = pins
        self._server: asyncio.Server | None = None
        self._busy = asyncio.Lock()

    async def start(self, path: Path) -> None:
        self._server = await asyncio.start_unix_server(self._serve, path)

    async def close(self) -> None:
        if self._server is not None:
            self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while line := await reader.readline():
                request = _parsed(line)
                if request.get("op") == "watch":
                    await self._watch(reader, writer)
                    break
                answer = await self._answer(request)
                writer.write(json.dumps(answer).encode() + b"\n")
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError, asyncio.CancelledError, ValueError):
            pass  # the client went away, the simulator stops, or a line has no end
        finally:
            writer.close()

    async def _answer(self, request: Request) -> Reply:
        match request:
            case {"op": "i2c", "address": int(address), "write": str(data), "read": int(read)}:
                return await self._transaction(address, [[data, read]])
            case {"op": "i2c", "address": int(address), "transfers": list(transfers)}:
                if len(transfers) > MOST_TRANSFERS:
                    return {"error": f"{len(transfers)} transfers: at most {MOST_TRANSFERS}"}
                return await self._transaction(address, transfers)
            case {"op": "pin", "number": int(number)}:
                return {"level": self.pins.read(number)}
            case {"op": "pins"}:
                return {"levels": {str(n): self.pins.read(n) for n in self.pins.levels}}
            case _:
                return {"error": f"{str(request)[:80]}: expected op i2c, pin, pins or watch"}

    async def _transaction(self, address: int, asked: list[object]) -> Reply:
        """Transfers joined by repeated starts: nothing else gets the bus in between."""
        transfers: list[Transfer] = []
        for one in asked:
            transfer = _transfer_of(one)
            if transfer is None:
                return {"error": f"{str(one)[:80]}: {EXPECTED}"}
            transfers.append(transfer)
        answer = ""
        took_us = 0
        async with self._busy:
            for written, read in transfers:
                try:
                    answer += self.bus.transfer(address, written, read).hex()
                except OSError as error:
                    if error.errno == errno.ETIMEDOUT:
                        await asyncio.sleep(STUCK_S)
                    return {"errno": error.errno}
                took_us += self.bus.duration_us(len(written), read)
            await asyncio.sleep(took_us / 1_000_000)
            return {"data": answer}

    async def _watch(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        def edge(number: int, level: bool) -> None:
            writer.write(json.dumps({"edge": number, "level": level}).encode() + b"\n")

        levels = {str(number): level for number, level in self.pins.levels.items()}
        writer.write(json.dumps({"levels": levels}).encode() + b"\n")
        self.pins.listeners.append(edge)
        try:
            await reader.read()  # until the client goes away
        finally:
            self.pins.listeners.remove(edge)


def _transfer_of(asked: object) -> Transfer | None:
    """A transfer of ``[hex, length]``; None if it is malformed."""
    match asked:
        case [str(data), int(read)] if 0 <= read <= MOST_BYTES and len(data) <= 2 * MOST_BYTES:
            try:
                return Transfer(bytes.fromhex(data), read)
            except ValueError:
                return None
        case _:
            return None


def _parsed(line: bytes) -> Request:
    try:
        request = json.loads(line)
    except (ValueError, RecursionError):
        return {}
    return request if isinstance(request, dict) else {}
