"""From lock to payment, or back to where the jackpot was. Amounts by hand."""

from __future__ import annotations

import pytest

from link.ledger.errors import PoolError
from link.ledger.orders import Approve, Order, Pay, Person, Reject, Verify
from link.ledger.terms import Ties
from record.link.messages import AwardChanged, Locked
from tests.link.ledger.support import (
    ANNA,
    BEN,
    BOTH,
    CARL,
    DORA,
    Floor,
    locked,
    pool,
    refused,
    terms,
)

CENT = 1_000_000
ROYAL, STRAIGHT = "royal flush", "straight flush"
A = "pool/1/1"


def pay_out(floor: Floor, award: str) -> None:
    floor.order(Verify(award), ANNA)
    floor.order(Approve(award), ANNA)
    floor.order(Approve(award), BEN)
    floor.order(Pay(award, "cheque 12"), BEN)


def refusal(floor: Floor, order: Order, by: object = ANNA) -> PoolError:
    before = (floor.balances(), len(floor.store.events), floor.ledger.state.chain)
    with pytest.raises(PoolError) as refused:
        floor.order(order, by)  # type: ignore[arg-type]
    assert (floor.balances(), len(floor.store.events), floor.ledger.state.chain) == before
    return refused.value


def test_the_whole_way() -> None:
    floor = Floor()
    floor.hit("T1", 1)
    assert floor.order(Verify(A, "deck complete"), ANNA) == [
        ("T1", AwardChanged(1, 1, A, "verified", 100_000))
    ]
    assert floor.order(Approve(A), ANNA) == []  # one of two
    assert floor.state_of(A) == "verified"
    floor.start()  # and the first is remembered
    assert floor.order(Approve(A), BEN) == [("T1", AwardChanged(1, 1, A, "approved", 100_000))]
    assert floor.ledger.meters()[0].pending == 1
    assert floor.order(Pay(A), DORA) == [("T1", AwardChanged(1, 1, A, "paid", 100_000))]
    assert floor.ledger.meters()[0].pending == 0
    held = floor.balances()
    assert held["paid"] == 100_000 * CENT
    assert "pending" not in held
    assert [(s.state, s.by, s.role, s.note) for s in floor.store.steps] == [
        ("claimed", "T1", "table", ""),
        ("locked", "server", "", ""),
        ("verified", "anna", "supervisor", "deck complete"),
        ("verified", "anna", "supervisor", "first approval"),
        ("approved", "ben", "cage", ""),
        ("paid", "dora", "technician", ""),
    ]
    floor.check()


def test_two_people_with_two_roles() -> None:
    floor = Floor()
    floor.hit("T1", 1)
    floor.order(Verify(A), ANNA)
    floor.order(Approve(A), ANNA)
    assert refusal(floor, Approve(A), ANNA).code == "E-POOL-024"
    same_role = refusal(floor, Approve(A), CARL)
    assert same_role.code == "E-POOL-024"
    assert "approved by anna (supervisor)" in same_role.text
    assert refusal(floor, Approve(A), Person("anna", "cage")).code == "E-POOL-024"
    assert refusal(floor, Approve(A), (BEN, DORA)).code == "E-POOL-023"
    floor.order(Approve(A), DORA)
    assert floor.state_of(A) == "approved"
    floor.check()


ALL = ("verify", "approve", "pay", "reject")
MAY = {
    "claimed": ("reject",),
    "locked": ("verify", "reject"),
    "verified": ("approve", "reject"),
    "approved": ("pay", "reject"),
    "paid": (),
    "rejected": (),
    "withdrawn": (),
}


@pytest.mark.parametrize("state", MAY)
@pytest.mark.parametrize("step", ALL)
def test_every_step_from_every_state(state: str, step: str) -> None:
    ties: Ties = "share" if state == "claimed" else "strict_order"
    floor = Floor(pool(terms(ties=ties, tie_ms=10 * (ties == "share"))))
    floor.bet("T1", 1, 1)
    floor.claim("T1", 1, (1, ROYAL))
    for order, by in (
        (Verify(A), ANNA), (Approve(A), ANNA), (Approve(A), BEN), (Pay(A), BEN),
    ):  # fmt: skip
        if floor.state_of(A) == state:
            break
        if state in ("rejected", "withdrawn"):
            break
        floor.order(order, by)
    if state == "rejected":
        floor.order(Reject(A, "deck fault"), BOTH)
    if state == "withdrawn":
        floor.withdraw("T1", 1, 1)
    assert floor.state_of(A) == state
    wanted: dict[str, Order] = {
        "verify": Verify(A),
        "approve": Approve(A),
        "pay": Pay(A),
        "reject": Reject(A, "no"),
    }
    who: Person | tuple[Person, ...] = BOTH if step == "reject" else DORA
    if step in MAY[state]:
        floor.order(wanted[step], who)
    else:
        assert refusal(floor, wanted[step], who).code == "E-POOL-022"
    floor.check()


