"""A scenario played at a whole table in virtual time: devices, drivers, core, people and a link.

The link and the selector are scripted here: they are other processes of the product.
"""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any, Final

import controller.table
from controller.rules.cards import BY_NAME
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.opening import open_table
from controller.table.core import TableCore
from controller.table.spots import SeatMap
from controller.table.staff import NoRegister
from controller.table.texts import parse_texts
from drivers.orders import Order
from hw_sim.clock import SECOND, Timer
from hw_sim.people.director import Director
from hw_sim.scenario import Expected, Scenario
from tests.paper import log_of
from tests.sim.virtual import VirtualTable

TODAY: Final = date(2026, 1, 1)
HOUSE: Final = "OURS"
METER: Final = 12_345_678
TEXTS: Final = Path(controller.table.__file__).parent / "texts" / "en.toml"
LONGEST_US: Final = 3_600 * SECOND


class _Chip:
    def __init__(self, cents: int, kind: str) -> None:
        self.cents = cents
        self.kind = kind
        self.house = HOUSE
        self.status = "in play"


class Host:
    """Everything of one table but the people."""

    def __init__(self, scenario: Scenario) -> None:
        self.scenario = scenario
        self.virtual = VirtualTable(scenario.layout_path, scenario.seed, self._reading)
        if self.virtual.sim.shuffler is not None:  # a brisk machine: time without an event is dull
            self.virtual.sim.shuffler.shuffle_takes_us = (3 * SECOND, 9 * SECOND)
        self.results: list[Any] = []
        self._register = {
            chip.uid.hex().upper(): _Chip(chip.cents, chip.kind)
            for chip in self.virtual.sim.felt.rack.all_known()
        }
        self._magic: str | None = None
        self._lucky: int | None = None
        self._wake: Timer | None = None
        self.log = log_of(open_table(scenario.game, scenario.settings, TODAY))
        card_line = self.virtual.sim.layout.line_of_kind("cdp-shoe", "cdp-shuffler")
        self.core = TableCore(
            self.log,
            SeatMap(self.virtual.layout.spots),
            self._register.get,
            NoRegister(),
            parse_texts(TEXTS.read_text("utf-8")),
            house=HOUSE,
            card_devices=frozenset({card_line.name} if card_line is not None else ()),
        )
        self.director = Director(scenario, self.virtual.faults, self)

    def play(self) -> None:
        self.virtual.start()
        self._orders(self.core.orders_now())
        if "meter-1" in self.virtual.sim.boards:
            self.meter(METER)
        self.director.start()
        clock = self.virtual.clock
        while not (self.director.ending.done or self.director.ending.failed):
            due = clock.next_us
            assert due is not None
            assert due < LONGEST_US, f"no end: {self.virtual.sim.prompt()}"
            clock.run_until(due)
        assert not self.director.ending.failed, self.director.ending.failed

    # --- the product's one way -----------------------------------------------------------------

    def _reading(self, reading: object) -> None:
        self._orders(self.core.take(reading, self.virtual.now_us))

    def _orders(self, orders: list[Order]) -> None:
        # On the next turn of the clock: an order must not walk back into the machine that speaks.
        for order in orders:
            self.virtual.clock.after(0, lambda order=order: self.virtual.order(order))  # type: ignore[misc]
        self._outbox()
        self._schedule()

    def _schedule(self) -> None:
        if self._wake is not None:
            self._wake.cancel()
            self._wake = None
        wake_us = self.core.wake_us
        if wake_us is not None:
            self._wake = self.virtual.clock.at(wake_us, self._advance)

    def _advance(self) -> None:
        self._wake = None
        self._orders(self.core.advance(self.virtual.now_us))

    def _outbox(self) -> None:
        effects, self.core.outbox[:] = list(self.core.outbox), []
        for effect in effects:
            match effect:
                case fx.PublishRound(_, _, result):
                    self.results.append(result)
                case fx.RequestSelection():
                    self._tell(f.SelectionCommitted("digest"), "selector")
                    self._tell(
                        f.SelectionRevealed(
                            BY_NAME[self._magic] if self._magic else None, self._lucky
                        ),
                        "selector",
                    )
                case fx.ClaimJackpot():
                    self._tell(f.JackpotLocked(self.core.state.meter), "link")

    def _tell(self, what: f.What, device: str) -> None:
        now_us = self.virtual.now_us
        self._orders(self.core.fact(f.Fact(what, f.Measured(device), now_us // 1000), now_us))

    # --- the scripted link ---------------------------------------------------------------------

    def meter(self, amount_cents: int) -> None:
        self._tell(f.MeterReported(amount_cents), "link")

    def lost(self) -> None:
        self._tell(f.LinkLost(), "link")

    def back(self) -> None:
        self._tell(f.LinkRestored(), "link")

    def select(self, magic: str | None, lucky: int | None) -> None:
        self._magic, self._lucky = magic, lucky


def differences(expected: Expected, result: Any) -> list[str]:
    """What the settlement says otherwise than the file; empty if it came out as written."""
    found = []
    if result["round_status"] != expected.status:
        found.append(f"status {result['round_status']}, expected {expected.status}")
    nets = {row["seat"]: row["net"] for row in result["seats"]}
    if nets != expected.net:
        found.append(f"net {nets}, expected {expected.net}")
    said = {
        f"seat {row['seat']} {spot} {wager['status']} {wager['win']}"
        for row in result["seats"]
        for spot, wager in row["wagers"].items()
    }
    said |= {
        f"seat {row['seat']} {award['kind']} {award['amount']}"
        for row in result["seats"]
        for award in row.get("awards", ())
    }
    found += [f"no {pay!r} in {sorted(said)}" for pay in expected.pays if pay not in said]
    cited = set(result["clauses"])
    found += [f"{clause} not cited in {cited}" for clause in set(expected.clauses) - cited]
    return found
