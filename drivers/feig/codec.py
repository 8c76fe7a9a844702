"""FEIG frames: bytes to frames and back (docs/protocols/feig.md sections 1 and 2).

Knows frames, CRC and silences; knows no command and no state of a reader. Time comes in with the
bytes. Any bytes in any split give frames or faults; nothing else is raised, nothing grows without
bound, and a frame that follows after a silence is never lost.
"""

from __future__ import annotations

from binascii import crc_hqx
from itertools import pairwise
from typing import Final, NamedTuple

from drivers.base import MS, Fault
from drivers.feig import faults

STX: Final = 0x02
SILENCE_US: Final = 5 * MS
"""Stands before every frame; ends a burst that is complete."""
GAP_US: Final = 12 * MS
"""The longest gap inside a frame; a longer one breaks it."""
MAX_FRAME: Final = 1024
MAX_STANDARD: Final = 255
MAX_BURST: Final = 4096
MIN_STANDARD: Final = 5
MIN_ADVANCED: Final = 7

_MIRRORED: Final = bytes(int(f"{value:08b}"[::-1], 2) for value in range(256))


def crc16(data: bytes) -> int:
    """CRC-16/MCRF4XX. The library's CRC runs the other way round, so bits are mirrored for it."""
    crc = crc_hqx(data.translate(_MIRRORED), 0xFFFF)
    return _MIRRORED[crc >> 8] | _MIRRORED[crc & 0xFF] << 8


class Frame(NamedTuple):
    """One frame; ``body`` is what stands between CMD and CRC: the status too, in an answer."""

    address: int
    command: int
    body: bytes
    advanced: bool
    isolated: bool = True
    """Nothing else stood between the two silences: what the law of the page is about."""


def encode(frame: Frame) -> bytes:
    """The bytes of a frame. ValueError if it is too long for its form: our mistake, not theirs."""
    if frame.advanced:
        length = MIN_ADVANCED + len(frame.body)
        if length > MAX_FRAME:
            raise ValueError(f"advanced frame of {length} bytes, at most {MAX_FRAME}")
        head = bytes((STX, length >> 8, length & 0xFF, frame.address, frame.command))
    else:
        length = MIN_STANDARD + len(frame.body)
        if length > MAX_STANDARD:
            raise ValueError(f"standard frame of {length} bytes, at most {MAX_STANDARD}")
        head = bytes((length, frame.address, frame.command))
    data = head + frame.body
    return data + crc16(data).to_bytes(2, "little")


class _Split(NamedTuple):
    """How a burst divides: its frames, how many were skipped, and why it does not divide."""

    frames: tuple[Frame, ...]
    skipped: int
    trouble: str
    """Empty: it divides to the last byte. ``BROKEN_OFF``: the last frame is not complete."""


def _claimed_length(data: bytes, start: int) -> int | None:
    """The length that the frame at ``start`` claims; 0 if impossible, None if not yet known."""
    first = data[start]
    if first != STX:
        return first if first >= MIN_STANDARD else 0
    if len(data) < start + 3:
        return None
    length = data[start + 1] << 8 | data[start + 2]
    return length if MIN_ADVANCED <= length <= MAX_FRAME else 0


def _frame_at(data: bytes, start: int, end: int, *, isolated: bool) -> Frame | None:
    """The frame in these bytes, or None if its CRC is wrong."""
    if crc16(data[start : end - 2]) != int.from_bytes(data[end - 2 : end], "little"):
        return None
    advanced = data[start] == STX
    head = start + (3 if advanced else 1)
    return Frame(data[head], data[head + 1], data[head + 2 : end - 2], advanced, isolated)


def _split(data: bytes, skips: int, *, whole: bool) -> _Split:
    """Divide a burst into frames, stepping over at most ``skips`` of them that have a wrong CRC."""
    frames: list[Frame] = []
    skipped = 0
    start = 0
    while start < len(data):
        length = _claimed_length(data, start)
        if length == 0:
            return _Split((), skipped, faults.NO_FRAME)
        if length is None or start + length > len(data):
            return _Split((), skipped, faults.BROKEN_OFF)
        end = start + length
        frame = _frame_at(data, start, end, isolated=whole and start == 0 and end == len(data))
        if frame is not None:
            frames.append(frame)
        elif skipped < skips:
            # One more start position and no others: each try is another chance for noise to pass.
            skipped += 1
        else:
            return _Split((), skipped, faults.CRC_WRONG)
        start = end
    return _Split(tuple(frames), skipped, "")


