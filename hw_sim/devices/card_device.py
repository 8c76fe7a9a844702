"""The device's side of CDP v1: session, events, lock, doors and jams of shoe and shuffler
(docs/protocols/card-devices.md, sections 2 to 6.1).
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Callable
from functools import partial
from typing import ClassVar, Final

from hw_sim.clock import MS, SECOND, Clock, Timer
from hw_sim.devices import cdp
from hw_sim.devices.cdp import Frame, Receiver
from hw_sim.devices.cdp_outbox import Event, Outbox
from hw_sim.line import Line

BOOT_US: Final = 300 * MS
"""Power to first HEARTBEAT; the device is deaf until then."""
ANSWER_US: Final = 3 * MS
"""From a frame's last byte to its answer: one turn of the main loop."""
BEAT_US: Final = 250 * MS
ABSENT_US: Final = 850 * MS
DIGEST_US: Final = 400 * MS
"""How long the controller hashes its image."""
DROPPED_WHEN_FULL: Final = (cdp.JAM, cdp.JAM_CLEARED, cdp.DOOR)

E_JAM, E_READER, E_MEMORY, E_MOTOR = 0x0001, 0x0002, 0x0004, 0x0008
E_REFUSED, E_QUEUE, E_DECK = 0x0010, 0x0020, 0x0040
IDLE, READY, MOVING, LOCKED, FAULT = range(5)
STATES: Final = ("idle", "ready", "busy", "locked", "fault")
LID, SERVICE = 1, 2


