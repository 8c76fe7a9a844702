"""What commands read: files, with exit 66 if they cannot, and strict JSON, with exit 65."""

from __future__ import annotations

import json
import os
import re
import sys
from codecs import BOM_UTF8
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import IO, Any, Final

import msgspec

from controller.rules.errors import RecordError
from record.kit.verbs import Stop


class InputError(Stop):
    """The input file cannot be read: exit 66."""

    def __init__(self, text: str) -> None:
        super().__init__(text, os.EX_NOINPUT)


def open_input(path: str) -> IO[bytes]:
    if path == "-":
        if sys.stdin is None:
            raise InputError("-: standard input is closed; give a readable file")
        return sys.stdin.buffer
    try:
        return open(path, "rb")
    except OSError as error:
        raise InputError(
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
                raise InputError(f"{path}: {error.strerror}") from None
            yield line


def _pairs(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    listed = list(pairs)
    row = dict(listed)
    if len(row) != len(listed):
        seen: set[str] = set()
        for key, _ in listed:
            if key in seen:
                raise RecordError("E-REC-018", f".{key}", TWICE)
            seen.add(key)
    return row


TWICE: Final = "the key appears twice in one object; expected it once"
DEEPEST: Final = 100
"""Levels of a document; a record has seven. Decoders differ, and with the version of Python, in how
many they take."""
LONGEST: Final = 4300
"""Digits of a whole number (Python's own limit)."""
_TOKENS: Final = re.compile(r'[{}\[\],]|"(?:[^"\\]|\\.)*"|[^\s{}\[\],:"]+')

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
        value = _bounded(text, _decode(text))
        if b"\\" not in text and _encode(value).count(b'"') == text.count(b'"'):
            return value
    except (msgspec.DecodeError, ValueError, OverflowError, RecursionError):
        pass
    return _parse_strictly(text)


def _parse_strictly(text: bytes) -> Any:
    if text.startswith(BOM_UTF8):
        said = "begins with a byte-order mark (EF BB BF); save it as UTF-8 without one"
        raise RecordError("E-REC-019", "$", said)
    try:
        document = text.decode("utf-8")
    except UnicodeDecodeError as error:
        found = f"byte {error.start} (0x{text[error.start]:02x}) is not UTF-8"
        raise RecordError("E-REC-019", "$", f"{found}; expected JSON in UTF-8") from None
    try:
        return _bounded(text, _strict(document))
    except json.JSONDecodeError as error:
        line = f"line {error.lineno} " if "\n" in document.rstrip() else ""
        where = f"{line}column {error.colno}"
        raise RecordError("E-REC-019", "$", f"not JSON at {where}: {error.msg}") from None
    except (ValueError, RecursionError):
        # A key twice, a number too long, or too deep: said again with its place.
        placed = _placed(document)
        if placed is None:
            raise
        raise placed from None


def _bounded(text: bytes, value: Any) -> Any:
    """The value of this text; RecursionError if it is nested deeper than ``DEEPEST``."""
    if text.count(b"[") + text.count(b"{") > DEEPEST:
        level = [value]
        for _ in range(DEEPEST):
            level = [inner for one in level for inner in _inside(one)]
        if any(isinstance(one, (dict, list)) for one in level):
            raise RecursionError
    return value


def _inside(value: Any) -> Iterable[Any]:
    if isinstance(value, dict):
        return value.values()
    return value if isinstance(value, list) else ()


@dataclass(slots=True)
class _Level:
    """An open container: the keys of an object so far, and the key or index at hand."""

    keys: set[str] | None
    at: str | int = 0

    @property
    def step(self) -> str:
        return f"[{self.at}]" if self.keys is None else f".{self.at}"


def _placed(document: str) -> RecordError | None:
    """The first thing in sound JSON that the strict decoder does not take, with its path."""
    levels: list[_Level] = []
    key_comes = False
    for token in _TOKENS.findall(document):
        if token in ("{", "["):
            if len(levels) == DEEPEST:
                outer = "".join(one.step for one in levels[:8])
                said = f"nested deeper than {DEEPEST} levels; expected a round record"
                return RecordError("E-REC-019", f"${outer}...", said)
            levels.append(_Level(set() if token == "{" else None))
            key_comes = token == "{"
        elif token in ("}", "]"):
            levels.pop()
            key_comes = False
        elif token == ",":
            at = levels[-1].at
            key_comes = levels[-1].keys is not None
            levels[-1].at = at + 1 if isinstance(at, int) else at
        elif key_comes:
            keys, name = levels[-1].keys or set(), str(json.loads(token, strict=False))
            levels[-1].at, key_comes = name, False
            if name in keys:
                return RecordError("E-REC-018", _path(levels), TWICE)
            levels[-1].keys = keys | {name}
        elif (digits := len(token.lstrip("-"))) > LONGEST and token.lstrip("-").isdecimal():
            said = f"{token[:20]}... has {digits} digits; expected at most {LONGEST}"
            return RecordError("E-REC-019", _path(levels), said)
    return None


def _path(levels: list[_Level]) -> str:
    return "$" + "".join(one.step for one in levels)
