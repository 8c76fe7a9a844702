"""Wagers in, exactly, and back out; ceilings, reserves, several levels. Amounts by hand."""

from __future__ import annotations

import pytest

from link.ledger.orders import Resume
from record.link.events import Contributed, Wager
from record.link.messages import Ack
from tests.link.ledger.support import BOTH, Floor, mystery, pool, refused, terms

CENT = 1_000_000


def test_one_wager_to_the_last_unit() -> None:
    """0.37 % of 1.00 is 0.0037: 370,000 units."""
    floor = Floor()
    assert floor.balances() == {"display": 100_000 * CENT, "house": -100_000 * CENT}
    assert floor.bet("T1", 1, 3) == [("T1", Ack(1))]
    assert floor.balances() == {
        "display": 100_000_370_000,
        "house": -100_000_000_000,
        "wagers": -370_000,
    }
    assert floor.shown() == 100_000  # never more than is there
    floor.bet("T2", 1, 1, 2)
    assert floor.shown() == 100_001  # 1.11 cents came in
    (entry,) = [e for e in floor.store.entries if e.through == floor.store.events[-1].id]
    assert (entry.debit, entry.credit, entry.units) == ("wagers", "display", 740_000)
    assert (entry.why, entry.generation) == ("contribution", 1)
    floor.check()


def test_a_group_is_one_entry_per_pair_of_accounts() -> None:
    floor = Floor(pool(terms(hidden_ppm=1_000, envy_ppm=500)))
    floor.grouped = False
    first = floor.ledger.state.event
    for number in range(1, 11):
        floor.bet("T1", number, 1, 2)
        floor.bet("T2", number, 1)
    floor.commit()
    made = [e for e in floor.store.entries if e.through >= first]
    assert [(e.credit, e.units, e.why, e.first, e.through) for e in made] == [
        ("display", 30 * 370_000, "contribution", first, first + 19),
        ("reserve", 30 * 100_000, "hidden", first, first + 19),
        ("envy", 30 * 50_000, "envy fund", first, first + 19),
    ]
    floor.check()


def test_meters_show_what_a_group_will_commit() -> None:
    floor = Floor()
    floor.grouped = False
    floor.bet("T1", 1, 1, 2, 3)
    assert [m.cents for m in floor.ledger.meters()] == [100_001]
    floor.bet("T1", 2, 1, 2, 3)
    assert [m.cents for m in floor.ledger.meters("T4")] == [100_002]
    assert floor.ledger.level_meters()[0].wagers == 6


def test_credits_of_several_denominations() -> None:
    floor = Floor(pool(denominations_cents=(100, 500), max_credits=3))
    wagers = (Wager(1, 100, 1), Wager(2, 300, 3), Wager(3, 500, 1), Wager(4, 1_500, 3))
    floor.tell("T1", Contributed(1, wagers))
    assert floor.balances()["wagers"] == -2_400 * 3_700
    (meters,) = floor.ledger.level_meters()
    assert (meters.wagers, meters.wagered_cents, meters.in_units) == (4, 2_400, 8_880_000)


def test_levels_each_take_their_rate() -> None:
    second = terms(level="minor", rate_ppm=12_345, base_cents=0, shares={"four of a kind": 100})
    floor = Floor(pool(terms(), second))
    floor.bet("T1", 1, 1, 2, 3)
    assert floor.balances("main")["wagers"] == -300 * 3_700
    assert floor.balances("minor") == {"display": 300 * 12_345, "wagers": -300 * 12_345}
    assert [(m.level, m.cents) for m in floor.ledger.meters()] == [("main", 100_001), ("minor", 3)]


@pytest.mark.parametrize("route", ["next", "reserve", "revenue"])
def test_over_the_ceiling_by_its_route(route: str) -> None:
    """Room for 4 cents at 1 cent a wager: seat 4 fills it, seats 5 and 6 go over."""
    level = terms(ceiling_cents=100_004, overflow=route, rate_ppm=10_000)
    floor = Floor(pool(level))
    floor.bet("T1", 1, 1, 2, 3)
    floor.bet("T1", 2, 4, 5, 6)
    assert floor.balances() == {
        "display": 100_004 * CENT,
        "house": -100_000 * CENT,
        route: 2 * CENT,
        "wagers": -6 * CENT,
    }
    (meters,) = floor.ledger.level_meters()
    assert meters.overflow_units == 2 * CENT
    assert meters.in_units == 6 * CENT
    floor.check()


