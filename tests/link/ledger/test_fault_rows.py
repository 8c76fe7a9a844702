"""Rows of the fault table that the ledger answers for: 42 to 45, 48, 50 and 51."""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations

import pytest

from link.ledger.contributions import contribute
from link.ledger.level import DISPLAY, RESERVE, WAGERS
from link.ledger.orders import Approve, Change, Order, Pay, Person, Reject, Verify
from link.ledger.rounds import read_memory
from link.ledger.state import TableJournal
from link.ledger.terms import Ties
from record.link.events import Contributed, Wager
from record.link.messages import Ack, Event, Locked
from tests.link.ledger.support import (
    ANNA,
    BEN,
    BOTH,
    Floor,
    locked,
    pool,
    refused,
    terms,
)

CENT = 1_000_000
ROYAL, STRAIGHT = "royal flush", "straight flush"


def interleavings(many: int) -> list[tuple[str, ...]]:
    """Every order in which that many tables' two events each, wager and claim, can arrive."""
    found: list[tuple[str, ...]] = []

    def grow(so_far: tuple[str, ...], left: dict[str, int]) -> None:
        if not any(left.values()):
            found.append(so_far)
        for name, count in left.items():
            if count:
                grow((*so_far, name), {**left, name: count - 1})

    grow((), {f"T{n}": 2 for n in range(1, many + 1)})
    return found


