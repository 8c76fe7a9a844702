"""Money of the pools: 1 cent is 1,000,000 units, a rate is whole parts per million.

Cents times ppm are units, exactly; nothing is rounded when money comes in. Only what is shown or
paid is whole cents, and what is below a cent stays where it is.
"""

from __future__ import annotations

import re
from typing import Final

from link.ledger.errors import PoolError
from record.kit.money import cents_text

UNITS: Final = 1_000_000
"""Units of a cent."""
PPM: Final = 1_000_000
MOST_UNITS: Final = (1 << 63) - 1
"""What a column of the store holds: no account and no entry is larger."""

_PERCENT: Final = re.compile(r"([0-9]{1,9})(?:\.([0-9]{1,12}))? ?%")
_FRACTION: Final = re.compile(r"([0-9]{1,12}) ?/ ?([0-9]{1,12})")


def to_units(cents: int) -> int:
    return cents * UNITS


def to_cents(units: int) -> int:
    """Whole cents, rounded down."""
    return units // UNITS


def parse_rate(text: str, field: str) -> int:
    """``0.37 %`` or ``37/10000`` as parts per million; at most the whole wager."""
    if found := _PERCENT.fullmatch(text.strip()):
        whole, places = found[1], found[2] or ""
        above, below = int(whole + places), int("100" + "0" * len(places))
    elif found := _FRACTION.fullmatch(text.strip()):
        above, below = int(found[1]), int(found[2])
    else:
        raise PoolError(
            "E-POOL-003", f'{field}: "{text}" is no rate; expected "0.37 %" or "37/10000"'
        )
    if not below:
        raise PoolError("E-POOL-003", f'{field}: "{text}" divides by zero')
    ppm, rest = divmod(above * PPM, below)
    if rest:
        raise PoolError(
            "E-POOL-004",
            f'{field}: "{text}" is no whole number of parts per million; expected at most four '
            "places of a per cent",
        )
    if ppm > PPM:
        raise PoolError("E-POOL-005", f'{field}: "{text}" is more than the whole wager')
    return ppm


def rate_text(ppm: int) -> str:
    """``3700`` as ``0.37 %``."""
    whole, places = divmod(ppm, 10_000)
    text = f"{places:04}".rstrip("0")
    return f"{whole}.{text} %" if text else f"{whole} %"


def money_text(units: int) -> str:
    """Units as money to the last fraction: ``12,345.67`` or ``0.003700``."""
    sign, units = ("-", -units) if units < 0 else ("", units)
    cents, rest = divmod(units, UNITS)
    below = f"{rest:06}".rstrip("0")
    return f"{sign}{cents_text(cents)}{below}"
