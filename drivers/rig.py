"""All devices of one table as one machine: bytes, outcomes and levels in, orders in; readings out.

The rig is pure. A shell around it (``drivers.transport.hub``) owns ports, bus and pins and does
what the rig's actions say; a test does the same in virtual time. No device's trouble reaches
another: each machine sees its own line or chip only.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from drivers.base import BusDone, BusFailed, BusOp, Counters, LineDriver, Reopen, Write
from drivers.bus import BusMachine
from drivers.chips.field import ChipField
from drivers.gpio.driver import PinsDriver, SupplyDriver
from drivers.orders import Order


@dataclass(frozen=True, slots=True)
class ToLine:
    """Write these bytes to this line."""

    line: str
    data: bytes


@dataclass(frozen=True, slots=True)
class ReopenLine:
    line: str
    reason: str


@dataclass(frozen=True, slots=True)
class Batch:
    """Run these operations on the bus and report the outcome with the number."""

    number: int
    address: int
    ops: tuple[BusOp, ...]


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
        self.field = field
        self.pins = pins
        self.supply = supply

    @property
    def wake_us(self) -> int | None:
        """When ``advance`` wants to be called, whatever else happens."""
        wakes = [line.wake_us for line in self.lines.values()]
        wakes += [self.bus.wake_us, self.field.wake_us]
        if self.pins is not None:
            wakes.append(self.pins.wake_us)
        if self.supply is not None:
            wakes.append(self.supply.wake_us)
        due = [wake for wake in wakes if wake is not None]
        return min(due) if due else None

    def advance(self, now_us: int) -> list[object]:
        """Let every machine whose time has come go on; includes the next batch for the bus."""
        out: list[object] = []
        for name, line in self.lines.items():
            if line.wake_us is not None and line.wake_us <= now_us:
                out += self._from_line(name, line.advance(now_us), now_us)
        if self.field.wake_us is not None and self.field.wake_us <= now_us:
            out += self.field.advance(now_us)
        if self.pins is not None and self.pins.wake_us <= now_us:
            out += self.pins.advance(now_us)
        if self.supply is not None and self.supply.wake_us <= now_us:
            out += self.supply.advance(now_us)
        out += self.bus.timed_out(now_us)
        return out + self._next_batch(now_us)

    # --- lines ---------------------------------------------------------------------------------

    def line_opened(self, name: str, now_us: int) -> list[object]:
        return self._from_line(name, self.lines[name].opened(now_us), now_us)

    def line_closed(self, name: str, why: str, now_us: int) -> list[object]:
        return self._from_line(name, self.lines[name].closed(why, now_us), now_us)

    def line_received(self, name: str, data: bytes, now_us: int) -> list[object]:
        return self._from_line(name, self.lines[name].received(data, now_us), now_us)

    def _from_line(self, name: str, actions: list[object], now_us: int) -> list[object]:
        out: list[object] = []
        for action in actions:
            match action:
                case Write(data):
                    out.append(ToLine(name, data))
                case Reopen(reason):
                    out.append(ReopenLine(name, f"{reason.code} {reason.detail}"))
                case _:
                    out.append(action)
                    out += self.field.heard(action, now_us)
        return out

    # --- bus and pins --------------------------------------------------------------------------

    def batch_finished(
        self, number: int, outcome: BusDone | BusFailed, now_us: int
    ) -> list[object]:
        return self.bus.finished(outcome, now_us, number) + self._next_batch(now_us)

    def bus_recovered(self, *, worked: bool, now_us: int) -> list[object]:
        return self.bus.recovered(worked=worked, now_us=now_us) + self._next_batch(now_us)

    def pins_sampled(self, levels: dict[str, bool], now_us: int) -> list[object]:
        if self.pins is None:
            return []
        if levels.get("expander_int") is False:
            self.bus.nudge(now_us)
        return self.pins.sampled(levels, now_us) + self._next_batch(now_us)

    def supply_read(self, text: str, now_us: int) -> list[object]:
        return [] if self.supply is None else self.supply.read(text, now_us)

    def _next_batch(self, now_us: int) -> list[object]:
        batch = self.bus.next_batch(now_us)
        if batch is None:
            return []
        chip, ops = batch
        return [Batch(self.bus.number, chip.address, ops)]

    # --- orders --------------------------------------------------------------------------------

    def order(self, order: Order, now_us: int) -> list[object]:
        """Every device hears every order and takes what is its own."""
        out = self.field.order(order, now_us)
        for name, line in self.lines.items():
            out += self._from_line(name, line.order(order, now_us), now_us)
        return out + self.bus.order(order, now_us) + self._next_batch(now_us)

    def counters(self) -> dict[str, Counters]:
        """What went over every wire, by device."""
        found = {name: line.counters for name, line in self.lines.items()}
        found.update({chip.name: chip.counters for chip in self.bus.chips})
        found["bus"] = self.bus.counters
        for machine in (self.pins, self.supply):
            if machine is not None:
                found[machine.name] = machine.counters
        return found
