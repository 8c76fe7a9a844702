"""A driver for an imaginary shoe, complete: the worked example of docs/protocols/vendor-drivers.md.

The Acme shoe talks in lines of ASCII, 19200 8N1. Each line ends with ``*``, two hex digits (the XOR
of everything before the star) and a line feed.

    host    ID?*hh                     every 300 ms
    shoe    ID SERIAL FIRMWARE*hh
    shoe    CARD nnnnn RS*hh           a card left: its number since loading, rank and suit (TH)
    host    OK nnnnn*hh                the card is on disk; the shoe repeats it until it hears this
"""

from __future__ import annotations

from collections import Counter
from typing import Final

from drivers.base import (
    MS,
    DeviceIdentified,
    DeviceState,
    Fault,
    Identity,
    LineSettings,
    Reopen,
    StateReported,
    Write,
)
from drivers.layout import LineLayout
from drivers.orders import AcknowledgeReading, Order
from drivers.readings import CardRead, SealedCard

POLL_US: Final = 300 * MS
SILENT_US: Final = 800 * MS
REOPEN_US: Final = 3_000 * MS
LONGEST_LINE: Final = 64
RANKS: Final = "A23456789TJQK"
SUITS: Final = "CDHS"


def sealed(text: str) -> bytes:
    """A line with its checksum and line feed."""
    return f"{text}*{_xor(text.encode()):02X}\n".encode()


def opened_line(line: bytes) -> str | None:
    """The text of a line without its line feed; None if its checksum is wrong."""
    text, star, check = line.rpartition(b"*")
    if not star or check != b"%02X" % _xor(text) or not text.isascii():
        return None
    return text.decode("ascii")


def _xor(data: bytes) -> int:
    value = 0
    for byte in data:
        value ^= byte
    return value


class AcmeShoeDriver:
    """Pure: bytes and the time in, actions out. It opens nothing and sleeps never."""

    settings = LineSettings(19200)

    def __init__(self, name: str, serial: str) -> None:
        self.name = name
        self.counters: Counter[str] = Counter()
        self._serial = serial
        self._state = DeviceState.UNKNOWN
        self._buffer = bytearray()
        self._poll_us: int | None = None
        self._heard_us = 0
        self._last_number = 0
        self._durable: set[int] = set()

    @property
    def wake_us(self) -> int | None:
        return self._poll_us

    def opened(self, now_us: int) -> list[object]:
        self._heard_us = now_us
        return self.advance(now_us)

    def closed(self, why: str, now_us: int) -> list[object]:
        self._poll_us = None
        self._buffer.clear()
        return self._become(DeviceState.UNKNOWN, Fault("E-ACME-001", why), now_us)

    def advance(self, now_us: int) -> list[object]:
        """Ask who is there; silence makes the state unknown, a longer one reopens the line."""
        actions: list[object] = []
        if now_us - self._heard_us >= SILENT_US:
            fault = Fault("E-ACME-002", "the shoe is silent")
            actions += self._become(DeviceState.UNKNOWN, fault, now_us)
            if now_us - self._heard_us >= REOPEN_US:
                self._heard_us = now_us
                actions.append(Reopen(fault))
        self._poll_us = now_us + POLL_US
        return [*actions, Write(sealed("ID?"))]

    def received(self, data: bytes, now_us: int) -> list[object]:
        actions: list[object] = []
        for byte in data:
            if byte == 0x0A:
                actions += self._line(bytes(self._buffer), now_us)
                self._buffer.clear()
            elif len(self._buffer) < LONGEST_LINE:
                self._buffer.append(byte)
        return actions

    def order(self, order: Order, now_us: int) -> list[object]:  # noqa: ARG002 (the shape)
        """The table has a card on disk: now, and only now, the shoe may forget it."""
        if isinstance(order, AcknowledgeReading) and order.device == self.name:
            self._durable.add(order.key)
            return [Write(sealed(f"OK {order.key:05d}"))]
        return []

    # --- lines ---------------------------------------------------------------------------------

    def _line(self, line: bytes, now_us: int) -> list[object]:
        text = opened_line(line)
        if text is None:
            self.counters["E-ACME-003"] += 1  # spoiled on the wire: the shoe repeats a card
            return []
        match text.split(" "):
            case ["ID", serial, firmware]:
                return self._identified(serial, firmware, now_us)
            case ["CARD", number, card] if number.isdecimal() and self._is_card(card):
                return self._card(int(number), card, now_us)
            case _:
                self.counters["E-ACME-004"] += 1
                return []

    @staticmethod
    def _is_card(card: str) -> bool:
        return len(card) == 2 and card[0] in RANKS and card[1] in SUITS

    def _identified(self, serial: str, firmware: str, now_us: int) -> list[object]:
        self._heard_us = now_us
        if serial != self._serial:
            fault = Fault("E-ACME-005", f"shoe {serial} where {self._serial} belongs")
            return self._become(DeviceState.LOCKED, fault, now_us)
        if self._state is DeviceState.READY:
            return []
        identity = Identity("ACME", "SHOE", serial, firmware)
        told = DeviceIdentified(self.name, identity, now_us)
        return [told, *self._become(DeviceState.READY, None, now_us)]

    def _card(self, number: int, card: str, now_us: int) -> list[object]:
        if self._state is not DeviceState.READY:
            return []  # not acknowledged, so it comes again once we know who is talking
        self._heard_us = now_us
        if number in self._durable:
            return [Write(sealed(f"OK {number:05d}"))]
        if number == self._last_number:
            return []  # on its way to disk
        self._last_number = number
        code = SUITS.index(card[1]) << 4 | (RANKS.index(card[0]) + 1)
        return [CardRead(self.name, number, SealedCard(code), now_us, key=number)]

    def _become(self, state: DeviceState, reason: Fault | None, now_us: int) -> list[object]:
        if state is self._state:
            return []
        self._state = state
        return [StateReported(self.name, state, reason, now_us)]


def make(line: LineLayout) -> AcmeShoeDriver:
    """The entry point: from the layout's [[line]] with kind = "acme-shoe"."""
    return AcmeShoeDriver(line.name, line.serial)
