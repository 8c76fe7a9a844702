"""Events: acknowledged when durable, none twice, none lost, in virtual time."""

from __future__ import annotations

import struct

import pytest

from drivers.base import MS
from drivers.orders import AcknowledgeReading
from drivers.readings import CardEvent, CardRead, SealedCard
from tests.drivers.cards.shoe_bench import (
    BEAT,
    BURN,
    CARD,
    HELLO,
    LOADED,
    NAK,
    bench,
    cards,
    events,
    in_session,
    read_card,
)
from tests.drivers.cards.wire import BOOT, Bench, beat, card, hello_r, status, wire

# --- acknowledgement ------------------------------------------------------------------------------


def test_a_card_is_not_acknowledged_before_it_is_on_disk() -> None:
    at = in_session()
    reading = read_card(at, 7, 1)
    for _ in range(5):
        at.wait(100 * MS)
        at.event(CARD, 7, card(1), again=True)
    assert at.acks() == []
    assert cards(at) == [(1, 0x29)]
    at.on_disk(reading)
    assert at.acks() == [7]
    assert at.driver.counters["copy of pending"] == 5


def test_after_a_lost_ack_every_copy_is_acknowledged_and_none_counted() -> None:
    at = in_session()
    at.on_disk(read_card(at, 7, 1))
    for _ in range(3):
        at.event(CARD, 7, card(1), again=True)
    assert at.acks() == [7, 7, 7, 7]
    assert cards(at) == [(1, 0x29)]


def test_a_lost_frame_is_taken_from_its_copy() -> None:
    at = in_session()
    broken = bytearray(wire(0x10, CARD, 1, 7, card(1)))
    broken[11] ^= 4
    at.line(bytes(broken))
    assert cards(at) == []
    at.event(CARD, 7, card(1), again=True)
    assert cards(at) == [(1, 0x29)]
    assert at.driver.counters["E-CDP-002"] == 1


def test_an_acknowledgement_of_something_else_does_nothing() -> None:
    at = in_session()
    reading = read_card(at, 7, 1)
    at.order(AcknowledgeReading("shuffler", reading.key))
    at.order(AcknowledgeReading("shoe", reading.key + 1))
    assert at.acks() == []
    at.on_disk(reading)
    at.on_disk(reading)
    assert at.acks() == [7]
    assert at.driver.counters["acknowledgements for nothing"] == 2


def test_a_device_that_does_not_wait_is_not_heard_until_the_first_is_on_disk() -> None:
    at = in_session()
    first = read_card(at, 1, 1)
    at.event(CARD, 2, card(2, 0x11))
    assert cards(at) == [(1, 0x29)]
    at.on_disk(first)
    at.event(CARD, 2, card(2, 0x11), again=True)
    assert cards(at) == [(1, 0x29), (2, 0x11)]


def test_keys_are_the_names_of_the_page_and_fit_a_journal() -> None:
    at = in_session()
    reading = read_card(at, 1, 1)
    assert reading.key == 0x20 << 56 | 12 << 28 | 1
    at.on_disk(reading)
    at.event(LOADED, 2, struct.pack("<IB", 13, 1))
    loaded = at.readings[-1]
    assert isinstance(loaded, CardEvent)
    assert loaded.key == 0x30 << 56 | 13
    at.on_disk(loaded)
    assert read_card(at, 3, 1).key == 0x20 << 56 | 13 << 28 | 1
    assert 0x7F << 56 < 1 << 63


def test_seq_wraps_from_ffff_to_0000() -> None:
    at = in_session()
    at.on_disk(read_card(at, 0xFFFF, 1))
    at.on_disk(read_card(at, 0x0000, 2))
    assert at.acks() == [0xFFFF, 0]
    assert at.states() == []


# --- order ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seq", [3, 9, 0x8000, 0])
def test_an_event_out_of_sequence_is_never_taken_before_a_new_session(seq: int) -> None:
    at = in_session()
    at.on_disk(read_card(at, 1, 1))
    at.event(CARD, seq, card(2))
    assert cards(at) == [(1, 0x29)]
    assert at.last(NAK).payload == b"\x06"
    assert at.kinds()[-1] == HELLO
    assert at.states() == ["unknown"]
    at.session(status(number=1, waiting=1))
    at.event(CARD, seq, card(2), again=True)
    assert cards(at) == [(1, 0x29), (2, 0x29)]