def test_an_award_that_nobody_knows() -> None:
    assert refusal(Floor(), Verify("pool/1/9")).code == "E-POOL-021"


# --- rejected -------------------------------------------------------------------------------------


def test_a_rejected_jackpot_is_as_it_was_with_what_came_meanwhile() -> None:
    floor = Floor()
    floor.bet("T2", 1, 1)
    floor.hit("T1", 1)
    floor.bet("T2", 2, 1, 2)
    floor.order(Reject(A, "deck fault"), BOTH)
    assert floor.balances() == {
        "display": 100_000 * CENT + 4 * 370_000,
        "house": -100_000 * CENT,
        "wagers": -4 * 370_000,
    }
    (meter,) = floor.ledger.meters()
    assert (meter.cents, meter.generation, meter.pending) == (100_001, 2, 0)
    (meters,) = floor.ledger.level_meters()
    assert (meters.hits, meters.wins_cents) == (0, 0)
    floor.check()


def test_the_seed_goes_back_to_each_source() -> None:
    level = terms(
        base_cents=1_000, reset_cents=500, ceiling_cents=1_001, rate_ppm=500_000,
        hidden_ppm=500_000, reserve_max_cents=150,
    )  # fmt: skip
    floor = Floor(pool(level))
    floor.bet("T1", 1, 1, 2, 3, 4)
    before = floor.balances()
    floor.claim("T1", 1, (1, ROYAL))
    floor.order(Reject(A, "no"), BOTH)
    assert floor.balances() == before
    floor.check()


def test_a_restored_jackpot_stays_under_its_ceiling() -> None:
    """10.00 back on top of 4.00 that came meanwhile, under a ceiling of 12.00: 2.00 over."""
    level = terms(base_cents=1_000, reset_cents=500, ceiling_cents=1_200, rate_ppm=1_000_000)
    floor = Floor(pool(level))
    floor.hit("T1", 1)  # 11.00
    floor.bet("T2", 1, 1, 2, 3)
    floor.order(Reject(A, "no"), BOTH)
    held = floor.balances()
    assert (held["display"], held["next"], held["house"]) == (
        1_200 * CENT, 200 * CENT, -1_000 * CENT,
    )  # fmt: skip
    assert floor.ledger.level_meters()[0].overflow_units == 200 * CENT
    floor.check()


def test_a_seed_that_somebody_has_won_is_not_given_back_until_he_gives_it_back() -> None:
    floor = Floor()
    floor.hit("T1", 1)  # 1,000.00
    floor.hit("T2", 1)  # the reset amount, 500.00
    floor.order(Reject(A, "no"), BOTH)
    held = floor.balances()
    assert held["display"] == 150_000 * CENT + 2 * 370_000
    assert held["pending"] == 50_000 * CENT
    assert held["house"] == -200_000 * CENT
    floor.order(Reject("pool/2/2", "no"), BOTH)
    assert floor.balances() == {
        "display": 100_000 * CENT + 2 * 370_000,
        "house": -100_000 * CENT,
        "wagers": -2 * 370_000,
    }
    floor.check()


def test_a_tenth_won_since_stays_won() -> None:
    """T1's royal is rejected after T2 took 10 % of the reset amount."""
    floor = Floor()
    floor.hit("T1", 1)
    floor.hit("T2", 1, STRAIGHT)
    floor.order(Reject(A, "no"), BOTH)
    held = floor.balances()
    assert held["pending"] == 5_000 * CENT
    assert held["display"] == 95_000 * CENT + 2 * 370_000
    assert held["house"] == -100_000 * CENT
    floor.check()


