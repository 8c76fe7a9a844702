"""Who uses the shell, and what the role allows. Pure.

The uid comes from the socket, the rest from the configuration. Root and the daemon's own user are
technicians; everybody else needs an entry.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import date
from typing import Any

from controller.config.people import ShellPerson
from controller.daemon.service import Peer
from controller.faults.status import AuthorRow
from controller.shell.errors import EXPIRED, IN_ROUND, NOBODY, ROLE, TEST_MODE, VerbRefused
from controller.shell.verbs import ROLES, Role, Verb


@dataclass(frozen=True, slots=True)
class Author:
    """The user of a connection. Without a role every command is refused."""

    uid: int
    user: str
    """Empty if this machine has no name for the uid."""
    role: Role | None
    until: date | None = None

    def row(self) -> AuthorRow:
        return {"uid": self.uid, "user": self.user, "role": self.role or ""}


@dataclass(frozen=True, slots=True)
class Asked:
    """A command that may be done: its words by name, and who asks."""

    words: Mapping[str, str]
    author: Author
    peer: Peer
    cursor: int | None = None
    """Of a repeated look: only what came after it is sent."""


Act = Callable[[Asked], Awaitable[Mapping[str, Any]]]
"""What a verb does: data comes out, or Refused."""


def author_of(
    uid: int, user: str, people: Iterable[ShellPerson], *, own_uid: int, today: date
) -> tuple[Author, VerbRefused | None]:
    """The author with today's role, or without one and the reason."""
    entry = next((one for one in people if user and one.user == user), None)
    if entry is not None and entry.until is not None and today > entry.until:
        said = f"{user}: the role of {entry.role} ended on {entry.until.isoformat()}"
        return Author(uid, user, None), VerbRefused(EXPIRED, said)
    if entry is not None:
        return Author(uid, user, entry.role, entry.until), None
    if uid in (0, own_uid):
        return Author(uid, user, "technician"), None
    named = user or "no user of this machine"
    return Author(uid, user, None), VerbRefused(NOBODY, f"uid {uid} ({named}) has no role here")


def refusal(
    author: Author, verb: Verb, *, test_mode: bool, in_round: str = ""
) -> VerbRefused | None:
    """Why this author may not use this verb now, or None. ``in_round``: the phase, if any."""
    if author.role is None or ROLES.index(author.role) < ROLES.index(verb.role):
        said = f"{verb.name} is for {_one(verb.role)}; {author.user or author.uid} is "
        return VerbRefused(ROLE, said + (_one(author.role) if author.role else "nobody"))
    if verb.test and in_round:
        return VerbRefused(IN_ROUND, f"{verb.name} needs test mode: not now, {in_round}")
    if verb.test and not test_mode:
        return VerbRefused(TEST_MODE, f"{verb.name} needs test mode")
    return None


def _one(role: Role) -> str:
    return f"an {role}" if role[0] in "aeiou" else f"a {role}"
