"""Receipts: what the server signed with its acks finds a store that went back without a word."""

from __future__ import annotations

import shutil
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from link.receipts import Receipts
from link.store.backup import restore
from link.store.errors import Rewound
from record.link.messages import NO_HASH, Receipt
from tests.link.server.house import House, Live
from tests.link.store.book import restore_order
from tests.link.stranger import Stranger
from tests.patience import PATIENCE_S

KEY, OTHER = b"k" * 32, b"o" * 32


# --- by themselves -------------------------------------------------------------------------------


def test_a_receipt_is_known_by_whoever_has_the_key_and_by_nobody_else() -> None:
    made = Receipts([KEY]).make(3, 7, "ab" * 32, (2, "cd" * 32))
    assert (made.epoch, made.event, made.staff) == (3, 7, 2)
    assert Receipts([KEY]).verdict(made) == "ours"
    assert Receipts([OTHER, KEY]).verdict(made) == "ours"
    assert Receipts([OTHER]).verdict(made) == "another key"


def test_the_mac_is_what_the_page_says() -> None:
    """Written again from docs/protocols/link.md, with nothing of ours."""
    import hashlib
    import hmac

    made = Receipts([KEY]).make(3, 7, "", (0, ""))
    key = hmac.new(KEY, b"underfelt link receipts 1", hashlib.sha256).digest()
    text = f"3\n7\n{NO_HASH}\n0\n{NO_HASH}"
    assert made.key == hashlib.sha256(key).hexdigest()[:16]
    assert made.mac == hmac.new(key, text.encode(), hashlib.sha256).hexdigest()


@given(
    field=st.sampled_from(["epoch", "event", "chain", "staff", "staff_head", "mac"]),
    by=st.integers(1, 1 << 40),
)
def test_whatever_is_changed_in_a_receipt_makes_it_forged(field: str, by: int) -> None:
    import msgspec

    receipts = Receipts([KEY])
    made = receipts.make(3, 7, "ab" * 32, (2, "cd" * 32))
    value = getattr(made, field)
    other = value + by if isinstance(value, int) else f"{(int(value, 16) ^ by):064x}"
    assert receipts.verdict(msgspec.structs.replace(made, **{field: other})) == "forged"


# --- with a server -------------------------------------------------------------------------------


def played(table: Stranger, first: int, last: int) -> None:
    for number in range(first, last + 1):
        table.wager(number, 500)
    table.deliver()


def ended(live: Live) -> BaseException:
    live.thread.join(PATIENCE_S)
    assert not live.thread.is_alive()
    (failed,) = live.failed
    return failed


def held(table: Stranger) -> Receipt:
    assert table.receipt is not None
    return Receipt(*table.receipt)


def test_acks_and_checkpoints_carry_where_the_store_is(house: House) -> None:
    live = house.start()
    table = house.stranger("table-1", live)
    table.join()
    played(table, 1, 3)
    acked = held(table)
    assert acked.epoch == live.ask("status")["epoch"]
    table.receipt = None
    event = table.events[-1]
    table.send({"t": "checkpoint", "seq": event["seq"], "hash": event["hash"], "at_ms": 1})
    table.until(lambda m: m["t"] == "noted")
    assert held(table) == acked
    live.stop()
    with closing(house.store()) as store:
        assert store.chain_of(acked.event) == acked.chain


def test_a_table_of_version_2_gets_none(house: House) -> None:
    live = house.start()
    table = house.stranger("table-1", live, versions=(2, 1))
    table.join()
    played(table, 1, 3)
    assert table.receipt is None


def went_back(house: House, *, events: int = 20) -> tuple[Stranger, Live]:
    """A store whose newest part is gone: it is put back as it was after five events."""
    live = house.start()
    table = house.stranger("table-1", live)
    table.join()
    played(table, 1, 5)
    live.stop()
    old = Path(f"{house.where}.old")
    shutil.copy(house.where, old)
    live = house.start()
    table.endpoint = live.endpoint
    table.join()
    played(table, 6, events)
    live.stop()
    shutil.copy(old, house.where)
    live = house.start()
    table.endpoint = live.endpoint
    return table, live


