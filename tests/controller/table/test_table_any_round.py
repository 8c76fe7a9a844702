"""Whatever goes wrong in a round, a dealer who only follows line 4 brings it to its end."""

from __future__ import annotations

import random
from typing import Any

import pytest

from controller.rules.cards import Card
from controller.rules.engine.state import Phase
from drivers.readings import CardEvent, CardRead, SealedCard, SpotLost
from tests.clauses.tables import SHUFFLER, base, table
from tests.controller.table.console_player import ConsolePlayer, console_player

WAGERS: dict[str, dict[int, dict[str, int]]] = {
    "MBS3": {2: base(1000, progressive=100), 5: base(500)},
    "NSW": {1: base(1000), 4: base(2000), 6: {"1": 500, "2": 500, "$": 1000}},
    "PP6": {1: {**base(500), "pair_plus": 200, "six_card": 300}, 4: {"$": 1000, "six_card": 100}},
    "MEGA": {1: base(1000, progressive=200), 7: base(500)},
    "RICO": {1: {"ante": 500, "rapid_fire": 200}, 3: {"ante": 500, "hedge": 100}, 6: {"ante": 500}},
}


def rulings(rng: random.Random, hand: ConsolePlayer) -> dict[str, Any]:
    """People answer at random; a supervisor only among the answers that line 2 offers."""

    def frozen(_: int) -> tuple[object, ...]:
        offered = hand.table.lines[1].split("ANSWER ")[1].split()
        answer = rng.choice(offered)
        return (answer, card_code(hand.deck.pop())) if answer == "5" else (answer,)

    def seat_ruling(seat: int) -> tuple[object, ...]:
        gone = hand.table.lines[2].startswith(("CANNOT READ", "CHIPS GONE"))
        return (seat, 4 if gone else rng.choice((1, 2, 3)))

    return {
        "51": frozen,
        "52": seat_ruling,
        "22": lambda seat: (seat, hand.table.cents(seat, "$")),
        "23": lambda seat: (seat,),
        "24": lambda seat: (seat,),
        "16": lambda seat: (seat, 2),
        "17": lambda seat: (seat, 2),
        "58": lambda _: (1, 0),
    }


def card_code(card: Card) -> str:
    rank, suit = divmod(card, 4)
    return f"{1 if rank == 12 else rank + 2:02}{suit + 1}"


def disturb(rng: random.Random, hand: ConsolePlayer) -> None:
    """Something irregular that a dealer reports or a device sees."""
    table = hand.table
    seat = rng.choice(list(hand.wagers))
    match rng.randrange(15):
        case 0:
            table.menu("11", rng.choice((1, 2)))
        case 1:
            table.menu("12", 1)
        case 2:
            table.press("VOID", "1", "3", "ENTER")
        case 3:
            table.menu("16", rng.choice((0, seat)), rng.choice((1, 4)))
        case 4:
            table.as_supervisor("17", seat, 1)
        case 5:
            table.menu("18", rng.choice((1, 2, 3)), 51)
        case 6:
            table.menu("19", seat, rng.choice((0, 1)))
        case 7:
            table.feed(CardRead("shoe", 99, SealedCard(0xFF), table.now_us))
        case 8:
            table.feed(CardEvent("shoe", rng.choice(("misread", "returned", "gap")), 9))
        case 9:
            table.as_supervisor("58", 2, seat)
        case 10:
            table.menu("61", seat)
        case 11:
            table.as_supervisor("35")
        case 12:
            spot = rng.choice(list(hand.wagers[seat]))
            table.feed(SpotLost(table.antenna(seat, spot), "E-FEIG-010", table.now_us))
        case 13:
            table.put(seat, rng.choice([s for s in hand.wagers[seat] if s != "progressive"]), 0)
        case _:
            table.put(seat, next(iter(hand.wagers[seat])), 7000)


@pytest.mark.parametrize(
    ("game", "device"), [*((g, "shoe") for g in WAGERS), *((g, "shuffler") for g in SHUFFLER)]
)
def test_line_four_always_leads_to_the_end(game: str, device: str) -> None:
    changes = SHUFFLER[game] if device == "shuffler" else {}
    for seed in range(40):
        rng = random.Random(f"{game} {device} {seed}")
        croupier = table(game, **changes)
        rng.shuffle(croupier.deck)
        hand = console_player(croupier, WAGERS[game])
        hand.last_packet = 2 if game == "MBS3" else 3
        hand.rules = rulings(rng, hand)
        hand.back = lambda _s, _d, rng=rng: rng.random() < 0.5  # type: ignore[misc]
        playing = {seat: rng.random() < 0.6 for seat in range(1, 8)}
        hand.plays = playing.__getitem__
        moments = {rng.randrange(8, 40) for _ in range(rng.choice((0, 1, 2)))}
        play(hand, rng, moments)


def play(hand: ConsolePlayer, rng: random.Random, moments: set[int]) -> None:
    rounds = 0
    for n in range(400):
        hand.seen.append(hand.table.lines)
        if hand.table.phase() is Phase.IDLE and hand.placed:
            rounds += 1
            break
        if n in moments:
            disturb(rng, hand)
        hand.do(hand.words[0])
        assert all(len(line) <= 20 for line in hand.table.lines)
    assert rounds, hand.seen[-8:]
