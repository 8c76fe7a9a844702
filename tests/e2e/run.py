"""Every scenario with real processes over ptys, several tables side by side.

python -m tests.e2e.run [--every N] [--jobs J] [--report FILE] [SCENARIO ...]

Devices answer within milliseconds or not at all, and a machine may be too busy for several tables
at once: what did not end as written is played once more, alone, and the report says so.
"""

from __future__ import annotations

import argparse
import platform
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from hw_sim.scenario import HERE, find, load
from tests.e2e.table import play

HEAD = """\
# Scenarios end to end

`make e2e`: each scenario with the simulator and the daemon as processes of their own, over ptys and
the bus socket, in real time, {jobs} tables side by side. The people play by the prompt alone. A
scenario ended as written if its steps came true, every round has the literal settlement of its
file, an auditor's verifier finds the journal sound, each round exported from it settles to the same
result, and the daemon ended without a word on its standard error. {how}

{told}

| scenario | about | rounds | outcome |
|---|---|---|---|
"""


@dataclass(frozen=True)
class Outcome:
    name: str
    first: tuple[str, ...]
    """What was not as written; empty if nothing."""
    again: tuple[str, ...] | None = None
    """The same for the second time, alone; None if there was none."""

    @property
    def good(self) -> bool:
        return not self.first or self.again == ()

    @property
    def text(self) -> str:
        if not self.first:
            return "as written"
        said = "; ".join(self.first)
        if self.again == ():
            return f"as written when played again alone; at first: {said}"
        return f"**not as written**: {said}; alone: {'; '.join(self.again or ('not tried',))}"


def once(name: str) -> tuple[str, ...]:
    with TemporaryDirectory(prefix="underfelt-e2e-") as folder:
        try:
            problems = play(name, Path(folder) / "run").problems
            return tuple(one.replace(folder, "") for one in problems)
        except Exception as error:  # a simulator that hangs is an outcome too
            return (f"{type(error).__name__}: {error}",)


def outcomes(names: Sequence[str], jobs: int) -> Iterator[Outcome]:
    with ThreadPoolExecutor(jobs) as pool:
        first = list(zip(names, pool.map(once, names), strict=True))
    for name, problems in first:
        yield Outcome(name, problems, once(name) if problems else None)


def cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "/")[:400]


def report(found: Sequence[Outcome], jobs: int, of: int) -> str:
    good, tries = sum(one.good for one in found), sum(one.again is not None for one in found)
    how = f"Python {platform.python_version()}, {platform.machine()}."
    if len(found) < of:
        how += f" **A sample: {len(found)} of {of} scenarios.**"
    told = f"{good} of {len(found)} ended as written, {tries} of them played a second time alone."
    rows = []
    for one in found:
        scenario = load(find(one.name))
        cells = (one.name, scenario.about, str(len(scenario.rounds)), one.text)
        rows.append("| " + " | ".join(map(cell, cells)) + " |\n")
    return HEAD.format(jobs=jobs, how=how, told=told) + "".join(rows)


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.e2e.run", description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="only every n-th scenario")
    parser.add_argument("--jobs", type=int, default=6, help="tables side by side")
    parser.add_argument("--report", help="write a Markdown report to this file")
    parser.add_argument("names", nargs="*", metavar="SCENARIO")
    options = parser.parse_args(arguments)
    every = sorted(path.stem for path in (HERE / "scenarios").glob("*.toml"))
    names = options.names or every[:: options.every]
    found = []
    for one in outcomes(names, options.jobs):
        found.append(one)
        print(f"{one.name:34} {one.text}", flush=True)
    good = sum(one.good for one in found)
    print(f"{good} of {len(found)} scenarios ended as written")
    if options.report:
        Path(options.report).write_text(report(found, options.jobs, len(every)), "utf-8")
    return 0 if good == len(found) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
