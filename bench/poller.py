"""A thread-per-port poller: what a table's software looks like without an event loop.

    python -m bench.poller LAYOUT

The peer of ``bench.daemon_idle``. One thread per serial port with pyserial's blocking reads, one
for the bus with smbus2's calls, one for the pins, one for the supply file. It sends the daemon's
polls between rounds at the daemon's pace: every antenna in turn with the guards in between, every
chip at its period, the card device's beats. Answers are checked and decoded with the product's own
codecs, and what has changed goes through a queue to the main thread. There is no debouncing, no
retry, no state of a device, no journal and no rule. It sends ``READY=1`` to NOTIFY_SOCKET when
every port is open.
"""

from __future__ import annotations

import itertools
import select
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from queue import SimpleQueue
from typing import Any, Final

import serial
from gpiozero import DigitalInputDevice

from drivers.alpha import codec as alpha
from drivers.alpha.driver import READ_US, STX_PAUSE_US, AlphaDriver
from drivers.base import BusOp, Fault, LineSettings, ReadBlock, ReadByte, WriteBlock, WriteByte
from drivers.cards.codec import decode_message, host_frame
from drivers.cards.devices import ShoeDriver
from drivers.cards.driver import BEAT_US
from drivers.cards.framing import Decoder as CardDecoder
from drivers.cards.framing import encode_frame
from drivers.cards.messages import HelloR, Type
from drivers.feig import commands
from drivers.feig.codec import SILENCE_US, crc16
from drivers.feig.conversation import GUARD_US
from drivers.feig.driver import FeigReader
from drivers.hd44780 import codec as lcd
from drivers.hd44780.driver import ON_OPS, PATROL_EVERY_US
from drivers.ht16k33 import codec as segments
from drivers.ht16k33.driver import VERIFY_EVERY_US
from drivers.layout import LineLayout, load
from drivers.mcp23017 import codec as expander
from drivers.mcp23017.driver import INPUT_PERIOD_US, OUTPUT_PERIOD_US
from drivers.transport.gpio import SAMPLE_S
from drivers.transport.hub import SUPPLY_S
from drivers.transport.loop import dotted
from record.kit.notify import Notifier

ANSWER_S: Final = 0.5
SILENCE_S: Final = SILENCE_US / 1e6
PATROL_S: Final = PATROL_EVERY_US / 1e6
LISTEN_S: Final = 0.05
"""How long a read waits on a port that is not asked anything."""
INPUTS: Final = ("keys-1", "keys-2", "sensors")
OUTPUTS: Final = ("acceptors", "lamps-1", "lamps-2")


class News:
    """What the threads know; ``tell`` passes on what is not what it was."""

    def __init__(self) -> None:
        self.queue: SimpleQueue[tuple[str, object]] = SimpleQueue()
        self._known: dict[str, object] = {}

    def tell(self, what: str, value: object) -> None:
        if self._known.get(what) != value:
            self._known[what] = value
            self.queue.put((what, value))


# --- serial ports ------------------------------------------------------------------------------


class Reader:
    """One chip reader."""

    def __init__(self, line: LineLayout, port: serial.Serial, news: News) -> None:
        self._line = line
        self._port = port
        self._news = news

    def run(self) -> None:
        """Select and inventory of every antenna in turn, the two guards in between."""
        inventory = self._frame(commands.inventory())
        visits = itertools.cycle(
            (str(antenna), self._frame(commands.mux_select(antenna.mux, antenna.channel)))
            for antenna in sorted(self._line.antennas)
        )
        block = commands.read_config(commands.CFG_ANTICOLLISION, eeprom=False)
        guards = itertools.cycle((self._frame(block), self._frame(commands.reader_info())))
        guard_s = time.monotonic() + GUARD_US / 1e6
        while True:
            if time.monotonic() >= guard_s:
                guard_s = time.monotonic() + GUARD_US / 1e6
                self._ask(next(guards))
            name, chosen = next(visits)
            selected = self._ask(chosen)
            if selected is None or commands.done(selected) is not None:
                continue
            answer = self._ask(inventory)
            found = None if answer is None else commands.tags(answer)
            if isinstance(found, commands.Tags):
                self._news.tell(name, frozenset(found.uids))

    def _frame(self, request: commands.Request) -> bytes:
        return commands.to_bytes(request, self._line.address)

    def _ask(self, request: bytes) -> commands.Answer | None:
        """The answer, if it is whole and nothing but silence follows it."""
        self._port.write(request)
        data = self._port.read(3)
        if len(data) == 3:
            data += self._port.read((data[1] << 8 | data[2]) - len(data))
        more, _, _ = select.select([self._port], [], [], SILENCE_S)
        whole = len(data) > 7 and crc16(data[:-2]) == int.from_bytes(data[-2:], "little")
        if more or not whole or data[4] != request[4]:
            self._port.reset_input_buffer()
            return None
        return commands.Answer(data[4], data[5], data[6:-2])


