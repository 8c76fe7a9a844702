"""One table's machine: what its configuration needs, as the daemon's user finds it."""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final, cast

import controller
from controller.config.keys import link_keys
from controller.config.live import LiveConfig
from controller.doctor.board import clock
from controller.doctor.buses import buses
from controller.doctor.disk import disk
from controller.doctor.keys import Pair, handed_over, keys
from controller.doctor.lines import lines
from controller.doctor.link import link
from controller.doctor.machine import USER, Machine, is_known, seen_by
from controller.doctor.service import Unit, service, unit_of, wanted
from controller.faults.status import Status
from controller.faults.troubles import Trouble, troubles
from record.journal import JournalError
from record.journal.reader import JournalReader
from record.kit.lines import ask
from record.kit.words import counted

UNREADABLE: Final = "E-DOC-005"
NO_USER: Final = "E-DOC-068"
NOT_OPENED: Final = "E-DOC-069"
NO_DAEMON: Final = "E-DOC-090"
NOT_ASKED: Final = "E-DOC-091"

Found = tuple[str, str, Iterable[Trouble]]
"""What was looked at, what is said if all is well, and what was found."""


def table(config: LiveConfig, machine: Machine) -> Iterator[Found]:
    unit = None if config.simulated else unit_of(machine, config.path)
    if unit is None:
        yield from _as_the_daemon(config, machine, None, None)
        return
    yield "service", f"underfelt-table@{unit.instance}", list(service(machine, config, unit))
    found, pair = _handed(config, machine, unit)
    yield "credentials", "those of the service open", found
    user = (unit.words("User") or [USER])[-1]
    if os.geteuid() != 0:
        yield from _as_the_daemon(config, machine, unit, pair)
    elif not is_known(user):
        yield "user", "", [Trouble(NO_USER, "service", "stopped", user)]
        yield from _as_the_daemon(config, machine, unit, pair)
    else:
        with seen_by(user, unit.words("SupplementaryGroups")):
            yield "user", f"everything below as {user} finds it", list(_program(user))
            yield from _as_the_daemon(config, Machine(machine.root), unit, pair)


def _program(user: str) -> Iterator[Trouble]:
    if not os.access(controller.__file__, os.R_OK, effective_ids=True):
        folder = os.path.dirname(controller.__file__)
        yield Trouble(UNREADABLE, "program", "stopped", f"{folder} is closed to {user}")


def _as_the_daemon(
    config: LiveConfig, machine: Machine, unit: Unit | None, pair: Pair | None
) -> Iterator[Found]:
    if config.simulated:
        yield "devices", "simulated: no port, bus or pin is needed", ()
    else:
        ports = f"{len(config.layout.lines)} serial ports"
        yield "lines", ports, lines(machine, config.layout)
        yield "buses", "I2C and GPIO", buses(machine, config.layout)
    without = _credentials(config) if unit is not None else []
    known = list(keys(config, without))
    yield "keys", "keys and registers open", known
    journal = config.journal.path
    made = None if unit is None else Path("/var/lib", *unit.words("StateDirectory")[:1])
    yield "disk", str(journal), disk(machine, journal, made)
    yield "clock", "set by the network", clock(machine, time.time_ns() // 10**6, _last_ms(journal))
    if config.link is not None and not any(one.about == "link" for one in known):
        pair = pair if "link" in without else link_keys(config)
        if pair is not None:
            said = f"our key accepted by {counted(len(config.link.endpoints), 'endpoint')}"
            yield "link", said, link(config.link.endpoints, *pair)
    yield _daemon(config.service.socket)


def _credentials(config: LiveConfig) -> list[str]:
    """What only the service can open, by the names of the examination of keys."""
    if os.environ.get("CREDENTIALS_DIRECTORY"):
        return []
    return ["link" if key == "link.secret_key" else key for key in wanted(config)]


def _handed(config: LiveConfig, machine: Machine, unit: Unit) -> tuple[list[Trouble], Pair | None]:
    there = {name: machine.path(path) for name, path in unit.credentials.items()}
    plain = [name for name in there if name not in unit.encrypted]
    mine = {
        name: there[name] for name in plain if os.access(there[name], os.R_OK, effective_ids=True)
    }
    closed = [
        Trouble(NOT_OPENED, key, "note", str(unit.credentials[name]))
        for key, name in wanted(config).items()
        if name in there and name not in mine and os.path.exists(there[name])
    ]
    found, pair = handed_over(config, mine)
    return [*closed, *found], pair


def _daemon(path: Path) -> Found:
    try:
        return "table", "runs", troubles(cast(Status, ask(path, {"verb": "status"})))
    except PermissionError as error:
        return "table", "", [Trouble(NOT_ASKED, "table", "note", f"{path}: {error.strerror}")]
    except OSError as error:
        text = f"{path}: {error.strerror or 'no answer'}"
        return "table", "", [Trouble(NO_DAEMON, "table", "note", text)]


def _last_ms(folder: Path) -> int | None:
    try:
        records = list(JournalReader(folder, last=1).records())
    except (OSError, JournalError):
        return None
    return records[-1].at_ms if records else None
