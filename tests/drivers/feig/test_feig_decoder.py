"""The law of the decoder: what it never accepts, never loses and never lets grow."""

from __future__ import annotations

from itertools import combinations, pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from drivers.base import Fault
from drivers.feig import faults
from drivers.feig.codec import (
    GAP_US,
    MAX_BURST,
    MAX_FRAME,
    SILENCE_US,
    Decoder,
    Frame,
    encode,
)
from tests.drivers.feig.vectors import frame, frames, heard, octets

NO_TAG = frame("no transponder, advanced")
NO_TAG_STANDARD = frame("no transponder, standard")
SELECTED = frame("output selected")
VERSION_STANDARD = frame("software version answered, standard")
ONE_TAG = octets("02 00 13 01 B0 00 01 03 00 E0 04 01 00 12 34 56 78 E9 0F")
TWO_TAGS = frame("two ISO 15693 tags, advanced")

some_frames = st.builds(
    Frame,
    address=st.integers(0, 255),
    command=st.integers(0, 255),
    body=st.binary(max_size=60),
    advanced=st.booleans(),
    isolated=st.just(True),
)


def flipped(data: bytes, bits: int) -> bytes:
    """Flip these bits, numbered as the line sends them: each byte's low bit first."""
    return (int.from_bytes(data, "little") ^ bits).to_bytes(len(data), "little")


def accepted(data: bytes) -> list[Frame]:
    return frames(heard(data))


@pytest.mark.parametrize(
    ("data", "most"),
    [(NO_TAG_STANDARD, 3), (NO_TAG, 3), (ONE_TAG, 2), (TWO_TAGS, 2)],
    ids=["6 bytes", "8 bytes", "19 bytes", "29 bytes"],
)
def test_no_frame_with_a_few_flipped_bits_is_accepted(data: bytes, most: int) -> None:
    for count in range(1, most + 1):
        for bits in combinations(range(8 * len(data)), count):
            assert not accepted(flipped(data, sum(1 << bit for bit in bits))), bits


@pytest.mark.slow
@pytest.mark.parametrize("data", [VERSION_STANDARD, ONE_TAG], ids=["13 bytes", "19 bytes"])
def test_no_frame_with_three_flipped_bits_is_accepted(data: bytes) -> None:
    for bits in combinations(range(8 * len(data)), 3):
        assert not accepted(flipped(data, sum(1 << bit for bit in bits))), bits


@pytest.mark.parametrize("at", [0, 5, 8, 30, 48])
def test_no_frame_with_an_error_burst_of_sixteen_bits_is_accepted(at: int) -> None:
    for pattern in range(1, 1 << 16):
        assert not accepted(flipped(NO_TAG, pattern << at)), (at, pattern)


@pytest.mark.slow
def test_no_frame_with_any_error_burst_of_sixteen_bits_is_accepted() -> None:
    for at in range(8 * len(NO_TAG) - 15):
        for pattern in range(1, 1 << 16, 2):
            assert not accepted(flipped(NO_TAG, pattern << at)), (at, pattern)


@given(some_frames, st.data())
def test_no_frame_damaged_within_the_law_is_accepted_alone(
    made: Frame, data: st.DataObject
) -> None:
    sent = encode(made)
    size = 8 * len(sent)
    few = st.lists(st.integers(0, size - 1), min_size=1, max_size=3, unique=True).map(
        lambda bits: sum(1 << bit for bit in bits)
    )
    burst = st.builds(lambda p, at: p << at, st.integers(1, 0xFFFF), st.integers(0, size - 16))
    bits = data.draw(st.one_of(few, burst))
    assert not any(found.isolated for found in accepted(flipped(sent, bits)))


def test_a_frame_found_behind_a_damaged_one_is_not_alone() -> None:
    """A tag's identifier may hold bytes that are a frame, and a flipped length point at them."""
    damaged = octets("08 01 B0 00 01 03 00 E0") + NO_TAG
    assert [found.isolated for found in accepted(damaged)] == [False]


@st.composite
def splits(draw: st.DrawFn, data: bytes) -> list[tuple[int, bytes]]:
    """The bytes in any split, with gaps that a frame may have; times start at one second."""
    cuts = sorted(draw(st.sets(st.integers(1, len(data) - 1), max_size=8)))
    now = 1_000_000
    out = []
    for start, end in pairwise([0, *cuts, len(data)]):
        out.append((now, data[start:end]))
        now += draw(st.integers(0, GAP_US))
    return out


@given(some_frames, st.data())
def test_any_split_with_legal_gaps_gives_the_frame(made: Frame, data: st.DataObject) -> None:
    decoder = Decoder()
    out: list[Frame | Fault] = []
    now = 0
    for now, part in data.draw(splits(encode(made))):
        out += decoder.feed(part, now)
    out += decoder.quiet(now + SILENCE_US)
    assert out == [made]


@given(st.lists(some_frames, min_size=1, max_size=4))
def test_glued_frames_all_come_out(made: list[Frame]) -> None:
    found = accepted(b"".join(encode(one) for one in made))
    assert [encode(one) for one in found] == [encode(one) for one in made]
    assert all(one.isolated for one in found) == (len(made) == 1)


