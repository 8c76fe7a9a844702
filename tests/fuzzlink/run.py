"""Run it at length: ``python -m tests.fuzzlink.run --store sqlite --minutes 60``.

A history is its seed and store: ``--seed N --histories 1`` plays that one again and shows what it
raises. The report adds up all runs; without ``--seed`` a run begins after the last seed in it.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
import traceback
from collections import Counter
from pathlib import Path
from typing import Final

from tests.fuzzlink.history import STEPS, STORES, places, play

MOST_FAILURES: Final = 5
COLUMNS: Final = ("store", "first seed", "last seed", "histories", "steps", "events", "awards",
                  "paid", "halts", "minutes", "failures")  # fmt: skip
HEAD: Final = """# Histories of a hostile floor

`make fuzz-link` plays random histories through gate, floor, ledger and a real store: sound play,
almost sound play, nonsense, every staff order, every control request, followers of the feed, clock,
a store that is away, crashes and restarts. Any exception, any exit, any input that the loop had to
undo, any fault of the feed, any unreadable report and any difference is a failure. Followers check
every answer, and in the end they have what the server makes from its store alone. After each
history the store is checked and every event is replayed with all invariants. Every report and the
server's half of the last evidence packs are made, and the wagers are added up again from the stored
bodies.

Each line is one run; the totals add up all of them. One history again:
`make fuzz-link STORE=sqlite SEED=1 HISTORIES=1`.

"""


def rows_of(report: Path) -> list[list[str]]:
    """The runs so far."""
    if not report.exists():
        return []
    lines = report.read_text("utf-8").splitlines()
    cells = [[c.strip() for c in line.strip("|").split("|")] for line in lines if line[:1] == "|"]
    return [row for row in cells if row[0] in STORES]


def write(report: Path, rows: list[list[str]]) -> None:
    lines = ["| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    totals = ["", "## In total", "", "| store | histories | steps | events | minutes | failures |",
              "|---|---|---|---|---|---|"]  # fmt: skip
    for store in STORES:
        mine = [dict(zip(COLUMNS, row, strict=True)) for row in rows if row[0] == store]
        sums = [sum(float(row[name].replace(",", "")) for row in mine)
                for name in ("histories", "steps", "events", "minutes", "failures")]  # fmt: skip
        told = [f"{value:,.1f}" if place == 3 else f"{value:,.0f}"
                for place, value in enumerate(sums)]  # fmt: skip
        totals.append(f"| all of {store} | " + " | ".join(told) + " |")
    report.write_text(HEAD + "\n".join(lines + totals) + "\n", "utf-8")


def run(store: str, first: int, *, minutes: float, histories: int, steps: int) -> list[str]:
    """The row of the report."""
    found: Counter[str] = Counter()
    failures, seed, begun = 0, first, time.monotonic()
    with (
        tempfile.TemporaryDirectory(prefix="uf-fuzz-") as folder,
        places(store, Path(folder)) as new,
    ):
        while (not histories or seed < first + histories) and failures < MOST_FAILURES:
            if not histories and time.monotonic() - begun >= minutes * 60:
                break
            try:
                found += play(seed, new(), steps)
            except (Exception, SystemExit):
                failures += 1
                traceback.print_exc()
                print(f"seed {seed} failed; again: make fuzz-link STORE={store} SEED={seed} "
                      "HISTORIES=1", flush=True)  # fmt: skip
            seed += 1
    spent = (time.monotonic() - begun) / 60
    print(f"{store}: seeds {first} to {seed - 1}, {found['steps']:,} steps, {spent:.1f} minutes, "
          f"{failures} failures", flush=True)  # fmt: skip
    counted = [f"{found[name]:,}" for name in ("steps", "events", "awards", "paid", "halts")]
    return [store, str(first), str(seed - 1), str(seed - first), *counted, f"{spent:.1f}",
            str(failures)]  # fmt: skip


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--store", choices=(*STORES, "both"), default="both")
    parser.add_argument("--minutes", type=float, default=1.0, help="for each store")
    parser.add_argument("--seed", type=int, help="the first; else after the last of the report")
    parser.add_argument("--histories", type=int, default=0, help="so many, whatever they take")
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--report", type=Path, help="a run is added to this page")
    options = parser.parse_args(argv)
    failed = False
    for store in STORES if options.store == "both" else (options.store,):
        rows = rows_of(options.report) if options.report else []
        last = max((int(row[2]) for row in rows if row[0] == store), default=0)
        first = last + 1 if options.seed is None else options.seed
        row = run(store, first, minutes=options.minutes, histories=options.histories,
                  steps=options.steps)  # fmt: skip
        failed |= row[-1] != "0"
        if options.report and not options.histories:
            write(options.report, [*rows_of(options.report), row])
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
