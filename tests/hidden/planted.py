"""Leaks put into recorded answers on purpose: a hidden card in one part, or in the table's log."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, Final

from hw_sim.scenario import card_name
from tests.hidden.served import TABLE, Answer
from tests.hidden.table import OpenTable, code_of

OTHER: Final = "Ad"
"""What the twin has in its place."""
CLOSED: Final = "??"


def hidden_card(table: OpenTable) -> str:
    """The card that becomes public first; before its moment it lies face down."""
    (card,) = table.moments[0][1]
    return card_name(code_of(card))


def added(value: Any, word: str) -> Any:
    """The same part with one word more."""
    if isinstance(value, dict):
        return {**value, "more": word}
    return [*value, word] if isinstance(value, list) else f"{value}{word}"


def leaking(answers: Sequence[Answer], source: str, part: str, word: str) -> list[Answer]:
    return changed(answers, source, part, lambda value: added(value, word))


def changed(
    answers: Sequence[Answer], source: str, part: str, change: Callable[[Any], Any]
) -> list[Answer]:
    """Wherever the source gave this part."""
    found = list[Answer]()
    for answer in answers:
        body = answer.body
        if answer.source == source and part in body["parts"]:
            n, value = body["parts"][part]
            body = {**body, "parts": {**body["parts"], part: [n, change(value)]}}
        found.append(answer._replace(body=body))
    assert found != answers, f"{source} never gave {part}"
    return found


def saying(answers: Sequence[Answer], word: str) -> list[Answer]:
    """The last entry of the table's log has one word more."""
    last = max(n for n, answer in enumerate(answers) if answer.body["log"])
    body = json.loads(json.dumps(answers[last].body))
    body["log"][-1]["text"] += word
    return [*answers[:last], answers[last]._replace(body=body), *answers[last + 1 :]]


def face_up(answers: Sequence[Answer], word: str) -> list[Answer]:
    """The first closed card on the felt has its face."""

    def turned(felt: Any) -> Any:
        felt = json.loads(json.dumps(felt))
        for row in felt["rows"]:
            if CLOSED in row["cards"]:
                row["cards"][row["cards"].index(CLOSED)] = word
                break
        return felt

    return changed(answers, TABLE, "felt", turned)
