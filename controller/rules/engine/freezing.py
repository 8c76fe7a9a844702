"""Standing still with a question: nothing is guessed (AMB-V08)."""

from __future__ import annotations

from dataclasses import replace

from controller.rules import events as ev
from controller.rules.cards import HiddenCard
from controller.rules.engine import effects as fx
from controller.rules.engine.common import Step
from controller.rules.engine.state import Frozen, Phase, TableState

CARD_FAULT = ("misread", "confirmed", "resume")
"""What a supervisor may say of a card that cannot be."""


def freeze(
    state: TableState,
    question: str,
    answers: tuple[str, ...],
    event: ev.Event | None = None,
    held: tuple[HiddenCard, ...] | None = None,
    *,
    extra: tuple[tuple[HiddenCard, ...], ...] = (),
    about: str = "",
) -> Step:
    if state.frozen is not None:
        frozen = replace(state.frozen, question=f"{state.frozen.question} {question}")
        if frozen.event is None:
            frozen = replace(frozen, answers=answers, event=event, held=held)
        return replace(state, frozen=frozen), (fx.AskSupervisor(question, frozen.answers),)
    frozen = Frozen(state.phase, question, answers, event, held, extra, about)
    return (
        replace(state, phase=Phase.FROZEN, frozen=frozen),
        (fx.Prompt("frozen", detail=question), fx.AskSupervisor(question, answers)),
    )
