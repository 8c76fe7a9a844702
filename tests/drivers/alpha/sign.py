"""A small Alpha sign for these tests, written from the page and not from the driver."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from drivers.alpha.driver import AlphaDriver
from drivers.base import Write

VECTORS: dict[str, Any] = tomllib.loads(
    (Path(__file__).parents[2] / "vectors" / "alpha.toml").read_text("utf-8")
)
ANSWER_AFTER_US = 150_000


@dataclass
class Sign:
    text: bytes | None = None
    string: str | None = None
    string_size: int = 0
    silent: bool = False
    deaf: bool = False
    forgets: bool = False
    """Takes a STRING and keeps another: what a broken memory does."""
    frames: list[tuple[int, str]] = field(default_factory=list)
    """When each frame was complete, and its command letters."""
    blanked: int = 0
    answers: list[tuple[int, bytes]] = field(default_factory=list)
    _frame: bytearray | None = None
    _stx_us: int | None = None

    def hear(self, data: bytes, now_us: int) -> None:
        for value in data:
            if self._stx_us is not None:
                assert now_us - self._stx_us >= 100_000, "no pause after STX"
                self._stx_us = None
            if value == 1:
                self._frame = bytearray()
            elif self._frame is None:
                assert value == 0, "bytes outside a frame"
            elif value == 4:
                body, self._frame = bytes(self._frame), None
                if not self.deaf:
                    self.take(body, now_us)
            else:
                self._frame.append(value)
                if value == 2:
                    self._stx_us = now_us

    def take(self, body: bytes, now_us: int) -> None:
        assert body[:3] == b"Z00"
        for part in body[3:].split(b"\x02")[1:]:
            command, digits = part[:-5], part[-4:]
            assert part[-5] == 3
            total = 2 + sum(command) + 3
            assert digits == f"{total:04X}".encode(), "wrong checksum"
            self.obey(command, now_us)

    def obey(self, command: bytes, now_us: int) -> None:
        letter = command[:2].decode() if command[:1] == b"E" else command[:1].decode()
        self.frames.append((now_us, letter))
        if letter == "E$":
            self.text, self.string, self.blanked = None, "", self.blanked + 1
            self.string_size = int(command[17:21], 16)
        elif letter == "A":
            self.text = command[1:]
        elif letter == "G" and self.string is not None:
            text = command[2:].decode()
            if len(text) <= self.string_size:
                self.string = "0" if self.forgets else text
        elif letter == "H" and not self.silent:
            content = (self.string or "").encode()
            answer = b"\x02G1" + content + b"\x03"
            frame = bytes(20) + b"\x01000" + answer + f"{sum(answer):04X}".encode() + b"\x04"
            self.answers.append((now_us + ANSWER_AFTER_US, frame))

    @property
    def shows(self) -> str | None:
        """What a person reads: TEXT A with its STRING; None when there is no TEXT A."""
        if self.text is None:
            return None
        assert self.text[:4] == b"A\x1b b"
        return self.text[4:].replace(b"\x101", (self.string or "").encode()).decode()


class Bench:
    """One driver and one sign in virtual time; answers come in pieces of seven bytes."""

    def __init__(self, driver: AlphaDriver | None = None, sign: Sign | None = None) -> None:
        self.driver = driver or AlphaDriver("sign")
        self.sign = sign or Sign()
        self.now_us = 5_000_000

    def do(self, out: Sequence[object]) -> list[object]:
        for action in out:
            if isinstance(action, Write):
                self.sign.hear(action.data, self.now_us)
        return [action for action in out if not isinstance(action, Write)]

    def run_for(self, duration_us: int) -> list[object]:
        end_us = self.now_us + duration_us
        out: list[object] = []
        for _ in range(100_000):
            wake_us = self.driver.wake_us
            times = [] if wake_us is None else [max(wake_us, self.now_us)]
            times += [at for at, _ in self.sign.answers]
            if not times or min(times) > end_us:
                self.now_us = end_us
                return out
            self.now_us = min(times)
            due = [frame for at, frame in self.sign.answers if at <= self.now_us]
            self.sign.answers = [(at, f) for at, f in self.sign.answers if at > self.now_us]
            for frame in due:
                for start in range(0, len(frame), 7):
                    data = frame[start : start + 7]
                    out += self.do(self.driver.received(data, self.now_us))
            out += self.do(self.driver.advance(self.now_us))
        raise AssertionError("the driver never rests")
