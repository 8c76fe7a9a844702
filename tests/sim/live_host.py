"""A host in real time for the simulator's process: hub, drivers and core, with no journal yet.

    python -m tests.sim.live_host RUN_DIR SCENARIO

It prints each round's settlement as a JSON line and ends when the simulator goes away.
"""

from __future__ import annotations

import asyncio
import csv
import json
import sys
import tomllib
from datetime import date
from pathlib import Path
from typing import Any

import controller.table
from controller.rules.cards import BY_NAME
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.opening import open_table
from controller.table.core import TableCore
from controller.table.spots import SeatMap
from controller.table.staff import NoRegister
from controller.table.texts import parse_texts
from drivers.build import build
from drivers.layout import load
from drivers.orders import Order
from drivers.transport.clock import now_us
from drivers.transport.hub import Hub
from tests.paper import log_of

HOUSE = "OURS"
TEXTS = Path(controller.table.__file__).parent / "texts" / "en.toml"


class Chip:
    def __init__(self, row: dict[str, str]) -> None:
        self.cents = int(row["value"])
        self.kind = row["class"]
        self.house = HOUSE
        self.status = "in play"


class LiveHost:
    def __init__(self, run_dir: Path, scenario: dict[str, Any]) -> None:
        layout = load(run_dir / "layout.toml")
        with (run_dir / "chips.csv").open(encoding="utf-8", newline="") as file:
            register = {row["uid"]: Chip(row) for row in csv.DictReader(file)}
        cards = {line.name for line in layout.lines if line.kind.startswith("cdp")}
        self.core = TableCore(
            log_of(open_table(scenario["game"], scenario["settings"], date(2026, 1, 1))),
            SeatMap(layout.spots),
            register.get,
            NoRegister(),
            parse_texts(TEXTS.read_text("utf-8")),
            house=HOUSE,
            card_devices=frozenset(cards),
            now_us=now_us(),
        )
        self.selection = _selection(scenario["steps"])
        self.hub = Hub(build(layout), layout, self.reading)
        self._wake: asyncio.TimerHandle | None = None

    def start(self) -> None:
        self.hub.start()
        self.orders(self.core.orders_now())
        self.tell(f.MeterReported(12_345_678), "link")

    def reading(self, reading: object) -> None:
        self.orders(self.core.take(reading, now_us()))

    def tell(self, what: f.What, device: str) -> None:
        at_us = now_us()
        self.orders(self.core.fact(f.Fact(what, f.Measured(device), at_us // 1000), at_us))

    def orders(self, orders: list[Order]) -> None:
        loop = asyncio.get_running_loop()
        for order in orders:
            loop.call_soon(self.hub.order, order)
        effects, self.core.outbox[:] = list(self.core.outbox), []
        for effect in effects:
            self.effect(effect)
        if self._wake is not None:
            self._wake.cancel()
            self._wake = None
        if (wake_us := self.core.wake_us) is not None:
            delay_s = max(0, wake_us - now_us()) / 1_000_000
            self._wake = loop.call_later(delay_s, self.advance)

    def advance(self) -> None:
        self.orders(self.core.advance(now_us()))

    def effect(self, effect: object) -> None:
        match effect:
            case fx.PublishRound(_, _, result):
                print(json.dumps(result), flush=True)
            case fx.RequestSelection():
                magic, lucky = self.selection
                self.tell(f.SelectionCommitted("digest"), "selector")
                card = BY_NAME[magic] if magic else None
                self.tell(f.SelectionRevealed(card, lucky), "selector")
            case fx.ClaimJackpot():
                self.tell(f.JackpotLocked(self.core.state.meter), "link")


def _selection(steps: str) -> tuple[str | None, int | None]:
    """What the scenario wants drawn."""
    lines = [line.split() for line in steps.splitlines()]
    magic = next((line[1] for line in lines if line[:1] == ["magic"]), None)
    lucky = next((int(line[1]) for line in lines if line[:1] == ["lucky"]), None)
    return magic, lucky


async def main(run_dir: Path, scenario: Path) -> None:
    host = LiveHost(run_dir, tomllib.loads(scenario.read_text("utf-8")))
    host.start()
    while (run_dir / "table.sock").exists():
        await asyncio.sleep(0.2)
    host.hub.close()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), Path(sys.argv[2])))
