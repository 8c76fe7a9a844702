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
    amounts: Amounts = DOLLARS


DEFAULTS: Final = Options()