def test_frames_of_the_past_repeated_by_the_line_are_dropped() -> None:
    at = in_session()
    sent = []
    for number in (1, 2, 3):
        sent.append(wire(0x10, CARD, 1, number, card(number)))
        at.line(sent[-1])
        at.on_disk(at.readings[-1])
    for frame in sent * 3:
        at.line(frame)
    assert [draw for draw, _ in cards(at)] == [1, 2, 3]
    assert at.states() == []
    at.on_disk(read_card(at, 4, 4))


def test_a_gap_is_told_before_the_card_that_shows_it() -> None:
    at = in_session()
    at.on_disk(read_card(at, 1, 1))
    read_card(at, 2, 4)
    (gap,) = [it for it in at.readings if isinstance(it, CardEvent)]
    assert (gap.kind, gap.number, gap.count, gap.key) == ("gap", 2, 2, 0)
    assert at.readings.index(gap) == len(at.readings) - 2


def test_a_load_starts_the_numbers_anew_and_a_hole_after_it_is_a_gap() -> None:
    at = in_session(number=30)
    at.event(LOADED, 1, struct.pack("<IB", 13, 1))
    at.on_disk(at.readings[-1])
    at.event(BURN, 2, struct.pack("<I", 2))
    assert events(at) == [("loaded", 13), ("gap", 1), ("burn", 2)]


# --- restarts -------------------------------------------------------------------------------------


def restart(at: Bench, state: bytes, boot: int = BOOT + 1) -> None:
    at.boot = boot
    at.send(BEAT, 0, 0, beat(boot=boot, switches=4))
    at.session(state)


def test_a_restart_is_a_new_epoch_and_counting_goes_on() -> None:
    at = in_session()
    at.on_disk(read_card(at, 5, 1))
    restart(at, status(number=1))
    (epoch,) = [it for it in at.readings if isinstance(it, CardEvent) and it.kind == "new epoch"]
    assert (epoch.number, epoch.expected, epoch.result) == (BOOT + 1, BOOT, "restart")
    at.on_disk(read_card(at, 1, 2))
    assert [draw for draw, _ in cards(at)] == [1, 2]
    assert at.states() == ["unknown", "ready"]


def test_the_last_frame_repeated_after_a_reset_is_one_event() -> None:
    at = in_session()
    at.on_disk(read_card(at, 5, 1))
    restart(at, status(number=0, waiting=1))
    at.clear()
    for _ in range(4):
        at.event(CARD, 1, card(1), again=True)
    assert at.acks() == [1, 1, 1, 1]
    assert cards(at) == []
    at.on_disk(read_card(at, 2, 2))
    assert ("gap", 2) not in events(at)


def test_a_reset_while_the_card_is_on_its_way_to_the_disk() -> None:
    at = in_session()
    reading = read_card(at, 5, 1)
    restart(at, status(number=0, waiting=1))
    at.event(CARD, 1, card(1), again=True)
    assert cards(at) == [(1, 0x29)]
    assert at.acks() == []
    at.on_disk(reading)
    assert at.acks() == [1]


def test_a_card_made_durable_while_the_line_was_closed_is_acknowledged_on_return() -> None:
    at = in_session()
    reading = read_card(at, 5, 1)
    at.close()
    at.on_disk(reading)
    assert at.acks() == []
    at.open()
    at.session(status(number=0, waiting=1))
    at.event(CARD, 5, card(1), again=True)
    assert at.acks() == [5]
    assert cards(at) == [(1, 0x29)]


def test_a_counter_that_went_back_to_zero_is_a_new_epoch_at_the_status_already() -> None:
    at = in_session()
    at.on_disk(read_card(at, 1, 1))
    at.on_disk(read_card(at, 2, 2))
    restart(at, status(load=12, number=0))
    assert [it.result for it in at.readings if isinstance(it, CardEvent) and it.result] == [
        "restart",
        "backwards",
    ]
    # The same number and the same card as before, and yet another card: it must not disappear.
    read_card(at, 1, 1)
    assert [draw for draw, _ in cards(at)] == [1, 2, 1]