@pytest.mark.parametrize("ties", ["same_cycle_full", "share"])
@pytest.mark.parametrize("first", [0, 1])
def test_of_two_winners_one_is_rejected_and_then_the_other(ties: Ties, first: int) -> None:
    floor = Floor(pool(terms(ties=ties, tie_ms=10)))
    for table in ("T1", "T2"):
        floor.bet(table, 1, 1)
        floor.claim(table, 1, (1, ROYAL))
    before = floor.balances()
    floor.tick(10)
    names = ["pool/1/1", "pool/1/2"]
    floor.order(Reject(names[first], "no"), BOTH)
    held = floor.balances()
    if ties == "share":  # his half comes back, on top of the new jackpot
        assert (held["pending"], held["house"]) == (50_000 * CENT, -150_000 * CENT)
        assert held["display"] == 100_000 * CENT + 2 * 370_000
    else:  # the other is paid by the jackpot now, the house has its top-up back
        assert (held["pending"], held["house"]) == (100_000 * CENT, -150_000 * CENT)
        assert held["display"] == 50_000 * CENT + 2 * 370_000
    floor.order(Reject(names[1 - first], "no"), BOTH)
    assert floor.balances() == before
    floor.check()


def test_under_the_snapshot_rule_a_top_up_is_repaid_by_the_jackpot() -> None:
    floor = Floor(pool(terms(meter_rule="snapshot")))
    floor.bet("T1", 1, 1, 2)
    floor.claim("T1", 1, (2, ROYAL), (1, STRAIGHT))
    assert floor.balances()["house"] == -(100_000 + 50_000 + 10_000) * CENT
    floor.order(Reject("pool/1/1", "no"), BOTH)
    assert floor.balances() == {
        "display": 90_000 * CENT + 2 * 370_000,
        "pending": 10_000 * CENT,
        "house": -100_000 * CENT,
        "wagers": -2 * 370_000,
    }
    floor.check()


# --- withdrawn by the table -----------------------------------------------------------------------


def test_withdrawn_while_it_waits() -> None:
    floor = Floor(pool(terms(ties="share", tie_ms=10)))
    floor.bet("T1", 1, 1)
    before = floor.balances()
    floor.claim("T1", 1, (1, ROYAL))
    assert floor.withdraw("T1", 1, 1)[1:] == [("T1", AwardChanged(1, 1, A, "withdrawn", 0))]
    assert floor.ledger.due_ms() is None
    assert floor.tick(10) == []
    assert floor.balances() == before
    floor.check()


def test_a_window_whose_royal_is_withdrawn_locks_the_others_at_once() -> None:
    floor = Floor(pool(terms(ties="share", tie_ms=10)))
    floor.bet("T1", 1, 1)
    floor.bet("T2", 1, 1)
    floor.claim("T1", 1, (1, ROYAL))
    floor.claim("T2", 1, (1, STRAIGHT))
    floor.withdraw("T1", 1, 1)
    assert floor.ledger.due_ms() == 0
    ((table, lock),) = floor.tick()
    assert isinstance(lock, Locked)
    assert (table, lock.awards[0].cents) == ("T2", 10_000)
    floor.check()


@pytest.mark.parametrize("reversed_first", [True, False])
@pytest.mark.parametrize("steps", [0, 1, 3])
def test_a_void_round_before_payment_leaves_no_trace(reversed_first: bool, steps: int) -> None:
    """In the order the table tells it, or the other, at every state before payment."""
    floor = Floor()
    floor.bet("T2", 1, 1)
    before = floor.balances()
    floor.bet("T1", 1, 1, 2)
    floor.claim("T1", 1, (2, STRAIGHT), (1, ROYAL))
    for award in ("pool/1/1", "pool/1/2"):
        orders = ((Verify(award), ANNA), (Approve(award), ANNA), (Approve(award), BEN))
        for order, by in orders[:steps]:
            floor.order(order, by)
    if reversed_first:
        floor.back("T1", 1, 1, 2)
        assert floor.balances()["deficit"] == -2 * 370_000  # until the jackpot is back
        floor.withdraw("T1", 1, 1, 2)
    else:
        floor.withdraw("T1", 1, 1, 2)
        floor.back("T1", 1, 1, 2)
    assert floor.balances() == before
    assert {a.state for a in floor.store.awards.values()} == {"withdrawn"}
    floor.check()


def test_withdrawn_and_claimed_anew() -> None:
    """A card was misread: the claim goes and comes back for another hand."""
    floor = Floor()
    floor.hit("T1", 1)
    floor.withdraw("T1", 1, 1)
    lock = locked(floor.claim("T1", 1, (1, STRAIGHT)))
    assert [(a.award, a.cents) for a in lock.awards] == [("pool/2/2", 10_000)]
    assert floor.state_of(A) == "withdrawn"
    floor.check()


