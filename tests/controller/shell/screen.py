"""The shell at a real terminal of 80 columns and 24 lines, as over SSH or a serial console."""

from __future__ import annotations

import re
import signal
from pathlib import Path

import pexpect

from tests.e2e.keeper import Sitting
from tests.e2e.table import ROOT, command, environment
from tests.patience import PATIENCE_S

PROMPT = r"(round \d+ [^>\r\n]*|does not answer)> "


def _ignore_interrupts() -> None:
    """As a parent in the background hands it on; Ctrl-C must work at the terminal all the same."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)


class Screen:
    """Somebody at a terminal; ``term`` is what it calls itself."""

    def __init__(self, sitting: Sitting, home: Path, *more: str, term: str = "vt100") -> None:
        program, *arguments = command("shell", "--socket", str(sitting.run / "service.sock"), *more)
        state = {"TERM": term, "XDG_STATE_HOME": str(home), "HOME": str(home), "LINES": "24"}
        env = {**environment(), **state, "COLUMNS": "80"}
        self.child = pexpect.spawn(
            program, arguments, cwd=str(ROOT), env=env, dimensions=(24, 80), encoding="utf-8",
            timeout=PATIENCE_S, preexec_fn=_ignore_interrupts,
        )  # fmt: skip
        self.child.delaybeforesend = None
        self.seen = ""

    def until(self, what: str | re.Pattern[str]) -> str:
        """Everything up to it."""
        self.child.expect(what)
        told = f"{self.child.before}{self.child.after}"
        self.seen += told
        return told

    def says(self, line: str) -> str:
        """A command and what the screen shows until the next prompt."""
        self.child.send(f"{line}\r")
        told = ""
        while True:
            self.child.expect([r"-- Enter for more, q to stop -- ", PROMPT])
            told += f"{self.child.before}{self.child.after}"
            if not str(self.child.after).startswith("--"):
                self.seen += told
                return told
            self.child.send("\r")

    def leave(self) -> None:
        self.child.sendeof()
        self.child.expect(pexpect.EOF)
        self.child.wait()
        assert self.child.exitstatus == 0
