"""A technician and a test deck: he loads it as it was printed and draws it, card by card."""

from __future__ import annotations

from collections.abc import Generator
from typing import Final

from hw_sim.clock import MS, SECOND
from hw_sim.people.dealer import CHANGE_US, FULL_DECK, Dealer, Pause

PULL_US: Final = 40 * MS
"""Between two cards when a device is only emptied."""


def load_new_deck(dealer: Dealer) -> Pause:
    """Clubs to spades, ace to king. A shuffler mixes it, and takes its time for that."""
    table = dealer.table
    if table.shoe is not None:
        table.shoe.load(list(FULL_DECK))
    elif table.shuffler is not None:
        table.shuffler.insert(dealer.deck, list(FULL_DECK))
        yield SECOND
        table.shuffler.shuffle()
    yield SECOND


def draw_out(dealer: Dealer, count: int) -> Generator[int, None, int]:
    """So many cards or packets, as fast as they come, onto a heap; no more if none comes. How many
    came is returned."""
    table, wanted = dealer.table, count
    since_us = table.clock.now_us
    while count > 0 and table.clock.now_us - since_us < CHANGE_US:
        if table.shoe is not None:
            came = table.shoe.draw() is not None
        else:
            came = bool((yield from dealer.packet()))
        if came:
            count, since_us = count - 1, table.clock.now_us
        yield PULL_US
    return wanted - count
