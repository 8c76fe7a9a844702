"""Real tables that nobody plays at, each with every device, under the unit's own watchdog.

python -m tests.idle.run [--minutes N] [--report FILE]

Simulator and daemon are processes of their own, joined by ptys and a socket. The daemon is given a
notify socket and the unit's WatchdogSec, and is ended as systemd would: as soon as it has not fed
the watchdog for that long.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from record.kit.lines import ask
from tests.e2e.keeper import Sitting
from tests.idle.watched import TABLES, watchdog_us

LOOK_S: Final = 0.02
HEAD: Final = """\
# Idle tables under the unit's watchdog

`make idle`: real processes, real time, nobody plays. Each table has the notify socket and the
`WatchdogSec` of `systemd/system/underfelt-table@.service`. A table that has not fed the watchdog
for that long fails the run, as does one that ends or has a device that is not ready.

"""


@dataclass
class Watched:
    """One table and how long it went without a meal."""

    layout: str
    sitting: Sitting
    worst_s: float = 0.0
    meals: int = 0
    problem: str = ""
    ready: int = 0

    def look(self, limit_s: float) -> None:
        notified = self.sitting.keeper.notified
        before_s, now_s = notified.fed_at, time.monotonic()
        self.meals += notified.look()
        self.worst_s = max(self.worst_s, now_s - before_s)
        process = self.sitting.keeper.process
        if process is not None and process.poll() is not None:
            self.problem = f"ended with exit {process.returncode}"
        elif now_s - before_s > limit_s:
            self.problem = f"not fed for {now_s - before_s:.1f} s"

    def look_at_devices(self) -> None:
        devices = ask(self.sitting.run / "service.sock", {"verb": "status"})["devices"]
        silent = [name for name, told in devices.items() if told["state"] != "ready"]
        self.ready = len(devices) - len(silent)
        if silent and not self.problem:
            self.problem = f"not ready: {', '.join(silent)}"

    @property
    def row(self) -> str:
        said = self.problem or f"{self.ready} devices ready"
        return f"| {self.layout} | {self.meals} | {self.worst_s:.2f} s | {said} |"


def idle(seconds: float) -> list[Watched]:
    limit_s = watchdog_us() / 1_000_000
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="underfelt-idle-")))
        tables = []
        for layout, like in TABLES.items():
            sitting = Sitting(folder / layout, like=like, layout=layout)
            tables.append(Watched(layout, stack.enter_context(sitting)))
            sitting.keeper.watchdog_us = watchdog_us()
            sitting.keeper.start()
        for table in tables:
            notified = table.sitting.keeper.notified
            while "READY=1" not in notified.heard:
                notified.look()
                time.sleep(LOOK_S)
            notified.fed_at = time.monotonic()  # systemd counts from READY=1
        until_s = time.monotonic() + seconds
        while time.monotonic() < until_s and not any(table.problem for table in tables):
            for table in tables:
                table.look(limit_s)
            time.sleep(LOOK_S)
        for table in tables:
            if not table.problem:
                table.look_at_devices()
        print("\n".join(table.row for table in tables))
        return tables


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="tests.idle.run")
    parser.add_argument("--minutes", type=float, default=10)
    parser.add_argument("--report", type=Path)
    options = parser.parse_args(argv)
    tables = idle(options.minutes * 60)
    if options.report is not None:
        rows = ["| table | meals | longest without | at the end |", "|---|---|---|---|"]
        said = f"{options.minutes:g} minutes, WatchdogSec={watchdog_us() // 1_000_000}\n"
        table = "\n".join([*rows, *(one.row for one in tables)])
        options.report.write_text(f"{HEAD}{said}\n{table}\n", "utf-8")
    return int(any(table.problem for table in tables))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
