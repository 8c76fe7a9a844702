"""Single-byte changes of a pack, each seeded, and whether the verifier names the right file."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from random import Random

from record.verify_evidence import verify
from tests.controller.evidence.house import random_house


def change(folder: Path, random: Random) -> tuple[str, Path, bytes]:
    """One byte of one file becomes another; its name, its path, and what it was."""
    paths = sorted(folder.iterdir())
    # Small files as often as large ones: most bytes are frames.
    path = random.choice(paths)
    before = path.read_bytes()
    place = random.randrange(len(before))
    other = random.choice([value for value in range(256) if value != before[place]])
    path.write_bytes(before[:place] + bytes([other]) + before[place + 1 :])
    return path.name, path, before


def missed(folder: Path, random: Random) -> str | None:
    """A change that was not found, or not in the file where it is; None if it was."""
    name, path, before = change(folder, random)
    try:
        found = verify(folder)
    finally:
        path.write_bytes(before)
    if found["ok"] or [problem["file"] for problem in found["problems"]] != [name]:
        return f"{name}: {found['problems']}"
    return None


REPORT = """# Evidence packs: tampering

`make evidence` makes packs of all awards of random floors, verifies each, and then changes one
byte at a time: any file of a pack, any place, any other value. A change counts as found only if
the verifier names that file and no other.

| | |
|---|---|
| packs made and verified | {packs} |
| single-byte changes | {changes} |
| found, with the right file named | {found} |
| by file | {files} |
| seeds | {seeds} |
| seconds | {seconds} |
"""


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="tests.controller.evidence.changes")
    parser.add_argument("--changes", type=int, default=1_000)
    parser.add_argument("--floors", type=int, default=6)
    parser.add_argument("--report", type=Path)
    options = parser.parse_args(argv)
    start, packs, wrong, files = time.monotonic(), 0, list[str](), Counter[str]()
    for seed in range(options.floors):
        with tempfile.TemporaryDirectory() as place:
            folder = Path(place)
            ties = ("strict_order", "same_cycle_full", "share")[seed % 3]
            house = random_house(folder, seed, ties=ties)
            made: list[Path] = []
            for award in house.store.awards:
                made.append(folder / f"pack-{len(made)}")
                house.pack(award, made[-1], whole=len(made) % 2 == 0)
                found = verify(made[-1])
                if not found["ok"]:
                    wrong.append(f"seed {seed}, {award}: {found['problems']}")
            packs += len(made)
            random = Random(seed)
            for _ in range(options.changes // options.floors + 1):
                pack = random.choice(made)
                state = random.getstate()
                name, path, before = change(pack, random)
                path.write_bytes(before)
                random.setstate(state)
                files[name] += 1
                if said := missed(pack, random):
                    wrong.append(f"seed {seed}: {said}")
            house.close()
    for text in wrong:
        print(text, file=sys.stderr)
    many = sum(files.values())
    print(f"{packs} packs, {many} changes, {len(wrong)} wrong")
    if options.report:
        listed = ", ".join(f"{name} {count}" for name, count in sorted(files.items()))
        options.report.write_text(
            REPORT.format(
                packs=packs, changes=many, found=many - len(wrong), files=listed,
                seeds=f"0 to {options.floors - 1}", seconds=round(time.monotonic() - start),
            ),
            "utf-8",
        )  # fmt: skip
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
