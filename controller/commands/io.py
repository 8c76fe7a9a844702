"""What the commands share: arguments with exit 64, files with exit 66, strict JSON with exit 65."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from typing import IO, Any

import msgspec

from controller.rules.errors import RecordError


class Unreadable(Exception):
    """The input file cannot be read: exit 66."""


def open_input(path: str) -> IO[bytes]:
    if path == "-":
        if sys.stdin is None:
            raise Unreadable("-: standard input is closed; give a readable file")
        return sys.stdin.buffer
    try:
        return open(path, "rb")
    except OSError as error:
        raise Unreadable(
            f"{path}: {error.strerror}; give a readable file, or - for stdin"
        ) from None


def read_input(path: str) -> bytes:
    return b"".join(read_lines(path))


def read_lines(path: str) -> Iterator[bytes]:
    """Line by line, so that memory stays flat; a failing read is the input's fault."""
    with open_input(path) as stream:
        lines = iter(stream)
        while True:
            try:
                line = next(lines)
            except StopIteration:
                return
            except OSError as error:
                raise Unreadable(f"{path}: {error.strerror}") from None
            yield line


def _pairs(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    listed = list(pairs)
    row = dict(listed)
    if len(row) != len(listed):
        seen: set[str] = set()
        for key, _ in listed:
            if key in seen:
                raise RecordError("E-REC-018", f"$..{key}", "the key appears twice in one object")
            seen.add(key)
    return row


_strict = json.JSONDecoder(object_pairs_hook=_pairs).decode
_decode = msgspec.json.Decoder().decode
_encode = msgspec.json.Encoder().encode


def parse_json(text: bytes) -> Any:
    """Strict JSON: UTF-8, no key twice; raises RecordError.

    The fast decoder keeps the last of two equal keys without a word. Written out again, its value
    has fewer quotation marks than the text exactly when it dropped something, so those texts (and
    texts with escapes, where the count says nothing) go to the strict one, which also explains.
    """
    try:
        value = _decode(text)
        if b"\\" not in text and _encode(value).count(b'"') == text.count(b'"'):
            return value
    except (msgspec.DecodeError, ValueError, OverflowError, RecursionError):
        pass
    return _parse_strictly(text)


def _parse_strictly(text: bytes) -> Any:
    try:
        return _strict(text.decode("utf-8"))
    except RecordError:
        raise
    except UnicodeDecodeError as error:
        raise RecordError("E-REC-019", "$", f"byte {error.start} is not UTF-8") from None
    except json.JSONDecodeError as error:
        where = f"line {error.lineno} column {error.colno}"
        raise RecordError("E-REC-019", "$", f"not JSON at {where}: {error.msg}") from None
    except (ValueError, RecursionError) as error:
        raise RecordError("E-REC-019", "$", f"not a usable JSON document: {error}") from None
