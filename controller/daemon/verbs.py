"""What the daemon answers at its socket and over HTTP. Everything here only looks."""

from __future__ import annotations

import os
from collections.abc import Mapping
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final

from controller.config.live import LiveConfig
from controller.daemon.compose import Table
from controller.daemon.frames import Frames
from controller.daemon.http import Answers, Http
from controller.daemon.metrics import Process, metrics
from controller.daemon.pulse import Pulse
from controller.daemon.runtime import Runtime
from controller.daemon.service import Verb
from controller.daemon.setup import MIB
from controller.daemon.tamper import Sockets
from controller.faults.status import Status
from controller.faults.troubles import ill, troubles
from controller.identity import opened_body, program_files
from record.kit.http import PROMETHEUS, Answer
from record.kit.process import resident_bytes

LOW_SEGMENTS: Final = 16
"""Less room than for so many segments is nearly full: some days of play."""


class Verbs:
    """``pulse`` feeds the watchdog, ``sockets`` knows what was plugged in and refused, and ``http``
    serves the metrics, if anything does."""

    def __init__(
        self,
        config: LiveConfig,
        table: Table,
        runtime: Runtime,
        frames: Frames,
        *,
        pulse: Pulse,
        sockets: Sockets,
        http: Http | None,
    ) -> None:
        self._config, self._runtime, self._frames = config, runtime, frames
        self._pulse, self._sockets, self._http = pulse, sockets, http
        self._rig, self._link = table.rig, table.link
        self._began_s = table.clock.wall_ms() // 1000

    def all(self) -> Mapping[str, Verb]:
        return {
            "status": lambda _: self.status(),
            "identity": lambda _: self.identity(),
            "counters": lambda _: self.counters(),
            "metrics": lambda _: {"text": self.metrics()},
        }

    def status(self) -> Status:
        config = self._config
        told: Status = {
            **self._runtime.status,
            "table": config.name,
            "overflows": self._runtime.overflows,
            "frames_lost": self._frames.lost,
            "link_configured": config.link is not None,
            "link": self._link.status(),
            "disk": {
                "free_bytes": free_bytes(config.journal.path),
                "low_bytes": LOW_SEGMENTS * config.journal.segment_mib * MIB,
            },
            "http_error": "" if self._http is None else self._http.error,
            "strangers": dict(self._sockets.plugged),
        }
        return {**told, "troubles": [one.row() for one in troubles(told)]}

    def identity(self) -> dict[str, Any]:
        config = self._config
        in_force = str(self._runtime.status.get("configuration", config.effective_hash))
        body = opened_body(config.game, in_force, config.layout_sha256, 0)
        return {**body, "files": program_files()}

    def counters(self) -> dict[str, Any]:
        return {name: dict(found) for name, found in self._rig.counters().items()}

    def metrics(self) -> str:
        beside = self._runtime.beside
        process = Process(
            resident_bytes=resident_bytes(),
            started_s=self._began_s,
            queue_depth=self._runtime.queue_depth,
            watchdog_feeds=self._pulse.fed,
            counters=self.counters(),
            records=beside.records,
            journal_bytes=beside.journal_bytes,
            sync=beside.sync,
        )
        return metrics(self.status(), process)

    def answers(self) -> Answers:
        """Over HTTP."""
        return {"/metrics": self._metrics, "/health": self._health}

    def _metrics(self) -> Answer:
        return Answer(HTTPStatus.OK, self.metrics(), PROMETHEUS)

    def _health(self) -> Answer:
        found = troubles(self.status())
        code = HTTPStatus.SERVICE_UNAVAILABLE if ill(found) else HTTPStatus.OK
        return Answer(code, "\n".join([one.line for one in found] or ["ok"]) + "\n")


def free_bytes(path: Path) -> int:
    """0 if nobody can say: then somebody should look."""
    try:
        room = os.statvfs(path)
    except OSError:
        return 0
    return room.f_bavail * room.f_frsize
