"""Random play from a seed: players who bet, hesitate, move chips and answer; now and then a fault.

It makes a list of steps, no more: what comes of them is the table's business. The same seed gives
the same steps.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from itertools import count
from typing import Final

from hw_sim.layout import Layout
from hw_sim.scenario import Step, parse_step

AMOUNTS: Final = ("5.00", "10.00", "25.00")
SMALL: Final = ("2.00", "5.00", "10.00")
HARMLESS: Final = (
    "flip {line} 0.0002", "lose {line} 0.0005", "insert {line} 0.0005", "glue {line}",
    "split {line} 3000", "repeat {line} 2", "nak lamps-1 2", "stale keys-1 1", "brownout lamps-2",
    "brownout prompt", "bounce door 0", "rename {line}",
)  # fmt: skip
"""Faults that a table must survive without a person."""
HEAL: Final = (
    "flip {line} 0",
    "lose {line} 0",
    "insert {line} 0",
    "glue {line} off",
    "split {line} 0",
)


def random_round(
    game: str,
    layout: Layout,
    rng: random.Random,
    *,
    players: int,
    faults: bool,
    free: Sequence[int] = (),
) -> list[str]:
    """The steps of one round with at most so many players, as text; at ``free`` seats only, if any
    are given."""
    steps = ["dealer opens"]
    there = free or range(1, layout.seats + 1)
    seats = sorted(rng.sample(there, rng.randint(1, min(players, len(there)))))
    lines = [line.name for line in layout.lines]
    sick: list[str] = []
    for seat in seats:
        steps += _wagers(game, seat, rng)
    if game == "RICO":
        steps.append("dealer pot 5.00")
    if faults:
        for _ in range(rng.randint(0, 2)):
            line = rng.choice(lines)
            steps.append("fault " + rng.choice(HARMLESS).format(line=line))
            sick.append(line)
    steps += ["wait 1500", "dealer closes"]
    for seat in seats:
        answers = ("play", "fold") if game == "RICO" else ("ride", "back")
        steps.append(f"seat {seat} will {rng.choice(answers)} {rng.choice(answers)}")
    steps += ["fault " + heal.format(line=line) for line in sick for heal in HEAL]
    steps.append("dealer plays on")
    return steps


def _wagers(game: str, seat: int, rng: random.Random) -> list[str]:
    amount = rng.choice(AMOUNTS)
    if game == "RICO":
        steps = [f"seat {seat} bets 5.00 on ante"]
        side = [spot for spot in ("rapid_fire", "hedge") if rng.random() < 0.4]
        steps += [f"seat {seat} bets 1.00 on {spot}" for spot in side]
        return steps
    if game == "PP6":
        amount = rng.choice(SMALL)
        spots = ["$", *(s for s in ("1", "2") if rng.random() < 0.8)]
        steps = [f"seat {seat} bets {amount} on {' '.join(spots)}"]
        steps += [
            f"seat {seat} bets 2.00 on {s}" for s in ("pair_plus", "six_card") if rng.random() < 0.5
        ]
        return steps
    steps = [f"seat {seat} bets {amount} on 1 2 $"]
    if rng.random() < 0.2:  # second thoughts
        steps += [f"seat {seat} takes 1", f"seat {seat} bets {amount} on 1"]
    if game in ("MBS3", "MEGA") and rng.random() < 0.7:
        steps.append("wait 1200")
        steps.append(f"seat {seat} credits {1 if game == 'MBS3' else rng.randint(1, 3)}")
    return steps


def random_rounds(
    game: str,
    layout: Layout,
    seed: int,
    rounds: int,
    *,
    players: int,
    faults: bool,
    free: Callable[[], Sequence[int]] = tuple,
) -> Iterator[tuple[Step, ...]]:
    """Round after round; 0 is without end. Before the first the people take the table over.
    ``free`` is asked before each round: the seats that random play may use, or none for all."""
    rng = random.Random(seed)
    for number in count(1) if rounds == 0 else range(1, rounds + 1):
        texts = random_round(game, layout, rng, players=players, faults=faults, free=free())
        yield _steps(["dealer takes over", *texts] if number == 1 else texts)


def _steps(texts: list[str]) -> tuple[Step, ...]:
    steps = [parse_step(number, text) for number, text in enumerate(texts, 1)]
    missing = [text for text, step in zip(texts, steps, strict=True) if step is None]
    if missing:
        raise ValueError(f"not steps: {missing}")
    return tuple(step for step in steps if step is not None)
