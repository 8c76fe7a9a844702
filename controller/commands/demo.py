"""``underfelt demo``: complete rounds of the five games, dealt and told through the real engine."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Mapping
from datetime import date
from typing import Any, Final

from controller.demo.narrator import Narrator
from controller.demo.scripted_dealer import ScriptedDealer, stacked
from controller.rules.books import BOOKS
from controller.rules.cards import DECK, Card, cards
from controller.rules.decode import decode_record
from controller.rules.engine import facts as f
from controller.rules.engine.opening import open_table
from controller.rules.engine.state import TableState
from controller.rules.settle import settle
from record.kit.arguments import Arguments
from record.kit.money import cents_text
from record.kit.terminal import draw

TODAY: Final = date(2026, 1, 1)
JACKPOT: Final = 12_345_678

SETTINGS: Final[Mapping[str, Mapping[str, Any]]] = {
    "MBS3": {
        "meter_rule": "sequential",
        "progressive_stake_returned": True,
        "seats": 7,
        "deal_pattern": "passes",
    },
    "PP6": {"seats": 7, "irregularity_profile": "supervisor"},
    "NSW": {
        "card_device": "shuffler",
        "packet_bottom": "first_out",
        "community_order": "as_dispensed",
        "max_wager": 20000,
    },
    "MEGA": {
        "meter_rule": "sequential",
        "progressive_stake_returned": True,
        "seats": 7,
        "deal_pattern": "passes",
        "selector": "table",
        "magic_rate": "1/4",
        "lucky_rate": "1/20",
        "max_credits": 3,
    },
    "RICO": {
        "ante": 500,
        "orphan_pot": "last_player",
        "deal_pattern": "passes",
        "irregularity_profile": "supervisor",
        "rapid_fire": True,
        "rapid_fire_pay": {"win": 3, "tie": 1},
        "hedge": True,
        "hedge_pay": {"three of a kind": 10, "straight": 15, "flush": 20},
    },
}

WAGERS: Final[Mapping[str, Mapping[int, Mapping[str, int]]]] = {
    "MBS3": {
        2: {"1": 2500, "2": 2500, "$": 2500, "progressive": 100},
        5: {"1": 1000, "2": 1000, "$": 1000, "progressive": 100},
    },
    "PP6": {
        1: {"1": 500, "2": 500, "$": 500, "pair_plus": 200, "six_card": 300},
        4: {"$": 1000, "pair_plus": 1000},
        6: {"1": 200, "2": 200, "$": 200, "six_card": 200},
    },
    "NSW": {n: {"1": 1000, "2": 1000, "$": 1000} for n in (1, 3, 6)},
    "MEGA": {
        1: {"1": 1000, "2": 1000, "$": 1000, "progressive": 300},
        4: {"1": 500, "2": 500, "$": 500, "progressive": 100},
        7: {"1": 500, "2": 500, "$": 500},
    },
    "RICO": {
        1: {"ante": 500, "rapid_fire": 200},
        3: {"ante": 500},
        4: {"ante": 500, "hedge": 100},
        6: {"ante": 500, "rapid_fire": 100},
    },
}

STRAIGHT_FLUSH: Final = "5h Kc 6h Kd 8h 2s 7h 9h"
"""Draws that give seat 2 a straight flush and seat 5 a pair of kings."""


def run(argv: list[str]) -> int:
    if argv[:1] == ["floor"]:
        from controller.commands import demo_floor

        return demo_floor.run(argv[1:])
    parser = Arguments(
        prog="underfelt demo",
        description="Deal and narrate complete rounds through the real engine; "
        "underfelt demo floor runs a link server and five tables live.",
        epilog="examples: underfelt demo --game RICO --seed 7; underfelt demo floor",
    )
    parser.add_argument("--game", choices=sorted(BOOKS), help="only this game")
    parser.add_argument("--seed", type=int, default=3, help="another seed deals other cards")
    parser.add_argument("--no-colour", action="store_true", help="plain text")
    arguments = parser.parse_args(argv)
    colour = sys.stdout.isatty() and not arguments.no_colour and "NO_COLOR" not in os.environ
    narrator = Narrator(draw if colour else sys.stdout.write, colour=colour)
    for game, book in BOOKS.items():
        if arguments.game in (None, game):
            narrator.title(f"{game}  {book.title}, version {book.version}")
            play(game, arguments.seed, narrator)
    return os.EX_OK


def play(game: str, seed: int, narrator: Narrator) -> None:
    rng = random.Random(f"{seed} {game}")
    dealer = _dealer(game, rng, narrator, cards(STRAIGHT_FLUSH) if game == "MBS3" else ())
    dealer.prepare()
    if dealer.state.rules.book.progressive is not None:
        dealer.do(f.MeterReported(JACKPOT), f.Measured("link"))
        narrator.line(f"Jackpot {cents_text(JACKPOT)}")
    narrator.placed = WAGERS[game]
    dealer.bets(WAGERS[game])
    if dealer.state.rules.book.magic_card is not None:
        dealer.select(rng.choice(DECK), rng.choice(list(WAGERS[game])))
    if game == "RICO":
        dealer.ricochet()
    elif game == "NSW":
        _round_with_an_absent_player(dealer)
    else:
        dealer.let_it_ride()
    _check(dealer.state, narrator)


def _dealer(
    game: str, rng: random.Random, narrator: Narrator, first: tuple[Card, ...]
) -> ScriptedDealer:
    state = open_table(game, SETTINGS[game], TODAY)
    dealer = ScriptedDealer(state, stacked(first, rng), told=narrator.tell)
    dealer.ride = lambda seat, spot: (
        "withdraw" if first and seat == 2 and spot == "1" else rng.choice(("ride", "withdraw"))
    )
    dealer.plays = lambda _seat: rng.random() < 0.6
    return dealer


def _round_with_an_absent_player(dealer: ScriptedDealer) -> None:
    """Seat 3 has looked at the cards and left: what remains rides (NSW-12.14)."""
    dealer.deal()
    dealer.do(f.CardsHandled())
    dealer.do(f.Decided(1, "1", "withdraw"))
    dealer.take(1, "1")
    dealer.do(f.PlayerAbsent(3, viewed=True))
    dealer.decide()
    dealer.turn(1)
    dealer.decide()
    dealer.turn(2)
    dealer.settle()


def _check(state: TableState, narrator: Narrator) -> None:
    """Settling the exported record must give what the table paid."""
    archive = state.history[-1]
    if settle(decode_record(archive.record)) != archive.result:
        raise AssertionError(f"round {archive.round_no}: table and record disagree")
    narrator.line("Settling the exported record gives the same amounts.")
