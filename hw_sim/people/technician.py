"""Who is called to a table: a technician with a test deck, and a supervisor who rules at last."""

from __future__ import annotations

from collections.abc import Callable, Generator
from typing import Final

from hw_sim.clock import MS, SECOND
from hw_sim.people.dealer import CHANGE_US, FULL_DECK, Call, Dealer, Pause

RULE_US: Final = 60 * SECOND
AGAIN_US: Final = 5 * SECOND
RULE, VOID = "51", "3"
"""Menu: the ruling on a frozen round, and that it is void."""
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
    came is returned; of two cards that leave at once both count."""
    table, wanted = dealer.table, count
    since_us = table.clock.now_us
    while count > 0 and table.clock.now_us - since_us < CHANGE_US:
        if table.shoe is not None:
            came = 0 if table.shoe.draw() is None else len(table.shoe.came_out)
        else:
            came = int(bool((yield from dealer.packet())))
        if came:
            count, since_us = count - came, table.clock.now_us
        yield PULL_US
    return wanted - count


def calling(dealer: Dealer, say: Callable[[str], None], *, rules: bool) -> Call:
    """What a dealer does who is stuck: say so once, wait, and look again.

    Nobody clears a fault or a test mode for him. With ``rules`` a supervisor rules on a stopped
    round after a minute; else the viewer does.
    """
    told: list[str] = []
    since_us = 0

    def call(why: str) -> Pause:
        nonlocal told, since_us
        prompt, now_us = dealer.table.prompt(), dealer.table.clock.now_us
        if prompt != told:
            told, since_us = prompt, now_us
            say(f"the dealer waits and calls the technician: {why}")
        elif rules and prompt[0].startswith("STOP") and now_us - since_us >= RULE_US:
            since_us = now_us
            answer = _answer(prompt[1])
            say(f"the supervisor rules: menu {RULE} {answer}")
            yield from dealer.supervisor_menu(RULE, answer)
        yield AGAIN_US

    return call


def _answer(line: str) -> str:
    """Void, if the prompt offers it; else the last of its answers, which needs no card."""
    word, *offered = line.split() or [""]
    return offered[-1] if word == "ANSWER" and offered and VOID not in offered else VOID
