"""A demonstration at a terminal of its own: a pty, read as a person would read the screen."""

from __future__ import annotations

import fcntl
import os
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from tests.patience import PATIENCE_S

ROOT: Final = Path(__file__).resolve().parents[3]
HOME, LEAVE = "\x1b[H", "\x1b[?1049l"
_STYLE: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


def command(folder: Path, *options: str) -> list[str]:
    return [sys.executable, "-m", "controller.cli", "demo", "floor", "--folder", str(folder),
            "--players", "1", "--pace", "4", "--seed", "7", *options]  # fmt: skip


def processes(folder: Path) -> dict[int, str]:
    """Command lines that name the folder; those that are about to be gone have none."""
    found = {}
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = entry.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if str(folder) in line:
            found[int(entry.parent.name)] = line
    return found


class Watched:
    def __init__(self, folder: Path, *options: str, columns: int = 80, rows: int = 24) -> None:
        self.folder = folder
        self.master, slave = os.openpty()
        self.resize(columns, rows)
        setsid = shutil.which("setsid")
        assert setsid, "setsid is missing; run: apt-get install -y util-linux"
        self.process = subprocess.Popen(
            [setsid, "--ctty", *command(folder, *options)], stdin=slave, stdout=slave, stderr=slave,
            cwd=ROOT, env={**os.environ, "TERM": "xterm", "NO_COLOR": "1"},
        )  # fmt: skip
        self.before = termios.tcgetattr(slave)
        self._slave = slave
        self.output = ""

    def resize(self, columns: int, rows: int) -> None:
        fcntl.ioctl(self.master, termios.TIOCSWINSZ, struct.pack("4H", rows, columns, 0, 0))

    def read(self, seconds: float = 0.1) -> None:
        if select.select([self.master], [], [], seconds)[0]:
            self.output += os.read(self.master, 65_536).decode()

    def screen(self) -> list[str]:
        """The last whole picture."""
        pictures = self.output.split(HOME)[1:-1]
        return [] if not pictures else _STYLE.sub("", pictures[-1]).replace("\r", "").split("\n")

    def until(self, seen: Callable[[list[str]], bool], what: str) -> list[str]:
        deadline = time.monotonic() + PATIENCE_S
        while not seen(found := self.screen()):
            ended = self.process.poll() is not None
            if ended or time.monotonic() > deadline:
                raise AssertionError(f"never {what}: {self.output[-3000:]}")
            self.read()
        return found

    def press_ctrl_c(self) -> None:
        os.write(self.master, b"\x03")

    def wait(self) -> int:
        """Its exit code; what it still says is read meanwhile."""
        deadline = time.monotonic() + PATIENCE_S
        while self.process.poll() is None and time.monotonic() < deadline:
            self.read()
        self.read()
        return self.process.wait(1)

    def as_before(self) -> bool:
        """Is the terminal as it was found?"""
        return bool(termios.tcgetattr(self._slave) == self.before)

    def hang_up(self) -> None:
        """The window is closed."""
        os.close(self._slave)
        os.close(self.master)
        self.master = self._slave = -1

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
        if self.master >= 0:
            self.hang_up()


def died(folder: Path, *words: str) -> None:
    """The process with these words in its command line gets no chance to end in order."""
    (pid,) = (pid for pid, line in processes(folder).items() if all(word in line for word in words))
    os.kill(pid, signal.SIGKILL)


def meters(screen: list[str]) -> dict[str, tuple[int, int]]:
    """``mbs3 grand`` to its cents and generation."""
    found = {}
    for line in screen:
        match = re.match(r"  (\w+) +(\w+) +\$ +([\d,.]+) +generation (\d+)", line)
        if match:
            cents = int(re.sub(r"\D", "", match[3]))
            found[f"{match[1]} {match[2]}"] = (cents, int(match[4]))
    return found


def hands(screen: list[str]) -> dict[str, tuple[int, str]]:
    """A table to its hand number and how the last one ended for the house."""
    found = {}
    for line in screen:
        match = re.match(r"  (\w+) +[A-Z].{11} +(\d+)  (.{25}) \S.{6} \S+ *(.*)", line)
        if match:
            found[match[1]] = (int(match[2]), match[4].strip())
    return found
