"""Claims and the lock: amount of record, order of record, the next generation. By hand."""

from __future__ import annotations

import pytest

from link.ledger.terms import Ties
from record.link.events import Claim, Claimed
from record.link.messages import Ack, Locked, LockedAward
from tests.link.ledger.support import Floor, locked, pool, refused, terms

CENT = 1_000_000
ROYAL, STRAIGHT = "royal flush", "straight flush"


def test_a_royal_takes_it_all_with_its_own_wager_in_it() -> None:
    """1,000.00 and three wagers of 0.37 cents: 1,000.01, and 0.11 of a cent stays."""
    floor = Floor()
    floor.bet("T1", 7, 1, 2, 3)
    ack, lock = floor.claim("T1", 7, (2, ROYAL))
    assert ack == ("T1", Ack(2))
    assert lock == (
        "T1",
        Locked(
            round=7,
            jackpot_cents=100_001,
            reset_cents=50_000,
            awards=(LockedAward(2, "pool/1/1", 100_001),),
            position=1,
            policy="strict_order",
        ),
    )
    assert floor.balances() == {
        "wagers": -1_110_000,
        "pending": 100_001 * CENT,
        "display": 50_000 * CENT + 110_000,
        "house": -150_000 * CENT,
    }
    (award,) = floor.store.awards.values()
    assert (award.state, award.generation, award.order) == ("locked", 1, 1)
    assert (award.seed_units, award.policy) == (50_000 * CENT, "strict_order")
    assert [(s.step, s.state, s.by) for s in floor.store.steps] == [
        (1, "claimed", "T1"),
        (2, "locked", "server"),
    ]
    (meter,) = floor.ledger.meters()
    assert (meter.cents, meter.generation, meter.pending) == (50_000, 2, 1)
    floor.bet("T2", 1, 1)  # others play on, into the next jackpot
    assert floor.balances()["display"] == 50_000 * CENT + 480_000
    (meters,) = floor.ledger.level_meters()
    assert (meters.hits, meters.wins_cents) == (1, 100_001)
    floor.check()


def test_a_tenth_is_rounded_down_and_the_rest_stays() -> None:
    """10 % of 1,000.09 is 100.00 and nine tenths of a cent: those stay."""
    floor = Floor(pool(terms(base_cents=100_009)))
    lock = floor.hit("T1", 1, STRAIGHT)
    assert (lock.jackpot_cents, lock.awards[0].cents) == (100_009, 10_000)
    assert floor.balances()["display"] == 90_009 * CENT + 370_000
    assert floor.ledger.meters()[0].generation == 1  # only 100 % resets
    floor.check()


@pytest.mark.parametrize(
    ("rule", "hands", "cents", "shown", "top_up"),
    [
        # 1,000.00 and 0.74 of a cent; reset 500.00
        ("sequential", (STRAIGHT, ROYAL), (10_000, 90_000), 50_000, 0),
        ("sequential", (ROYAL, STRAIGHT), (100_000, 5_000), 45_000, 0),
        ("sequential", (STRAIGHT, STRAIGHT), (10_000, 9_000), 81_000, 0),
        ("sequential", (ROYAL, ROYAL), (100_000, 50_000), 50_000, 0),
        ("snapshot", (STRAIGHT, ROYAL), (10_000, 100_000), 50_000, 10_000),
        ("snapshot", (ROYAL, STRAIGHT), (100_000, 10_000), 50_000, 10_000),
        ("snapshot", (STRAIGHT, STRAIGHT), (10_000, 10_000), 80_000, 0),
        ("snapshot", (ROYAL, ROYAL), (100_000, 100_000), 50_000, 100_000),
    ],
)
def test_two_claims_of_one_round_by_the_meter_rule(
    rule: str, hands: tuple[str, str], cents: tuple[int, int], shown: int, top_up: int
) -> None:
    floor = Floor(pool(terms(meter_rule=rule)))
    floor.bet("T1", 1, 5, 2)
    lock = locked(floor.claim("T1", 1, (5, hands[0]), (2, hands[1])))
    assert tuple(a.cents for a in lock.awards) == cents
    assert floor.shown() == shown
    assert lock.reset_cents == 50_000
    paid_in = sum(e.units for e in floor.store.entries if e.why == "top-up")
    assert paid_in == top_up * CENT
    assert floor.balances()["pending"] == sum(cents) * CENT
    floor.check()


