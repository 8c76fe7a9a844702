"""A card takes one way through the table: nothing is stepped, encoded or handed over twice."""

from __future__ import annotations

from tests.trace.card import first_card


def test_a_card_is_stepped_once() -> None:
    assert first_card().count("controller/rules/engine/step.py", "step") == 1


def test_a_card_is_encoded_once_and_appended_once() -> None:
    trace = first_card()
    assert trace.count("controller/history/entries.py", "encode_entry") == 1
    assert trace.count("controller/history/table_log.py", "apply") == 1
    assert trace.count("record/journal/journal.py", "append") == 1


def test_a_card_is_handed_to_the_writer_once_and_synced_once() -> None:
    trace = first_card()
    assert trace.count("controller/daemon/writer.py", "work") == 1
    assert trace.count("record/journal/journal.py", "sync") == 1


def test_what_reads_the_journal_takes_no_part_in_writing_it() -> None:
    """But for the felt and the words of the feed: one form for live tables and past rounds."""
    shared = {f"controller/replay/{name}.py" for name in ("felt", "telling", "words")}
    files = set(first_card().files) - shared
    assert not [f for f in files if f.startswith(("controller/replay/", "controller/evidence/"))]


def test_each_order_that_follows_from_a_card_goes_to_one_device() -> None:
    orders = first_card().orders
    assert orders
    assert set(orders.values()) == {1}, orders
