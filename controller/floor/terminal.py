"""The terminal while the floor is on it: another screen, no cursor, no echo; put back always."""

from __future__ import annotations

import os
import sys
import termios
from typing import Any, Final, Self

from record.terminal import draw

ENTER: Final = "\x1b[?1049h\x1b[?25l\x1b[2J"
LEAVE: Final = "\x1b[?25h\x1b[?1049l"
DEFAULT: Final = os.terminal_size((80, 24))
NOBODY: Final = b"\0"
"""A control character that no key makes."""


def screen_possible() -> bool:
    """Is standard output a terminal that can move its cursor?"""
    return sys.stdout.isatty() and os.environ.get("TERM", "") not in ("", "dumb")


class Terminal:
    def __init__(self) -> None:
        self.colour = "NO_COLOR" not in os.environ
        self._before: list[Any] | None = None

    def __enter__(self) -> Self:
        if sys.stdin is not None and sys.stdin.isatty():
            self._before = termios.tcgetattr(sys.stdin)
            quiet = termios.tcgetattr(sys.stdin)
            quiet[3] &= ~(termios.ECHO | termios.ICANON)
            # Stopped half-way it would leave the floor running behind a screen that is not ours.
            quiet[6][termios.VSUSP] = NOBODY
            termios.tcsetattr(sys.stdin, termios.TCSANOW, quiet)
        draw(ENTER)
        return self

    def __exit__(self, *_error: object) -> None:
        try:
            draw(LEAVE)
            if self._before is not None:
                termios.tcsetattr(sys.stdin, termios.TCSAFLUSH, self._before)
        except (OSError, termios.error):
            pass  # the terminal itself is gone

    def size(self) -> os.terminal_size:
        try:
            found = os.get_terminal_size(sys.stdout.fileno())
        except OSError:
            return DEFAULT
        return found if found.columns and found.lines else DEFAULT

    def show(self, lines: list[str]) -> None:
        """Over what is there, so that nothing flickers; what was below is wiped out."""
        rows = "\r\n".join(f"\x1b[2K{line}" for line in lines)
        draw(f"\x1b[H{rows}\x1b[J")
