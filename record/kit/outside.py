"""PURE: text and JSON that come from outside: read strictly, printed safely.

One rule for every door: UTF-8, no number with a point, no huge number, no control character, no
name twice in one object, nothing nested without end. What passes can be stored in every column and
shown on every terminal.
"""

from __future__ import annotations

import json
import re
from typing import Any, Final

WIRE_INT: Final = (1 << 53) - 1
"""The largest whole number that every JSON reader keeps exact."""
INT64: Final = (1 << 63) - 1
LONGEST_TEXT: Final = 4_096
DEEPEST: Final = 32

_CONTROL: Final = re.compile(
    "[\x00-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff\ufeff]"
)
"""Control characters, line separators, marks that turn the direction of text, half characters."""
_OUTPUT: Final = re.compile(rf"\r?\n|{_CONTROL.pattern}")
_SHOWN: Final = 40


class NotStrict(ValueError):
    """``$.note: control character U+0000; expected plain text``."""


def read_json(text: bytes, *, most_int: int = WIRE_INT, longest: int | None = LONGEST_TEXT) -> Any:
    """The value, or ``NotStrict`` with the place, the value and what is allowed. With ``longest``
    None the caller judges texts itself."""
    try:
        value = json.loads(text, object_pairs_hook=_named_once, parse_constant=_no_constant)
    except NotStrict:
        raise
    except (ValueError, RecursionError) as error:
        raise NotStrict(f"not JSON: {printable(str(error))[:200]}") from None
    check(value, most_int=most_int, longest=longest)
    return value


def check(
    value: Any,
    place: str = "$",
    *,
    most_int: int = WIRE_INT,
    longest: int | None = LONGEST_TEXT,
) -> None:
    """``NotStrict`` if there is a fault."""
    wrong = fault(value, place, most_int=most_int, longest=longest)
    if wrong is not None:
        raise NotStrict(wrong)


def fault(
    value: Any,
    place: str = "$",
    *,
    most_int: int = WIRE_INT,
    longest: int | None = LONGEST_TEXT,
) -> str | None:
    """What is wrong with a value that was read from JSON, or None."""
    return _fault(value, place, most_int, longest, DEEPEST)


def _fault(value: Any, place: str, most_int: int, longest: int | None, deeper: int) -> str | None:
    kind = type(value)
    if kind is str:
        wrong = text_fault(value, longest)
        return None if wrong is None else f"{place}: {wrong}"
    if kind is int:
        if -most_int <= value <= most_int:
            return None
        return f"{place}: {_digits(value)}; expected a whole number up to {most_int}"
    if value is None or kind is bool:
        return None
    if kind is float:
        return f"{place}: {value!r}; expected a whole number, without point or exponent"
    if not deeper:
        return f"{place}: nested deeper than {DEEPEST}; expected less"
    if kind is dict:
        for name, item in value.items():
            wrong = text_fault(name, longest)
            if wrong is not None:
                return f"{place}: a name with {wrong}"
            wrong = _fault(
                item, f"{place}.{printable(name[:_SHOWN])}", most_int, longest, deeper - 1
            )
            if wrong is not None:
                return wrong
        return None
    for number, item in enumerate(value):
        wrong = _fault(item, f"{place}[{number}]", most_int, longest, deeper - 1)
        if wrong is not None:
            return wrong
    return None


def text_fault(text: str, longest: int | None = LONGEST_TEXT) -> str | None:
    """What is wrong with a text, or None."""
    if longest is None:
        return None
    if len(text) > longest:
        return f"{len(text)} characters; expected at most {longest}"
    if not text.isprintable():
        found = _CONTROL.search(text)
        if found is not None:
            return f"control character U+{ord(found[0]):04X}; expected plain text"
    return None


def printable(text: str) -> str:
    """One line that moves no cursor, whatever is in it: control characters are shown escaped."""
    return text if text.isprintable() else _CONTROL.sub(_escaped, text)


def printable_lines(text: str) -> str:
    """The same for text of several lines; lines may end in CR LF."""
    lines = text.split("\n")
    return "\n".join(
        f"{printable(line[:-1])}\r" if line[-1:] == "\r" else printable(line) for line in lines
    )


def printable_json(text: str) -> str:
    """The same for JSON: what is escaped means what it was."""
    return "\n".join(_CONTROL.sub(_escaped_json, line) for line in text.split("\n"))


def printable_output(text: str) -> str:
    """The same for whatever a command prints, text or JSON; lines may end in CR LF."""
    return _OUTPUT.sub(_kept_or_escaped, text)


def excerpt(data: bytes, most: int) -> str:
    """The beginning of bytes that nobody vouches for, as ASCII that can be stored anywhere."""
    return "".join(chr(b) if 32 <= b < 127 and b != 92 else f"\\x{b:02x}" for b in data[:most])


def _escaped(found: re.Match[str]) -> str:
    number = ord(found[0])
    return f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}"


def _kept_or_escaped(found: re.Match[str]) -> str:
    return found[0] if found[0][-1] == "\n" else _escaped_json(found)


def _escaped_json(found: re.Match[str]) -> str:
    return f"\\u{ord(found[0]):04x}"


def _digits(value: int) -> str:
    """A number of thousands of digits is not printed, and Python would refuse to."""
    return str(value) if value.bit_length() <= 128 else f"a number of {value.bit_length()} bits"


def _named_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise NotStrict(f"the name {printable(twice)[:_SHOWN]!r} twice; expected each name once")
    return made


def _no_constant(name: str) -> None:
    raise NotStrict(f"{name}; expected a whole number")