@pytest.mark.parametrize(("many", "ways"), [(2, 6), (3, 90), (4, 2_520)])
def test_row_42_hits_in_the_same_millisecond_in_every_order(many: int, ways: int) -> None:
    """Exactly one gets the jackpot before the hit; the others what it was reset to and what came
    since; the order is of record and the same after a restart."""
    arrivals = interleavings(many)
    assert len(arrivals) == ways
    for number, arrival in enumerate(arrivals):
        floor = Floor(pool(terms(rate_ppm=10_000)), tables=[f"T{n}" for n in range(1, many + 1)])
        floor.grouped = False
        seen: dict[str, int] = {}
        expected: list[int] = []
        shown = 100_000
        for name in arrival:
            seen[name] = seen.get(name, 0) + 1
            if seen[name] == 1:
                floor.bet(name, 1, 1)
                shown += 1
            else:
                lock = locked(floor.claim(name, 1, (1, ROYAL)))
                expected.append(shown)
                assert lock.awards[0].cents == shown
                assert lock.position == len(expected)
                shown = 50_000
        floor.commit()
        rows = sorted(floor.store.awards.values(), key=lambda row: row.order)
        claimed = [n for i, n in enumerate(arrival) if n in arrival[:i]]
        assert [row.table for row in rows] == claimed
        assert [row.cents for row in rows] == expected
        assert sum(cents >= 100_000 for cents in expected) == 1
        assert [row.generation for row in rows] == list(range(1, many + 1))
        assert floor.shown() == shown
        if number % (ways // 6) == 0:
            floor.start()
            floor.check()


@pytest.mark.parametrize("ties", ["same_cycle_full", "share"])
@pytest.mark.parametrize("many", [2, 3, 4])
def test_row_42_by_the_other_policies_the_order_decides_nothing_but_the_odd_cents(
    ties: Ties, many: int
) -> None:
    names = [f"T{n}" for n in range(1, many + 1)]
    for arrival in permutations(names):
        floor = Floor(pool(terms(ties=ties, tie_ms=5)), tables=names)
        for name in arrival:
            floor.bet(name, 1, 1)
        for name in arrival:
            floor.claim(name, 1, (1, ROYAL))
        replies = floor.tick(5)
        each = 100_001 if many > 2 else 100_000
        each = each if ties == "same_cycle_full" else each // many
        assert [(n, m.awards[0].cents) for n, m in replies if isinstance(m, Locked)] == [
            (name, each) for name in arrival
        ]
        (meter,) = floor.ledger.meters()
        assert (meter.generation, meter.pending) == (2, many)
        rows = sorted(floor.store.awards.values(), key=lambda row: row.order)
        assert [row.table for row in rows] == list(arrival)
        floor.check()


@pytest.mark.parametrize("as_new_events", [False, True])
def test_row_43_a_hit_claimed_a_hundred_times_is_one_award(as_new_events: bool) -> None:
    """The same event again, or the same claim as a new event after a crash of the table."""
    floor = Floor()
    lock = floor.hit("T1", 1)
    before = floor.balances()
    for turn in range(100):
        if turn % 10 == 0:
            floor.start()
        if as_new_events:
            replies = floor.claim("T1", 1, (1, ROYAL))
        else:
            replies = floor.send("T1", floor.tables["T1"].sent[1])
        assert locked(replies) == lock
    assert list(floor.store.awards) == ["pool/1/1"]
    assert len(floor.store.steps) == 2
    assert floor.balances() == before
    floor.check()


LIFE: tuple[tuple[str, Callable[[Floor], object]], ...] = (
    ("bet", lambda f: f.bet("T1", 1, 1)),
    ("claimed", lambda f: f.claim("T1", 1, (1, ROYAL))),
    ("locked", lambda f: f.tick(10)),
    ("verified", lambda f: f.order(Verify("pool/1/1"), ANNA)),
    ("first approval", lambda f: f.order(Approve("pool/1/1"), ANNA)),
    ("approved", lambda f: f.order(Approve("pool/1/1"), BEN)),
    ("paid", lambda f: f.order(Pay("pool/1/1"), BEN)),
)


def live(crash_at: int, *, lost: bool) -> Floor:
    """The life of a hit; the server dies before or after the commit of one step. What was not
    committed was not answered and comes again."""
    floor = Floor(pool(terms(ties="share", tie_ms=10)))
    for number, (_, step) in enumerate(LIFE):
        floor.bet("T2", number + 1, 1)
        if number == crash_at and lost:
            floor.grouped = False
            table = floor.tables["T1"]
            before = (len(table.sent), table.seq, table.head, floor.now_ms)
            step(floor)  # in memory only: the process ends
            del table.sent[before[0] :]
            table.seq, table.head, floor.now_ms = before[1:]
            floor.grouped = True
            floor.start()
            step(floor)
        else:
            step(floor)
            if number == crash_at:
                floor.start()
                for event in floor.tables["T1"].sent:
                    assert floor.send("T1", event)[0][1] == Ack(len(floor.tables["T1"].sent))
    return floor


@pytest.mark.parametrize("lost", [True, False])
@pytest.mark.parametrize("crash_at", range(len(LIFE)))
def test_row_44_a_crash_at_each_state_of_a_hit(crash_at: int, lost: bool) -> None:
    whole = live(-1, lost=False)
    floor = live(crash_at, lost=lost)
    assert floor.balances() == whole.balances()
    assert floor.store.awards == whole.store.awards
    assert [s.state for s in floor.store.steps].count("paid") == 1
    assert floor.balances()["paid"] == 100_001 * CENT  # with T2's wagers while the claim waited
    assert floor.balances()["wagers"] == -8 * 370_000
    floor.check()


def test_row_45_a_refused_hit_is_restored_with_what_came_meanwhile() -> None:
    """At each state before payment, with 30 wagers in the meantime; who said no is of record."""
    people: list[tuple[type[Verify | Approve], Person]] = [
        (Verify, ANNA), (Approve, ANNA), (Approve, BEN),
    ]  # fmt: skip
    for steps in range(4):
        floor = Floor(pool(terms(hidden_ppm=700)))
        floor.hit("T1", 1)
        for order, by in people[:steps]:
            floor.order(order("pool/1/1"), by)
        for number in range(1, 11):
            floor.bet("T2", number, 1, 2, 3)
        floor.order(Reject("pool/1/1", "hand not confirmed by surveillance"), BOTH)
        assert floor.balances() == {
            "display": 100_000 * CENT + 31 * 370_000,
            "reserve": 31 * 70_000,
            "house": -100_000 * CENT,
            "wagers": -31 * 440_000,
        }
        last = floor.store.steps[-1]
        assert (last.state, last.by, last.role) == ("rejected", "anna", "supervisor")
        assert last.note == "hand not confirmed by surveillance; with ben (cage)"
        floor.check()


def test_row_48_a_cloned_card_counts_nothing() -> None:
    """Two tables with one journal: the server sees two hashes for one number and stops both."""
    floor = Floor()
    table = floor.tables["T1"]
    floor.bet("T1", 1, 1)
    before = floor.balances()
    honest = table.event(Contributed(2, (Wager(1, 100),)))
    clone = Event(2, honest.seq, "c" * 64, 0, Contributed(2, (Wager(2, 100), Wager(3, 100))))
    assert floor.send("T1", clone) == [("T1", Ack(2))]  # nobody can tell yet
    told = refused(floor.send("T1", honest))
    assert (told.code, told.halted) == ("E-LNK-030", True)
    assert "c" * 64 in told.text
    assert honest.hash in told.text
    for event in (honest, clone):
        assert refused(floor.send("T1", event)).code == "E-LNK-015"
    (alarm,) = floor.store.alarms
    assert alarm.code == "E-LNK-030"
    after = floor.balances()
    assert after["wagers"] == before["wagers"] - 2 * 370_000  # one of the two, never both
    floor.start()
    assert refused(floor.bet("T1", 3, 1)).code == "E-LNK-015"
    floor.check()


def test_row_50_a_million_cents_at_0_37_per_cent() -> None:
    """One cent at a time, from several tables, past a ceiling: nothing is rounded away."""
    many, tables = 1_000_000, 50
    level = terms(
        base_cents=0, reset_cents=0, rate_ppm=3_700, hidden_ppm=1_300, reserve_max_cents=1_280,
        ceiling_cents=3_650, overflow="revenue",
    )  # fmt: skip
    floor = Floor(pool(level, denominations_cents=(1,), seats=10, tables=()), tables=())
    state = floor.ledger.state
    found = state.pool("pool")
    journals = [TableJournal(f"{n:032x}", f"T{n}", "active") for n in range(tables)]
    state.journals = {j.journal: j for j in journals}
    state.pool_of = {j.table: found for j in journals}
    wagers = tuple(Wager(seat, 1, 1) for seat in range(1, 11))
    for number in range(many // 10 // tables):
        for journal in journals:
            contribute(state, journal, Contributed(number + 1, wagers))
    state.settle()
    held = found.first.balances
    # 3,700 cents visible: 3,650 fit. 1,300 cents hidden: 1,280 fit. The rest is revenue.
    assert held[WAGERS] == -many * 5_000
    assert held[DISPLAY] == 3_650 * CENT
    assert held[RESERVE] == 1_280 * CENT
    assert held["revenue"] == 50 * CENT + 20 * CENT
    assert found.first.state.overflow_units == 50 * CENT
    assert sum(held.values()) == 0
    text = journals[0].row().rounds
    assert read_memory(text).rounds == list(journals[0].rounds.values())


def test_row_51_a_change_on_a_live_jackpot_waits_for_the_reset() -> None:
    floor = Floor()
    order: Order = Change("pool", terms(rate_ppm=20_000))
    floor.order(order, BOTH)
    floor.bet("T1", 1, 1)
    assert floor.balances()["wagers"] == -370_000
    assert locked(floor.claim("T1", 1, (1, STRAIGHT))).awards[0].cents == 10_000
    generations = {(e.generation, e.units) for e in floor.store.entries if e.debit == WAGERS}
    assert generations == {(1, 370_000)}
    floor.hit("T2", 1)
    floor.bet("T1", 2, 1)
    assert floor.store.entries[-1].units == 2 * CENT
    assert floor.store.entries[-1].generation == 2
    floor.check()
