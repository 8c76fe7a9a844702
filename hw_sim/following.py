"""The table as a page follows it: visible parts, numbered as they change (simulator.md, section 4).

A reader says which feed it has and up to which number; it gets the parts that are newer, at once or
when the next one changes. The table is looked at only while somebody waits.
"""

from __future__ import annotations

import asyncio
import secrets
from typing import Final

from hw_sim.cable import Cable
from hw_sim.devices.hd44780 import COLUMNS, SECOND_ROW, Hd44780
from hw_sim.devices.ht16k33 import Ht16k33
from hw_sim.devices.lamps import beacon, buzzer
from hw_sim.people.bots import Bots
from hw_sim.table import SimTable

LOOK_S: Final = 0.03
LONGEST_WAIT_MS: Final = 10_000
METERS: Final = ("meter-1", "meter-2", "meter-3")
Part = object
"""Any JSON value; never changed after it was made."""


class Following:
    """One thread only: the simulator's loop."""

    def __init__(
        self, table: SimTable, bots: Bots, feed: str = "", cable: Cable | None = None
    ) -> None:
        self.feed = feed or secrets.token_hex(8)
        self.n = 0
        self._table, self._bots, self._cable = table, bots, cable
        self._parts: dict[str, tuple[int, Part]] = {}

    async def changes(self, feed: str, after: int, wait_ms: int) -> dict[str, object]:
        """What is newer than ``after``; everything, with ``reloaded``, to a reader of another
        feed."""
        loop = asyncio.get_running_loop()
        until = loop.time() + min(wait_ms, LONGEST_WAIT_MS) / 1_000
        self.look()
        while self._knows(feed, after) and after == self.n and loop.time() < until:
            await asyncio.sleep(min(LOOK_S, until - loop.time()))
            self.look()
        return self.reply(feed, after)

    def reply(self, feed: str, after: int) -> dict[str, object]:
        """As of the last look."""
        known = self._knows(feed, after)
        return {
            "feed": self.feed,
            "n": self.n,
            "reloaded": not known,
            "at_ms": self._table.clock.now_us // 1_000,
            "parts": {
                name: part for name, part in self._parts.items() if not known or part[0] > after
            },
            "log": [],
        }

    def _knows(self, feed: str, after: int) -> bool:
        return feed == self.feed and 0 <= after <= self.n

    def look(self) -> None:
        seen = {**parts_of(self._table, self._cable), "people": self._bots.look()}
        changed = {
            name: value
            for name, value in seen.items()
            if name not in self._parts or self._parts[name][1] != value
        }
        if changed:
            self.n += 1
            self._parts.update({name: (self.n, value) for name, value in changed.items()})


def parts_of(table: SimTable, cable: Cable | None = None) -> dict[str, Part]:
    """Everything a person could see, and what the display boards hold; closed cards stay closed."""
    device, lamps = table.shoe or table.shuffler, table.expander("lamps-2")
    acceptors = table.acceptors
    return {
        "displays": _displays(table),
        "lamps": table.lamps(),
        "beacon": beacon(lamps),
        "buzzer": buzzer(lamps),
        "sign": table.sign.visible() if table.sign is not None else "",
        "chips": {
            f"{seat}/{spot}": [chip.cents for chip in stack]
            for (seat, spot), stack in sorted(table.felt.spots.items())
            if stack
        },
        "cards": table.felt.shown(),
        "card_device": device.state() if device is not None else {},
        "credits": {} if acceptors is None else _named(acceptors.boxes),
        "acceptors": {} if acceptors is None else _named(acceptors.enabled()),
        "lines": {name: line.connected for name, line in table.lines.items()}
        | ({} if cable is None else {"link": cable.connected}),
        "pins": {name: table.pins.levels[n] for name, n in table.layout.pins.items()},
    }


def _named(by_seat: dict[int, int] | dict[int, bool]) -> dict[str, int]:
    return {str(seat): value for seat, value in by_seat.items()}


def _displays(table: SimTable) -> Part:
    """The memory of the display boards in hexadecimal, and how each is lit."""
    boards = table.boards
    leds = {name: one for name, one in boards.items() if isinstance(one, Ht16k33)}
    prompt = boards.get("prompt")
    glass = prompt if isinstance(prompt, Hd44780) else None
    modes: dict[str, dict[str, int]] = {
        name: {"on": one.lit, "blink": one.blink, "brightness": one.brightness}
        for name, one in leds.items()
    }
    if glass is not None:
        modes["prompt"] = {"on": glass.lit, "backlight": glass.backlight}
    return {
        "meter": [leds[name].memory.hex() for name in METERS if name in leds],
        "magic": leds["magic"].memory.hex() if "magic" in leds else "",
        "prompt": None if glass is None else _prompt(glass),
        "boards": modes,
    }


def _prompt(glass: Hd44780) -> Part:
    """The four lines as memory addresses them: 0, 40, 20 and 60 in the controller's two rows."""
    memory = glass.controller.ddram
    starts = (0, SECOND_ROW, COLUMNS, SECOND_ROW + COLUMNS)
    lines = [bytes(memory[first + n] for n in range(COLUMNS)).hex() for first in starts]
    return {"ddram": lines, "cgram": bytes(glass.controller.cgram).hex()}
