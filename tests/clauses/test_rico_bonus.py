"""RICO: Rapid Fire and the HedgeBet, both decided by the deal alone."""

from __future__ import annotations

from typing import Any

import pytest

from controller.demo.scripted_dealer import CHIPS
from controller.rules.decode import decode_record
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.settle import settle
from tests.clauses.tables import only, row, table

ODDS = {"win": 3, "tie": 1}
STATUS = {800: "win", 400: "tie", 0: "lose"}


def names(packed: str) -> list[str]:
    return packed.split()


def bonus(two: str, dealer: str, spot: str, pays: dict[str, int]) -> Any:
    """The bonus wager of 2.00 of a seat that folds."""
    seat = {
        "seat": 4,
        "wagers": {"ante": 500, spot: 200},
        "cards": names(two),
        "action": "fold",
    }
    body = {"seats": [seat], "dealer": names(dealer), "ante": 500}
    settings = {f"{spot}_pay": pays, "orphan_pot": "house"}
    record = {"game": "RICO", "settings": settings, "round": body}
    return settle(decode_record(record))["seats"][0]["wagers"][spot]


def rapid_fire(two: str, dealer: str) -> str:
    """win, tie or lose, told by what is handed to the player."""
    return STATUS[bonus(two, dealer, "rapid_fire", ODDS)["to_player"]]


@pytest.mark.clause("RICO-RF0")
def test_rapid_fire_is_settled_by_the_deal_whatever_happens_to_the_hand() -> None:
    """Aces against kicked-out kings: paid right after the deal, although the seat then folds."""
    scripted_dealer = table("RICO", {4: "AcAd"}, "KcKdQh3s2c")
    scripted_dealer.prepare()
    scripted_dealer.bets({4: {"ante": 500, "rapid_fire": 200}})
    scripted_dealer.deal()
    # A Rapid Fire raised in the sight of the cards stays what it was.
    late = scripted_dealer.do(f.WagerRead(4, "rapid_fire", 5000), CHIPS)
    assert fx.RaiseAlarm("late wager", 4, "rapid_fire: $48.00", "RICO-1") in late
    effects = scripted_dealer.do(f.DealConfirmed())
    assert fx.ShowKickout(True) in effects
    assert only(effects, fx.ShowAward) == fx.ShowAward(4, "rapid_fire", 800)
    scripted_dealer.do(f.Folded(4))
    scripted_dealer.end_ricochet()
    wager = row(scripted_dealer, 4)["wagers"]["rapid_fire"]
    assert (wager["status"], wager["odds"], wager["win"]) == ("win", "3 to 1", 600)
    assert row(scripted_dealer, 4)["net"] == 500 + 600


@pytest.mark.clause("RICO-RF0b")
@pytest.mark.parametrize(
    ("two", "dealer", "outcome"),
    [
        ("Ah Kh", "2c 2d 9h 7s 4c", "lose"),
        ("Ah Kh", "Kc Qd 9h 7s 4c", "win"),
        ("8h 7h", "9c 6d 5h 3s 2c", "lose"),
    ],
)
def test_suited_or_connected_cards_are_just_high_cards(two: str, dealer: str, outcome: str) -> None:
    assert rapid_fire(two, dealer) == outcome


@pytest.mark.clause("RICO-RF1")
@pytest.mark.parametrize(
    "dealer", ["3c 3d 2h 2s 9c", "2c 2d 2h 7s 9c", "2c 3d 4h 5s 6c", "2c 5c 7c 9c Jc"]
)
def test_any_dealer_hand_above_a_pair_beats_the_best_two_cards(dealer: str) -> None:
    assert rapid_fire("Ac Ad", dealer) == "lose"


@pytest.mark.clause("RICO-RF2")
@pytest.mark.parametrize(
    ("two", "dealer", "outcome"),
    [
        ("Kc Qd", "Kh Jd 9h 5s 2c", "win"),
        ("Kc Jc", "Kh Qd 9h 5s 2c", "lose"),
        ("Kc Jc", "Ah 8d 6h 5s 2c", "lose"),
        ("8c 8d", "7h 7d Ah Ks Qc", "win"),
        ("7c 7s", "8h 8d 4h 3s 2c", "lose"),
        ("2d 2s", "Ah Kd Qh Js 9c", "win"),
        ("Ac Kc", "2h 2d 4h 5s 7c", "lose"),
    ],
)
def test_pairs_and_high_cards_are_compared_as_two_cards(
    two: str, dealer: str, outcome: str
) -> None:
    """The dealer's pair, or his two highest cards; his kickers are not used."""
    assert rapid_fire(two, dealer) == outcome


@pytest.mark.clause("RICO-RF3")
@pytest.mark.parametrize(
    ("two", "dealer"),
    [
        ("Kc Qs", "Kh Qd 9h 5s 2c"),
        ("8c 8s", "8h 8d Ah Ks Qc"),
    ],
)
def test_the_same_two_cards_are_a_tie_whatever_the_dealers_kickers(two: str, dealer: str) -> None:
    assert rapid_fire(two, dealer) == "tie"
    pushed = bonus(two, dealer, "rapid_fire", {"win": 3, "tie": 0})
    assert (pushed["status"], pushed["to_player"]) == ("push", 200)


@pytest.mark.clause("RICO-HB1")
@pytest.mark.parametrize(
    ("dealer", "to_player"),
    [
        ("3c 3d 3h 9s Kc", 200 + 1000),
        ("2c 3d 4h 5s 6c", 200 + 1600),
        ("3c 3d 9h 9s Kc", 0),
        ("2c 5c 7c 9c Jc", 0),
    ],
    ids=["three of a kind 5 to 1", "straight 8 to 1", "two pair", "flush, not listed"],
)
def test_the_hedge_bet_pays_by_the_class_of_the_dealers_five_cards(
    dealer: str, to_player: int
) -> None:
    """Against one hand the dealer is kicked out in every case: that cancels nothing."""
    pays = {"three of a kind": 5, "straight": 8}
    assert bonus("As Qs", dealer, "hedge", pays)["to_player"] == to_player
    scripted_dealer = table("RICO", {4: "AsQs"}, dealer.replace(" ", ""))
    scripted_dealer.prepare()
    scripted_dealer.bets({4: {"ante": 500, "hedge": 200}})
    scripted_dealer.deal()
    effects = scripted_dealer.do(f.DealConfirmed())
    assert fx.ShowKickout(True) in effects
    assert fx.ShowAward(4, "hedge", to_player) in effects
