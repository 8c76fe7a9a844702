"""The progressive kept out of a table by a person at the shell, and taken in again.

A technician may close it, a supervisor opens it. What is locked stands: the engine gives wagers
back only while bets are open, so nothing is ordered then. The order is a fact of the journal and
holds over any restart; the configuration's own safe mode is none of its business.
"""

from __future__ import annotations

from typing import Final

from controller.daemon.inputs import Blocked
from controller.daemon.testmode import Stands
from controller.rules.engine import facts as f
from controller.rules.engine.state import Phase
from controller.table.play import ORDERED

SHELL: Final = f.Measured("shell")


def order_of(writer: Stands, on: bool, user: str) -> tuple[f.What | None, Blocked | None]:
    """The fact to tell, or why there is none; neither: it is so already."""
    core = writer.core
    state = core.state
    if blocked := _blocked(writer):
        return None, blocked
    if not on and core.options.safe_mode:
        why = "policy.safe_mode stands in the configuration: change it there, then reload"
        return None, Blocked(why)
    if bool(state.progressive_closed) == on:
        return None, None
    return (f.ProgressiveClosed(f"{ORDERED}{user}") if on else f.ProgressiveOpened()), None


def _blocked(writer: Stands) -> Blocked | None:
    state = writer.core.state
    if state.rules.book.progressive is None:
        return Blocked("this game has no progressive")
    if writer.locked:
        return Blocked(f"the table is locked out: {writer.locked}")
    if writer.test.is_on:
        return Blocked("the table is in test mode")
    if state.phase is Phase.BETTING:
        said = f"round {state.round_no}: bets are open; say it again after the closing call"
        return Blocked(said, in_round=True)
    if writer.is_full:
        return Blocked("the disk is full: what is done could not be written down")
    return None


def ordered_by(why: str) -> str:
    """Who closed the progressive at the shell; nothing if nobody did."""
    return why.removeprefix(ORDERED) if why.startswith(ORDERED) else ""