def test_a_counter_that_goes_back_without_a_restart_is_a_new_epoch() -> None:
    at = in_session(number=6)
    at.on_disk(read_card(at, 1, 7))
    at.event(CARD, 2, card(3, 0x11))
    epoch, taken = at.readings[-2:]
    assert isinstance(epoch, CardEvent)
    assert (epoch.kind, epoch.number, epoch.expected) == ("new epoch", 3, 8)
    assert epoch.result == "backwards"
    assert isinstance(taken, CardRead)
    at.on_disk(taken)
    at.on_disk(read_card(at, 3, 4))
    assert events(at) == [("new epoch", 3)]


def test_a_number_used_again_for_another_card_is_not_taken_for_a_copy() -> None:
    at = in_session()
    at.on_disk(read_card(at, 1, 1))
    at.event(CARD, 2, card(1, 0x11))
    assert events(at) == [("new epoch", 1)]
    assert cards(at) == [(1, 0x29), (1, 0x11)]


def test_cards_acknowledged_by_somebody_else_are_a_gap() -> None:
    at = in_session()
    at.on_disk(read_card(at, 1, 1))
    at.close()
    at.open()
    at.session(status(number=4))
    (gap,) = [it for it in at.readings if isinstance(it, CardEvent) and it.kind == "gap"]
    assert (gap.number, gap.count) == (2, 3)


def test_a_load_nobody_saw_is_a_gap_of_unknown_size() -> None:
    at = in_session(number=9)
    at.close()
    at.open()
    at.session(status(load=14, number=2))
    (gap,) = [it for it in at.readings if isinstance(it, CardEvent) and it.kind == "gap"]
    assert (gap.number, gap.count) == (10, 0)


def test_a_host_that_restarts_with_its_keys_drops_the_copy_and_sees_the_gap() -> None:
    keys = [0x30 << 56 | 12, 0x20 << 56 | 12 << 28 | 1, 0x20 << 56 | 12 << 28 | 2]
    at = bench(durable=keys)
    at.open()
    at.session(status(load=12, number=1, waiting=1))
    at.clear()
    at.event(CARD, 77, card(2), again=True)
    assert at.acks() == [77]
    assert cards(at) == []
    at.event(CARD, 78, card(4))
    assert events(at) == [("gap", 3)]
    assert cards(at) == [(4, 0x29)]


def test_a_host_that_restarts_without_keys_starts_where_the_device_stands() -> None:
    at = bench()
    at.open()
    at.session(status(load=12, number=20, waiting=1))
    at.clear()
    read_card(at, 900, 21)
    assert events(at) == []


def test_events_before_the_status_is_known_are_not_taken() -> None:
    at = bench()
    at.open()
    at.event(CARD, 1, card(1))
    at.send(0x02, 0, 0, hello_r())
    at.event(CARD, 1, card(1), again=True)
    assert cards(at) == []
    assert at.acks() == []
    assert NAK not in at.kinds()


def test_a_fresh_event_under_a_used_name_is_no_copy_even_with_the_same_contents() -> None:
    at = in_session()
    at.on_disk(read_card(at, 1, 1))
    at.event(CARD, 2, card(1))
    assert events(at) == [("new epoch", 1)]
    assert cards(at) == [(1, 0x29), (1, 0x29)]


def test_a_load_whose_ack_was_lost_still_counts_for_the_cards_after_it() -> None:
    at = in_session(number=30)
    at.event(LOADED, 1, struct.pack("<IB", 13, 1))
    at.on_disk(at.readings[-1])
    at.close()
    at.open()
    at.session(status(load=12, number=30, waiting=1))
    at.clear()
    at.event(LOADED, 1, struct.pack("<IB", 13, 1), again=True)
    assert at.acks() == [1]
    assert read_card(at, 2, 1).key == 0x20 << 56 | 13 << 28 | 1
    assert events(at) == []


def test_a_sealed_card_stays_sealed_in_every_word_about_it() -> None:
    at = in_session()
    reading = read_card(at, 1, 1, code=0x3D)
    assert reading.card == SealedCard(0x3D)
    for shown in (repr(reading), repr(at.driver.counters), repr(at.driver._inbox._pending)):
        assert "3D" not in shown.upper()
        assert "61" not in shown
