"""What the tags on a spot are worth. Pure; the reasons are on the page, section 4.

A chip that is unknown, foreign, stolen or retired counts nothing and is always reported.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from controller.chips.register import Chip


@dataclass(frozen=True, slots=True)
class SpotValue:
    """``cents`` are cash chips alone, ``promo_cents`` tokens alone; the rest: UIDs in order."""

    cents: int
    promo_cents: int
    unknown: tuple[str, ...]
    stolen: tuple[str, ...]
    retired: tuple[str, ...]
    foreign_house: tuple[str, ...]

    @property
    def clean(self) -> bool:
        """Every tag on the spot counted."""
        return not (self.unknown or self.stolen or self.retired or self.foreign_house)


def value_spot(tags: frozenset[str], find: Callable[[str], Chip | None]) -> SpotValue:
    """``find`` is ``ChipRegister.find``; each tag falls into exactly one place."""
    cash = promo = 0
    unknown: list[str] = []
    stolen: list[str] = []
    retired: list[str] = []
    foreign: list[str] = []
    for tag in sorted(tags):
        chip = find(tag)
        if chip is None:
            unknown.append(tag)
        elif chip.foreign:
            foreign.append(tag)
        elif chip.status == "stolen":
            stolen.append(tag)
        elif chip.status == "retired":
            retired.append(tag)
        elif chip.kind == "promo":
            promo += chip.cents
        else:
            cash += chip.cents
    return SpotValue(cash, promo, tuple(unknown), tuple(stolen), tuple(retired), tuple(foreign))