@given(st.binary(max_size=300), st.integers(SILENCE_US, 40_000), some_frames, st.booleans())
@example(octets("02 00 40 01 B0 00"), 6_000, Frame(1, 0xB0, b"\x01", True), False)
@example(octets("10 01 B0 00"), 6_000, Frame(1, 0xB0, b"\x01", True), False)
@example(octets("02 00 0C 01"), 6_000, Frame(1, 0xB0, b"\x01", True), False)
def test_a_frame_after_a_silence_is_never_lost(
    noise: bytes, silence_us: int, made: Frame, asked: bool
) -> None:
    decoder = Decoder()
    decoder.feed(noise, 1_000_000)
    now = 1_000_000 + silence_us
    before = decoder.quiet(now) if asked else []
    after = heard(encode(made), decoder, now)
    assert encode(made) in [encode(one) for one in frames(before + after)]


@given(some_frames, st.integers(1, 0xFF), st.data())
def test_a_damaged_frame_costs_the_next_one_nothing(
    made: Frame, flips: int, data: st.DataObject
) -> None:
    sent = bytearray(encode(made))
    sent[data.draw(st.integers(0, len(sent) - 1))] ^= flips
    decoder = Decoder()
    silence_us = data.draw(st.integers(SILENCE_US, 20_000))
    decoder.feed(bytes(sent), 1_000_000)
    assert [encode(one) for one in frames(heard(NO_TAG, decoder, 1_000_000 + silence_us))] == [
        NO_TAG
    ]


def test_two_frames_after_a_broken_one_within_short_silences_both_come_out() -> None:
    decoder = Decoder()
    out = decoder.feed(octets("02 01 00 01 B0"), 0)
    out += decoder.feed(SELECTED, 6_000)
    out += decoder.feed(NO_TAG, 12_000)
    out += decoder.quiet(12_000 + GAP_US + 1)
    assert [encode(one) for one in frames(out)] == [SELECTED, NO_TAG]
    assert [item.code for item in out if isinstance(item, Fault)] == [faults.BROKEN_OFF]


def test_a_frame_counts_only_after_five_milliseconds_of_silence() -> None:
    decoder = Decoder()
    assert decoder.feed(NO_TAG, 0) == []
    assert decoder.quiet_at_us == SILENCE_US
    assert decoder.quiet(SILENCE_US - 1) == []
    assert len(decoder.quiet(SILENCE_US)) == 1
    assert decoder.quiet_at_us is None


def test_a_gap_of_twelve_milliseconds_is_legal_and_a_longer_one_breaks_the_frame() -> None:
    decoder = Decoder()
    decoder.feed(NO_TAG[:4], 0)
    decoder.feed(NO_TAG[4:], GAP_US)
    assert len(frames(decoder.quiet(GAP_US + SILENCE_US))) == 1
    decoder.feed(NO_TAG[:4], 100_000)
    assert decoder.quiet(100_000 + SILENCE_US) == []
    assert decoder.quiet_at_us == 100_000 + GAP_US + 1
    (broken, *rest) = decoder.feed(NO_TAG[4:], 100_000 + GAP_US + 1)
    assert isinstance(broken, Fault)
    assert broken.code == faults.BROKEN_OFF
    assert rest == []
    assert frames(decoder.quiet(200_000)) == []


def test_feeding_after_a_silence_hands_over_what_the_silence_completed() -> None:
    decoder = Decoder()
    decoder.feed(SELECTED, 0)
    (found,) = decoder.feed(NO_TAG, SILENCE_US)
    assert isinstance(found, Frame)
    assert found.command == 0xDD


def test_the_rest_of_a_failed_burst_is_not_alone() -> None:
    decoder = Decoder()
    decoder.feed(octets("06 00 B0 01 5C 64"), 0)
    assert frames(decoder.quiet(SILENCE_US)) == []
    (soon,) = frames(heard(NO_TAG, decoder, GAP_US))
    assert not soon.isolated
    (later,) = frames(heard(NO_TAG, decoder, 1_000_000))
    assert later.isolated


def test_a_burst_is_bounded_and_the_frame_after_it_is_heard() -> None:
    decoder = Decoder()
    codes = []
    for step in range(3 * MAX_BURST):
        codes += decoder.feed(b"\x02\x04\x00", step)
    assert [item.code for item in codes if isinstance(item, Fault)] == [faults.BURST_TOO_LONG]
    (found,) = frames(heard(NO_TAG, decoder, 3 * MAX_BURST + SILENCE_US))
    assert encode(found) == NO_TAG


def test_the_longest_frame_is_accepted_and_one_byte_more_cannot_be_made() -> None:
    longest = Frame(1, 0xB0, bytes(MAX_FRAME - 7), advanced=True)
    assert accepted(encode(longest)) == [longest]
    with pytest.raises(ValueError, match="1025"):
        encode(Frame(1, 0xB0, bytes(MAX_FRAME - 6), advanced=True))
    with pytest.raises(ValueError, match="256"):
        encode(Frame(1, 0xB0, bytes(251), advanced=False))


@given(
    st.lists(
        st.tuples(st.binary(max_size=700), st.integers(-5, 15_000), st.booleans()), max_size=20
    )
)
def test_any_bytes_at_any_time_give_frames_or_faults(
    steps: list[tuple[bytes, int, bool]],
) -> None:
    decoder = Decoder()
    now = 0
    for data, pause_us, asked in steps:
        now += pause_us
        out = decoder.feed(data, now)
        if asked:
            out += decoder.quiet(now + pause_us)
        assert all(isinstance(item, Frame | Fault) for item in out)
    decoder.quiet(now + 1_000_000)
    (found,) = frames(heard(NO_TAG, decoder, now + 2_000_000))
    assert encode(found) == NO_TAG
