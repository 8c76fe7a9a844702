"""The overhead sign: Alpha protocol, one-byte form (docs/protocols/alpha.md).

A frame is judged when its EOT is there: one wrong checksum in it and all of it is dropped.
"""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Final

from hw_sim.clock import MS, SECOND, Timer
from hw_sim.line import Line

SOH: Final = 0x01
STX: Final = 0x02
ETX: Final = 0x03
EOT: Final = 0x04
CALL_STRING: Final = 0x10
ESCAPE: Final = 0x1B
COLOUR: Final = 0x1C
CODES: Final = (CALL_STRING, ESCAPE, COLOUR)
"""The only bytes below 20 that the data of a command may hold."""
CAPITAL_HEX: Final = frozenset(b"0123456789ABCDEF")
TEXT: Final = 0x41
STRING: Final = 0x42
POSITIONS: Final = b'\x20"&0'
MODES: Final = b"abc"
ALL_SIGNS: Final = b"00"
NULS: Final = 20
ENTRY: Final = 11
"""Bytes per file in an allocation."""
GREETING: Final = "ALPHA"
"""What a sign shows that has nothing else to show; each maker has words of his own."""
LONGEST: Final = 4096
"""A frame beyond this is not one: no sign has room for it."""
SILENCE_US: Final = SECOND
STX_PAUSE_US: Final = 100 * MS
BUSY_US: Final = (300 * MS, 950 * MS)
"""How long an allocation keeps the sign busy; at most 1 s on the page."""
ANSWER_US: Final = (20 * MS, 180 * MS)
"""How soon the answer begins; at most 200 ms on the page."""


@dataclass
class File:
    kind: int
    size: int
    content: bytes = b""


def checksum(command: bytes) -> bytes:
    """Four capital hex digits over everything from STX to ETX."""
    return b"%04X" % (sum(command) & 0xFFFF)


def answer(address: bytes, label: int, content: bytes) -> bytes:
    """The frame a sign sends when one of its STRING files is read."""
    command = bytes((STX, 0x47, label)) + content + bytes((ETX,))
    start = bytes(NULS) + bytes((SOH,)) + b"0" + address
    return start + command + checksum(command) + bytes((EOT,))


def split_commands(body: bytes) -> list[bytes] | None:
    """The commands between address and EOT, without STX, ETX and sum; None if one is wrong."""
    commands: list[bytes] = []
    at = 0
    while at < len(body):
        end = body.find(ETX, at)
        if body[at] != STX or end < 0:
            return None
        command, sum_sent = body[at : end + 1], body[end + 1 : end + 5]
        if sum_sent != checksum(command):
            return None
        content = command[1:-1]
        if not content or any(not (0x20 <= b <= 0x7F or b in CODES) for b in content):
            return None
        commands.append(content)
        at = end + 5
    return commands or None


