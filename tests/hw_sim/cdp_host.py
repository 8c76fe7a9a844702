"""A plain host for the simulated card devices: says what a test tells it to, notes what comes."""

from __future__ import annotations

import random
import struct

from hw_sim.clock import MS, Clock
from hw_sim.devices import cdp
from hw_sim.devices.card_device import CardDevice
from hw_sim.devices.cdp import Frame, Receiver
from hw_sim.line import Line

EVENTS = (
    *cdp.CARD_EVENTS, cdp.SHOE_LOADED, cdp.SHOE_EMPTY, cdp.JAM, cdp.JAM_CLEARED, cdp.DOOR,
    cdp.SHUFFLE_START, cdp.SHUFFLE_END, cdp.PACKET_REMOVED, cdp.DECK_VERIFIED,
)  # fmt: skip


class Host:
    def __init__(self, device: CardDevice) -> None:
        self.clock = Clock()
        self.device = device
        self.line = Line("cards", device, self.clock, random.Random(5))
        self.line.plug_in(self)
        self.frames: list[Frame] = []
        self.times_us: list[int] = []
        self.events: list[Frame] = []
        """Events acknowledged, without copies."""
        self.acks = True
        self.beats = True
        self._receiver = Receiver()
        self._seq = 0
        self.clock.after(0, self._beat)

    def deliver(self, data: bytes) -> None:
        for frame in self._receiver.feed(data):
            self.frames.append(frame)
            self.times_us.append(self.clock.now_us)
            if frame.kind in EVENTS and self.acks:
                if not self.events or self.events[-1].seq != frame.seq:
                    self.events.append(frame)
                self.say(cdp.ACK, seq=frame.seq)

    def hang_up(self) -> None:
        pass

    def _beat(self) -> None:
        if self.beats:
            self.say(cdp.HEARTBEAT, seq=0)
        self.clock.after(250 * MS, self._beat)

    def say(
        self, kind: int, payload: bytes = b"", *, seq: int | None = None, flags: int | None = None
    ) -> int:
        """One frame; without a number it has the next one."""
        if seq is None:
            self._seq += 1
            seq = self._seq
        if flags is None:
            flags = cdp.FROM_HOST.get(kind, (False, 0))[0]
        self.line.from_host(cdp.encode(Frame(cdp.HOST, kind, flags, seq, payload)))
        return seq

    def run(self, milliseconds: int) -> list[Frame]:
        """What came in this time, heartbeats left out."""
        before = len(self.frames)
        self.clock.run_until(self.clock.now_us + milliseconds * MS)
        return [frame for frame in self.frames[before:] if frame.kind != cdp.HEARTBEAT]

    def ask(self, kind: int, payload: bytes = b"", **how: int) -> Frame:
        """The answer to a request or command, which comes within 50 ms of its last byte."""
        seq = self.say(kind, payload, **how)
        return next(f for f in self.run(55) if f.seq == seq and f.kind not in EVENTS)

    def start(self) -> None:
        """From power-on to an open, unlocked session with nothing waiting."""
        self.run(600)
        self.greet()
        assert self.ask(cdp.UNLOCK, b"\0").kind == cdp.ACK

    def greet(self) -> None:
        self.line.from_host(b"\0")
        assert self.ask(cdp.HELLO, seq=0).kind == cdp.HELLO_R
        assert self.ask(cdp.STATUS).kind == cdp.STATUS
        self.run(400)

    def status(self) -> dict[str, int]:
        layout, names = cdp.LAYOUTS[cdp.STATUS]
        return dict(zip(names, struct.unpack(layout, self.ask(cdp.STATUS).payload), strict=True))

    def last_beat(self) -> dict[str, int]:
        layout, names = cdp.LAYOUTS[cdp.HEARTBEAT]
        beat = [f for f in self.frames if f.kind == cdp.HEARTBEAT][-1]
        return dict(zip(names, struct.unpack(layout, beat.payload), strict=True))

    def told(self) -> list[int]:
        """The types of the events acknowledged so far; forgets them."""
        kinds = [event.kind for event in self.events]
        self.events.clear()
        return kinds


def fields_of(frame: Frame) -> dict[str, int]:
    layout, names = cdp.LAYOUTS[frame.kind]
    return dict(zip(names, struct.unpack(layout, frame.payload), strict=True))
