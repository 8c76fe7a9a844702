"""A journal in memory, a counting source of seeds and a seal that can be counted and broken."""

from __future__ import annotations

import hashlib
from fractions import Fraction

from controller.history.selection.selector import Selector

JOURNAL_ID = "0123456789abcdef"
KEY = hashlib.sha256(b"the table's key").digest()
ONE = Fraction(1)


class Source:
    """Deterministic seeds, each asked-for one different; counts what was taken."""

    def __init__(self, start: int = 0) -> None:
        self.taken = start

    def __call__(self, length: int) -> bytes:
        self.taken += 1
        return hashlib.sha256(b"source %d" % self.taken).digest()[:length]


def seal(seed: bytes, key: bytes = KEY) -> bytes:
    """A toy: stream by hash, with a check. The product's seal is passed in the same way."""
    stream = hashlib.sha256(b"stream" + key).digest()
    return (
        bytes(a ^ b for a, b in zip(seed, stream, strict=True))
        + hashlib.sha256(key + seed).digest()
    )


def unseal(sealed: bytes, key: bytes = KEY) -> bytes:
    stream = hashlib.sha256(b"stream" + key).digest()
    seed = bytes(a ^ b for a, b in zip(sealed[:32], stream, strict=True))
    if hashlib.sha256(key + seed).digest() != sealed[32:]:
        raise ValueError("the seal does not open")
    return seed


def selector(journal: list[bytes], source: Source | None = None) -> Selector:
    """A selector as it is after a start: it has replayed the journal."""
    made = Selector(JOURNAL_ID, source or Source(), seal, unseal)
    for body in journal:
        made.replay(body)
    return made
