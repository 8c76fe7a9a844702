"""Appending to the journal beside the bare system calls that do the same writes.

    python -m bench.journal [RECORDS] [REPEATS] [FOLDER]

The floor writes the very same number of bytes with ``os.pwrite`` and ``os.fdatasync`` into a file
that was filled before: no check sums, no chain, no rotation. ``cost`` is the journal's own work per
record with syncs left out. Reading is measured by the verification of a whole journal, beside
``hashlib`` and ``zlib`` over the same bytes in one piece.
"""

from __future__ import annotations

import hashlib
import os
import sys
import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

from bench.common import Target, interleaved, print_ratios, verdict, versions
from record.journal import Journal, RealDisk
from record.journal.reader import verify
from record.verify_journal import verify as verify_alone

BODY = (
    b'{"v":1,"what":"wager read","of":{"seat":2,"spot":"$","cents":1000},"key":null,"x":"%s"}'
    % (b"y" * 110)
)
RECORD_BYTES = 288
GROUPS = (1, 10, 100)


class NoSync(RealDisk):
    def sync(self, handle: int) -> None:
        pass


def journal_rate(folder: Path, records: int, group: int, disk: RealDisk) -> float:
    with tempfile.TemporaryDirectory(dir=folder) as name:
        journal = Journal.open(Path(name), table="BENCH", now_ms=1, disk=disk)
        start = perf_counter()
        for _ in range(records // group):
            for _ in range(group):
                journal.append("fact", BODY, 1_762_000_000_000)
            journal.sync()
        took = perf_counter() - start
        journal.close()
    return records / took


def floor_rate(folder: Path, records: int, group: int) -> float:
    with tempfile.TemporaryDirectory(dir=folder) as name:
        handle = RealDisk().create(Path(name) / "floor", records * RECORD_BYTES)
        os.fsync(handle)
        data = b"z" * RECORD_BYTES * group
        start = perf_counter()
        for number in range(records // group):
            os.pwrite(handle, data, number * len(data))
            os.fdatasync(handle)
        took = perf_counter() - start
        os.close(handle)
    return records / took


def reading(folder: Path, records: int) -> dict[str, Callable[[], float]]:
    journal = Journal.open(folder, table="BENCH", now_ms=1)
    for _ in range(records):
        journal.append("fact", BODY, 1)
        if journal.next_seq % 500 == 0:
            journal.sync()
    journal.sync()
    journal.close()

    def bare() -> None:
        for path in folder.glob("*.ufj"):
            data = path.read_bytes()
            hashlib.sha256(data).digest()
            zlib.crc32(data)

    def timed(act: Callable[[], object]) -> Callable[[], float]:
        def measure() -> float:
            start = perf_counter()
            act()
            return records / (perf_counter() - start)

        return measure

    return {
        "sha256 + crc32 in one piece": timed(bare),
        "verify": timed(lambda: verify(folder)),
        "verify_journal.py": timed(lambda: verify_alone(folder)),
    }


def main(argv: list[str]) -> int:
    records = int(argv[0]) if argv else 1_000
    repeats = int(argv[1]) if len(argv) > 1 else 5
    place = Path(argv[2]) if len(argv) > 2 else None
    print(versions("msgspec"), f"{RECORD_BYTES} bytes a record")
    missed = 0
    with tempfile.TemporaryDirectory(dir=place) as name:
        folder = Path(name)
        for group in GROUPS:
            count = records * group
            rates = interleaved(
                {
                    "floor": lambda n=count, g=group: floor_rate(folder, n, g),  # type: ignore[misc]
                    "journal": lambda n=count, g=group: journal_rate(  # type: ignore[misc]
                        folder, n, g, RealDisk()
                    ),
                },
                repeats,
            )
            print(f"durable, {group} records a sync")
            print_ratios(rates, "floor", "records/s")
            if group == 1:
                missed |= verdict(rates, [Target("journal", "floor", 0.8)])
        unsynced = journal_rate(folder, 50_000, 10, NoSync())
        print(f"cost of append and write, 10 a group, no sync: {1e6 / unsynced:.1f} us a record")
        rates = interleaved(reading(folder / "read", 50_000), repeats)
        print("reading")
        print_ratios(rates, "sha256 + crc32 in one piece", "records/s")
    return missed


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
