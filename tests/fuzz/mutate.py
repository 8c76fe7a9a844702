"""Ways to spoil a frame. Pure: all chance comes from the ``Random`` that is passed in.

Bits are counted in the order of a serial line: each byte's low bit first. ``GUARDED`` are the
mutators that a CRC must catch without exception.
"""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Final

Mutator = Callable[[Random, bytes, bytes], bytes]
"""Chance, the frame, another valid frame."""


def _masked(frame: bytes, mask: int) -> bytes:
    size = len(frame)
    return (int.from_bytes(frame, "little") ^ mask).to_bytes(size, "little")


def _flip(count: int) -> Mutator:
    def flip(rng: Random, frame: bytes, _other: bytes) -> bytes:
        mask = 0
        for bit in rng.sample(range(len(frame) * 8), count):
            mask |= 1 << bit
        return _masked(frame, mask)

    return flip


def burst(rng: Random, frame: bytes, longest: int, shortest: int = 1) -> bytes:
    """First and last bit flipped, anything between."""
    width = min(rng.randint(shortest, longest), len(frame) * 8)
    pattern = 1 | 1 << width - 1 | rng.getrandbits(width)
    return _masked(frame, pattern << rng.randrange(len(frame) * 8 - width + 1))


def burst_16(rng: Random, frame: bytes, _other: bytes) -> bytes:
    return burst(rng, frame, 16)


def burst_long(rng: Random, frame: bytes, _other: bytes) -> bytes:
    return burst(rng, frame, 80, 17)


def scattered(rng: Random, frame: bytes, other: bytes) -> bytes:
    return _flip(min(rng.randint(4, 24), len(frame) * 8))(rng, frame, other)


def deleted(rng: Random, frame: bytes, _other: bytes) -> bytes:
    at = rng.randrange(len(frame))
    return frame[:at] + frame[at + 1 :]


def inserted(rng: Random, frame: bytes, _other: bytes) -> bytes:
    at = rng.randrange(len(frame) + 1)
    return frame[:at] + rng.randbytes(1) + frame[at:]


def doubled(rng: Random, frame: bytes, _other: bytes) -> bytes:
    at = rng.randrange(len(frame))
    return frame[: at + 1] + frame[at:]


def replaced(rng: Random, frame: bytes, _other: bytes) -> bytes:
    out = bytearray(frame)
    for _ in range(rng.randint(1, 4)):
        out[rng.randrange(len(out))] = rng.randrange(256)
    return bytes(out)


def swapped(rng: Random, frame: bytes, _other: bytes) -> bytes:
    out = bytearray(frame)
    a, b = rng.randrange(len(out)), rng.randrange(len(out))
    out[a], out[b] = out[b], out[a]
    return bytes(out)


def cut(rng: Random, frame: bytes, _other: bytes) -> bytes:
    return frame[: rng.randrange(len(frame))]


def beheaded(rng: Random, frame: bytes, _other: bytes) -> bytes:
    return frame[rng.randrange(1, len(frame) + 1) :]


def glued(_rng: Random, frame: bytes, other: bytes) -> bytes:
    return frame + other


def glued_and_cut(rng: Random, frame: bytes, other: bytes) -> bytes:
    return frame + other[: rng.randrange(len(other))]


def glued_and_spoiled(rng: Random, frame: bytes, other: bytes) -> bytes:
    both = frame + other
    return burst(rng, both, 32) if rng.random() < 0.5 else deleted(rng, both, b"")


def interleaved(rng: Random, frame: bytes, other: bytes) -> bytes:
    at = rng.randrange(len(frame) + 1)
    return frame[:at] + other + frame[at:]


def followed(rng: Random, frame: bytes, _other: bytes) -> bytes:
    return frame + rng.randbytes(rng.randint(1, 24))


def preceded(rng: Random, frame: bytes, _other: bytes) -> bytes:
    return rng.randbytes(rng.randint(1, 24)) + frame


def garbage(rng: Random, _frame: bytes, _other: bytes) -> bytes:
    return rng.randbytes(rng.randint(1, 80))


def repeated(rng: Random, frame: bytes, _other: bytes) -> bytes:
    return frame * rng.randint(2, 4)


GUARDED: Final[dict[str, Mutator]] = {
    "1 bit": _flip(1),
    "2 bits": _flip(2),
    "3 bits": _flip(3),
    "burst of up to 16 bits": burst_16,
}
OTHERS: Final[dict[str, Mutator]] = {
    "4 to 24 bits": scattered,
    "burst of 17 to 80 bits": burst_long,
    "byte deleted": deleted,
    "byte inserted": inserted,
    "byte doubled": doubled,
    "1 to 4 bytes replaced": replaced,
    "two bytes swapped": swapped,
    "cut short": cut,
    "head lost": beheaded,
    "two frames glued": glued,
    "glued, second cut": glued_and_cut,
    "glued and spoiled": glued_and_spoiled,
    "frame inside a frame": interleaved,
    "frame, garbage": followed,
    "garbage, frame": preceded,
    "garbage": garbage,
    "frame repeated": repeated,
}


def weighted(guarded: dict[str, Mutator], others: dict[str, Mutator]) -> list[tuple[str, Mutator]]:
    """A list to choose from in which the guarded mutators have two cases in five."""
    each = max(1, round(len(others) * 2 / 3 / len(guarded)))
    return [*guarded.items()] * each + [*others.items()]


def pieces(rng: Random, data: bytes) -> list[bytes]:
    """Any split: whole, in a few pieces, or a byte at a time."""
    kind = rng.random()
    if kind < 0.4 or len(data) < 2:
        return [data]
    if kind < 0.9 or len(data) > 64:
        cuts = sorted({rng.randrange(1, len(data)) for _ in range(rng.randint(1, 4))})
        return [data[a:b] for a, b in zip([0, *cuts], [*cuts, len(data)], strict=True)]
    return [data[n : n + 1] for n in range(len(data))]
