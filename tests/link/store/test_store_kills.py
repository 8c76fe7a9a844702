"""Rows 40, 41 and 60 of the fault table: the process is killed at every moment of its work."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path

import pytest

from link.store.errors import Missing
from link.store.migrations import migrations
from tests.link.store.book import Book, led
from tests.link.store.conftest import Place
from tests.link.store.killed import next_group

ROOT = Path(__file__).resolve().parents[3]
EVENTS, ENTRIES = 5, 2
"""Of one group of ``next_group``."""


@contextmanager
def victim(place: Place, what: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "tests.link.store.killed", place.kind, place.where, what]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=ROOT
    ) as process:
        try:
            yield process
        finally:
            assert process.stdin is not None
            process.stdin.close()


def killed_at(process: subprocess.Popen[str], moment: int) -> bool:
    assert process.stdin is not None
    assert process.stdout is not None
    process.stdin.write(f"{moment}\n")
    process.stdin.flush()
    answer = process.stdout.readline().strip()
    assert answer in ("killed", "finished"), answer
    return answer == "killed"


def test_rows_40_and_41_a_group_is_whole_or_not_there(place: Place) -> None:
    """Killed at every statement. Then the group is either not there, and is committed now, or it is
    there whole (the ack alone was lost), and what is sent again is known by its number and hash."""
    with closing(place.open()) as store:
        store.commit(Book(led(store, tables=3).epoch, store.load()).award("mega/1/1", "claimed"))
    before = lost = kept = 0
    with victim(place, "commit") as process:
        for moment in count(1):
            dead = killed_at(process, moment)
            with closing(place.open()) as store:
                counts = store.check()
                groups = (counts.entries - before) // ENTRIES
                assert counts.entries - before in (0, ENTRIES)
                assert counts.events == 2 + EVENTS * counts.entries // ENTRIES
                if not groups:
                    lost += 1
                    epoch = store.lead("one", 60_000)
                    assert epoch is not None
                    group = next_group(store, epoch)
                    assert not store.settle(group)
                    store.commit(group)
                    assert store.settle(group)
                else:
                    kept += 1
                    last = list(store.events(after=counts.events - EVENTS))
                    for event in last:
                        found = store.event(event.journal, event.n)
                        assert found is not None
                        assert found.hash == event.hash
                before = store.check().entries
            if not dead:
                break
    assert lost >= 12, "the moments before the commit were not met"
    assert kept == 2, "after COMMIT and before the ack, and the run that was not killed"


def test_row_60_a_migration_is_whole_or_not_there(bare: Place) -> None:
    statements = sum(len(m.statements) for m in migrations(bare.kind))
    with victim(bare, "migrate") as process:
        for moment in count(1):
            if not killed_at(process, moment):
                break
            with closing(bare.open()) as store:
                if store.schema < len(migrations(bare.kind)):
                    assert store.query("SELECT 1") == [(1,)]
                    with pytest.raises(Missing, match=r"the schema is \d, this program needs"):
                        store.load()
                else:
                    assert store.check().events == 0
    assert moment > statements
    with closing(bare.open()) as store:
        assert store.migrate(at_ms=2) == ()
        led(store)
        assert store.check().events == 1
