"""What the ledger refuses, and what stops it."""

from __future__ import annotations


class PoolError(ValueError):
    """Parameters or an order that cannot be taken; nothing has changed."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(f"{text} ({code})")
        self.code, self.text = code, text


class LedgerBroken(AssertionError):
    """An invariant does not hold: our bug or damaged rows. The process stops without answering."""

    def __init__(self, invariant: str, text: str) -> None:
        super().__init__(f"{invariant}: {text}")
        self.invariant, self.text = invariant, text
