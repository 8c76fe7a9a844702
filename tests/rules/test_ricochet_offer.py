"""What the prompt says about folding is true: of every round of three seats, however they act."""

from __future__ import annotations

from itertools import product

import pytest

from controller.rules.engine import facts as f
from controller.rules.engine.state import Phase
from controller.table.asks import Around
from controller.table.guide import guide
from tests.clauses.tables import row, table

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
