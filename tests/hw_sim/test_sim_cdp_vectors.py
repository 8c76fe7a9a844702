"""The simulated card devices against the literal vectors, and what they do with garbage."""

from __future__ import annotations

import hashlib
import random
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hw_sim.devices import cdp
from hw_sim.devices.cdp import Frame, Receiver, crc32c, decode, encode
from hw_sim.devices.shoe import Shoe
from hw_sim.devices.shuffler import Shuffler
from tests.hw_sim.cdp_host import Host

VECTORS = tomllib.loads((Path(__file__).parent.parent / "vectors" / "cdp.toml").read_text("utf-8"))
FRAMES = {entry["name"]: entry for entry in VECTORS["frame"]}
FROM_DEVICE = [e for e in VECTORS["frame"] if e["dev"] != cdp.HOST]
FROM_HOST = [e for e in VECTORS["frame"] if e["dev"] == cdp.HOST]
HEX_FIELDS = ("firmware", "digest")
NO_FRAME = ("E-CDP-001", "E-CDP-002", "E-CDP-003")


def name(entry: dict[str, Any]) -> str:
    return str(entry["name"])


def wire(entry: dict[str, Any]) -> bytes:
    return bytes.fromhex(entry["wire"])


def frame_of(entry: dict[str, Any]) -> Frame:
    payload = bytes.fromhex(entry["payload"])
    return Frame(entry["dev"], entry["type"], entry["flags"], entry["seq"], payload)


def as_sent(key: str, value: int | str) -> int | bytes:
    if isinstance(value, int):
        return value
    return bytes.fromhex(value) if key in HEX_FIELDS else value.encode("ascii")


@pytest.mark.parametrize("entry", VECTORS["frame"], ids=name)
def test_frames_both_ways(entry: dict[str, Any]) -> None:
    assert encode(frame_of(entry)) == wire(entry)
    assert decode(wire(entry)[:-1]) == frame_of(entry)


@pytest.mark.parametrize("entry", FROM_DEVICE, ids=name)
def test_a_device_builds_the_payload_of_its_messages(entry: dict[str, Any]) -> None:
    fields = entry["fields"]
    if entry["type"] == cdp.PACKET:
        built = cdp.packet_payload(fields["packet_no"], fields["deck_id"], fields["cards"])
    else:
        built = cdp.payload(entry["type"], **{k: as_sent(k, v) for k, v in fields.items()})
    assert built == bytes.fromhex(entry["payload"])


def test_every_message_of_a_device_has_a_vector() -> None:
    assert {e["type"] for e in FROM_DEVICE} == {*cdp.LAYOUTS, cdp.PACKET}
    assert {e["type"] for e in FROM_HOST} == set(cdp.FROM_HOST)


@pytest.mark.parametrize("entry", FROM_HOST, ids=name)
def test_a_device_takes_the_messages_of_a_host(entry: dict[str, Any]) -> None:
    assert cdp.well_formed(frame_of(entry))


@pytest.mark.parametrize("entry", VECTORS["refused"], ids=name)
def test_refused_chunks(entry: dict[str, Any]) -> None:
    receiver = Receiver()
    found = receiver.feed(wire(entry))
    if entry["code"] in NO_FRAME:
        assert found == []
        assert receiver.faults == 1
    else:  # a sound frame with contents that no device here ever sends
        assert len(found) == 1
        assert found[0].dev != cdp.HOST


@pytest.mark.parametrize("entry", VECTORS["refused"], ids=name)
def test_a_device_answers_nothing_to_a_frame_that_no_host_sent(entry: dict[str, Any]) -> None:
    host = Host(Shoe("SH-000001", random.Random(1)))
    host.run(400)
    host.line.from_host(wire(entry))
    assert host.run(200) == []


@pytest.mark.parametrize("entry", VECTORS["stream"], ids=name)
def test_damaged_lines(entry: dict[str, Any]) -> None:
    for cut in range(len(wire(entry))):
        receiver = Receiver()
        found = receiver.feed(wire(entry)[:cut]) + receiver.feed(wire(entry)[cut:])
        assert found == [frame_of(FRAMES[wanted]) for wanted in entry["names"]]


def test_checksum_of_the_page() -> None:
    assert crc32c(b"123456789") == 0xE3069283


def test_a_shoe_answers_with_the_bytes_of_the_vectors() -> None:
    """HELLO_R, ACK and RESPONSE end to end, from the wire of the host's vectors."""
    shoe = Shoe("SH-000001", random.Random(1))
    shoe.image = b"underfelt shoe image 1"
    shoe.firmware = hashlib.sha256(shoe.image).digest()[:8]
    shoe._boot_id = 41
    host = Host(shoe)
    raw = bytearray()

    def note(data: bytes) -> None:
        raw.extend(data)

    host.deliver = note  # type: ignore[method-assign]
    host.run(400)

    def answers(request: str) -> bytes:
        raw.clear()
        host.line.from_host(wire(FRAMES[request]))
        host.run(700)
        return bytes(raw)

    assert wire(FRAMES["hello_r shoe"]) in answers("hello")
    answers("status request")
    assert wire(FRAMES["response"]) in answers("challenge")
    assert wire(FRAMES["ack of the shoe"]) in answers("lock")


def test_a_chunk_longer_than_a_frame_keeps_its_end() -> None:
    receiver = Receiver()
    card = FRAMES["card"]
    assert receiver.feed(b"\x55" * 1_000 + wire(card)) == [frame_of(card)]
    longest = Frame(cdp.HOST, cdp.STATUS, 0, 1, bytes(range(1, 241)))
    assert len(encode(longest)) == 252
    assert receiver.feed(b"\x01" + encode(longest)) == [longest]
    assert receiver.faults == 2
    assert receiver.feed(encode(longest)) == [longest]
    assert receiver.faults == 2


@given(st.binary(max_size=240), st.integers(0, 0xFFFF), st.integers(0, 255))
def test_frames_come_back(payload: bytes, seq: int, kind: int) -> None:
    frame = Frame(cdp.SHUFFLER, kind, 5, seq, payload)
    sent = encode(frame)
    assert sent.count(0) == 1
    assert len(sent) == len(payload) + 12
    assert decode(sent[:-1]) == frame


def any_frame(draw: st.DrawFn) -> bytes:
    kind = draw(st.sampled_from([*cdp.FROM_HOST, *cdp.LAYOUTS]) | st.integers(0, 255))
    length = cdp.FROM_HOST.get(kind, (False, 3))[1]
    payload = draw(st.binary(min_size=length, max_size=length) | st.binary(max_size=20))
    flags, seq = draw(st.integers(0, 7)), draw(st.integers(0, 5))
    return encode(Frame(draw(st.sampled_from(cdp.SENDERS)), kind, flags, seq, payload))


@settings(max_examples=60)
@given(st.lists(st.binary(max_size=60) | st.composite(any_frame)(), max_size=12), st.booleans())
def test_no_garbage_hurts_a_device(pieces: list[bytes], shoe: bool) -> None:
    rng = random.Random(2)
    device = Shoe("SH-1", rng) if shoe else Shuffler("SF-1", rng)
    host = Host(device)
    host.start()
    for piece in pieces:
        host.line.from_host(piece)
        host.run(30)
        device.draw() if isinstance(device, Shoe) else device.dispense()
        device.lid(not device.state()["lid open"])
    host.line.from_host(b"\0")
    assert host.ask(cdp.HELLO, seq=0).kind == cdp.HELLO_R
    assert device.locked
