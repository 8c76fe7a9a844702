"""Lamps and displays: known pictures, read back from the device, and a person who looks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from controller.shell.testing.steps import SECOND, Answer, Guided, Looped, Wishes
from drivers.base import DeviceState, StateReported
from drivers.orders import (
    SEATS,
    Lamp,
    Order,
    ShowLamps,
    ShowMagicCard,
    ShowMeter,
    ShowPrompt,
    ShowSign,
)
from drivers.readings import Reading, Shown

PATIENCE_US: Final = 6 * SECOND
"""By then every display on the bus has been written and read back."""
SIGN_US: Final = 20 * SECOND
PERSON_US: Final = 120 * SECOND
_OFF: Final[Lamp] = "off"
_LIT: Final[Lamp] = "open"
METER: Final = ("888888888888", "0123456789")
CARDS: Final = ("As", "7h")
SIGN: Final = ("UNDERFELT TEST 1234567890", "TEST 9,876,543.21")
PROMPT: Final = (
    (
        "ABCDEFGHIJKLMNOPQRST",
        "UVWXYZ0123456789.,:-",
        "ABCDEFGHIJKLMNOPQRST",
        "1234567890123456789 ",
    ),
)


@dataclass(frozen=True, slots=True)
class Picture:
    """What is shown, on which devices, and what a person should see."""

    about: str
    order: Order
    devices: tuple[str, ...]
    question: str
    patience_us: int = PATIENCE_US


@dataclass
class Device:
    state: str = DeviceState.READY.value
    code: str = ""


class Walk(Guided):
    """``states``: every device as the table knows it."""

    def __init__(
        self, name: str, pictures: Sequence[Picture], states: Mapping[str, tuple[str, str]]
    ) -> None:
        super().__init__()
        self.name = name
        self._pictures = list(pictures)
        self._states = {one: Device(*told) for one, told in states.items()}
        self._now: Picture | None = None
        self._unread: set[str] = set()
        self._until_us = 0

    def begin(self, now_us: int) -> Wishes:
        if not self._pictures:
            self.say("note", "this game shows nothing there")
            self.finish()
        return self._next(now_us)

    def take(self, reading: Reading | Looped, now_us: int) -> Wishes:
        match reading:
            case StateReported(device, state, reason):
                self._states[device] = Device(state.value, "" if reason is None else reason.code)
            case Shown(device=device) if self._now is not None and not self.question:
                self._unread.discard(device)
                if not self._unread:
                    self._read_back(now_us)
            case _:
                pass
        return []

    def answer(self, answer: Answer, now_us: int) -> Wishes:
        if self._now is None or not self.question:
            return []
        if answer == "yes":
            self.say("pass", f"{self._now.about}: read back and seen")
        else:
            self.say("fail", f"{self._now.about}: read back, but not seen")
        return self._next(now_us)

    def advance(self, now_us: int) -> Wishes:
        if self._now is None or now_us < self._until_us:
            return []
        if self.question:
            self.say("fail", f"{self._now.about}: nobody has looked")
        else:
            silent = ", ".join(self._why(device) for device in sorted(self._unread))
            self.say("fail", f"{self._now.about}: not read back from {silent}")
        return self._next(now_us)

    def _why(self, device: str) -> str:
        known = self._states.get(device, Device("unknown"))
        return f"{device} ({known.code or known.state})"

    def _next(self, now_us: int) -> Wishes:
        self._now, self.question = None, ""
        if self.done or not self._pictures:
            self.finish()
            return []
        picture = self._now = self._pictures.pop(0)
        self._unread = set(picture.devices)
        self._until_us = now_us + picture.patience_us
        self.say("note", f"{picture.about}: shown on {', '.join(picture.devices)}")
        return [picture.order]

    def _read_back(self, now_us: int) -> None:
        assert self._now is not None
        self._until_us = now_us + PERSON_US
        self.question = f"{self._now.question} (yes or no)"
        self.say("ask", self.question)


# --- the pictures ------------------------------------------------------------------------------


def lamp_pictures(seats: int, chips: Sequence[str]) -> list[Picture]:
    """One lamp at a time, then beacon and buzzer."""
    found = []
    for seat in range(1, seats + 1):
        lit = tuple(_LIT if n == seat else _OFF for n in range(1, SEATS + 1))
        device = "lamps-1" if seat <= 4 else "lamps-2"
        if device in chips:
            about, asked = f"lamp of seat {seat}", f"is the lamp of seat {seat} alone lit white?"
            found.append(Picture(about, ShowLamps(lit), (device,), asked))
    if "lamps-2" in chips:
        dark = (_OFF,) * SEATS
        beacon = ShowLamps(dark, beacon=True)
        found.append(Picture("beacon", beacon, ("lamps-2",), "is the beacon lit?"))
        buzzer = ShowLamps(dark, buzzer=True)
        found.append(Picture("buzzer", buzzer, ("lamps-2",), "does the buzzer sound?"))
    return found


@dataclass(frozen=True, slots=True)
class Displays:
    """What this table has, and what its game shows: only that can be shown again afterwards."""

    chips: Sequence[str]
    signs: Sequence[str]
    orders: frozenset[type] = field(default_factory=frozenset)


def display_pictures(have: Displays) -> list[Picture]:
    """Meter, magic card, prompt, sign."""
    found: list[Picture] = []
    meters = tuple(name for name in have.chips if name.startswith("meter-"))
    if meters and ShowMeter in have.orders:
        for text in METER:
            asked = f"does the jackpot meter show {text}?"
            found.append(Picture(f"meter {text}", ShowMeter(text), meters, asked))
    if "magic" in have.chips and ShowMagicCard in have.orders:
        for card in CARDS:
            asked = f"does the magic card show {card}?"
            found.append(Picture(f"magic card {card}", ShowMagicCard(card), ("magic",), asked))
    if "prompt" in have.chips:
        for lines in PROMPT:
            asked = "does the prompt show letters and digits in every cell?"
            found.append(Picture("prompt", ShowPrompt(lines), ("prompt",), asked))
    return found + sign_pictures(have)


def sign_pictures(have: Displays) -> list[Picture]:
    if not have.signs or ShowSign not in have.orders:
        return []
    return [
        Picture(
            f"sign {text}",
            ShowSign(text),
            tuple(have.signs),
            f"does the sign show {text}?",
            SIGN_US,
        )
        for text in SIGN
    ]
