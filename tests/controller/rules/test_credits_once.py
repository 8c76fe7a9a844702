"""A progressive credit is contributed or handed back, and never both or twice.

Random play at a table with credit acceptors; the books kept here know nothing of the engine but
its effects: what was taken in, what was returned, what was posted to the link.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from controller.demo.scripted_dealer import CHIPS, SUPERVISOR, ScriptedDealer
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.state import Phase
from tests.clauses.tables import base, table

SEATS = (2, 5)
CREDIT = 100
BASE_SPOTS = ("1", "2", "$")


@dataclass
class Cashier:
    """What each seat has in the box: not locked yet, and locked in the round."""

    croupier: ScriptedDealer
    boxed: dict[int, int] = field(default_factory=dict)
    spent: dict[int, int] = field(default_factory=dict)
    log: list[object] = field(default_factory=list)

    def heard(self, fact: f.Fact, effects: tuple[fx.Effect, ...]) -> None:
        self.log.append((fact.what, self.croupier.state.phase))
        if any(isinstance(e, fx.Refused) for e in effects):
            return
        if isinstance(fact.what, f.CreditsRead):
            self.boxed[fact.what.seat] = fact.what.credits * CREDIT
        for effect in effects:
            match effect:
                case fx.ReturnWager(seat, "progressive", cents):
                    purse = self.boxed if self.boxed.get(seat) else self.spent
                    assert purse.get(seat, 0) >= cents, (seat, cents, self.log[-8:])
                    purse[seat] -= cents
                case fx.PostContributions(_, stakes):
                    assert dict(stakes) == {n: c for n, c in self.boxed.items() if c}
                    self.spent, self.boxed = dict(stakes), {}
                case fx.PublishRound():
                    self.spent = {}
                case _:
                    pass
        locked = self.croupier.state.phase not in (Phase.IDLE, Phase.BETTING)
        assert not (locked and any(self.boxed.values())), (self.boxed, self.log[-8:])


def cashier(seed: int = 1) -> Cashier:
    found = Cashier(table("MEGA", {2: "TcTd2h", 5: "3c5d8h"}, "JsQh"))
    found.croupier.told = found.heard
    random.Random(seed).shuffle(found.croupier.deck)
    return found


def bets(found: Cashier, credits: int) -> None:
    croupier = found.croupier
    croupier.prepare()
    croupier.do(f.BetsOpened())
    for number in SEATS:
        for spot, cents in base(1000, progressive=credits * CREDIT).items():
            croupier.place(number, spot, cents)


def lift_all(found: Cashier) -> None:
    for number in SEATS:
        for spot in BASE_SPOTS:
            found.croupier.take(number, spot)


def test_chips_lifted_between_rounds_bring_no_credit_back() -> None:
    found = cashier()
    bets(found, 3)
    found.croupier.do(f.BetsClosed())
    found.croupier.let_it_ride()
    for number in SEATS:
        found.croupier.do(f.WagerRead(number, "$", 1000), CHIPS)
    lift_all(found)
    assert found.croupier.state.phase is Phase.IDLE


@pytest.mark.parametrize("left", [f.SeatLeftOut(2), f.WagerRefused(2, "console")])
def test_a_seat_that_is_left_out_gets_its_credits_once(left: f.What) -> None:
    found = cashier()
    bets(found, 2)
    found.croupier.do(left, SUPERVISOR)
    assert found.boxed == {2: 0, 5: 200}
    found.croupier.do(f.BetsClosed())
    assert found.spent == {5: 200}


def test_a_void_round_gives_credits_back_once_and_the_chips_are_lifted_after_it() -> None:
    found = cashier()
    bets(found, 1)
    found.croupier.do(f.BetsClosed())
    found.croupier.deal_one()
    found.croupier.do(f.CardExposed(2))
    assert found.croupier.state.phase is Phase.VOIDING
    assert found.spent == {2: 0, 5: 0}
    lift_all(found)
    found.croupier.do(f.VoidCleared())
    assert not any(found.boxed.values())


def test_acceptors_take_credits_again_when_the_link_comes_back_while_bets_are_open() -> None:
    found = cashier()
    bets(found, 1)
    effects = found.croupier.do(f.LinkLost(), f.Measured("link"))
    assert {e.seat for e in effects if isinstance(e, fx.ArmAcceptor) and e.armed} == set()
    effects = found.croupier.do(f.LinkRestored(), f.Measured("link"))
    assert {e.seat for e in effects if isinstance(e, fx.ArmAcceptor) and e.armed} == {2, 5}
    found.croupier.do(f.CreditsRead(2, 1), f.Measured("acceptor"))
    found.croupier.do(f.BetsClosed())
    assert found.spent == {2: 100}


Step = Callable[[random.Random, ScriptedDealer], tuple[f.What, f.Source]]
MEASURED = f.Measured("sensor")
DEALER = f.Declared("D1", f.Role.DEALER)


def _wager(rng: random.Random, _: ScriptedDealer) -> tuple[f.What, f.Source]:
    return f.WagerRead(rng.choice(SEATS), rng.choice(BASE_SPOTS), rng.choice((0, 1000))), CHIPS


def _credit(rng: random.Random, croupier: ScriptedDealer) -> tuple[f.What, f.Source]:
    seat = rng.choice(SEATS)
    return f.CreditsRead(seat, croupier.state.credits.get(seat, 0) + 1), MEASURED


STEPS: tuple[Step, ...] = (
    *(_wager,) * 6,
    *(_credit,) * 4,
    lambda rng, _: (f.SeatLeftOut(rng.choice(SEATS)), DEALER),
    lambda rng, _: (f.WagerRefused(rng.choice(SEATS), "x"), SUPERVISOR),
    lambda rng, _: (f.SeatExcluded(rng.choice(SEATS), "x"), SUPERVISOR),
    lambda rng, _: (f.SeatReadmitted(rng.choice(SEATS)), SUPERVISOR),
    lambda _, __: (f.LinkLost(), MEASURED),
    lambda _, __: (f.LinkRestored(), MEASURED),
    lambda _, __: (f.ProgressiveClosed("safe mode"), MEASURED),
    lambda _, __: (f.ProgressiveOpened(), MEASURED),
    lambda _, __: (f.BetsOpened(), DEALER),
    *(lambda _, __: (f.BetsClosed(), DEALER),) * 2,
)


@pytest.mark.parametrize("seed", range(40))
def test_random_play_never_hands_a_spent_credit_back(seed: int) -> None:
    rng, found = random.Random(seed), cashier(seed)
    croupier = found.croupier
    deck = list(croupier.deck)
    for _ in range(120):
        if croupier.state.phase is Phase.IDLE and not croupier.state.deck.shuffled:
            croupier.prepare()
            croupier.deck = list(deck)
        if croupier.is_in(Phase.LOCKED) and rng.random() < 0.3:
            if rng.random() < 0.7:
                croupier.let_it_ride()
            else:
                croupier.deal_one()
                croupier.do(f.CardExposed(2))
        elif croupier.is_in(Phase.VOIDING) and rng.random() < 0.3:
            croupier.do(f.VoidCleared())
        else:
            croupier.try_(*rng.choice(STEPS)(rng, croupier))
