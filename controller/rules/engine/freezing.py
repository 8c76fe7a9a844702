"""Standing still with a question: nothing is guessed (AMB-V08), and no question is lost."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any, Final

from controller.rules import events as ev
from controller.rules.cards import HiddenCard
from controller.rules.engine import effects as fx
from controller.rules.engine.common import Step
from controller.rules.engine.state import Asked, Frozen, Phase, Report, TableState

CARD_FAULT = ("misread", "confirmed", "resume")
"""What a supervisor may say of a card that cannot be."""
CONFIRM = ("confirmed", "resume")
"""What a supervisor may say of a report."""
COUNT: Final = "count"
"""A stop until the cards are counted: a wrong count takes its place."""


def freeze(
    state: TableState,
    question: str,
    answers: tuple[str, ...],
    event: ev.Event | None = None,
    held: tuple[HiddenCard, ...] | None = None,
    *,
    extra: tuple[tuple[HiddenCard, ...], ...] = (),
    about: str = "",
    by: str = "",
    report: Report | None = None,
    proposed: tuple[str, str] | None = None,
    detail: str = "",
) -> Step:
    """Put the question now, or behind those that are open."""
    asked = Asked(question, answers, event, held, extra, about, by, report, proposed, detail)
    frozen = state.frozen
    if frozen is None:
        return _stand_still(state, asked, ())
    if frozen.about == COUNT and isinstance(event, ev.DeckCount):
        state = replace(state, phase=frozen.phase, frozen=None)
        return _stand_still(state, asked, frozen.waiting)
    state = replace(state, frozen=replace(frozen, waiting=(*frozen.waiting, asked)))
    return state, (fx.AskSupervisor(question, answers),)


def _stand_still(state: TableState, asked: Asked, waiting: tuple[Asked, ...]) -> Step:
    frozen = Frozen(state.phase, **_fields(asked), waiting=waiting)
    return (
        replace(state, phase=Phase.FROZEN, frozen=frozen),
        (
            fx.Prompt("frozen", detail=asked.question),
            fx.AskSupervisor(asked.question, asked.answers),
        ),
    )


def _fields(asked: Asked) -> dict[str, Any]:
    return {f.name: getattr(asked, f.name) for f in fields(asked)}


def current(frozen: Frozen) -> Asked:
    """The question that is put now, as one of the queue."""
    return Asked(**{f.name: getattr(frozen, f.name) for f in fields(Asked)})


def with_extra(frozen: Frozen, cards: tuple[HiddenCard, ...]) -> Frozen | None:
    """One more card too many belongs to the question about the first; None if there is none."""
    if frozen.extra:
        return replace(frozen, extra=(*frozen.extra, cards))
    for i, asked in enumerate(frozen.waiting):
        if asked.extra:
            more = replace(asked, extra=(*asked.extra, cards))
            return replace(frozen, waiting=(*frozen.waiting[:i], more, *frozen.waiting[i + 1 :]))
    return None


def ask_next(state: TableState, waiting: tuple[Asked, ...]) -> Step:
    """A question was answered: the next one is put. A void round needs no answer any more."""
    if not waiting:
        return state, ()
    if state.phase is Phase.VOIDING:
        return replace(state, notes=(*state.notes, *map(unanswered, waiting))), ()
    if state.frozen is not None:
        behind = (*state.frozen.waiting, *waiting)
        return replace(state, frozen=replace(state.frozen, waiting=behind)), ()
    return _stand_still(state, waiting[0], waiting[1:])


def unanswered(asked: Asked) -> str:
    return f"void round, not answered: {asked.question}"
