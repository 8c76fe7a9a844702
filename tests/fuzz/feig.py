"""The FEIG decoder under the law of docs/protocols/feig.md section 2.

Bytes come in any split with silences around the thresholds. A frame that nobody sent is counted:
*alone*, the only form a driver uses, or among others. After each mutant a silence and a valid frame
follow; that frame must come out.
"""

from __future__ import annotations

from random import Random
from typing import Final

from drivers.base import Fault
from drivers.feig.codec import MAX_BURST, Decoder, Frame
from drivers.feig.commands import Answer, answer_of, tags
from tests.fuzz import mutate, wire
from tests.fuzz.tally import ACCEPTED, ALONE, CRC16_RATE, FRAMES, Bound, Broken, Tally, Target

POOL: Final = wire.feig_frames(Random("feig frames"), 3000)
INSIDE: Final = (0, 0, 287, 1_000, 4_900, 4_999)
STRETCHED: Final = (0, 287, 4_999, 5_000, 5_100, 11_900, 12_000)
"""Gaps that a valid frame may have inside, where nothing broken is near."""
TORN: Final = (4_999, 5_000, 5_100, 11_900, 12_000, 12_001, 12_100, 40_000)
AFTER: Final = (5_000, 5_100, 8_000, 11_900, 12_000, 12_001, 12_100, 50_000)
GAP_US: Final = 12_000


def shaped(rng: Random, _frame: bytes, _other: bytes) -> bytes:
    """Noise whose length field is right: only the CRC stands between it and a frame."""
    size = rng.randint(7, 60)
    if rng.random() < 0.5:
        return bytes((size,)) + rng.randbytes(size - 1)
    return bytes((2, 0, size)) + rng.randbytes(size - 3)


def shaped_twice(rng: Random, frame: bytes, other: bytes) -> bytes:
    """Two of these in one burst: one may be skipped, so this is the worst case of the page."""
    return shaped(rng, frame, other) + shaped(rng, frame, other)


def flood(rng: Random, frame: bytes, _other: bytes) -> bytes:
    return frame * rng.randint(60, 400) if rng.random() < 0.5 else rng.randbytes(6_000)


SHAPED: Final = (("noise of the right length", shaped), ("two of these", shaped_twice))
OTHERS: Final = {**mutate.OTHERS, **dict(SHAPED)}
CHOICE: Final = mutate.weighted(mutate.GUARDED, OTHERS)
TORN_ROW: Final = ", torn"


Sent = tuple[bytes, int, int, bytes, bool]


class _Line:
    """A decoder at the end of a line, and everything it said."""

    def __init__(self, rng: Random) -> None:
        self.decoder = Decoder()
        self.out: list[Frame | Fault] = []
        self.now = 1_000_000
        self._rng = rng
        self._attentive = rng.random()
        """Whether the decoder is asked in every silence, in some, or in none."""

    def deliver(self, data: bytes, gaps: tuple[int, ...]) -> int:
        """Feed it in pieces; the longest silence inside."""
        decoder, rng, longest = self.decoder, self._rng, 0
        for number, piece in enumerate(mutate.pieces(rng, data)):
            if number:
                gap = gaps[int(rng.random() * len(gaps))]
                longest = max(longest, gap)
                self.rest(gap)
            self.out += decoder.feed(piece, self.now)
            if len(decoder._burst) > MAX_BURST or len(decoder._pauses) > MAX_BURST:
                raise Broken(f"{len(decoder._burst)} bytes, {len(decoder._pauses)} pauses kept")
        return longest

    def rest(self, time_us: int) -> None:
        self.now += time_us
        wake = self.decoder.quiet_at_us
        if wake is not None and self._attentive < 0.7 and wake <= self.now:
            self.out += self.decoder.quiet(wake)
        if self._attentive < 0.4:
            self.out += self.decoder.quiet(self.now)

    def fall_silent(self) -> None:
        self.out += self.decoder.quiet(self.now + 5_000)
        self.out += self.decoder.quiet(self.now + GAP_US + 1)
        if self.decoder._burst or self.decoder._pauses:
            raise Broken("bytes are kept after the line fell silent")


def case(rng: Random, tally: Tally) -> None:
    pool, size = POOL, len(POOL)
    sent, other, after = (pool[int(rng.random() * size)] for _ in range(3))
    name, mutator = CHOICE[int(rng.random() * len(CHOICE))]
    data = mutator(rng, sent[0], other[0])
    if rng.random() < 0.0005:
        name, data = "flood", flood(rng, sent[0], other[0])
    line = _Line(rng)
    torn = rng.random() < 0.3
    if line.deliver(data, TORN if torn else INSIDE) >= 5_000:
        name += TORN_ROW
    tally[name, FRAMES] += 1
    silence = AFTER[int(rng.random() * len(AFTER))]
    line.rest(silence)
    gaps = STRETCHED if silence > GAP_US and rng.random() < 0.3 else INSIDE
    stretched = line.deliver(after[0], gaps) >= 5_000
    line.fall_silent()
    frames = [item for item in line.out if isinstance(item, Frame)]
    if len(frames) + sum(isinstance(item, Fault) for item in line.out) != len(line.out):
        raise Broken(f"neither frame nor fault: {line.out}")
    if not frames or _fields(frames[-1]) != after[1:]:
        raise Broken(f"the valid frame after it was lost: {_told(data, silence, after)}")
    last = frames.pop()
    if silence > GAP_US and not ((last.isolated or stretched) and line.out[-1] is last):
        raise Broken(f"the valid frame did not come alone: {_told(data, silence, after)}")
    _count(frames, (sent[1:], other[1:]), name, tally)


