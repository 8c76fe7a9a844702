"""No sequence of orders from one credential pays, changes a pool, or changes who is authorised."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any, get_args

import pytest
from hypothesis import Phase, settings
from hypothesis.stateful import run_state_machine_as_test
from msgspec.structs import replace

from link import accounts
from link.accounts import AccountRefused
from link.ledger import awards, orders
from link.registry import Stamp
from link.rows import AccountRow
from link.server.alarm_board import Acknowledged
from link.server.control import Control
from link.server.replies import PasswordFits
from link.server.service import LoopService
from link.server.staff_office import StaffOffice
from link.server.staff_orders import StaffOrder
from link.server.teller import Teller
from tests.link.staff.single import GIVEN, SingleCredential

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
    run_state_machine_as_test(SingleCredential, settings=wanted)


def test_one_credential_never_gets_there() -> None:
    search(RUNS)


def test_every_order_of_people_is_in_the_search() -> None:
    assert {kind.__struct_config__.tag for kind in get_args(StaffOrder)} <= GIVEN


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
    real = StaffOffice.failed

    def failed(office: StaffOffice, name: str, source: int, floor: Any) -> None:
        real(office, name, source, floor)
        account = office.accounts.get(name)
        if account is not None and account.failures >= 3:
            office._put(accounts.disabled(account, Stamp("lock", 1)))

    patch.setattr(StaffOffice, "failed", failed)


def change_alone(patch: Patch) -> None:
    """Other terms of a level by one person."""
    two = tuple(kind for kind in orders.TWO_PEOPLE if kind is not orders.Change)
    patch.setattr(orders, "TWO_PEOPLE", two)


def looked_after_before_it_is_proved(patch: Patch) -> None:
    """Anyone who names an open alarm silences it, whatever becomes of the order."""
    real = Teller.check_open

    def check_open(teller: Teller, order: orders.AcknowledgeAlarm) -> None:
        real(teller, order)
        teller.board.acknowledge(order.alarm, Acknowledged("k.lee", order.why, 1))

    patch.setattr(Teller, "check_open", check_open)


def anybody_looks_after(patch: Patch) -> None:
    patch.setattr(accounts, "MAY", {**accounts.MAY, "acknowledge alarm": accounts.ROLES})


def free_guesses(patch: Patch) -> None:
    """A password may be tried as often as one likes."""
    patch.setattr(StaffOffice, "failed", lambda *_given: None)


def any_password_fits(patch: Patch) -> None:
    """The question believes the name."""
    real = LoopService._password

    def password(service: LoopService, asked: Any) -> Any:
        known = service._server.office.accounts.get(asked.name)
        return (
            PasswordFits(ok=True, name=asked.name, role=known.role, change=0)
            if known
            else real(service, asked)
        )

    patch.setattr(Control, "_proved", lambda *_given: None)
    patch.setattr(LoopService, "_password", password)


HOLES: Mapping[str, Callable[[Patch], None]] = {
    "as it was": as_it_was,
    **{f"{what} alone": without(what) for what in sorted(accounts.TWO_PEOPLE)},
    "the same person twice": the_same_twice,
    "a colleague's password": any_password_is_set,
    "reject alone": reject_alone,
    "approve twice": approve_twice,
    "any password for an old account": any_old_password,
    "locked out for ever": disabled_proves,
    "change alone": change_alone,
    "looked after before it is proved": looked_after_before_it_is_proved,
    "anybody looks after alarms": anybody_looks_after,
    "free guesses": free_guesses,
    "any password fits": any_password_fits,
}


QUICK = ("as it was", "the same person twice", "a colleague's password", "free guesses",
         "looked after before it is proved")  # fmt: skip


@pytest.mark.parametrize(
    "name",
    [name if name in QUICK else pytest.param(name, marks=pytest.mark.slow) for name in HOLES],
)
def test_the_search_finds_a_hole(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    HOLES[name](monkeypatch)
    with pytest.raises(AssertionError):
        search(300, shrink=False)
