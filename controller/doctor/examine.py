"""All examinations in order, each with what it found. What the next needs comes first."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from controller.doctor.board import board, clock, sockets, supply
from controller.doctor.machine import Machine
from controller.doctor.program import program
from controller.faults.troubles import Trouble

BAD_CONFIG: Final = "E-DOC-001"


@dataclass(frozen=True, slots=True)
class Examined:
    """One examination. ``said`` is what was looked at, for the line of those that are well."""

    name: str
    said: str
    found: tuple[Trouble, ...]

    def row(self) -> dict[str, Any]:
        return {"name": self.name, "said": self.said, "found": [one.row() for one in self.found]}


def examine(config_file: Path | None, machine: Machine | None = None) -> Iterator[Examined]:
    machine = machine or Machine()
    found = _of("program", "Python and its libraries", program())
    yield found
    told = "supply and heat" if supply(machine) is not None else "says nothing about its supply"
    yield _of("board", told, board(machine))
    yield _of("sockets", "USB and core dumps", sockets(machine))
    if config_file is None or found.found:
        yield _of("clock", "set by the network", clock(machine, _now_ms(), None))
        return
    yield from _configured(config_file, machine)


def _configured(config_file: Path, machine: Machine) -> Iterator[Examined]:
    # These stand on the libraries that were examined first.
    from controller.config.live import line_kinds, load_live
    from controller.doctor.table import table
    from record.kit.config import ConfigError

    try:
        config = load_live(config_file, line_kinds())
    except ConfigError as error:
        problems = [Trouble(p.code, p.key, "stopped", p.text) for p in error.problems]
        yield _of("configuration", str(config_file), problems)
        return
    except OSError as error:
        text = f"{config_file}: {error.strerror}"
        yield _of("configuration", str(config_file), [Trouble(BAD_CONFIG, "file", "stopped", text)])
        return
    yield _of("configuration", f"{config.game} at {config.name}", ())
    for name, said, troubles in table(config, machine):
        yield _of(name, said, troubles)


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _of(name: str, said: str, found: Iterable[Trouble]) -> Examined:
    return Examined(name, said, tuple(found))
