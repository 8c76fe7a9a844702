"""Cards: a shoe that contradicts its own numbering once, under a right CRC.

The device's side is written from docs/protocols/card-devices.md sections 4 and 5. Every reading of
the driver is held against the rule of the page: the next number, or a gap or a new epoch before it.
"""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from struct import pack, unpack
from typing import Final

from drivers.base import Write
from drivers.cards.devices import ShoeDriver
from drivers.orders import AcknowledgeReading
from drivers.readings import CardEvent, CardRead
from tests.fuzz import mutate, wire
from tests.fuzz.tally import FRAMES, Broken, Tally, Target

SHOE: Final = 0x10
LOAD: Final = 12
NUMBERED: Final = ("burn", "cut card", "misread", "double feed")
IDENTITY: Final = pack(
    "<8s8s12s8sIB", b"UFELT", b"SHOE-1", b"SH-000001", bytes.fromhex("580A1F977263C001"), 0x2A, 1
)


def taken_apart(data: bytes) -> list[tuple[int, int]]:
    """Type and seq of the host's frames."""
    found = []
    for chunk in data.split(b"\0"):
        body, at = bytearray(), 0
        while at < len(chunk):
            body += chunk[at + 1 : at + chunk[at]] + b"\0"
            at += chunk[at]
        if body:
            found.append((body[2], unpack("<H", body[4:6])[0]))
    return found


class Shoe:
    """The device and the table's disk; ``say`` sends one event and judges what came of it."""

    def __init__(self) -> None:
        self.driver = ShoeDriver("shoe", "SH-000001")
        self.now = 1_000_000
        self.seq = 0
        self.acked = 0
        """The last draw the device was acknowledged: its own position."""
        self.last = 0
        """The last number the driver told."""
        self.told: list[tuple[int, int]] = []
        """Draw and card."""
        self.sent: tuple[int, int, bytes] = (0, 0, b"")
        """The last true event: type, seq, payload."""
        self.excused: list[CardEvent] = []
        self.naks = 0
        self.taken_seq: int | None = None
        self._hear(self.driver.opened(self.now))

    def _hear(self, actions: Sequence[object]) -> Sequence[object]:
        readings: list[object] = []
        for action in actions:
            if not isinstance(action, Write):
                readings.append(action)
                continue
            for kind, seq in taken_apart(action.data):
                readings += self._obey(kind, seq)
        return readings

    def _obey(self, kind: int, seq: int) -> Sequence[object]:
        match kind:
            case 0x01:
                self.taken_seq = None
                return self._send(0x02, 0, 0, IDENTITY)
            case 0x03:
                status = pack("<BBHBHIIIB", 3, 0, 40, 0, 0, 60, LOAD, self.acked, 1)
                return self._send(0x03, 0, seq, status)
            case 0x60 | 0x61:
                return self._send(0x7E, 0, seq, b"")
            case 0x7F:
                self.naks += 1
        return []

    def _send(self, kind: int, flags: int, seq: int, payload: bytes) -> Sequence[object]:
        return self._hear(self.driver.received(wire.cdp(SHOE, kind, flags, seq, payload), self.now))

    def say(self, kind: int, flags: int, seq: int, payload: bytes, *, disk: bool = True) -> bool:
        """True if the driver took it for a new event."""
        self.now += 50_000
        fits = self.taken_seq is None or seq == (self.taken_seq + 1) % 65_536
        took, naks = False, self.naks
        for reading in self._send(kind, flags, seq, payload):
            if not self._judge(reading):
                continue
            took = True
            if not fits:
                raise Broken(f"event {seq:04X} after {self.taken_seq} was taken")
            self.taken_seq = seq
            if disk:
                self.write_to_disk(reading)
        if fits and self.naks == naks:
            self.taken_seq = seq  # a copy under the next seq moves the count on, untold
        return took

    def hear_noise(self, data: bytes, seq: int) -> None:
        """Spoiled bytes of the event with this seq; the whole event may be among them."""
        for reading in self._hear(self.driver.received(data, self.now)):
            if self._judge(reading):
                self.taken_seq = seq
                self.write_to_disk(reading)

    def write_to_disk(self, reading: object) -> None:
        key = getattr(reading, "key", 0)
        self._hear(self.driver.order(AcknowledgeReading("shoe", key), self.now))

    def _judge(self, reading: object) -> bool:
        if isinstance(reading, CardEvent) and reading.kind in ("gap", "new epoch"):
            self.excused.append(reading)
            self._check_break(reading)
            return False
        if isinstance(reading, CardRead):
            number = reading.draw_no
            self.told.append((number, reading.card.unseal()))
        elif isinstance(reading, CardEvent) and reading.kind in NUMBERED:
            number = reading.number
        else:
            return False
        if number != self.last + 1:
            raise Broken(f"number {number} after {self.last} without a word")
        self.last = number
        return True

    def _check_break(self, reading: CardEvent) -> None:
        """What the break says the next number is: after it, that one passes without a word."""
        if reading.kind == "gap":
            if reading.number != self.last + 1:
                raise Broken(f"gap at {reading.number}, the last was {self.last}")
            self.last += reading.count
        elif reading.result == "backwards":
            self.last = reading.number - 1


def _event(rng: Random, draw: int) -> tuple[int, bytes]:
    if rng.random() < 0.15:
        return 0x21, pack("<I", draw)
    return 0x20, pack("<IBBBB", draw, rng.choice(wire.CARDS[:52]), 0, rng.randint(60, 100), 0)