class AlphaSign:
    """The sign. ``battery``: its files outlive a loss of power."""

    baud = 9600
    bits_per_char = 11

    def __init__(self, rng: random.Random) -> None:
        self._rng = rng
        self._line: Line | None = None
        self.muted = False
        self.battery = True
        self.address = ALL_SIGNS
        self.files: dict[int, File] = {}
        self.blanked = 0
        """How often what is shown was wiped or restarted."""
        self.dropped = 0
        """Frames that were broken off or wrong."""
        self.hurried = 0
        """STX after which the host did not pause."""
        self._answers: list[Timer] = []
        self._answer_free_us = 0
        self._start()

    # --- power and cable -----------------------------------------------------------------------

    def attach(self, line: Line) -> None:
        self._line = line

    def plugged(self, on: bool) -> None:
        """The sign has its own power and does not notice; a broken frame ends by its silence."""

    def reboot(self) -> None:
        if not self.battery:
            self.files.clear()
        self._restart()

    def _start(self) -> None:
        self._frame: bytearray | None = None
        self._last_us = 0
        self._stx_us: int | None = None
        self._busy_until_us = 0
        self._greeting = not self.files

    def _restart(self) -> None:
        for timer in self._answers:
            timer.cancel()
        self._answers.clear()
        self._start()
        self.blanked += 1

    @property
    def _now_us(self) -> int:
        return self._line.clock.now_us if self._line is not None else 0

    # --- what a person sees --------------------------------------------------------------------

    def visible(self) -> str:
        """TEXT A with its STRING calls replaced; colours and positions are not told."""
        if self._greeting:
            return GREETING
        shown = self.files.get(ord("A"))
        if shown is None or shown.kind != TEXT:
            return ""
        return "".join(self._readable(shown.content, 2))

    def _readable(self, content: bytes, depth: int) -> Iterator[str]:
        """Characters of a file; ``depth`` ends a STRING that calls itself."""
        bytes_left = iter(content)
        for byte in bytes_left:
            if byte == CALL_STRING:
                called = self._string(next(bytes_left, 0))
                if called is not None and depth > 1:
                    yield from self._readable(called.content, depth - 1)
            elif byte == COLOUR:
                next(bytes_left, None)
            elif byte == ESCAPE:
                next(bytes_left, None)
                next(bytes_left, None)
            else:
                yield chr(byte)

    def _string(self, label: int) -> File | None:
        found = self.files.get(label)
        return found if found is not None and found.kind == STRING else None

    # --- the line ------------------------------------------------------------------------------

    def receive(self, data: bytes) -> None:
        now_us = self._now_us
        if self._frame is not None and now_us - self._last_us >= SILENCE_US:
            self._drop()
        self._last_us = now_us
        for byte in data:
            if now_us < self._busy_until_us:
                self._frame = None
                continue
            if self._stx_us is not None:
                self.hurried += now_us - self._stx_us < STX_PAUSE_US
                self._stx_us = None
            self._take(byte)

    def _take(self, byte: int) -> None:
        if byte == SOH:
            if self._frame is not None:
                self._drop()
            self._frame = bytearray()
        elif self._frame is None:
            return
        elif byte == EOT:
            frame, self._frame = bytes(self._frame), None
            self._judge(frame)
        else:
            self._frame.append(byte)
            if byte == STX:
                self._stx_us = self._now_us
            if len(self._frame) > LONGEST:
                self._drop()

    def _drop(self) -> None:
        self._frame, self._stx_us = None, None
        self.dropped += 1

    def _judge(self, frame: bytes) -> None:
        """Type, address, then the commands; a frame for another sign is none of its business."""
        commands = split_commands(frame[3:])
        kind, address = frame[:1], frame[1:3]
        if kind != b"Z" or not CAPITAL_HEX.issuperset(address) or commands is None:
            self._drop()
        elif address in (ALL_SIGNS, self.address):
            for command in commands:
                self._obey(command)

    # --- commands ------------------------------------------------------------------------------

    def _obey(self, command: bytes) -> None:
        """What makes no sense is ignored, without a word."""
        match command[0]:
            case 0x41:
                self._write_text(command[1:])
            case 0x47 if len(command) > 1:
                self._write_string(command[1], command[2:])
            case 0x48 if len(command) == 2:
                self._read_string(command[1])
            case 0x45 if command[1:2] == b"$":
                self._allocate(command[2:])
            case 0x45 if command == b"E,":
                self._restart()

    def _write_text(self, data: bytes) -> None:
        if len(data) < 4 or data[1] != ESCAPE:
            return
        label, position, mode, text = data[0], data[2], data[3], data[4:]
        found = self.files.get(label)
        if position not in POSITIONS or mode not in MODES:
            return
        if found is not None and found.kind == TEXT and len(text) <= found.size:
            found.content = text
            self.blanked += 1

    def _write_string(self, label: int, text: bytes) -> None:
        found = self._string(label)
        if found is not None and len(text) <= found.size:
            found.content = text

    def _read_string(self, label: int) -> None:
        found = self._string(label)
        frame = answer(self.address, label, b"" if found is None else found.content)
        if self._line is None:
            return
        clock = self._line.clock
        at_us = max(self._answer_free_us, clock.now_us + self._rng.randint(*ANSWER_US))
        self._answer_free_us = at_us
        self._answers = [t for t in self._answers if t.at_us > clock.now_us]
        self._answers.append(clock.at(at_us, partial(self._send, frame)))

    def _send(self, frame: bytes) -> None:
        if self._line is not None and not self.muted:
            self._line.send(frame)

    def _allocate(self, data: bytes) -> None:
        entries = [data[at : at + ENTRY] for at in range(0, len(data), ENTRY)]
        if not all(self._good_entry(entry) for entry in entries):
            return
        self.files = {entry[0]: File(entry[1], int(entry[3:7], 16)) for entry in entries}
        self._greeting = False
        self.blanked += 1
        self._busy_until_us = self._now_us + self._rng.randint(*BUSY_US)

    @staticmethod
    def _good_entry(entry: bytes) -> bool:
        return (
            len(entry) == ENTRY
            and entry[1] in (TEXT, STRING)
            and entry[2] in b"UL"
            and CAPITAL_HEX.issuperset(entry[3:])
        )