def test_a_wager_that_stands_astride_the_ceiling() -> None:
    """Room for 0.2 of a cent; the second wager brings 0.8."""
    floor = Floor(pool(terms(base_cents=100_000, ceiling_cents=100_001, rate_ppm=8_000)))
    floor.bet("T1", 1, 1)
    floor.bet("T1", 2, 2)
    assert floor.balances()["display"] == 100_001 * CENT
    assert floor.balances()["next"] == 600_000
    floor.back("T1", 2, 2)
    assert floor.balances() == {
        "display": 100_000_800_000,
        "house": -100_000_000_000,
        "wagers": -800_000,
    }
    assert floor.ledger.level_meters()[0].overflow_units == 0
    floor.check()


def test_of_a_wager_astride_the_ceiling_the_last_cent_goes_back_first() -> None:
    """Three credits at 1 cent each, room for one: two over it, and they are the first to go."""
    floor = Floor(pool(terms(ceiling_cents=100_001, rate_ppm=10_000), max_credits=3))
    floor.tell("T1", Contributed(1, (Wager(1, 300, 3),)))
    floor.back("T1", 1, 1, cents=100)
    held = floor.balances()
    assert (held["display"], held["next"]) == (100_001 * CENT, 1 * CENT)
    floor.back("T1", 1, 1, cents=200)
    assert floor.balances() == {"display": 100_000 * CENT, "house": -100_000 * CENT}
    assert floor.ledger.level_meters()[0].overflow_units == 0
    floor.check()


def test_overflow_into_a_full_reserve_is_revenue() -> None:
    level = terms(ceiling_cents=100_001, overflow="reserve", reserve_max_cents=2, rate_ppm=10_000)
    floor = Floor(pool(level))
    floor.bet("T1", 1, 1, 2, 3, 4, 5)
    held = floor.balances()
    assert (held["display"], held["reserve"], held["revenue"]) == (
        100_001 * CENT, 2 * CENT, 2 * CENT,
    )  # fmt: skip
    floor.back("T1", 1, 5, 4)
    held = floor.balances()
    assert held["reserve"] == 2 * CENT
    assert "revenue" not in held
    floor.check()


def test_a_full_reserve_takes_nothing_more() -> None:
    """0.25 cents a wager to a reserve of 1 cent: the fifth is revenue."""
    floor = Floor(pool(terms(hidden_ppm=2_500, reserve_max_cents=1)))
    for number in range(1, 6):
        floor.bet("T1", number, 1)
    held = floor.balances()
    assert (held["reserve"], held["revenue"]) == (CENT, 250_000)
    assert held["display"] == 100_000 * CENT + 5 * 370_000
    assert floor.ledger.level_meters()[0].overflow_units == 0  # the jackpot's, not the reserve's
    floor.check()


# --- what is no wager of the pool -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("wagers", "code", "words"),
    [
        (((1, 150, 1),), "E-LNK-016", "$1.50 with 1 credit"),
        (((1, 200, 1),), "E-LNK-016", "$2.00 with 1 credit"),
        (((1, 300, 3),), "E-LNK-016", "$3.00 with 3 credits"),
        (((1, 100, 0),), "E-LNK-016", "0 credits"),
        (((1, 100, 1), (1, 100, 1)), "E-LNK-017", "seat 1 stands twice"),
        (tuple((s, 200, 2) for s in range(1, 9)), "E-LNK-016", "$16.00; expected at most $14.00"),
    ],
)
def test_an_unreasonable_contribution_halts_its_journal_and_counts_nothing(
    wagers: tuple[tuple[int, int, int], ...], code: str, words: str
) -> None:
    floor = Floor(pool(max_credits=2))
    before = floor.balances()
    told = refused(floor.tell("T1", Contributed(1, tuple(Wager(*w) for w in wagers))))
    assert (told.code, told.n, told.halted) == (code, 1, True)
    assert words in told.text
    assert floor.balances() == before
    journal = floor.store.journals[floor.tables["T1"].journal]
    assert (journal.state, journal.n) == ("halted", 0)
    assert [(a.code, a.table) for a in floor.store.alarms] == [(code, "T1")]
    # Nothing more comes through, other tables play on, a restart changes nothing.
    floor.start()
    assert refused(floor.bet("T1", 2, 1)).code == "E-LNK-015"
    assert floor.bet("T2", 1, 1) == [("T2", Ack(1))]
    assert floor.balances()["wagers"] == -370_000
    floor.check()


def test_a_table_without_a_pool_cannot_contribute() -> None:
    floor = Floor(pool(tables=("T1",)), tables=("T1", "T9"))
    assert floor.played("T9", 1) == [("T9", Ack(1))]
    assert floor.ledger.meters("T9") == ()
    told = refused(floor.bet("T9", 2, 1))
    assert (told.code, "plays for no pool" in told.text) == ("E-LNK-017", True)


