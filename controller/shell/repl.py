"""The interactive shell: a prompt, Tab, a history; on a plain serial console as well.

Only the core library. A line goes to the session as it is; nothing here is evaluated.
"""

from __future__ import annotations

import os
import select
import shutil
import sys
import termios
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from types import ModuleType
from typing import Final

from controller.shell.client import NoTable, NotAllowed
from controller.shell.parse import complete
from controller.shell.session import NO, YES, ShellSession
from record.kit.outside import printable

LEAVING: Final = ("exit", "quit")
WIDEST: Final = 80
HISTORY: Final = 500
SETTINGS: Final = (
    "tab: complete",
    "set enable-bracketed-paste off",
    "set bell-style none",
    "set show-all-if-ambiguous on",
)
MORE: Final = "-- Enter for more, q to stop -- "
FURTHER: Final = ("\n", "\r", " ")
STOP: Final = ("q", "Q", "\x04", "")
ESCAPE: Final = "\x1b"


def columns() -> int:
    return min(shutil.get_terminal_size((WIDEST, 24)).columns, WIDEST)


class Typed:
    """A key that ended a listing and is no key of the pager: the first letter of the next line."""

    key = ""

    @classmethod
    def take(cls) -> str:
        key, cls.key = cls.key, ""
        return key


def show(lines: Sequence[str]) -> None:
    """On a terminal a screen at a time; else all of it. So too where the next command was typed
    already: nobody waits at a page then, and no key of it may count as an answer."""
    if not (sys.stdout.isatty() and sys.stdin.isatty()) or _typed_ahead():
        for line in lines:
            print(line, flush=True)
        return
    page = max(shutil.get_terminal_size((WIDEST, 24)).lines - 1, 4)
    for start in range(0, len(lines), page):
        print("\n".join(lines[start : start + page]), flush=True)
        if start + page < len(lines) and _asked_to_stop():
            return


def _typed_ahead() -> bool:
    return bool(select.select([sys.stdin], [], [], 0)[0])


def _asked_to_stop() -> bool:
    try:
        key = _key(MORE)
    except KeyboardInterrupt:
        key = "q"
    print(flush=True)
    if key not in (*FURTHER, *STOP):
        Typed.key = key
    return key not in FURTHER


def _key(asked: str) -> str:
    """One key, without Enter. What is typed behind it stays in the terminal's queue."""
    source = sys.stdin.fileno()
    before = termios.tcgetattr(source)
    raw = termios.tcgetattr(source)
    raw[3] &= ~(termios.ECHO | termios.ICANON)
    try:
        # Not TCSAFLUSH, which throws away what was typed meanwhile.
        termios.tcsetattr(source, termios.TCSADRAIN, raw)
        print(asked, end="", flush=True)
        key = os.read(source, 1).decode("latin-1")
        while key == ESCAPE or (key and not key.isprintable() and key not in (*FURTHER, *STOP)):
            if key == ESCAPE:  # an arrow or a function key: all of its bytes
                while select.select([source], [], [], 0)[0] and not os.read(source, 1).isalpha():
                    pass
            key = os.read(source, 1).decode("latin-1")
        return key
    finally:
        termios.tcsetattr(source, termios.TCSADRAIN, before)


def listen(seconds: float) -> str:
    """A line that was typed during a test; empty if there is none."""
    ready, _, _ = select.select([sys.stdin], [], [], seconds)
    return sys.stdin.readline() if ready else ""


def confirm(question: str) -> str:
    """Ask the user; from a pipe the next line is the answer. Ctrl-D is no answer: it
    gives the test up."""
    asked = f"{printable(question)} " if sys.stdin.isatty() else ""
    try:
        said = input(asked)
        while asked and said.strip().lower() not in (*YES, *NO):  # a slip is no verdict
            said = input("   yes or no? ")
        return said
    except EOFError:
        if asked:
            raise KeyboardInterrupt from None
        return ""


def complain(lines: Sequence[str]) -> None:
    print("\n".join(lines), file=sys.stderr, flush=True)


def history_file() -> Path:
    """In the user's own state folder."""
    folder = os.environ.get("XDG_STATE_HOME") or str(Path.home() / ".local" / "state")
    return Path(folder) / "underfelt" / "shell_history"


class Repl:
    def __init__(self, session: ShellSession) -> None:
        self._session = session
        self._readline = _readline() if sys.stdin.isatty() else None
        self._matches: list[str] = []

    def run(self) -> int:
        """Until Ctrl-D. From a pipe or file: every line, and the first exit code that is not 0."""
        code = self._greet()
        if code != os.EX_OK:
            return code
        if not sys.stdin.isatty():
            return self._lines()
        self._remember()
        try:
            while (line := self._read()) is not None:
                if line.strip() in LEAVING:
                    break
                self._do(line)
        finally:
            self._keep()
        return os.EX_OK

    def _greet(self) -> int:
        try:
            return self._session.hello()
        except NotAllowed:
            raise
        except NoTable as gone:
            complain([f"underfelt shell: {gone}"])
            return os.EX_UNAVAILABLE

    def _lines(self) -> int:
        first = os.EX_OK
        for line in sys.stdin:
            if line.strip() in LEAVING:
                break
            code = self._do(line)
            first = first or code
        return first

    def _read(self) -> str | None:
        """A line; None at the end. Ctrl-C gives up what was typed."""
        while True:
            try:
                line = self._typed(Typed.take())
                self._note(line.strip())
                return line
            except KeyboardInterrupt:
                print()
            except EOFError:
                print()
                return None

    def _typed(self, begun: str) -> str:
        """A line; ``begun`` is its first letter, typed at a page that it ended."""
        if self._readline is None:
            return begun + input(printable(self._session.prompt() + begun))
        if begun:
            readline = self._readline
            readline.set_startup_hook(lambda: readline.insert_text(begun))
        try:
            return input(printable(self._session.prompt()))
        finally:
            self._readline.set_startup_hook(None)

    def _do(self, line: str) -> int:
        """One command; Ctrl-C ends it, not the shell."""
        try:
            return self._session.line(line)
        except KeyboardInterrupt:
            print("\ngiven up", flush=True)
        except NoTable as gone:
            complain([str(gone)])
        return os.EX_UNAVAILABLE

    # --- what readline brings, where it is -------------------------------------------------------

    def _remember(self) -> None:
        if self._readline is None:
            return
        self._readline.set_completer(self._complete)
        self._readline.set_completer_delims(" ")
        for setting in SETTINGS:
            self._readline.parse_and_bind(setting)
        with suppress(OSError):
            self._readline.read_history_file(history_file())
        self._readline.set_history_length(HISTORY)
        # By itself it would keep every q and yes as well.
        self._readline.set_auto_history(False)

    def _note(self, line: str) -> None:
        """A command for the history, not twice in a row."""
        if self._readline is None or not line:
            return
        last = self._readline.get_current_history_length()
        if not last or self._readline.get_history_item(last) != line:
            self._readline.add_history(line)

    def _keep(self) -> None:
        if self._readline is None:
            return
        path = history_file()
        with suppress(OSError):
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._readline.write_history_file(path)
            path.chmod(0o600)

    def _complete(self, _text: str, state: int) -> str | None:
        if state == 0:
            assert self._readline is not None
            before = self._readline.get_line_buffer()[: self._readline.get_endidx()]
            self._matches = [f"{word} " for word in complete(before, self._session.live)]
        return self._matches[state] if state < len(self._matches) else None


def _readline() -> ModuleType | None:
    """Not every Python has it; the shell works without."""
    try:
        import readline
    except ImportError:
        return None
    return readline
