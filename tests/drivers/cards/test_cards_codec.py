"""The codec law: any bytes in any split, no invented frame, no lost following one, bounded."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from itertools import combinations
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from drivers.base import Fault
from drivers.cards import framing
from drivers.cards.codec import decode_message
from drivers.cards.framing import CHUNK_MAX, Decoder, Frame, encode_frame

WIRES = [
    bytes.fromhex(vector["wire"])
    for vector in tomllib.loads(
        (Path(__file__).parents[2] / "vectors" / "cdp.toml").read_text("utf-8")
    )["frame"]
]
HELLO = bytes.fromhex("02 01 02 01 01 01 05 2B BD 5F 65 00")
CARD = bytes.fromhex("06 01 10 20 01 07 02 07 01 01 02 29 02 62 05 B3 7A 86 5E 00")
ACK = bytes.fromhex("02 01 02 7E 02 07 05 13 55 91 65 00")
BURN = bytes.fromhex("06 01 10 21 01 0A 02 0A 01 01 05 DC D4 16 83 00")
BURN_FRAME = Frame(0x10, 0x21, 1, 10, bytes.fromhex("0A000000"))

frames = st.builds(
    Frame,
    st.sampled_from([0x00, 0x10, 0x11]),
    st.integers(0, 255),
    st.integers(0, 7),
    st.integers(0, 0xFFFF),
    st.binary(max_size=240),
)
# Bytes that look like the start of a frame again and again: the worst there is for a rescan.
nasty = st.lists(
    st.sampled_from([0x00, 0x01, 0x02, 0x03, 0x04, 0x06, 0x10, 0x11, 0xFB, 0xFF]), max_size=600
).map(bytes)


def good(data: bytes, decoder: Decoder | None = None) -> list[Frame]:
    found = (decoder or Decoder()).feed(data)
    return [item for item in found if isinstance(item, Frame)]


def flipped(data: bytes, bits: Iterable[int]) -> bytes:
    out = bytearray(data)
    for bit in bits:
        out[bit >> 3] ^= 1 << (bit & 7)
    return bytes(out)


@given(frames)
def test_every_frame_comes_back(frame: Frame) -> None:
    data = encode_frame(frame)
    assert data.count(0) == 1
    assert len(data) == len(frame.payload) + 12
    assert Decoder().feed(data) == [frame]


@given(st.lists(frames, max_size=4), st.data())
def test_frames_come_through_any_split(sent: list[Frame], data: st.DataObject) -> None:
    stream = b"".join(encode_frame(frame) for frame in sent)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(stream)), max_size=8)))
    decoder, found = Decoder(), []
    for start, end in zip([0, *cuts], [*cuts, len(stream)], strict=True):
        found += decoder.feed(stream[start:end])
    assert found == sent


@given(st.one_of(st.binary(max_size=600), nasty), st.integers(1, 50))
def test_any_bytes_give_frames_or_faults_and_a_bounded_buffer(data: bytes, step: int) -> None:
    decoder = Decoder()
    for start in range(0, len(data), step):
        for item in decoder.feed(data[start : start + step]):
            assert isinstance(item, Frame | Fault)
            if isinstance(item, Frame):
                decode_message(item)
        assert decoder.held <= CHUNK_MAX


@given(frames)
def test_any_payload_of_any_type_gives_a_message_or_a_fault(frame: Frame) -> None:
    message = decode_message(frame)
    if isinstance(message, Fault):
        assert message.code in {"E-CDP-006", "E-CDP-007", "E-CDP-008"}


@given(st.one_of(st.binary(max_size=600), nasty), frames)
@example(b"\x02\x01" * 300, BURN_FRAME)
def test_after_garbage_and_a_delimiter_the_next_frame_is_found(data: bytes, frame: Frame) -> None:
    assert good(data + b"\0" + encode_frame(frame))[-1] == frame


@given(st.one_of(st.binary(max_size=600), nasty), frames)
@example(CARD[:-1], BURN_FRAME)
@example(b"\xfb" + b"\x01" * 300, Frame(0x11, 0x42, 1, 1, b"\x01" * 240))
def test_a_frame_glued_to_garbage_is_found(garbage: bytes, frame: Frame) -> None:
    garbage = garbage.replace(b"\0", b"\x05")
    assert good(garbage + encode_frame(frame)) == [frame]


@given(frames, frames, st.integers(0, 255))
def test_a_destroyed_delimiter_costs_the_first_frame_only(
    first: Frame, second: Frame, instead: int
) -> None:
    glued = encode_frame(first)[:-1] + bytes([instead]) + encode_frame(second)
    found = good(glued)
    assert found == ([first, second] if instead == 0 else [second])


@pytest.mark.parametrize("at", range(len(WIRES)))
def test_no_single_flipped_bit_makes_a_frame_or_loses_the_next_one(at: int) -> None:
    data = WIRES[at]
    for bit in range(len(data) * 8):
        assert good(flipped(data, [bit]) + BURN) == [BURN_FRAME], bit


@pytest.mark.parametrize("data", [HELLO, CARD, ACK], ids=["HELLO", "CARD", "ACK"])
def test_no_two_flipped_bits_make_a_frame(data: bytes) -> None:
    for bits in combinations(range(len(data) * 8), 2):
        assert good(flipped(data, bits)) == []


@pytest.mark.slow
@pytest.mark.parametrize("data", [HELLO, CARD, ACK], ids=["HELLO", "CARD", "ACK"])
def test_no_three_flipped_bits_make_a_frame(data: bytes) -> None:
    for bits in combinations(range(len(data) * 8), 3):
        assert good(flipped(data, bits)) == []


@pytest.mark.slow
@pytest.mark.parametrize("at", [at for at, data in enumerate(WIRES) if len(data) <= 32])
def test_no_two_flipped_bits_make_a_frame_of_any_vector(at: int) -> None:
    for bits in combinations(range(len(WIRES[at]) * 8), 2):
        assert good(flipped(WIRES[at], bits)) == []


@given(st.sampled_from(WIRES), st.data())
@settings(max_examples=400)
def test_no_burst_of_up_to_32_bits_makes_a_frame_or_loses_the_next_one(
    data: bytes, draw: st.DataObject
) -> None:
    length = draw.draw(st.integers(1, 32))
    start = draw.draw(st.integers(0, len(data) * 8 - length))
    pattern = draw.draw(st.integers(1, (1 << length) - 1))
    hit = flipped(data, [start + bit for bit in range(length) if pattern >> bit & 1])
    found = good(hit + BURN)
    assert found == [BURN_FRAME]


@given(st.sampled_from(WIRES), st.data())
def test_lost_and_inserted_bytes_make_no_frame_and_lose_no_other(
    data: bytes, draw: st.DataObject
) -> None:
    at = draw.draw(st.integers(0, len(data) - 2))
    extra = draw.draw(st.binary(max_size=2))
    gone = 1 if not extra else draw.draw(st.integers(0, 1))
    hit = data[:at] + extra + data[at + gone :]
    whole = [frame for frame in good(data) if hit.endswith(data) or hit == data]
    assert good(BURN + hit + BURN) in (
        [BURN_FRAME, *whole, BURN_FRAME],
        [BURN_FRAME, BURN_FRAME],
    )


def test_an_endless_line_without_delimiter_keeps_one_frame_and_is_one_fault() -> None:
    decoder = Decoder()
    for _ in range(1000):
        assert decoder.feed(b"\x07" * 97) == []
        assert decoder.held <= CHUNK_MAX
    found = decoder.feed(BURN)
    assert [item.code for item in found if isinstance(item, Fault)] == ["E-CDP-001"]
    assert found[1:] == [BURN_FRAME]


def test_what_was_half_received_is_gone_after_a_reset() -> None:
    decoder = Decoder()
    decoder.feed(CARD[:9])
    decoder.reset()
    assert decoder.held == 0
    assert decoder.feed(CARD[9:])[:1] != [Decoder().feed(CARD)[0]]


def test_a_rescan_tries_no_more_checksums_than_places(monkeypatch: pytest.MonkeyPatch) -> None:
    tried = 0
    whole = framing.crc32c

    def counted(data: bytes) -> int:
        nonlocal tried
        tried += 1
        return whole(data)

    monkeypatch.setattr(framing, "crc32c", counted)
    worst = 0
    for pattern in (b"\x02\x01", b"\x03\x01\x10", b"\x04\x01\x11\x01", b"\x01", b"\xff"):
        for shift in range(len(pattern)):
            tried = 0
            Decoder().feed((pattern * 300)[shift : shift + CHUNK_MAX] + b"\0")
            worst = max(worst, tried)
    assert 100 <= worst <= CHUNK_MAX // 2


def test_noise_is_rescanned_almost_for_free(monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[int] = []

    def never_right(data: bytes) -> int:
        tried.append(len(data))
        return -1

    monkeypatch.setattr(framing, "crc32c", never_right)
    state = 1
    for _ in range(200):
        noise = bytearray()
        while len(noise) < CHUNK_MAX:
            state = state * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1
            noise.append(state >> 56 or 1)
        Decoder().feed(bytes(noise) + b"\0")
    assert len(tried) <= 200


def test_our_own_mistake_is_an_error_and_not_a_frame() -> None:
    with pytest.raises(ValueError, match="240"):
        encode_frame(Frame(0, 1, 0, 0, bytes(241)))
