"""The draw: numbers without bias from a seed, a journal and a round. Pure.

Table and link server draw with this, whichever is the selector. ``record/verify_draws.py`` does the
same a second time, from docs/rules/selections.md, and imports nothing of this; the two meet at the
vectors in tests/controller/history/selection.
"""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

SEED_BYTES: Final = 32
SALT_BYTES: Final = 16
LABEL: Final = b"underfelt draw 1"
CARDS: Final[tuple[str, ...]] = tuple(rank + suit for rank in "23456789TJQKA" for suit in "cdhs")
"""The deck that a magic card is drawn from; a card is its place in here."""
MOST_TRIES: Final = 1_000
"""At least half of all tries are accepted, so this many refusals in a row are a fault in the
program, not bad luck."""

HAS_MAGIC: Final = "has magic card"
MAGIC: Final = "magic card"
HAS_LUCKY: Final = "has lucky player"
LUCKY: Final = "lucky player"


@dataclass(frozen=True, slots=True)
class Chances:
    """What a draw depends on beside the seed; all of it is known when bets are closed."""

    seats: tuple[int, ...]
    """The seats the lucky player is drawn from, ascending."""
    magic_rate: Fraction
    lucky_rate: Fraction


@dataclass(frozen=True, slots=True)
class Picks:
    magic_card: int | None
    """Its place in ``CARDS``."""
    lucky_seat: int | None


def commitment(seed: bytes, salt: bytes, journal_id: str, round_no: int) -> str:
    """SHA-256 of seed, salt and round, in hexadecimal; seed and salt have fixed lengths."""
    if len(seed) != SEED_BYTES or len(salt) != SALT_BYTES:
        raise ValueError(f"a seed has {SEED_BYTES} bytes and a salt {SALT_BYTES}")
    return hashlib.sha256(seed + salt + _round_id(journal_id, round_no)).hexdigest()


def _round_id(journal_id: str, round_no: int) -> bytes:
    return journal_id.encode("ascii") + b"\0" + round_no.to_bytes(8, "big")


def below(limit: int, seed: bytes, domain: str, journal_id: str, round_no: int) -> int:
    """A number from 0 to ``limit`` - 1, each equally likely.

    Every try is as many leading bits of one HMAC as ``limit`` - 1 has. A try that is not below the
    limit is thrown away: taking it modulo the limit would favour the small numbers.
    """
    bits = (limit - 1).bit_length()
    if limit < 1 or bits > 256:
        raise ValueError(f"a draw is from 1 to 2^256 possibilities, not {limit}")
    head = LABEL + b"\0" + domain.encode("ascii") + b"\0" + _round_id(journal_id, round_no)
    for counter in range(MOST_TRIES):
        block = hmac.digest(seed, head + counter.to_bytes(4, "big"), "sha256")
        value = int.from_bytes(block, "big") >> (256 - bits)
        if value < limit:
            return value
    raise RuntimeError(f"{MOST_TRIES} tries in a row refused: the draw is broken")


def happens(rate: Fraction, seed: bytes, domain: str, journal_id: str, round_no: int) -> bool:
    """True in exactly ``rate`` of all seeds."""
    return below(rate.denominator, seed, domain, journal_id, round_no) < rate.numerator


def picks(seed: bytes, journal_id: str, round_no: int, chances: Chances) -> Picks:
    """The round's magic card and lucky seat. An empty pool has no lucky player."""

    def one_of(what: Sequence[int], domain: str) -> int:
        return what[below(len(what), seed, domain, journal_id, round_no)]

    magic, lucky = None, None
    if happens(chances.magic_rate, seed, HAS_MAGIC, journal_id, round_no):
        magic = one_of(range(len(CARDS)), MAGIC)
    if chances.seats and happens(chances.lucky_rate, seed, HAS_LUCKY, journal_id, round_no):
        lucky = one_of(chances.seats, LUCKY)
    return Picks(magic, lucky)
