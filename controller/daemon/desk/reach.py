"""What the acts of the shell can reach: one place, so that it is seen at once what they may."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from controller.config.live import LiveConfig
from controller.daemon.compose import Started
from controller.daemon.desk.recent import Recent
from controller.daemon.linking import Link
from controller.daemon.runtime import Runtime
from controller.daemon.verbs import Verbs
from controller.daemon.writer import Writer
from controller.shell.parse import Live

Seen = TypeVar("Seen")


@dataclass
class Reach:
    config: LiveConfig
    started: Started
    runtime: Runtime
    link: Link
    verbs: Verbs
    recent: Recent
    test_mode: Callable[[], bool] = lambda: False

    async def look(self, ask: Callable[[Writer], Seen]) -> Seen:
        """At the table itself, between two groups: what is seen is on disk."""
        return await self.runtime.look(ask)

    def live(self) -> Live:
        seats = [str(seat) for seat in range(1, self.config.table.seats + 1)]
        if any(seat == 0 for seat, _ in self.config.layout.spots.values()):
            seats.append("pot")
        ports = [line.name for line in self.config.layout.lines]
        return {"device": self.devices(), "seat": seats, "port": ports}

    def devices(self) -> list[str]:
        return sorted(self.started.rig.counters())

    def at(self) -> Mapping[str, Any]:
        """For the prompt of the shell; cheap."""
        status = self.verbs.status()
        worse = [one for one in status["troubles"] if one["level"] != "note"]
        return {
            "table": status["table"],
            "game": status["game"],
            "round": status["round"],
            "phase": status["phase"],
            "in_round": status["in_round"],
            "troubles": len(worse),
            "test_mode": self.test_mode(),
        }
