"""``step(state, fact) -> (state, effects)``: the whole engine. No clock, no chance, no I/O.

A fact that does not fit leaves the state untouched, the very same object, and yields ``Refused``.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Final

from controller.rules.engine import facts as f
from controller.rules.engine.authority import AUTHORITY, MEASURED_ONLY
from controller.rules.engine.common import Refusal, Step
from controller.rules.engine.effects import Refused
from controller.rules.engine.names import NAME_OF
from controller.rules.engine.phases import ANYWHERE, TABLE
from controller.rules.engine.settlement import DISPUTE
from controller.rules.engine.state import TableState


def step(state: TableState, fact: f.Fact) -> Step:
    kind = type(fact.what)
    clause = state.rules.book.round_clauses.round
    if why := _unauthorised(fact):
        return state, (_refused(state, *why),)
    handler = TABLE[state.rules.book.family].get(state.phase, {}).get(kind) or ANYWHERE.get(kind)
    if handler is None:
        return state, (Refused(f"{NAME_OF[kind]}: not while {state.phase.value}", clause),)
    try:
        after, effects = handler(state, fact.what, fact)
    except Refusal as refusal:
        return state, (_refused(state, refusal.reason, refusal.clause),)
    return _remembered(after, fact), effects


DECIDES: Final[Mapping[type[f.What], str]] = {
    f.SeatSettled: "pay",
    f.HandVoided: "ruling",
    f.HandsRemapped: "ruling",
    f.OutcomeInvalidated: "ruling",
    f.SupervisorRuled: "ruling",
    f.RulingSeconded: "ruling",
    f.SeatRuled: "ruling",
    f.CardCorrected: "ruling",
    f.DisputeDecided: DISPUTE,
}
"""What a dispute may be about: the person who declared it does not review it (NSW-14.12)."""


def _remembered(state: TableState, fact: f.Fact) -> TableState:
    sort = DECIDES.get(type(fact.what))
    if sort is None or not isinstance(fact.by, f.Declared):
        return state
    decision = (getattr(fact.what, "seat", 0), fact.by.person, sort)
    if decision in state.decided_by:
        return state
    return replace(state, decided_by=(*state.decided_by, decision))


HOUSE_RULE = "house rule"


def _refused(state: TableState, reason: str, clause: str) -> Refused:
    """A rule that this table's book does not state is the house's, not another book's clause."""
    own = clause.startswith(f"{state.rules.book.key}-")
    return Refused(reason, clause if own else HOUSE_RULE)


def _unauthorised(fact: f.Fact) -> tuple[str, str] | None:
    kind = type(fact.what)
    if kind in MEASURED_ONLY and not isinstance(fact.by, f.Measured):
        return f"{NAME_OF[kind]} is measured, not declared", "NSW-5.7"
    needed = AUTHORITY.get(kind)
    if needed is None:
        return None
    roles, clause = needed
    if isinstance(fact.by, f.Declared) and fact.by.role in roles:
        return None
    listed = " or ".join(sorted(role.value for role in roles))
    return f"{NAME_OF[kind]} needs a {listed}", clause
