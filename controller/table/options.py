"""What the house chooses for a table besides its rules: how patient, how careful, how it shows.

Plain values; the configuration fills them in (docs/operations/configuration.md). They may change
between two rounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from controller.table.amounts import DOLLARS, Amounts


@dataclass(frozen=True, slots=True)
class Options:
    settle_us: int = 300_000
    """A spot that changed within this time before the cut of a closing call is uncertain."""
    late_grace_us: int = 0
    """From the closing call to its cut: chips that settle in between are not late."""
    take_back_us: int = 10_000_000
    """Chips of a wager taken back must be gone this long after the decision; 0 is no limit."""
    safe_mode: bool = False
    """Sensors are read, but no progressive wager is taken."""
    odometer_us: int = 2_000_000
    """How long the meter counts up to a higher jackpot; 0: it jumps."""
    amounts: Amounts = DOLLARS


DEFAULTS: Final = Options()
