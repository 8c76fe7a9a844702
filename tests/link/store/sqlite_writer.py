"""A process that commits groups to a SQLite store and says what it would acknowledge.

    python -m tests.link.store.sqlite_writer FILE [--no-flush]

One ``event chain`` a line, after each commit. The switch shows that the test sees a missing flush.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

from link.store.sqlite import SqliteStore
from tests.link.store.book import led


def main(argv: list[str]) -> None:
    store = SqliteStore(Path(argv[0]), create=True, flush="--no-flush" not in argv)
    store.migrate(at_ms=1)
    book = led(store, tables=5)
    chance = random.Random(3)
    while True:
        store.commit(book.contributions([chance.randrange(5) + 1 for _ in range(10)]))
        print(book.event, book.chain, flush=True)
        if chance.random() < 0.02:
            store._checkpoint("PASSIVE")


if __name__ == "__main__":
    main(sys.argv[1:])
