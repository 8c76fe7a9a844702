"""Who stands at the console. The supervisor key adds a position, never an identity."""

from __future__ import annotations

from typing import Final, Protocol

from controller.rules.engine.entries import SignedOn
from controller.rules.engine.facts import Declared, Role

SUPERVISORS: Final = (Role.CASINO_SUPERVISOR, Role.GAMES_SUPERVISOR, Role.INSPECTOR)
"""Roles that may stand at the turned key, highest first."""


class Staff(Protocol):
    """The staff register: an id and a PIN, or nobody."""

    def check(self, staff_id: str, pin: str) -> tuple[str, frozenset[Role]] | None: ...


class NoRegister:
    """A table without a register: nobody can sign on; the dealer there stays."""

    def check(self, staff_id: str, pin: str) -> tuple[str, frozenset[Role]] | None:  # noqa: ARG002
        return None


class Positions:
    """The dealer's position and, while the key is turned, the supervisor's."""

    __slots__ = ("_home", "dealer", "key_turned", "supervisor")

    def __init__(self, dealer: Declared | None, supervisor: Declared | None) -> None:
        self.dealer = dealer
        self.supervisor = self._home = supervisor
        self.key_turned = False

    @property
    def declares(self) -> Declared | None:
        """Who declares what is keyed in now; None if nobody is signed on there."""
        return self.supervisor if self.key_turned else self.dealer

    def turn_key(self, turned: bool) -> None:
        """A supervisor who signed on for this turn of the key leaves with it."""
        self.key_turned = turned
        if not turned:
            self.supervisor = self._home

    def sign_on(self, person: str, roles: frozenset[Role], at_ms: int) -> SignedOn | None:
        """Take the position the key says; None if no role of this person fits it."""
        wanted = SUPERVISORS if self.key_turned else (Role.DEALER,)
        role = next((r for r in wanted if r in roles), None)
        if role is None:
            return None
        before = self.supervisor if self.key_turned else self.dealer
        if self.key_turned:
            self.supervisor = Declared(person, role)
        else:
            self.dealer = Declared(person, role)
        return SignedOn(person, role, before.person if before is not None else None, at_ms)


DEALER_1: Final = Declared("D1", Role.DEALER)
SUPERVISOR_1: Final = Declared("S1", Role.CASINO_SUPERVISOR)
"""Who is signed on where no register is in use: demo and tests."""
