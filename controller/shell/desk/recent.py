"""The last frames of every line and the last readings of all devices, in memory only.

Fed on the loop from where the frame log is fed; nothing waits for it. What is kept here holds cards
nobody has seen: only ``decoding`` and ``readings`` say what of it may leave.
"""

from __future__ import annotations

from collections import deque
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal

from controller.shell.desk.readings import row_of
from drivers.base import DeviceIdentified
from drivers.readings import CardRead, PacketRead, Reading

FRAMES: Final = 1024
"""Pieces kept of each line: about a minute, a whole deal."""
READINGS: Final = 512
KEYS: Final = 128
Direction = Literal["in", "out"]


@dataclass(frozen=True, slots=True)
class Piece:
    """Bytes as they went over a line: one read or one write."""

    at_us: int
    direction: Direction
    data: bytes = field(repr=False)


@dataclass(frozen=True, slots=True)
class Dealt:
    """A reading that brought cards: its name for ever, to find out what of it became public."""

    device: str
    at_us: int
    number: int
    key: int


class Recent:
    def __init__(self) -> None:
        self._pieces: dict[str, deque[Piece]] = {}
        self._readings: deque[tuple[int, dict[str, Any]]] = deque(maxlen=READINGS)
        self._next = 1
        self.dealt: deque[Dealt] = deque(maxlen=KEYS)
        self.identities: dict[str, dict[str, str]] = {}
        """What each device said of itself in its last handshake."""

    def frame(self, device: str, direction: Direction, data: bytes, at_us: int) -> None:
        kept = self._pieces.get(device)
        if kept is None:
            kept = self._pieces[device] = deque(maxlen=FRAMES)
        kept.append(Piece(at_us, direction, data))

    def reading(self, one: Reading) -> None:
        match one:
            case CardRead(device, number):
                self.dealt.append(Dealt(device, one.at_us, number, one.key))
            case PacketRead(device, number):
                self.dealt.append(Dealt(device, one.at_us, number, one.key))
            case DeviceIdentified(device, identity):
                self.identities[device] = asdict(identity)
            case _:
                pass
        row = row_of(one)
        if row is not None:
            self._readings.append((self._next, row))
            self._next += 1

    def pieces(self, device: str) -> tuple[Piece, ...]:
        return tuple(self._pieces.get(device, ()))

    @property
    def last(self) -> int:
        """The number of the last reading."""
        return self._next - 1

    def after(self, number: int, device: str = "") -> tuple[list[dict[str, Any]], int]:
        """Readings later than this number, of one device if it is named; and how many of all are
        forgotten already."""
        kept = [(at, row) for at, row in self._readings if at > number]
        missed = self.last - number - len(kept)
        rows = [row for _, row in kept if not device or row["device"] == device]
        return rows, max(0, missed)
