"""Copies while groups go on, and the way back: row 47 of the fault table and invariant I14."""

from __future__ import annotations

import hashlib
import json
import os
import random
import stat
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from link.rows import Group, Saved
from link.store.backup import (
    is_empty,
    manifest_path,
    read_manifest,
    restore,
    verify_backup,
)
from link.store.base import Store
from link.store.errors import BackupDamaged, Broken, Missing, NotEmpty, StoreError, TooNew
from tests.link.store.book import DISPLAY_UNITS, Book, journal_id, led, restore_order
from tests.link.store.conftest import Place, places

TWO = (("anna", "manager"), ("ben", "accounting"))
EXPLAINED = restore_order(TWO, "disk of server 1 lost", 99)
ORDER = (
    b'{"by":[["anna","manager"],["ben","accounting"]],'
    b'"order":{"what":"restore","why":"disk of server 1 lost"}}'
)


def filled(store: Store) -> Book:
    book = led(store, tables=3)
    for group in (
        book.contributions([1, 2, 1]),
        book.checkpoint(3, 7, "ef" * 32),
        book.award("mega/1/1", "claimed"),
        book.award("mega/1/1", "locked"),
        book.alarmed(),
        book.people(),
        book.contributions([2]),
    ):
        store.commit(group)
    return book


def everything(store: Store) -> tuple[object, ...]:
    return (
        store.load(),
        list(store.events()),
        list(store.entries()),
        list(store.awards()),
        list(store.steps()),
        list(store.alarms()),
        list(store.journals()),
    )


@pytest.fixture(params=["sqlite", "postgresql"])
def target(request: pytest.FixtureRequest) -> Callable[[], Place]:
    """Empty stores of either kind, whatever the backup is from."""
    return places(request.param, request)


def test_a_backup_comes_back_in_either_store(
    store: Store, target: Callable[[], Place], tmp_path: Path
) -> None:
    book = filled(store)
    path = tmp_path / "monday.backup"
    manifest = store.backup(path, at_ms=42)
    assert manifest == read_manifest(path)
    assert (manifest.at_ms, manifest.file, manifest.schema) == (42, "monday.backup", store.schema)
    assert (manifest.last_event, manifest.chain) == (8, book.chain)
    assert manifest.rows["events"] == 8
    assert manifest.sha256 == hashlib.sha256(path.read_bytes()).hexdigest()
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert verify_backup(path).events == 8
    assert sorted(p.name for p in tmp_path.iterdir()) == ["monday.backup", "monday.backup.manifest"]
    with closing(target().open()) as other:
        assert restore(other, path, explain=EXPLAINED) == manifest
        assert other.check().events == 9
        before, after = everything(store), everything(other)
        assert after[2:] == before[2:]
        events = list(other.events())
    assert events[:8] == book.events
    last = events[8]
    assert (last.table, last.journal, last.n, last.body) == ("", "", 5, ORDER)


def test_row_47_tables_replay_what_an_old_backup_has_not(
    store: Store, new_place: Callable[[], Place], tmp_path: Path
) -> None:
    """The watermark falls, the order of the restore says why (I14), and the sum is the same."""
    book = led(store, tables=2)
    store.commit(book.contributions([1, 2, 1]))
    path = tmp_path / "old"
    store.backup(path, at_ms=1)
    lost = [book.contributions([1, 2]), book.contributions([1])]
    for group in lost:
        store.commit(group)
    expected = store.load()
    old_epoch = book.epoch
    store.close()
    with closing(new_place().open()) as restored:
        restore(restored, path, explain=EXPLAINED)
        leader = restored.leader()
        assert leader is not None
        assert leader.epoch > old_epoch
        fallen = restored.load()
        assert [j.n for j in fallen.journals] == [2, 1]
        assert [j.n for j in expected.journals] == [4, 2]
        assert restored.events(table="")
        assert [json.loads(e.body) for e in restored.events(table="")][-1]["order"]["what"] == (
            "restore"
        )
        epoch = restored.lead("one", 1000)
        assert epoch is not None
        again = Book(epoch, fallen)
        for group in lost:
            tables = [int(row.table[2:]) for row in group.events]
            made = again.contributions(tables)
            assert [(e.n, e.hash, e.body) for e in made.events] == [
                (e.n, e.hash, e.body) for e in group.events
            ]
            restored.commit(made)
        restored.check()
        now = restored.load()
    assert now.balances == expected.balances
    assert [(j.n, j.hash) for j in now.journals] == [(j.n, j.hash) for j in expected.journals]
    assert [b.units for b in now.balances if b.account == "display"] == [6 * DISPLAY_UNITS]


