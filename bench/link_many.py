"""Ten thousand CURVE tables on one server process: memory, load, rejoin; and a thousand signs.

    python -m bench.link_many [TABLES] [PER_S] [SECONDS] [REPEATS] [SIGNS]

The link server as it runs, beside a bare CURVE ROUTER that sends every frame back and beside a bare
CURVE PUB, with the same crowd: two processes of half the tables each, because a socket of a table
takes two descriptors. Events come at a fixed rate whatever the server does (open loop); latency
counts from when an event was due. To rejoin, all connections are dropped, the server notices, and
all tables connect and say hello again, 500 at a time.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any, Final

import zmq

from bench.common import Target, print_ratios, verdict, versions
from bench.link_parts import House, Running, cpu_s, endpoint, resident_kb

CROWDS: Final = 2
MOST_KB: Final = 40
PUBLISH_MS: Final = 100


class Group:
    """The processes of a crowd, told the same at the same time."""

    def __init__(self, folder: Path, count: int, parts: int, stack: ExitStack) -> None:
        self._parts = []
        for part in range(parts):
            first, end = count * part // parts, count * (part + 1) // parts
            words = [sys.executable, "-m", "bench.link_crowd", str(folder)]
            process = subprocess.Popen(
                [*words, str(first), str(end - first)],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            stack.callback(_end, process)
            self._parts.append(process)

    def tell(self, do: str, **words: Any) -> list[dict[str, Any]]:
        for process in self._parts:
            assert process.stdin is not None
            process.stdin.write(json.dumps({"do": do} | words) + "\n")
            process.stdin.flush()
        answers = []
        for process in self._parts:
            assert process.stdout is not None
            line = process.stdout.readline()
            if not line:
                raise RuntimeError(f"a crowd went away while it was told to {do}")
            answers.append(json.loads(line))
        return answers


def _end(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.close()
    process.terminate()
    process.wait()


@dataclass(frozen=True, slots=True)
class Figures:
    kb_table: float
    join_s: float
    rejoin_s: float
    """Tables a second."""
    again: int
    """Tables that had to try again."""
    unacked: int
    p50_ms: float
    p99_ms: float
    cpu_us: float


def measure(mode: str, count: int, per_s: int, seconds: float, place: Path) -> Figures:
    with tempfile.TemporaryDirectory(dir=place) as name, ExitStack() as stack:
        house = House.build(Path(name), count)
        group = Group(house.folder, count, CROWDS, stack)
        server = stack.enter_context(house.server(mode))
        time.sleep(1.0)  # it leads, and has read its store
        empty_kb, alone = resident_kb(server.pid), descriptors(server)
        first = group.tell("join", at=server.tables)
        kb = resident_kb(server.pid) - empty_kb
        group.tell("load", rate=per_s / CROWDS, seconds=1.0)  # warm
        before = cpu_s(server.pid)
        loads = group.tell("load", rate=per_s / CROWDS, seconds=seconds)
        cpu = cpu_s(server.pid) - before
        group.tell("leave")
        _await(lambda: descriptors(server) <= alone)
        second = group.tell("join", at=server.tables)
    acked = sum(one["acked"] for one in loads)
    return Figures(
        kb / count,
        count / max(one["seconds"] for one in first),
        count / max(one["seconds"] for one in second),
        sum(one["again"] for one in first + second),
        sum(one["unacked"] for one in loads),
        max(one["p50_ms"] for one in loads),
        max(one["p99_ms"] for one in loads),
        cpu / acked * 1e6,
    )


def descriptors(server: Running) -> int:
    return len(os.listdir(f"/proc/{server.pid}/fd"))


def _await(done: Callable[[], bool]) -> None:
    until = time.monotonic() + 60
    while not done():
        if time.monotonic() > until:
            raise RuntimeError("the server never noticed that everybody left")
        time.sleep(0.02)


# --- meters --------------------------------------------------------------------------------------


def publish(folder: Path, size: int) -> None:
    """A bare PUB with a message of this many bytes, as often as the server publishes."""
    house = json.loads((folder / "house.json").read_text())
    door = zmq.Context().socket(zmq.PUB)
    door.curve_server, door.curve_secretkey = True, house["server"][1].encode()
    door.bind("tcp://127.0.0.1:*")
    print(endpoint(door), flush=True)
    topic = b"meters"
    due = time.monotonic()
    while True:
        due += PUBLISH_MS / 1_000
        time.sleep(max(0.0, due - time.monotonic()))
        door.send(topic, zmq.SNDMORE)
        door.send(b"x" * (size - len(topic)))


@contextmanager
def bare_pub(folder: Path, size: int) -> Iterator[tuple[int, str]]:
    words = [sys.executable, "-m", "bench.link_many", "publish", str(folder), str(size)]
    process = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout is not None
        yield process.pid, process.stdout.readline().strip()
    finally:
        process.terminate()
        process.wait()


def deliveries(signs: int, seconds: float, repeats: int, place: Path) -> dict[str, float]:
    """CPU of the publisher for each delivery, in microseconds."""
    found: dict[str, list[float]] = {"bare PUB": [], "link": []}
    with tempfile.TemporaryDirectory(dir=place) as name:
        house, size = House.build(Path(name), signs), 0
        for _ in range(repeats):
            with ExitStack() as stack:
                plan = {"beat_ms": PUBLISH_MS, "publish_ms": PUBLISH_MS}
                server = stack.enter_context(house.server("durable", **plan))
                group = Group(house.folder, signs, 1, stack)
                group.tell("subscribe", at=server.signs)
                cost, size = _delivery_us(group, server.pid, seconds)
                found["link"].append(cost)
            with ExitStack() as stack:
                pid, at = stack.enter_context(bare_pub(house.folder, size))
                group = Group(house.folder, signs, 1, stack)
                group.tell("subscribe", at=at)
                found["bare PUB"].append(_delivery_us(group, pid, seconds)[0])
    return {name: median(costs) for name, costs in found.items()}


def _delivery_us(group: Group, pid: int, seconds: float) -> tuple[float, int]:
    before = cpu_s(pid)
    heard = group.tell("listen", seconds=seconds)[0]
    return (cpu_s(pid) - before) / heard["heard"] * 1e6, heard["bytes"]


# --- the whole -----------------------------------------------------------------------------------


def main(argv: list[str]) -> int:
    if argv[:1] == ["publish"]:
        publish(Path(argv[1]), int(argv[2]))
    numbers = [int(word) for word in argv]
    count, per_s, seconds, repeats, signs = numbers + [10_000, 5_000, 5, 3, 1_000][len(numbers) :]
    print(
        versions("pyzmq", "msgspec"),
        f"{count:,} CURVE tables, {per_s:,} events/s, load {os.getloadavg()[0]:.1f}",
        flush=True,
    )
    with tempfile.TemporaryDirectory() as name:
        runs: dict[str, list[Figures]] = {"echo": [], "durable": []}
        for _ in range(repeats):
            for mode, found in runs.items():
                found.append(measure(mode, count, per_s, seconds, Path(name)))
        costs = deliveries(min(signs, count), seconds, repeats, Path(name))
    return report(runs, costs, signs)


def report(runs: dict[str, list[Figures]], costs: dict[str, float], signs: int) -> int:
    def medians(read: Callable[[Figures], float]) -> dict[str, float]:
        return {mode: median(map(read, found)) for mode, found in runs.items()}

    print("open loop")
    for mode, found in runs.items():
        p50 = median(one.p50_ms for one in found)
        p99 = median(one.p99_ms for one in found)
        print(f"  {mode:8} p50 {p50:.1f} ms, p99 {p99:.1f} ms, joined again {found[-1].again}")
    lost = sum(one.unacked for one in runs["durable"])
    print(f"  target: 0 unacknowledged: {lost}, {'MISSED' if lost else 'met'}")
    print("server's memory a table")
    memory = medians(lambda one: one.kb_table)
    print_ratios(memory, "echo", "KB")
    fits = memory["durable"] <= MOST_KB
    word = "met" if fits else "MISSED"
    print(f"  target: at most {MOST_KB} KB a table: {memory['durable']:.1f}, {word}")
    missed = int(lost > 0 or not fits)
    print("CPU of the server")
    cpus = medians(lambda one: one.cpu_us)
    print_ratios(cpus, "echo", "us/event")
    missed |= verdict(cpus, [Target("durable", "echo", 2.0, at_most=True)])
    print("first join, with a new journal each")
    print_ratios(medians(lambda one: one.join_s), "echo", "tables/s")
    print("rejoin")
    rejoins = medians(lambda one: one.rejoin_s)
    print_ratios(rejoins, "echo", "tables/s")
    missed |= verdict(rejoins, [Target("durable", "echo", 0.9)])
    print(f"meters to {signs:,} signs")
    print_ratios(costs, "bare PUB", "us/delivery")
    return missed | verdict(costs, [Target("link", "bare PUB", 1.1, at_most=True)])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
