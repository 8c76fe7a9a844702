"""Failed sign-ons and the locks they lead to: a pure machine, time passed in.

Five failures in a row lock an id; twenty at one console, for any ids, lock the console,
because trying one easy PIN on everybody is guessing too. A lock lasts 15 minutes, then twice as
long each time, up to a day, until the right PIN comes or somebody with authority clears it.

The clock is a steady one. What happens goes to the caller's journal as ``Attempt``; after a restart
``Attempts.restored`` is fed with it, and a lock that had not lapsed starts over: pulling the plug
shortens nothing.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final, Literal

FAILURES: Final = 5
CONSOLE_FAILURES: Final = 20
FIRST_LOCK_MS: Final = 15 * 60_000
LONGEST_LOCK_MS: Final = 24 * 60 * 60_000
UNKNOWN: Final = "?"
"""Ids that are in no register share one count, so that typing new ones fills no memory."""
CONSOLE: Final = "*"
"""The count of the console itself."""

What = Literal["failed", "locked", "lapsed", "passed", "cleared"]


@dataclass(frozen=True, slots=True)
class Attempt:
    """For the journal. ``who`` is a staff id of the register, ``UNKNOWN`` or ``CONSOLE``."""

    what: What
    who: str


@dataclass(slots=True)
class _Count:
    failures: int = 0
    locks: int = 0
    until_ms: int | None = None


class Attempts:
    """What is known of every id that failed since it last passed."""

    __slots__ = ("_counts",)

    def __init__(self) -> None:
        self._counts: dict[str, _Count] = {}

    @classmethod
    def restored(cls, journalled: Iterable[Attempt], now_ms: int) -> Attempts:
        """The machine after these attempts; every lock still in force begins now."""
        self = cls()
        for attempt in journalled:
            self._adopt(attempt, now_ms)
        return self

    def locked_ms(self, who: str, now_ms: int) -> int:
        """How long this id, or the console, must still wait; 0 for not at all."""
        counts = (self._counts.get(who), self._counts.get(CONSOLE))
        ends = [c.until_ms for c in counts if c is not None and c.until_ms is not None]
        return max([0, *(end - now_ms for end in ends)])

    def lapse(self, now_ms: int) -> list[Attempt]:
        """Locks whose time is over. The counts of locks stay: the next one is longer."""
        over = [
            who
            for who, count in sorted(self._counts.items())
            if count.until_ms is not None and count.until_ms <= now_ms
        ]
        return self._do([Attempt("lapsed", who) for who in over], now_ms)

    def fail(self, who: str, now_ms: int) -> list[Attempt]:
        """A wrong PIN, an unknown id, or somebody who may not; not to be called while locked."""
        done = self._do([Attempt("failed", who)], now_ms)
        full = [
            Attempt("locked", one)
            for one, most in ((who, FAILURES), (CONSOLE, CONSOLE_FAILURES))
            if self._counts[one].failures >= most
        ]
        return done + self._do(full, now_ms)

    def succeed(self, who: str, now_ms: int) -> list[Attempt]:
        """The right PIN; forgives this id's own failures and nobody else's.

        Otherwise somebody of the staff could wipe the slate between two rounds of guessing.
        """
        return self._do([Attempt("passed", who)], now_ms) if who in self._counts else []

    def clear(self, who: str, now_ms: int) -> list[Attempt]:
        """Authority lifts a lock or a count; whose it was is the caller's to journal."""
        return self._do([Attempt("cleared", who)], now_ms) if who in self._counts else []

    def _do(self, attempts: list[Attempt], now_ms: int) -> list[Attempt]:
        for attempt in attempts:
            self._adopt(attempt, now_ms)
        return attempts

    def _adopt(self, attempt: Attempt, now_ms: int) -> None:
        who = attempt.who
        match attempt.what:
            case "failed":
                self._counts.setdefault(who, _Count()).failures += 1
                self._counts.setdefault(CONSOLE, _Count()).failures += 1
            case "locked":
                count = self._counts.setdefault(who, _Count())
                length = min(FIRST_LOCK_MS << min(count.locks, 10), LONGEST_LOCK_MS)
                count.failures, count.locks = 0, count.locks + 1
                count.until_ms = now_ms + length
            case "lapsed":
                self._counts.setdefault(who, _Count()).until_ms = None
            case "passed":
                own = self._counts.pop(who, _Count()).failures
                console = self._counts.setdefault(CONSOLE, _Count())
                console.failures = max(0, console.failures - own)
            case "cleared":
                self._counts.pop(who, None)