def test_a_round_void_after_payment_is_a_deficit_and_stays_paid() -> None:
    floor = Floor()
    floor.bet("T2", 1, 1)
    floor.hit("T1", 1)
    pay_out(floor, A)
    floor.start()
    floor.back("T1", 1, 1)
    floor.withdraw("T1", 1, 1)
    held = floor.balances()
    assert held["paid"] == 100_000 * CENT
    assert held["deficit"] == -100_000 * CENT
    assert held["house"] == -100_000 * CENT  # the seed is back
    assert held["display"] == 100_000 * CENT + 370_000  # as before the void round
    assert held["wagers"] == -370_000
    assert floor.state_of(A) == "paid"
    assert [a.code for a in floor.store.alarms] == ["E-POOL-042"]
    floor.withdraw("T1", 1, 1)  # told again: nothing more
    assert floor.balances() == held
    floor.check()


def test_an_approved_amount_does_not_change_but_somebody_is_told() -> None:
    floor = Floor()
    floor.bet("T1", 1, 1, 2)
    floor.claim("T1", 1, (2, ROYAL), (1, STRAIGHT))  # 5,000 of the reset amount
    straight = "pool/1/2"
    for order, by in (
        (Verify(straight), ANNA),
        (Approve(straight), ANNA),
        (Approve(straight), BEN),
    ):
        floor.order(order, by)
    floor.withdraw("T1", 1, 2)
    assert floor.store.awards[straight].cents == 5_000
    (alarm,) = floor.store.alarms
    assert alarm.code == "E-POOL-043"
    assert "would be $100.00 without pool/1/1" in alarm.text
    floor.check()


def test_a_changed_amount_is_approved_from_the_start() -> None:
    floor = Floor()
    floor.bet("T1", 1, 1, 2)
    floor.claim("T1", 1, (2, ROYAL), (1, STRAIGHT))
    straight = "pool/1/2"
    floor.order(Verify(straight), ANNA)
    floor.order(Approve(straight), ANNA)
    replies = floor.withdraw("T1", 1, 2)
    assert replies[-1] == ("T1", AwardChanged(1, 1, straight, "verified", 10_000))
    floor.order(Approve(straight), BEN)
    assert floor.state_of(straight) == "verified"  # his is the first again
    floor.order(Approve(straight), ANNA)
    assert floor.state_of(straight) == "approved"
    floor.check()


@pytest.mark.parametrize("steps", [2, 3])
def test_an_award_whose_wager_went_back_is_not_paid(steps: int) -> None:
    """The reversal comes after the first approval, or after both; rejecting is the way out."""
    floor = Floor()
    before = floor.balances()
    floor.hit("T1", 1)
    for order, by in ((Verify(A), ANNA), (Approve(A), ANNA), (Approve(A), BEN))[:steps]:
        floor.order(order, by)
    floor.back("T1", 1, 1)
    last = Approve(A) if steps == 2 else Pay(A)
    said = refusal(floor, last, BEN)
    assert said.code == "E-POOL-022"
    assert "was reversed" in said.text
    assert f"underfelt jackpot reject {A}" in said.text
    floor.order(Reject(A, "void"), BOTH)
    assert floor.balances()["display"] == before["display"]
    floor.check()


def test_an_award_whose_wager_went_back_is_not_approved() -> None:
    floor = Floor()
    floor.hit("T1", 1)
    floor.order(Verify(A), ANNA)
    floor.back("T1", 1, 1)
    assert "was reversed while the award was verified" in refusal(floor, Approve(A), ANNA).text
    floor.order(Reject(A, "void"), BOTH)
    assert floor.balances() == {"display": 100_000 * CENT, "house": -100_000 * CENT}
    floor.check()


def test_a_withdrawal_of_an_unknown_round() -> None:
    assert refused(Floor().withdraw("T1", 5, 1)).code == "E-LNK-017"


def test_awards_of_old_rounds_are_kept_as_long_as_they_are_open() -> None:
    floor = Floor()
    floor.hit("T1", 1)
    for number in range(2, 20):
        floor.bet("T1", number, 1)
    floor.start()
    pay_out(floor, A)
    for number in range(20, 24):
        floor.bet("T1", number, 1)
    floor.start()
    assert refusal(floor, Reject(A, "too late"), BOTH).code == "E-POOL-021"
    assert "no wager known" in refused(floor.claim("T1", 1, (1, ROYAL))).text
    floor.check()
