"""Keys and registers: everything the daemon opens at a start, opened the same way.

Each error has its own code and text; nothing is said here a second time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Final

from controller.config.keys import link_keys, load_key, sealing_key
from controller.config.live import LiveConfig
from controller.doctor.service import wanted
from controller.faults.refusals import StartRefusal, refusal_of
from controller.faults.troubles import Trouble
from controller.registers.chips.register import ChipRegister
from controller.registers.keys import load_public as register_key
from controller.registers.kinds import CHIPS, STAFF
from controller.registers.staff.register import StaffRegister
from controller.rules.errors import UnderfeltError
from record.kit.config import ConfigError
from record.link.keys import KeyFileError, SecretKey, load_public, load_secret


def _chips(config: LiveConfig) -> object:
    chips = config.chips
    key = register_key(CHIPS, chips.public_key)
    return ChipRegister.open(chips.register, key, chips.minimum_version, chips.house)


def _staff(config: LiveConfig) -> object:
    staff = config.staff
    if staff.register is None or staff.public_key is None:
        return None
    return StaffRegister.open(staff.register, register_key(STAFF, staff.public_key))


Pair = tuple[SecretKey, str]
"""This table's secret key and the servers' public one."""
OPENED: Final[Mapping[str, Callable[[LiveConfig], object]]] = {
    "keys.sealing": sealing_key,
    "chips.register": _chips,
    "staff.register": _staff,
    "link": link_keys,
}


def keys(config: LiveConfig, without: Collection[str] = ()) -> Iterator[Trouble]:
    """``without`` are those that the service is handed, and nobody else."""
    yield from _opened(config, {name: one for name, one in OPENED.items() if name not in without})


def refused(config: LiveConfig, without: Collection[str]) -> Iterator[tuple[str, StartRefusal]]:
    """The same with exit codes, each with the key that it is about, in the order of the start."""
    yield from _refused(config, {name: one for name, one in OPENED.items() if name not in without})


def handed_over(config: LiveConfig, files: Mapping[str, Path]) -> tuple[list[Trouble], Pair | None]:
    """What systemd reads as root, read in the same way; the second are the link's keys."""
    pairs: list[Pair] = []
    names = wanted(config)
    openers: dict[str, Callable[[LiveConfig], object]] = {}
    if sealing := files.get(names.get("keys.sealing", "")):
        openers["keys.sealing"] = lambda _: load_key(sealing, sealing.parent)
    link, own = config.link, files.get(names.get("link.secret_key", ""))
    if link is not None and own is not None:
        openers["link"] = lambda _: pairs.append((load_secret(own), load_public(link.server_key)))
    return list(_opened(config, openers)), pairs[0] if pairs else None


def _opened(
    config: LiveConfig, openers: Mapping[str, Callable[[LiveConfig], object]]
) -> Iterator[Trouble]:
    for about, refusal in _refused(config, openers):
        for problem in refusal.problems:
            yield Trouble(problem.code, about, "stopped", problem.text)


def _refused(
    config: LiveConfig, openers: Mapping[str, Callable[[LiveConfig], object]]
) -> Iterator[tuple[str, StartRefusal]]:
    for about, open_it in openers.items():
        try:
            open_it(config)
        except (ConfigError, UnderfeltError, KeyFileError) as error:
            yield about, refusal_of(error, about)
