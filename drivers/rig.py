"""All devices of one table as one machine: bytes, levels and orders in; readings out.

The rig is pure. A shell around it (``drivers.transport.hub``) owns ports and pins and does what the
rig's actions say; a test does the same in virtual time. The bus is a machine of its own that the
shell runs beside the rig, in a thread: its batches block. No device's trouble reaches another: each
machine sees its own line or board only.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

from drivers.base import Counters, Fault, Reopen, StateReported, Write
from drivers.bus import BusMachine
from drivers.cards.driver import CardDriver
from drivers.chips.field import ChipField
from drivers.gpio.driver import PinsDriver, SupplyDriver
from drivers.line_health import LineHealth
from drivers.machines import LineAction, LineDriver
from drivers.orders import EVERY, AcknowledgeReading, Order, routes
from drivers.readings import Reading

NEVER: Final = 1 << 63


@dataclass(frozen=True, slots=True)
class ToLine:
    """Write these bytes to this line."""

    line: str
    data: bytes


@dataclass(frozen=True, slots=True)
class ReopenLine:
    line: str
    reason: str


RigAction = ToLine | ReopenLine | Reading
"""What the shell does with a line; a reading is for the table."""


class Rig:
    def __init__(
        self,
        lines: Iterable[LineDriver],
        bus: BusMachine,
        field: ChipField,
        pins: PinsDriver | None = None,
        supply: SupplyDriver | None = None,
    ) -> None:
        self.lines = {line.name: line for line in lines}
        self.bus = bus
        """Run by the shell; the rig only counts for it."""
        self.field = field
        self.pins = pins
        self.supply = supply
        self._others = [one for one in (field, pins, supply) if one is not None]
        takers = ((name, getattr(line, "takes", EVERY)) for name, line in self.lines.items())
        self._routes = routes(takers)
        """By kind of order the lines that it concerns."""
        self._health = {n: LineHealth(n, line.counters) for n, line in self.lines.items()}
        self._due = dict.fromkeys(self.lines, NEVER)
        """When each line wants to run next; updated when something has happened to it."""
        self._ran_us = dict.fromkeys(self.lines, 0)
        """When something last happened to each line."""
        for name in self.lines:
            self._note_due(name, 0)

    @property
    def wake_us(self) -> int | None:
        """When ``advance`` wants to be called, whatever else happens."""
        wake = min(self._due.values(), default=NEVER)
        for machine in self._others:
            if machine.wake_us is not None and machine.wake_us < wake:
                wake = machine.wake_us
        return None if wake == NEVER else wake

    def advance(self, now_us: int) -> list[RigAction]:
        """Run every machine that is due."""
        out: list[RigAction] = []
        for name, due_us in self._due.items():
            if due_us <= now_us:
                out += self._from_line(name, self.lines[name].advance(now_us), now_us)
        for machine in self._others:
            if machine.wake_us is not None and machine.wake_us <= now_us:
                out += machine.advance(now_us)
        return out

    # --- lines ---------------------------------------------------------------------------------

    def line_opened(self, name: str, now_us: int) -> list[RigAction]:
        told = self._health[name].opened(now_us)
        return [*told, *self._from_line(name, self.lines[name].opened(now_us), now_us)]

    def line_said(self, name: str, actions: list[LineAction], now_us: int) -> list[RigAction]:
        """What a driver that the shell runs by itself (``replace_line``) has come to."""
        return self._from_line(name, actions, now_us)

    def replace_line(self, driver: LineDriver) -> None:
        """Another one speaks for this line from now on, with the same name and counters."""
        self.lines[driver.name] = driver
        self._due[driver.name] = NEVER if driver.wake_us is None else driver.wake_us

    def line_failed(self, name: str, fault: Fault, now_us: int) -> list[Reading]:
        """The line's port cannot be opened; its driver waits on."""
        return self._health[name].failed(fault, now_us)

    def line_closed(self, name: str, why: str, now_us: int) -> list[RigAction]:
        return self._from_line(name, self.lines[name].closed(why, now_us), now_us)

    def line_received(self, name: str, data: bytes, now_us: int) -> list[RigAction]:
        out = self._from_line(name, self.lines[name].received(data, now_us), now_us)
        return out + self._health[name].received(len(data), now_us)

    def challenge(self, name: str, nonce: bytes, digest: bytes, now_us: int) -> list[RigAction]:
        """Ask a card device for the digest of its program; other lines are left alone."""
        line = self.lines[name]
        if not isinstance(line, CardDriver):
            return []
        return self._from_line(name, line.challenge(nonce, digest, now_us), now_us)

    def _from_line(self, name: str, actions: list[LineAction], now_us: int) -> list[RigAction]:
        self._note_due(name, now_us)
        out: list[RigAction] = []
        for action in actions:
            match action:
                case Write(data):
                    out.append(ToLine(name, data))
                case Reopen(reason):
                    out.append(ReopenLine(name, f"{reason.code} {reason.detail}"))
                case StateReported(device=device) if device == name:
                    out.append(self._health[name].said(action))
                    out += self.field.heard(action, now_us)
                case _:
                    out.append(action)
                    out += self.field.heard(action, now_us)
        return out

    def _note_due(self, name: str, now_us: int) -> None:
        self._ran_us[name] = now_us
        due_us = self.lines[name].wake_us
        self._due[name] = NEVER if due_us is None else due_us

    # --- pins and supply -----------------------------------------------------------------------

    def pins_sampled(self, levels: dict[str, bool], now_us: int) -> list[Reading]:
        return [] if self.pins is None else self.pins.sampled(levels, now_us)

    def pins_failed(self, why: str, now_us: int) -> list[Reading]:
        return [] if self.pins is None else self.pins.failed(why, now_us)

    def supply_read(self, text: str, now_us: int) -> list[Reading]:
        return [] if self.supply is None else self.supply.read(text, now_us)

    def supply_failed(self, why: str, now_us: int) -> list[Reading]:
        return [] if self.supply is None else self.supply.failed(why, now_us)

    # --- orders --------------------------------------------------------------------------------

    def order(self, order: Order, now_us: int) -> list[RigAction]:
        """To the devices that it concerns, but for those on the bus (``bus.order``)."""
        out: list[RigAction] = []
        if type(order) in self.field.takes:
            out += self.field.order(order, now_us)
        for name in self._routes[type(order)]:
            if not isinstance(order, AcknowledgeReading) or name == order.device:
                out += self._from_line(name, self.lines[name].order(order, now_us), now_us)
        return out

    def due_us(self) -> dict[str, int]:
        """When each device's loop should run next; devices that wait for bytes alone are left out.

        A driver that wants to run at once is due when it last ran, and is late only if nobody lets
        it."""
        found = {n: max(due, self._ran_us[n]) for n, due in self._due.items() if due != NEVER}
        found.update(self.bus.due_us())
        for machine in (self.pins, self.supply):
            if machine is not None:
                found[machine.name] = machine.wake_us
        return found

    def counters(self) -> dict[str, Counters]:
        """What went over every wire, by device."""
        found = {name: line.counters for name, line in self.lines.items()}
        found.update({board.name: board.counters for board in self.bus.boards})
        found["bus"] = self.bus.counters
        for machine in (self.pins, self.supply):
            if machine is not None:
                found[machine.name] = machine.counters
        return found
