"""No sequence of orders from one credential pays, changes a pool, or changes who is authorised."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test
from msgspec.structs import replace

from link import accounts
from link.accounts import AccountRefused
from link.ledger import awards, orders
from link.registry import Stamp
from link.rows import AccountRow
from link.server.office import Office
from tests.link.staff.alone import Alone

RUNS = int(os.environ.get("UNDERFELT_STAFF_RUNS", "20"))
STEPS = 25


def search(runs: int, *, shrink: bool = True) -> None:
    phases = [Phase.explicit, Phase.generate, *([Phase.shrink] if shrink else [])]
    wanted = settings(
        max_examples=runs,
        stateful_step_count=STEPS,
        phases=phases,
        database=None,
        derandomize="UNDERFELT_STAFF_RUNS" not in os.environ,
    )
    run_state_machine_as_test(Alone, settings=wanted)


def test_one_credential_never_gets_there() -> None:
    search(RUNS)


# --- holes that it must find ----------------------------------------------------------------------

Patch = pytest.MonkeyPatch


def as_it_was(patch: Patch) -> None:
    """The rule that one manager paid with: alone while nobody else is active, and disabling others
    was one person's order."""

    def check(what: str, people: tuple[AccountRow, ...], subject: str = "") -> None:  # noqa: ARG001
        if any(person.role not in accounts.MAY[what] for person in people):
            raise AccountRefused("E-ACT-009", "role")
        if what in ("add account", "reset account", "unlock account") and len(people) < 2:
            raise AccountRefused("E-ACT-008", "two")

    patch.setattr(accounts, "check_authority", check)


def without(what: str) -> Callable[[Patch], None]:
    """One person is enough for this."""
    return lambda patch: patch.setattr(accounts, "TWO_PEOPLE", accounts.TWO_PEOPLE - {what})


def the_same_twice(patch: Patch) -> None:
    """One person named twice counts as two."""
    real = accounts.check_authority

    def check(what: str, people: tuple[AccountRow, ...], subject: str = "") -> None:
        if len(people) == 2 and people[0].name == people[1].name and what in accounts.TWO_PEOPLE:
            other = "auditor" if people[0].role != "auditor" else "manager"
            people = (people[0], replace(people[1], name="x", role=other))
        real(what, people, subject)

    patch.setattr(accounts, "check_authority", check)


def any_password_is_set(patch: Patch) -> None:
    """Whoever proves his own password may set a colleague's."""
    real = accounts.check_authority

    def check(what: str, people: tuple[AccountRow, ...], subject: str = "") -> None:
        real(what, people, people[0].name if what == "set password" else subject)

    patch.setattr(accounts, "check_authority", check)


def reject_alone(patch: Patch) -> None:
    patch.setattr(orders, "TWO_PEOPLE", orders.TWO_PEOPLE[1:])


def approve_twice(patch: Patch) -> None:
    """Reached only after verify and a first approval."""
    real = awards.approve

    def approve(state: Any, order: Any, by: orders.Person) -> Any:
        held = awards.find(state, order.award)
        mine = held.first[0] == by.account
        return real(state, order, orders.Person("x", "x") if mine else by)

    patch.setattr(awards, "approve", approve)


def any_old_password(patch: Patch) -> None:
    """An account from before keys takes the first password that comes."""
    patch.setattr(accounts, "fits_old", lambda account, _: account.name == "old.one")


def disabled_proves(patch: Patch) -> None:
    """Wrong passwords shut a colleague out: the old lock-out, as it changed who may sign."""
    real = Office.failed

    def failed(office: Office, name: str, source: int, floor: Any) -> None:
        real(office, name, source, floor)
        account = office.accounts.get(name)
        if account is not None and account.failures >= 3:
            office._put(accounts.disabled(account, Stamp("lock", 1)))

    patch.setattr(Office, "failed", failed)


HOLES: Mapping[str, Callable[[Patch], None]] = {
    "as it was": as_it_was,
    **{f"{what} alone": without(what) for what in sorted(accounts.TWO_PEOPLE)},
    "the same person twice": the_same_twice,
    "a colleague's password": any_password_is_set,
    "reject alone": reject_alone,
    "approve twice": approve_twice,
    "any password for an old account": any_old_password,
    "locked out for ever": disabled_proves,
}


QUICK = ("as it was", "the same person twice", "a colleague's password")


@pytest.mark.parametrize(
    "name",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in HOLES],
)
def test_the_search_finds_a_hole(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    HOLES[name](monkeypatch)
    with pytest.raises(AssertionError):
        search(300, shrink=False)
