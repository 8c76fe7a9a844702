"""A void round is void everywhere: on the dealer's display, in the shell, the day and the report.

Random rounds of every game, by the book and by a supervisor's ruling. What the display said is the
measure; the others see record and result alone.
"""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import Any

import pytest

from controller.demo import views
from controller.history.gamingday.rounds import round_recorded
from controller.history.gamingday.sheet import Day
from controller.rules.cards import DECK
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.opening import open_table
from controller.rules.engine.state import Phase
from controller.shell.answers import ClosedRound
from controller.shell.render.records import round_
from link.reports.table import played
from record.link.events import RoundPlayed
from tests.clauses.tables import SETTINGS, TODAY
from tests.properties.random_play import Chaos, random_wagers


class Watching(Chaos):
    """``shown``: rounds that the display called void; ``closed``: what was published of each."""

    shown: set[int]
    closed: dict[int, tuple[Any, Any]]

    def start(self) -> None:
        self.shown, self.closed = set(), {}
        self.told = self._hear

    def _hear(self, _fact: f.Fact, effects: tuple[fx.Effect, ...]) -> None:
        if self.state.phase is Phase.VOIDING:
            self.shown.add(self.state.round_no)
        for effect in effects:
            if isinstance(effect, fx.PublishRound) and effect.round_no not in self.closed:
                self.closed[effect.round_no] = (effect.record, effect.result)


def counted(number: int, record: Any, result: Any) -> Day:
    day = Day()
    body = {"round": number, "record": record, "result": result}
    assert round_recorded(day, json.dumps(body).encode())
    return day


def words(number: int, record: Any, result: Any) -> dict[str, str]:
    """Who says what about the round."""
    day = counted(number, record, result)
    ways = {"settled": day.rounds.settled, "void": day.rounds.void, "supervisor": day.rounds.held}
    row = ClosedRound(
        round=number, record=record, result=result, corrected=False, why={}, events=[]
    )
    event = RoundPlayed(number, record, result)
    told = views.ending({"record": record, "result": result})
    return {
        "journal day": next(name for name, times in ways.items() if times),
        "round": next(round_(row, 200)).rsplit(": ", 1)[1],
        "report table": played(event).status,
        "demo floor": {"ruled on": "supervisor"}.get(told, told),
    }


def money_is_back(number: int, record: Any, result: Any) -> None:
    """Nothing of a void round stays with the house, but what was declared forfeit."""
    day = counted(number, record, result)
    forfeit = sum(
        wager["placed"]
        for seat in result["seats"]
        for wager in seat["wagers"].values()
        if wager["status"] == "forfeited"
    )
    staked = sum(one.staked for one in day.wagers.values())
    assert sum(one.returned for one in day.wagers.values()) == staked - forfeit
    found = played(RoundPlayed(number, record, result))
    assert sum(found.placed.values()) - sum(found.paid.values()) == forfeit


@pytest.mark.parametrize("game", SETTINGS)
def test_every_place_says_the_same_of_every_round(game: str) -> None:
    seen = Counter[str]()
    for seed in range(14):
        croupier = Watching(
            open_table(game, SETTINGS[game], TODAY), list(DECK), rng=random.Random(seed)
        )
        croupier.start()
        croupier.mischief = 0.2
        for _ in range(3):
            croupier.wagers = random_wagers(croupier)
            if not croupier.play_round():
                break
        for number, (record, result) in croupier.closed.items():
            said = words(number, record, result)
            void = number in croupier.shown
            assert len(set(said.values())) == 1, (game, seed, number, said)
            assert (said["round"] == "void") == void, (game, seed, number, said)
            if void:
                money_is_back(number, record, result)
                seen[result["round_status"]] += 1
    assert seen.keys() - {"void"}, "no round was void by a ruling alone"
