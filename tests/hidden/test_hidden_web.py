"""Twins over the web: every byte that a browser gets is the same until a card is public.

The table's and the simulator's answers of both twins go through the web process's own code
(``served.py``). Hidden cards are found in no response: snapshot, stream from the beginning, stream
of a browser that comes later, replay of the round that is being played.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.hidden.planted import OTHER, hidden_card, leaking, saying
from tests.hidden.served import (
    FOLLOWED,
    PATHS,
    ROUNDS,
    SIM,
    STREAM,
    TABLE,
    Answer,
    Sent,
    answers_of,
    difference,
    everything,
    frame_log,
    replayed,
)
from tests.hidden.table import OpenTable, twin_of
from tests.hidden.test_hidden_twins import TABLES
from tests.hidden.twins import base_of, played

AFTER = 200
"""Rows after a moment; there the twins must differ."""


@pytest.fixture(scope="module")
def base() -> OpenTable:
    return base_of("mbs3-plain")


def fixed_before(base: OpenTable, moment: int) -> frozenset[Any]:
    return frozenset().union(*(cards for _, cards in base.moments[:moment]))


def twin(base: OpenTable, moment: int) -> OpenTable:
    """With other cards from this moment on."""
    other = twin_of(base.scenario, fixed_before(base, moment))
    return played(other, most_rows=base.moments[moment][0] + AFTER)


@pytest.fixture
def seen(tmp_path: Path) -> Callable[[Sequence[Answer]], list[Sent]]:
    return lambda answers: everything(answers, tmp_path)


Seen = Callable[[Sequence[Answer]], list[Sent]]


def rows_differ(one: OpenTable, other: OpenTable, end: int, seen: Seen) -> str:
    ours, theirs = (answers_of(table.outside.rows[:end]) for table in (one, other))
    return difference(seen(ours), seen(theirs))


def alike_until(base: OpenTable, moment: int, seen: Seen) -> None:
    other, end = twin(base, moment), base.moments[moment][0]
    assert rows_differ(base, other, end, seen) == ""
    later = rows_differ(base, other, end + AFTER, seen)
    assert later.startswith("row "), "the twin's cards are the same"


@pytest.mark.parametrize("moment", [0, 1])
def test_browsers_get_the_same_bytes_until_a_card_is_public(
    base: OpenTable, moment: int, seen: Seen
) -> None:
    alike_until(base, moment, seen)


@pytest.mark.slow
@pytest.mark.parametrize("name", TABLES)
def test_browsers_get_the_same_bytes_at_every_table(name: str, seen: Seen) -> None:
    one = base_of(name)
    for moment in range(len(one.moments)):
        alike_until(one, moment, seen)


def test_every_way_to_a_browser_is_compared(base: OpenTable, seen: Seen) -> None:
    answers = answers_of(base.outside.rows)
    assert {answer.source for answer in answers} == {TABLE, SIM}
    parts = {(answer.source, part) for answer in answers for part in answer.body["parts"]}
    assert {(TABLE, "felt"), (TABLE, "why"), (SIM, "cards"), (SIM, "people")} <= parts
    sent = seen(answers)
    assert {one.path for one in sent} == {FOLLOWED, STREAM, *PATHS, "log"}
    assert all(one.data for one in sent)
    last = [one for one in sent if one.path == PATHS[0]][-1]
    assert b'"felt"' in last.data
    assert b'"Kc"' in b"".join(one.data for one in sent), "cards that are public"


# --- leaks put in on purpose ---------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "part"),
    [(TABLE, "felt"), (TABLE, "why"), (TABLE, "lamps"), (SIM, "cards"), (SIM, "people")],
)
def test_a_hidden_card_in_one_part_is_found(
    base: OpenTable, source: str, part: str, seen: Seen
) -> None:
    answers = answers_of(base.outside.rows[: base.moments[0][0]])
    cards = hidden_card(base), OTHER
    one, other = (seen(leaking(answers, source, part, card)) for card in cards)
    assert difference(one, other).startswith("row ")
    differ = {a.path for a, b in zip(one, other, strict=True) if a != b}
    assert differ == {FOLLOWED, STREAM} | ({PATHS[0]} if source == TABLE else set())


def test_a_hidden_card_in_one_log_entry_is_found(base: OpenTable, seen: Seen) -> None:
    answers = answers_of(base.outside.rows[: base.moments[0][0]])
    one, other = (seen(saying(answers, card)) for card in (hidden_card(base), OTHER))
    assert difference(one, other).startswith("row ")


# --- the replay of the running round -------------------------------------------------------------


def replays(base: OpenTable, at: int, folder: Path) -> list[dict[str, bytes]]:
    """Of both twins, with the real seal, at a moment; every card of the other is another one."""
    end = base.moments[at][0]
    found = []
    for number, scenario in enumerate((base.scenario, twin_of(base.scenario, frozenset()))):
        own = folder / f"{at} {number}"
        own.mkdir()
        table = played(scenario, blind=False, keep_at=end, most_rows=end + AFTER)
        assert table.kept
        found.append(replayed(table.kept, frame_log(table.outside.rows[:end]), own))
    return found


def test_the_replay_of_the_running_round_is_the_same_until_a_card_is_public(
    base: OpenTable, tmp_path: Path
) -> None:
    """The journals differ in what is sealed; what is shown of them does not."""
    one, other = replays(base, 0, tmp_path)
    assert one == other
    shown = one[ROUNDS[1]].decode()
    assert shown.count('"??"') > 10, "closed cards"
    assert "under way" in shown
    assert '"masked":true' in shown, "frames of the card device"
    one, other = replays(base, 1, tmp_path)
    assert one[ROUNDS[1]] != other[ROUNDS[1]], "a card that is public by now"
