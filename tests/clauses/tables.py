"""Tables for the clause tests: every game opened with plain settings, and decks dealt to order."""

from __future__ import annotations

import random
from datetime import date
from typing import Any, Final

from controller.demo.scripted_dealer import SUPERVISOR, ScriptedDealer, stacked
from controller.rules.cards import Card, cards
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.deal import plan, uses_packets
from controller.rules.engine.opening import open_table

TODAY: Final = date(2026, 1, 1)

SETTINGS: Final[dict[str, dict[str, Any]]] = {
    "MBS3": {
        "meter_rule": "sequential",
        "progressive_stake_returned": True,
        "seats": 7,
        "deal_pattern": "passes",
    },
    "MEGA": {
        "meter_rule": "sequential",
        "progressive_stake_returned": True,
        "seats": 7,
        "deal_pattern": "passes",
        "selector": "table",
        "max_credits": 5,
        "allow_over_100_percent": True,
    },
    "NSW": {},
    "PP6": {"seats": 7, "irregularity_profile": "supervisor"},
    "RICO": {
        "ante": 500,
        "orphan_pot": "last_player",
        "deal_pattern": "passes",
        "irregularity_profile": "supervisor",
        "rapid_fire": True,
        "rapid_fire_pay": {"win": 3, "tie": 1},
        "hedge": True,
        "hedge_pay": {"three of a kind": 5, "straight": 8},
    },
}

SHUFFLER: Final[dict[str, dict[str, Any]]] = {
    "NSW": {
        "card_device": "shuffler",
        "packet_bottom": "first_out",
        "community_order": "as_dispensed",
    },
    "MBS3": {
        "card_device": "shuffler",
        "deal_pattern": "packets",
        "dealer_packet": 2,
        "packet_bottom": "first_out",
        "community_order": "as_dispensed",
    },
}


def base(cents: int, **more: int) -> dict[str, int]:
    """Three equal wagers, and whatever else lies there."""
    return {"1": cents, "2": cents, "$": cents, **more}


def table(
    game: str, hands: dict[int, str] | None = None, dealer: str = "", **changes: Any
) -> ScriptedDealer:
    """A dealer whose deck gives each seat its hand and the dealer these cards, as planned.

    ``hands`` names the seats that will have wagers; ``dealer`` the community cards in the order
    they are dealt (PP6: first, middle, third; Ricochet: the dealer's five). Cards not named are
    random from a fixed seed.
    """
    state = open_table(game, {**SETTINGS[game], **changes}, TODAY)
    order: list[Card] = []
    if hands:
        held = {seat: list(cards(text)) for seat, text in hands.items()}
        held[0] = list(cards(dealer))
        rng = random.Random(7)
        used = {c for hand in held.values() for c in hand}
        spare = [c for c in stacked([], rng) if c not in used]
        size = 3 if uses_packets(state.rules) else 1
        for place in plan(state.rules, sorted(hands)):
            for _ in range(size if place or len(held[0]) > 2 or size == 1 else 2):
                order.append(held[place].pop(0) if held[place] else spare.pop())
        order += [c for rest in held.values() for c in rest]
    return ScriptedDealer(state, stacked(order, random.Random(11)))


def draws(game: str, in_order: str, **changes: Any) -> ScriptedDealer:
    """A dealer whose deck gives exactly these cards in this order: for tests of the deal."""
    state = open_table(game, {**SETTINGS[game], **changes}, TODAY)
    return ScriptedDealer(state, stacked(cards(in_order), random.Random(11)))


def refused(effects: tuple[fx.Effect, ...]) -> fx.Refused:
    """The one refusal among the effects; fails if the fact was accepted."""
    found = [e for e in effects if isinstance(e, fx.Refused)]
    assert len(found) == 1, f"expected a refusal, got {effects}"
    assert len(effects) == 1
    return found[0]


def only(effects: tuple[fx.Effect, ...], kind: type[Any]) -> Any:
    """The one effect of this kind."""
    found = [e for e in effects if isinstance(e, kind)]
    assert len(found) == 1, f"expected one {kind.__name__}, got {effects}"
    return found[0]


def confirmed(scripted_dealer: ScriptedDealer) -> tuple[fx.Effect, ...]:
    """The supervisor confirms what was asked, and the dealer agrees where two must."""
    effects = scripted_dealer.do(f.SupervisorRuled("confirmed"), SUPERVISOR)
    frozen = scripted_dealer.state.frozen
    if frozen is not None and frozen.proposed is not None:
        return scripted_dealer.do(f.RulingSeconded())
    return effects


def row(scripted_dealer: ScriptedDealer, seat: int) -> Any:
    """A seat's line in the settlement of the round just closed."""
    return next(r for r in scripted_dealer.state.history[-1].result["seats"] if r["seat"] == seat)
