"""What open pages cost the web process: no page, one, and two hundred, in one run.

    python -m bench.web_streams [STREAMS] [SECONDS]

A small real server stands for a table and changes ten times a second: the felt and an entry of the
log. Every page must get every entry. CPU time is the kernel's count for the process.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

from bench.common import versions
from tests.web.browser import Web, until
from tests.web.servers import Followed

PER_S: Final = 10
STREAMS: Final = 200
SECONDS: Final = 20
CORE: Final = 10.0
RESIDENT_MB: Final = 60.0


def felt(number: int) -> dict[str, Any]:
    """As large as a busy table's."""
    rows = [
        {
            "seat": seat,
            "wagers": [{"spot": spot, "cents": 100 * number, "decision": ""} for spot in "12$"],
            "cards": ["??", "??", "Td"],
            "note": "plays",
            "credits": 0,
        }
        for seat in range(1, 8)
    ]
    return {"rows": rows}


def cpu_s(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_mb(pid: int) -> float:
    pages = int(Path(f"/proc/{pid}/statm").read_text("ascii").split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 1e6


class Page:
    """Counts the entries of the log that it gets."""

    def __init__(self) -> None:
        self.entries = 0

    async def read(self, netloc: str) -> None:
        host, _, port = netloc.partition(":")
        reader, writer = await asyncio.open_connection(host, int(port))
        ask = f"GET /api/v1/events?feeds=table:t HTTP/1.1\r\nHost: {netloc}\r\n\r\n"
        writer.write(ask.encode())
        try:
            async for line in reader:
                self.entries += line.count(b'"said"')
        finally:
            writer.close()


async def measured(web: Web, table: Followed, streams: int, seconds: float) -> float:
    """Share of a core in per cent."""
    pages = [Page() for _ in range(streams)]
    tasks = [asyncio.create_task(page.read(web.netloc)) for page in pages]
    await asyncio.sleep(2)
    begun, cpu = time.monotonic(), cpu_s(web.process.pid)
    before = [page.entries for page in pages]
    rounds = int(seconds * PER_S)
    for number in range(rounds):
        table.update(felt=felt(number))
        table.note(said=f"seat {number % 7 + 1} bets", round=7, clause="MBS3-1.1.1")
        await asyncio.sleep(max(0.0, begun + (number + 1) / PER_S - time.monotonic()))
    share = 100 * (cpu_s(web.process.pid) - cpu) / (time.monotonic() - begun)
    await asyncio.sleep(1)
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)
    missed = [n for n, page in zip(before, pages, strict=True) if page.entries - n != rounds]
    assert not missed, f"{len(missed)} pages missed or doubled entries"
    return share


def main(arguments: list[str]) -> int:
    streams = int(arguments[0]) if arguments else STREAMS
    seconds = float(arguments[1]) if len(arguments) > 1 else SECONDS
    print(f"web_streams: {PER_S} changes/s; {versions('starlette', 'uvicorn')}")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        table = Followed(folder / "t.sock", longest=500)
        table.update(felt=felt(0))
        config = folder / "web.toml"
        config.write_text(
            '[web]\nlisten = "127.0.0.1:0"\nlogin = false\n'
            '[[table]]\nname = "t"\nsocket = "t.sock"\n'
        )
        web = Web(config)
        until(lambda: web.get("/readyz").status == 200)
        shares = {}
        for many in (0, 1, streams):
            shares[many] = asyncio.run(measured(web, table, many, seconds))
            resident = resident_mb(web.process.pid)
            print(f"  {many:>4} pages  {shares[many]:>5.1f} % of a core  {resident:>5.1f} MB")
        asked = len(table.asked)
        connections = table.connections
        web.stop()
        table.close()
    met = shares[streams] <= CORE and resident <= RESIDENT_MB and connections == 1
    print(f"  {connections} connection to the table, {asked} requests")
    word = "met" if met else "MISSED"
    print(f"  target: at most {CORE:g} % of a core, {RESIDENT_MB:g} MB, one connection: {word}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
