"""What the daemon answers at its socket and over HTTP. Everything here only looks."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from controller.config.live import LiveConfig
from controller.daemon.identity import opened_body, program_files
from controller.daemon.metrics import metrics
from controller.daemon.runtime import Runtime
from controller.daemon.service import Verb
from controller.daemon.start import MIB, Started
from controller.daemon.troubles import troubles

LOW_SEGMENTS: Final = 16
"""Less room than for so many segments is nearly full: some days of play."""


class Verbs:
    """``http_error`` says why metrics are not served although they should be."""

    def __init__(self, config: LiveConfig, started: Started, runtime: Runtime) -> None:
        self._config, self._started, self._runtime = config, started, runtime
        self.http_error = ""

    def all(self) -> Mapping[str, Verb]:
        return {
            "status": lambda _: self.status(),
            "identity": lambda _: self.identity(),
            "counters": lambda _: self.counters(),
            "metrics": lambda _: {"text": self.metrics()},
        }

    def status(self) -> dict[str, Any]:
        config = self._config
        told = {
            **self._runtime.status,
            "table": config.name,
            "overflows": self._runtime.overflows,
            "frames_lost": self._started.frames.lost,
            "link_configured": config.link is not None,
            "disk": {
                "free_bytes": free_bytes(config.journal.path),
                "low_bytes": LOW_SEGMENTS * config.journal.segment_mib * MIB,
            },
            "http_error": self.http_error,
        }
        return {**told, "troubles": [one.row() for one in troubles(told)]}

    def identity(self) -> dict[str, Any]:
        config = self._config
        in_force = str(self._runtime.status.get("configuration", config.effective_hash))
        body = opened_body(config.game, in_force, config.layout_sha256, 0)
        return {**body, "files": program_files()}

    def counters(self) -> dict[str, Any]:
        return {name: dict(found) for name, found in self._started.rig.counters().items()}

    def metrics(self) -> str:
        return metrics(self._runtime.status, resident_bytes())


def free_bytes(path: Path) -> int:
    """0 if nobody can say: then somebody should look."""
    try:
        room = os.statvfs(path)
    except OSError:
        return 0
    return room.f_bavail * room.f_frsize


def resident_bytes() -> int:
    """From the kernel; 0 where it does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
