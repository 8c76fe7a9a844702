"""A scenario's people at a real table whose daemon is stopped, starved, killed and started again.

``Keeper`` does for the daemon what systemd does for it in a casino: it starts it again when it
ends, and ends it when it no longer feeds the watchdog.
"""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import threading
import time
import tomllib
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, Self

from hw_sim.scenario import find, load
from record.journal import Journal, Record
from record.kit.lines import TIMEOUT_S, ask
from tests.e2e.table import (
    ROOT,
    Played,
    command,
    configure,
    environment,
    evidence,
    start,
    table_arguments,
    unlogged,
    wait_for,
)
from tests.patience import PATIENCE_S

LOOK_S: Final = 0.05
FED_S: Final = 15
"""Kinder than WatchdogSec=5: the machine of a test is shared."""
STOPPED: Final = (0, 64, 65, 66, 77, 78)
"""Asked to, or RestartPreventExitStatus of the unit."""


class Listening:
    """The socket that systemd names in NOTIFY_SOCKET."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(str(path))
        self._socket.setblocking(False)
        self.heard: list[str] = []
        self.fed_at = time.monotonic()

    def look(self) -> int:
        """How often the watchdog was fed since the last look."""
        fed = 0
        while True:
            try:
                text = self._socket.recv(4096).decode()
            except BlockingIOError:
                break
            self.heard += text.splitlines()
            fed += text.splitlines().count("WATCHDOG=1")
        if fed:
            self.fed_at = time.monotonic()
        return fed

    def close(self) -> None:
        self._socket.close()


class LogSocket:
    """journald's native socket. It is read all the time, as its queue is short."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self._socket.bind(str(path))
        self.datagrams: list[bytes] = []
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        while data := self._socket.recv(1 << 16):
            self.datagrams.append(data)

    def close(self) -> None:
        with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as last:
            last.sendto(b"", str(self._path))
        self._thread.join()
        self._socket.close()


