"""From the bytes of a card on a serial line to a message on ZeroMQ, without the fsync.

    python -m bench.serial_to_zmq [CARDS] [REPEATS]

A card device's bytes are written to a pty. In the daemon they go the whole way of the table: port,
codec, driver, rig, runtime, table core, both records of the journal (sealed, chained, written to a
file; only ``fdatasync`` is left out), and then the link puts the effect on a PUSH socket.

Two others do less with the same bytes. The sealing floor is what no table can leave out: decode the
card, seal it, write one chained record, send. It has no engine and no threads. The bare asyncio
loop sends the bytes as they are. All send to this process over loopback TCP. Cards come to each in
turn, so that noise hits all alike. The target is against the sealing floor.

The table is Ricochet in the deal, whose cards are public: each card has an effect. After each card
it is put back to where it stood, outside the time that is measured. The line's own time, 1.9 ms for
a card at 115,200 baud, is in neither: a pty has no baud rate.
"""

from __future__ import annotations

import asyncio
import os
import pty
import random
import subprocess
import sys
import tempfile
import time
import tty
from contextlib import ExitStack
from dataclasses import replace
from datetime import date
from pathlib import Path
from statistics import median
from typing import Any, Final, Self

import msgspec
import zmq

import controller.table
from bench.common import Target, print_ratios, verdict, versions
from bench.journal import NoSync
from controller.daemon.compose import compose
from controller.daemon.house_options import HouseOptions
from controller.daemon.inputs import Released
from controller.daemon.linking import NoLink
from controller.daemon.runtime import Runtime
from controller.daemon.setup import JournalSetup, TableSetup
from controller.demo.scripted_dealer import ScriptedDealer
from controller.history.entries import encode_entry
from controller.history.sealing import CardSealer, TableKey
from controller.history.snapshot import Opening
from controller.rules.cards import DECK, NAMES, HiddenCard
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.opening import open_table
from controller.rules.engine.state import TableState
from controller.table.cards import card_of
from controller.table.options import DEFAULTS
from controller.table.texts import parse_texts
from drivers.cards import messages as m
from drivers.cards.codec import decode_message
from drivers.cards.framing import Decoder, Frame
from drivers.layout import LineLayout, TableLayout, Transport
from hw_sim.devices import cdp
from record.journal import Journal

SERIAL: Final = "SH-000001"
BEAT_S: Final = 0.2
GAP_S: Final = (0.004, 0.012)
"""Between two cards; at random, so that nothing runs in step."""
WARM: Final = 20
GAME: Final = "RICO"
SETTINGS: Final[dict[str, Any]] = {
    "ante": 500,
    "orphan_pot": "last_player",
    "deal_pattern": "passes",
    "irregularity_profile": "supervisor",
}
TEXTS: Final = Path(controller.table.__file__).parent / "texts" / "en.toml"
BARE, SEALING, DAEMON = "bare asyncio loop", "sealing floor", "daemon"
TARGET: Final = 2.2
KEY: Final = TableKey(bytes(range(32)))
DIGEST: Final = "0" * 64
"""In the place of the state's: the floor has no state."""


# --- the hosts ---------------------------------------------------------------------------------


def push(address: str) -> zmq.Socket[bytes]:
    socket = zmq.Context(1).socket(zmq.PUSH)
    socket.connect(address)
    return socket


async def bare(port: str, address: str) -> None:
    socket = push(address)
    line = os.open(port, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)

    def readable() -> None:
        socket.send(os.read(line, 4096), zmq.NOBLOCK)

    asyncio.get_running_loop().add_reader(line, readable)
    await asyncio.Event().wait()


class Floor:
    """Decode, seal, one chained record, send."""

    def __init__(self, folder: Path, address: str) -> None:
        self._socket = push(address)
        self._decoder = Decoder()
        self._journal = Journal.open(folder, table="BENCH", disk=NoSync(), now_ms=wall_ms())
        self._cards = CardSealer(KEY, self._journal.journal_id)

    def take(self, data: bytes) -> None:
        for frame in self._decoder.feed(data):
            message = decode_message(frame) if isinstance(frame, Frame) else frame
            if not isinstance(message, m.Card):
                raise TypeError(f"expected a card, not {message}")
            self._card(message)

    def _card(self, message: m.Card) -> None:
        journal, now_ms = self._journal, wall_ms()
        card, seq = card_of(message.card.unseal()), journal.next_seq
        assert card is not None

        def hide(hidden: HiddenCard) -> Any:
            return self._cards.seal(hidden, seq, 0).to_json()

        fact = f.Fact(f.CardDrawn(HiddenCard(card)), f.Measured("shoe"), now_ms)
        journal.append(*encode_entry(fact, ("shoe", message.draw_no), hide, DIGEST), now_ms)
        journal.sync()
        told = {"seq": seq, "seat": 1, "card": NAMES[card]}
        self._socket.send(msgspec.json.encode(told), zmq.NOBLOCK)


