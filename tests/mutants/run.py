"""Switch rules off one at a time and see the tests of their clauses fail.

    python -m tests.mutants.run [--share N --seed S] [--report FILE] [WORD ...]

A mutant survives if a test that carries one of its clauses still passes; where it names tests, one
of those.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import subprocess
import sys
import tempfile
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from tests.conformance.clauses import marked_tests

ROOT = Path(__file__).resolve().parents[2]
PARTS = (
    "controller",
    "drivers",
    "record",
    "link",
    "hw_sim",
    "tests",
    "docs/rules",
    "docs/menu_page.py",
    "pyproject.toml",
)


@dataclass(frozen=True)
class Mutant:
    name: str
    clauses: tuple[str, ...]
    file: str
    old: str
    new: str
    tests: tuple[str, ...] = ()
    """Those that must fail, where a clause says several things; empty: all that carry it."""

    def must_kill(self, test: str) -> bool:
        return not self.tests or test.rpartition("::")[2] in self.tests


def load_mutants() -> list[Mutant]:
    found = []
    for path in sorted((ROOT / "tests" / "mutants").glob("*.toml")):
        for i, row in enumerate(tomllib.loads(path.read_text("utf-8"))["mutant"], 1):
            name = f"{path.stem}-{i}"
            tests = tuple(row.get("tests", ()))
            found.append(
                Mutant(name, tuple(row["clauses"]), row["file"], row["old"], row["new"], tests)
            )
    return found


def _overlay(target: Path, changed: str) -> None:
    """The tree as links, but for the file that is changed and the folders above it."""
    file = Path(changed)
    own = {*map(str, file.parents), str(file.parent / "__pycache__")}
    for part in PARTS:
        _link(target, part, own, file.stem)


def _link(target: Path, part: str, own: set[str], stem: str) -> None:
    if part not in own:
        (target / part).parent.mkdir(parents=True, exist_ok=True)
        (target / part).symlink_to(ROOT / part)
        return
    (target / part).mkdir(parents=True)
    for path in (ROOT / part).iterdir():
        if path.suffix != ".pyc" or path.name.split(".")[0] != stem:
            _link(target, f"{part}/{path.name}", own, stem)


def _run_tests(tree: Path, clauses: tuple[str, ...]) -> list[dict[str, object]]:
    outcomes = tree / "outcomes.jsonl"
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "--tb=no",
        "-p",
        "no:xdist",
        "-p",
        "no:hypothesispytest",
    ]
    carrying = marked_tests()
    files = sorted({t.split("::")[0] for c in clauses for t in carrying.get(c, [])})
    if not files:
        return []
    command += ["--clauses", ",".join(clauses), "--outcomes", str(outcomes), *files]
    environment = {**os.environ, "PYTHONPATH": str(tree)}
    done = subprocess.run(command, cwd=tree, env=environment, capture_output=True, check=False)
    if not outcomes.exists():
        # A mutant that does not even import has switched its rule off as well.
        broken = b"Error" in done.stdout + done.stderr and b"no tests ran" not in done.stdout
        return [{"test": "import", "clauses": list(clauses), "failed": broken}]
    return [json.loads(line) for line in outcomes.read_text("utf-8").splitlines()]


def survivors(mutant: Mutant) -> list[str]:
    """What did not fail: (clause, test) pairs, or a clause without any test."""
    with tempfile.TemporaryDirectory(prefix="underfelt-mutant-") as name:
        tree = Path(name)
        _overlay(tree, mutant.file)
        target = tree / mutant.file
        text = target.read_text("utf-8")
        if text.count(mutant.old) != 1:
            return [f"{mutant.file}: the text to change occurs {text.count(mutant.old)} times"]
        target.unlink()
        target.write_text(text.replace(mutant.old, mutant.new), "utf-8")
        rows = _run_tests(tree, mutant.clauses)
    alive = []
    for clause in mutant.clauses:
        failed: dict[str, bool] = {}
        for row in rows:
            if clause in row["clauses"]:  # type: ignore[operator]
                test = str(row["test"])
                if not mutant.must_kill(test):
                    continue
                failed[test] = failed.get(test, False) or bool(row["failed"])
        if not failed:
            alive.append(f"{clause}: no test")
        alive += [f"{clause}: {test} still passes" for test, died in failed.items() if not died]
    return alive


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants.run", description=__doc__)
    parser.add_argument("--share", type=int, help="only so many mutants, drawn by the seed")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--report", help="write a Markdown report to this file")
    parser.add_argument("words", nargs="*", help="only mutants whose name or clauses contain this")
    arguments = parser.parse_args()
    mutants = load_mutants()
    if arguments.words:
        mutants = [
            m
            for m in mutants
            if any(w in m.name or any(w in c for c in m.clauses) for w in arguments.words)
        ]
    if arguments.share:
        mutants = random.Random(arguments.seed).sample(mutants, min(arguments.share, len(mutants)))
    with ThreadPoolExecutor(max_workers=2) as pool:
        results = list(pool.map(survivors, mutants))
    alive = 0
    lines = []
    for mutant, left in zip(mutants, results, strict=True):
        alive += bool(left)
        verdict = "survives" if left else "killed"
        lines.append(f"| {mutant.name} | {', '.join(mutant.clauses)} | {verdict} |")
        if left:
            print(f"{mutant.name} survives ({mutant.file}):")
            print("".join(f"    {text}\n" for text in left), end="")
    print(f"{len(mutants) - alive} of {len(mutants)} mutants killed")
    if arguments.report:
        head = (
            f"# Mutation run over the rules\n\n{len(mutants) - alive} of {len(mutants)} killed.\n\n"
        )
        table = "| mutant | clauses switched off | outcome |\n|---|---|---|\n"
        Path(arguments.report).write_text(head + table + "\n".join(lines) + "\n", "utf-8")
    return 1 if alive else 0


if __name__ == "__main__":
    sys.exit(main())
