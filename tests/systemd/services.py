"""Our daemons as systemd starts them: the unit's filters, a notify socket, credentials."""

from __future__ import annotations

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from controller.demo.setup import FloorFolder
from record.kit.lines import ask
from tests.patience import PATIENCE_S
from tests.systemd.sandbox import command
from tests.systemd.tools import ROOT, SYSTEMD

TABLE = SYSTEMD / "system" / "underfelt-table@.service"
LOCKED = SYSTEMD / "system" / "underfelt-locked@.service"
LINK = SYSTEMD / "system" / "underfelt-link.service"
WEB = SYSTEMD / "system" / "underfelt-web.service"


class Services:
    """The daemons of one linked table, started as systemd starts them."""

    def __init__(self, folder: Path) -> None:
        self.house = FloorFolder(folder / "d", ("mbs3",))
        self.home = self.house.table("mbs3")
        self._folder = folder
        self._running: list[subprocess.Popen[bytes]] = []

    def start(
        self, name: str, unit: Path | None, *arguments: str, **environ: str
    ) -> subprocess.Popen[bytes]:
        notify = {"NOTIFY_SOCKET": str(self._folder / f"{name}.notify")}
        program = [sys.executable, "-m", "controller.cli", *arguments]
        with (self._folder / f"{name}.log").open("wb") as log:
            made = subprocess.Popen(
                command(unit, *program) if unit else program, cwd=ROOT,
                env={**os.environ, **notify, **environ},
                stdout=log, stderr=log,
            )  # fmt: skip
        self._running.append(made)
        return made

    def service(
        self, name: str, unit: Path, *arguments: str, **environ: str
    ) -> subprocess.Popen[bytes]:
        """``Type=notify``: it is started when it says READY=1."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
            heard.bind(str(self._folder / f"{name}.notify"))
            heard.settimeout(0.1)
            made = self.start(name, unit, *arguments, **environ)

            def ready() -> bool:
                try:
                    return b"READY=1" in heard.recv(4096)
                except TimeoutError:
                    return False

            self.until(ready, f"{name} ready")
        return made

    def until(self, seen: Callable[[], Any], what: str) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not seen():
            ended = [one.args for one in self._running if one.poll() is not None]
            if ended or time.monotonic() > deadline:
                said = {path.name: path.read_text() for path in self._folder.glob("*.log")}
                raise AssertionError(f"never {what}: {ended} {said}")
            time.sleep(0.05)

    def linked(self) -> bool:
        """Does the table say that its link is up?"""
        try:
            return ask(self.home / "service.sock", {"verb": "status"}).get("link_up") is True
        except (OSError, ValueError):
            return False

    def stop(self, one: subprocess.Popen[bytes]) -> int:
        self._running.remove(one)
        one.terminate()
        return one.wait(PATIENCE_S)

    def close(self) -> None:
        for one in reversed(self._running):
            one.terminate()
            try:
                one.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                one.kill()
                one.wait()
