"""A table whose every round is void before payment leaves no trace in any account."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from link.ledger.orders import Approve, Verify
from link.ledger.rounds import HELD
from tests.link.ledger.support import ANNA, BEN, Floor, pool, terms

HANDS = ("royal flush", "straight flush")

rounds = st.lists(
    st.tuples(
        st.lists(st.sampled_from(HANDS), max_size=3),  # claims, by seat from 1
        st.integers(0, 3),  # orders given about each of them
        st.integers(0, 2),  # wagers of other tables meanwhile
        st.booleans(),  # reversed before it is withdrawn
    ),
    min_size=1,
    max_size=3,
)


@given(
    plays=rounds,
    rule=st.sampled_from(("sequential", "snapshot")),
    ties=st.sampled_from(("strict_order", "same_cycle_full", "share")),
    start=st.sampled_from(((100_000, 50_000), (0, 0), (0, 70), (500, 0))),
    order=st.randoms(use_true_random=False),
)
@settings(max_examples=120)
def test_void_rounds_leave_no_trace(plays, rule, ties, start, order) -> None:  # type: ignore[no-untyped-def]
    tie_ms = 0 if ties == "strict_order" else 10
    level = terms(
        base_cents=start[0], reset_cents=start[1], rate_ppm=712_345, hidden_ppm=900, envy_ppm=77,
        shares={"royal flush": 100, "straight flush": 60}, meter_rule=rule, ties=ties,
        tie_ms=tie_ms,
    )  # fmt: skip
    floor, quiet = Floor(pool(level)), Floor(pool(level))
    met = 0

    def others(many: int) -> None:
        nonlocal met
        for _ in range(many):
            met += 1
            floor.bet("T2", met, 1, 2)
            quiet.bet("T2", met, 1, 2)

    for number, (hands, steps, meanwhile, _) in enumerate(plays, 1):
        floor.bet("T1", number, 1, 2, 3)
        if hands:
            claims = [(seat, hand) for seat, hand in enumerate(hands, 1)]
            floor.claim("T1", number, *claims)
        others(meanwhile)
        floor.tick(order.choice((0, 10)))
        for held in list(floor.ledger.state.awards.values()):
            told = ((Verify, ANNA), (Approve, ANNA), (Approve, BEN))
            if held.round == number and held.state in HELD:
                for what, by in told[:steps]:
                    floor.order(what(held.award), by)
    numbers = list(enumerate(plays, 1))
    order.shuffle(numbers)
    for number, (hands, _, meanwhile, reversed_first) in numbers:
        if reversed_first:
            floor.back("T1", number, 1, 2, 3)
        if hands:
            floor.withdraw("T1", number, *range(1, len(hands) + 1))
        if not reversed_first:
            floor.back("T1", number, 1, 2, 3)
        others(meanwhile)
        floor.tick(10)
    assert floor.balances() == quiet.balances()
    assert floor.ledger.meters()[0].pending == 0
    ours, theirs = floor.ledger.level_meters()[0], quiet.ledger.level_meters()[0]
    assert (ours.hits, ours.wins_cents, ours.wagers) == (0, 0, theirs.wagers)
    floor.check()
