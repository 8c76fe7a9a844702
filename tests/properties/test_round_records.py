"""Every opened round ends in exactly one record, whatever happened between OPEN and its end."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest

from controller.demo.scripted_dealer import SUPERVISOR
from controller.rules.cards import DECK
from controller.rules.decode import decode_record
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.names import NAME_OF
from controller.rules.engine.opening import open_table
from controller.rules.engine.owed import phase_of
from controller.rules.engine.settlement import KEPT_ROUNDS
from controller.rules.engine.state import Phase, TableState
from controller.rules.settle import settle
from tests.clauses.tables import SETTINGS, SHUFFLER, TODAY
from tests.properties.random_play import Chaos, random_fact, random_wagers

VARIANTS: list[tuple[str, dict[str, Any]]] = [
    *((game, {}) for game in SETTINGS),
    *SHUFFLER.items(),
    ("RICO", {"orphan_pot": "carry"}),
    ("RICO", {"orphan_pot": "house"}),
]
SHARES = [0, *(pytest.param(share, marks=pytest.mark.slow) for share in range(1, 12))]


class Counting(Chaos):
    """Counts what is published, and checks after every fact that no opened round is missing."""

    published: list[int]

    def start(self, seed: int) -> None:
        self.published = []
        self.told = lambda fact, effects: self._check(seed, fact, effects)

    def _check(self, seed: int, fact: f.Fact, effects: tuple[fx.Effect, ...]) -> None:
        self.published += [e.round_no for e in effects if isinstance(e, fx.PublishRound)]
        assert self.published == ended(self.state), f"seed {seed}: {fact}"
        kept = [archive.round_no for archive in self.state.history]
        assert kept == self.published[-KEPT_ROUNDS:], f"seed {seed}: {fact}"


def ended(state: TableState) -> list[int]:
    """The rounds opened so far, without the one under way."""
    return list(range(1, state.round_no + (phase_of(state) is Phase.IDLE)))


@pytest.mark.parametrize("share", SHARES)
@pytest.mark.parametrize(("game", "changes"), VARIANTS)
def test_any_facts_after_the_opening_call_leave_one_record(
    game: str, changes: dict[str, Any], share: int
) -> None:
    for seed in range(share * 12, share * 12 + 12):
        state = open_table(game, {**SETTINGS[game], **changes}, TODAY)
        croupier = Counting(state, list(DECK), rng=random.Random(seed))
        croupier.start(seed)
        for _ in range(4):
            _opened(croupier)
            croupier.mischief = 0.5
            croupier.wagers = {} if seed % 3 == 0 else random_wagers(croupier)
            _steps(croupier, croupier.rng.randrange(60))
            croupier.mischief = 0.0
            croupier.wagers = random_wagers(croupier)
            _steps(croupier, 400)
            assert croupier.state.phase is Phase.IDLE, f"seed {seed}: stuck, {croupier.state.phase}"
        for archive in croupier.state.history:
            record = json.loads(json.dumps(archive.record))
            assert settle(decode_record(record)) == archive.result, f"seed {seed}"
        if game == "RICO":
            assert _carried(croupier.state) == croupier.state.carried, f"seed {seed}"


def _carried(state: TableState) -> int:
    """The carried pot, from record to record: what one leaves is what the next one finds."""
    lies = 0
    for archive in state.history:
        assert archive.record["settings"].get("pot_carried_in", 0) == lies
        if archive.result["round_status"] == "settled":
            lies = archive.result.get("pot_carried", 0)
    return lies


def test_mischief_is_made_of_every_kind_of_fact() -> None:
    croupier = Chaos(open_table("NSW", {}, TODAY), list(DECK), rng=random.Random(1))
    made = {type(random_fact(croupier)[0]) for _ in range(4000)}
    assert made == set(NAME_OF)


def _opened(croupier: Chaos) -> None:
    for _ in range(20):
        if croupier.state.phase is not Phase.IDLE:
            return
        for number in croupier.state.excluded:
            croupier.do(f.SeatReadmitted(number), SUPERVISOR)
        croupier.natural()
    raise AssertionError("the table does not open")


def _steps(croupier: Chaos, most: int) -> None:
    for _ in range(most):
        if croupier.state.phase is Phase.IDLE:
            return
        croupier.step_once()
