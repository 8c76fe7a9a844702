"""A driver for an imaginary shoe, complete: the worked example of docs/protocols/vendor-drivers.md.

The Acme shoe talks in lines of ASCII, 19200 8N1. Each line ends with ``*``, two hex digits (the XOR
of everything before the star) and a line feed.

    host    ID?*hh                            every 300 ms
    shoe    ID SERIAL FIRMWARE lllll nnn*hh   its load, and the last card of it that it heard OK for
    host    LOCK 1*hh, LOCK 0*hh              keep the gate shut; let cards out
    shoe    LOAD lllll*hh                     a deck was loaded; counted for the life of the shoe
    shoe    CARD lllll nnn RS*hh              card nnn of this load left: rank and suit (TH), CC the
                                              cut card, ?? a card that it could not read
    host    OK lllll nnn*hh                   the card (000: the load) is on disk

The shoe says LOAD or CARD again every 200 ms until it hears OK, and lets no card out meanwhile.
"""

from __future__ import annotations

from collections import Counter, deque
from typing import Final

from underfelt.driver import (
    MS,
    AcknowledgeReading,
    CardEvent,
    CardRead,
    DeviceIdentified,
    DeviceState,
    Fault,
    Identity,
    LineAction,
    LineLayout,
    LineSettings,
    LockCards,
    Order,
    Reopen,
    SealedCard,
    StateReported,
    Write,
)

POLL_US: Final = 300 * MS
SILENT_US: Final = 800 * MS
REOPEN_US: Final = 3_000 * MS
LONGEST_LINE: Final = 64
REMEMBERED: Final = 16
"""Keys that are on disk. Only the last can rightly come again."""
RANKS: Final = "A23456789TJQK"
SUITS: Final = "CDHS"
CUT, UNREAD = "CC", "??"
Position = tuple[int, int]
"""Load and card; card 0 is the load itself."""


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


def key_of(here: Position) -> int:
    """Never the same for two events of one shoe, whatever is loaded, restarted or exchanged."""
    return here[0] * 1_000 + here[1] + 1


