"""Alpha sign: commands to the sign, and the sans-I/O decoder of its answers.

Bytes in, answers and typed faults out; no time but what is passed in, no I/O. Nothing that a sign
says is information for the table: an answer is only compared with what was written. Source:
docs/protocols/alpha.md, sections 2 and 3.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from drivers.base import MS, Fault

NUL: Final = 0x00
SOH: Final = 0x01
STX: Final = 0x02
ETX: Final = 0x03
EOT: Final = 0x04

PREAMBLE: Final = bytes(5)
HEADER: Final = b"\x01Z00"
ANSWER_TYPE: Final = ord("0")

TEXT_LABEL: Final = "A"
STRING_LABEL: Final = "1"
POSITION_MIDDLE: Final = b"\x20"
MODE_HOLD: Final = b"b"
CALL_STRING: Final = b"\x10"

FRAME_LIMIT: Final = 256
"""Bytes from SOH to EOT; the longest answer we can ask for has 2 + 125 + 10."""
GAP_US: Final = 500 * MS
STRING_LIMIT: Final = 125
"""The protocol's largest STRING file."""

BROKEN_OFF: Final = "E-DSP-026"
TOO_LONG: Final = "E-DSP-027"
BAD_CHECKSUM: Final = "E-DSP-028"
NOT_ALPHA: Final = "E-DSP-029"

_HEX: Final = frozenset(b"0123456789ABCDEF")


@dataclass(frozen=True, slots=True)
class Answer:
    """The contents of a STRING file, as the sign says."""

    label: str
    text: str


# --- to the sign -------------------------------------------------------------------------------


def checksum(body: bytes) -> bytes:
    """The sum from STX to ETX, both included, as four capital hex digits."""
    return b"%04X" % (sum(body) & 0xFFFF)


def frame(*commands: bytes) -> bytes:
    """One frame to all signs; several commands are nested in it."""
    bodies = (b"\x02" + command + b"\x03" for command in commands)
    return PREAMBLE + HEADER + b"".join(body + checksum(body) for body in bodies) + b"\x04"


def writes_of(data: bytes) -> list[bytes]:
    """A frame in the pieces between which the host pauses: a new one after each STX."""
    pieces = data.split(b"\x02")
    return [piece + b"\x02" for piece in pieces[:-1]] + [pieces[-1]]


def printable(text: str) -> str:
    """The text in the characters that a sign surely has."""
    return "".join(c if " " <= c <= "~" else "?" for c in text)


def allocate(text_size: int, string_size: int) -> bytes:
    """Make TEXT A and STRING 1. Wipes everything on the sign."""
    return b"E$AAU%04XFF001BL%04X0000" % (text_size, string_size)


def write_text(text: str) -> bytes:
    """TEXT A: the text, then the contents of STRING 1, held still."""
    return (
        b"A"
        + TEXT_LABEL.encode("ascii")
        + b"\x1b"
        + POSITION_MIDDLE
        + MODE_HOLD
        + printable(text).encode("ascii")
        + CALL_STRING
        + STRING_LABEL.encode("ascii")
    )


def write_string(text: str) -> bytes:
    return b"G" + STRING_LABEL.encode("ascii") + printable(text).encode("ascii")


def read_string() -> bytes:
    return b"H" + STRING_LABEL.encode("ascii")


# --- from the sign -----------------------------------------------------------------------------


def parse_answer(body: bytes) -> Answer | Fault:
    """What stands between SOH and EOT, both left out."""
    if any(value > 0x7F for value in body):
        return Fault(NOT_ALPHA, "a byte with its eighth bit set")
    address, command, digits = body[1:3], body[3:-4], body[-4:]
    if len(body) < 11 or body[0] != ANSWER_TYPE or not _HEX.issuperset(address + digits):
        return Fault(NOT_ALPHA, f"not an answer: {len(body)} bytes")
    if command[0] != STX or command[-1] != ETX or command[1:2] != b"G":
        return Fault(NOT_ALPHA, "not the contents of a STRING file")
    if checksum(command) != digits:
        return Fault(BAD_CHECKSUM, f"{digits!r}, computed {checksum(command)!r}")
    text = command[2:-1]
    if any(value < 0x20 for value in text):
        return Fault(NOT_ALPHA, "a control code in the text")
    return Answer(chr(text[0]), text[1:].decode("ascii"))


class AnswerDecoder:
    """Bytes in any split give answers and faults; SOH is recognised everywhere."""

    def __init__(self) -> None:
        self._frame: bytearray | None = None
        self._last_us = 0

    @property
    def buffered(self) -> int:
        return 0 if self._frame is None else len(self._frame)

    def reset(self) -> None:
        self._frame = None

    def feed(self, data: bytes, now_us: int) -> list[Answer | Fault]:
        out: list[Answer | Fault] = []
        if data and self._frame is not None and now_us - self._last_us > GAP_US:
            self._frame = None
            out.append(Fault(BROKEN_OFF, "silence inside an answer"))
        self._last_us = now_us
        for value in data:
            fact = self._byte(value)
            if fact is not None:
                out.append(fact)
        return out

    def _byte(self, value: int) -> Answer | Fault | None:
        if value == SOH:
            broken, self._frame = self._frame is not None, bytearray()
            return Fault(BROKEN_OFF, "an answer began inside another") if broken else None
        if self._frame is None:
            return None
        if value == EOT:
            body, self._frame = bytes(self._frame), None
            return parse_answer(body)
        if len(self._frame) >= FRAME_LIMIT - 2:
            self._frame = None
            return Fault(TOO_LONG, f"more than {FRAME_LIMIT} bytes")
        self._frame.append(value)
        return None