def test_groups_go_on_while_a_backup_is_written(store: Store, tmp_path: Path) -> None:
    book = led(store, tables=3)
    for _ in range(12):
        store.commit(book.contributions([1, 2, 3] * 60))
    started = len(book.events)
    calls = 0

    def between() -> None:
        nonlocal calls
        calls += 1
        if calls <= 30:
            store.commit(book.contributions([1, 2, 3]))

    manifest = store.backup(tmp_path / "live", at_ms=5, between=between)
    assert calls > 2
    assert len(book.events) > started, "nothing was committed while it was written"
    assert started <= manifest.last_event <= len(book.events)
    assert verify_backup(tmp_path / "live").chain == book.events[manifest.last_event - 1].chain
    assert list(store.events()) == book.events
    store.check()


def test_a_backup_that_is_interrupted_is_none(store: Store, tmp_path: Path) -> None:
    filled(store)

    def stop() -> None:
        raise InterruptedError

    with pytest.raises((InterruptedError, StoreError)):
        store.backup(tmp_path / "half", at_ms=5, between=stop)
    assert list(tmp_path.iterdir()) == []
    store.check()
    store.backup(tmp_path / "half", at_ms=5)
    with pytest.raises(NotEmpty, match="there is a file of that name"):
        store.backup(tmp_path / "half", at_ms=6)
    verify_backup(tmp_path / "half")


def refuse(path: Path, place: Place, expected: type[StoreError], words: str = "") -> None:
    """Neither verified nor restored; and the store is as empty as before."""
    with pytest.raises(expected, match=words):
        verify_backup(path)
    with closing(place.open()) as other:
        with pytest.raises(expected, match=words):
            restore(other, path, explain=EXPLAINED)
        assert is_empty(other)
        other.check()


