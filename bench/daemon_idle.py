"""What a table daemon costs between rounds, beside a thread-per-port poller doing the same polls.

    python -m bench.daemon_idle [WINDOWS] [SECONDS] [STARTS]

Two simulators of the largest table run side by side: four chip readers with 42 spots, card shoe,
sign, eleven chips on the bus, pins. At one is the daemon (``underfelt table``) between rounds, at
the other ``bench.poller``. The CPU time of both is taken over the same windows from the kernel's
scheduler, so that whatever else the machine does hits both alike. How many requests the simulated
devices answered in these windows is printed beside it, and the run fails if the daemon had fewer
answers than the poller.

A chip reader is asked again as soon as it has answered, so its answers a second fall when the
machine is busy. Compare them with the poller's of the same run, not with another run. The slowest
reader is printed too: one that does not answer looks the same in the sum as a busy machine.

A start is measured from exec to ``READY=1``, beside a bare interpreter that imports the same
libraries. The time in which it could have run but another process had the core is taken off (the
kernel counts it), and the least disturbed start counts; CPU time is printed too.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Final, Self

from bench.common import Target, print_ratios, verdict, versions
from hw_sim.scenario import HERE, find, load
from tests.e2e.table import ROOT, command, configure, environment, start, wait_for

LAYOUT: Final = HERE / "tables" / "full.toml"
GAME: Final = "MBS3"
LIBRARIES: Final = "asyncio, msgspec, nacl.secret, nacl.signing, serial, gpiozero"
SETTLE_S: Final = 10
DAEMON, POLLER, FLOOR = "daemon", "thread per port", "its libraries alone"
CPU: Final = 0.5
RESIDENT_MB: Final = 60
READY_S: Final = 1.5
FEWER: Final = 0.95
"""Of the poller's answers, the daemon must have this share at least."""
GROUPS: Final = {"chips": "chip readers", "keys": "inputs", "sensors": "inputs", "pins": "pins"}


class Simulator:
    """One simulated table."""

    def __init__(self, run: Path) -> None:
        self.run = run
        self._process = start("sim", "--layout", str(LAYOUT), "--run", str(run))
        wait_for(run / "control", self._process)
        self._address = (run / "control").read_text("ascii").strip()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._process.kill()
        self._process.wait()

    def answered(self) -> Counter[str]:
        """Since the start, by device."""
        with urllib.request.urlopen(f"{self._address}/counts", timeout=60) as answer:
            return Counter(json.load(answer))


class Host:
    """A process at a simulated table; made when it has said that it is ready."""

    def __init__(self, simulator: Simulator, argv: Sequence[str]) -> None:
        self.simulator = simulator
        path = simulator.run / "notify"
        path.unlink(missing_ok=True)
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as notified:
            notified.bind(str(path))
            notified.settimeout(120)
            began = time.perf_counter()
            self._process = subprocess.Popen(
                argv, cwd=ROOT, stdout=subprocess.DEVNULL,
                env={**environment(), "NOTIFY_SOCKET": str(path)},
            )  # fmt: skip
            while b"READY=1" not in notified.recv(4096):
                pass
            took_s = time.perf_counter() - began
        self.ready_s = took_s - waited_s(Path(f"/proc/{self._process.pid}/schedstat").read_text())
        self.ready_cpu_s = self.cpu_s()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._process.send_signal(signal.SIGTERM)
        try:
            self._process.wait(30)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def cpu_s(self) -> float:
        """Of all threads, in user space and in the kernel."""
        tasks = Path(f"/proc/{self._process.pid}/task").glob("*/schedstat")
        return sum(int(task.read_text("ascii").split()[0]) for task in tasks) / 1e9

    def wake_ups(self) -> int:
        tasks = Path(f"/proc/{self._process.pid}/task").glob("*/status")
        return sum(_field(task, "voluntary_ctxt_switches") for task in tasks)

    def resident_mb(self) -> float:
        return _field(Path(f"/proc/{self._process.pid}/status"), "VmRSS") / 1024


def waited_s(schedstat: str) -> float:
    """How long the first thread waited for a core that others had."""
    return int(schedstat.split()[1]) / 1e9


def _field(path: Path, name: str) -> int:
    lines = path.read_text("ascii").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith(f"{name}:"))


@dataclass(frozen=True, slots=True)
class Reading:
    """One host at one moment."""

    at_s: float
    cpu_s: float
    wake_ups: int
    answered: Counter[str]

    @classmethod
    def of(cls, host: Host) -> Reading:
        answered = host.simulator.answered()
        return cls(time.perf_counter(), host.cpu_s(), host.wake_ups(), answered)


