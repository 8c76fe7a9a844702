"""Read a register file and believe none of it before it is proven; page section 3.

The steps are in the page's order. No byte of chips or history is looked at before its hash fits.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import IO, Final

from controller.chips.errors import (
    KeyFileError,
    NotPermittedError,
    Problem,
    RegisterError,
    UnreadableError,
)
from controller.chips.layout import (
    CHIP_BYTES,
    FORMAT,
    HEAD_BYTES,
    MAGIC,
    SERIES_BYTES,
    SIGNED_BYTES,
    Head,
    Series,
    pack_head,
    pack_series,
    unpack_head,
    unpack_series,
)
from controller.chips.signing import PUBLIC_KEY_BYTES, fingerprint, verified
from controller.chips.structure import chip_faults, head_faults, series_faults

PIECE_BYTES: Final = 64 * 1024


@dataclass(frozen=True, slots=True)
class Loaded:
    """A register whose signature, hashes and structure hold; ``history`` is empty if not kept."""

    head: Head
    signature: bytes
    series: tuple[Series, ...]
    chips: bytes
    history: bytes


def file_of(loaded: Loaded) -> bytes:
    """The file's bytes again, of a register that was loaded with its history."""
    table = map(pack_series, loaded.series)
    return b"".join(
        (pack_head(loaded.head), loaded.signature, *table, loaded.chips, loaded.history)
    )


def load(
    path: Path,
    public_key: bytes | None,
    *,
    minimum_version: int = 0,
    house: str | None = None,
    keep_history: bool = True,
) -> Loaded:
    """``public_key`` None trusts the key in the file: it proves the file whole, not whose it is."""
    if public_key is not None and len(public_key) != PUBLIC_KEY_BYTES:
        raise KeyFileError(Problem("E-CHIP-041", f"a public key has {PUBLIC_KEY_BYTES} bytes"))
    try:
        with path.open("rb") as stream:
            size = os.fstat(stream.fileno()).st_size
            raw = stream.read(HEAD_BYTES)
            head = _head(path, raw, public_key)
            _wanted(path, head, minimum_version, house)
            _sized(path, head, size)
            series, chips = _chips(path, stream, head)
            history = _history(path, stream, head, keep=keep_history)
            return Loaded(head, raw[SIGNED_BYTES:], series, chips, history)
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
    own_key = signed[-PUBLIC_KEY_BYTES:]
    trusted = own_key if public_key is None else public_key
    if own_key != trusted:
        said = f"signed by {fingerprint(own_key)}; expected {fingerprint(trusted)}"
        raise _bad(path, "E-CHIP-003", said)
    if not verified(trusted, signed, signature):
        raise _bad(path, "E-CHIP-004", "the signature is wrong; the head was altered")
    head = unpack_head(signed)
    _structured(path, head_faults(head, signed))
    return head


def _wanted(path: Path, head: Head, minimum_version: int, house: str | None) -> None:
    if head.version < minimum_version:
        said = f"version {head.version}; expected at least {minimum_version}"
        raise NotPermittedError(Problem("E-CHIP-009", said, str(path)))
    if house is not None and head.house != house:
        raise _bad(path, "E-CHIP-012", f"the register of house {head.house}; expected {house}")


def _sized(path: Path, head: Head, size: int) -> None:
    if size != head.file_bytes:
        said = f"{size} bytes; its head says {head.file_bytes}"
        raise _bad(path, "E-CHIP-005", said)


def _chips(path: Path, stream: IO[bytes], head: Head) -> tuple[tuple[Series, ...], bytes]:
    table = stream.read(head.series_count * SERIES_BYTES)
    chips = stream.read(head.chip_count * CHIP_BYTES)
    hashed = sha256(table)
    hashed.update(chips)
    if hashed.digest() != head.chips_sha256:
        raise _bad(path, "E-CHIP-006", "the chips do not have the hash that was signed")
    series = unpack_series(table)
    _structured(path, series_faults(series, table))
    _structured(path, chip_faults(chips, head))
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


def _structured(path: Path, faults: Iterable[str]) -> None:
    problems = [Problem("E-CHIP-007", f"signed, but {fault}", str(path)) for fault in faults]
    if problems:
        raise RegisterError(*problems)
