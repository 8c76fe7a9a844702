"""The dealer's prompt lines, in the words of the trade. None advises a player (NSW-14.6)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from controller.rules.engine.effects import Prompt
from record.kit.money import cents_text

TEXTS: Final[Mapping[str, str]] = {
    "place bets": "Place your bets, please",
    "unequal": "Seat {seat}: wagers not equal. Correct them or leave the seat out",
    "correct or fold": "Seat {seat}: correct the wagers or fold. The wager is returned",
    "bonus above": "Seat {seat}: bonus above $. The part above goes back",
    "limit": "Seat {seat}: {detail}",
    "deal seat": "Deal: next seat {seat}",
    "deal dealer": "Deal: next the dealer",
    "press close": "A card is out: press NO MORE BETS",
    "decide": "Seat {seat}: take back {detail}, or let it ride?",
    "turn": "All decided. Turn community card {detail}",
    "take back": "Seat {seat}: return wager {detail}",
    "chips": "Seat {seat}: chips and console disagree on {detail}",
    "late": "Seat {seat}: late wager on {detail}. Push it back",
    "open hand": "Open seat {seat}",
    "pay": "Seat {seat}: {detail}",
    "wait jackpot": "Seat {seat}: wait for the jackpot",
    "jackpot pending": "Seat {seat}: jackpot {detail} is pending. Call the supervisor",
    "jackpot ended": "Seat {seat}: jackpot {detail} is settled",
    "jackpot rejected": "Seat {seat}: jackpot {detail} is rejected. Call the supervisor",
    "mystery": "Seat {seat} wins the mystery jackpot {detail}. Call the supervisor",
    "turn bonus": "Turn the middle card",
    "end round": "All settled. Collect the cards, end the round",
    "void": "Round void: return all wagers. {detail}",
    "hand void": "Seat {seat}: hand void, return the wagers. {detail}",
    "frozen": "Stop. Call the supervisor: {detail}",
    "held": "Seat {seat}: call the supervisor. {detail}",
    "shuffle": "Shuffle the cards",
    "cut": "Cut and load the shoe",
    "check deck": "Check the deck",
    "floor": "Seat {seat}: call the floor, warned again: {detail}",
    "idle": "Seat {seat}: no wager for {detail} rounds, all other seats in use",
    "dealer ante": "Place the dealer's ante on the pot",
    "confirm deal": "Compare the cards and confirm",
    "act": "Seat {seat}: play or fold? A fold loses the ante",
    "act or take": "Seat {seat}: play, or take the pot",
    "play bet": "Seat {seat}: place a play wager equal to the ante",
    "draw": "Seat {seat}: deal three cards",
    "move to pot": "Move to the pot until it holds {detail}",
    "award pot": "Pot to {detail}",
    "dispute": "Seat {seat}: dispute. Leave cards and chips: {detail}",
}


AMOUNTS: Final = frozenset(("move to pot",))
"""Whose detail is an amount in cents."""


def text(prompt: Prompt) -> str:
    detail = cents_text(int(prompt.detail)) if prompt.code in AMOUNTS else prompt.detail
    return TEXTS[prompt.code].format(seat=prompt.seat, detail=detail)
