"""The CDP decoder and its messages under the law (docs/protocols/card-devices.md sections 1, 3).

Whatever is done to a frame, nothing may come out that nobody sent: the CRC has 32 bits. The valid
frame that follows must come out even when the delimiter before it was destroyed.
"""

from __future__ import annotations

from random import Random
from typing import Final

from drivers.base import Fault
from drivers.cards.codec import decode_message
from drivers.cards.framing import CHUNK_MAX, Decoder, Frame
from tests.fuzz import mutate, wire
from tests.fuzz.tally import ACCEPTED, FRAMES, Bound, Broken, Tally, Target

POOL: Final = wire.cdp_frames(Random("cdp frames"), 3000)
CHOICE: Final = mutate.weighted(mutate.GUARDED, mutate.OTHERS)
Sent = tuple[bytes, int, int, int, int, bytes]


def _fields(frame: Frame) -> tuple[int, int, int, int, bytes]:
    return frame.dev, frame.type, frame.flags, frame.seq, frame.payload


def _mutant(rng: Random, sent: Sent, other: Sent) -> tuple[str, bytes]:
    if rng.random() < 0.0005:
        return "flood", rng.randbytes(6_000).replace(b"\0", b"\1") + sent[0]
    name, mutator = CHOICE[int(rng.random() * len(CHOICE))]
    data = mutator(rng, sent[0], other[0])
    if rng.random() < 0.3:
        # The worst a delimiter can do: it is gone, and the next frame sticks to this one.
        return f"{name}, no delimiter", data.rstrip(b"\0")
    return name, data


def case(rng: Random, tally: Tally) -> None:
    pool, size = POOL, len(POOL)
    sent, other, after = (pool[int(rng.random() * size)] for _ in range(3))
    name, data = _mutant(rng, sent, other)
    tally[name, FRAMES] += 1
    decoder = Decoder()
    out: list[Frame | Fault] = []
    for piece in mutate.pieces(rng, data + after[0]):
        out += decoder.feed(piece)
        if decoder.held > CHUNK_MAX:
            raise Broken(f"{decoder.held} bytes kept")
    if decoder.held:
        raise Broken("bytes are kept after a delimiter")
    frames = [item for item in out if isinstance(item, Frame)]
    if len(frames) + sum(isinstance(item, Fault) for item in out) != len(out):
        raise Broken(f"neither frame nor fault: {out}")
    if not frames or _fields(frames[-1]) != after[1:]:
        raise Broken(f"the valid frame after it was lost: {data.hex(' ')} | {after[0].hex(' ')}")
    frames.pop()
    if any(_fields(frame) not in (sent[1:], other[1:]) for frame in frames):
        tally[name, ACCEPTED] += 1
    else:
        tally[name, "intact" if frames else "refused"] += 1
    for frame in frames:
        decode_message(frame)


def message_case(rng: Random, tally: Tally) -> None:
    """A frame whose CRC is right and whose contents are anything: a message or a typed fault."""
    kind = rng.choice((0x02, 0x03, 0x04, 0x20, 0x42, 0x45, 0x7E, 0x7F, rng.randrange(256)))
    dev, flags, payload = wire.cdp_payload(rng, kind)
    row = "as sent"
    if rng.random() < 0.9:
        row, mutator = CHOICE[int(rng.random() * len(CHOICE))]
        payload = mutator(rng, payload or b"\0", b"\x01\x01\x03\x11\x12\x13")[:240]
    if rng.random() < 0.3:
        dev, flags, row = (
            rng.choice((0, 0x10, 0x11)),
            rng.randrange(8),
            f"{row}, other sender or flags",
        )
    tally[row, FRAMES] += 1
    message = decode_message(Frame(dev, kind, flags, rng.getrandbits(16), payload))
    if isinstance(message, Fault):
        tally[row, "refused"] += 1
        if payload and len(payload) > 2 and payload.hex() in message.detail.lower():
            raise Broken("a fault shows a payload")
        return
    tally[row, "intact"] += 1
    if dev == 0:
        raise Broken(f"a message of the host taken for a device's: type {kind:02X}")


TARGET: Final = Target(
    "cdp",
    "CDP frames",
    case,
    (FRAMES, "refused", "intact", ACCEPTED),
    (Bound("anything at all, under 32 bits of CRC", ACCEPTED, None),),
    notes=(
        "*no delimiter*: the 00 after the mutant was taken away as well, so that the next "
        "frame stuck to it."
    ),
)
MESSAGES: Final = Target(
    "cdp-messages",
    "CDP payloads with a right CRC and spoiled contents",
    message_case,
    (FRAMES, "refused", "intact"),
    one_in=4,
    notes=(
        "A message or a typed fault, whatever the payload holds; none of the host's own "
        "frames is a device's message."
    ),
)
