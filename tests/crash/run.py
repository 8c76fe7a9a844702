"""Everything that may happen to a table's disk, at every place of a round of each game.

python -m tests.crash.run [--every N | --at N] [--seed S] [--jobs J] [--report FILE] [SCENARIO ...]

The power goes at every disk call; the process is killed at every write; a sync fails once; the last
segment is cut at every byte of its last record; a bit flips in each of a thousand copies; the disk
is full. After each the table starts again over the same devices and people, and the round must end
with its literal settlement.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from multiprocessing import Pool
from pathlib import Path
from typing import Any, Final

from tests.crash.proofs import (
    DAY,
    KILLED,
    POWER,
    ROUNDS,
    SYNC,
    Case,
    Proof,
    disk_full,
    flipped,
    happens_everywhere,
    middle_of,
    truncated,
    truncated_and_played,
)

COPIES: Final = 1_000
EVERY_BYTE: Final = 32
"""Of the places at which the last record is cut, so many apart are played to the end."""

HEAD: Final = """\
# Broken power and broken disks

`make crash`: a scripted round of each game in virtual time, with all its devices and people, on a
disk that can lose power at any call. After what is described below the table starts again over the
same devices and people, and the round must end with its literal settlement. {how} Seed {seed}; a
case is named by its scenario, the disk call and the seed
(`python -m tests.crash.run --seed {seed} --at CALL SCENARIO` plays it again).
"""


class Run:
    """The proofs, one after the other, each spread over the processes."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.names: Sequence[str] = options.names or ROUNDS
        self.every, self.seed, self.only = options.every, options.seed, options.at
        self.jobs = options.jobs
        self.bad: list[str] = []
        self.text = ""

    def _map(self, work: Callable[[Any], Any], cases: Iterable[Any]) -> list[Any]:
        with Pool(self.jobs) as pool:
            return list(pool.imap(work, list(cases), 1))

    def _section(self, title: str, about: str, head: Sequence[str], rows: Iterator[Any]) -> None:
        text = f"\n## {title}\n\n{about}\n\n| " + " | ".join(head) + " |\n"
        text += "|---" * len(head) + "|\n"
        print(f"{title}: {about}", flush=True)
        for row in rows:
            line = "| " + " | ".join(map(str, row)) + " |"
            print(line, flush=True)
            text += line + "\n"
        self.text += text

    def _failures(self, found: Iterable[str], what: str) -> int:
        """How many went wrong; each is kept with its name."""
        wrong = [f"{what}: {text}" for text in found if text]
        self.bad += wrong
        for text in wrong:
            print(text, flush=True)
        return len(wrong)

    def _everywhere(self, proof: Proof) -> Iterator[Any]:
        for name in self.names:
            numbers = proof.numbers(name)
            chosen = [n for n in numbers if n == self.only] if self.only else numbers[:: self.every]
            found = happens_everywhere(proof, name, self.seed, chosen, self.jobs)
            bad = self._failures(found, proof.name)
            yield name, len(numbers), len(chosen), len(chosen) - bad

    # --- the sections --------------------------------------------------------------------------

    def power(self) -> None:
        about = (
            "At the n-th call to the disk (write, sync, create, rename and so on); of what was not "
            "synced a random part survives, by sectors or to the byte."
        )
        head = ("scenario", "disk calls", "cut", "ended as written")
        self._section("The power goes", about, head, self._everywhere(POWER))

    def kill(self) -> None:
        about = "At the n-th write; the machine lives on, so everything written is there."
        head = ("scenario", "writes", "killed", "ended as written")
        self._section("The process is killed", about, head, self._everywhere(KILLED))

    def sync(self) -> None:
        about = (
            "The n-th fdatasync fails once and its pages are lost, as on some file systems. The "
            "process stops, nothing is shown, sent or acknowledged afterwards, the next start "
            "reads the medium."
        )
        head = ("scenario", "syncs", "failed", "stopped there and ended as written")
        self._section("A sync fails", about, head, self._everywhere(SYNC))

    def day(self) -> None:
        about = (
            "After the round a supervisor closes the gaming day, and the power goes at the n-th "
            "call to the disk from there on. The day is closed once, with its record, and adds up "
            "to its records again."
        )
        head = ("scenario", "disk calls", "cut", "closed once, and the same")
        self._section("The gaming day is closed", about, head, self._everywhere(DAY))

    def shorten(self) -> None:
        about = (
            "The table is killed at one write in the second half of the round and its last segment "
            "truncated at every byte of the last record: each time the table must stand exactly "
            f"before that record, with one repair record. At offsets {EVERY_BYTE} bytes apart the "
            "round is played to its end."
        )
        head = ("scenario", "disk call", "offsets", "stood there", "played", "ended as written")
        self._section("The file is cut short", about, head, self._shorten())

    def _shorten(self) -> Iterator[Any]:
        cases = [Case(name, middle_of(name, self.seed), self.seed) for name in self.names]
        for case, (offsets, wrong) in zip(cases, self._map(truncated, cases), strict=True):
            bad = self._failures(wrong, "truncated")
            keeps = range(0, offsets, EVERY_BYTE * self.every)
            found = self._map(partial(truncated_and_played, case), keeps)
            ill = self._failures(found, "truncated and played")
            yield case.name, case.at, offsets, offsets - bad, len(keeps), len(keeps) - ill

    def flips(self) -> None:
        about = (
            "One random bit in each copy of the journal that a round left, anywhere in any "
            "segment; found by the journal, which refuses to open, and by the auditor's verifier, "
            "which shares no code with it."
        )
        head = ("scenario", "copies", "refused", "found by the verifier")
        self._section("A bit flips", about, head, self._flips())

    def _flips(self) -> Iterator[Any]:
        each = -(-COPIES // len(self.names))
        copies = max(1, each // self.every)
        work = partial(flipped, copies=copies, seed=self.seed)
        for name, found in zip(self.names, self._map(work, self.names), strict=True):
            self._failures(
                [f"{name}: {copies - n} of {copies} not found" for n in found if n != copies],
                "flip",
            )
            yield name, copies, *found

    def full(self) -> None:
        about = (
            "From the deal on there is no room for another segment. The round ends on the reserve, "
            "the opening call is refused in words, no acceptor takes a credit; with room again the "
            "table opens by itself."
        )
        head = ("scenario", "ended, refused, and opened again")
        self._section("The disk is full", about, head, self._full())

    def _full(self) -> Iterator[Any]:
        found = self._map(partial(disk_full, seed=self.seed), self.names)
        for name, text in zip(self.names, found, strict=True):
            yield name, "no" if self._failures([text], "full") else "yes"


def main(arguments: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.crash.run", description=__doc__)
    parser.add_argument("--every", type=int, default=1, help="only every n-th place")
    parser.add_argument("--at", type=int, default=0, metavar="N", help="only this disk call")
    parser.add_argument("--seed", type=int, default=1, help="what of unsynced data survives")
    parser.add_argument("--jobs", type=int, default=2, help="processes side by side")
    parser.add_argument("--report", help="write a Markdown report to this file")
    parser.add_argument("names", nargs="*", metavar="SCENARIO")
    options = parser.parse_args(arguments)
    began = time.monotonic()
    run = Run(options)
    sections = [run.power, run.kill, run.day, run.sync]
    if not options.at:
        sections += [run.shorten, run.flips, run.full]
    for section in sections:
        section()
    verdict = f"{len(run.bad)} cases did not end as they should" if run.bad else "All ended so"
    print(f"{verdict}, {time.monotonic() - began:.0f} s")
    if options.report:
        how = "Every place was tried."
        if options.every > 1:
            how = f"**A sample: every {options.every}th place was tried.**"
        text = HEAD.format(seed=options.seed, how=how) + run.text
        text += f"\n{verdict}.\n" + "".join(f"\n* {one}" for one in run.bad)
        Path(options.report).write_text(text.rstrip("\n") + "\n", "utf-8")
    return 1 if run.bad else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
