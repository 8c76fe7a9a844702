"""The demonstration's own people: what is due at a jackpot, and who does it. Pure.

A supervisor verifies, supervisor and manager approve, the manager pays: each step some seconds
after the one before, so that somebody who watches can be faster.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final, NamedTuple

from controller.demo.screen import Pending
from record.kit.money import cents_text

SUPERVISOR, MANAGER = "sue", "max"
PEOPLE: Final = {MANAGER: "manager", SUPERVISOR: "supervisor"}
"""Both are made with the server."""
PAUSE_MS: Final = 8_000
_DUE: Final = {
    "locked": ("verify", (SUPERVISOR,)),
    "verified": ("approve", (SUPERVISOR, MANAGER)),
    "approved": ("pay", (MANAGER,)),
}
"""By the award's state: the order, and who gives it."""
_VERBS: Final = {"verify": "verify", "approve": "approve", "pay": "paid"}
"""The order as the command line says it."""
_ALONE: Final = {"verify": "verifies", "approve": "approves", "pay": "pays"}


class Due(NamedTuple):
    what: str
    award: str
    by: tuple[str, ...]
    at_ms: int


def due(awards: Iterable[Mapping[str, Any]], steps: Iterable[Mapping[str, Any]]) -> list[Due]:
    """The next step of every award that waits for people, the oldest first."""
    last: dict[str, int] = {}
    for step in steps:
        last[step["award"]] = step["at_ms"]
    found = []
    for award in awards:
        if award["state"] in _DUE:
            what, by = _DUE[award["state"]]
            found.append(Due(what, award["award"], by, last.get(award["award"], 0) + PAUSE_MS))
    return sorted(found, key=lambda one: one.at_ms)


def pending(
    one: Due, award: Mapping[str, Any], now_ms: int, *, command: str, config: str,
    passwords: Mapping[str, str], bots: bool,
) -> Pending:  # fmt: skip
    """How it is told on the screen, with the command for whoever wants to do it himself."""
    who = " and ".join(f"{name} ({PEOPLE[name]})" for name in one.by)
    left = max(0, one.at_ms - now_ms + 999) // 1000
    verb, many = _VERBS[one.what], len(one.by) > 1
    does = one.what if many else _ALONE[one.what]
    when = f"{does} in {left} s, or you:" if bots else f"must {one.what}:"
    text = f"{one.award} $ {cents_text(award['cents'])}: {who} {when}"
    by = " ".join(f"--by {name} --password-file {passwords[name]}" for name in one.by)
    return Pending(one.award, text, f"{command} jackpot {verb} {one.award} {by} --config {config}")
