"""People come to a table whose felt has been cleared while it was off.

The computer still has the round that was under way; its chips and cards are gone. Nobody can play
it to its end, so the supervisor declares it void, as a house does after a power cut that emptied
the table. Where bets are still open the cards are loaded again and the players bet again.
"""

from __future__ import annotations

from typing import Final

from hw_sim.clock import SECOND
from hw_sim.people.dealer import Dealer, Pause, Stuck

START_US: Final = 60 * SECOND
TRIES: Final = 20
INVALID: Final = ("58", "1", "0")
"""Menu: the outcome is invalidated by a disruption."""
SECOND_PERSON: Final = ["MENU", "59"]
"""The ruling takes back what was paid: the dealer is the second person."""


def take_over(dealer: Dealer) -> Pause:
    yield from dealer.wait_for(lambda: bool(dealer.words()), START_US, "a table that is on")
    for _ in range(TRIES):
        yield from dealer.clear_notices()
        words, state = dealer.words(), dealer.table.prompt()[0]
        if state.startswith("READY"):
            return
        if state.startswith("BETS OPEN"):
            yield from dealer.load()
            dealer.opened = True
            return
        if not words or words[0] == "WAIT":
            yield SECOND
        elif state.startswith("ROUND VOID") or words == ["END"] or words[:2] == SECOND_PERSON:
            yield from dealer.act(words)
        elif state.startswith("STOP"):
            answers = dealer.table.prompt()[1].split()
            yield from dealer.supervisor_menu("51", "3" if "3" in answers else "4")
            yield SECOND
        else:
            yield from dealer.supervisor_menu(*INVALID)
            yield SECOND
    raise Stuck(f"cannot take the table over: {dealer.table.prompt()}")
