"""The replay on a real terminal: keys in, screens out; plain ANSI, no library."""

from __future__ import annotations

import os
import select
import sys
import termios
import tty
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any, Final

from controller.replay.player import Player
from record.kit.outside import printable
from record.kit.terminal import draw

CLEAR: Final = "\x1b[H\x1b[2J"
REVERSE: Final = "\x1b[7m"
PLAIN: Final = "\x1b[0m"
ESCAPE_S: Final = 0.05
"""The rest of an arrow key comes at once; a lone ESC does not."""
ARROWS: Final = {
    b"\x1b[C": "right", b"\x1b[D": "left", b"\x1b[A": "up", b"\x1b[B": "down",
    b"\x1bOC": "right", b"\x1bOD": "left", b"\x1bOA": "up", b"\x1bOB": "down",
    b"\x1b[H": "home", b"\x1b[F": "end", b"\x1b[1~": "home", b"\x1b[4~": "end",
}  # fmt: skip


def play(player: Player) -> None:
    """Until ``q``, an interrupt or the end of input."""
    source = sys.stdin.fileno()
    with suppress(KeyboardInterrupt), _keys(source) as asked:
        while not player.ended:
            head, *rest = map(printable, player.lines())
            draw(CLEAR + "\n".join((f"{REVERSE}{head}{PLAIN}", *rest)))
            pause = player.pause_ms
            if pause is not None and not _waits(source, pause / 1000):
                player.tick()
                continue
            key = _key(source)
            if key is None:
                break
            player.press(key, asked)
    sys.stdout.write("\n")


@contextmanager
def _keys(source: int) -> Iterator[_Asking]:
    """Single keys, no echo; as before at the end, whatever happens."""
    before = termios.tcgetattr(source)
    try:
        tty.setcbreak(source)
        yield _Asking(source, before)
    finally:
        termios.tcsetattr(source, termios.TCSADRAIN, before)


class _Asking:
    """Asks for a line, with echo and the terminal's own editing."""

    def __init__(self, source: int, before: list[Any]) -> None:
        self._source, self._before = source, before

    def __call__(self, question: str) -> str:
        termios.tcsetattr(self._source, termios.TCSADRAIN, self._before)
        try:
            draw(f"\r\x1b[K{printable(question)}")
            line = os.read(self._source, 256)
        except KeyboardInterrupt:  # the question is taken back, not the replay
            line = b""
        tty.setcbreak(self._source)
        return line.decode("utf-8", "replace").strip()


def _waits(source: int, seconds: float) -> bool:
    return bool(select.select([source], [], [], seconds)[0])


def _key(source: int) -> str | None:
    """The next key; None at the end of input."""
    first = os.read(source, 1)
    if not first or first == b"\x04":
        return None
    if first != b"\x1b":
        return first.decode("latin-1")
    typed = first
    while len(typed) < 4 and _waits(source, ESCAPE_S):
        typed += os.read(source, 1)
        if typed in ARROWS:
            return ARROWS[typed]
    return ""
