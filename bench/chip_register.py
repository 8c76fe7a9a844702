"""Opening and searching the chip register: time and memory beside a plain dictionary of chips.

    python -m bench.chip_register [CHIPS] [REPEATS]

The peer reads the same chips from CSV text into a ``dict`` of ``Chip``, with no signature, no hash
and no check of structure. Memory is the peak of a process that only opens, less that of one that
only imports.
"""

from __future__ import annotations

import csv
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from random import Random
from time import perf_counter

from bench.common import Measure, Target, interleaved, print_ratios, verdict, versions
from controller.registers.chips import edit
from controller.registers.chips.batch import BatchRow
from controller.registers.chips.history import ChipStamp
from controller.registers.chips.register import Chip, ChipRegister
from controller.registers.keys import SigningSecret

LIMIT_MB = 40.0
LIMIT_S = 2.0
LOOKUPS = 20_000
VALUES = (100, 500, 2_500, 10_000, 50_000)

OPEN = """
from pathlib import Path
from bench.chip_register import {0}
kept = {0}(Path({1!r}), {2!r})
print(Path("/proc/self/status").read_text().split("VmHWM:")[1].split()[0])
"""
"""The kernel's own peak of this image: the one that wait4 gives remembers the parent's."""


def open_register(path: Path, key: bytes) -> Callable[[str], Chip | None]:
    return ChipRegister.open(path, key, 1, "BENCH").find


def open_dictionary(path: Path, _: bytes) -> Callable[[str], Chip | None]:
    with path.open(newline="") as lines:
        chips = {
            uid: Chip(uid, int(cents), "cash", "BENCH", "in play", series, False, 1, 0)
            for uid, cents, series in csv.reader(lines)
        }
    return chips.get


def nothing(_: Path, __: bytes) -> None:
    """What the imports alone take."""


def write(folder: Path, count: int, key: SigningSecret) -> tuple[Path, Path, list[str]]:
    random = Random(7)
    prefix = bytes.fromhex("E00401")
    uids = {prefix + random.randbytes(5) for _ in range(count)}
    rows = [BatchRow(uid, random.choice(VALUES), "cash", f"S-{uid[3] % 9}") for uid in uids]
    source = edit.Source("bench.csv", "00" * 32)
    content = edit.import_chips(
        edit.start("BENCH"), rows, "BENCH", source, ChipStamp("bench", "", 1_762_000_000)
    )
    register, table = folder / "house.chips", folder / "house.csv"
    register.write_bytes(edit.seal(content, key))
    with table.open("w", newline="") as out:
        csv.writer(out).writerows((r.uid.hex().upper(), r.cents, r.series) for r in rows)
    return register, table, [row.uid.hex().upper() for row in rows]


def seconds(act: Callable[[], object]) -> float:
    start = perf_counter()
    act()
    return perf_counter() - start


def peak_mb(function: str, path: Path, key: bytes) -> float:
    command = [sys.executable, "-c", OPEN.format(function, str(path), key)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return int(done.stdout) / 1024


def lookups(find: Callable[[str], Chip | None], uids: list[str]) -> Measure:
    """Spots of five chips, each looked up, chips a second."""
    spots = [frozenset(uids[at : at + 5]) for at in range(0, len(uids), 5)]

    def measure() -> float:
        took = seconds(lambda: [find(uid) for spot in spots for uid in spot])
        return len(uids) / took

    return measure


def main(argv: list[str]) -> int:
    count = int(argv[0]) if argv else 200_000
    repeats = int(argv[1]) if len(argv) > 1 else 5
    secret = SigningSecret(bytes(32))
    key = secret.public
    with tempfile.TemporaryDirectory() as name:
        register, table, uids = write(Path(name), count, secret)
        print(versions("PyNaCl"), f"{count:,} chips, {register.stat().st_size / 1e6:.1f} MB")
        loads = interleaved(
            {
                "dictionary": lambda: 1e3 * seconds(lambda: open_dictionary(table, key)),
                "register": lambda: 1e3 * seconds(lambda: open_register(register, key)),
            },
            repeats,
        )
        wanted = Random(8).sample(uids, min(LOOKUPS, len(uids)))
        finds = interleaved(
            {
                "dictionary": lookups(open_dictionary(table, key), wanted),
                "register": lookups(open_register(register, key), wanted),
            },
            repeats,
        )
        floor = peak_mb("nothing", table, key)
        sizes = {
            "dictionary": peak_mb("open_dictionary", table, key) - floor,
            "register": peak_mb("open_register", register, key) - floor,
        }
    print("open")
    print_ratios(loads, "dictionary", "ms")
    print("value spots of five")
    print_ratios(finds, "dictionary", "chips/s")
    print("memory above the imports")
    print_ratios(sizes, "dictionary", "MB")
    small, quick = sizes["register"] < LIMIT_MB, loads["register"] < 1e3 * LIMIT_S
    print(f"  target: less than {LIMIT_MB:g} MB: {'met' if small else 'MISSED'}")
    print(f"  target: open in less than {LIMIT_S:g} s: {'met' if quick else 'MISSED'}")
    ratios = verdict(loads, [Target("register", "dictionary", 1.0, at_most=True)])
    ratios |= verdict(sizes, [Target("register", "dictionary", 0.5, at_most=True)])
    return 0 if small and quick and not ratios else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