def test_a_flipped_bit_anywhere_is_found(
    store: Store, new_place: Callable[[], Place], tmp_path: Path
) -> None:
    filled(store)
    path = tmp_path / "copy"
    store.backup(path, at_ms=5)
    good = path.read_bytes()
    chance = random.Random(11)
    place = new_place()
    with closing(place.open()) as other:
        for _ in range(50):
            spoilt = bytearray(good)
            spoilt[chance.randrange(len(good))] ^= 1 << chance.randrange(8)
            path.write_bytes(spoilt)
            with pytest.raises(BackupDamaged):
                restore(other, path, explain=EXPLAINED)
        for length in (0, 1, len(good) // 2, len(good) - 1):
            path.write_bytes(good[:length])
            with pytest.raises(BackupDamaged):
                restore(other, path, explain=EXPLAINED)
        path.write_bytes(good)
        restore(other, path, explain=EXPLAINED)


def test_what_does_not_balance_is_not_accepted(
    store: Store, new_place: Callable[[], Place], tmp_path: Path
) -> None:
    """A copy of a store that was already wrong, with a manifest that says so truly."""
    filled(store)
    store.query("UPDATE balances SET units = units + 1 WHERE account = 'display'")
    path = tmp_path / "wrong"
    with pytest.raises(Broken):
        store.backup(path, at_ms=5)
    assert list(tmp_path.iterdir()) == []
    store.backup(path, at_ms=5, verify=False)
    refuse(path, new_place(), Broken, "display: balance")


def test_manifests_that_do_not_fit(
    store: Store, new_place: Callable[[], Place], tmp_path: Path
) -> None:
    filled(store)
    path = tmp_path / "copy"
    store.backup(path, at_ms=5)
    text = manifest_path(path)
    good = json.loads(text.read_bytes())
    place = new_place()
    for change, words in (
        ({"last_event": 7}, "its manifest says 7"),
        ({"chain": "00" * 32}, "its manifest says 8 and 0000"),
        ({"bytes": 5}, "its manifest says"),
    ):
        text.write_text(json.dumps(good | change), "utf-8")
        refuse(path, place, BackupDamaged, words)
    text.write_text("{}", "utf-8")
    refuse(path, place, BackupDamaged, "not a manifest")
    text.write_text(json.dumps(good | {"schema": 99}), "utf-8")
    with closing(place.open()) as other, pytest.raises(TooNew, match="its schema is 99"):
        restore(other, path, explain=EXPLAINED)
    os.unlink(text)
    refuse(path, place, Missing, "no manifest")


def test_a_restore_goes_into_an_empty_store_only(store: Store, tmp_path: Path) -> None:
    filled(store)
    store.backup(tmp_path / "copy", at_ms=5)
    before = everything(store)
    with pytest.raises(NotEmpty, match="restore into a new one"):
        restore(store, tmp_path / "copy", explain=EXPLAINED)
    assert everything(store) == before


def test_a_restore_whose_order_does_not_fit_is_not_accepted(
    store: Store, new_place: Callable[[], Place], tmp_path: Path
) -> None:
    """The order is the ledger's to make; a wrong one leaves the store empty."""
    filled(store)
    store.backup(tmp_path / "copy", at_ms=5)

    def explain(saved: Saved, epoch: int) -> Group:
        return Book(epoch, saved).contributions([1, 2]) if saved.last_order == 4 else Group(epoch)

    def wrong(saved: Saved, epoch: int) -> Group:
        group = explain(saved, epoch)
        group.journals_before[journal_id(1)] = 0
        return group

    with closing(new_place().open()) as other:
        with pytest.raises(StoreError):
            restore(other, tmp_path / "copy", explain=wrong)
        assert is_empty(other)
        restore(other, tmp_path / "copy", explain=explain)
        assert other.check().events == 10


def test_an_empty_store_can_be_copied_and_restored(
    store: Store, new_place: Callable[[], Place], tmp_path: Path
) -> None:
    store.backup(tmp_path / "empty", at_ms=5)
    with closing(new_place().open()) as other:
        restore(other, tmp_path / "empty", explain=EXPLAINED)
        assert other.check().events == 1


EXPORT = """\
{"format":"underfelt link export","version":1,"schema":3}
{"table":"leader","columns":["id","epoch","holder","lease_ms","renewed_ms"],"base64":[]}
"""


@pytest.mark.parametrize("kind", ["postgresql"], indirect=True)
def test_the_export_is_as_its_page_says(store: Store, tmp_path: Path) -> None:
    led(store)
    store.backup(tmp_path / "export", at_ms=5)
    lines = (tmp_path / "export").read_text("utf-8").splitlines()
    assert "\n".join(lines[:2]) + "\n" == EXPORT
    values = [json.loads(line) for line in lines]
    assert values[-1]["end"]["events"] == 1
    assert list(values[-1]["end"]) == [v["table"] for v in values if "table" in v]
    start = next(
        i for i, v in enumerate(values) if isinstance(v, dict) and v.get("table") == "events"
    )
    assert values[start]["base64"] == ["hash", "body", "chain"]
    assert values[start + 1][:5] == [1, 0, 1, 0, 0]
    assert values[start + 1][8] == "eyJ3aGF0Ijoib3BlbiJ9"
