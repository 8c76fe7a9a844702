"""``underfelt settle --lines`` on seven-seat records: records a second, and memory that stays flat.

    python -m bench.settle_lines [RECORDS] [REPEATS]

The floor is a process that parses and writes the same lines with the standard library and rules on
nothing. Peak memory is taken at a tenth of the records and at all of them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter

from bench.common import Measure, interleaved, print_ratios, versions
from bench.records import records

LIMIT_PER_S = 5_000
FLAT_MB = 8.0
"""Ten times the records may not take more than this on top."""

UNDERFELT = Path(sys.executable).with_name("underfelt")
FLOOR = (
    "import json, sys\n"
    "with open(sys.argv[1], 'rb') as lines:\n"
    "    for line in lines:\n"
    "        sys.stdout.write(json.dumps(json.loads(line)) + '\\n')\n"
)


def measured(command: list[str]) -> tuple[float, float]:
    """Seconds and peak MB of one process; stops if it fails."""
    start = perf_counter()
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    seconds = perf_counter() - start
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{' '.join(command[:3])} ended with {child.returncode}")
    return seconds, usage.ru_maxrss / 1024


def per_second(command: list[str], count: int) -> Measure:
    return lambda: count / measured(command)[0]


def main(argv: list[str]) -> int:
    count = int(argv[0]) if argv else 100_000
    repeats = int(argv[1]) if len(argv) > 1 else 3
    with tempfile.TemporaryDirectory() as folder:
        whole, tenth = Path(folder) / "whole.jsonl", Path(folder) / "tenth.jsonl"
        for path, lines in ((whole, count), (tenth, count // 10)):
            with path.open("w") as stream:
                stream.writelines(records(lines, seed=7))
        settle = [str(UNDERFELT), "settle", "--lines"]
        print(versions(), f"{count:,} records, {whole.stat().st_size / 1e6:.0f} MB")
        medians = interleaved(
            {
                "json, no rules": per_second([sys.executable, "-c", FLOOR, str(whole)], count),
                "underfelt settle": per_second([*settle, str(whole)], count),
            },
            repeats,
        )
        small, large = (measured([*settle, str(path)])[1] for path in (tenth, whole))
    print_ratios(medians, "json, no rules", "records/s")
    fast, flat = medians["underfelt settle"] >= LIMIT_PER_S, large - small <= FLAT_MB
    print(f"  peak memory: {small:.1f} MB at {count // 10:,}, {large:.1f} MB at {count:,}")
    print(f"  target: at least {LIMIT_PER_S:,} records/s: {'met' if fast else 'MISSED'}")
    print(f"  target: flat memory, {FLAT_MB:g} MB: {'met' if flat else 'MISSED'}")
    return 0 if fast and flat else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