def watched(hosts: dict[str, Host], windows: int, seconds: float) -> int:
    """CPU of both over the same windows; 1 if a target is missed."""
    rates: dict[str, list[float]] = {name: [] for name in hosts}
    answers: dict[str, Counter[str]] = {name: Counter() for name in hosts}
    wakes: Counter[str] = Counter()
    total_s: Counter[str] = Counter()
    for _ in range(windows):
        before = {name: Reading.of(host) for name, host in hosts.items()}
        time.sleep(seconds)
        for name, host in hosts.items():
            now, then = Reading.of(host), before[name]
            took_s = now.at_s - then.at_s
            rates[name].append((now.cpu_s - then.cpu_s) / took_s * 1_000)
            answers[name] += now.answered - then.answered
            wakes[name] += now.wake_ups - then.wake_ups
            total_s[name] += round(took_s * 1_000)
    print("CPU between rounds")
    print_ratios({name: median(values) for name, values in rates.items()}, POLLER, "ms/s")
    print("wake-ups")
    print_ratios({name: wakes[name] * 1e3 / total_s[name] for name in hosts}, POLLER, "per s")
    print("answers of the devices per second")
    fewer = 0
    by_group = {name: grouped(found) for name, found in answers.items()}
    for group in sorted(by_group[POLLER]):
        each = {name: by_group[name][group] * 1e3 / total_s[name] for name in hosts}
        share = each[DAEMON] / each[POLLER]
        print(
            f"  {group:14}  daemon {each[DAEMON]:7.1f}  thread per port {each[POLLER]:7.1f}"
            f"  {share:5.2f}x"
        )
        fewer += share < FEWER
    if fewer:
        print("  the daemon had fewer answers: these were not the same polls")
    both = zip(rates[DAEMON], rates[POLLER], strict=True)
    ratio = median(one / other for one, other in both)
    missed = verdict({DAEMON: ratio, POLLER: 1.0}, [Target(DAEMON, POLLER, CPU, at_most=True)])
    return missed or int(bool(fewer))


def grouped(answers: Counter[str]) -> Counter[str]:
    """By kind of device, and of the chip readers the slowest too."""
    found: Counter[str] = Counter()
    for device, count in answers.items():
        found[GROUPS.get(device.partition("-")[0], "others")] += count
    found["slowest reader"] = min(n for device, n in answers.items() if device.startswith("chips-"))
    return found


def floor() -> tuple[float, float]:
    """Elapsed and CPU time of an interpreter that imports the libraries and ends."""
    code = f"import {LIBRARIES}; print(open('/proc/self/schedstat').read())"
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code], check=True, cwd=ROOT, text=True, stdout=subprocess.PIPE
    )
    took_s = time.perf_counter() - began
    return took_s - waited_s(done.stdout), int(done.stdout.split()[0]) / 1e9


def starts(simulator: Simulator, argv: Sequence[str], count: int) -> int:
    elapsed: dict[str, list[float]] = {DAEMON: [], FLOOR: []}
    used: dict[str, list[float]] = {DAEMON: [], FLOOR: []}
    for _ in range(count):
        with Host(simulator, argv) as host:
            elapsed[DAEMON].append(host.ready_s)
            used[DAEMON].append(host.ready_cpu_s)
        took_s, cpu_s = floor()
        elapsed[FLOOR].append(took_s)
        used[FLOOR].append(cpu_s)
    print(f"start to READY=1, least disturbed of {count}")
    least = {name: min(values) * 1_000 for name, values in elapsed.items()}
    print_ratios(least, FLOOR, "ms")
    print("the same, CPU time")
    print_ratios({name: min(values) * 1_000 for name, values in used.items()}, FLOOR, "ms")
    print(f"  median of the daemon's starts: {median(elapsed[DAEMON]) * 1_000:,.0f} ms")
    met = least[DAEMON] <= READY_S * 1_000
    print(f"  target: ready within {READY_S} s: {least[DAEMON]:,.0f} ms, {_word(met)}")
    return int(not met)


def _word(met: bool) -> str:
    return "met" if met else "MISSED"


def main(argv: list[str]) -> int:
    windows = int(argv[0]) if argv else 15
    seconds = float(argv[1]) if len(argv) > 1 else 4.0
    count = int(argv[2]) if len(argv) > 2 else 7
    print(versions("pyserial", "smbus2", "gpiozero", "msgspec"), f"{windows} x {seconds:g} s")
    missed = 0
    with (
        tempfile.TemporaryDirectory(prefix="underfelt-bench-") as name,
        Simulator(Path(name) / "a") as one,
        Simulator(Path(name) / "b") as other,
    ):
        # A product is installed with its bytecode: the first start compiles, the others find it.
        os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
        os.environ["PYTHONPYCACHEPREFIX"] = str(Path(name) / "bytecode")
        config = configure(one.run, GAME, load(find("mbs3-plain")).settings)
        table = command("table", "--config", str(config), "--meter", "1000000")
        missed |= starts(one, table, count)
        poller = [sys.executable, "-m", "bench.poller", str(other.run / "layout.toml")]
        with Host(one, table) as daemon, Host(other, poller) as threads:
            time.sleep(SETTLE_S)
            missed |= watched({DAEMON: daemon, POLLER: threads}, windows, seconds)
            resident = {DAEMON: daemon.resident_mb(), POLLER: threads.resident_mb()}
        print("resident")
        print_ratios(resident, POLLER, "MB")
        met = resident[DAEMON] <= RESIDENT_MB
        print(f"  target: at most {RESIDENT_MB} MB: {resident[DAEMON]:.1f}, {_word(met)}")
    return missed | (not met)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
