"""What ``underfelt --help`` costs over an interpreter that does nothing.

    python -m bench.help [REPEATS]

CPU time of the child, user and system; the two take turns.
"""

from __future__ import annotations

import resource
import subprocess
import sys
from statistics import median
from typing import Final

MOST_MS: Final = 60.0
BARE: Final = [sys.executable, "-c", "pass"]
HELP: Final = [sys.executable, "-m", "controller.cli", "--help"]


def cpu_ms(command: list[str]) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime) * 1000


def main(argv: list[str]) -> int:
    repeats = int(argv[0]) if argv else 21
    runs: dict[str, list[float]] = {"bare interpreter": [], "underfelt --help": []}
    for _ in range(repeats):
        runs["bare interpreter"].append(cpu_ms(BARE))
        runs["underfelt --help"].append(cpu_ms(HELP))
    bare, full = (median(found) for found in runs.values())
    print(f"bare interpreter {bare:.1f} ms, underfelt --help {full:.1f} ms of CPU")
    over = full - bare
    word = "met" if over <= MOST_MS else "MISSED"
    print(f"  target: at most {MOST_MS:.0f} ms over a bare interpreter: {over:.1f} ms, {word}")
    return 0 if over <= MOST_MS else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
