"""A process that writes a journal and says what it would act upon: one ``seq hash`` a line.

    python -m tests.crash.journal_writer FOLDER [--no-fdatasync]

The switch exists here and not in the product: it shows that the test sees what a missing sync does.
"""

from __future__ import annotations

import sys
from pathlib import Path

from record.journal import Journal, RealDisk

SEGMENT_BYTES = 256 << 10


class NoSyncDisk(RealDisk):
    def sync(self, handle: int) -> None:
        pass


def main(argv: list[str]) -> None:
    disk = NoSyncDisk() if "--no-fdatasync" in argv else RealDisk()
    journal = Journal.open(
        Path(argv[0]), table="T-1", disk=disk, segment_bytes=SEGMENT_BYTES, now_ms=1_000
    )
    body = b'{"fact":"CardDrawn","seat":3,"text":"%s"}' % (b"x" * 300)
    while True:
        group = [journal.append("fact", body, 1_000) for _ in range(1 + journal.next_seq % 5)]
        journal.sync()
        print("\n".join(f"{at.seq} {at.hash.hex()}" for at in group), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