def test_a_round_is_contributed_to_once_per_seat_and_in_order() -> None:
    floor = Floor()
    floor.bet("T1", 1, 1)
    assert floor.bet("T1", 1, 2) == [("T1", Ack(2))]  # a seat that a supervisor declared later
    assert "has contributed already" in refused(floor.bet("T1", 1, 2, 3)).text
    floor.order(Resume(floor.tables["T1"].journal, "looked at", 3, floor.tables["T1"].head), BOTH)
    floor.send("T1", floor.tables["T1"].sent[2])
    for number in range(5, 12):
        floor.bet("T1", number, 1)
    assert "comes after round 8" in refused(floor.bet("T1", 4, 1)).text
    floor.check()


def test_all_wagers_of_a_round_together_are_bounded() -> None:
    floor = Floor(pool(seats=2))
    floor.bet("T1", 1, 1, 2)
    assert refused(floor.bet("T1", 1, 3)).code == "E-LNK-016"


# --- back out -------------------------------------------------------------------------------------


def test_a_void_round_leaves_no_trace_in_the_accounts() -> None:
    floor = Floor(pool(terms(hidden_ppm=1_000, envy_ppm=300), mystery()))
    before = [floor.balances(name) for name in ("main", "mystery")]
    floor.bet("T1", 1, 1, 2, 3)
    floor.back("T1", 1, 1, 2, 3)
    assert [floor.balances(name) for name in ("main", "mystery")] == before
    assert [(m.wagers, m.wagered_cents) for m in floor.ledger.level_meters()] == [(0, 0), (0, 0)]
    floor.check()


def test_one_seat_goes_back_and_never_more_than_it_put_in() -> None:
    floor = Floor(pool(max_credits=3))
    floor.tell("T1", Contributed(1, (Wager(1, 300, 3), Wager(2, 100, 1))))
    floor.back("T1", 1, 1, cents=200)
    assert floor.balances()["wagers"] == -200 * 3_700
    floor.back("T1", 1, 1, cents=100)
    assert floor.balances()["wagers"] == -100 * 3_700
    told = refused(floor.back("T1", 1, 1))
    assert (told.code, "$1.00 reversed, but $0.00 stands" in told.text) == ("E-LNK-017", True)
    assert floor.balances()["wagers"] == -100 * 3_700
    floor.check()


@pytest.mark.parametrize(("number", "seats"), [(2, (1,)), (1, (2,)), (1, (1, 1))])
def test_what_was_never_put_in_cannot_go_back(number: int, seats: tuple[int, ...]) -> None:
    floor = Floor()
    floor.bet("T1", 1, 1)
    before = floor.balances()
    assert refused(floor.back("T1", number, *seats)).code == "E-LNK-017"
    assert floor.balances() == before


def test_a_reversal_is_found_after_a_restart() -> None:
    floor = Floor(pool(terms(ceiling_cents=100_001, rate_ppm=10_000)))
    floor.bet("T1", 1, 1, 2, 3)
    floor.start()
    floor.back("T1", 1, 2)
    held = floor.balances()
    assert (held["display"], held["next"], held["wagers"]) == (
        100_001 * CENT, 1 * CENT, -2 * CENT,
    )  # fmt: skip
    floor.check()


def test_after_the_jackpot_went_out_a_reversal_is_a_deficit() -> None:
    """T2's cent was in the jackpot that T1 won: what was paid is not changed."""
    floor = Floor()
    floor.bet("T2", 1, 1)
    lock = floor.hit("T1", 1)
    before = floor.balances()
    floor.back("T2", 1, 1)
    after = floor.balances()
    assert after["pending"] == before["pending"] == lock.jackpot_cents * CENT
    assert after["display"] == before["display"]
    assert after["deficit"] == -370_000
    assert after["wagers"] == -370_000  # T1's
    assert floor.ledger.level_meters()[0].deficit_units == 370_000
    floor.check()


def test_a_deficit_also_where_the_jackpot_is_empty() -> None:
    """Base 0: ten tenths of what came in are gone before it is reversed."""
    level = terms(base_cents=0, reset_cents=0, rate_ppm=1_000_000, shares={"royal flush": 90})
    floor = Floor(pool(level))
    floor.bet("T1", 1, 1)
    floor.claim("T1", 1, (1, "royal flush"))
    assert floor.balances() == {"display": 10 * CENT, "pending": 90 * CENT, "wagers": -100 * CENT}
    floor.back("T1", 1, 1)
    assert floor.balances() == {"pending": 90 * CENT, "deficit": -90 * CENT}
    floor.check()
