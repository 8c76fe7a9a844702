"""A serial line from a device model to whatever is plugged in, with everything that goes wrong.

Bytes move at the line's baud rate in small portions, as a UART's buffer hands them on. Faults sit
on the line, not in the device: the device sends a good frame, the wire spoils it.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Final, Protocol

from hw_sim.clock import SECOND, Clock

PORTION: Final = 8
"""Bytes handed on at once, about half a UART's buffer."""
USB_PORTION: Final = 62
"""What a USB adapter hands on at once."""
BACKLOG: Final = 65_536
"""What a line holds at most when nobody listens; more is lost, as on a real wire."""


class SerialDevice(Protocol):
    """A device at the far end of a line."""

    baud: int
    bits_per_char: int
    muted: bool
    """It hears but does not answer."""

    def attach(self, line: Line) -> None:
        """Called once: the line to send on (``line.send``), and with ``line.clock`` the time."""

    def receive(self, data: bytes) -> None:
        """Bytes from the host, a portion at a time."""

    def plugged(self, on: bool) -> None:
        """The cable was plugged in or pulled out; the device keeps its own power."""

    def reboot(self) -> None:
        """Power off and on: volatile state is gone."""


class Plug(Protocol):
    """The host's end of a line: a pty, or a test."""

    def deliver(self, data: bytes) -> None: ...

    def hang_up(self) -> None: ...


@dataclass
class Noise:
    """What the wire does to bytes on their way to the host (and back, where it says so)."""

    flip_rate: float = 0.0
    """Chance of each bit to flip, both ways."""
    loss_rate: float = 0.0
    """Chance of each byte to vanish, both ways."""
    insert_rate: float = 0.0
    """Chance of a random byte before each byte, both ways."""
    glue: bool = False
    """Frames to the host wait for the next (or 30 ms) and arrive in one piece, no silence."""
    split_us: int = 0
    """A pause in the middle of each frame to the host."""


class Line:
    """The cable. ``name`` is the port's name in the layout file."""

    def __init__(self, name: str, device: SerialDevice, clock: Clock, rng: random.Random) -> None:
        self.name = name
        self.device = device
        self.clock = clock
        self.noise = Noise()
        self.connected = True
        self.stuck = False
        """The host's writes are not taken any more: its buffers fill up."""
        self.looped = False
        """The device is off and a plug joins both wires: what the host writes comes back."""
        self.last_frame = b""
        self.sent_frames = 0
        self.portion = PORTION
        self._rng = rng
        self._plug: Plug | None = None
        self._free_us = {"up": 0, "down": 0}
        self._held = bytearray()
        self._pending = 0
        self._char_us = -(-device.bits_per_char * SECOND // device.baud)
        self._epoch = 0
        device.attach(self)

    # --- the host's end ------------------------------------------------------------------------

    def plug_in(self, plug: Plug) -> None:
        self._plug = plug

    def from_host(self, data: bytes) -> None:
        """The host wrote; the bytes crawl to the device."""
        if self.connected and self.looped:
            self._move(self._spoil(data), "up", self._deliver)
        elif self.connected:
            self._move(self._spoil(data), "down", self.device.receive)

    # --- the device's end ----------------------------------------------------------------------

    def send(self, frame: bytes) -> None:
        """The device sends one frame."""
        self.last_frame = frame
        self.sent_frames += 1
        if not self.connected or self.looped:
            return
        spoiled = self._spoil(frame)
        if self.noise.glue:
            self._glue(spoiled)
        elif self.noise.split_us and len(spoiled) > 1:
            cut = self._rng.randrange(1, len(spoiled))
            self._move(spoiled[:cut], "up", self._deliver)
            self._free_us["up"] += self.noise.split_us
            self._move(spoiled[cut:], "up", self._deliver)
        else:
            self._move(spoiled, "up", self._deliver)

    def repeat_last(self, times: int = 1) -> None:
        """The device's last frame once more, bit for bit, as after a reset of its UART."""
        for _ in range(times):
            self._move(self.last_frame, "up", self._deliver)

    # --- the cable -----------------------------------------------------------------------------

    def unplug(self) -> None:
        """Pulled out in the middle of whatever was on its way."""
        self.connected = False
        self._epoch += 1
        self._held.clear()
        self._free_us = {"up": 0, "down": 0}
        self._pending = 0
        self.device.plugged(False)
        if self._plug is not None:
            self._plug.hang_up()
            self._plug = None

    def replug(self) -> None:
        self.connected = True
        self.device.plugged(True)

    # --- moving bytes --------------------------------------------------------------------------

    def _move(self, data: bytes, way: str, arrive: Callable[[bytes], None]) -> None:
        if not data or self._pending + len(data) > BACKLOG:
            return
        epoch = self._epoch
        self._pending += len(data)
        start = max(self._free_us[way], self.clock.now_us)

        def portion(piece: bytes) -> None:
            if epoch == self._epoch:
                self._pending -= len(piece)
                arrive(piece)

        for first in range(0, len(data), self.portion):
            piece = data[first : first + self.portion]
            at_us = start + (first + len(piece)) * self._char_us
            self.clock.at(at_us, partial(portion, piece))
        self._free_us[way] = start + len(data) * self._char_us

    def _deliver(self, piece: bytes) -> None:
        if self._plug is not None:
            self._plug.deliver(piece)

    def _glue(self, frame: bytes) -> None:
        first = not self._held
        self._held += frame
        if first:
            epoch = self._epoch
            self.clock.after(30_000, lambda: self._release(epoch))

    def _release(self, epoch: int) -> None:
        if epoch != self._epoch or not self._held:
            return
        glued, self._held = bytes(self._held), bytearray()
        self._deliver(glued)

    def _spoil(self, data: bytes) -> bytes:
        noise = self.noise
        if not (noise.flip_rate or noise.loss_rate or noise.insert_rate):
            return data
        out = bytearray()
        for byte in data:
            if self._rng.random() < noise.insert_rate:
                out.append(self._rng.randrange(256))
            if self._rng.random() < noise.loss_rate:
                continue
            for bit in range(8):
                if self._rng.random() < noise.flip_rate:
                    byte ^= 1 << bit
            out.append(byte)
        return bytes(out)
