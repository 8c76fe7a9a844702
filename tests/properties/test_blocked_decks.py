"""A deck in doubt is released by a person: no sequence of device answers opens the table."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from controller.demo.scripted_dealer import SHOE, SUPERVISOR, ScriptedDealer
from controller.rules.engine import facts as f
from controller.rules.engine.state import Phase
from tests.clauses.tables import SETTINGS, SHUFFLER, base, table

TABLES: list[tuple[str, dict[str, Any]]] = [*((game, {}) for game in SETTINGS), *SHUFFLER.items()]


def _faults(croupier: ScriptedDealer) -> dict[str, Callable[[], object]]:
    def in_the_round(what: f.What, by: f.Source) -> None:
        ricochet = croupier.state.rules.book.family == "ricochet"
        croupier.bets({2: {"ante": 500} if ricochet else base(1000)})
        croupier.deal_one()
        croupier.do(what, by)
        croupier.do(f.SupervisorRuled("confirmed"), SUPERVISOR)
        if croupier.state.frozen is not None:
            croupier.do(f.SupervisorRuled("void"), SUPERVISOR)
        croupier.clear_table()
        croupier.do(f.VoidCleared())

    return {
        "counted between rounds": lambda: croupier.do(f.DeckCounted(51), SHOE),
        "check failed": lambda: croupier.do(f.DeckChecked("red", passed=False), SHOE),
        "unknown card": lambda: croupier.do(f.UnknownCardSeen(), SHOE),
        "counted in the round": lambda: in_the_round(f.DeckCounted(53), SHOE),
        "foreign card in the round": lambda: in_the_round(f.UnknownCardSeen(), SHOE),
    }


@pytest.mark.parametrize("fault", sorted(_faults(table("NSW"))))
@pytest.mark.parametrize(("game", "changes"), TABLES)
def test_no_answer_of_a_device_releases_a_deck_in_doubt(
    game: str, changes: dict[str, Any], fault: str
) -> None:
    for seed in range(12):
        rng = random.Random(seed)
        croupier = table(game, **changes)
        croupier.prepare()
        _faults(croupier)[fault]()
        for _ in range(20):
            croupier.try_(*_told(rng))
            if croupier.state.deck.name == "red":
                croupier.try_(f.BetsOpened())
            assert croupier.state.phase is Phase.IDLE, f"seed {seed}"
        if croupier.state.deck.name != "red":
            croupier.do(f.DeckChanged("red"), SUPERVISOR)
        croupier.do(f.DeckShuffled("red"), SHOE)
        croupier.try_(f.DeckCut())
        croupier.try_(f.BetsOpened())
        assert croupier.state.phase is Phase.IDLE, f"seed {seed}"
        croupier.do(f.DeckChecked("red", passed=True), SUPERVISOR)
        croupier.do(f.BetsOpened())


def _told(rng: random.Random) -> tuple[f.What, f.Source]:
    """What devices say, and a person who only changes the deck."""
    what: f.What = rng.choice(
        (
            f.DeckChecked("red", passed=True),
            f.DeckChecked("red", passed=True, seal="1"),
            f.DeckShuffled("red"),
            f.DeckCounted(52),
            f.ShufflerReady(),
            f.DecksLoaded("red", "blue"),
            f.DeckChanged("blue"),
            f.DeckChanged("red"),
        )
    )
    return what, SUPERVISOR if isinstance(what, f.DeckChanged) else SHOE
