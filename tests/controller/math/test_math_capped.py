"""The maximum payout in the par sheet: exact, and what the settlement itself pays."""

from __future__ import annotations

from fractions import Fraction
from itertools import permutations
from typing import Any, Literal

import pytest

from controller.math.capped import capped, pays, stakes
from controller.math.main_wagers import main_wagers
from controller.math.ride import ROUNDS, optimal
from controller.rules.books import BOOKS
from controller.rules.cards import DECK, NAMES, cards
from controller.rules.decode import decode_record
from controller.rules.hands import rank5
from controller.rules.paytables import MAIN_OF, MainHand
from controller.rules.settings import Settings, TableSettings
from controller.rules.settle import settle

TABLE = BOOKS["NSW"].main
assert TABLE is not None
Scope = Literal["per_hand", "per_wager"]


@pytest.mark.parametrize("scope", ["per_hand", "per_wager"])
def test_a_cap_that_cuts_nothing_changes_nothing(scope: Scope) -> None:
    assert TABLE is not None
    found = capped(TABLE, Settings(max_payout=10**9, max_payout_scope=scope), 500)
    figures = {
        f.key: f.value for f in main_wagers(BOOKS["NSW"], Settings(), TableSettings())[0].figures
    }
    assert found.house_edge == figures["house_edge"]
    assert found.left_up == figures["average_wager"]
    assert found.element_of_risk == figures["element_of_risk"]


def test_a_cap_that_cuts_only_royal_flushes_costs_what_they_lose() -> None:
    """5.00 a spot and 10,000.00 at most: two or three live spots win no more than two."""
    assert TABLE is not None
    ride = optimal(TABLE)
    lost = sum(
        max(0, (1 + one + two) * 1000 * 500 - 1_000_000)
        * ride.joint[one][two][MainHand.ROYAL_FLUSH]
        for one in (0, 1)
        for two in (0, 1)
    )
    plain = capped(TABLE, Settings(max_payout=10**9), 500)
    cut = capped(TABLE, Settings(max_payout=1_000_000), 500)
    assert cut.house_edge - plain.house_edge == Fraction(lost, ROUNDS * 500)


@pytest.mark.parametrize("scope", ["per_hand", "per_wager"])
@pytest.mark.parametrize("own", ["TcTd2h", "9c9d9h", "ThJhQh"])
def test_what_a_round_pays_is_what_the_settlement_pays(own: str, scope: Scope) -> None:
    assert TABLE is not None
    settings = Settings(max_payout=15_000, max_payout_scope=scope)
    held = cards(own)
    for pair in list(permutations([c for c in DECK if c not in held], 2))[::97]:
        one, two, three = held
        hand = MainHand(MAIN_OF[rank5(one, two, three, pair[0], pair[1])])
        for live, back in ((1, ("1", "2")), (2, ("1",)), (3, ())):
            seat = {
                "seat": 1,
                "wagers": {"1": 2500, "2": 2500, "$": 2500},
                "cards": [NAMES[c] for c in held],
                "decisions": dict.fromkeys(back, "withdraw"),
            }
            record: dict[str, Any] = {
                "game": "NSW",
                "settings": {"max_payout": 15_000, "max_payout_scope": scope},
                "round": {"seats": [seat], "community": [NAMES[c] for c in pair]},
            }
            net = settle(decode_record(record))["seats"][0]["net"]
            assert net == pays(TABLE, settings, 2500, live, hand)


def test_the_sheet_lists_the_limits_and_every_stake_at_which_a_win_is_first_cut() -> None:
    assert TABLE is not None
    settings = Settings(max_payout=1_000_000, min_wager=500, max_wager=3000)
    found = stakes(TABLE, settings)
    assert found[0] == 500
    assert found[-1] == 3000
    assert {501, 1001, 1667, 2501} <= set(found)
    table = main_wagers(BOOKS["NSW"], settings, TableSettings())[0].table("capped")
    assert [row[0] for row in table.rows] == found
    edges = [capped(TABLE, settings, stake).house_edge for stake in found]
    assert [row[1] for row in table.rows] == edges == sorted(edges)
    assert stakes(TABLE, Settings(max_payout=100, min_wager=300, limit_scope="per_area"))[0] == 100
