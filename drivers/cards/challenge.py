"""Challenge and response: is the firmware the one that somebody else holds (section 8)?

The nonce and the digest it must give come from outside; nothing here makes or keeps a secret.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from drivers.base import SECOND

NONCE_BYTES: Final = 16
DIGEST_BYTES: Final = 16
RESPONSE_US: Final = 2 * SECOND
ASKED_MAX: Final = 3


@dataclass(slots=True)
class Challenge:
    nonce: bytes
    expected: bytes
    asked: int = 0
    seq: int | None = None
    due_us: int | None = None

    def __post_init__(self) -> None:
        if len(self.nonce) != NONCE_BYTES or len(self.expected) != DIGEST_BYTES:
            raise ValueError(f"nonce and digest have {NONCE_BYTES} bytes each")

    def accepted(self, seq: int, now_us: int) -> None:
        """The device acknowledged it and now has its time to calculate."""
        self.asked += 1
        self.seq = seq
        self.due_us = now_us + RESPONSE_US

    def answers(self, seq: int) -> bool:
        return self.seq == seq

    def overdue(self, now_us: int) -> bool:
        return self.due_us is not None and now_us >= self.due_us
