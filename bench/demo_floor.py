"""What the floor of ``make demo`` costs: five tables, link server and pages, in one run.

    python -m bench.demo_floor [SECONDS]

The first start makes keys, accounts and configurations, the second resumes. A start ends when the
pages and every process behind them answer. Then the floor plays, with one page open that follows
every table and the link. CPU time is the kernel's count for all of its processes, this one among
them, beside the time on the wall.
"""

from __future__ import annotations

import os
import resource
import sys
import tempfile
import threading
import time
import urllib.request
from pathlib import Path
from typing import Final

from bench.common import versions
from bench.web_streams import cpu_s, resident_mb
from controller.demo.floor import SELDOM_S, FloorDemo, FloorOptions

SECONDS: Final = 120
CORE: Final = 1.0
READY_S: Final = 15.0
WEB_MB: Final = 60.0


def children_s() -> float:
    """Of processes that have ended."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def used_s(floor: FloorDemo) -> dict[str, float]:
    """CPU seconds by kind of process."""
    found = {"demo": time.process_time(), "set-up": children_s()}
    for name, pid in floor.pids().items():
        kind = "tables" if name in floor.folder.tables else name
        kind = "devices" if name.endswith(" devices") else kind
        found[kind] = found.get(kind, 0.0) + cpu_s(pid)
    return found


def started(options: FloorOptions) -> tuple[FloorDemo, float, float]:
    """The floor, how long its start took, and its CPU time."""
    begun_s = time.monotonic()
    before_s = time.process_time() + children_s()
    floor = FloorDemo(options).__enter__()
    return floor, time.monotonic() - begun_s, sum(used_s(floor).values()) - before_s


def page(address: str, feeds: list[str], ended: threading.Event) -> None:
    """Reads the stream as a browser does."""
    with urllib.request.urlopen(f"{address}api/v1/events?feeds={','.join(feeds)}") as stream:
        for _ in stream:
            if ended.is_set():
                return


def main(arguments: list[str]) -> int:
    seconds = float(arguments[0]) if arguments else SECONDS
    print(f"demo_floor: {versions('starlette', 'uvicorn', 'pyzmq')}, {os.cpu_count()} cores")
    with tempfile.TemporaryDirectory(prefix="underfelt-") as home:
        options = FloorOptions(Path(home) / "floor", port=0)
        starts = []
        for name in ("with set-up", "resumed"):
            floor, took_s, cpu = started(options)
            starts.append(took_s)
            print(f"  start {name:11} {took_s:5.1f} s, {cpu:5.1f} CPU s", flush=True)
            if name == "with set-up":
                floor.close()
        try:
            share, web_mb = measured(floor, seconds)
        finally:
            floor.close()
    met = share < CORE and max(starts) <= READY_S and web_mb <= WEB_MB
    word = "met" if met else "MISSED"
    print(
        f"  target: less than {CORE:g} core, ready within {READY_S:g} s, web {WEB_MB:g} MB: {word}"
    )
    return 0 if met else 1


def measured(floor: FloorDemo, seconds: float) -> tuple[float, float]:
    """Share of a core, and megabytes of the web process."""
    feeds = [
        "link",
        *(f"{kind}:{name}" for name in floor.folder.tables for kind in ("table", "sim")),
    ]
    ended = threading.Event()
    reader = threading.Thread(target=page, args=(floor.address, feeds, ended), daemon=True)
    reader.start()
    begun_s, before = time.monotonic(), used_s(floor)
    while time.monotonic() - begun_s < seconds:
        floor.turn()
        time.sleep(SELDOM_S)
    wall_s, after = time.monotonic() - begun_s, used_s(floor)
    ended.set()
    used = {kind: cpu - before[kind] for kind, cpu in after.items()}
    for kind, cpu in sorted(used.items(), key=lambda row: -row[1]):
        print(f"  {kind:9} {cpu:6.1f} CPU s  {cpu / wall_s:5.2f} of a core")
    share = sum(used.values()) / wall_s
    rounds = sum(floor.sources.settled.values())
    web_mb = resident_mb(floor.pids()["web"])
    print(
        f"  all       {share:.2f} of a core in {wall_s:.0f} s, {rounds} rounds; web {web_mb:.1f} MB"
    )
    return share, web_mb


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
