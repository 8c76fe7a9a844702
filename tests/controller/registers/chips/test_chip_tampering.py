"""No altered byte passes; and what is signed but malformed is found before a chip is looked up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.registers.chips import layout
from controller.registers.chips.layout import (
    CHIP_BYTES,
    SERIES_BYTES,
    SIGNED_BYTES,
    Head,
    unpack_head,
)
from controller.registers.chips.load import load
from controller.registers.chips.register import ChipRegister
from controller.registers.errors import (
    RegisterError,
    RegisterKeyError,
    SignedError,
    UnreadableError,
)
from tests.controller.registers.chips.vector import FILE, KEY, OTHER_KEY, PUBLIC

SERIES_AT = layout.HEAD_BYTES
CHIPS_AT = SERIES_AT + 3 * SERIES_BYTES
HISTORY_AT = CHIPS_AT + 4 * CHIP_BYTES


def refused(path: Path, content: bytes) -> str:
    path.write_bytes(content)
    with pytest.raises(RegisterError) as caught:
        ChipRegister.open(path, PUBLIC, 0)
    return caught.value.code


@pytest.mark.parametrize("flip", [0x01, 0x80, 0xFF])
def test_every_byte_of_the_file_is_protected(flip: int, tmp_path: Path) -> None:
    path = tmp_path / "a.chips"
    codes = set()
    for offset in range(len(FILE)):
        changed = bytearray(FILE)
        changed[offset] ^= flip
        codes.add(refused(path, bytes(changed)))
    assert codes == {"E-CHIP-001", "E-CHIP-002", "E-CHIP-003", "E-CHIP-004", "E-CHIP-006"}


def test_every_shorter_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.chips"
    assert {refused(path, FILE[:size]) for size in range(len(FILE))} == {"E-CHIP-001", "E-CHIP-005"}


@pytest.mark.parametrize("more", [b"\0", b"\n", FILE])
def test_a_longer_file_is_refused(more: bytes, tmp_path: Path) -> None:
    assert refused(tmp_path / "a.chips", FILE + more) == "E-CHIP-005"


@given(content=st.binary(max_size=600) | st.binary(max_size=400).map(lambda tail: FILE[:8] + tail))
def test_any_bytes_are_refused_and_nothing_else_happens(
    content: bytes, tmp_path_factory: pytest.TempPathFactory
) -> None:
    refused(tmp_path_factory.mktemp("any") / "a.chips", content)


def test_the_register_of_another_casino_is_refused_even_if_it_is_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.chips"
    path.write_bytes(FILE)
    with pytest.raises(RegisterError, match="E-CHIP-003"):
        ChipRegister.open(path, OTHER_KEY.public, 0)


def test_a_signature_by_another_key_under_our_name_is_refused(tmp_path: Path) -> None:
    signed = FILE[:SIGNED_BYTES]
    forged = signed + OTHER_KEY.sign(signed) + FILE[SERIES_AT:]
    assert refused(tmp_path / "a.chips", forged) == "E-CHIP-004"


def test_a_key_of_the_wrong_length_is_no_key(tmp_path: Path) -> None:
    path = tmp_path / "a.chips"
    path.write_bytes(FILE)
    with pytest.raises(RegisterKeyError, match="E-CHIP-041"):
        ChipRegister.open(path, PUBLIC[:31], 0)


def test_a_missing_file_and_a_folder_cannot_be_read(tmp_path: Path) -> None:
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(UnreadableError, match="E-CHIP-050"):
            ChipRegister.open(path, PUBLIC, 0)


# --- signed, but wrong: the writer's fault -----------------------------------------------------


def signed_again(file: bytes, change: Callable[[Head], Head] = lambda head: head) -> bytes:
    """The same file with honest hashes and signature, and a head changed after that."""
    head = replace(
        unpack_head(file[:SIGNED_BYTES]),
        chips_sha256=sha256(file[SERIES_AT:HISTORY_AT]).digest(),
        history_sha256=sha256(file[HISTORY_AT:]).digest(),
    )
    signed = layout.pack_head(change(head))
    return signed + KEY.sign(signed) + file[SERIES_AT:]


def patched(offset: int, new: bytes) -> bytes:
    return signed_again(FILE[:offset] + new + FILE[offset + len(new) :])


def chip(place: int, offset: int, new: bytes) -> bytes:
    return patched(CHIPS_AT + place * CHIP_BYTES + offset, new)


FIRST = FILE[CHIPS_AT : CHIPS_AT + CHIP_BYTES]
SECOND = FILE[CHIPS_AT + CHIP_BYTES : CHIPS_AT + 2 * CHIP_BYTES]
MALFORMED = {
    "chips out of order": (patched(CHIPS_AT, SECOND + FIRST), "out of order"),
    "a chip twice": (chip(1, 0, FIRST), "appears twice"),
    "a UID of no bytes": (chip(0, 0, b"\0"), "bytes long"),
    "a UID of 17 bytes": (chip(3, 0, b"\x11"), "bytes long"),
    "a UID longer than it says": (chip(0, 16, b"\1"), "filled with zero"),
    "a short UID beside a long one": (chip(0, 10, b"\1"), "filled with zero"),
    "class 0": (chip(0, 17, b"\0"), "class"),
    "class 3": (chip(0, 17, b"\3"), "class"),
    "status 0": (chip(0, 18, b"\0"), "status"),
    "status 4": (chip(0, 18, b"\4"), "status"),
    "byte 19": (chip(0, 19, b"\1"), "byte 19"),
    "a series that is not there": (chip(0, 20, b"\0\0\0\3"), "not in the table"),
    "no value": (chip(0, 24, bytes(8)), "value"),
    "a value over the limit": (chip(0, 24, (10**13 + 1).to_bytes(8, "big")), "value"),
    "added in version 0": (chip(0, 32, bytes(4)), "added"),
    "added in the future": (chip(0, 32, b"\0\0\0\4"), "added"),
    "marked in the future": (chip(0, 36, b"\0\0\0\4"), "marked"),
    "a series without a name": (patched(SERIES_AT, bytes(32)), "series 0"),
    "a series with a blank": (patched(SERIES_AT, b"2 25"), "series 0"),
    "a series with something behind its name": (patched(SERIES_AT + 31, b"x"), "series 0"),
    "a series not ASCII": (patched(SERIES_AT, b"\xe9"), "series 0"),
    "a series twice": (
        patched(SERIES_AT + SERIES_BYTES, FILE[SERIES_AT : SERIES_AT + SERIES_BYTES]),
        "appears twice",
    ),
    "no house": (signed_again(FILE, lambda head: replace(head, house="")), "house"),
    "a house in small letters": (
        signed_again(FILE, lambda head: replace(head, house="syd")),
        "house",
    ),
    "version 0": (signed_again(FILE, lambda head: replace(head, version=0)), "version 0"),
    "too many chips": (
        signed_again(FILE, lambda head: replace(head, chip_count=1_000_001)),
        "chips, more than",
    ),
    "too many series": (
        signed_again(FILE, lambda head: replace(head, series_count=10_001)),
        "series, more than",
    ),
    "too much history": (
        signed_again(FILE, lambda head: replace(head, history_bytes=32 * 1024 * 1024 + 1)),
        "bytes of history",
    ),
}


@pytest.mark.parametrize("name", MALFORMED)
def test_signed_but_malformed_is_refused_and_says_what(name: str, tmp_path: Path) -> None:
    path = tmp_path / "a.chips"
    content, said = MALFORMED[name]
    path.write_bytes(content)
    with pytest.raises(RegisterError) as caught:
        ChipRegister.open(path, PUBLIC, 0)
    assert caught.value.code == "E-CHIP-007"
    assert said in str(caught.value)


def test_signing_again_without_a_change_gives_a_good_file(tmp_path: Path) -> None:
    """Else the cases above could fail for another reason."""
    path = tmp_path / "a.chips"
    path.write_bytes(signed_again(FILE))
    assert signed_again(FILE) == FILE
    assert ChipRegister.open(path, PUBLIC, 3).version == 3


def test_a_file_changed_after_it_was_opened_changes_no_chip(tmp_path: Path) -> None:
    path = tmp_path / "a.chips"
    path.write_bytes(FILE)
    register = ChipRegister.open(path, PUBLIC, 0)
    before = list(register)
    with path.open("r+b") as stream:
        stream.truncate(10)
    assert list(register) == before


def test_without_a_key_of_ones_own_a_file_is_only_proven_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.chips"
    path.write_bytes(FILE)
    assert load(path, None).head.public_key == PUBLIC
    path.write_bytes(FILE[:-1] + b" ")
    with pytest.raises(SignedError, match="E-CHIP-006"):
        load(path, None)
