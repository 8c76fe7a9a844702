"""The session that shoe and shuffler share: identity, silence, acknowledgement, lock.

Pure (docs/protocols/card-devices.md sections 4, 5, 6.1, 9). It acknowledges no event before the
table ordered ``AcknowledgeReading`` for it, takes none twice and none out of order, and gives no
reading before the device has shown who it is. It must not know a rule of any game.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import Enum
from typing import ClassVar, Final

from drivers.base import (
    MS,
    SECOND,
    Counters,
    DeviceIdentified,
    DeviceState,
    Fault,
    Identity,
    LineSettings,
    Reopen,
    Write,
)
from drivers.cards import messages as m
from drivers.cards.challenge import ASKED_MAX, Challenge
from drivers.cards.codec import COMMANDS, UNKNOWN_TYPE, decode_message, encode_frame, host_frame
from drivers.cards.events import break_readings, epoch_reading, meters_reading, reading_of
from drivers.cards.framing import HOST, Decoder, Frame
from drivers.cards.health import fault_of, identity_fault
from drivers.cards.inbox import Inbox, Taken, Verdict
from drivers.cards.lock import STUCK, Lock
from drivers.cards.messages import Event, Message, Refusal, Type
from drivers.cards.sender import InFlight, Sender
from drivers.machines import LineAction, Reporter
from drivers.orders import AcknowledgeReading, Kinds, LockCards, Order
from drivers.readings import CardEvent, Reading

BEAT_US: Final = 250 * MS
SILENT_US: Final = 850 * MS
"""Three missed beats and 100 ms for a busy line: well within the second that the table allows."""
REOPEN_US: Final = 5 * SECOND
_DELIMITER: Final = b"\0"
UNPROVED: Final = "E-CDP-024"
"""Its program is not the one that it should be."""


class Phase(Enum):
    CLOSED = "closed"
    GREETING = "greeting"
    """HELLO goes out until HELLO_R comes."""
    CHECKING = "checking"
    """It is the right device; STATUS is asked."""
    OPEN = "open"
    REFUSED = "refused"
    """It is the wrong device; nothing is sent, so its gate stays shut."""


class CardDriver:
    """A ``LineDriver`` for one CDP device."""

    dev: ClassVar[int]
    meters_every_us: ClassVar[int | None] = None
    takes: ClassVar[Kinds] = frozenset((AcknowledgeReading, LockCards))

    def __init__(
        self, name: str, serial: str, firmware: str | None = None, *, durable: Iterable[int] = ()
    ) -> None:
        """``durable``: the last keys on disk, oldest first, at least back to the last card."""
        self.name = name
        self.settings = LineSettings(115200)
        self.counters: Counters = Counter()
        self._serial = serial
        self._firmware = firmware
        self._decoder = Decoder()
        self._sender = Sender(self.counters)
        self._inbox = Inbox(durable)
        self._lock = Lock()
        self._phase = Phase.CLOSED
        self._reporter = Reporter(name)
        self._identity: Identity | None = None
        self._boot_id: int | None = None
        self._refused: tuple[int, int | None] = (0, None)
        """The wrong device: its kind, and its boot if it said so."""
        self._challenge: Challenge | None = None
        self._locked_out: Fault | None = None
        """It failed its challenge: locked out until it answers correctly, over any restart."""
        self._heard_us = 0
        self._beat_us = 0
        self._reopen_us = 0
        self._meters_us: int | None = None

    # --- LineDriver -------------------------------------------------------------------------------

    @property
    def wake_us(self) -> int | None:
        silent = self._heard_us + SILENT_US
        challenged = self._challenge.due_us if self._challenge else None
        times: dict[Phase, tuple[int | None, ...]] = {
            Phase.CLOSED: (),
            Phase.GREETING: (self._beat_us, self._reopen_us),
            Phase.CHECKING: (silent, self._reopen_us, self._sender.wake_us),
            Phase.OPEN: (
                silent, self._beat_us, self._sender.wake_us, self._meters_us, challenged,
            ),
            Phase.REFUSED: (silent,),
        }  # fmt: skip
        return min((time for time in times[self._phase] if time is not None), default=None)

    def opened(self, now_us: int) -> list[LineAction]:
        self._decoder.reset()
        self._leave(Phase.GREETING)
        self._beat_us = now_us
        self._reopen_us = now_us + REOPEN_US
        lost = self._lose(Fault("E-CDP-011", "line opened again"), now_us)
        return lost + self.advance(now_us)

    def closed(self, why: str, now_us: int) -> list[LineAction]:
        self._decoder.reset()
        self._leave(Phase.CLOSED)
        self.counters["E-CDP-011"] += 1
        return [*self._lose(Fault("E-CDP-011", why), now_us)]

    def received(self, data: bytes, now_us: int) -> list[LineAction]:
        if self._phase is Phase.CLOSED:
            return []
        self.counters["bytes"] += len(data)
        out: list[LineAction] = []
        for item in self._decoder.feed(data):
            if isinstance(item, Fault):
                self.counters[item.code] += 1
            else:
                self.counters["frames"] += 1
                out += self._frame(item, now_us)
        return out + self.advance(now_us)

    def order(self, order: Order, now_us: int) -> list[LineAction]:
        out: list[LineAction] = []
        match order:
            case AcknowledgeReading(device=device, key=key) if device == self.name:
                out = self._acknowledge(key, now_us)
            case LockCards(locked=locked) if self._lock.want(locked):
                self._tell_lock()
        return out + self.advance(now_us)

    def advance(self, now_us: int) -> list[LineAction]:
        if self._phase is Phase.CLOSED:
            return []
        if self._phase is not Phase.GREETING and now_us >= self._heard_us + SILENT_US:
            silent = Fault("E-CDP-010", f"silent for {SILENT_US // MS} ms")
            return self._restart(silent, now_us)
        if self._phase in (Phase.GREETING, Phase.CHECKING) and now_us >= self._reopen_us:
            self.counters["reopenings"] += 1
            self._leave(Phase.CLOSED)
            return [Reopen(Fault("E-CDP-014", f"no session for {REOPEN_US // SECOND} s"))]
        if self._phase is Phase.GREETING:
            return self._beat(_DELIMITER + encode_frame(host_frame(Type.HELLO)), now_us)
        if self._phase is Phase.REFUSED:
            return []
        if self._phase is Phase.OPEN:
            out = self._beat(encode_frame(host_frame(Type.HEARTBEAT)), now_us)
            return out + self._challenge_due(now_us) + self._pump(now_us)
        return self._pump(now_us)

    def challenge(self, nonce: bytes, expected: bytes, now_us: int) -> list[LineAction]:
        """Ask the device for SHA-256(nonce, image); another answer than this one locks it out."""
        self._challenge = Challenge(nonce, expected)
        if self._locked_out is not None and self._phase is not Phase.CLOSED:
            return self._restart(Fault(UNPROVED, "challenged again"), now_us)
        if self._phase is Phase.OPEN:
            self._sender.want(Type.CHALLENGE, nonce)
        return self.advance(now_us)

    def lock_out(self) -> None:
        """At a start: it failed a challenge before and has not passed one since."""
        self._locked_out = Fault(UNPROVED, "challenge failed before this start")

    def _reading(self, event: Event, key: int, now_us: int) -> Reading:
        return reading_of(self.name, event, key, now_us)

    def _undelivered(self, command: InFlight, now_us: int) -> list[LineAction]:  # noqa: ARG002
        """A command was refused or never answered. A lock needs nothing: its level is watched."""
        return []

    # --- frames -----------------------------------------------------------------------------------

    def _frame(self, frame: Frame, now_us: int) -> list[LineAction]:
        if self._phase is Phase.CLOSED:
            return []  # Closed by the frame before this one.
        if frame.dev == HOST:
            self.counters["E-CDP-004"] += 1
            return []
        if self._phase is Phase.REFUSED:
            return self._frame_of_refused(frame, now_us)
        if frame.dev != self.dev:
            self.counters["E-CDP-005"] += 1
            if self._phase is Phase.GREETING and frame.type == Type.HELLO_R:
                other = Fault("E-CDP-022", f"device {frame.dev:02X}, {self.dev:02X} expected")
                return self._refuse(other, (frame.dev, None), now_us)
            return []
        self._heard_us = now_us
        message = decode_message(frame)
        if isinstance(message, Fault):
            self.counters[message.code] += 1
            if frame.type in (Type.ACK, Type.NAK):
                return []
            unknown = message.code == UNKNOWN_TYPE
            return [_nak(frame, Refusal.UNKNOWN_TYPE if unknown else Refusal.BAD_PAYLOAD)]
        return self._message(frame, message, now_us)

    def _message(self, frame: Frame, message: Message, now_us: int) -> list[LineAction]:
        match message:
            case m.HelloR():
                return self._hello_r(message, now_us)
            case m.Heartbeat():
                return self._heartbeat(message, now_us)
            case m.Status():
                return self._status(frame.seq, message, now_us)
            case m.Ack():
                return self._acked(frame.seq, now_us)
            case m.Nak():
                return self._naked(frame.seq, message.code, now_us)
            case m.Response():
                return self._response(frame.seq, message, now_us)
            case m.Meters():
                if self._sender.answered(frame.seq, {Type.METERS}) is None:
                    return []
                return [meters_reading(self.name, message, now_us)]
            case _:
                return self._event(frame, message, now_us)

    def _frame_of_refused(self, frame: Frame, now_us: int) -> list[LineAction]:
        """The wrong device keeps talking; only a sign that it was replaced or restarted matters."""
        dev, boot_id = self._refused
        message = decode_message(frame)
        another = frame.dev != dev
        if isinstance(message, m.Heartbeat):
            another |= boot_id not in (None, message.boot_id)
        if another:
            return self._restart(Fault("E-CDP-012", "another device or another start"), now_us)
        self._heard_us = now_us
        return []

    def _hello_r(self, hello: m.HelloR, now_us: int) -> list[LineAction]:
        if self._phase is not Phase.GREETING:
            if hello.boot_id == self._boot_id:
                return []  # The answer to a HELLO that was repeated in vain.
            return self._restarted(now_us)
        fault = identity_fault(hello, self._serial, self._firmware)
        if self._challenge is None:  # else it may prove itself now
            fault = fault or self._locked_out
        if fault is not None:
            return self._refuse(fault, (self.dev, hello.boot_id), now_us)
        before, self._boot_id = self._boot_id, hello.boot_id
        self._phase = Phase.CHECKING
        self._sender.want(Type.STATUS)
        self._identity = Identity(hello.vendor, hello.model, hello.serial, hello.firmware)
        out: list[LineAction] = [DeviceIdentified(self.name, self._identity, now_us)]
        if before is not None and before != hello.boot_id:
            self.counters["device starts"] += 1
            out.append(epoch_reading(self.name, hello.boot_id, before, "restart", now_us))
        return out

    def _heartbeat(self, beat: m.Heartbeat, now_us: int) -> list[LineAction]:
        if self._phase is Phase.GREETING:
            return []
        if beat.boot_id != self._boot_id:
            return self._restarted(now_us)
        if self._phase is not Phase.OPEN:
            return []
        out: list[LineAction] = []
        if not self._sender.has(Type.LOCK, Type.UNLOCK):
            locked = bool(beat.switches & m.SWITCH_LOCKED)
            if self._lock.shows(locked):
                out += self._lock_news(locked, now_us)
            # A jam locks by itself, and UNLOCK would be refused.
            if not beat.switches & m.SWITCH_JAM and self._lock.tell_again(now_us):
                self._tell_lock()
        return out + self._judge(fault_of(beat.state, beat.switches, beat.err), now_us)

    def _status(self, seq: int, status: m.Status, now_us: int) -> list[LineAction]:
        if self._sender.answered(seq, {Type.STATUS}) is None:
            return []
        self._phase = Phase.OPEN
        self._beat_us = now_us
        self._tell_lock()
        if self._challenge is not None:
            self._sender.want(Type.CHALLENGE, self._challenge.nonce)
        if self.meters_every_us is not None:
            self._meters_us = now_us
        door = m.SWITCH_DOOR if status.lid else 0
        out = self._judge(fault_of(status.state, door, status.err), now_us)
        breaks = self._inbox.start_session(status)
        self.counters.update(it.kind for it in breaks)
        return out + break_readings(self.name, breaks, now_us)

    def _event(self, frame: Frame, event: Event, now_us: int) -> list[LineAction]:
        if self._phase is not Phase.OPEN or self._locked_out is not None:
            self.counters["events before the session"] += 1
            return []
        taken = self._inbox.take(frame, event)
        if isinstance(taken, Taken):
            self.counters.update(["events", *(it.kind for it in taken.breaks)])
            found = break_readings(self.name, taken.breaks, now_us)
            return [*found, self._reading(event, taken.key, now_us)]
        self.counters[taken.value] += 1
        if taken is Verdict.COPY_OF_DURABLE:
            return [_ack(frame.seq)]
        if taken is Verdict.OUT_OF_SEQUENCE:
            fault = Fault("E-CDP-009", f"event {frame.seq:04X}")
            return [_nak(frame, Refusal.OUT_OF_SEQUENCE), *self._restart(fault, now_us)]
        return []

    def _acknowledge(self, key: int, now_us: int) -> list[LineAction]:
        pending = self._inbox.acknowledge(key)
        if pending is None:
            self.counters["acknowledgements for nothing"] += 1
            return []
        if self._phase is not Phase.OPEN:
            return []  # The device sends the event again, and then it is a copy.
        out: list[LineAction] = [_ack(pending.seq)]
        if pending.kind == Type.JAM_CLEARED:
            # The device stays locked until the next HELLO.
            out += self._restart(Fault("E-CDP-030", "jam cleared, new session"), now_us)
        return out

    # --- answers to what we sent ------------------------------------------------------------------

    def _acked(self, seq: int, now_us: int) -> list[LineAction]:
        done = self._sender.answered(seq, COMMANDS)
        if done is None:
            return []
        if done.kind is Type.CHALLENGE and self._challenge is not None:
            self._challenge.accepted(seq, now_us)
        if done.kind in (Type.LOCK, Type.UNLOCK):
            locked = done.kind is Type.LOCK
            return self._lock_news(locked, now_us) if self._lock.acknowledged(locked) else []
        return []

    def _naked(self, seq: int, code: int, now_us: int) -> list[LineAction]:
        refused: InFlight | None
        if code == Refusal.BUSY:
            refused = self._sender.busy(seq, now_us)
        else:
            refused = self._sender.answered(seq, frozenset(Type))
        if refused is None:
            return []
        self.counters["E-CDP-015"] += 1
        if code in (Refusal.NO_SESSION, Refusal.OUT_OF_SEQUENCE) or refused.kind is Type.STATUS:
            fault = Fault("E-CDP-015", f"{refused.kind.name} refused with {code:02X}")
            return self._restart(fault, now_us)
        if refused.kind is Type.CHALLENGE:
            return self._fail_challenge("refused", now_us)
        return self._undelivered(refused, now_us)

    def _response(self, seq: int, response: m.Response, now_us: int) -> list[LineAction]:
        asked = self._challenge
        if self._phase is not Phase.OPEN or asked is None or not asked.answers(seq):
            return []
        if bytes.fromhex(response.digest) != asked.expected:
            return self._fail_challenge("answered wrongly", now_us)
        self._challenge = self._locked_out = None
        self.counters["challenges passed"] += 1
        return [DeviceIdentified(self.name, self._identity, now_us)] if self._identity else []

    def _challenge_due(self, now_us: int) -> list[LineAction]:
        asked = self._challenge
        if asked is None or not asked.overdue(now_us):
            return []
        if asked.asked >= ASKED_MAX:
            return self._fail_challenge("not answered", now_us)
        asked.due_us = None
        self._sender.want(Type.CHALLENGE, asked.nonce)
        return []

    def _fail_challenge(self, how: str, now_us: int) -> list[LineAction]:
        self._challenge = None
        self._locked_out = Fault(UNPROVED, f"challenge {how}")
        return self._refuse(self._locked_out, (self.dev, self._boot_id), now_us)

    # --- states -----------------------------------------------------------------------------------

    def _beat(self, frame: bytes, now_us: int) -> list[LineAction]:
        if now_us < self._beat_us:
            return []
        self._beat_us = now_us + BEAT_US
        return [Write(frame)]

    def _pump(self, now_us: int) -> list[LineAction]:
        if self._phase not in (Phase.CHECKING, Phase.OPEN):
            return []
        if self._meters_us is not None and now_us >= self._meters_us:
            self._sender.want(Type.METERS)
            self._meters_us = now_us + (self.meters_every_us or SECOND)
        out, failed = self._sender.pump(now_us)
        if failed is None:
            return out
        if failed.kind is Type.CHALLENGE and self._challenge is not None:
            self._challenge.asked += 1
            if self._challenge.asked >= ASKED_MAX:
                return self._fail_challenge("not acknowledged", now_us)
        fault = Fault("E-CDP-013", f"no answer to {failed.kind.name}")
        return self._undelivered(failed, now_us) + self._restart(fault, now_us)

    def _tell_lock(self) -> None:
        if self._phase is Phase.OPEN:
            # The latest order counts: one of the other kind is not even repeated.
            self._sender.drop(Type.LOCK, Type.UNLOCK)
            self._sender.want(Type.LOCK if self._lock.wanted else Type.UNLOCK, b"\0")

    def _lock_news(self, locked: bool, now_us: int) -> list[LineAction]:
        return [CardEvent(self.name, "locked" if locked else "unlocked", 0, at_us=now_us)]

    def _judge(self, fault: Fault | None, now_us: int) -> list[Reading]:
        if self._locked_out is not None:
            return []  # unknown until it has proved itself
        fault = fault or (STUCK if self._lock.stuck else None)
        state = DeviceState.READY if fault is None else DeviceState.DEGRADED
        changed = self._reporter.report(state, fault, now_us)
        if changed and fault is not None:
            self.counters[fault.code] += 1
        return changed

    def _lose(self, why: Fault, now_us: int) -> list[Reading]:
        """Nothing is known any more; a second reason for that is not reported."""
        if self._reporter.state is DeviceState.UNKNOWN:
            return []
        return self._reporter.report(DeviceState.UNKNOWN, why, now_us)

    def _leave(self, phase: Phase) -> None:
        """No session any more; what is on its way to the disk stays so."""
        self._phase = phase
        self._sender.interrupt()
        self._lock.session_over()
        self._meters_us = None
        if self._challenge is not None:
            self._challenge.seq = self._challenge.due_us = None

    def _restart(self, why: Fault, now_us: int) -> list[LineAction]:
        self.counters[why.code] += 1
        if self._phase in (Phase.OPEN, Phase.REFUSED):
            # Only time without a session counts towards reopening, however often it is tried.
            self._reopen_us = now_us + REOPEN_US
        self._leave(Phase.GREETING)
        self._beat_us = now_us
        return self._lose(why, now_us) + self.advance(now_us)

    def _restarted(self, now_us: int) -> list[LineAction]:
        return self._restart(Fault("E-CDP-012", "the device restarted"), now_us)

    def _refuse(self, why: Fault, who: tuple[int, int | None], now_us: int) -> list[LineAction]:
        self.counters[why.code] += 1
        self._leave(Phase.REFUSED)
        self._refused = who
        self._heard_us = now_us
        return [*self._reporter.report(DeviceState.LOCKED, why, now_us)]


def _ack(seq: int) -> Write:
    return Write(encode_frame(host_frame(Type.ACK, seq)))


def _nak(frame: Frame, code: Refusal) -> Write:
    return Write(encode_frame(host_frame(Type.NAK, frame.seq, bytes((code,)))))
