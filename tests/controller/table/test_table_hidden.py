"""Hidden cards stay hidden: twins with other closed cards give the same orders, byte for byte."""

from __future__ import annotations

import re

import pytest

from controller.rules.cards import NAMES
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from tests.clauses.tables import SHUFFLER, base, table
from tests.controller.table.console_player import ConsolePlayer, console_player

TWINS = [
    ("MBS3", {}, ("TcTd7h", "AsKsQs"), ("4s5s", "4s5s")),
    ("MEGA", {}, ("TcTd7h", "AsKsQs"), ("4s5s", "4s5s")),
    ("NSW", {}, ("9c9d9h", "2s4c7d"), ("9s5s", "9s5s")),
    ("NSW", SHUFFLER["NSW"], ("9c9d9h", "2s4c7d"), ("Kd9s5s", "3c9s5s")),
    ("PP6", {}, ("9c9d9h", "2s4c7d"), ("9s6c5s", "9s8c5s")),
]
"""Seat 2's cards, and the burnt or middle one, differ; what is opened first is the same."""


def until(hand: ConsolePlayer, *words: str) -> None:
    while not all(any(word in line for line in hand.table.lines) for word in words):
        hand.do(hand.words[0])
        if hand.words[0] == "WAIT" and hand.placed:
            hand.table.fact(f.SelectionCommitted("digest"), "selector")


@pytest.mark.parametrize(("game", "changes", "hands", "dealers"), TWINS)
def test_twins_cannot_be_told_apart_until_their_cards_are_open(
    game: str, changes: dict[str, object], hands: tuple[str, str], dealers: tuple[str, str]
) -> None:
    runs: list[tuple[str, ...]] = []
    for cards, dealer in zip(hands, dealers, strict=True):
        croupier = table(game, {2: cards, 5: "3d6h8h"}, dealer, **changes)
        hand = console_player(
            croupier, {2: base(1000), 5: base(500)}, back=lambda seat, _: seat == 5
        )
        until(hand, "SEAT 2", "SHOW")
        told = [e for e in hand.table.core.outbox if not isinstance(e, fx.ShowHand)]
        runs.append((repr(hand.table.log), repr(hand.table.core.outbox), repr(hand.table.facts)))
        assert "HiddenCard(?)" in runs[-1][2]
        assert told
        hand.do("SHOW")
        runs.append((*hand.table.lines, *hand.table.lamps))
    first, first_open, second, second_open = runs
    assert first == second
    assert first_open != second_open


@pytest.mark.parametrize(("game", "changes", "hands", "dealers"), TWINS)
def test_no_order_names_a_card(
    game: str, changes: dict[str, object], hands: tuple[str, str], dealers: tuple[str, str]
) -> None:
    """No magic card was drawn here, so no order at all may name one."""
    croupier = table(game, {2: hands[0], 5: "3d6h8h"}, dealers[0], **changes)
    hand = console_player(croupier, {2: base(1000), 5: base(500)})
    until(hand, "END", "SETTLEMENT")
    assert not re.findall(rf"\b({'|'.join(NAMES)})\b", repr(hand.table.log))


def test_held_cards_show_themselves_to_nobody() -> None:
    hand = console_player(table("MBS3", {2: "TcTd7h"}, "4s5s"), {2: base(1000)})
    until(hand, "BETS OPEN")
    hand.bet()
    hand.table.sweeps = False
    hand.table.press("CLOSE")
    hand.table.card(hand.deck.pop())
    core = hand.table.core
    kept = repr([vars(core), vars(core._play), vars(core._sensing), vars(core._keying)])
    assert "<card>" in kept
    assert "Tc" not in kept
