"""Two thousand rounds at one table, in virtual time: does it keep more and more?

python -m tests.memory.run [--rounds N] [--seed S] [--report FILE]
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Final

from tests.memory.counting import LongTable

STEPS: Final = 20
FULL: Final = 100
"""By then all that is kept for some rounds is kept in full, but for the deck watch's long memory:
one number a round for 2,048 rounds."""
MOST_BYTES: Final = 96 << 10
"""For these numbers, some 40 bytes each, and for rounds that differ."""
GAMES: Final = ("MBS3", "NSW")
HEAD: Final = """\
# Memory of a playing table

`make memory`: {rounds} rounds at each table in virtual time, seed {seed}, at the level of facts.
Counted are objects and bytes that can be reached from the table's core, its record of the journal,
its deck watch and its bounded caches. The first rounds fill what a table keeps on purpose: the last
50 closed rounds and 32 orders of the deck watch. From round {full} on only the deck watch's long
memory grows, where it is used: one number of 40 bytes a round, for 2,048 rounds. A table that grows
by more than 96 KiB in all fails the run.
"""


def line(game: str, seed: int, rounds: int) -> tuple[list[str], str]:
    table, rows, first = LongTable(game, seed), list[str](), 0
    steps = [10, 40, FULL - 50, *[(rounds - FULL) // STEPS] * STEPS]
    kept = table.kept()
    for step in steps:
        table.play(step)
        kept = table.kept()
        first = kept.bytes if table.rounds <= FULL else first
        rows.append(f"| {table.rounds:,} | {kept.total:,} | {kept.bytes:,} | {kept.cached:,} |")
    grown = kept.bytes - first
    said = f"{grown:+,} bytes since round {FULL}"
    return [*rows, f"\n{said}"], f"{game}: {said}" if grown > MOST_BYTES else ""


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="tests.memory.run")
    parser.add_argument("--rounds", type=int, default=2_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--report", type=Path)
    options = parser.parse_args(argv)
    text = [HEAD.format(rounds=f"{options.rounds:,}", seed=options.seed, full=FULL)]
    missed = []
    for game in GAMES:
        rows, wrong = line(game, options.seed, options.rounds)
        text += [f"## {game}\n", "| rounds | objects | bytes | in caches |", "|---|---|---|---|"]
        text += [*rows, ""]
        missed += [wrong] if wrong else []
    print("\n".join(text))
    if options.report is not None:
        options.report.write_text("\n".join(text).rstrip() + "\n", "utf-8")
    return int(bool(missed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
