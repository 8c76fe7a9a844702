"""The shell's half and the daemon's: lines at two moments of a round, over the desk of a whole
table."""

from __future__ import annotations

import asyncio
import json
from typing import Any, Final

from controller.daemon.service import Peer
from controller.rules.engine.state import Phase
from tests.controller.shell.inside import Inside, inside

MOMENTS: Final = {"first decision": Phase.DECISION_1, "between rounds": None}
OLGA, TOM, SUE, EVE = 1, 2, 3, 4
"""An observer, a technician, a supervisor and a stranger."""
LINES: Final[tuple[tuple[int, dict[str, Any]], ...]] = (
    *((OLGA, {"words": [verb]}) for verb in (
        "status", "devices", "why", "round", "faults", "journal", "link", "config", "help",
        "safe-mode", "nonsense",
    )),
    (OLGA, {"words": ["watch"], "cursor": 0}),
    (OLGA, {"words": ["chips", "2"]}),
    (OLGA, {"words": ["device", "shoe"]}),
    (OLGA, {"words": ["faults", "E-TBL-001"]}),
    (OLGA, {"words": []}),
    (OLGA, {"words": "why"}),
    (EVE, {"words": ["why"]}),
    (OLGA, {"words": ["test", "on"]}),
    (TOM, {"words": ["safe-mode", "on"]}),
    (SUE, {"words": ["safe-mode", "off"]}),
    (TOM, {"words": ["test", "on"]}),
    (TOM, {"words": ["lamp", "walk"]}),
    (TOM, {"words": ["answer", "yes"]}),
    (TOM, {"words": ["test", "stop"]}),
    (TOM, {"words": ["test", "off"]}),
)  # fmt: skip


def asked(moment: str, lines: list[tuple[int, str]]) -> list[str]:
    """The answers of a table at this moment, as they go over the socket."""
    return asked_at(inside("mbs3-plain", MOMENTS[moment]), lines)


def asked_at(desk: Inside, lines: list[tuple[int, str]]) -> list[str]:
    async def ask() -> list[str]:
        answers = [
            json.dumps(await desk.service._answer(line.encode(), Peer(uid, uid)))
            for uid, line in lines
        ]
        await desk.leave()
        return answers

    return asyncio.run(ask())


def lines() -> list[tuple[int, str]]:
    return [(uid, json.dumps({"verb": "shell", **asked})) for uid, asked in LINES]
