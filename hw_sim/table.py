"""One simulated table: the devices of a layout, wired up, with the felt above them.

Nothing here does I/O. A shell gives the lines ptys and the bus a socket and lets the clock run with
real time; a test plugs its own ends in and jumps.
"""

from __future__ import annotations

import random
import re
from functools import partial

from hw_sim.bus import Bus
from hw_sim.clock import Clock
from hw_sim.devices.acceptor import Acceptors
from hw_sim.devices.alpha import AlphaSign
from hw_sim.devices.feig import FeigReader
from hw_sim.devices.hd44780 import Hd44780
from hw_sim.devices.ht16k33 import Ht16k33, matrix_card, segments_text
from hw_sim.devices.keys import Keyboard
from hw_sim.devices.lamps import lamp_states
from hw_sim.devices.mcp23017 import Mcp23017
from hw_sim.devices.shoe import Shoe
from hw_sim.devices.shuffler import Shuffler
from hw_sim.felt import Felt
from hw_sim.layout import Layout, Wired
from hw_sim.line import Line, SerialDevice
from hw_sim.pins import Pins

IDLE_LEVELS = {"supervisor_key": True, "door": False, "power_fail": True, "expander_int": True}
"""Pin levels of a healthy table (docs/protocols/console.md, section 7)."""


class SimTable:
    def __init__(self, layout: Layout, seed: int = 0) -> None:
        self.layout = layout
        self.rng = random.Random(seed)
        self.clock = Clock()
        self.felt = Felt(self.clock)
        self.bus = Bus(self.clock)
        self.pins = Pins(self.clock)
        self.throttled = 0
        self.lines: dict[str, Line] = {}
        self.shoe: Shoe | None = None
        self.shuffler: Shuffler | None = None
        self.sign: AlphaSign | None = None
        for wired in layout.lines:
            self.lines[wired.name] = Line(wired.name, self._device(wired), self.clock, self.rng)
        self.boards: dict[str, Mcp23017 | Ht16k33 | Hd44780] = {}
        for name, address in layout.boards.items():
            board = self._board(name)
            self.boards[name] = board
            self.bus.add(address, board)
            if isinstance(board, Mcp23017):
                board.on_interrupt = self._interrupt
        for name, number in layout.pins.items():
            self.pins.levels[number] = IDLE_LEVELS[name]
        self.keyboard = Keyboard(self.expander("keys-1"), self.expander("keys-2"), self.clock)
        self.keyboard.on_down = self._turned
        self.acceptors: Acceptors | None = None
        if "sensors" in self.boards and "acceptors" in self.boards:
            sensors, acceptors = self.expander("sensors"), self.expander("acceptors")
            self.acceptors = Acceptors(sensors, acceptors, self.clock)

    def _turned(self, key: str) -> None:
        """A key that says cards were turned, pressed when the prompt asks for it: they lie face up
        now. Of the dealer's two cards nobody here knows which comes first, so both wait for the
        second."""
        line = self.prompt()
        if key not in ("SHOW", "COMM2") or not line[3].startswith(key):
            return
        found = re.match(r"SEAT (\d)", line[1])
        if key == "COMM2" and len(self.felt.hands.get(0, ())) == 2:
            self.felt.open_hands.add(0)
        elif key == "SHOW" and found:
            self.felt.open_hands.add(int(found[1]))

    # --- what people see -----------------------------------------------------------------------

    def prompt(self) -> list[str]:
        """The four lines as the dealer reads them."""
        board = self.boards.get("prompt")
        return board.lines() if isinstance(board, Hd44780) else [""] * 4

    def lamps(self) -> list[str]:
        return lamp_states(self.expander("lamps-1"), self.expander("lamps-2"))

    def meter(self) -> str:
        modules = [self.boards.get(f"meter-{n}") for n in (1, 2, 3)]
        return segments_text([m for m in modules if isinstance(m, Ht16k33)])

    def magic(self) -> str | None:
        board = self.boards.get("magic")
        return matrix_card(board) if isinstance(board, Ht16k33) else None

    def look(self) -> dict[str, object]:
        """Everything a person at the table could see; cards face down stay face down."""
        device = self.shoe or self.shuffler
        return {
            "now_ms": self.clock.now_us // 1000,
            "prompt": self.prompt(),
            "lamps": self.lamps(),
            "meter": self.meter(),
            "magic": self.magic(),
            "sign": self.sign.visible() if self.sign is not None else "",
            "chips": {
                f"{seat}/{spot}": self.felt.worth(seat, spot)
                for (seat, spot), stack in sorted(self.felt.spots.items())
                if stack
            },
            "cards": self.felt.shown(),
            "card device": device.state() if device is not None else {},
            "credit boxes": {} if self.acceptors is None else dict(self.acceptors.boxes),
            "lines": {name: line.connected for name, line in self.lines.items()},
            "pins": {name: self.pins.levels[n] for name, n in self.layout.pins.items()},
        }

    def counts(self) -> dict[str, int]:
        """What the devices have answered since the start, by line and board: frames, messages on
        the bus, readings of a pin."""
        return {
            **{name: line.sent_frames for name, line in self.lines.items()},
            **{name: self.bus.messages[at] for name, at in self.layout.boards.items()},
            "pins": self.pins.reads,
        }

    def drive_pin(self, name: str, level: bool) -> None:
        self.pins.drive(self.layout.pins[name], level)

    # --- building ------------------------------------------------------------------------------

    def _device(self, wired: Wired) -> SerialDevice:
        match wired.kind:
            case "feig":
                return FeigReader(
                    wired.address,
                    bytes.fromhex(wired.serial),
                    partial(self._tags, wired),
                    partial(self._broken, wired),
                )
            case "cdp-shoe":
                self.shoe = Shoe(wired.serial, self.rng)
                return self.shoe
            case "cdp-shuffler":
                self.shuffler = Shuffler(wired.serial, self.rng)
                return self.shuffler
            case _:
                self.sign = AlphaSign(self.rng)
                return self.sign

    def _board(self, name: str) -> Mcp23017 | Ht16k33 | Hd44780:
        if name == "prompt":
            return Hd44780(self.rng)
        if name == "magic" or name.startswith("meter"):
            return Ht16k33(self.rng)
        return Mcp23017()

    def expander(self, name: str) -> Mcp23017:
        board = self.boards.get(name)
        return board if isinstance(board, Mcp23017) else Mcp23017()

    def _interrupt(self) -> None:
        """The expanders' open-drain lines are one wire, low while any of them wants to be read."""
        if "expander_int" in self.layout.pins:
            boards = (c for c in self.boards.values() if isinstance(c, Mcp23017))
            self.drive_pin("expander_int", not any(board.interrupt for board in boards))

    def _tags(self, wired: Wired, mux: int, output: int) -> list[bytes]:
        place = wired.antennas.get((mux, output))
        return [] if place is None else self.felt.tags(*place)

    def _broken(self, wired: Wired, mux: int, output: int) -> bool:
        return wired.antennas.get((mux, output)) in self.felt.broken
