"""Keys and registers: everything the daemon opens at a start, opened the same way.

Each error has its own code and text; nothing is said here a second time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from controller.chips.register import ChipRegister
from controller.chips.signing import load_public as chips_key
from controller.config import ConfigError
from controller.config.live import LiveConfig
from controller.daemon.linking import link_keys
from controller.daemon.start import check_spots, sealing_key
from controller.daemon.troubles import Trouble
from controller.rules.errors import UnderfeltError
from controller.signed.keys import load_public
from controller.staff.document import TRADE
from controller.staff.register import StaffRegister
from record.link.keys import KeyFileError


def keys(config: LiveConfig) -> Iterator[Trouble]:
    opened: dict[str, Callable[[LiveConfig], object]] = {
        "layout": check_spots,
        "keys.sealing": sealing_key,
        "chips.register": _chips,
        "staff.register": _staff,
        "link": link_keys,
    }
    for about, open_it in opened.items():
        try:
            open_it(config)
        except ConfigError as error:
            for problem in error.problems:
                yield Trouble(problem.code, about, "stopped", problem.text)
        except (UnderfeltError, KeyFileError) as error:
            code = str(getattr(error, "code", ""))
            yield Trouble(code, about, "stopped", str(error).removesuffix(f" ({code})"))


def _chips(config: LiveConfig) -> object:
    chips = config.chips
    key = chips_key(chips.public_key)
    return ChipRegister.open(chips.register, key, chips.minimum_version, chips.house)


def _staff(config: LiveConfig) -> object:
    staff = config.staff
    if staff.register is None or staff.public_key is None:
        return None
    return StaffRegister.open(staff.register, load_public(TRADE, staff.public_key))