def read_cards(_line: LineLayout, port: serial.Serial, news: News) -> None:
    """The card device: a session, then a beat every 250 ms and whatever the device says."""
    decoder = CardDecoder()
    beat = encode_frame(host_frame(Type.HEARTBEAT))
    port.write(b"\0" + encode_frame(host_frame(Type.HELLO)))
    beat_s = time.monotonic() + BEAT_US / 1e6
    while True:
        for item in decoder.feed(port.read(port.in_waiting or 1)):
            message = item if isinstance(item, Fault) else decode_message(item)
            news.tell(f"shoe {type(message).__name__}", message)
            if isinstance(message, HelloR):
                port.write(encode_frame(host_frame(Type.STATUS, 1)))
        if time.monotonic() >= beat_s:
            beat_s = time.monotonic() + BEAT_US / 1e6
            port.write(beat)


def read_sign(_line: LineLayout, port: serial.Serial, news: News) -> None:
    decoder = alpha.AnswerDecoder()
    read_s = time.monotonic()
    while True:
        if time.monotonic() >= read_s:
            read_s = time.monotonic() + READ_US / 1e6
            for piece in alpha.writes_of(alpha.frame(alpha.read_string())):
                port.write(piece)
                time.sleep(STX_PAUSE_US / 1e6)
        for answer in decoder.feed(port.read(port.in_waiting or 1), time.monotonic_ns() // 1000):
            news.tell("sign", answer)


Read = Callable[[LineLayout, serial.Serial, News], None]
PORTS: Final[dict[str, tuple[Read, LineSettings, float]]] = {
    "feig": (lambda *given: Reader(*given).run(), FeigReader.settings, ANSWER_S),
    "cdp-shoe": (read_cards, ShoeDriver("shoe", "").settings, LISTEN_S),
    "alpha": (read_sign, AlphaDriver("sign").settings, LISTEN_S),
}


# --- the bus -----------------------------------------------------------------------------------


class Bus:
    """The chips of one bus, polled by one thread."""

    def __init__(self, bus: Any, chips: dict[str, int], news: News) -> None:
        self._bus = bus
        self._chips = chips
        self._news = news

    def run(self) -> None:
        """What is due goes first. Periods count from a poll's end, patrols of the prompt from
        their beginning, as the daemon's do."""
        polls: list[tuple[float, Iterator[None]]] = []
        for name, address in self._chips.items():
            if name in INPUTS:
                polls.append((INPUT_PERIOD_US / 1e6, self._expander(name, address, 0x7F7F)))
            elif name in OUTPUTS:
                polls.append((OUTPUT_PERIOD_US / 1e6, self._expander(name, address, 0)))
            elif name == "prompt":
                polls.append((PATROL_S, self._prompt(name, address)))
            else:
                polls.append((VERIFY_EVERY_US / 1e6, self._segments(name, address)))
        due = [0.0] * len(polls)
        while True:
            first = due.index(min(due))
            ahead_s = due[first] - time.monotonic()
            if ahead_s > 0:
                time.sleep(ahead_s)
            period_s, poll = polls[first]
            begun_s = time.monotonic()
            next(poll)
            due[first] = period_s + (begun_s if period_s == PATROL_S else time.monotonic())

    def _call(self, address: int, ops: tuple[BusOp, ...]) -> tuple[bytes, ...]:
        """Each operation as the call that smbus2 has for it; what was read."""
        out = []
        for op in ops:
            match op:
                case WriteByte(value):
                    self._bus.write_byte(address, value)
                case ReadByte():
                    out.append(bytes((self._bus.read_byte(address),)))
                case WriteBlock(register, data):
                    self._bus.write_i2c_block_data(address, register, list(data))
                case ReadBlock(register, length):
                    out.append(bytes(self._bus.read_i2c_block_data(address, register, length)))
        return tuple(out)

    def _expander(self, name: str, address: int, inputs: int) -> Iterator[None]:
        config = expander.Config(inputs, 0)
        self._call(address, expander.configure(config, address, 1, 0))
        for sequence in itertools.cycle(range(1, 256)):
            (data,) = self._call(address, expander.poll(address, sequence, None))
            block = expander.parse(data)
            if not isinstance(block, Fault):
                refused = expander.refusal(block, config, address, sequence, block.olat)
                self._news.tell(name, refused or block.gpio)
            yield

    def _segments(self, name: str, address: int) -> Iterator[None]:
        while True:
            (ram,) = self._call(address, segments.verify_batch(segments.BRIGHTEST))
            self._call(address, segments.light_batch(blink=False))
            self._news.tell(name, ram)
            yield

    def _prompt(self, name: str, address: int) -> Iterator[None]:
        """A patrol reads the four pieces of a line back, and one glyph."""
        for step in lcd.INIT_STEPS:
            self._call(address, step.ops)
            time.sleep(step.wait_us / 1e6)
        for patrol in itertools.count():
            line, code = patrol % lcd.LINES, patrol % len(lcd.GLYPHS)
            for piece in range(lcd.PIECES):
                at = lcd.cell_address(line, piece * lcd.PIECE)
                read = self._call(address, ON_OPS + lcd.read_text_ops(at, lcd.PIECE))
                self._news.tell(f"{name} {at}", lcd.bytes_read(read))
            right = lcd.glyph_matches(self._call(address, lcd.read_glyph_ops(code)), code)
            self._news.tell(f"{name} glyph {code}", right)
            yield


# --- pins and supply ---------------------------------------------------------------------------


def read_pins(factory: Any, pins: dict[str, int], news: News) -> None:
    devices = {
        name: DigitalInputDevice(number, pull_up=True, pin_factory=factory)
        for name, number in pins.items()
    }
    while True:
        news.tell("pins", {name: device.value for name, device in devices.items()})
        time.sleep(SAMPLE_S)


def read_supply(path: Path, news: News) -> None:
    while True:
        news.tell("supply", int(path.read_text("ascii"), 16))
        time.sleep(SUPPLY_S)


def main(argv: list[str]) -> int:
    layout = load(argv[0])
    transport = layout.transport
    news = News()
    works: list[tuple[Callable[..., None], tuple[Any, ...]]] = []
    for line in layout.lines:
        read, settings, timeout_s = PORTS[line.kind]
        port = serial.Serial(
            line.port, settings.baud, settings.bytesize, settings.parity, settings.stopbits,
            timeout=timeout_s, exclusive=True,
        )  # fmt: skip
        works.append((read, (line, port, news)))
    bus = dotted(transport.bus)(transport.bus_argument)
    factory = dotted(transport.pin_factory)(transport.pin_argument)
    works.append((Bus(bus, dict(layout.boards), news).run, ()))
    works.append((read_pins, (factory, dict(layout.pins), news)))
    works.append((read_supply, (Path(transport.throttled), news)))
    for work, arguments in works:
        threading.Thread(target=work, args=arguments, daemon=True).start()
    Notifier.from_environment().ready()
    while True:
        news.queue.get()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
