"""What the percentage claims of one round are worth: as the table settles them, claim by claim."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Phase = Literal["jackpot", "reset"]


@dataclass(frozen=True, slots=True)
class Worth:
    cents: int
    phase: Phase
    """``reset``: a share of what the jackpot was reset to by an earlier claim of the round."""


def worths(jackpot_cents: int, reset_cents: int, rule: str, percents: Sequence[int]) -> list[Worth]:
    """In settlement order. Sequential: each of the meter as the one before left it, which is the
    reset amount after 100 %. Snapshot: each of the jackpot at the start; what is more than the
    jackpot is the house's."""
    now, phase, found = jackpot_cents, "jackpot", []
    for percent in percents:
        base = jackpot_cents if rule == "snapshot" else now
        cents = base * percent // 100
        found.append(Worth(cents, "jackpot" if rule == "snapshot" else phase))  # type: ignore[arg-type]
        if percent == 100:
            now, phase = reset_cents, "reset"
        else:
            now -= cents
    return found
