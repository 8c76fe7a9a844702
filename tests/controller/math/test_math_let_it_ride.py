"""Let It Ride's main wagers: the published anchors, and values dealt by hand."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from controller.math.exact import decimal_text
from controller.math.main_wagers import main_wagers
from controller.math.ride import Ride, optimal
from controller.math.sheet import Wager
from controller.math.strategy import Held, held, strategy_tables
from controller.rules.books import BOOKS
from controller.rules.cards import DECK, Card, cards
from controller.rules.hands import rank5
from controller.rules.paytables import MAIN_OF, MainHand, Odds, PayTable, main_table
from controller.rules.settings import Settings, TableSettings

TABLE = main_table("test")


@pytest.fixture(scope="module")
def ride() -> Ride:
    return optimal(TABLE)


@pytest.fixture(scope="module")
def wagers() -> dict[str, Wager]:
    return {w.key: w for w in main_wagers(BOOKS["PP6"], Settings(), TableSettings())}


def win(five: tuple[Card, ...]) -> int:
    """What one unit wins on five cards, by the single ranking."""
    pay = TABLE.pay(MAIN_OF[rank5(*five)])
    return pay.to_one if isinstance(pay, Odds) else -1


def test_the_house_edge_is_the_published_one(wagers: dict[str, Wager]) -> None:
    edge = wagers["main"]["house_edge"]
    assert edge == Fraction(37_963, 1_082_900)
    assert isinstance(edge, Fraction)
    assert decimal_text(edge * 100, 2) == "3.51"


def test_the_element_of_risk_is_the_published_one(wagers: dict[str, Wager]) -> None:
    main = wagers["main"]
    assert main["average_wager"] == Fraction(331_288, 270_725)
    assert main["element_of_risk"] == Fraction(37_963, 1_325_152)
    assert decimal_text(Fraction(37_963, 1_325_152) * 100, 2) == "2.86"
    assert main["hit_frequency"] == Fraction(10_343, 43_316)
    assert main["variance"] == Fraction(31_199_776_412_731, 1_172_672_410_000)


def test_the_three_wagers_add_up_to_the_whole(wagers: dict[str, Wager]) -> None:
    parts = [wagers[key]["house_edge"] for key in ("$", "2", "1")]
    assert parts == [
        Fraction(242_173, 649_740),
        Fraction(-742_459, 3_248_700),
        Fraction(-354_517, 3_248_700),
    ]
    assert sum(p for p in parts if isinstance(p, Fraction)) == wagers["main"]["house_edge"]


def test_the_edge_is_the_dollar_wager_less_what_both_spots_are_worth(ride: Ride) -> None:
    """By another way: a spot is worth the mean of its value where that is above nothing."""
    dollar = Fraction(int(ride.values_of_four.sum()), 48 * len(ride.fours))
    spot_1 = Fraction(int(np.maximum(ride.values_of_three, 0).sum()), 49 * 48 * len(ride.threes))
    spot_2 = Fraction(int(np.maximum(ride.values_of_four, 0).sum()), 48 * len(ride.fours))
    assert -(dollar + spot_1 + spot_2) == Fraction(37_963, 1_082_900)


@pytest.mark.parametrize(
    "own", ["Ah Kh Qh", "2c 7d Js", "Td Ts 3h", "9c 9h 2d", "5s 6s 7s", "Ad 2d 3d", "2c 3c 4c"]
)
def test_the_value_of_three_cards_dealt_by_hand(ride: Ride, own: str) -> None:
    three = tuple(sorted(cards(own)))
    rest = [c for c in DECK if c not in three]
    by_hand = 2 * sum(win((*three, *pair)) for pair in combinations(rest, 2))
    row = int(np.flatnonzero((ride.threes == np.array(three, np.uint8)).all(axis=1))[0])
    assert ride.values_of_three[row] == by_hand


@pytest.mark.parametrize("own", ["Ah Kh Qh Jh", "2c 3d 4s 5h", "Tc Jd Qh As", "9c 9h 2d 7s"])
def test_the_value_of_four_cards_dealt_by_hand(ride: Ride, own: str) -> None:
    four = tuple(sorted(cards(own)))
    by_hand = sum(win((*four, c)) for c in DECK if c not in four)
    row = int(np.flatnonzero((ride.fours == np.array(four, np.uint8)).all(axis=1))[0])
    assert ride.values_of_four[row] == by_hand


def test_hands_of_no_value_either_way_are_taken_back(ride: Ride) -> None:
    even = ride.fours[ride.values_of_four == 0]
    assert len(even) == 9 * 252  # open straights without a ten; inside straights of four tens up
    assert not (ride.values_of_three == 0).any()


def test_the_published_strategy_comes_out(ride: Ride) -> None:
    spot_1, spot_2 = ({row[0]: row[2] for row in t.rows} for t in strategy_tables(ride))
    assert {kind for kind, play in spot_1.items() if play == "ride"} == {
        "three of a kind",
        "pair of tens or better",
        "three to a royal flush",
        "suited in a row, 3-4-5 or higher",
        "suited, fits 2 straights, a ten or better",
        "suited, fits 1 straight, 2 tens or better",
    }
    assert {kind for kind, play in spot_2.items() if play == "ride"} == {
        "pays already",
        "four to a flush or straight flush",
        "open straight, a ten or better",
    }
    assert {kind for kind, play in spot_2.items() if play == "even: back"} == {
        "open straight, no ten",
        "inside straight, 4 tens or better",
    }
    assert "some ride" not in {*spot_1.values(), *spot_2.values()}


def test_the_kinds_of_a_strategy_hold_every_hand_once(ride: Ride) -> None:
    totals = [
        sum(row[1] for row in t.rows if isinstance(row[1], int)) for t in strategy_tables(ride)
    ]
    assert totals == [22_100, 270_725]


def test_a_kind_that_both_rides_and_comes_back_would_show() -> None:
    """Under a table that pays next to nothing the words no longer divide the hands."""
    poor = PayTable("poor", "test", {MainHand.ROYAL_FLUSH: Odds(5_000)})
    plays = {row[0]: row[2] for row in strategy_tables(optimal(poor))[1].rows}
    assert plays["four to a flush or straight flush"] == "some ride"


def test_a_value_that_hangs_on_more_than_ranks_stops(ride: Ride) -> None:
    values = ride.values_of_three.copy()
    values[1] += 1
    with pytest.raises(ArithmeticError):
        list(held(ride.threes, values))


@pytest.mark.parametrize(
    ("ranks", "straights"),
    [((12, 1, 0), 1), ((2, 1, 0), 2), ((3, 2, 1), 3), ((12, 11, 10), 1), ((8, 8, 7), 0)],
)
def test_straights_that_a_holding_fits(ranks: tuple[int, ...], straights: int) -> None:
    assert Held(ranks, suited=True, hands=1, value=0).straights == straights


def test_circles_played(wagers: dict[str, Wager]) -> None:
    rows = {row[0]: row[1:] for row in wagers["main"].table("circles").rows}
    assert rows["$"][0] == Fraction(242_173, 649_740)
    assert rows["2 $"][0] == Fraction(242_173, 649_740) - Fraction(742_459, 3_248_700)
    assert rows["1 $"][0] == Fraction(242_173, 649_740) - Fraction(354_517, 3_248_700)
    assert rows["1 2 $"][0] == Fraction(37_963, 1_082_900)
    assert rows["$"][3] == wagers["$"]["variance"]
    assert rows["1 2 $"][3] == wagers["main"]["variance"]


def test_books_that_want_all_three_wagers_have_no_circles() -> None:
    main = main_wagers(BOOKS["NSW"], Settings(), TableSettings())[0]
    assert "circles" not in {t.key for t in main.tables}


@pytest.mark.parametrize("scope", ["per_hand", "per_wager"])
def test_the_stake_from_which_the_maximum_payout_cuts(scope: str) -> None:
    settings = Settings(max_payout=1_000_000, max_payout_scope=scope)  # type: ignore[arg-type]
    table = main_wagers(BOOKS["NSW"], settings, TableSettings())[0].table("max_payout")
    live = (1, 2, 3) if scope == "per_hand" else (1,)
    odds = {"royal flush": 1000, "straight flush": 200, "pair, tens or better": 1}
    rows = {row[0]: row[1:] for row in table.rows}
    for hand, to_one in odds.items():
        for n, stake in zip(live, rows[hand], strict=True):
            assert isinstance(stake, int)
            assert stake * to_one * n > 1_000_000 >= (stake - 1) * to_one * n


@pytest.mark.parametrize(("scope", "bites"), [("per_spot", 1_001), ("per_area", None)])
def test_a_cut_above_the_posted_maximum_never_comes(scope: str, bites: int | None) -> None:
    """A royal flush on one spot of 10.01 is cut; three spots of 20.00 in all hold 6.66 each."""
    settings = Settings(max_payout=1_000_000, max_wager=2_000, limit_scope=scope)  # type: ignore[arg-type]
    table = main_wagers(BOOKS["NSW"], settings, TableSettings())[0].table("max_payout")
    rows = {row[0]: row[1:] for row in table.rows}
    assert rows["royal flush"][0] == bites
    assert rows["flush"] == (None, None, None)