class Decoder:
    """Takes one direction of a line apart into frames. Silence is part of the input."""

    __slots__ = ("_burst", "_drowned", "_failed", "_last_us", "_looked", "_near", "_pauses")

    def __init__(self) -> None:
        self._burst = bytearray()
        self._pauses: list[int] = []
        """Where in the burst a silence of at least SILENCE_US stood."""
        self._last_us = 0
        self._looked = False
        """The burst was looked at after its last byte and is not complete."""
        self._drowned = False
        """The burst was too long; everything up to the next silence is dropped."""
        self._failed = False
        """The burst before this one failed."""
        self._near = False
        """This burst began so soon after a failed one that it may be that one's rest."""

    @property
    def quiet_at_us(self) -> int | None:
        """When silence, if it lasts, will decide something; None while nothing is pending."""
        if not self._burst and not self._drowned:
            return None
        return self._last_us + (GAP_US + 1 if self._looked else SILENCE_US)

    @property
    def last_byte_us(self) -> int:
        return self._last_us

    def reset(self) -> None:
        """Forget everything pending: the line was closed."""
        self._clear()
        self._drowned = self._failed = False

    def feed(self, data: bytes, now_us: int) -> list[Frame | Fault]:
        """Bytes came now. The silence before them counts whether ``quiet`` was called or not."""
        if not data:
            return self.quiet(now_us)
        out = self.quiet(now_us)
        if self._burst and now_us - self._last_us >= SILENCE_US:
            self._pauses.append(len(self._burst))
        if not self._burst:
            self._near = self._failed and now_us - self._last_us <= GAP_US
        self._last_us = max(now_us, self._last_us)
        self._looked = False
        if self._drowned:
            return out
        if len(self._burst) + len(data) > MAX_BURST:
            size = len(self._burst) + len(data)
            self._clear()
            self._drowned = self._failed = True
            out.append(Fault(faults.BURST_TOO_LONG, f"{size} bytes without a silence"))
            return out
        self._burst += data
        return out

    def quiet(self, now_us: int) -> list[Frame | Fault]:
        """No byte came until now."""
        silence_us = now_us - self._last_us
        if silence_us < SILENCE_US:
            return []
        self._drowned = False
        if not self._burst or (self._looked and silence_us <= GAP_US):
            return []
        data = bytes(self._burst)
        split = _split(data, 1, whole=not self._near)
        if split.trouble == faults.BROKEN_OFF and silence_us <= GAP_US:
            self._looked = True
            return []
        self._failed = bool(split.trouble or split.skipped)
        if self._pauses and (split.skipped or not split.frames):
            return self._stretches(data, split.frames)
        self._clear()
        out: list[Frame | Fault] = list(split.frames)
        if split.trouble:
            out.append(_fault(split.trouble, data))
        elif split.skipped:
            out.insert(0, _fault(faults.CRC_WRONG, data))
        return out

    def _stretches(self, data: bytes, found: tuple[Frame, ...]) -> list[Frame | Fault]:
        """Each stretch between two pauses as a burst of its own: the frame after a broken one."""
        out: list[Frame | Fault] = list(found)
        bounds = [0, *self._pauses, len(data)]
        self._clear()
        for start, end in pairwise(bounds):
            stretch = data[start:end]
            split = _split(stretch, 0, whole=False)
            out.extend(frame for frame in split.frames if frame not in found)
            if split.trouble:
                out.append(_fault(split.trouble, stretch))
        return out

    def _clear(self) -> None:
        self._burst.clear()
        self._pauses.clear()
        self._looked = False


def _fault(code: str, data: bytes) -> Fault:
    """A fault with the bytes it is about, as many as a log line takes."""
    shown = data[:32].hex(" ").upper()
    return Fault(code, f"{len(data)} bytes: {shown}{' ...' if len(data) > 32 else ''}")
