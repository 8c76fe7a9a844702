"""A playing table keeps no more after a hundred rounds than after seventy."""

from __future__ import annotations

from typing import Any

import pytest

from controller.daemon.decks import Decks
from controller.rules.engine.settlement import KEPT_ROUNDS
from tests.memory.counting import LongTable

FULL: int = KEPT_ROUNDS + 10
"""By then everything that is kept for some rounds is kept in full."""
MORE: int = 30


def growth(table: LongTable) -> tuple[int, str]:
    """Objects a round, and which."""
    table.play(FULL)
    before = table.kept()
    table.play(MORE)
    after = table.kept()
    more = after.objects - before.objects
    return (after.total - before.total) // MORE, str(more.most_common(5))


def test_a_playing_table_does_not_grow() -> None:
    grown, which = growth(LongTable("MBS3", 1))
    assert grown <= 2, which


def test_one_forgotten_row_a_round_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """The smallest leak there is: a short list for every round that was closed."""
    plain = Decks.closed

    def closed(self: Any, state: Any) -> Any:
        self.leak = [*getattr(self, "leak", []), [[state.round_no], [], [], []]]
        return plain(self, state)

    monkeypatch.setattr(Decks, "closed", closed)
    grown, which = growth(LongTable("MBS3", 1))
    assert grown > 2, which


def test_the_table_and_its_record_share_their_closed_rounds() -> None:
    table = LongTable("MBS3", 1)
    table.play(3)
    core, memory = table.made.state, table.made.scribe.memory.state
    assert [a is b for a, b in zip(core.history, memory.history, strict=True)] == [True] * 3