def wall_ms() -> int:
    return time.time_ns() // 1_000_000


async def sealing(port: str, address: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        floor = Floor(Path(name), address)
        line = os.open(port, os.O_RDWR | os.O_NOCTTY | os.O_NONBLOCK)
        loop = asyncio.get_running_loop()
        loop.add_reader(line, lambda: floor.take(os.read(line, 4096)))
        await asyncio.Event().wait()


def dealing() -> TableState:
    """Two players have bet and the first card is out."""
    table = ScriptedDealer(open_table(GAME, SETTINGS, date(2026, 1, 1)), [DECK[0]])
    table.prepare()
    table.bets({1: {"ante": 500}, 3: {"ante": 500}})
    table.deal_one()
    return table.state


class Table(NoLink):
    """The daemon's own parts around one card device and a journal that is never synced. It takes
    the place of the link."""

    def __init__(self, folder: Path, port: str, address: str) -> None:
        self.stands = dealing()
        self.socket = push(address)
        line = LineLayout("shoe", "cdp-shoe", port, SERIAL)
        setup = TableSetup(
            name="BENCH",
            opening=Opening(GAME, SETTINGS, "2026-01-01"),
            layout=TableLayout("BENCH", 7, Transport(), (line,), {}, {}),
            journal=JournalSetup(path=folder),
            key=KEY,
            find=lambda _uid: None,
            choices=HouseOptions(parse_texts(TEXTS.read_text("utf-8")), DEFAULTS),
        )
        table = replace(compose(setup, NoSync()), link=self)
        self.journal, self.memory = table.journal, table.writer.table_log.memory
        self.memory.state = self.stands
        self.runtime = Runtime(table)

    def released(self, released: Released) -> None:
        for effect in released.effects:
            if isinstance(effect, fx.ShowDealtCard):
                told = {"seq": self.journal.next_seq, "seat": effect.seat, "card": str(effect.card)}
                self.socket.send(msgspec.json.encode(told), zmq.NOBLOCK)
        # The message is on its way: the next card finds the table where this one found it.
        self.memory.state = self.stands


async def daemon(port: str, address: str) -> None:
    with tempfile.TemporaryDirectory() as name:
        table = Table(Path(name), port, address)
        await table.runtime.run(lambda: None)


# --- the device, and the other end of ZeroMQ ---------------------------------------------------


class Line:
    """A card device on a pty and the host that listens to it."""

    def __init__(self, kind: str, context: zmq.Context[Any]) -> None:
        self.kind = kind
        self.pull = context.socket(zmq.PULL)
        port = self.pull.bind_to_random_port("tcp://127.0.0.1")
        self._master, slave = pty.openpty()
        tty.setraw(self._master)
        tty.setraw(slave)
        os.set_blocking(self._master, False)
        self._heard = cdp.Receiver()
        self._seq = 0
        self._number = 0
        self._open = False
        self._beat_s = 0.0
        argv = [sys.executable, "-m", "bench.serial_to_zmq", kind, os.ttyname(slave)]
        self._process = subprocess.Popen([*argv, f"tcp://127.0.0.1:{port}"])

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._process.kill()
        self._process.wait()
        self.pull.close(0)

    def card_us(self) -> float:
        """The time of one card, from its bytes to its message."""
        number = self._number + 1
        frame = self._card(number)
        start = time.perf_counter_ns()
        os.write(self._master, frame)
        if not self.pull.poll(5_000):
            raise RuntimeError(f"{self.kind}: no message for card {number}")
        self.pull.recv()
        took = (time.perf_counter_ns() - start) / 1_000
        self._number = number
        return took

    def _card(self, number: int) -> bytes:
        card = cdp.payload(
            cdp.CARD, draw_no=number, card=cdp.FULL_DECK[20], read_err=0,
            confidence=100, dest=0,
        )  # fmt: skip
        return self._frame(cdp.CARD, card, cdp.WANTS_ACK)

    def _frame(self, kind: int, payload: bytes, flags: int = 0, seq: int | None = None) -> bytes:
        if seq is None:
            self._seq = seq = self._seq + 1
        return cdp.encode(cdp.Frame(cdp.SHOE, kind, flags, seq, payload))

    def attend(self, until_s: float) -> None:
        """What the device does between cards: answer, and beat."""
        while True:
            try:
                frames = self._heard.feed(os.read(self._master, 4096))
            except BlockingIOError:
                frames = []
            for frame in frames:
                self._answer(frame)
            now_s = time.monotonic()
            if self._open and self.kind == "daemon" and now_s >= self._beat_s:
                self._beat_s = now_s + BEAT_S
                beat = cdp.payload(cdp.HEARTBEAT, boot_id=7, state=1, switches=0, err=0)
                os.write(self._master, self._frame(cdp.HEARTBEAT, beat, seq=0))
            if now_s >= until_s:
                return
            time.sleep(min(0.002, until_s - now_s))

    def _answer(self, frame: cdp.Frame) -> None:
        if frame.kind == cdp.HELLO:
            hello = cdp.payload(
                cdp.HELLO_R, vendor=b"SIM", model=b"SHOE", serial=SERIAL.encode(), firmware=b"1.0",
                boot_id=7, proto=1,
            )  # fmt: skip
            os.write(self._master, self._frame(cdp.HELLO_R, hello, seq=frame.seq))
        elif frame.kind == cdp.STATUS:
            status = cdp.payload(
                cdp.STATUS, state=1, lid=0, cards_left=51, cut_card=0, err=0, uptime=1, load_id=1,
                number=self._number, waiting=0,
            )  # fmt: skip
            os.write(self._master, self._frame(cdp.STATUS, status, seq=frame.seq))
            self._open = True
        elif frame.kind in (cdp.LOCK, cdp.UNLOCK):
            os.write(self._master, self._frame(cdp.ACK, b"", seq=frame.seq))

    def settle(self) -> None:
        """Until the host is there and knows the device; a few cards that are not counted."""
        while not self._open:
            self.attend(time.monotonic() + 0.1)
            if self.kind != "daemon":
                os.write(self._master, self._card(1))
                self._open = bool(self.pull.poll(100))
        for _ in range(WARM):
            self.attend(time.monotonic() + 0.05)
            while self.pull.poll(0):
                self.pull.recv()
            self.card_us()


HOSTS: Final = {"bare": bare, "floor": sealing, "daemon": daemon}
KINDS: Final = {BARE: "bare", SEALING: "floor", DAEMON: "daemon"}


def percentile(values: list[float], share: float) -> float:
    return sorted(values)[int(share * (len(values) - 1))]


def main(argv: list[str]) -> int:
    if argv and argv[0] in HOSTS:
        asyncio.run(HOSTS[argv[0]](argv[1], argv[2]))
        return 0
    cards = int(argv[0]) if argv else 400
    repeats = int(argv[1]) if len(argv) > 1 else 5
    print(versions("pyzmq", "msgspec"), f"{cards} cards x {repeats}")
    context: zmq.Context[Any] = zmq.Context()
    took: dict[str, list[list[float]]] = {name: [] for name in KINDS}
    with ExitStack() as stack:
        lines = {n: stack.enter_context(Line(kind, context)) for n, kind in KINDS.items()}
        for line in lines.values():
            line.settle()
        for _ in range(repeats):
            run: dict[str, list[float]] = {name: [] for name in lines}
            for _ in range(cards):
                for name, line in lines.items():
                    pause_s = random.uniform(*GAP_S)
                    for each in lines.values():
                        each.attend(time.monotonic() + pause_s / len(lines))
                    run[name].append(line.card_us())
            for name, values in run.items():
                took[name].append(values)
    for what, share in (("p99", 0.99), ("p50", 0.5)):
        print(what)
        medians = {n: median(percentile(run, share) for run in runs) for n, runs in took.items()}
        print_ratios(medians, BARE, "us")
        print_ratios({name: medians[name] for name in (SEALING, DAEMON)}, SEALING, "us")
    return verdict(medians, [Target(DAEMON, SEALING, TARGET, at_most=True)])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
