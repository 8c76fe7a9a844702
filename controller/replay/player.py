"""The keys of the interactive replay, as a machine without a terminal: a key in, a screen out."""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from typing import Final

from controller.replay import screen
from controller.replay.compare import compare
from controller.replay.jump import NoMoment, find_text, to_moment
from controller.replay.timeline import Timeline

Ask = Callable[[str], str]
"""Asks for a line at the bottom of the screen."""

NEXT: Final = frozenset((" ", "right", "down", "\r", "\n", "l"))
BACK: Final = frozenset(("left", "up", "\x7f", "\b", "h"))
LONGEST_PAUSE_MS: Final = 2_000
"""When it plays by itself nobody waits longer than this for the next moment."""


class Player:
    def __init__(self, timeline: Timeline, table: str, missing: str = "", place: int = 0) -> None:
        self.timeline, self.table, self.missing = timeline, table, missing
        self.place = place
        self.playing = self.ended = False
        self._note = missing
        self._found = ""
        self._pages: list[list[str]] = []

    @property
    def pause_ms(self) -> int | None:
        """How long until the next moment comes by itself; None if it waits for a key."""
        if not self.playing:
            return None
        here, after = self.timeline.moments[self.place : self.place + 2]
        return min(max(0, after.at_ms - here.at_ms), LONGEST_PAUSE_MS)

    def lines(self) -> list[str]:
        if self._pages:
            more = "SPACE: next page" if len(self._pages) > 1 else "SPACE: back"
            page = self._pages[0]
            return [*page, *[""] * (screen.ROWS - 1 - len(page)), more]
        note = "playing; any key stops" if self.playing else self._note
        return screen.screen(self.timeline, self.place, self.table, note)

    def tick(self) -> None:
        """The pause is over."""
        self._go(self.place + 1)
        self.playing = self.place + 1 < len(self.timeline.moments)

    def press(self, key: str, ask: Ask) -> None:
        self._note = ""
        if self.playing:
            self.playing = False
        elif self._pages:
            del self._pages[: 1 if key in NEXT else len(self._pages)]
        else:
            self._act(key, ask)

    def _act(self, key: str, ask: Ask) -> None:
        moments = self.timeline.moments
        if key in NEXT:
            self._go(self.place + 1)
        elif key in BACK:
            self._go(self.place - 1)
        elif key in ("home", "g"):
            self._go(0)
        elif key in ("end", "G"):
            self._go(len(moments) - 1)
        elif key == "p":
            self.playing = self.place + 1 < len(moments)
        elif key == "j":
            self._jump(ask("jump to (22:13:32, #80, seat 3, cards, settlement, dispute): "))
        elif key in ("/", "n"):
            self._find(ask("find: ") if key == "/" else self._found)
        elif key == "s":
            self._show(screen.compare_page(compare(self.timeline)))
        elif key == "f":
            self._show(screen.frames_page(moments[self.place], self.missing))
        elif key == "a":
            here = moments[self.place]
            self._show([*screen.moment_page(self.timeline, here), *screen.felt_page(here)])
        elif key == "q":
            self.ended = True
        else:
            self._note = "no such key; the keys are listed below"

    def _go(self, place: int) -> None:
        last = len(self.timeline.moments) - 1
        if place > last:
            self._note = "this is the last moment"
        elif place < 0:
            self._note = "this is the first moment"
        self.place = min(max(place, 0), last)

    def _jump(self, text: str) -> None:
        if not text.strip():
            return
        try:
            offset = self.timeline.utc_offset_min
            self.place = to_moment(self.timeline.moments, text, offset, self.place)
        except NoMoment as error:
            self._show(textwrap.wrap(str(error), screen.COLUMNS))

    def _find(self, text: str) -> None:
        if not text.strip():
            return
        self._found = text
        found = find_text(self.timeline.moments, text, self.place)
        if found is None:
            self._note = f"{text!r} not found in this round"
        else:
            self.place = found
            self._note = f"found {text!r}; n goes to the next"

    def _show(self, lines: list[str]) -> None:
        self._pages = list(screen.pages(lines))
