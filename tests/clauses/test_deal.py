"""How cards reach the seats: the deal clauses that the MBS books and NSW share."""

from __future__ import annotations

import pytest

from controller.rules.cards import cards
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from tests.clauses.tables import base, draws, only, refused, row, table


@pytest.mark.clause("MBS3-3.6", "MEGA-3.6")
@pytest.mark.parametrize("game", ["MBS3", "MEGA"])
def test_three_cards_go_clockwise_from_the_dealers_left(game: str) -> None:
    """Seats 1, 3, 6: one card each, three times; then the community cards."""
    dealer = draws(game, "Tc 3c Ac Td 5d Ad 2h 8h 7s Js Qh")
    dealer.round({1: base(1000), 3: base(1000), 6: base(1000)})
    assert dealer.state.seats[1].opened == cards("Tc Td 2h")
    assert dealer.state.seats[3].opened == cards("3c 5d 8h")
    assert dealer.state.seats[6].opened == cards("Ac Ad 7s")
    assert dealer.state.turned == cards("Js Qh")
    assert [row(dealer, n)["net"] for n in (1, 3, 6)] == [3000, -3000, 3000]


@pytest.mark.clause("MBS3-3.11", "MEGA-3.11")
@pytest.mark.parametrize("game", ["MBS3", "MEGA"])
def test_first_community_card_waits_for_every_decision(game: str) -> None:
    dealer = table(game, {2: "TcTd2h", 5: "3c5d8h"}, "JsQh")
    dealer.prepare()
    dealer.bets({2: base(1000), 5: base(1000)})
    dealer.deal()
    dealer.do(f.Decided(2, "1", "ride"))
    refusal = refused(dealer.try_(f.CommunityTurned(1)))
    assert refusal == fx.Refused("seat 5 has not decided", f"{game}-3.11")
    dealer.do(f.Decided(5, "1", "ride"))
    shown = only(dealer.do(f.CommunityTurned(1)), fx.ShowCommunity)
    assert shown.card == cards("Js")[0]
