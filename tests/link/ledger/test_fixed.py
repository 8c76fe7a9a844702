"""Awards paid at the table: counted, and by parameter borne by the pool."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from link.ledger.orders import Approve, Pay, Resume, Verify
from record.link.events import (
    AnyBody,
    Claim,
    Claimed,
    Contributed,
    FixedAward,
    RoundPlayed,
    Wager,
    Withdrawn,
)
from record.link.messages import Ack, ServerRefused
from tests.link.ledger.support import ANNA, BEN, BOTH, Floor, pool, refused, terms

CENT = 1_000_000
QUADS = (1, "four of a kind", 50_000)


def test_paid_from_the_float_they_only_count() -> None:
    floor = Floor()
    floor.bet("T1", 1, 1, 2)
    before = floor.balances()
    assert floor.played("T1", 1, QUADS, (2, "envy", 30_000)) == [("T1", Ack(2))]
    floor.bet("T1", 2, 1)
    floor.played("T1", 2, (1, "four of a kind", 50_000))
    assert floor.balances() == {**before, "display": before["display"] + 370_000,
                                "wagers": before["wagers"] - 370_000}  # fmt: skip
    (meters,) = floor.ledger.level_meters()
    assert meters.fixed == {"four of a kind": (2, 100_000), "envy": (1, 30_000)}
    assert (meters.hits, meters.wins_cents) == (0, 0)
    floor.start()
    assert floor.ledger.level_meters() == [meters]
    floor.check()


def test_taken_from_the_meter_if_the_pool_says_so() -> None:
    floor = Floor(pool(terms(fixed_awards="pool", base_cents=60_000)))
    floor.bet("T1", 1, 1, 2)
    floor.played("T1", 1, QUADS, (2, "flush", 20_000))
    held = floor.balances()  # 600.00 and 0.74 cents: the house adds the rest of the second
    assert held["paid"] == 70_000 * CENT
    assert "display" not in held
    assert held["house"] == -(70_000 * CENT - 740_000)
    floor.check()


def test_envy_from_its_own_fund_and_then_from_the_house() -> None:
    floor = Floor(pool(terms(envy="pool", envy_ppm=100_000)))
    floor.bet("T1", 1, 1, 2, 3)
    assert floor.balances()["envy"] == 30 * CENT
    floor.played("T1", 1, (1, "envy", 20), (2, "envy", 20))
    held = floor.balances()
    assert (held["paid"], held["house"]) == (40 * CENT, -(100_000 + 10) * CENT)
    assert "envy" not in held
    assert held["display"] == 100_000 * CENT + 3 * 370_000
    floor.check()


def test_a_corrected_round_takes_the_place_of_the_first() -> None:
    floor = Floor(pool(terms(fixed_awards="pool", envy="pool", envy_ppm=1_000)))
    floor.bet("T1", 1, 1, 2)
    untouched = floor.balances()
    floor.played("T1", 1, QUADS, (2, "envy", 1_000))
    floor.start()
    floor.played("T1", 1, (1, "full house", 10_000))
    held = floor.balances()
    assert held["display"] == untouched["display"] - 10_000 * CENT
    assert (held["paid"], held["envy"], held["house"]) == (
        10_000 * CENT, untouched["envy"], untouched["house"],
    )  # fmt: skip
    assert floor.ledger.level_meters()[0].fixed == {"full house": (1, 10_000)}
    floor.played("T1", 1)
    assert floor.balances() == untouched
    assert floor.ledger.level_meters()[0].fixed == {}
    floor.check()


def test_the_same_report_twice_changes_nothing() -> None:
    floor = Floor(pool(terms(fixed_awards="pool")))
    floor.bet("T1", 1, 1)
    floor.played("T1", 1, QUADS)
    held, entries = floor.balances(), len(floor.store.entries)
    floor.played("T1", 1, QUADS)
    assert (floor.balances(), len(floor.store.entries)) == (held, entries)


@pytest.mark.parametrize(("number", "words"), [(2, "no wager is known"), (1, "without a wager")])
def test_an_award_without_a_wager_is_poison(number: int, words: str) -> None:
    floor = Floor(pool(terms(fixed_awards="pool")))
    floor.bet("T1", 1, 2)
    told = refused(floor.played("T1", number, QUADS))
    assert (told.code, words in told.text) == ("E-LNK-017", True)
    assert "paid" not in floor.balances()


def test_a_correction_of_a_forgotten_round_raises_an_alarm() -> None:
    floor = Floor()
    for number in range(1, 8):
        floor.bet("T1", number, 1)
    assert floor.played("T1", 2, QUADS) == [("T1", Ack(8))]
    assert [a.code for a in floor.store.alarms] == ["E-POOL-044"]
    assert floor.ledger.level_meters()[0].fixed == {}
    floor.check()


# --- bounds ---------------------------------------------------------------------------------------

BORNE = terms(fixed_awards="pool", envy="pool", base_cents=60_000)
LARGEST = 10**13
"""The largest amount that a message can hold."""


@pytest.mark.parametrize("kind", ["flush", "envy"])
@pytest.mark.parametrize("cents", [60_001, 10**12, LARGEST])
def test_an_award_beyond_the_pools_terms_is_held_with_an_alarm(kind: str, cents: int) -> None:
    floor = Floor(pool(BORNE))
    floor.bet("T1", 1, 1)
    before = floor.balances()
    told = refused(floor.played("T1", 1, (1, kind, cents)))
    assert (told.code, told.halted) == ("E-LNK-016", True)
    assert "bears at most 600.00 for one award" in told.text
    assert floor.balances() == before
    assert [alarm.code for alarm in floor.store.alarms] == ["E-LNK-016"]
    assert floor.bet("T2", 1, 1) == [("T2", Ack(1))]  # the others play on
    floor.check()


def test_two_people_raise_the_bound_and_the_held_award_is_booked() -> None:
    floor = Floor(pool(BORNE))
    table = floor.tables["T1"]
    floor.bet("T1", 1, 1)
    refused(floor.played("T1", 1, (1, "flush", 60_001)))
    floor.ledger.open(floor.now_ms, (pool(BORNE, award_max_cents=60_001),))
    floor.order(Resume(table.journal, "a genuine award"), BOTH)
    assert floor.send("T1", table.sent[-1]) == [("T1", Ack(2))]
    assert floor.balances()["paid"] == 60_001 * CENT
    floor.check()


def test_a_round_of_many_awards_is_bounded_too() -> None:
    floor = Floor(pool(BORNE, seats=2))
    floor.bet("T1", 1, 1, 2)
    told = refused(floor.played("T1", 1, *[(1, "flush", 60_000)] * 3))
    assert "at most 1,200.00 a round" in told.text


def test_awards_from_the_float_have_no_bound_of_the_pool() -> None:
    floor = Floor()
    floor.bet("T1", 1, 1)
    assert floor.played("T1", 1, (1, "flush", LARGEST)) == [("T1", Ack(2))]
    floor.check()


def test_a_full_level_holds_what_would_not_fit() -> None:
    """2**63 units are reached after nine such rounds; the tenth is held, not lost."""
    level = terms(base_cents=0, reset_cents=0, rate_ppm=1_000_000, fixed_awards="pool")
    floor = Floor(pool(level, denominations_cents=(10**12,), seats=1, award_max_cents=10**12))
    for number in range(1, 10):
        assert floor.bet("T1", number, 1, cents=10**12) == [("T1", Ack(number))]
    for name, body in (
        ("T1", Contributed(10, (Wager(1, 10**12, 1),))),
        ("T2", Contributed(1, (Wager(1, 10**12, 1),))),
    ):
        told = refused(floor.tell(name, body))
        assert (told.code, "its accounts are full" in told.text) == ("E-LNK-016", True)
    assert floor.balances()["display"] == 9 * 10**12 * CENT
    floor.check()


@settings(max_examples=25)
@given(
    cents=st.integers(5 * 10**11, 10**12),
    what=st.lists(
        st.sampled_from(("bet", "hit", "paid", "fixed", "void")), min_size=10, max_size=60
    ),
)
def test_no_history_outgrows_a_column(cents: int, what: list[str]) -> None:
    """Terms as large as a file can state them: an event that would not fit is held."""
    level = terms(base_cents=cents, reset_cents=cents, rate_ppm=1_000_000, fixed_awards="pool",
                  meter_rule="snapshot")  # fmt: skip
    floor = Floor(pool(level, denominations_cents=(cents // 7,), award_max_cents=cents))
    table = floor.tables["T1"]

    def tell(body: AnyBody) -> None:
        first = floor.tell("T1", body)[0][1]
        if isinstance(first, ServerRefused):
            assert first.code in ("E-LNK-016", "E-LNK-017")
            event = table.sent[-1]
            floor.order(Resume(table.journal, "looked at", event.n, event.hash), BOTH)
            floor.send("T1", event)

    for number, one in enumerate(what, 1):
        tell(Contributed(number, tuple(Wager(s, cents // 7, 1) for s in range(1, 8))))
        if one in ("hit", "paid", "void"):
            tell(Claimed(number, tuple(Claim(s, "royal flush", 100) for s in range(1, 4))))
            held = [h for h in floor.ledger.state.awards.values() if h.round == number]
            if one == "void":
                tell(Withdrawn(number, (1, 2, 3)))
            for award in held if one == "paid" else ():
                for order in (Verify(award.award), Approve(award.award)):
                    floor.order(order, ANNA)
                floor.order(Approve(award.award), BEN)
                floor.order(Pay(award.award), BEN)
        elif one == "fixed":
            tell(RoundPlayed(number, {}, {}, (FixedAward(1, "flush", cents),)))
        assert all(abs(row.units) < 1 << 63 for row in floor.store.balances.values())
        assert all(row.units < 1 << 63 for row in floor.store.entries)
    floor.check()
