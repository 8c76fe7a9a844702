"""What shoe and shuffler report of each message, and that nothing else ever comes out of them."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from drivers.base import MS, SECOND, DeviceIdentified, Reopen, StateReported, Write
from drivers.cards.devices import ShoeDriver, ShufflerDriver
from drivers.cards.driver import CardDriver
from drivers.orders import AcknowledgeReading, LockCards, RequestDeckCheck
from drivers.readings import CardEvent, CardRead, MetersRead, PacketRead, SealedCard
from tests.drivers.cards.wire import Bench, beat, card, hello_r, status, wire

METERS, DECK_VERIFY, NAK = 0x50, 0x44, 0x7F


def shoe() -> Bench:
    at = Bench(ShoeDriver("shoe", "SH-000001"))
    at.open()
    at.session(status(number=9))
    at.clear()
    return at


def shuffler(state: bytes | None = None) -> Bench:
    at = Bench(ShufflerDriver("shuffler", "SH-000001"), dev=0x11)
    at.open()
    at.session(status(load=310, number=0) if state is None else state)
    at.clear()
    return at


def meters(at: Bench) -> None:
    at.send(METERS, 0, at.last(METERS).seq, struct.pack("<IIII", 4711, 12, 245000, 98))


def only(at: Bench) -> object:
    (reading,) = at.readings
    return reading


@pytest.mark.parametrize(
    ("kind", "payload", "expected"),
    [
        (0x21, struct.pack("<I", 10), ("burn", 10, 0, "")),
        (0x22, struct.pack("<IH", 10, 14), ("cut card", 10, 14, "")),
        (0x23, struct.pack("<I", 9), ("returned", 9, 0, "")),
        (0x24, struct.pack("<IBB", 10, 1, 0), ("misread", 10, 0, "")),
        (0x25, struct.pack("<IB", 10, 2), ("double feed", 10, 2, "")),
        (0x30, struct.pack("<IB", 13, 1), ("loaded", 13, 1, "")),
        (0x31, struct.pack("<IB", 12, 1), ("empty", 12, 1, "")),
        (0x32, struct.pack("<IB", 5, 3), ("jam", 5, 0, "elevator")),
        (0x33, struct.pack("<I", 5), ("jam cleared", 5, 0, "")),
        (0x34, struct.pack("<IBB", 21, 1, 1), ("door opened", 21, 0, "lid")),
        (0x34, struct.pack("<IBB", 22, 2, 0), ("door closed", 22, 0, "service")),
    ],
)
def test_what_the_shoe_reports(kind: int, payload: bytes, expected: tuple[object, ...]) -> None:
    at = shoe()
    at.event(kind, 1, payload)
    event = only(at)
    assert isinstance(event, CardEvent)
    assert (event.kind, event.number, event.count, event.result) == expected
    assert (event.device, event.at_us) == ("shoe", at.now)
    at.on_disk(event)
    assert at.acks() == [1]


def test_a_card_is_read() -> None:
    at = shoe()
    at.event(0x20, 1, card(10, 0x3D))
    reading = only(at)
    assert isinstance(reading, CardRead)
    assert (reading.device, reading.draw_no, reading.at_us) == ("shoe", 10, at.now)
    assert reading.card == SealedCard(0x3D)


@pytest.mark.parametrize(
    ("payload", "read"),
    [
        (card(10, confidence=60), True),
        (card(10, confidence=59), False),
        (card(10, err=1), False),
        (card(10, err=200), False),
        (card(10, code=0xFF), False),
        (card(10, code=0xF0), True),
    ],
)
def test_a_card_the_shoe_is_not_sure_of_is_a_misread_and_never_a_guess(
    payload: bytes, read: bool
) -> None:
    at = shoe()
    at.event(0x20, 1, payload)
    reading = only(at)
    if read:
        assert isinstance(reading, CardRead)
    else:
        assert isinstance(reading, CardEvent)
        assert (reading.kind, reading.number) == ("misread", 10)
        assert reading.key > 0
    at.on_disk(reading)
    assert at.acks() == [1]


def test_every_pull_takes_a_number_and_a_return_takes_none() -> None:
    at = shoe()
    pulls = [
        (0x20, card(10)),
        (0x23, struct.pack("<I", 10)),
        (0x24, struct.pack("<IBB", 11, 1, 0)),
        (0x25, struct.pack("<IB", 12, 3)),
        (0x22, struct.pack("<IH", 13, 14)),
        (0x21, struct.pack("<I", 14)),
        (0x20, card(15)),
    ]
    for seq, (kind, payload) in enumerate(pulls):
        at.event(kind, seq, payload)
        at.on_disk(at.readings[-1])
    assert [it.kind for it in at.readings if isinstance(it, CardEvent)] == [
        "returned",
        "misread",
        "double feed",
        "cut card",
        "burn",
    ]


@pytest.mark.parametrize("kind", [0x42, 0x45, 0x50])
def test_a_shoe_that_speaks_like_a_shuffler_is_refused(kind: int) -> None:
    at = shoe()
    at.event(kind, 1, bytes.fromhex("01 01 01 01"))
    assert at.readings == []
    assert at.last(NAK).payload == b"\x01"


def test_a_shoe_takes_no_deck_check_and_asks_for_no_meters() -> None:
    at = shoe()
    at.order(RequestDeckCheck("red"))
    at.wait(2 * SECOND, beating=True, switches=4)
    assert set(at.kinds()) == {0x04}


# --- shuffler -------------------------------------------------------------------------------------


def counted(kind: int, number: int, cards: int, result: int, deck: int) -> tuple[int, bytes]:
    return kind, struct.pack("<IHHBB", number, cards, 52, result, deck)


@pytest.mark.parametrize(
    ("frame", "expected"),
    [
        (counted(0x40, 311, 0, 0, 1), ("shuffle started", 311, 0, 52, "", "red")),
        (counted(0x41, 310, 52, 0, 2), ("shuffle ended", 310, 52, 52, "ok", "blue")),
        (counted(0x41, 310, 51, 1, 2), ("shuffle ended", 310, 51, 52, "short", "blue")),
        (counted(0x41, 310, 53, 2, 2), ("shuffle ended", 310, 53, 52, "long", "blue")),
        (counted(0x41, 310, 9, 3, 2), ("shuffle ended", 310, 9, 52, "jam", "blue")),
        (counted(0x41, 310, 52, 4, 2), ("shuffle ended", 310, 52, 52, "unreadable", "blue")),
        (counted(0x41, 310, 0, 5, 2), ("shuffle ended", 310, 0, 52, "aborted", "blue")),
        (counted(0x45, 17, 52, 0, 1), ("deck verified", 17, 52, 52, "ok", "red")),
        (counted(0x45, 17, 52, 6, 1), ("deck verified", 17, 52, 52, "wrong cards", "red")),
        ((0x43, b"\x01"), ("packet removed", 1, 0, 0, "", "")),
        ((0x32, struct.pack("<IB", 5, 4)), ("jam", 5, 0, 0, "output", "")),
        ((0x34, struct.pack("<IBB", 21, 2, 1)), ("door opened", 21, 0, 0, "service", "")),
    ],
)
def test_what_the_shuffler_reports(frame: tuple[int, bytes], expected: tuple[object, ...]) -> None:
    at = shuffler()
    at.event(frame[0], 1, frame[1])
    event = only(at)
    assert isinstance(event, CardEvent)
    told = (event.kind, event.number, event.count, event.expected, event.result, event.deck)
    assert told == expected
    at.on_disk(event)
    assert at.acks() == [1]


def test_a_packet_is_read_from_the_bottom_up() -> None:
    at = shuffler()
    at.event(0x42, 1, bytes.fromhex("01 02 03 01 1D 3A"))
    packet = only(at)
    assert isinstance(packet, PacketRead)
    assert (packet.device, packet.packet_no, packet.deck) == ("shuffler", 1, "blue")
    assert [it.unseal() for it in packet.cards] == [0x01, 0x1D, 0x3A]
    assert packet.key == 0x42 << 56 | 310 << 28 | 1
    assert "1D" not in repr(packet)
    assert at.acks() == []
    at.on_disk(packet)
    assert at.acks() == [1]


def test_a_packet_with_an_unreadable_card_is_a_misread_as_a_whole() -> None:
    at = shuffler()
    at.event(0x42, 1, bytes.fromhex("01 02 03 01 FF 3A"))
    event = only(at)
    assert isinstance(event, CardEvent)
    assert (event.kind, event.number, event.count, event.deck) == ("misread", 1, 3, "blue")


def test_a_missing_packet_is_a_gap_and_a_shuffle_starts_the_numbers_anew() -> None:
    at = shuffler()
    for seq, (kind, payload) in enumerate(
        [
            (0x42, bytes.fromhex("01 01 01 01")),
            (0x42, bytes.fromhex("03 01 01 02")),
            counted(0x40, 311, 0, 0, 2),
            counted(0x41, 311, 52, 0, 2),
            (0x42, bytes.fromhex("01 02 01 03")),
        ]
    ):
        at.event(kind, seq, payload)
        at.on_disk(at.readings[-1])
    kinds = [it.kind if isinstance(it, CardEvent) else "packet" for it in at.readings]
    assert kinds == ["packet", "gap", "packet", "shuffle started", "shuffle ended", "packet"]


def test_meters_are_asked_on_connecting_and_every_minute() -> None:
    at = Bench(ShufflerDriver("shuffler", "SH-000001"), dev=0x11)
    at.open()
    at.session()
    meters(at)
    read = at.readings[-1]
    assert isinstance(read, MetersRead)
    assert dict(read.meters) == {
        "shuffles ok": 4711,
        "shuffles failed": 12,
        "cards": 245000,
        "door openings": 98,
    }
    at.clear()
    at.wait(59 * SECOND, beating=True, switches=4)
    assert METERS not in at.kinds()
    at.wait(1_050 * MS, beating=True, switches=4)
    meters(at)
    assert [type(it) for it in at.readings] == [MetersRead]


def answered(at: Bench) -> Bench:
    """The meters that every session asks for are out of the way."""
    at.send(METERS, 0, 3, bytes(16))
    at.clear()
    return at


def test_a_deck_check_is_asked_for_once_by_the_colour_of_the_deck() -> None:
    at = answered(shuffler())
    at.order(RequestDeckCheck("blue"))
    assert at.last(DECK_VERIFY).payload == b"\x02"
    at.acknowledge_all()
    at.order(RequestDeckCheck("green"))
    at.wait(2 * SECOND, beating=True, switches=4)
    assert at.kinds().count(DECK_VERIFY) == 1
    assert at.driver.counters["unknown decks"] == 1


def test_a_deck_check_that_is_refused_is_told() -> None:
    at = answered(shuffler())
    at.order(RequestDeckCheck("red"))
    at.send(NAK, 0, at.last(DECK_VERIFY).seq, b"\x03")
    told = only(at)
    assert isinstance(told, CardEvent)
    assert (told.kind, told.result, told.deck, told.key) == ("deck verified", "refused", "red", 0)


def test_a_deck_check_ordered_while_the_device_is_away_is_asked_on_its_return() -> None:
    at = answered(shuffler())
    at.close()
    at.order(RequestDeckCheck("red"))
    at.open()
    at.session()
    at.acknowledge_all()
    assert at.kinds().count(DECK_VERIFY) == 1


def test_a_lock_never_waits_behind_a_deck_check_or_meters() -> None:
    at = Bench(ShufflerDriver("shuffler", "SH-000001"), dev=0x11)
    at.open()
    at.order(RequestDeckCheck("red"))
    at.order(LockCards(locked=True))
    at.send(0x02, 0, 0, hello_r())
    at.answer_status()
    at.acknowledge_all()
    wanted = [kind for kind in at.kinds() if kind in (0x60, DECK_VERIFY, METERS)]
    assert wanted == [0x60, DECK_VERIFY, METERS]


# --- anything at all ------------------------------------------------------------------------------

OUT = (Write, Reopen, StateReported, DeviceIdentified, CardRead, CardEvent, PacketRead, MetersRead)
payloads = st.one_of(
    st.binary(max_size=45),
    st.builds(card, st.integers(0, 5), st.sampled_from([0x01, 0x29, 0xFF, 0xF1])),
    st.builds(status, st.integers(0, 3), st.integers(0, 5), st.integers(0, 2)),
    st.builds(beat, st.sampled_from([0x2A, 7]), st.integers(0, 15)),
    st.builds(hello_r, st.sampled_from(["SH-000001", "X"]), boot=st.sampled_from([0x2A, 7])),
)
steps = st.one_of(
    st.tuples(
        st.just("frame"),
        st.builds(
            wire,
            st.sampled_from([0x10, 0x10, 0x10, 0x11, 0x00]),
            st.sampled_from([0x02, 0x03, 0x04, 0x20, 0x21, 0x30, 0x32, 0x42, 0x7E, 0x7F]),
            st.sampled_from([0, 1, 3]),
            st.integers(0, 6),
            payloads,
        ),
    ),
    st.tuples(st.just("noise"), st.binary(max_size=40)),
    st.tuples(st.just("wait"), st.integers(1, 1_500)),
    st.tuples(st.sampled_from(["open", "close", "disk", "lock", "unlock", "check"]), st.just(0)),
)


@given(st.sampled_from([ShoeDriver, ShufflerDriver]), st.lists(steps, max_size=25))
@settings(max_examples=150)
def test_whatever_the_line_does_the_driver_stands(
    kind: type[CardDriver], script: list[tuple[str, bytes | int]]
) -> None:
    """No exception, no endless waking, no event acknowledged that was not ordered to be."""
    at = Bench(kind("cards", "SH-000001"), dev=kind.dev)
    at.open()
    at.session(status(load=1))
    acknowledged = 0
    for step, value in script:
        if isinstance(value, bytes):
            at.line(value)
        match step:
            case "open":
                at.open()
            case "close":
                at.close()
            case "wait":
                at.wait(int(value) * MS)
            case "lock" | "unlock":
                at.order(LockCards(locked=step == "lock"))
            case "check":
                at.order(RequestDeckCheck("red"))
            case "disk":
                keys = [getattr(it, "key", 0) for it in at.readings]
                if any(keys):
                    acknowledged += 1
                    at.order(AcknowledgeReading("cards", [key for key in keys if key][-1]))
    assert all(isinstance(reading, OUT) for reading in at.readings)
    if not acknowledged:
        assert at.acks() == []
    named = [getattr(it, "key", 0) for it in at.readings if getattr(it, "key", 0)]
    assert len(named) <= acknowledged + 1
