"""Which rendering an answer gets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

from controller.shell.messages import Refusal
from controller.shell.render import device, records, status
from controller.shell.render.tests import guided, mode
from controller.shell.render.text import plain, wrapped
from controller.shell.verbs import TESTING
from record.kit.outside import printable

Render = Callable[[Any, int], Iterator[str]]
"""Each takes the answer of its own verb (``controller.shell.answers``)."""
RENDERS: Final[Mapping[str, Render]] = {
    "status": status.status,
    "devices": status.devices,
    "faults": status.faults,
    "help": status.help_,
    "device": device.device,
    "watch": device.watch,
    "chips": device.chips,
    "why": status.why,
    "round": records.round_,
    "link": records.link,
    "journal": records.journal,
    "config": records.config,
    "identity": records.identity,
    "safe-mode": records.safe_mode,
    "safe-mode on": records.safe_mode,
    "safe-mode off": records.safe_mode,
    "reboot": records.reboot,
    "bundle": records.bundle,
    "test on": mode,
    "test off": mode,
    **{verb.name: guided for verb in TESTING if verb.guided},
    "test stop": guided,
    "answer": guided,
}


def rendered(verb: str, data: Mapping[str, Any], columns: int) -> list[str]:
    """Lines without anything that a terminal would take for a command."""
    render = RENDERS.get(verb)
    lines = plain(data, columns) if render is None else list(render(data, columns))
    return [printable(line) for line in lines]


def refused(refusal: Refusal, columns: int) -> list[str]:
    lines = wrapped(f"{refusal.text} ({refusal.error})", columns)
    if refusal.do:
        lines += wrapped(f"-> {refusal.do}", columns, "", "   ")
    return [printable(line) for line in lines]
