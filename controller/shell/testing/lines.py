"""A serial port with a loopback plug, and a card device that must prove its program."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from controller.shell.testing.steps import SECOND, Challenge, Guided, Looped, Probe, Wishes
from drivers.base import DeviceIdentified, DeviceState, StateReported
from drivers.readings import Reading
from record.kit.words import counted

WAIT_US: Final = 2 * SECOND
ANSWER_US: Final = 15 * SECOND
"""Three challenges of 2 s, and their acknowledgements."""


WRONG_PROGRAM: Final = "E-CDP-024"


class LoopTest(Guided):
    name = "loopback"

    def __init__(self, line: str, state: str, pattern: bytes) -> None:
        """``pattern``: plain characters, never the same twice; ``state`` of the device there."""
        super().__init__()
        self._line, self._state, self._pattern = line, state, pattern
        self._heard = b""
        self._until_us = 0

    def begin(self, now_us: int) -> Wishes:
        if self._state in (DeviceState.READY.value, DeviceState.DEGRADED.value):
            self._fail("a device answers on this port: take it off, and put the plug in")
            return []
        self._until_us = now_us + WAIT_US
        self.say("note", f"{counted(len(self._pattern), 'byte')} to {self._line}")
        return [Probe(self._line, self._pattern)]

    def take(self, reading: Reading | Looped, now_us: int) -> Wishes:  # noqa: ARG002
        if isinstance(reading, Looped) and reading.line == self._line and not self.done:
            self._heard += reading.data
            if self._pattern in self._heard:
                self.say(
                    "pass", f"{self._line}: all {counted(len(self._pattern), 'byte')} came back"
                )
                self.finish()
        return []

    def advance(self, now_us: int) -> Wishes:
        if self.done or now_us < self._until_us:
            return []
        if not self._heard:
            self._fail("nothing came back: no plug, a broken cable, or a dead port")
        elif set(self._heard) <= set(self._pattern) and self._heard in self._pattern:
            self._fail(
                f"only {len(self._heard)} of {counted(len(self._pattern), 'byte')} came back"
            )
        else:
            self._fail(
                f"{counted(len(self._heard), 'other byte')} came: a device answers, or noise"
            )
        return []

    def not_open(self) -> None:
        self._fail("the port is not open: underfelt doctor says why")

    def _fail(self, text: str) -> None:
        self.say("fail", f"{self._line}: {text}")
        self.finish()


class ChallengeTest(Guided):
    """``proofs``: how often this device has proved its program since the start."""

    name = "challenge"

    def __init__(self, device: str, nonce: bytes, digest: bytes, proofs: Callable[[], int]) -> None:
        super().__init__()
        self.device, self.nonce, self._digest = device, nonce, digest
        self._proofs, self._before = proofs, 0
        self._until_us = 0

    def begin(self, now_us: int) -> Wishes:
        self._before = self._proofs()
        self._until_us = now_us + ANSWER_US
        self.say("note", f"{self.device}: challenged")
        return [Challenge(self.device, self.nonce, self._digest)]

    def take(self, reading: Reading | Looped, now_us: int) -> Wishes:  # noqa: ARG002
        match reading:
            case DeviceIdentified(device=device, identity=identity) if device == self.device:
                if self._proofs() > self._before and not self.done:
                    self.say("pass", f"{device} {identity.serial}: the program is the released one")
                    self.finish()
            case StateReported(device, DeviceState.LOCKED, reason) if device == self.device:
                if reason is not None and reason.code == WRONG_PROGRAM and not self.done:
                    self.say("fail", f"{device}: {reason.detail}; it is locked ({reason.code})")
                    self.finish()
            case _:
                pass
        return []

    def advance(self, now_us: int) -> Wishes:
        if not self.done and now_us >= self._until_us:
            self.say("fail", f"{self.device}: no session with the device; nothing is proved")
            self.finish()
        return []