class CardDevice:
    baud = 115_200
    bits_per_char = 10
    DEV: ClassVar[int]
    MODEL: ClassVar[bytes]
    JAM_PLACE: ClassVar[int]

    def __init__(self, serial: str, rng: random.Random) -> None:
        self.muted = False
        self.serial = serial.encode("ascii", "replace")[:12] or b"SIM"
        self.image = f"underfelt simulated {self.MODEL.decode()}".encode()
        self.firmware = hashlib.sha256(self.image).digest()[:8]
        """What it says of itself; ``image`` is what a challenge finds."""
        self.answers_challenges = True
        self.next_read: str | None = None
        self.mistaken: dict[int, int] = {}
        """Cards that its reader takes for others."""
        self._rng = rng
        self._line: Line | None = None
        self._epoch = 0
        # Kept without power.
        self._boot_id = rng.randrange(1, 1 << 32)
        self._outbox = Outbox(self._send, self._later)
        self._jam_no = 0
        self._door_no = 0
        self._door_openings = 0
        self._err = 0
        # How things stand, power or no power.
        self._jammed = False
        self._opened_since_jam = False
        self._open_doors: set[int] = set()
        self._passing = False
        """A card or packet is on its way through the gate."""
        self._forget()

    def _forget(self) -> None:
        """What is gone without power."""
        self._on = False
        self._locked = True
        self._greeted = False
        self._session = False
        self._cleared_since_hello = False
        self._last_command: int | None = None
        self._heard_us: int | None = None
        self._up_us = 0
        self._digest: Timer | None = None
        self._receiver = Receiver()

    # --- what a subclass says ------------------------------------------------------------------

    def _cards_left(self) -> int:
        raise NotImplementedError

    def _idle(self) -> bool:
        """No card can come out until somebody puts some in."""
        raise NotImplementedError

    def _busy(self) -> bool:
        return self._passing

    def _cut_card_out(self) -> bool:
        return False

    def _command(self, frame: Frame) -> int:
        """A well-formed command for this kind of device only: 0 or the code of the NAK."""
        raise NotImplementedError

    def _takes(self, kind: int) -> bool:
        return kind in cdp.FROM_HOST and kind not in (cdp.DECK_VERIFY, cdp.METERS)

    def _meters(self) -> bytes:
        raise NotImplementedError

    def _tick(self) -> None:
        """Every heartbeat."""

    def _powered_up(self) -> None:
        """Before the first heartbeat."""

    def _lid_moved(self, open_now: bool) -> None:
        """After the DOOR event."""

    def _jam_struck(self) -> None:
        """After the JAM event."""

    # --- power and line ------------------------------------------------------------------------

    def attach(self, line: Line) -> None:
        self._line = line
        self._power_on()

    def plugged(self, on: bool) -> None:
        """It cannot feel its cable; it only hears nobody."""

    def reboot(self) -> None:
        self._power_on()

    def lose_memory(self) -> None:
        """Power off and on with a dead battery: queue and counters are gone."""
        self._outbox = Outbox(self._send, self._later)
        self._jam_no = self._door_no = self._door_openings = 0
        self._boot_id = self._rng.randrange(1, 1 << 32)
        self._err |= E_MEMORY
        self.reboot()

    def receive(self, data: bytes) -> None:
        if not self._on:
            return
        for frame in self._receiver.feed(data):
            if frame.dev == cdp.HOST:
                self._later(ANSWER_US, partial(self._hear, frame))

    def _power_on(self) -> None:
        self._epoch += 1
        self._forget()
        self._outbox.power_on()
        self._later(BOOT_US, self._boot)

    def _boot(self) -> None:
        self._on = True
        self._up_us = self._now_us
        self._boot_id = self._boot_id % 0xFFFFFFFF + 1
        if self._passing:  # the power went while a card was in the gate
            self._passing = False
            self._jam_now(2)
        self._powered_up()
        self._beat()

    def _beat(self) -> None:
        self._tick()
        fields = cdp.payload(
            cdp.HEARTBEAT, boot_id=self._boot_id, state=self._state(), switches=self._switches(),
            err=self.err,
        )  # fmt: skip
        self._send(cdp.HEARTBEAT, 0, 0, fields)
        self._later(BEAT_US, self._beat)

    @property
    def _clock(self) -> Clock:
        assert self._line is not None, "attach first"
        return self._line.clock

    @property
    def _now_us(self) -> int:
        return self._clock.now_us

    def _later(self, delay_us: int, action: Callable[[], None]) -> Timer:
        """Do this later, unless the power goes first."""
        epoch = self._epoch

        def still_on() -> None:
            if epoch == self._epoch:
                action()

        return self._clock.after(delay_us, still_on)

    def _send(self, kind: int, flags: int, seq: int, payload: bytes = b"") -> None:
        if self._line is not None and not self.muted:
            self._line.send(cdp.encode(Frame(self.DEV, kind, flags, seq, payload)))

    # --- how it stands -------------------------------------------------------------------------

    @property
    def locked(self) -> bool:
        return self._locked

    @property
    def err(self) -> int:
        return self._err | (E_JAM if self._jammed else 0)

    @property
    def gate_open(self) -> bool:
        return not self.shut_because

    @property
    def shut_because(self) -> str:
        """Why no card comes out; empty while the gate is open."""
        heard = self._heard_us is not None and self._now_us - self._heard_us <= ABSENT_US
        reasons = {
            "it is jammed": self._jammed,
            f"it reports error {self.err:04X}": self.err,
            "a door is open": self._open_doors,
            "there are no cards to deal": self._idle(),
            "the table does not talk to it": not (self._session and heard),
            "the table keeps it locked": self._locked,
            "a card is on its way": self._busy(),
            "the table has not acknowledged the last event": self._outbox.queue,
        }
        return next((why for why, true in reasons.items() if true), "")

    def _state(self) -> int:
        if self.err:
            return FAULT
        if self._idle():
            return IDLE
        if self._busy():
            return MOVING
        return LOCKED if self._locked else READY

    def _switches(self) -> int:
        bits = (bool(self._open_doors), self._jammed, self._locked, bool(self._outbox.queue))
        return sum(on << place for place, on in enumerate(bits))

    def state(self) -> dict[str, object]:
        """What a person sees on and in the device; no card by its name."""
        return {
            "state": STATES[self._state()],
            "locked": self._locked,
            "gate open": self._on and self.gate_open,
            "lid open": LID in self._open_doors,
            "jam": self._jammed,
            "err": self.err,
            "cards left": self._cards_left(),
            "load": self._outbox.load_id,
            "number": self._outbox.number,
            "waiting": len(self._outbox.queue),
        }

    # --- hands ---------------------------------------------------------------------------------

    def lid(self, open: bool) -> None:
        self.door(LID, open)

    def door(self, door: int, open_now: bool) -> None:
        """Lid (1) or service door (2)."""
        if open_now == (door in self._open_doors):
            return
        (self._open_doors.add if open_now else self._open_doors.discard)(door)
        self._door_no += 1
        self._door_openings += open_now
        self._opened_since_jam |= open_now
        self._report(
            cdp.DOOR, cdp.payload(cdp.DOOR, door_no=self._door_no, door=door, open=open_now)
        )
        if door == LID:
            self._lid_moved(open_now)

    def jam(self, on: bool) -> None:
        """Cards jam; or a person clears it: door open, cards out, door closed, reset key."""
        if on:
            if not self._jammed:
                self._jam_now(self.JAM_PLACE)
            return
        if not self._jammed:
            return
        if not self._opened_since_jam:
            self.lid(True)
        for door in sorted(self._open_doors):
            self.door(door, False)
        self._jammed = False
        self._cleared_since_hello = True
        self._report(cdp.JAM_CLEARED, cdp.payload(cdp.JAM_CLEARED, jam_no=self._jam_no))

    def _jam_now(self, place: int) -> None:
        self._jammed = True
        self._locked = True
        self._opened_since_jam = bool(self._open_doors)
        self._jam_no += 1
        self._report(cdp.JAM, cdp.payload(cdp.JAM, jam_no=self._jam_no, place=place))
        self._jam_struck()

    # --- events --------------------------------------------------------------------------------

    def _report(
        self, kind: int, payload: bytes, load: int | None = None, number: int | None = None
    ) -> None:
        if kind in DROPPED_WHEN_FULL and not self._outbox.has_room():
            self._err |= E_QUEUE
            return
        self._outbox.add(Event(kind, payload, load, number))

    # --- frames of the host --------------------------------------------------------------------

    def _hear(self, frame: Frame) -> None:
        self._heard_us = self._now_us
        if frame.kind in (cdp.ACK, cdp.NAK):
            if cdp.well_formed(frame) and self._outbox.fits(frame.seq):
                if frame.kind == cdp.ACK:
                    self._outbox.acknowledged()
                elif self._outbox.refused(frame.payload[0]):
                    self._err |= E_REFUSED
        elif not self._takes(frame.kind):
            self._nak(frame, cdp.UNKNOWN_TYPE)
        elif not cdp.well_formed(frame):
            self._nak(frame, cdp.WRONG_PAYLOAD)
        elif frame.flags & cdp.WANTS_ACK:
            self._obey(frame)
        else:
            self._answer(frame)

    def _nak(self, frame: Frame, code: int) -> None:
        self._send(cdp.NAK, 0, frame.seq, cdp.payload(cdp.NAK, code=code))

    def _answer(self, frame: Frame) -> None:
        if frame.kind == cdp.HELLO:
            self._greet()
            identity = cdp.payload(
                cdp.HELLO_R, vendor=b"UFELT", model=self.MODEL, serial=self.serial,
                firmware=self.firmware, boot_id=self._boot_id, proto=cdp.VERSION,
            )  # fmt: skip
            self._send(cdp.HELLO_R, 0, frame.seq, identity)
        elif frame.kind == cdp.STATUS:
            self._send(cdp.STATUS, 0, frame.seq, self._status())
            if self._greeted and not self._session:
                self._session = True
                self._outbox.open_session()
        elif frame.kind == cdp.METERS:
            self._send(cdp.METERS, 0, frame.seq, self._meters())

    def _status(self) -> bytes:
        return cdp.payload(
            cdp.STATUS, state=self._state(), lid=LID in self._open_doors,
            cards_left=self._cards_left(), cut_card=self._cut_card_out(), err=self.err,
            uptime=(self._now_us - self._up_us) // SECOND, load_id=self._outbox.load_id,
            number=self._outbox.number, waiting=len(self._outbox.queue),
        )  # fmt: skip

    def _greet(self) -> None:
        """HELLO: locked, no session, and what was refused is tried again in the next one."""
        self._outbox.close_session()
        if self._digest is not None:
            self._digest.cancel()
        self._locked = self._greeted = True
        self._session = False
        self._last_command = None
        self._err &= ~(E_REFUSED | E_QUEUE)
        if not self._jammed:
            self._cleared_since_hello = False

    def _obey(self, frame: Frame) -> None:
        if not self._session:
            self._nak(frame, cdp.NO_SESSION)
            return
        if frame.seq != self._last_command:
            code = self._carry_out(frame)
            if code:
                self._nak(frame, code)
                return
            self._last_command = frame.seq
        self._send(cdp.ACK, 0, frame.seq)

    def _carry_out(self, frame: Frame) -> int:
        match frame.kind:
            case cdp.LOCK:
                self._locked = True
            case cdp.UNLOCK:
                if self._jammed or self._cleared_since_hello:
                    return cdp.WRONG_STATE
                self._locked = False
            case cdp.CHALLENGE:
                if self._digest is not None:
                    self._digest.cancel()
                digest = hashlib.sha256(frame.payload + self.image).digest()[:16]
                respond = partial(self._send, cdp.RESPONSE, 0, frame.seq, digest)
                if self.answers_challenges:
                    self._digest = self._later(DIGEST_US, respond)
            case _:
                return self._command(frame)
        return 0
