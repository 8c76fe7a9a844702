"""A table without a link server. A simulated one reports its own meter and confirms its own claims.

Only a table whose devices are simulated may have a meter of its own; the command refuses it
anywhere else.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from controller.daemon.inputs import Input, Released, Told
from controller.faults.status import LinkStatus
from controller.rules.cards import BY_NAME
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.settings import MOST

LINK = f.Measured("link")
NONE: Final = "-"
SEATS: Final = (NONE, *"1234567")


@dataclass(frozen=True, slots=True)
class Standalone:
    """``meter_cents`` None: there is no link at all, and the progressive is closed."""

    meter_cents: int | None = None
    magic_card: str | None = None
    lucky_seat: int | None = None
    scripted: bool = False
    """The selections are written in the scenario instead of drawn."""

    @classmethod
    def from_text(cls, meter: int | None, selection: str | None) -> Standalone:
        """``Qs/4``: this magic card and this lucky seat in every round; ``-`` for none."""
        if meter is not None and not 0 <= meter <= MOST:
            raise ValueError(f"--meter {meter}: expected whole cents, 0 to {MOST}")
        if selection is None:
            return cls(meter)
        magic, _, lucky = selection.partition("/")
        if (magic not in BY_NAME and magic != NONE) or lucky not in SEATS:
            said = "expected a card and a seat from 1 to 7 such as Qs/4, - for none"
            raise ValueError(f"--selection {selection!r}: {said}")
        seat = None if lucky == NONE else int(lucky)
        return cls(meter, None if magic == NONE else magic, seat, scripted=True)

    def selection(self) -> f.SelectionRevealed | None:
        """None: the table draws."""
        if not self.scripted:
            return None
        card = None if self.magic_card is None else BY_NAME[self.magic_card]
        return f.SelectionRevealed(card, self.lucky_seat)


class StandaloneLink:
    """Says to the table what a link server would."""

    def __init__(self, meter_cents: int | None, put: Callable[[Input], None]) -> None:
        self._meter_cents, self._put = meter_cents, put

    def start(self) -> None:
        if self._meter_cents is None:
            self._put(Told(f.LinkLost(), LINK))
        else:
            self._put(Told(f.MeterReported(self._meter_cents), LINK))

    def released(self, released: Released) -> None:
        for effect in released.effects:
            if isinstance(effect, fx.ClaimJackpot) and self._meter_cents is not None:
                self._put(Told(f.JackpotLocked(self._meter_cents), LINK))

    async def close(self, why: str) -> None:
        pass

    def status(self) -> LinkStatus | None:
        return None

    def fingerprints(self) -> dict[str, str]:
        return {}
