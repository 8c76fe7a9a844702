"""Which rendering an answer gets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from controller.shell.render import closer, house, table, tests
from controller.shell.render.text import plain, wrapped
from controller.shell.verbs import TESTING
from record.kit.outside import printable

Render = Callable[[Mapping[str, Any], int], Iterator[str]]
RENDERS: Final[Mapping[str, Render]] = {
    "status": table.status,
    "devices": table.devices,
    "faults": table.faults,
    "help": table.help_,
    "device": closer.device,
    "watch": closer.watch,
    "chips": closer.chips,
    "why": closer.why,
    "round": house.round_,
    "link": house.link,
    "journal": house.journal,
    "config": house.config,
    "identity": house.identity,
    "safe-mode": house.safe_mode,
    "safe-mode on": house.safe_mode,
    "safe-mode off": house.safe_mode,
    "reboot": house.reboot,
    "bundle": house.bundle,
    "test on": tests.mode,
    "test off": tests.mode,
    **{verb.name: tests.guided for verb in TESTING if verb.guided},
    "test stop": tests.guided,
    "answer": tests.guided,
}


def rendered(verb: str, data: Mapping[str, Any], columns: int) -> list[str]:
    """Lines without anything that a terminal would take for a command."""
    render = RENDERS.get(verb)
    lines = plain(data, columns) if render is None else list(render(data, columns))
    return [printable(line) for line in lines]


def refused(answer: Mapping[str, Any], columns: int) -> list[str]:
    said = f"{answer.get('text', '')} ({answer.get('error', '')})"
    lines = wrapped(said, columns)
    if do := answer.get("do"):
        lines += wrapped(f"-> {do}", columns, "", "   ")
    return [printable(line) for line in lines]
