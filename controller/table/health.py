"""Which devices are down, and what that holds: the card device the deal, a low supply the opening.

Displays and keys are only flagged; play continues without them (design: fail-stop or degrade).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from drivers.base import DeviceState, Fault, StateReported
from drivers.readings import CardEvent, SupplyRead, SwitchRead

WRONG_DECK: Final = "E-CDP-036"
"""The device counted its deck wrong and gives no card until it has been taken out."""


@dataclass(slots=True)
class Health:
    card_devices: frozenset[str] = frozenset()
    """Devices that must be READY before a card may be dealt; unknown until they say so."""
    states: dict[str, DeviceState] = field(default_factory=dict)
    reasons: dict[str, Fault | None] = field(default_factory=dict)
    jammed: set[str] = field(default_factory=set)
    opened: set[str] = field(default_factory=set)
    spent: set[str] = field(default_factory=set)
    """Card devices that gave a card since they were loaded."""
    low_supply: bool = False
    disk_full: bool = False
    """Told by the writer: the round under way can end, no new one opens."""
    overrun: int = 0
    """Told by the writer: so many readings were lost in all, and everything is being read again."""
    power_fail: bool = False
    door: bool = False

    def take(self, reading: StateReported | SupplyRead | SwitchRead | CardEvent) -> None:
        match reading:
            case StateReported(device, state, reason):
                self.states[device] = state
                self.reasons[device] = reason
            case SupplyRead(flags=flags):
                self.low_supply = bool(flags & 1)
            case SwitchRead(name="power_fail", on=on):
                self.power_fail = on
            case SwitchRead(name="door", on=on):
                self.door = on
            case CardEvent(device=device, kind=kind):
                self._card_event(device, kind)
            case _:
                pass

    def _card_event(self, device: str, kind: str) -> None:
        match kind:
            case "jam":
                self.jammed.add(device)
            case "jam cleared":
                self.jammed.discard(device)
            case "door opened":
                self.opened.add(device)
            case "door closed":
                self.opened.discard(device)
            case "loaded":
                self.spent.discard(device)
            case _:
                pass

    @property
    def card_hold(self) -> str:
        """Why no card may be dealt: a code of the prompt catalogue, or nothing."""
        states = {self.states.get(d, DeviceState.UNKNOWN) for d in self.card_devices}
        if states & {DeviceState.UNKNOWN, DeviceState.LOCKED}:
            return "card device"
        if self.jammed:
            return "card jam"
        if self.opened:
            return "card door"
        if any(r is not None and r.code == WRONG_DECK for r in self.reasons.values()):
            return "deck out"
        return "" if states <= {DeviceState.READY} else "card device"

    @property
    def down(self) -> frozenset[str]:
        """Devices whose readings do not count."""
        gone = (DeviceState.UNKNOWN, DeviceState.LOCKED)
        return frozenset({d for d, state in self.states.items() if state in gone})

    @property
    def flagged(self) -> dict[str, Fault | None]:
        """Every device that is not READY, and why: for the health page."""
        return {
            d: self.reasons.get(d)
            for d, state in sorted(self.states.items())
            if state is not DeviceState.READY
        }
