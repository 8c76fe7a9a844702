"""Read a register file and believe none of it before it is proven; page section 3.

The steps are in the page's order. No byte of chips or history is looked at before its hash fits.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import IO, Final

from controller.registers.checks import check_signature, check_structure, check_version
from controller.registers.chips.layout import (
    CHIP_BYTES,
    FORMAT,
    HEAD_BYTES,
    MAGIC,
    SERIES_BYTES,
    SIGNED_BYTES,
    Head,
    Series,
    chip_faults,
    head_faults,
    pack_head,
    pack_series,
    series_faults,
    unpack_head,
    unpack_series,
)
from controller.registers.errors import (
    Problem,
    RegisterError,
    RegisterKeyError,
    UnreadableError,
)
from controller.registers.keys import PUBLIC_KEY_BYTES, Signed
from controller.registers.kinds import CHIPS
from controller.registers.rollout import Seen

PIECE_BYTES: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class LoadedChips:
    """A register whose signature, hashes and structure hold; ``history`` is empty if not kept."""

    head: Head
    signature: bytes
    series: tuple[Series, ...]
    chips: bytes
    history: bytes

    @property
    def seen(self) -> Seen:
        return Seen(self.head.version, self.head.digest)

    @property
    def file(self) -> bytes:
        """The file's bytes again, of a register that was loaded with its history."""
        table = map(pack_series, self.series)
        return b"".join((pack_head(self.head), self.signature, *table, self.chips, self.history))

    def continues(self, old: LoadedChips) -> bool:
        """Does its history begin with every byte of the old one?"""
        return self.head.version >= old.head.version and self.history.startswith(old.history)


def load(
    path: Path,
    public_key: bytes | None,
    *,
    minimum_version: int = 0,
    house: str | None = None,
    keep_history: bool = True,
) -> LoadedChips:
    """``public_key`` None trusts the key in the file: it proves the file whole, not whose it is."""
    if public_key is not None and len(public_key) != PUBLIC_KEY_BYTES:
        raise RegisterKeyError(Problem("E-CHIP-041", f"a public key has {PUBLIC_KEY_BYTES} bytes"))
    try:
        with path.open("rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            raw = stream.read(HEAD_BYTES)
            head = _head(path, raw, public_key)
            check_version(CHIPS, path, head.version, minimum_version)
            if house is not None and head.house != house:
                said = f"the register of house {head.house}; expected {house}"
                raise _bad(path, "E-CHIP-012", said)
            if size != head.file_bytes:
                said = f"{size} bytes; its head says {head.file_bytes}"
                raise _bad(path, "E-CHIP-005", said)
            series, chips = _chips(path, stream, head)
            history = _history(path, stream, head, keep=keep_history)
            return LoadedChips(head, raw[SIGNED_BYTES:], series, chips, history)
    except OSError as error:
        raise UnreadableError(Problem("E-CHIP-050", str(error.strerror), str(path))) from None


def _bad(path: Path, code: str, text: str) -> RegisterError:
    return RegisterError(Problem(code, text, str(path)))


def _head(path: Path, raw: bytes, public_key: bytes | None) -> Head:
    if raw[: len(MAGIC)] != MAGIC:
        raise _bad(path, "E-CHIP-001", "not a chip register")
    if raw[len(MAGIC) : len(MAGIC) + 1] not in (b"", bytes((FORMAT,))):
        raise _bad(path, "E-CHIP-002", f"format {raw[len(MAGIC)]}; expected {FORMAT}")
    if len(raw) < HEAD_BYTES:
        raise _bad(path, "E-CHIP-005", f"only {len(raw)} bytes; a head has {HEAD_BYTES}")
    signed, signature = raw[:SIGNED_BYTES], raw[SIGNED_BYTES:]
    proof = Signed(signed, signature, signed[-PUBLIC_KEY_BYTES:])
    check_signature(CHIPS, path, proof, public_key, "head")
    head = unpack_head(signed)
    check_structure(CHIPS, path, head_faults(head, signed))
    return head


def _chips(path: Path, stream: IO[bytes], head: Head) -> tuple[tuple[Series, ...], bytes]:
    table = stream.read(head.series_count * SERIES_BYTES)
    chips = stream.read(head.chip_count * CHIP_BYTES)
    hashed = sha256(table)
    hashed.update(chips)
    if hashed.digest() != head.chips_sha256:
        raise _bad(path, "E-CHIP-006", "the chips do not have the hash that was signed")
    series = unpack_series(table)
    check_structure(CHIPS, path, series_faults(series, table))
    check_structure(CHIPS, path, chip_faults(chips, head))
    return series, chips


def _history(path: Path, stream: IO[bytes], head: Head, *, keep: bool) -> bytes:
    kept: list[bytes] = []
    hashed = sha256()
    while piece := stream.read(PIECE_BYTES):
        hashed.update(piece)
        if keep:
            kept.append(piece)
    if hashed.digest() != head.history_sha256:
        raise _bad(path, "E-CHIP-006", "the history does not have the hash that was signed")
    return b"".join(kept)