BEAT: Final = pack("<IBBH", 0x2A, 3, 4, 0)
NOISE: Final = (*mutate.GUARDED.items(), *mutate.OTHERS.items())
WAYS: Final = (
    "numbers skipped", "number repeated", "number went back", "seq skipped", "seq repeated",
    "copy after the disk", "copy before the disk", "same name, other card", "same name and seq",
    "seq and number skipped", "line noise",
)  # fmt: skip


def cards_case(rng: Random, tally: Tally) -> None:
    shoe = Shoe()
    way = rng.choice(WAYS)
    tally[way, FRAMES] += 1
    wrong_at = rng.randint(2, 6)
    cards: dict[int, int] = {}
    draw = 0
    for turn in range(1, 10):
        draw += 1
        kind, payload = _event(rng, draw)
        if turn == wrong_at and way != "line noise":
            draw = _wrong(rng, shoe, way, draw, tally)
            kind, payload = _event(rng, draw)
        seq = shoe.seq = (shoe.seq + 1) % 65_536
        if way == "line noise":
            _, mutator = rng.choice(NOISE)
            data = wire.cdp(SHOE, kind, 1, seq, payload)
            shoe.hear_noise(mutator(rng, data, wire.cdp(SHOE, 0x04, 0, 0, BEAT)), seq)
        copied = shoe.last == draw
        took = shoe.say(kind, 3 if copied else 1, seq, payload) or copied
        # Refused for its number: the device keeps it and sends it again in the new session.
        if not took and not shoe.say(kind, 3, seq, payload):
            raise Broken(f"{way}: a true event was lost, draw {draw}")
        shoe.acked = draw
        shoe.sent = (kind, seq, payload)
        if kind == 0x20:
            cards[draw] = payload[4]
    tally[way, "gap"] += sum(it.kind == "gap" for it in shoe.excused)
    tally[way, "new epoch"] += sum(it.kind == "new epoch" for it in shoe.excused)
    tally[way, "refused"] += shoe.naks
    told = [it for it in shoe.told if it[0] in cards]
    if not shoe.excused and told != sorted(cards.items()):
        raise Broken(f"{way}: cards lost or doubled")
    if any(pair not in told for pair in cards.items()):
        raise Broken(f"{way}: a true card never came")


def _wrong(rng: Random, shoe: Shoe, way: str, draw: int, tally: Tally) -> int:
    """Say the one wrong event; the number at which the device goes on."""
    kind, seq, payload = shoe.sent
    before = len(shoe.excused)
    number = unpack("<I", payload[:4])[0]
    other = payload[:4] + bytes((payload[4] ^ 1 or 1,)) + payload[5:] if kind == 0x20 else payload
    took = False
    match way:
        case "numbers skipped":
            draw += rng.randint(1, 300)
            shoe.seq += 1
            took = shoe.say(*_framed(rng, draw, shoe.seq))
        case "number repeated" | "number went back":
            back = number if way == "number repeated" else rng.randint(1, number)
            shoe.seq += 1
            took = shoe.say(*_framed(rng, back, shoe.seq))
            draw = back
        case "seq skipped":
            took = shoe.say(*_framed(rng, draw, shoe.seq + rng.randint(2, 400)))
        case "seq repeated":
            took = shoe.say(*_framed(rng, draw, seq))
        case "seq and number skipped":
            took = shoe.say(*_framed(rng, draw + 3, shoe.seq + 3))
        case "copy after the disk":
            took = shoe.say(kind, rng.choice((1, 3)), seq, payload)
        case "copy before the disk":
            shoe.seq += 1
            event = _framed(rng, draw, shoe.seq)
            if not shoe.say(*event, disk=False):
                raise Broken("a fresh event was not told")
            for _ in range(rng.randint(1, 3)):
                if shoe.say(event[0], 3, event[2], event[3]):
                    raise Broken("a copy was told twice")
            shoe.write_to_disk(_Key(shoe))
            shoe.acked = draw
            return draw + 1
        case "same name, other card":
            shoe.seq += 1
            took = shoe.say(kind, rng.choice((1, 3)), shoe.seq, other)
            draw = number if took else draw
        case _:
            took = shoe.say(kind, rng.choice((1, 3)), seq, other)
    quiet = len(shoe.excused) == before and not shoe.naks
    if took and quiet and way != "copy before the disk":
        raise Broken(f"{way}: taken without a word")
    tally[way, "taken with a word" if took else "not taken"] += 1
    if took:
        shoe.acked = draw
        return draw + 1
    return draw


class _Key:
    """The key of the one event that waits for the disk."""

    def __init__(self, shoe: Shoe) -> None:
        pending = shoe.driver._inbox._pending
        self.key = pending.key if pending is not None else 0


def _framed(rng: Random, draw: int, seq: int) -> tuple[int, int, int, bytes]:
    kind, payload = _event(rng, draw)
    return kind, 1, seq % 65_536, payload


TARGET: Final = Target(
    "money-cards",
    "Cards: one event of a shoe that contradicts its numbering, under a right CRC",
    cards_case,
    (FRAMES, "taken with a word", "not taken", "refused", "gap", "new epoch"),
    one_in=100,
    row_title="the one event",
    notes=(
        "*taken with a word*: a gap or a new epoch stood before it, which puts the round in"
        " dispute. *refused*: answered with NAK 06 and a new session, in which the shoe "
        "sent its true event again. Every true card must come out once and in order."
    ),
)
