"""The hand-typed register of tests/vectors/chip-register.toml, and small registers beside it."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from controller.registers.chips import edit
from controller.registers.chips.batch import BatchRow
from controller.registers.chips.history import ChipStamp
from controller.registers.chips.layout import MAX_UID_BYTES
from controller.registers.keys import SigningSecret

VECTOR: dict[str, Any] = tomllib.loads(
    (Path(__file__).parents[3] / "vectors" / "chip-register.toml").read_text("utf-8")
)
PARTS = VECTOR["register"]
FILE: bytes = b"".join(
    [
        bytes.fromhex(PARTS["head"]),
        bytes.fromhex(PARTS["signature"]),
        bytes.fromhex(PARTS["series"]),
        bytes.fromhex(PARTS["chips"]),
        PARTS["history"].encode("utf-8"),
    ]
)
KEY = SigningSecret(bytes.fromhex(VECTOR["key"]["secret"]))
OTHER_KEY = SigningSecret(bytes(range(32)))
PUBLIC: bytes = bytes.fromhex(VECTOR["key"]["public"])
SECRET_LINE = f"underfelt-chips-secret-1 {VECTOR['key']['secret']}\n"
PUBLIC_LINE = f"underfelt-chips-public-1 {VECTOR['key']['public']}\n"

FIRST_AT = 1_762_161_300
SOURCE = edit.Source("batch.csv", "ab" * 32)


def stamp(at: int = FIRST_AT, by: str = "k.lee", why: str = "because") -> ChipStamp:
    return ChipStamp(by, why, at)


def row(number: int, cents: int = 500, series: str = "A") -> BatchRow:
    return BatchRow(bytes.fromhex("E004010000") + number.to_bytes(3, "big"), cents, "cash", series)


def content(count: int = 5) -> edit.Content:
    """A register of ``count`` chips, version 1."""
    rows = [row(number) for number in range(count)]
    return edit.import_chips(edit.start("SYD-1"), rows, "SYD-1", SOURCE, stamp())


def uid(number: int) -> str:
    return row(number).uid.hex().upper()


def saved(
    folder: Path, made: edit.Content, key: SigningSecret = KEY, name: str = "a.chips"
) -> Path:
    path = folder / name
    path.write_bytes(edit.seal(made, key))
    return path


LONGEST = bytes(range(1, MAX_UID_BYTES + 1))
