"""All examinations in order, each with what it found. What the next needs comes first."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from controller.daemon.troubles import Trouble
from controller.doctor.board import board, clock, sockets
from controller.doctor.buses import buses
from controller.doctor.disk import disk
from controller.doctor.lines import lines
from controller.doctor.machine import Machine
from controller.doctor.program import program

BAD_CONFIG: Final = "E-DOC-001"
NO_DAEMON: Final = "E-DOC-090"


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
    yield _of("board", "supply and heat", board(machine))
    yield _of("sockets", "USB and core dumps", sockets(machine))
    if config_file is None or found.found:
        yield _of("clock", "set by the network", clock(machine, _now_ms(), None))
        return
    yield from _table(config_file, machine)


def _table(config_file: Path, machine: Machine) -> Iterator[Examined]:
    # These stand on the libraries that were examined first.
    from controller.config import ConfigError
    from controller.config.live import line_kinds, load_live
    from controller.daemon.linking import link_keys
    from controller.doctor.keys import keys
    from controller.doctor.link import link

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
    if config.simulated:
        yield _of("devices", "simulated: no port, bus or pin is needed", ())
    else:
        yield _of(
            "lines", f"{len(config.layout.lines)} serial ports", lines(machine, config.layout)
        )
        yield _of("buses", "I2C and GPIO", buses(machine, config.layout))
    known = _of("keys", "keys and registers open", keys(config))
    yield known
    yield _of("disk", str(config.journal.path), disk(machine, config.journal.path))
    last_ms = _last_ms(config.journal.path)
    yield _of("clock", "set by the network", clock(machine, _now_ms(), last_ms))
    if config.link is not None and not any(one.about == "link" for one in known.found):
        secret_and_server = link_keys(config)
        assert secret_and_server is not None
        said = f"{len(config.link.endpoints)} endpoints take our key"
        yield _of("link", said, link(config.link.endpoints, *secret_and_server))
    yield _daemon(config.service.socket)


def _daemon(path: Path) -> Examined:
    from controller.daemon.service import ask
    from controller.daemon.troubles import troubles

    try:
        return _of("table", "runs", troubles(ask(path, "status")))
    except OSError as error:
        text = f"{path}: {error.strerror or 'no answer'}"
        return _of("table", "", [Trouble(NO_DAEMON, "table", "note", text)])


def _last_ms(folder: Path) -> int | None:
    from record.journal import JournalError
    from record.journal.reader import JournalReader

    try:
        records = list(JournalReader(folder, last=1).records())
    except (OSError, JournalError):
        return None
    return records[-1].at_ms if records else None


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def _of(name: str, said: str, found: Iterable[Trouble]) -> Examined:
    return Examined(name, said, tuple(found))
