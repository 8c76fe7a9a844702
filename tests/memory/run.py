"""Two thousand rounds at each table, in virtual time: does it keep more and more?

python -m tests.memory.run [--rounds N] [--seed S] [--report FILE]
"""

from __future__ import annotations

import argparse
import sys
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Final, NamedTuple

from tests.memory.counting import GAMES, LongTable

STEPS: Final = 20
FULL: Final = 0.3
"""After this share of the rounds all that is kept for some rounds is kept in full."""
MOST_BYTES: Final = 8 << 10
"""Rounds differ. One number kept of each round would be three times as much."""
RUNS: Final = (*((game, True) for game in GAMES), ("MBS3", False))
HEAD: Final = """\
# Memory of a playing table

`make memory`: {rounds} rounds at each table in virtual time, seed {seed}. Readings go through the
real writer and journal; what it releases goes to the link's session, the log, the metrics, the
frame log and the rings of the shell. Counted are the objects and bytes that can be reached from
all of these, just after a snapshot; the entries of the program's caches stand beside them.

The first rounds fill what a table keeps on purpose. Then the line is flat: the most of the last
part may not exceed the most of the part before it by more than {most} KiB, or the run fails.
`make test` plays a share of it with all bounds made small, and every round the same one.
"""
FINDINGS: Final = """
## What is kept, and for how long

| part | keeps |
|---|---|
| table and its record | the last 50 closed rounds, once for both; the last 64 notes |
| deck watch | 32 shuffles card by card; the first cards of 2,048 in 16 KiB that are there at once |
| shell | 1,024 pieces of each line, 512 readings, 128 keys of dealt cards |
| link | 256 events, 64 places in the journal, 64 heartbeats, 64 awards |
| gaming day | 200 single cases of a kind, 200 kinds |
| journal | a few numbers for each segment, until retention removes it |
| alarms | the last 20; numbers by code |

Two parts grew with the rounds and no longer do. The deck watch kept a number of 40 bytes for each
round up to 2,048 rounds. The link kept a place for every 256 events without a bound. In the
simulator, which is not part of a table, a dealer kept every prompt he had ever acted on.

## A real process

A field test saw the resident memory of a playing table go from 51.4 to 55.2 MB in 41 rounds. The
figures below are from one daemon at the simulator: MBS3, no link, random play, hands four times as
fast, 25 minutes. The machine was so busy that it played 24 rounds.

| rounds | resident, kB | of files, kB | data segment, kB |
|---|---|---|---|
| 0 | 53,232 | 12,596 | 90,804 |
| 5 | 54,052 | 12,596 | 91,828 |
| 9 | 54,424 | 12,596 | 91,840 |
| 15 | 54,668 | 12,596 | 92,872 |
| 22 | 54,944 | 12,596 | 93,012 |
| 24 | 55,060 | 12,596 | 93,012 |

The growth is 1.8 MB, and most of it comes in the first ten rounds. It is not code that is read for
the first time: the part that belongs to files does not move. A table has no SQLite and no ring of
log lines. The data segment grows by two steps of 1 MiB, the size in which Python's allocator asks
for memory, and by some 160 kB.

`tracemalloc` over a table in virtual time, with simulated devices, the drivers, the writer and the
rings of the shell, shows the live objects of `controller`, `drivers` and `record`:

| rounds | live, kB |
|---|---|
| 2 | 579 |
| 10 | 810 |
| 20 | 938 |
| 30 | 1,077 |
| 40 | 1,150 |

So about 0.6 MB of the 3.8 MB are live objects, in the structures of the table above, which fill in
the first 50 rounds and then stay as they are. The rest is not held by any object of the program.
The likely cause is the allocator, which keeps what the largest moment needed and memory between
objects that live long; this was not measured, and neither were more than 24 rounds of a real
process.
"""


class Line(NamedTuple):
    title: str
    rows: list[str]
    grown: int


def line(game: str, linked: bool, seed: int, rounds: int) -> Line:
    samples: list[tuple[int, int]] = []
    rows = []
    with LongTable(game, seed, linked=linked) as table:
        while table.rounds < rounds:
            table.play_to_snapshot(rounds // STEPS - 10)
            kept = table.kept()
            samples.append((table.rounds, kept.bytes))
            rows.append(f"| {table.rounds:,} | {kept.total:,} | {kept.bytes:,} | {kept.cached:,} |")
    full, middle = int(rounds * FULL), int(rounds * (1 + FULL) / 2)
    before = max(size for at, size in samples if full <= at < middle)
    after = max(size for at, size in samples if at >= middle)
    title = f"{game}, {'with a link' if linked else 'without a link'}"
    return Line(title, rows, after - before)


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="tests.memory.run")
    parser.add_argument("--rounds", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--report", type=Path)
    options = parser.parse_args(argv)
    text = HEAD.format(rounds=f"{options.rounds:,}", seed=options.seed, most=MOST_BYTES >> 10)
    text += FINDINGS
    with ProcessPoolExecutor(2) as pool:
        made = [pool.submit(line, *run, options.seed, options.rounds) for run in RUNS]
        lines = [one.result() for one in made]
    for title, rows, grown in lines:
        head = f"\n## {title}\n\n| rounds | objects | bytes | in caches |\n|---|---|---|---|\n"
        text += head + "\n".join(rows) + f"\n\n{grown:+,} bytes in the last part\n"
    print(text)
    if options.report is not None:
        options.report.write_text(text, "utf-8")
    return int(any(grown > MOST_BYTES for _, _, grown in lines))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
