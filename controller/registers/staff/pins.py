"""PINs: which are too easy, and how one is kept so that the register does not give it away.

A PIN is held by nothing here longer than a call, and no error repeats it.
"""

from __future__ import annotations

import hmac
from dataclasses import dataclass
from hashlib import scrypt
from itertools import pairwise
from typing import Final

LEAST_DIGITS: Final = 4
MOST_DIGITS: Final = 8
LEAST_DIFFERENT: Final = 3

COST_N: Final = 2**13
COST_R: Final = 8
COST_P: Final = 1
"""8 MiB, some tens of milliseconds: nobody waits, and guessing by the file is not free."""
MOST_N: Final = 2**15
MOST_MEMORY: Final = 64 * 2**20
SALT_BYTES: Final = 16
HASH_BYTES: Final = 32


@dataclass(frozen=True, slots=True)
class PinHash:
    """What the register keeps of a PIN. Its parts are no secret for print, but no news either."""

    salt: bytes
    digest: bytes
    n: int = COST_N
    r: int = COST_R
    p: int = COST_P

    def __repr__(self) -> str:
        return f"<PIN hash, scrypt n={self.n} r={self.r} p={self.p}>"

    def fits(self, pin: str) -> bool:
        return hmac.compare_digest(_scrypt(pin, self.salt, self.n, self.r, self.p), self.digest)


def hashed(pin: str, salt: bytes) -> PinHash:
    return PinHash(salt, _scrypt(pin, salt, COST_N, COST_R, COST_P))


NOBODY: Final = PinHash(bytes(SALT_BYTES), bytes(HASH_BYTES))
"""Checked when there is nobody to check: an unknown id must not answer faster than a wrong PIN."""


def weakness(pin: str, staff_id: str) -> str | None:
    """What is wrong with a PIN, in words that do not repeat it; None if it will do."""
    if not (pin.isascii() and pin.isdigit()):
        return "expected digits only, as the console has no other keys"
    if not LEAST_DIGITS <= len(pin) <= MOST_DIGITS:
        return f"expected {LEAST_DIGITS} to {MOST_DIGITS} digits"
    if pin == staff_id:
        return "the same as the staff id"
    if len(set(pin)) < LEAST_DIFFERENT:
        return f"fewer than {LEAST_DIFFERENT} different digits"
    steps = {(int(b) - int(a)) % 10 for a, b in pairwise(pin)}
    if len(steps) == 1:
        return "a sequence"
    if any(pin == pin[:n] * (len(pin) // n) for n in range(1, len(pin) // 2 + 1)):
        return "a repeated group of digits"
    return None


def _scrypt(pin: str, salt: bytes, n: int, r: int, p: int) -> bytes:
    # Half a character cannot come from the console, but a caller's mistake must not raise here.
    text = pin.encode("utf-8", "surrogatepass")
    return scrypt(text, salt=salt, n=n, r=r, p=p, maxmem=MOST_MEMORY, dklen=HASH_BYTES)
