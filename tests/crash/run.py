"""The power goes at every disk call of a scripted round of each game; each must end the same.

python -m tests.crash.run [--every N] [--seed S] [--report FILE] [SCENARIO ...]
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from multiprocessing import Pool
from pathlib import Path
from typing import Final

from hw_sim.scenario import find, load
from tests.crash.table import CrashTable
from tests.sim.host import differences

ROUNDS: Final = (
    "mbs3-plain",
    "pp6-plain",
    "nsw-shoe-plain",
    "nsw-shuffler-plain",
    "mega-plain",
    "rico-plain",
)


HEAD: Final = """\
# Power cuts

`make crash`: the power goes at the n-th call to the disk (write, sync, create, rename) of a
scripted round; of what was not synced a random part survives. The table starts again over the same
devices and people and must end the round with its literal settlement. Seed {seed}.

| scenario | disk calls | cut | ended as written |
|---|---|---|---|
"""


def calls_of(name: str) -> int:
    """How many disk calls the round makes when nothing happens."""
    table = CrashTable(load(find(name)))
    table.play()
    return table.disk.calls


def outcome(name: str, cut_at: int, seed: int) -> str:
    """Empty if the round ended as written after the power went at this call."""
    scenario = load(find(name))
    table = CrashTable(scenario, cut_at, seed)
    try:
        table.play()
    except AssertionError as error:
        return f"{name}, call {cut_at}, seed {seed}: {error}"
    history = table.writer.core.state.history
    problems = [] if table.cuts == 1 else [f"{table.cuts} cuts"]
    if len(history) != len(scenario.rounds):
        problems.append(f"{len(history)} rounds")
    for expected, archive in zip(scenario.rounds, history, strict=False):
        problems += differences(expected, archive.result)
    return f"{name}, call {cut_at}, seed {seed}: {'; '.join(problems)}" if problems else ""


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.crash.run", description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="only every n-th call")
    parser.add_argument("--seed", type=int, default=1, help="what of unsynced data survives")
    parser.add_argument("--report", help="write a Markdown report to this file")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args(arguments)
    rows, bad = [], []
    with Pool(2) as pool:
        for name in options.names or ROUNDS:
            calls = calls_of(name)
            cuts = range(1, calls + 1, options.every)
            found = [
                text
                for text in pool.imap(partial(outcome, name, seed=options.seed), cuts, 4)
                if text
            ]
            bad += found
            rows.append(f"| {name} | {calls} | {len(cuts)} | {len(cuts) - len(found)} |")
            print(rows[-1], *found, sep="\n", flush=True)
    if options.report:
        text = HEAD.format(seed=options.seed)
        text += "\n".join(rows) + "\n" + "".join(f"\n* {one}" for one in bad)
        Path(options.report).write_text(text, "utf-8")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
