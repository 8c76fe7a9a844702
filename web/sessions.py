"""Who looks. A session changes nothing: every order carries the password of the person again."""

from __future__ import annotations

import hashlib
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from time import monotonic
from typing import Final, Literal, NamedTuple

COOKIE: Final = "__Host-underfelt"
IDLE_S: Final = 15 * 60
LONGEST_S: Final = 12 * 3_600
MOST: Final = 1_000
MOST_EACH: Final = 16
"""Of one account; one more ends its oldest."""
Why = Literal["idle", "longest", "replaced", "signed out", "changed", "unknown"]


class Ended(NamedTuple):
    why: Why
    ago_s: float | None


@dataclass(slots=True)
class Login:
    name: str
    role: str
    begun_s: float
    used_s: float
    change: int
    """The number of the last change of the account, when its password was checked."""
    ended: bool = False


class Sessions:
    """Only hashes of the ids are kept: a copy of this memory opens no session."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._open: dict[bytes, Login] = {}
        self._over: dict[bytes, tuple[Why, float]] = {}
        """Why and when a session ended, for the person who comes back; the latest few."""
        self._changes: Mapping[str, int] = {}
        """The number of the last change of each account, as the link server told it last."""

    def __len__(self) -> int:
        return len(self._open)

    def begin(self, name: str, role: str, change: int = 0) -> str:
        """The id for the cookie: 256 random bits. The session is over already if the account was
        changed after its password was checked."""
        self._sweep()
        mine = [key for key, one in self._open.items() if one.name == name]
        for key in mine[: max(0, len(mine) - MOST_EACH + 1)]:
            self._end(key, "replaced")
        while len(self._open) >= MOST:
            self._end(next(iter(self._open)), "replaced")
        made = secrets.token_urlsafe(32)
        now_s = self._clock()
        self._open[_key(made)] = Login(name, role, now_s, now_s, change)
        if self._changes.get(name, 0) > change:
            self._end(_key(made), "changed")
        return made

    def accounts(self, changes: Mapping[str, int]) -> None:
        """End the sessions of every account that was changed since they began. A number falls, or
        is gone, only if an older store was restored: that is a change too."""
        before, self._changes = self._changes, changes
        for key, one in list(self._open.items()):
            now = changes.get(one.name, -1)
            if now > one.change or now < before.get(one.name, -1):
                self._end(key, "changed")

    def find(self, cookie: str, *, use: bool = True) -> Login | None:
        """``use``: someone is there; the idle time begins again."""
        key = _key(cookie)
        found = self._open.get(key)
        if found is None:
            return None
        if not self.alive(found):
            self._expire(key, found)
            return None
        if use:
            found.used_s = self._clock()
        return found

    def alive(self, session: Login) -> bool:
        return not session.ended and self.left_s(session) > 0

    def left_s(self, session: Login) -> float:
        """Until it ends if nobody uses it."""
        return min(session.used_s + IDLE_S - self._clock(), self.latest_s(session))

    def latest_s(self, session: Login) -> float:
        """Until it ends in any case."""
        return session.begun_s + LONGEST_S - self._clock()

    def end(self, cookie: str) -> None:
        self._end(_key(cookie), "signed out")

    def ended(self, cookie: str) -> Ended:
        """Why this one is no session any more."""
        found = self._over.get(_key(cookie))
        return (
            Ended("unknown", None) if found is None else Ended(found[0], self._clock() - found[1])
        )

    def _expire(self, key: bytes, session: Login) -> None:
        idle_s, longest_s = session.used_s + IDLE_S, session.begun_s + LONGEST_S
        why: Why = "idle" if idle_s <= longest_s else "longest"
        self._end(key, why, min(idle_s, longest_s))

    def _end(self, key: bytes, why: Why, at_s: float | None = None) -> None:
        ended = self._open.pop(key, None)
        if ended is not None:
            ended.ended = True
            if len(self._over) >= MOST:
                del self._over[next(iter(self._over))]
            self._over[key] = (why, self._clock() if at_s is None else at_s)

    def _sweep(self) -> None:
        for key, one in list(self._open.items()):
            if not self.alive(one):
                self._expire(key, one)


def _key(cookie: str) -> bytes:
    return hashlib.sha256(cookie.encode("utf-8", "replace")).digest()


def cookie_header(value: str, most_s: int = LONGEST_S) -> str:
    return f"{COOKIE}={value}; Path=/; Max-Age={most_s}; Secure; HttpOnly; SameSite=Strict"
