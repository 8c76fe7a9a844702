"""The digest of a state and the snapshot: every field is in both, no hidden card in one."""

from __future__ import annotations

from dataclasses import replace as changed
from typing import Any

import pytest

from controller.history.memory import Memory
from controller.history.replay import replay
from controller.history.snapshot import StateDigest, round_body
from controller.history.table_log import TableLog
from controller.rules import events as ev
from controller.rules.cards import Card, HiddenCard
from controller.rules.engine import facts as f
from controller.rules.engine.state import Archive, Award, Deck, Frozen, Phase, Seat, TableState
from controller.rules.engine.step import step
from controller.rules.ricochet import Showdown
from tests.controller.history.desk import opening_of, random_desk
from tests.paper import Paper, Row, cards


def test_the_digest_is_what_it_was() -> None:
    """A literal: another value means that no journal of before can be replayed."""
    opening = opening_of("NSW")
    state = changed(
        opening.state(),
        phase=Phase.DEALING,
        round_no=7,
        spots={(2, "$"): 1000, (2, "1"): 1000},
        drawn=(HiddenCard(Card(3)), HiddenCard(Card(4))),
        notes=("a", "b"),
    )
    assert StateDigest().of(state) == "519a7821ab28a8d9"


def test_a_digest_does_not_know_hidden_cards_but_how_many_there_are() -> None:
    state = opening_of("NSW").state()
    one, other, two = (
        StateDigest().of(changed(state, drawn=tuple(HiddenCard(Card(c)) for c in drawn)))
        for drawn in ((3,), (4,), (3, 4))
    )
    assert one == other != two


def test_what_was_seen_before_does_not_change_a_digest() -> None:
    live = random_desk("RICO", "shoe", 0)
    kept, states = StateDigest(), [live.opening.state()]
    for entry, _ in live.hand.table.entries:
        if isinstance(entry, f.Fact):
            states.append(step(states[-1], entry)[0])
    assert [kept.of(s) for s in states] == [StateDigest().of(s) for s in states]


OTHER: dict[str, Any] = {
    "phase": Phase.FROZEN,
    "round_no": 1,
    "in_play": True,
    "spots": {(1, "$"): 5},
    "declared": frozenset({(1, "$")}),
    "credits": {1: 1},
    "progressive_closed": "safe mode",
    "left_out": frozenset({1}),
    "excluded": frozenset({1}),
    "seats": {1: Seat({"$": 5})},
    "drawn": (HiddenCard(Card(3)),),
    "packets": (3,),
    "stray": (1,),
    "swapped": {1: 2, 2: 1},
    "turned": (Card(3),),
    "bonus": Card(3),
    "face_up": {1: (Card(3),)},
    "showdown": Showdown(5, {1: (1, 2, 3)}, (1,), {}, 7, False, 5, {2: "folded"}, ["x"]),
    "carried": 5,
    "actions": {1: "fold"},
    "handled_all": True,
    "first": (2,),
    "events": (ev.ForeignCard(),),
    "voided_by": "x",
    "frozen": Frozen(Phase.DEALING, "?", ("void",), ev.DeckCount(51), (HiddenCard(Card(3)),)),
    "commitment": "x",
    "revealed": True,
    "magic_card": Card(3),
    "lucky_seat": 3,
    "meter": 5,
    "jackpot": 5,
    "reset": 5,
    "awards": (Award("main/1/1", 3, 2, 500), Award("m/1/2", 3, 2, 5, "verified", share=False)),
    "claims": ((1, "x", 10),),
    "link_up": False,
    "record": {"x": 1},
    "result": {"x": 1},
    "deck": Deck("red", {"red": None}),
    "min_wager": 7,
    "max_wager": 7,
    "next_limits": (5, None),
    "signs": {"closing": 5},
    "warnings": {1: 1},
    "idle": {1: 1},
    "notes": ("x",),
    "disputes": {1: "x"},
    "vacant": True,
    "decided_by": ((1, "S1", "casino supervisor"),),
    "history": (Archive(1, {}, {}, ((1, 5, "x"),), ({}, {"x": 1})),),
}
"""For every field a value that it does not have at the start."""


@pytest.mark.parametrize("name", [n for n in TableState.__dataclass_fields__ if n != "rules"])
def test_every_field_of_the_state_is_in_the_digest_and_in_a_snapshot(name: str) -> None:
    """A field left out could differ unseen, or be lost at a start."""
    opening = opening_of("NSW")
    state = changed(opening.state(), **{name: OTHER[name]})
    assert StateDigest().of(state) != StateDigest().of(opening.state())
    rounds = {a.round_no: 1 for a in state.history}
    paper = Paper([Row(1, "round", round_body(a)) for a in state.history])
    table_log = TableLog(Memory(state, opening, rounds=rounds), paper, cards(), lambda: 0)
    if name != "phase":
        table_log.write_snapshot()
        assert replay(paper.rows, cards(), opening).state == state


def test_the_memory_of_the_live_table_holds_no_more_than_its_journal() -> None:
    """Whatever is added to the memory must come back from a replay; ``opened`` may be shorter
    afterwards, which shows less."""
    names = set(Memory.__dataclass_fields__)
    assert names == {
        "state", "opening", "last_keys", "untaken", "dealer", "table_closed", "undo", "rounds",
        "day", "sent", "opened", "facts", "_open_key", "_digest", "_revealer",
    }  # fmt: skip
