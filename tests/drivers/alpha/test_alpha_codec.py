"""Frames against the literal vectors; the decoder against splits, rubbish and silences."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers.alpha import codec
from drivers.alpha.codec import Answer, AnswerDecoder
from drivers.base import Fault
from tests.drivers.alpha.sign import VECTORS

HEX = bytes.fromhex
ANSWERS = VECTORS["answer"]
REFUSED = VECTORS["refused"]


def command_of(vector: dict[str, Any]) -> list[bytes]:
    match vector["kind"]:
        case "allocate":
            return [codec.allocate(vector["text_size"], vector["string_size"])]
        case "text":
            return [codec.write_text(vector["text"])]
        case "string":
            return [codec.write_string(vector["text"])]
        case "read":
            return [codec.read_string()]
        case "soft reset":
            return [b"E,"]  # nothing of ours sends it
        case "nested":
            return [codec.write_text("JACKPOT "), codec.write_string("CLOSED")]
    raise AssertionError(vector)


@pytest.mark.parametrize(
    "vector", VECTORS["command"], ids=lambda v: f"{v['kind']} {v.get('text', '')}"
)
def test_a_command_as_a_frame_and_as_writes(vector: dict[str, Any]) -> None:
    frame = codec.frame(*command_of(vector))
    assert frame == HEX(vector["frame"])
    assert codec.writes_of(frame) == [HEX(piece) for piece in vector["writes"]]


def decode(data: bytes) -> list[Answer | Fault]:
    return AnswerDecoder().feed(data, 0)


@pytest.mark.parametrize("vector", ANSWERS, ids=lambda v: v["text"] or "empty")
def test_an_answer_whole_halved_and_byte_by_byte(vector: dict[str, Any]) -> None:
    frame = HEX(vector["frame"])
    expected = [Answer(vector["label"], vector["text"])]
    assert decode(frame) == expected
    for cut in range(1, len(frame)):
        decoder = AnswerDecoder()
        assert decoder.feed(frame[:cut], 0) + decoder.feed(frame[cut:], 499_000) == expected
    decoder = AnswerDecoder()
    assert [a for n in frame for a in decoder.feed(bytes((n,)), 0)] == expected


@pytest.mark.parametrize("vector", REFUSED, ids=lambda v: v["name"])
def test_a_refused_answer_gives_its_fault_and_hides_nothing(vector: dict[str, Any]) -> None:
    good = HEX(ANSWERS[0]["frame"])
    out = decode(HEX(vector["frame"]) + good)
    assert isinstance(out[0], Fault)
    assert out[0].code == vector["fault"]
    assert out[-1] == Answer("1", "$123,456.78")


@pytest.mark.parametrize("vector", VECTORS["stream"], ids=lambda v: v["name"])
def test_a_stream_with_rubbish(vector: dict[str, Any]) -> None:
    out = decode(HEX(vector["bytes"]))
    assert [a.text for a in out if isinstance(a, Answer)] == vector["texts"]
    assert [f.code for f in out if isinstance(f, Fault)] == vector["faults"]


def test_a_silence_breaks_an_answer_off() -> None:
    frame = HEX(ANSWERS[0]["frame"])
    decoder = AnswerDecoder()
    assert decoder.feed(frame[:30], 0) == []
    out = decoder.feed(frame, 500_001)
    assert [type(o) for o in out] == [Fault, Answer]
    assert isinstance(out[0], Fault)
    assert out[0].code == "E-DSP-026"
    assert decoder.feed(frame[:30], 500_001) == []
    (fault,) = decoder.feed(frame[30:], 1_000_002)  # the rest alone is not an answer
    assert isinstance(fault, Fault)


def test_an_endless_answer_is_given_up_at_256_bytes() -> None:
    decoder = AnswerDecoder()
    assert decoder.feed(b"\x01" + b"A" * 254, 0) == []
    assert decoder.buffered == 254
    (fault,) = decoder.feed(b"A" * 10_000, 0)
    assert isinstance(fault, Fault)
    assert fault.code == "E-DSP-027"
    assert decoder.buffered == 0


def test_every_single_flipped_bit_in_an_answer_is_refused() -> None:
    frame = HEX(ANSWERS[0]["frame"])
    for position in range(24, len(frame) - 1):  # from STX to the last digit
        for bit in range(7):
            spoilt = bytearray(frame)
            spoilt[position] ^= 1 << bit
            out = decode(bytes(spoilt))
            assert not any(isinstance(o, Answer) for o in out), (position, bit)


CHUNKS = st.lists(
    st.tuples(
        st.one_of(
            st.binary(max_size=40),
            st.sampled_from([HEX(v["frame"]) for v in ANSWERS + REFUSED]),
            st.binary(min_size=300, max_size=400).map(lambda b: b"\x01" + b.replace(b"\x04", b"")),
        ),
        st.integers(0, 1_000_000),
    ),
    max_size=12,
)


@given(CHUNKS)
def test_any_bytes_give_answers_or_faults_and_never_lose_the_next_frame(
    chunks: list[tuple[bytes, int]],
) -> None:
    decoder, now_us = AnswerDecoder(), 0
    for data, gap_us in chunks:
        now_us += gap_us
        out = decoder.feed(data, now_us)
        assert all(isinstance(o, Answer | Fault) for o in out)
        assert decoder.buffered <= 254
    assert decoder.feed(HEX(ANSWERS[0]["frame"]), now_us)[-1] == Answer("1", "$123,456.78")


@given(st.binary(max_size=200), st.lists(st.integers(0, 200), max_size=6))
def test_the_split_makes_no_difference(noise: bytes, cuts: list[int]) -> None:
    data = noise + HEX(ANSWERS[0]["frame"]) + noise
    decoder, out, start = AnswerDecoder(), [], 0
    for cut in [*sorted(cuts), len(data)]:
        out += decoder.feed(data[start:cut], 0)
        start = max(start, cut)
    assert out == decode(data)


@given(st.text(max_size=125))
def test_a_written_text_comes_back_as_its_printable_self(text: str) -> None:
    command = codec.write_string(text)
    body = b"\x02" + command + b"\x03"
    answer = b"\x01000" + body + codec.checksum(body) + b"\x04"
    assert decode(answer) == [Answer("1", codec.printable(text))]
