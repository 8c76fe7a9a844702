"""What the prompt says about folding is true: of every round of three seats, however they act."""

from __future__ import annotations

from itertools import product

import pytest

from controller.demo.scripted_dealer import ScriptedDealer
from controller.rules.engine import facts as f
from controller.rules.engine.ricochet_play import takes_by_folding
from controller.rules.engine.state import Phase
from controller.table.asks import Around
from controller.table.guide import guide
from controller.table.prompt import Notice, Prompter, Said
from tests.clauses.tables import row, table
from tests.controller.table.console_player import ENGLISH

HANDS = {1: "Qc 8d", 3: "6h 5s", 6: "Kc 2d"}
KICKED_OUT, STAYS = "2s 2c 2h 3s 4c", "Ah Kd 9c 7s 3d"
ANTE = 500


@pytest.mark.parametrize("orphan_pot", ["last_player", "house", "carry"])
@pytest.mark.parametrize("dealer", [KICKED_OUT, STAYS], ids=["kicked out", "stays"])
def test_the_prompt_offers_the_pot_exactly_when_folding_wins_it(
    orphan_pot: str, dealer: str
) -> None:
    offered = 0
    for plays in product((True, False), repeat=3):
        croupier = table("RICO", HANDS, dealer, orphan_pot=orphan_pot, rapid_fire=False)
        choice = dict(zip(HANDS, plays, strict=True))
        told: dict[int, str] = {}

        def act(number: int, told: dict[int, str] = told, choice: dict[int, bool] = choice,
                croupier: object = croupier) -> bool:  # fmt: skip
            told[number] = guide(croupier.state, Around()).code  # type: ignore[attr-defined]
            return choice[number]

        croupier.plays = act
        croupier.round({n: {"ante": ANTE} for n in HANDS})
        assert croupier.state.phase is Phase.IDLE
        for number, code in told.items():
            if not choice[number]:
                wins = row(croupier, number)["net"] > 0
                assert code == ("act or take" if wins else "act"), (number, plays)
            offered += code == "act or take"
    assert bool(offered) == (orphan_pot == "last_player" and dealer == KICKED_OUT)
    assert f.Folded in {type(fact.what) for fact in croupier.facts}


def alone(**bonus: int) -> ScriptedDealer:
    """The dealer is kicked out, two seats have folded, seat 6 is left; no bonus wager is paid."""
    pays = {"win": 3, "tie": 0}
    croupier = table("RICO", HANDS, KICKED_OUT, rapid_fire_pay=pays)
    croupier.prepare()
    croupier.bets({n: {"ante": ANTE, **bonus} for n in HANDS})
    croupier.deal()
    croupier.do(f.DealConfirmed())
    while takes_by_folding(croupier.state) is False:
        croupier.fill_pot()
        assert croupier.state.showdown is not None
        croupier.do(f.Folded(croupier.state.showdown.to_act or 0))
    croupier.fill_pot()
    return croupier


def lines(croupier: ScriptedDealer) -> tuple[str, ...]:
    late = Said(notice=Notice("late", 4, spot="ante"))
    return Prompter(ENGLISH).lines(croupier.state, guide(croupier.state, Around()), late)


def test_the_offer_of_the_pot_is_shown_above_a_bonus_wager_that_waits() -> None:
    croupier = alone(rapid_fire=500, hedge=500)
    offer = ENGLISH["ask"]["act or take"]
    waiting = 0
    while (shown := lines(croupier))[2] != offer:
        assert shown[0] == offer
        seat, spot = shown[2].split()[1:3]
        croupier.take(int(seat), {"RF": "rapid_fire", "HB": "hedge"}[spot])
        waiting += 1
    assert waiting == 6
    assert shown[0].startswith("SEAT 4")
    assert shown[3] == "CHIPS FOLD"


@pytest.mark.parametrize(("tie", "asked"), [(0, "act"), (1, "bonus pay")])
def test_a_bonus_wager_that_pushes_is_neither_paid_nor_collected(tie: int, asked: str) -> None:
    pays = {"win": 3, "tie": tie}
    croupier = table("RICO", {1: "KdQd"}, "KsQs9h4d3c", rapid_fire_pay=pays)
    croupier.prepare()
    croupier.bets({1: {"ante": ANTE, "rapid_fire": 500}})
    croupier.deal()
    croupier.do(f.DealConfirmed())
    assert guide(croupier.state, Around()).code == asked