def test_the_seed_comes_from_next_base_then_reserve_then_house() -> None:
    """Reset 5.00; 2.00 over the ceiling wait as next base, 1.50 in the reserve."""
    level = terms(
        base_cents=1_000, reset_cents=500, ceiling_cents=1_001, rate_ppm=500_000,
        hidden_ppm=500_000, reserve_max_cents=150,
    )  # fmt: skip
    floor = Floor(pool(level))
    floor.bet("T1", 1, 1, 2, 3, 4)  # 2.00 visible, 2.00 hidden: 0.50 of them are revenue
    held = floor.balances()
    assert (held["display"], held["next"], held["reserve"], held["revenue"]) == (
        1_001 * CENT, 199 * CENT, 150 * CENT, 50 * CENT,
    )  # fmt: skip
    floor.claim("T1", 1, (1, ROYAL))
    seeds = [(e.debit, e.units // CENT) for e in floor.store.entries if e.why == "seed"]
    assert seeds == [("next", 199), ("reserve", 150), ("house", 151)]
    held = floor.balances()
    assert (held["display"], held["pending"]) == (500 * CENT, 1_001 * CENT)
    assert "next" not in held
    assert "reserve" not in held
    floor.check()


def test_a_large_next_base_pays_the_seed_alone_and_keeps_the_rest() -> None:
    level = terms(base_cents=100, reset_cents=100, ceiling_cents=101, rate_ppm=1_000_000)
    floor = Floor(pool(level))
    floor.bet("T1", 1, 1, 2, 3)
    floor.claim("T1", 1, (1, ROYAL))
    held = floor.balances()
    assert (held["display"], held["next"], held["house"]) == (100 * CENT, 199 * CENT, -100 * CENT)
    floor.check()


def test_claims_on_two_levels_in_one_message() -> None:
    second = terms(level="minor", base_cents=2_000, reset_cents=300, shares={"four of a kind": 100})
    floor = Floor(pool(terms(), second))
    floor.bet("T1", 1, 1, 2)
    lock = locked(floor.claim("T1", 1, (2, "four of a kind"), (1, STRAIGHT)))
    assert [(a.seat, a.cents) for a in lock.awards] == [(2, 2_000), (1, 10_000)]
    assert (lock.jackpot_cents, lock.reset_cents) == (2_000, 300)  # of the first claim's level
    assert [(m.level, m.cents, m.generation) for m in floor.ledger.meters()] == [
        ("main", 90_000, 1),
        ("minor", 300, 2),
    ]
    floor.check()


# --- what cannot be claimed -----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("number", "claims", "words"),
    [
        (2, ((1, ROYAL, 100),), "no wager known"),
        (1, (), "no claim"),
        (1, ((3, ROYAL, 100),), "without a wager"),
        (1, ((2, ROYAL, 100),), "without a wager"),  # it went back
        (1, ((1, ROYAL, 10),), "10 % for royal flush is no award"),
        (1, ((1, "full house", 100),), "is no award"),
        (1, ((1, ROYAL, 100), (1, STRAIGHT, 10)), "a seat claims twice"),
    ],
)
def test_a_claim_needs_its_wager_and_its_award(
    number: int, claims: tuple[tuple[int, str, int], ...], words: str
) -> None:
    floor = Floor()
    floor.bet("T1", 1, 1, 2)
    floor.back("T1", 1, 2)
    before = floor.balances()
    told = refused(floor.tell("T1", Claimed(number, tuple(Claim(*c) for c in claims))))
    assert (told.code, told.halted) == ("E-LNK-017", True)
    assert words in told.text
    assert floor.balances() == before
    assert not floor.store.awards
    floor.check()


def test_a_later_claim_cannot_change_what_is_locked() -> None:
    floor = Floor()
    floor.bet("T1", 1, 1, 2)
    first = locked(floor.claim("T1", 1, (1, ROYAL)))
    before = floor.balances()
    assert locked(floor.claim("T1", 1, (1, ROYAL))) == first  # said again, not locked again
    assert "cannot change" in refused(floor.claim("T1", 1, (1, ROYAL), (2, STRAIGHT))).text
    assert floor.balances() == before
    floor.check()


# --- several at once ------------------------------------------------------------------------------


def two_tables(ties: Ties, tie_ms: int = 10, **changes: object) -> Floor:
    tie_ms = 0 if ties == "strict_order" else tie_ms
    floor = Floor(pool(terms(ties=ties, tie_ms=tie_ms, **changes)))
    floor.bet("T1", 1, 1)
    floor.bet("T2", 1, 1)
    return floor


def cents_of(floor: Floor) -> dict[str, tuple[int, str, int]]:
    return {a.table: (a.cents, a.state, a.order) for a in floor.store.awards.values()}


def test_strict_order_gives_the_second_what_it_was_reset_to() -> None:
    floor = two_tables("strict_order")
    first = locked(floor.claim("T2", 1, (1, ROYAL)))
    second = locked(floor.claim("T1", 1, (1, ROYAL)))
    assert (first.jackpot_cents, first.position) == (100_000, 1)
    assert (second.jackpot_cents, second.position) == (50_000, 2)
    assert cents_of(floor) == {"T2": (100_000, "locked", 1), "T1": (50_000, "locked", 2)}
    assert floor.ledger.meters()[0].generation == 3
    floor.check()


def test_same_cycle_full_pays_each_in_full_and_resets_once() -> None:
    floor = two_tables("same_cycle_full")
    assert floor.claim("T2", 1, (1, ROYAL)) == [("T2", Ack(2))]
    assert floor.ledger.due_ms() == floor.now_ms + 10
    assert floor.tick(9) == []
    assert floor.claim("T1", 1, (1, ROYAL)) == [("T1", Ack(2))]
    assert cents_of(floor) == {"T2": (0, "claimed", 1), "T1": (0, "claimed", 2)}
    replies = floor.tick(1)
    assert [(table, m.jackpot_cents, m.position, m.policy) for table, m in replies] == [  # type: ignore[union-attr]
        ("T2", 100_000, 1, "same_cycle_full"),
        ("T1", 100_000, 2, "same_cycle_full"),
    ]
    assert cents_of(floor) == {"T2": (100_000, "locked", 1), "T1": (100_000, "locked", 2)}
    assert [(e.award, e.units) for e in floor.store.entries if e.why == "top-up"] == [
        ("pool/1/2", 100_000 * CENT)
    ]
    assert floor.ledger.meters()[0].generation == 2
    assert floor.shown() == 50_000
    assert floor.ledger.due_ms() is None
    floor.check()


def test_share_divides_the_jackpot_and_leaves_the_odd_cent() -> None:
    floor = two_tables("share", base_cents=100_001)
    floor.claim("T1", 1, (1, ROYAL))
    floor.claim("T2", 1, (1, ROYAL))
    floor.tick(10)
    assert cents_of(floor) == {"T1": (50_000, "locked", 1), "T2": (50_000, "locked", 2)}
    assert floor.balances()["display"] == (50_000 + 1) * CENT + 2 * 370_000
    assert not [e for e in floor.store.entries if e.why == "top-up"]
    floor.check()


@pytest.mark.parametrize(
    ("ties", "royal", "straight", "shown", "top_up"),
    [
        ("strict_order", 100_000, 5_000, 45_000, 0),
        ("same_cycle_full", 100_000, 10_000, 50_000, 10_000),
        ("share", 90_000, 10_000, 50_000, 0),
    ],
)
def test_a_royal_and_a_straight_flush_within_ten_milliseconds(
    ties: Ties, royal: int, straight: int, shown: int, top_up: int
) -> None:
    floor = two_tables(ties)
    floor.claim("T1", 1, (1, ROYAL))
    floor.now_ms += 9
    floor.claim("T2", 1, (1, STRAIGHT))
    floor.tick(1)
    assert cents_of(floor) == {"T1": (royal, "locked", 1), "T2": (straight, "locked", 2)}
    assert floor.shown() == shown
    assert sum(e.units for e in floor.store.entries if e.why == "top-up") == top_up * CENT
    assert [a.policy for a in floor.store.awards.values()] == [ties, ties]
    # What each table was told makes its own settlement come out the same.
    for table, cents in (("T1", royal), ("T2", straight)):
        again = locked(floor.ledger.hello(table, floor.tables[table].hello(), 0).replies)
        percent = 100 if table == "T1" else 10
        assert again.jackpot_cents * percent // 100 == cents
    floor.check()


def test_only_a_claim_that_resets_waits() -> None:
    floor = two_tables("share")
    assert locked(floor.claim("T2", 1, (1, STRAIGHT))).awards[0].cents == 10_000
    floor.claim("T1", 1, (1, ROYAL))
    floor.tick(10)
    assert cents_of(floor)["T1"] == (90_000, "locked", 2)


def test_a_claim_that_waits_survives_a_restart_and_may_still_change() -> None:
    floor = two_tables("share")
    floor.bet("T1", 1, 2)
    floor.claim("T1", 1, (2, STRAIGHT), (1, ROYAL))
    floor.start()
    floor.claim("T2", 1, (1, ROYAL))
    floor.claim("T1", 1, (1, ROYAL))  # seat 2 was a misread card
    assert [(a.award, a.state) for a in floor.store.awards.values()] == [
        ("pool/1/1", "withdrawn"),
        ("pool/1/2", "claimed"),
        ("pool/1/3", "claimed"),
    ]
    floor.start()
    due = floor.ledger.due_ms()
    assert due == floor.now_ms + 10
    floor.tick(10)
    assert {a.award: a.cents for a in floor.store.awards.values()} == {
        "pool/1/1": 0, "pool/1/2": 50_000, "pool/1/3": 50_000,
    }  # fmt: skip
    floor.check()


@pytest.mark.parametrize("again", [False, True])
def test_a_replaced_claim_has_its_place_from_the_later_one(again: bool) -> None:
    """T1 claimed first, then something else: T2's tenth is taken before T1's."""
    floor = two_tables("share")
    floor.bet("T3", 1, 1)
    floor.claim("T1", 1, (1, ROYAL))
    floor.claim("T2", 1, (1, STRAIGHT))
    floor.claim("T3", 1, (1, ROYAL))
    floor.claim("T1", 1, (1, STRAIGHT))
    if again:
        floor.start()
    floor.tick(10)
    assert [(a.table, a.cents) for a in floor.store.awards.values()] == [
        ("T1", 0), ("T2", 10_000), ("T3", 81_001), ("T1", 9_000),
    ]  # fmt: skip
    floor.check()


def test_a_clock_that_goes_back_does_not_make_a_claim_wait() -> None:
    floor = two_tables("share")
    floor.claim("T1", 1, (1, ROYAL))
    floor.now_ms -= 900_000
    floor.bet("T3", 1, 1)
    assert floor.ledger.due_ms() == 0
    floor.tick()
    assert cents_of(floor)["T1"] == (100_001, "locked", 1)
    floor.check()


def test_contributions_while_claims_wait_are_in_the_amount() -> None:
    floor = two_tables("same_cycle_full", rate_ppm=10_000)
    floor.claim("T1", 1, (1, ROYAL))
    floor.bet("T3", 1, 1, 2, 3)
    floor.tick(10)
    assert cents_of(floor)["T1"] == (100_005, "locked", 1)
    floor.check()
