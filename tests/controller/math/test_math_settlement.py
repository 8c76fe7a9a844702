"""Par sheets against the settlement: what is paid, hand by hand, averages to what is promised."""

from __future__ import annotations

from fractions import Fraction
from math import comb
from typing import Any

import pytest

from controller.math.par import par_sheet
from controller.math.sheet import Value
from controller.rules.books import BOOKS
from controller.rules.cards import DECK, NAMES, cards
from controller.rules.decode import decode_record
from controller.rules.hands import CLASS_OF, Hand, rank5
from controller.rules.progressive_return import FIVE_CARD_COUNTS, return_line
from controller.rules.settings import Settings, TableSettings
from controller.rules.settle import settle

EXAMPLES = {
    Hand.ROYAL_FLUSH: "Ts Js Qs Ks As",
    Hand.STRAIGHT_FLUSH: "Ad 2d 3d 4d 5d",
    Hand.FOUR_OF_A_KIND: "9c 9d 9h 9s 2c",
    Hand.FULL_HOUSE: "3c 3d 3h Ks Kc",
    Hand.FLUSH: "2h 4h 8h Jh Kh",
    Hand.STRAIGHT: "6c 7d 8h 9s Tc",
    Hand.THREE_OF_A_KIND: "4c 4d 4h 9s Kc",
    Hand.TWO_PAIR: "5c 5d 6h 6s Kc",
    Hand.ONE_PAIR: "Qc Qd 2h 6s 9c",
    Hand.HIGH_CARD: "2c 5d 7h 9s Kc",
}
JACKPOT = 12_345_678


def settled(game: str, settings: dict[str, Any], wagers: dict[str, int], five: str) -> int:
    """The seat's net of one round."""
    names = five.split()
    record = {
        "game": game,
        "settings": settings,
        "round": {
            "seats": [{"seat": 1, "wagers": wagers, "cards": names[:3]}],
            "community": names[3:],
        },
    }
    net = settle(decode_record(record))["seats"][0]["net"]
    assert isinstance(net, int)
    return net


BASE = {"1": 100, "2": 100, "$": 100}


@pytest.mark.parametrize("returned", [True, False])
def test_mbs3_progressive(returned: bool) -> None:
    stated = {"jackpot": JACKPOT, "progressive_stake_returned": returned}
    total = Fraction(0)
    for hand, five in EXAMPLES.items():
        assert CLASS_OF[rank5(*cards(five))] == hand
        both = settled("MBS3", stated, {**BASE, "progressive": 100}, five)
        total += FIVE_CARD_COUNTS[hand] * (both - settled("MBS3", stated, BASE, five))
    line = return_line(
        BOOKS["MBS3"], Settings(progressive_stake_returned=returned), TableSettings(), seats=1
    )
    assert 1 + total / comb(52, 5) / 100 == line.at(JACKPOT)


@pytest.mark.parametrize("returned", [True, False])
def test_mega_progressive(returned: bool) -> None:
    """Every magic card of the deck, with and without the lucky player, for each class of hand."""
    rate = Fraction(1, 7)
    total = Fraction(0)
    for hand, five in EXAMPLES.items():
        plain = settled("MEGA", {"jackpot": JACKPOT}, BASE, five)
        for magic in DECK:
            for lucky, chance in ((1, rate), (None, 1 - rate)):
                stated = {
                    "jackpot": JACKPOT,
                    "progressive_stake_returned": returned,
                    "magic_card": NAMES[magic],
                    "lucky_seat": lucky,
                }
                both = settled("MEGA", stated, {**BASE, "progressive": 100}, five)
                total += FIVE_CARD_COUNTS[hand] * chance * (both - plain)
    line = return_line(
        BOOKS["MEGA"],
        Settings(progressive_stake_returned=returned),
        TableSettings(lucky_rate=rate),
        seats=1,
    )
    assert 1 + total / comb(52, 5) / 52 / 100 == line.at(JACKPOT)


def figure(game: str, wager: str, key: str, **settings: Any) -> Value:
    return par_sheet(game, Settings(**settings), TableSettings()).wager(wager)[key]


@pytest.mark.parametrize("game", ["MBS3", "NSW", "MEGA"])
def test_the_dollar_wager(game: str) -> None:
    """Pairs are split at tens, so that class is weighed by both of its halves."""
    weights = {hand: FIVE_CARD_COUNTS[hand] for hand in Hand}
    pairs = weights.pop(Hand.ONE_PAIR)
    halves = {"Tc Td 2h 6s 9c": pairs * 5 // 13, "9c 9d 2h 6s Kc": pairs * 8 // 13}
    hands = {EXAMPLES[hand]: count for hand, count in weights.items()} | halves
    assert sum(hands.values()) == comb(52, 5)
    total = 0
    for five, count in hands.items():
        names = five.split()
        record = {
            "game": game,
            "round": {
                "seats": [
                    {
                        "seat": 1,
                        "wagers": BASE,
                        "cards": names[:3],
                        "decisions": {"1": "withdraw", "2": "withdraw"},
                    }
                ],
                "community": names[3:],
            },
        }
        total += count * settle(decode_record(record))["seats"][0]["net"]
    assert -Fraction(total, 100 * comb(52, 5)) == figure(game, "$", "house_edge")