def _count(frames: list[Frame], legal: tuple[object, object], name: str, tally: Tally) -> None:
    foreign = [frame for frame in frames if _fields(frame) not in legal]
    if foreign:
        tally[name, ACCEPTED] += 1
        tally[name, ALONE] += any(frame.isolated for frame in foreign)
    else:
        tally[name, "intact" if frames else "refused"] += 1
    for frame in frames:
        answer = answer_of(frame)
        if isinstance(answer, Answer):
            tags(answer)


def _told(data: bytes, silence: int, after: Sent) -> str:
    return f"{data.hex(' ')} | {silence} us | {after[0].hex(' ')}"


def noise_case(rng: Random, tally: Tally) -> None:
    """Only the CRC between noise and a frame: here the rate itself can be seen."""
    name, mutator = SHAPED[int(rng.random() * 2)]
    decoder = Decoder()
    decoder.feed(mutator(rng, b"", b""), 1_000_000)
    tally[name, FRAMES] += 1
    frames = [item for item in decoder.quiet(1_005_000) if isinstance(item, Frame)]
    tally[name, ACCEPTED if frames else "refused"] += 1
    tally[name, ALONE] += any(frame.isolated for frame in frames)


def _fields(frame: Frame) -> tuple[int, int, bytes, bool]:
    return frame.address, frame.command, frame.body, frame.advanced


def answer_case(rng: Random, tally: Tally) -> None:
    """Answers with a right CRC and anything in them: tags or a typed fault."""
    uids = [rng.randbytes(8) for _ in range(rng.randrange(5))]
    body = rng.choice((b"\x00", b"\x94")) + wire.tag_sets(uids)
    kind = "as sent"
    if rng.random() < 0.9:
        kind, mutator = CHOICE[int(rng.random() * len(CHOICE))]
        body = mutator(rng, body, b"\x09\x00\x0c" + rng.randbytes(12))
    tally[kind, FRAMES] += 1
    answer = answer_of(Frame(1, 0xB0, body, advanced=True))
    found = tags(answer) if isinstance(answer, Answer) else answer
    if isinstance(found, Fault):
        tally[kind, "refused"] += 1
        return
    tally[kind, "intact"] += 1
    told = b"".join(bytes.fromhex(uid) for uid in found.uids)
    if len(told) > len(body) or (kind == "as sent" and told != b"".join(uids)):
        raise Broken(f"{found} from {body.hex(' ')}")


_LAW = frozenset(mutate.GUARDED)
TARGET: Final = Target(
    "feig",
    "FEIG frames",
    case,
    (FRAMES, "refused", "intact", ACCEPTED, ALONE),
    (
        Bound("up to 3 bits or a burst of 16, alone", ALONE, _LAW),
        Bound(
            "the same, among others: never used by the driver",
            ACCEPTED,
            _LAW | {row + TORN_ROW for row in _LAW},
            CRC16_RATE,
        ),
        Bound("anything, alone or not", ACCEPTED, None, CRC16_RATE),
        *(Bound(f"{row}, alone or not", ACCEPTED, frozenset({row}), CRC16_RATE)
          for row in ("noise of the right length", "two of these")),
    ),
    notes=(
        "*torn*: the pieces were 5 ms or more apart, so that the line itself ended the "
        "frame early; *flood*: more than a burst may hold. *intact*: only frames that were "
        "really in the bytes, whole, came out."
    ),
)  # fmt: skip
NOISE: Final = Target(
    "feig-noise",
    "FEIG: noise of the right length",
    noise_case,
    (FRAMES, "refused", ACCEPTED, ALONE),
    (
        *(Bound(name, ACCEPTED, frozenset({name}), CRC16_RATE) for name, _ in SHAPED),
        Bound("noise of the right length, alone", ALONE, frozenset({SHAPED[0][0]}), 1 / 65_536),
    ),
    notes=(
        "Random bytes whose length field is right, once and twice in a burst: 1 and 2 in 65,536 "
        "must pass, and no more may. One of two is never alone."
    ),
)
ANSWERS: Final = Target(
    "feig-answers",
    "FEIG inventories with a right CRC and spoiled contents",
    answer_case,
    (FRAMES, "refused", "intact"),
    one_in=4,
    notes=(
        "Here the CRC is right and the contents are not: tags or a typed fault, whatever they say."
    ),
)
