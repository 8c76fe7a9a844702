"""A playing table keeps no more after a hundred rounds than after fifty, in any part of it.

Every bound is made small here, so that it is reached within a few rounds, and every round is the
same one, so that nothing but a leak can add to what is kept. ``make memory`` plays two thousand
different rounds with the real bounds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import pytest

from controller.daemon.writer import Writer
from controller.deckwatch import watch
from controller.deckwatch.watch import DeckWatch
from controller.history.gamingday import rounds
from controller.link import outbox
from controller.link.cursor import Cursor
from controller.rules.engine import betting, settlement
from controller.shell.desk import recent
from tests.memory.counting import GAMES, LongTable

FULL: Final = 45
"""By then everything that is kept for some rounds is kept in full."""
MORE: Final = 30
MOST: Final = MORE // 2
"""Objects more; segments of the journal come and go meanwhile."""
ALONE: Final = [
    pytest.param(game, False, marks=() if game == "MBS3" else pytest.mark.slow) for game in GAMES
]
BOUNDS: Final = (
    (settlement, "KEPT_ROUNDS", 10), (watch, "RECENT", 8), (outbox, "RECENT", 8),
    (recent, "FRAMES", 64), (recent, "READINGS", 64), (recent, "KEYS", 16), (rounds, "KEPT", 10),
    (betting, "NOTES_KEPT", 10),
)  # fmt: skip


@pytest.fixture(autouse=True)
def _small_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name, value in BOUNDS:
        assert getattr(module, name) > value
        monkeypatch.setattr(module, name, value)


def growth(game: str, *, linked: bool = False) -> tuple[int, str]:
    """Objects more, and of which types."""
    with LongTable(game, 1, linked=linked, same=True) as table:
        table.play_to_snapshot(FULL)
        before = table.kept()
        table.play_to_snapshot(MORE)
        after = table.kept()
    more = after.objects - before.objects
    return after.total - before.total, str(more.most_common(5))


@pytest.mark.parametrize(("game", "linked"), [*ALONE, *((game, True) for game in GAMES)])
def test_a_playing_table_does_not_grow(game: str, linked: bool) -> None:
    grown, which = growth(game, linked=linked)
    assert grown <= MOST, which


@pytest.mark.parametrize(
    ("owner", "method"),
    [
        (DeckWatch, "take"),
        (Writer, "_watch_decks"),
        (Cursor, "add"),
    ],
)
def test_one_number_a_round_that_any_part_keeps_is_found(
    monkeypatch: pytest.MonkeyPatch, owner: type[Any], method: str
) -> None:
    """The smallest leak there is."""
    plain: Callable[..., Any] = getattr(owner, method)
    kept: dict[int, list[float]] = {}

    def leaks(self: Any, *arguments: Any) -> Any:
        kept.setdefault(id(self), []).append(float(len(kept)))
        self.leak = kept[id(self)]
        return plain(self, *arguments)

    monkeypatch.setattr(owner, method, leaks)
    grown, which = growth("MBS3", linked=True)
    assert grown > MOST, which
