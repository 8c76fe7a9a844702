"""The link server with a hundred CURVE tables, one event in flight each, beside what it stands on.

    python -m bench.link_server [SECONDS] [REPEATS] [TABLES]

``echo`` is a bare CURVE ROUTER that drains and sends back: no ledger, no store, no check. ``no
sync`` is the server on a store that never flushes, ``durable`` the same as it runs. The client
shares the machine, so CPU per event is the figure that carries over. Events per group show that
acks wait for the commit: never more than there are tables.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final

from bench.common import Target, print_ratios, verdict, versions
from bench.link_parts import House, at_share, cpu_s, drive, joined

MODES: Final = ("echo", "no sync", "durable")


@dataclass(frozen=True, slots=True)
class Figures:
    events_s: float
    p99_ms: float
    cpu_us: float
    per_group: float


def measure(mode: str, count: int, seconds: float, place: Path) -> Figures:
    with tempfile.TemporaryDirectory(dir=place) as name:
        house = House.build(Path(name), count)
        with house.server(mode) as server:
            sockets = joined(house, server.tables, count)
            before = cpu_s(server.pid)
            latencies, took = drive(sockets, seconds)
            cpu = cpu_s(server.pid) - before
            for socket in sockets:
                socket.close(0)
        groups = server.groups() if mode != "echo" else 0
    latencies.sort()
    acked = len(latencies)
    return Figures(
        acked / took,
        at_share(latencies, 0.99) * 1e3,
        cpu / acked * 1e6,
        acked / groups if groups else 0.0,
    )


def main(argv: list[str]) -> int:
    seconds = float(argv[0]) if argv else 3.0
    repeats = int(argv[1]) if len(argv) > 1 else 3
    count = int(argv[2]) if len(argv) > 2 else 100
    print(versions("pyzmq", "msgspec"), f"{count} CURVE tables, one event in flight each")
    with tempfile.TemporaryDirectory() as place:
        runs: dict[str, list[Figures]] = {mode: [] for mode in MODES}
        for _ in range(repeats):
            for mode in MODES:
                runs[mode].append(measure(mode, count, seconds, Path(place)))
    return report(runs, count)


def report(runs: dict[str, list[Figures]], count: int) -> int:
    def medians(read: Callable[[Figures], float]) -> dict[str, float]:
        return {mode: median(read(one) for one in found) for mode, found in runs.items()}

    rates, tails = medians(lambda f: f.events_s), medians(lambda f: f.p99_ms)
    cpus, grouped = medians(lambda f: f.cpu_us), medians(lambda f: f.per_group)
    print("acknowledged events")
    print_ratios(rates, "no sync", "events/s")
    missed = verdict(rates, [Target("durable", "no sync", 0.8)])
    print("p99 latency")
    print_ratios(tails, "no sync", "ms")
    missed |= verdict(tails, [Target("durable", "no sync", 1.5, at_most=True)])
    print("CPU of the server")
    print_ratios(cpus, "echo", "us/event")
    missed |= verdict(cpus, [Target("durable", "echo", 2.0, at_most=True)])
    print(
        f"events a group: {grouped['durable']:.1f} (never above {count}: acks wait for the commit)"
    )
    return missed | (grouped["durable"] > count)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
