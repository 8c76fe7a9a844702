"""Mystery levels: a hidden trigger, drawn once per generation, committed before anybody plays.

The trigger is a number of cents between two bounds, each equally likely, from 32 random bytes. The
SHA-256 of those bytes with the level, the generation and the bounds is published at once; the bytes
stay sealed until the hit opens them. Anybody can then recompute commitment and trigger.
"""

from __future__ import annotations

import hashlib
import hmac
from typing import Final, Protocol

from link.ledger.errors import LedgerBroken, PoolError
from link.ledger.level import NEVER, Level, Trigger
from link.ledger.orders import Draw
from link.ledger.rounds import Held
from link.ledger.state import State
from link.ledger.units import to_units
from record.link.messages import MysteryWon

SEED_BYTES: Final = 32
LABEL: Final = b"underfelt mystery 1"
MOST_TRIES: Final = 1_000
"""At least half of all tries are taken, so this many refusals in a row are a fault in here."""


class Sealer(Protocol):
    """Keeps the seed of a trigger from everybody, the readers of the database included."""

    def seal(self, secret: bytes) -> bytes: ...

    def unseal(self, sealed: bytes) -> bytes | None:
        """None if this party cannot: it then never sees a hit coming."""


def _subject(pool: str, level: str, generation: int, low_cents: int, high_cents: int) -> bytes:
    return f"{pool}\t{level}\t{generation}\t{low_cents}\t{high_cents}".encode()


def commitment(seed: bytes, subject: bytes) -> str:
    return hashlib.sha256(LABEL + b"\0" + seed + subject).hexdigest()


def trigger_cents(seed: bytes, subject: bytes, low_cents: int, high_cents: int) -> int:
    """Without bias: as many leading bits of an HMAC as are needed, thrown away if too large."""
    many = high_cents - low_cents + 1
    bits = (many - 1).bit_length()
    for counter in range(MOST_TRIES):
        block = hmac.digest(seed, LABEL + b"\0" + subject + counter.to_bytes(4, "big"), "sha256")
        value = int.from_bytes(block, "big") >> (256 - bits)
        if value < many:
            return low_cents + value
    raise LedgerBroken("I25", f"{MOST_TRIES} tries in a row refused: the draw is broken")


def bounds(level: Level) -> tuple[int, int]:
    """Above what is shown already, so that a restored jackpot does not give the next hit away."""
    hit = level.terms.must_hit
    if hit is None:
        raise LedgerBroken("I25", f"{level.pool}/{level.name} is no mystery")
    return min(max(hit.min_cents, level.shown_cents + 1), hit.max_cents), hit.max_cents


def draw(level: Level, seed: bytes, sealer: Sealer) -> Draw:
    """The order that gives a generation its trigger; with the seed that it takes the place of."""
    if len(seed) != SEED_BYTES:
        raise ValueError(f"a seed has {SEED_BYTES} bytes")
    low, high = bounds(level)
    subject = _subject(level.pool, level.name, level.generation, low, high)
    before, opened = level.state.trigger, b""
    if before is not None:
        opened = sealer.unseal(bytes.fromhex(before.sealed)) or b""
    return Draw(
        pool=level.pool,
        level=level.name,
        generation=level.generation,
        low_cents=low,
        high_cents=high,
        commitment=commitment(seed, subject),
        sealed=sealer.seal(seed).hex(),
        opened=opened.hex(),
    )


def drawn(state: State, order: Draw, sealer: Sealer | None) -> None:
    """Take the trigger of an order."""
    level = state.pool(order.pool).level(order.level)
    if order.generation != level.generation:
        raise PoolError("E-POOL-026", f"{order.pool}/{order.level} is not at {order.generation}")
    state.undrawn = [other for other in state.undrawn if other is not level]
    state.touch(level)
    level.state.trigger = Trigger(
        generation=order.generation,
        low_cents=order.low_cents,
        high_cents=order.high_cents,
        commitment=order.commitment,
        sealed=order.sealed,
    )
    arm(level, sealer)


def arm(level: Level, sealer: Sealer | None) -> None:
    """Know the trigger of the level's generation, if there is one and it can be unsealed."""
    held = level.state.trigger
    level.trigger_units = NEVER
    if held is not None and held.generation == level.generation and sealer is not None:
        seed = sealer.unseal(bytes.fromhex(held.sealed))
        if seed is not None:
            subject = _subject(
                level.pool, level.name, held.generation, held.low_cents, held.high_cents
            )
            if commitment(seed, subject) != held.commitment:
                raise LedgerBroken("I25", f"{level.pool}/{level.name}: not the committed trigger")
            cents = trigger_cents(seed, subject, held.low_cents, held.high_cents)
            level.trigger_units = to_units(cents)
    level.set_brink()


def told(held: Held) -> MysteryWon:
    return MysteryWon(held.round, held.seat, held.award, held.level, held.cents)