class Keeper:
    """The daemon's processes, one after the other. ``program`` is the tree that the next one is
    started from; ``shim`` is Python to run in it first."""

    def __init__(self, run: Path, arguments: list[str], shim: str = "") -> None:
        self.run = run
        self.arguments = arguments
        self.shim = shim
        self.under: list[str] = []
        """A command that runs the daemon under itself."""
        self.program = ROOT
        self.exits: list[tuple[int, str]] = []
        """Exit code and standard error of every one that ended, without the lines of its log."""
        self.errors = ""
        """Standard error of the last that ended, with all of its lines."""
        self.watchdog_us = 1_500_000
        """What systemd would write into WATCHDOG_USEC."""
        self.notified = Listening(run / "notify")
        self._said = run / "stderr"
        self.process: subprocess.Popen[str] | None = None
        self.starved = 0

    @property
    def pid(self) -> int:
        assert self.process is not None
        return self.process.pid

    def start(self) -> None:
        watched = {"NOTIFY_SOCKET": str(self.notified.path), "WATCHDOG_USEC": str(self.watchdog_us)}
        # A file, as nobody empties a pipe while the people play.
        with (
            self._said.open("w", encoding="utf-8") as errors,
            (self.run / "stdout").open("w", encoding="utf-8") as output,
        ):
            self.process = subprocess.Popen(
                [*self.under, *command(*self.arguments, shim=self.shim)],
                cwd=self.program, text=True, stdout=output, stderr=errors,
                env={**environment(), "PYTHONPATH": str(self.program), **watched},
            )  # fmt: skip
        self.notified.fed_at = time.monotonic()

    def look(self) -> None:
        """What systemd does all the time."""
        self.notified.look()
        process = self.process
        if process is None:
            return
        if process.poll() is not None:
            self._ended()
            if self.exits[-1][0] not in STOPPED:
                self.start()
        elif time.monotonic() - self.notified.fed_at > FED_S:
            self.starved += 1
            process.kill()

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.pid, number)

    def stop(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
            try:
                self.process.wait(PATIENCE_S)
            except subprocess.TimeoutExpired:
                self.process.kill()
        if self.process is not None:
            self._ended()

    def close(self) -> None:
        if self.process is not None and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.notified.close()

    def _ended(self) -> None:
        assert self.process is not None
        code, self.errors = self.process.wait(), self._said.read_text("utf-8", "replace")
        self.exits.append((code, "\n".join(unlogged(self.errors))))
        self.process = None


class Sitting:
    """One table from its first round to its evidence; use it in a ``with``."""

    def __init__(
        self,
        run: Path,
        scenario: str = "",
        *,
        game: str = "MBS3",
        like: str = "",
        layout: str = "",
        shim: str = "",
        sim_shim: str = "",
    ) -> None:
        """Without a scenario there are the devices and nobody plays: those of a game's own table,
        or of the table of the scenario that it is ``like``; ``layout`` names another one."""
        self.run = run
        self.scenario = load(find(scenario)) if scenario else None
        plain = self.scenario or load(find(like or f"{game.lower()}-plain"))
        plain = replace(plain, table=layout or plain.table)
        what = ["--layout", str(plain.layout_path)]
        if scenario:
            what = ["--scenario", str(find(scenario))]
        self.sim = start("sim", *what, "--run", str(run), shim=sim_shim)
        try:
            wait_for(run / "control", self.sim)
            self.config = configure(run, plain.game, plain.settings)
            self.keeper = Keeper(run, table_arguments(plain, self.config), shim)
        except BaseException:
            self._end_sim()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.keeper.close()
        self._end_sim()

    def _end_sim(self) -> None:
        if self.sim.poll() is None:
            self.sim.kill()
            self.sim.communicate()

    # --- looking -------------------------------------------------------------------------------

    def status(self, wait_s: float = TIMEOUT_S) -> dict[str, Any]:
        """Empty while nobody answers, or before the first group is on disk."""
        try:
            found = ask(self.run / "service.sock", {"verb": "status"}, wait_s)
        except (OSError, ValueError):
            return {}
        return found if "phase" in found else {}

    def until(self, seen: Callable[[], Any], what: str) -> Any:
        """Look until it is so; only a hang ends this."""
        deadline = time.monotonic() + PATIENCE_S
        while not (found := seen()):
            self.keeper.look()
            gone = self.sim.poll() is not None
            if gone or time.monotonic() > deadline:
                ended = self.sim.communicate() if gone else "still there"
                raise AssertionError(f"never {what}: {ended}; {self.keeper.exits}")
            time.sleep(LOOK_S)
        return found

    def until_phase(self, *phases: str) -> dict[str, Any]:
        def seen() -> dict[str, Any]:
            found = self.status()
            return found if found.get("phase") in phases else {}

        return dict(self.until(seen, " or ".join(phases)))

    def ask_sim(self, path: str, sentence: str = "") -> dict[str, Any]:
        address = (self.run / "control").read_text("ascii").strip()
        body = json.dumps({"do": sentence}).encode() if sentence else None
        request = urllib.request.Request(
            f"{address}{path}", body, {"Content-Type": "application/json"}
        )
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            return dict(json.load(answer))

    def prompt(self) -> list[str]:
        return [line.strip() for line in self.ask_sim("/state")["prompt"]]

    # --- the end -------------------------------------------------------------------------------

    def finish(self) -> Played:
        """Let the people play to the end, stop the daemon and read what is left."""
        deadline = time.monotonic() + PATIENCE_S
        while self.sim.poll() is None and time.monotonic() < deadline:
            self.keeper.look()
            time.sleep(LOOK_S)
        self.keeper.stop()
        out, err = self.sim.communicate() if self.sim.poll() is not None else ("", "no end")
        code = -1 if self.sim.returncode is None else self.sim.returncode
        last = self.keeper.exits[-1]
        played = Played((code, out, err), (last[0], "", last[1]))
        if code:
            played.problems.append(f"simulator: {err.strip()}; {self.keeper.exits}")
        if last[0]:
            played.problems.append(f"table: exit {last[0]}: {last[1].strip()}")
        assert self.scenario is not None
        evidence(played, self.scenario, self.run)
        return played

    def records(self) -> list[Record]:
        """Of a journal that nobody has open."""
        return records_of(self.run / "journal", self.table_name)

    @property
    def table_name(self) -> str:
        with (self.run / "layout.toml").open("rb") as stream:
            return str(tomllib.load(stream)["table"]["name"])


def records_of(path: Path, table: str) -> list[Record]:
    journal = Journal.open(path, table=table, create=False, now_ms=int(time.time() * 1000))
    try:
        return list(journal.records())
    finally:
        journal.close()


def bodies(records: list[Record], kind: str) -> list[Mapping[str, Any]]:
    return [json.loads(record.body) for record in records if record.kind == kind]
