"""People come to a table whose felt has been cleared while it was off.

The computer still has the round that was under way; its chips and cards are gone. Nobody can play
it to its end, so the supervisor declares it void, as a house does after a power cut that emptied
the table. Where bets are still open the cards are loaded anew and the players bet again.
"""

from __future__ import annotations

from typing import Final

from hw_sim.clock import SECOND
from hw_sim.people.dealer import Dealer, Pause, Stuck

START_US: Final = 60 * SECOND
TRIES: Final = 20
INVALID, VOID = ("58", "1", "0"), ("51", "3")
"""Menu: the outcome is invalidated by a disruption; the ruling on a frozen round is void."""


def take_over(dealer: Dealer) -> Pause:
    yield from dealer.wait_for(lambda: bool(dealer.words()), START_US, "a table that is on")
    for _ in range(TRIES):
        words, state = dealer.words(), dealer.table.prompt()[0]
        if state.startswith("READY"):
            return
        if state.startswith("BETS OPEN"):
            yield from dealer.load()
            dealer.opened = True
            return
        if not words or words[0] == "WAIT":
            yield SECOND
        elif state.startswith("ROUND VOID"):
            yield from dealer.act(words)
        else:
            menu = VOID if state.startswith("STOP") else INVALID
            yield from dealer.supervisor_menu(*menu)
            yield SECOND
    raise Stuck(f"cannot take the table over: {dealer.table.prompt()}")
