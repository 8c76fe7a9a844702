"""The dealer's keys: each one is pressed once; those that never came are listed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from controller.shell.testing.steps import SECOND, Answer, Guided, Looped, Wishes
from drivers.readings import KeyPressed, Reading
from record.kit.words import counted

PATIENCE_US: Final = 60 * SECOND
"""Without a key for so long the test is over."""


class KeyTest(Guided):
    name = "keys"

    def __init__(self, caps: Sequence[str]) -> None:
        super().__init__()
        self._missing = list(caps)
        self._all = len(self._missing)
        self._until_us = 0

    def begin(self, now_us: int) -> Wishes:
        self._until_us = now_us + PATIENCE_US
        self.say("ask", f"press each of the {counted(self._all, 'key')} once; no ends the test")
        return []

    def take(self, reading: Reading | Looped, now_us: int) -> Wishes:
        if not isinstance(reading, KeyPressed) or self.done:
            return []
        self._until_us = now_us + PATIENCE_US
        again = "" if reading.key in self._missing else " again"
        if not again:
            self._missing.remove(reading.key)
        left = len(self._missing)
        self.say("seen", f"{reading.key}{again}; {left} to go", key=reading.key)
        if not self._missing:
            self._over()
        return []

    def answer(self, answer: Answer, now_us: int) -> Wishes:  # noqa: ARG002
        if answer == "no":
            self._over()
        return []

    def advance(self, now_us: int) -> Wishes:
        if not self.done and now_us >= self._until_us:
            self._over()
        return []

    def stop(self, why: str) -> None:
        if not self.done:
            self.say("note", why)
            self._over()

    def _over(self) -> None:
        if self._missing:
            said = f"never pressed, stuck or dead: {' '.join(self._missing)}"
            self.say("fail", said, missing=list(self._missing))
        else:
            self.say("pass", f"all {counted(self._all, 'key')} were pressed")
        self.finish()
