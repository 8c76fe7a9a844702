"""The literal transactions of the page, and blocks that must be refused."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers.base import BusOp, Fault, ReadBlock, WriteBlock
from drivers.mcp23017 import codec
from drivers.mcp23017.codec import INPUTS, LOST, OUTPUTS, Config, Found
from drivers.mcp23017.keys import KEYS_1, KEYS_2, PINS
from drivers.mcp23017.lamps import LAMPS_1, LAMPS_2, content_of, latch_of
from drivers.orders import ShowLamps

VECTORS = tomllib.loads(
    (Path(__file__).parents[2] / "vectors" / "mcp23017.toml").read_text("utf-8")
)


def config_of(address: int) -> Config:
    return INPUTS if address < 0x23 else OUTPUTS


def pair(text: str) -> int:
    return int.from_bytes(bytes.fromhex(text), "little")


def op_of(text: str) -> BusOp:
    kind, register, rest = text.split(maxsplit=2)
    if kind == "R":
        return ReadBlock(int(register, 16), int(rest.removeprefix("x")))
    return WriteBlock(int(register.removesuffix(":"), 16), bytes.fromhex(rest))


def ids(vector: dict[str, Any]) -> str:
    return str(vector.get("title", vector.get("step")))


@pytest.mark.parametrize("vector", VECTORS["batch"], ids=ids)
def test_batches_are_byte_for_byte_those_of_the_page(vector: dict[str, Any]) -> None:
    address, sequence = vector["address"], vector["sequence"]
    latch = pair(vector["latch"]) if "latch" in vector else None
    match vector["kind"]:
        case "search":
            ops = codec.search()
        case "configure":
            assert latch is not None
            ops = codec.configure(config_of(address), address, sequence, latch)
        case _:
            ops = codec.poll(address, sequence, latch)
    assert ops == tuple(op_of(text) for text in vector["ops"])


@pytest.mark.parametrize("vector", [v for v in VECTORS["batch"] if v["sequence"]], ids=ids)
def test_good_blocks_are_taken_and_read(vector: dict[str, Any]) -> None:
    address = vector["address"]
    block = codec.parse(bytes.fromhex(vector["answer"]))
    assert not isinstance(block, Fault)
    latch = pair(vector.get("latch", "00 00"))
    assert codec.refusal(block, config_of(address), address, vector["sequence"], latch) is None
    if "inputs" in vector:
        assert block.gpio == pair(vector["inputs"])
    if "keys" in vector:
        caps = KEYS_1 if vector["chip"] == "keys-1" else KEYS_2
        down = [cap for pin, cap in zip(PINS, caps, strict=True) if block.gpio >> pin & 1]
        assert down == vector["keys"]


@pytest.mark.parametrize("vector", [v for v in VECTORS["batch"] if not v["sequence"]], ids=ids)
def test_a_search_tells_kept_from_lost(vector: dict[str, Any]) -> None:
    block, address = bytes.fromhex(vector["answer"]), vector["address"]
    expected = Found(vector["found"] == "kept", pair(vector["olat"]))
    assert codec.found(block, block, config_of(address), address) == expected


@pytest.mark.parametrize("vector", VECTORS["refused"], ids=ids)
def test_wrong_blocks_are_refused_with_their_code(vector: dict[str, Any]) -> None:
    address = vector["address"]
    block = codec.parse(bytes.fromhex(vector["block"]))
    if isinstance(block, Fault):
        fault: Fault | None = block
    else:
        latch = pair(vector["latch"])
        fault = codec.refusal(block, config_of(address), address, vector["sequence"], latch)
    assert fault is not None
    assert fault.code == vector["code"]


@pytest.mark.parametrize("vector", VECTORS["handshake"], ids=ids)
def test_handshake_transactions(vector: dict[str, Any]) -> None:
    address = {"sensors": 0x22, "acceptors": 0x23}[vector["chip"]]
    ops = tuple(op_of(text) for text in vector["ops"])
    sequence = bytes.fromhex(vector["answer"])[6]
    latch = pair(vector["olat"]) if "olat" in vector else None
    assert codec.poll(address, sequence, latch) == ops
    block = codec.parse(bytes.fromhex(vector["answer"]))
    assert not isinstance(block, Fault)
    assert codec.refusal(block, config_of(address), address, sequence, latch or 0) is None
    if "line" in vector:
        assert block.gpio >> 10 & 1 == vector["line"]


@pytest.mark.parametrize("vector", VECTORS["lamps"], ids=lambda v: v["content-1"])
def test_lamp_latches(vector: dict[str, Any]) -> None:
    order = ShowLamps(tuple(vector["seats"]), vector["beacon"], vector["buzzer"])
    assert latch_of(order, LAMPS_1, signals=False) == pair(vector["lamps-1"])
    assert latch_of(order, LAMPS_2, signals=True) == pair(vector["lamps-2"])
    assert content_of(order, LAMPS_1, signals=False) == vector["content-1"]
    assert content_of(order, LAMPS_2, signals=True) == vector["content-2"]


def test_every_lamp_state_has_a_vector() -> None:
    shown = {lamp for vector in VECTORS["lamps"] for lamp in vector["seats"]}
    assert shown == {
        "off", "open", "live", "your turn", "pay", "collect", "void", "fault", "lucky"
    }  # fmt: skip


def test_the_sequence_never_is_zero() -> None:
    seen = [sequence := 0]
    for _ in range(600):
        sequence = codec.next_sequence(sequence)
        seen.append(sequence)
    assert seen[1:4] == [1, 2, 3]
    assert seen[255:258] == [255, 1, 2]
    assert 0 not in seen[1:]


@given(st.binary(max_size=40), st.sampled_from([INPUTS, OUTPUTS]))
def test_any_bytes_give_a_block_or_a_fault(data: bytes, config: Config) -> None:
    parsed = codec.parse(data)
    if isinstance(parsed, Fault):
        assert len(data) != 22
    else:
        fault = codec.refusal(parsed, config, 0x20, 7, 0)
        assert fault is None or fault.code.startswith("E-EXP-")
    result = codec.found(data, data, config, 0x20)
    assert isinstance(result, Found | Fault)


@given(st.integers(0, 0x0D), st.integers(1, 255))
def test_any_flipped_bits_in_the_fixed_registers_are_seen(register: int, flip: int) -> None:
    good = bytes.fromhex("7F7F7F7F7F7F07270000 44447F7F 0000 0000 0000 0000")
    bad = bytearray(good)
    bad[register] ^= flip
    for data, refused in ((good, False), (bytes(bad), True)):
        block = codec.parse(data)
        assert not isinstance(block, Fault)
        assert (codec.refusal(block, INPUTS, 0x20, 7, 0) is not None) is refused


def test_two_reads_that_differ_prove_nothing() -> None:
    kept = bytes.fromhex("000000000000C8EB0000444400000000000004 7F 04 7F".replace(" ", ""))
    other = kept[:-2] + b"\x00\x7f"
    assert isinstance(codec.found(kept, other, OUTPUTS, 0x23), Fault)
    assert codec.found(kept, kept, OUTPUTS, 0x23) == Found(kept=True, olat=0x7F04)
    assert isinstance(codec.found(kept, kept, OUTPUTS, 0x24), Fault)  # another board's block
    assert codec.found(b"\xff\xff" + bytes(20), b"\xff\xff" + bytes(20), OUTPUTS, 0x24) == LOST
