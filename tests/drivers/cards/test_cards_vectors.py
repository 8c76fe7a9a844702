"""Every frame of tests/vectors/cdp.toml, both ways, and every refused one."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

from drivers.base import Fault
from drivers.cards.codec import decode_message, encode_frame, host_frame
from drivers.cards.devices import ShoeDriver, ShufflerDriver
from drivers.cards.driver import CardDriver
from drivers.cards.framing import Decoder, Frame, crc32c
from drivers.cards.messages import Type
from drivers.readings import SealedCard
from tests.drivers.cards.wire import Bench, taken_apart, wire

VECTORS: dict[str, list[dict[str, Any]]] = tomllib.loads(
    (Path(__file__).parents[2] / "vectors" / "cdp.toml").read_text("utf-8")
)
FRAMES = VECTORS["frame"]
BY_NAME = {vector["name"]: vector for vector in FRAMES}


def raw(vector: dict[str, Any], field: str = "wire") -> bytes:
    return bytes.fromhex(vector[field])


def named(vectors: list[dict[str, Any]]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize("vector", vectors, ids=lambda vector: str(vector["name"]))


def frame_of(vector: dict[str, Any]) -> Frame:
    return Frame(
        vector["dev"], vector["type"], vector["flags"], vector["seq"], raw(vector, "payload")
    )


def as_fields(message: object) -> dict[str, Any]:
    fields: dict[str, Any] = {}
    for name in getattr(message, "__slots__", ()):
        value = getattr(message, name)
        if isinstance(value, SealedCard):
            value = value.unseal()
        elif isinstance(value, tuple):
            value = [card.unseal() for card in value]
        fields[name] = value
    return fields


def test_the_check_value_of_crc32c() -> None:
    assert crc32c(b"123456789") == 0xE3069283


def test_there_is_a_vector_of_every_type() -> None:
    assert {vector["type"] for vector in FRAMES} == set(Type)


@named(FRAMES)
def test_a_frame_is_encoded_as_written(vector: dict[str, Any]) -> None:
    assert encode_frame(frame_of(vector)) == raw(vector)


@named(FRAMES)
def test_a_frame_is_decoded_as_written(vector: dict[str, Any]) -> None:
    assert Decoder().feed(raw(vector)) == [frame_of(vector)]


@named([vector for vector in FRAMES if vector["dev"] != 0])
def test_a_payload_means_what_is_written(vector: dict[str, Any]) -> None:
    message = decode_message(frame_of(vector))
    assert not isinstance(message, Fault)
    assert as_fields(message) == vector["fields"]


@named([vector for vector in FRAMES if vector["dev"] == 0 and not vector["flags"] & 2])
def test_the_host_builds_its_frames_as_written(vector: dict[str, Any]) -> None:
    built = host_frame(Type(vector["type"]), vector["seq"], raw(vector, "payload"))
    assert encode_frame(built) == raw(vector)


@named([vector for vector in FRAMES if vector["dev"] == 0])
def test_a_frame_of_the_host_is_never_a_message_of_a_device(vector: dict[str, Any]) -> None:
    assert isinstance(decode_message(frame_of(vector)), Fault)


@named(VECTORS["refused"])
def test_a_refused_chunk_gives_its_fault_and_nothing_else(vector: dict[str, Any]) -> None:
    found = Decoder().feed(raw(vector))
    assert len(found) == 1
    fault = decode_message(found[0]) if isinstance(found[0], Frame) else found[0]
    assert isinstance(fault, Fault)
    assert fault.code == vector["code"]


@named(VECTORS["refused"])
def test_the_driver_counts_a_refused_chunk_and_answers_as_written(vector: dict[str, Any]) -> None:
    shuffler = raw(vector)[2] == 0x11
    driver: CardDriver
    driver = ShufflerDriver("shuffler", "") if shuffler else ShoeDriver("shoe", "")
    bench = Bench(driver, dev=driver.dev)
    bench.open()
    bench.clear()
    bench.line(raw(vector))
    assert driver.counters[vector["code"]] == 1
    assert bench.readings == []
    naks = [said.payload[0] for said in bench.said if said.kind == Type.NAK]
    assert naks == ([vector["nak"]] if "nak" in vector else [])


@named(VECTORS["stream"])
def test_a_damaged_line_gives_the_frames_that_are_whole(vector: dict[str, Any]) -> None:
    found = [item for item in Decoder().feed(raw(vector)) if isinstance(item, Frame)]
    assert found == [frame_of(BY_NAME[name]) for name in vector["names"]]


@named([vector for vector in FRAMES if vector["type"] in (Type.CARD, Type.PACKET)])
def test_neither_frame_nor_message_shows_a_card(vector: dict[str, Any]) -> None:
    frame = frame_of(vector)
    message = decode_message(frame)
    for shown in (repr(frame), str(frame), repr(message), str(message)):
        assert "payload" not in shown
        assert "card=" not in shown.replace("card=<card>", "")
    twin = Frame(frame.dev, frame.type, frame.flags, frame.seq, bytes(len(frame.payload)))
    assert repr(twin) == repr(frame)


def test_the_bench_encodes_as_the_vectors_do() -> None:
    for vector in FRAMES:
        fields = (vector["dev"], vector["type"], vector["flags"], vector["seq"])
        assert wire(*fields, raw(vector, "payload")) == raw(vector)
    assert taken_apart(raw(BY_NAME["lock"]))[0].payload == b"\0"