def test_a_store_that_went_back_stops_the_server_which_names_what_is_missing(house: House) -> None:
    table, live = went_back(house)
    shown = held(table)
    table.join()
    failed = ended(live)
    assert isinstance(failed, Rewound)
    assert failed.exit_code == 65
    assert f"for event {shown.event}" in str(failed)
    assert "missing 15 events" in str(failed)
    # It does not start again either, and takes nothing meanwhile.
    assert isinstance(ended(house.start(wait=False)), Rewound)


def test_a_store_that_went_back_and_went_on_is_found_too(house: House) -> None:
    """Tables without receipts have brought it beyond the event that was lost."""
    table, live = went_back(house)
    other = house.stranger("table-2", live, versions=(2, 1))
    other.join()
    played(other, 1, 60)
    table.join()
    failed = ended(live)
    assert isinstance(failed, Rewound)
    assert "continued differently" in str(failed)


def test_a_restore_that_people_announced_explains_it(house: House, tmp_path: Path) -> None:
    table, live = went_back(house)
    live.stop()
    with closing(house.store()) as store:
        store.backup(tmp_path / "backup", at_ms=5)
    old, house.where = house.where, str(tmp_path / "new.db")
    assert old != house.where
    from link.store import open_store

    with closing(open_store(house.where, create=True)) as store:
        store.migrate(at_ms=6)
        by = (("m.ng", "manager"), ("k.lee", "supervisor"))
        restore(store, tmp_path / "backup", explain=restore_order(by, "disk", 7))
    live = house.start()
    table.endpoint = live.endpoint
    assert table.join()["n"] == 5
    table.deliver()
    assert live.meter() == 100_100
    assert live.alarms() == []


def test_a_forged_receipt_halts_its_own_journal_and_nothing_else(house: House) -> None:
    live = house.start()
    table = house.stranger("table-1", live)
    table.join()
    played(table, 1, 3)
    assert table.receipt is not None
    table.receipt[1] += 1_000
    table.join()
    refused = table.until(lambda m: m["t"] == "refused")
    assert (refused["code"], refused["halted"]) == ("E-LNK-023", True)
    other = house.stranger("table-2", live)
    other.join()
    played(other, 1, 3)
    assert [alarm["code"] for alarm in live.alarms()] == ["E-LNK-023"]
    assert live.failed == []


def test_a_receipt_of_a_key_that_was_replaced_changes_nothing(house: House) -> None:
    live = house.start()
    table = house.stranger("table-1", live)
    table.join()
    played(table, 1, 3)
    made = Receipts([OTHER]).make(9, 999, "ab" * 32, (0, ""))
    table.receipt = [getattr(made, name) for name in Receipt.__struct_fields__]
    table.join()
    played(table, 4, 6)
    assert live.alarms() == []


@pytest.mark.parametrize("ahead", [1, 5])
def test_an_epoch_that_was_given_before_is_never_given_again(house: House, ahead: int) -> None:
    """The events are all there, but the store has forgotten who led."""
    live = house.start()
    table = house.stranger("table-1", live)
    table.join()
    played(table, 1, 3)
    known = held(table)
    made = Receipts([_secret(house)]).make(known.epoch + ahead, known.event, known.chain, (0, ""))
    table.receipt = [getattr(made, name) for name in Receipt.__struct_fields__]
    table.join()
    live.until(lambda: live.ask("status")["epoch"] > known.epoch + ahead)
    table.join()
    played(table, 4, 6)
    assert held(table).epoch == known.epoch + ahead + 1


def _secret(house: House) -> bytes:
    from record.link.keys import decode_z85

    return decode_z85(house.server_keys[1].decode()) or b""