def position_of(key: int) -> Position:
    return divmod(key - 1, 1_000)


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
        self._locked = True
        """What the table wants; shut until it says otherwise."""
        self._position: Position | None = None
        """Of the event reported last; None: a new start, wherever the shoe stands is right."""
        self._before: Position | None = None
        self._durable: deque[int] = deque(maxlen=REMEMBERED)

    @property
    def wake_us(self) -> int | None:
        return self._poll_us

    def opened(self, now_us: int) -> list[LineAction]:
        self._heard_us = now_us
        return self.advance(now_us)

    def closed(self, why: str, now_us: int) -> list[LineAction]:
        self._poll_us = None
        self._buffer.clear()
        return self._become(DeviceState.UNKNOWN, Fault("E-ACME-001", why), now_us)

    def advance(self, now_us: int) -> list[LineAction]:
        """Ask who is there; silence makes the state unknown, a longer one reopens the line."""
        actions: list[LineAction] = []
        if now_us - self._heard_us >= SILENT_US:
            fault = Fault("E-ACME-002", "the shoe is silent")
            actions += self._become(DeviceState.UNKNOWN, fault, now_us)
            if now_us - self._heard_us >= REOPEN_US:
                self._heard_us = now_us
                actions.append(Reopen(fault))
        self._poll_us = now_us + POLL_US
        # Said with every question: a shoe that was restarted, or missed it, still obeys.
        lock = [Write(self._lock())] if self._state is DeviceState.READY else []
        return [*actions, Write(sealed("ID?")), *lock]

    def received(self, data: bytes, now_us: int) -> list[LineAction]:
        actions: list[LineAction] = []
        for byte in data:
            if byte == 0x0A:
                actions += self._line(bytes(self._buffer), now_us)
                self._buffer.clear()
            elif len(self._buffer) < LONGEST_LINE:
                self._buffer.append(byte)
        return actions

    def order(self, order: Order, now_us: int) -> list[LineAction]:  # noqa: ARG002 (the shape)
        match order:
            case AcknowledgeReading(device=self.name, key=key):
                # The table has it on disk: now, and only now, the shoe may forget it.
                self._durable.append(key)
                return [Write(self._ok(position_of(key)))]
            case LockCards(locked=locked) if locked is not self._locked:
                self._locked = locked
                return [Write(self._lock())] if self._state is DeviceState.READY else []
            case _:
                return []

    # --- lines ---------------------------------------------------------------------------------

    def _line(self, line: bytes, now_us: int) -> list[LineAction]:
        text = opened_line(line)
        if text is None:
            self.counters["E-ACME-003"] += 1  # spoiled on the wire: the shoe repeats itself
            return []
        match text.split(" "):
            case ["ID", serial, firmware, load, number] if _are_numbers(load, number):
                self.counters["frames"] += 1
                here = (int(load), int(number))
                return self._identified(serial, firmware, here, now_us)
            case ["LOAD", load] if _are_numbers(load):
                return self._event((int(load), 0), "", now_us)
            case ["CARD", load, number, card] if _are_numbers(load, number) and _is_card(card):
                return self._event((int(load), int(number)), card, now_us)
            case _:
                self.counters["E-ACME-004"] += 1
                return []

    def _identified(
        self, serial: str, firmware: str, here: Position, now_us: int
    ) -> list[LineAction]:
        self._heard_us = now_us
        if serial != self._serial:
            fault = Fault("E-ACME-005", f"shoe {serial} where {self._serial} belongs")
            return self._become(DeviceState.LOCKED, fault, now_us)
        told: list[LineAction] = []
        if self._position is None:
            self._position = self._before = here
        elif here not in (self._position, self._before):
            told += self._broken(here, here[1] - self._position[1], now_us)
        if self._state is DeviceState.READY:
            return told
        identity = Identity("ACME", "SHOE", serial, firmware)
        told.append(DeviceIdentified(self.name, identity, now_us))
        return [*told, *self._become(DeviceState.READY, None, now_us), Write(self._lock())]

    def _event(self, here: Position, card: str, now_us: int) -> list[LineAction]:
        if self._state is not DeviceState.READY:
            return []  # not acknowledged, so it comes again once we know who is talking
        self.counters["frames"] += 1
        self._heard_us = now_us
        key = key_of(here)
        if key in self._durable:
            return [Write(self._ok(here))]
        if here == self._position and self._before != here:
            return []  # on its way to disk
        told = self._follow(here, now_us)
        load, number = here
        match card:
            case "":
                loaded = CardEvent(self.name, "loaded", load, at_us=now_us, key=key)
                return [*told, loaded]
            case "CC":
                return [*told, CardEvent(self.name, "cut card", number, at_us=now_us, key=key)]
            case "??":
                return [*told, CardEvent(self.name, "misread", number, at_us=now_us, key=key)]
            case _:
                code = SUITS.index(card[1]) << 4 | (RANKS.index(card[0]) + 1)
                return [*told, CardRead(self.name, number, SealedCard(code), now_us, key=key)]

    # --- counting ------------------------------------------------------------------------------

    def _follow(self, here: Position, now_us: int) -> list[LineAction]:
        """Is this the event after the last one?"""
        known = self._position
        follows = known is None or here in ((known[0], known[1] + 1), (known[0] + 1, 0))
        told: list[LineAction] = []
        if known is not None and not follows:
            told = self._broken(here, here[1] - known[1] - 1, now_us)
        self._before, self._position = known, here
        return told

    def _broken(self, here: Position, missing: int, now_us: int) -> list[LineAction]:
        """Never guess: so many cards are missing, or the shoe has started its count again."""
        known = self._position or here
        self._position = self._before = here
        if here < known:
            self._durable.clear()
            what = CardEvent(self.name, "new epoch", here[1], expected=known[1] + 1, at_us=now_us)
            return [what]
        count = missing if here[0] == known[0] else 0  # of another load nobody knows
        return [CardEvent(self.name, "gap", known[1] + 1, count=count, at_us=now_us)]

    def _ok(self, here: Position) -> bytes:
        return sealed(f"OK {here[0]:05d} {here[1]:03d}")

    def _lock(self) -> bytes:
        return sealed(f"LOCK {int(self._locked)}")

    def _become(self, state: DeviceState, reason: Fault | None, now_us: int) -> list[LineAction]:
        if state is self._state:
            return []
        self._state = state
        return [StateReported(self.name, state, reason, now_us)]


def _are_numbers(*texts: str) -> bool:
    return all(text.isascii() and text.isdecimal() and len(text) <= 5 for text in texts)


def _is_card(card: str) -> bool:
    plain = len(card) == 2 and card[0] in RANKS and card[1] in SUITS
    return plain or card in (CUT, UNREAD)


def make(line: LineLayout) -> AcmeShoeDriver:
    """The entry point: from the layout's [[line]] with kind = "acme-shoe"."""
    return AcmeShoeDriver(line.name, line.serial)
