"""Run the fuzzer: ``python -m tests.fuzz.run --frames 1000000 --report docs/reports/fuzz.md``.

Case n of a target under a seed is always the same; ``--only feig --case 4711`` runs that one alone
and shows what it raises. Counts do not depend on the machine or on the number of workers.
"""

from __future__ import annotations

import argparse
import multiprocessing
import sys
import time
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final

from tests.fuzz import alpha, cdp, displays, feig, link, mcp23017, money, shell, shoe_model, texts
from tests.fuzz.tally import Tally, Target

TARGETS: Final = {
    target.name: target
    for target in (
        feig.TARGET,
        feig.NOISE,
        feig.ANSWERS,
        money.NOISE,
        cdp.TARGET,
        cdp.MESSAGES,
        alpha.TARGET,
        alpha.DRIVER,
        mcp23017.TARGET,
        mcp23017.SEARCH,
        mcp23017.ONE_BLOCK,
        displays.PROMPT,
        displays.PROMPT_DRIVER,
        displays.METER,
        texts.SUPPLY_TARGET,
        texts.LAYOUT_TARGET,
        money.TARGET,
        shoe_model.TARGET,
        link.TARGET,
        shell.TARGET,
    )
}
KEPT: Final = 3
"""Breaches told in full, per target and kind."""


@dataclass(frozen=True, slots=True)
class Breach:
    case: int
    kind: str
    text: str


@dataclass(slots=True)
class Outcome:
    name: str
    cases: int = 0
    tally: Tally = field(default_factory=Tally)
    breaches: list[Breach] = field(default_factory=list)
    kinds: dict[str, int] = field(default_factory=dict)
    seconds: float = 0.0

    def add(self, other: Outcome) -> None:
        self.cases += other.cases
        self.tally.update(other.tally)
        self.seconds += other.seconds
        for kind, count in other.kinds.items():
            self.kinds[kind] = self.kinds.get(kind, 0) + count
        self.breaches = sorted(self.breaches + other.breaches, key=lambda it: it.case)

    def told(self) -> list[Breach]:
        """The first few breaches of each kind."""
        shown: dict[str, list[Breach]] = {}
        for breach in self.breaches:
            shown.setdefault(breach.kind, []).append(breach)
        return [breach for kind in sorted(shown) for breach in shown[kind][:KEPT]]


def seed_of(seed: int, name: str, case: int) -> int:
    return seed << 80 | zlib.crc32(name.encode()) << 40 | case


def run_cases(name: str, seed: int, start: int, stop: int) -> Outcome:
    target, outcome = TARGETS[name], Outcome(name, stop - start)
    rng, case, tally = Random(), target.case, outcome.tally
    began = time.process_time()
    for number in range(start, stop):
        rng.seed(seed_of(seed, name, number))
        try:
            case(rng, tally)
        except Exception as error:  # any exception of any kind is what is looked for
            kind = type(error).__name__ + ": " + str(error).partition(":")[0][:60]
            outcome.kinds[kind] = outcome.kinds.get(kind, 0) + 1
            if outcome.kinds[kind] <= KEPT:
                outcome.breaches.append(Breach(number, kind, str(error)))
    outcome.seconds = time.process_time() - began
    return outcome


def _job(job: tuple[str, int, int, int]) -> Outcome:
    return run_cases(*job)


def cases_of(target: Target, frames: int) -> int:
    return max(1, frames // target.one_in)


def run(names: list[str], frames: int, seed: int, workers: int) -> dict[str, Outcome]:
    jobs = []
    for name in names:
        cases = cases_of(TARGETS[name], frames)
        step = max(1, -(-cases // 40))
        jobs += [(name, seed, at, min(at + step, cases)) for at in range(0, cases, step)]
    found = {name: Outcome(name) for name in names}
    left = {name: sum(job[0] == name for job in jobs) for name in names}
    began = time.monotonic()
    with multiprocessing.Pool(workers) as pool:
        for outcome in pool.imap_unordered(_job, jobs):
            found[outcome.name].add(outcome)
            left[outcome.name] -= 1
            if not left[outcome.name]:
                done = found[outcome.name]
                breaches = sum(done.kinds.values())
                print(
                    f"{time.monotonic() - began:6.0f} s  {done.name}: {done.cases:,} cases,"
                    f" {breaches} breaches",
                    flush=True,
                )
    return found


def failures(found: dict[str, Outcome]) -> list[str]:
    """Everything that does not hold, in words; the law holds if there is nothing."""
    wrong = []
    for name, outcome in found.items():
        wrong += [f"{name}: {count} x {kind}" for kind, count in sorted(outcome.kinds.items())]
        wrong += [
            f"{name}: {it.text}: {it.seen} of {it.out_of:,}, at most {it.allowed}"
            for it in TARGETS[name].check(outcome.tally)
            if not it.holds
        ]
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--frames", type=int, default=20_000, help="mutated frames per codec")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--report", type=Path, help="write the report to this file")
    parser.add_argument(
        "--only", choices=sorted(TARGETS), action="append", help="this target alone"
    )
    parser.add_argument("--case", type=int, help="with --only: run this one case and let it raise")
    options = parser.parse_args()
    names = options.only or list(TARGETS)
    if options.case is not None:
        for name in names:
            tally = Tally()
            TARGETS[name].case(Random(seed_of(options.seed, name, options.case)), tally)
            print(f"{name} case {options.case}: holds; {dict(tally)}")
        return 0
    print(f"seed {options.seed}, {options.frames:,} frames per codec")
    began = time.monotonic()
    found = run(names, options.frames, options.seed, options.workers)
    wall = time.monotonic() - began
    if options.report is not None:
        from tests.fuzz.report import write

        took = f"{wall:.0f} s with {options.workers} workers."
        write(options.report, found, options.frames, options.seed, took)
    wrong = failures(found)
    for line in wrong:
        print(f"BROKEN {line}")
    print("the codec law holds" if not wrong else f"{len(wrong)} breaches of the codec law")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
