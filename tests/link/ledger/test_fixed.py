"""Awards paid at the table: counted, and by parameter borne by the pool."""

from __future__ import annotations

import pytest

from record.link.messages import Ack
from tests.link.ledger.support import Floor, pool, refused, terms

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
