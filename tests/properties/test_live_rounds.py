"""The live engine on thousands of random rounds: agrees with its record, keeps every law."""

from __future__ import annotations

import json
import random
from dataclasses import fields, is_dataclass
from typing import Any

import pytest

from controller.demo.scripted_dealer import ScriptedDealer
from controller.rules.cards import DECK, HiddenCard
from controller.rules.decode import decode_record
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.opening import open_table
from controller.rules.engine.step import step
from controller.rules.settle import settle
from tests.clauses.tables import SETTINGS, SHUFFLER, TODAY
from tests.properties.random_play import Chaos

GAMES = tuple(SETTINGS)
VARIANTS: dict[str, dict[str, Any]] = {
    "MBS3": {"meter_rule": "snapshot", "deal_pattern": "hands", "envy_self": True},
    "MEGA": {"progressive_stake_returned": False, "deal_pattern": "hands", "lucky_rate": "1/2"},
    "NSW": {**SHUFFLER["NSW"], "max_wager": 2000, "min_wager": 500, "max_payout": 30000},
    "PP6": {"irregularity_profile": "NSW"},
    "RICO": {"ricochet_order": "must_top_all", "orphan_pot": "house", "smallest_chip": 300},
}

SHARES = [0, *(pytest.param(share, marks=pytest.mark.slow) for share in (1, 2, 3))]
"""Every run plays the first; ``make rounds`` plays all of them."""


def chaos(game: str, seed: int, mischief: float) -> Chaos:
    rng = random.Random(seed)
    changes = VARIANTS[game] if seed % 2 else {}
    state = open_table(game, {**SETTINGS[game], **changes}, TODAY)
    return Chaos(state, list(DECK), rng=rng, mischief=mischief)


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("game", GAMES)
def test_a_plain_round_and_its_record_pay_the_same(game: str, share: int) -> None:
    for seed in range(share * 300, share * 300 + 300):
        croupier = chaos(game, seed, 0.0)
        assert croupier.play_round(), f"seed {seed} got stuck in {croupier.state.phase}"
        archive = croupier.state.history[-1]
        assert archive.result["round_status"] == "settled", f"seed {seed}"
        assert _settle_json(archive.record) == archive.result, f"seed {seed}"


def _settle_json(record: Any) -> Any:
    return settle(decode_record(json.loads(json.dumps(record))))


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize("game", GAMES)
def test_an_irregular_round_and_its_record_pay_the_same(game: str, share: int) -> None:
    closed = 0
    seen: set[str] = set()
    for seed in range(share * 100, share * 100 + 100):
        croupier = chaos(game, seed, 0.08)
        for _ in range(2):
            croupier.play_round()
        for archive in croupier.state.history:
            closed += 1
            assert _settle_json(archive.record) == archive.result, f"seed {seed}"
            seen.add(archive.result["round_status"])
            seen |= {w["status"] for r in archive.result["seats"] for w in r["wagers"].values()}
    assert closed >= 100
    assert seen & {"void", "supervisor"}, f"irregularities decided nothing: {seen}"


def _leaves(value: object) -> list[object]:
    if is_dataclass(value) and not isinstance(value, type):
        return [leaf for f_ in fields(value) for leaf in _leaves(getattr(value, f_.name))]
    if isinstance(value, dict):
        return [leaf for pair in value.items() for part in pair for leaf in _leaves(part)]
    if isinstance(value, tuple | list | set | frozenset):
        return [leaf for part in value for leaf in _leaves(part)]
    return [value]


@pytest.mark.parametrize("game", GAMES)
def test_refusal_leaves_the_state_untouched_and_no_effect_holds_a_hidden_card(game: str) -> None:
    for seed in range(60):
        croupier = chaos(game, seed, 0.3)
        before = [croupier.state]

        def told(
            fact: f.Fact,
            effects: tuple[fx.Effect, ...],
            before: list[Any] = before,
            croupier: Chaos = croupier,
            seed: int = seed,
        ) -> None:
            if any(isinstance(e, fx.Refused) for e in effects):
                assert croupier.state is before[0], f"seed {seed}: {fact} was refused and changed"
                assert len(effects) == 1
            for leaf in _leaves(effects):
                assert not isinstance(leaf, HiddenCard), f"seed {seed}: {fact}"
            before[0] = croupier.state

        croupier.told = told
        for _ in range(3):
            croupier.play_round(most_steps=200)


@pytest.mark.parametrize("game", GAMES)
def test_replay_gives_the_same_states_and_effects(game: str) -> None:
    for seed in range(40):
        croupier = chaos(game, seed, 0.1)
        told: list[tuple[fx.Effect, ...]] = []
        croupier.told = lambda _fact, effects, told=told: told.append(effects)
        start = croupier.state
        croupier.play_round()
        state, again = start, []
        for fact in croupier.facts:
            state, effects = step(state, fact)
            again.append(effects)
        assert state == croupier.state
        assert again == told


def _public_deck(rng: random.Random, fixed: dict[int, Any]) -> list[Any]:
    """A deck, next card last, with given cards at given draws and the rest random."""
    rest = [c for c in DECK if c not in fixed.values()]
    rng.shuffle(rest)
    order = [fixed.get(i) if i in fixed else rest.pop() for i in range(52)]
    return order[::-1]


@pytest.mark.parametrize("game", ["MBS3", "MEGA", "NSW", "PP6"])
def test_hidden_cards_change_no_output_before_their_public_moment(game: str) -> None:
    """Twin rounds: the same public actions and shared cards, other hidden cards."""
    seats = (2, 4, 7)
    shared = (3, 11) if game == "PP6" else (9, 10)
    for seed in range(150):
        rng = random.Random(seed)
        public = dict(zip(shared, rng.sample(DECK, 2), strict=True))
        twins = []
        for _ in range(2):
            state = open_table(game, SETTINGS[game], TODAY)
            croupier = ScriptedDealer(state, _public_deck(rng, public))
            outputs: list[Any] = []
            croupier.told = lambda _fact, effects, out=outputs: out.append(repr(effects))
            croupier.prepare()
            croupier.bets({n: {"1": 500, "2": 500, "$": 500} for n in seats})
            croupier.deal()
            croupier.decide()
            croupier.turn(1)
            croupier.decide()
            croupier.turn(2)
            croupier.try_(f.DealtWrong())  # the supervisor's, or void: nothing is opened
            croupier.try_(f.SupervisorRuled("void"), f.Declared("S", f.Role.CASINO_SUPERVISOR))
            croupier.try_(f.VoidCleared())
            twins.append((outputs, croupier.state.history[-1].record))
        assert twins[0] == twins[1], f"seed {seed}"


def test_the_twin_test_can_fail() -> None:
    """An opened hand does show in the outputs."""
    texts = []
    for seed in (1, 2):
        rng = random.Random(seed)
        croupier = ScriptedDealer(open_table("NSW", {}, TODAY), _public_deck(rng, {}))
        croupier.prepare()
        croupier.bets({1: {"1": 500, "2": 500, "$": 500}})
        outputs: list[str] = []
        croupier.told = lambda _fact, effects, out=outputs: out.append(repr(effects))
        croupier.let_it_ride()
        texts.append(outputs)
    assert texts[0] != texts[1]
