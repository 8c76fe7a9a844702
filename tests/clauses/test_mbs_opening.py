"""Which rule book a table plays and what must be stated before it opens."""

from __future__ import annotations

from datetime import date, timedelta

import pytest

from controller.rules.books import BOOKS
from controller.rules.engine.opening import open_table
from controller.rules.engine.state import Phase
from controller.rules.errors import SettingsError
from tests.clauses.tables import SETTINGS


@pytest.mark.clause("MBS3-0", "MEGA-0")
@pytest.mark.parametrize(
    ("game", "title", "version", "effective"),
    [
        ("MBS3", "Let It Ride (MBS)", "3", date(2012, 12, 27)),
        ("MEGA", "Megalink Let It Ride (MBS)", "2", date(2013, 5, 9)),
    ],
)
def test_a_book_names_its_version_and_is_not_played_before_its_date(
    game: str, title: str, version: str, effective: date
) -> None:
    book = BOOKS[game]
    assert (book.title, book.version, book.effective) == (title, version, effective)
    with pytest.raises(SettingsError) as early:
        open_table(game, SETTINGS[game], effective - timedelta(days=1))
    assert early.value.problems == [
        ("E-CFG-006", "game", f"{title} version {version} takes effect on {effective}, not before")
    ]
    state = open_table(game, SETTINGS[game], effective)
    assert (state.phase, state.rules.book) == (Phase.IDLE, book)


@pytest.mark.clause("MBS3-2.3", "MEGA-D")
@pytest.mark.parametrize("game", ["MBS3", "MEGA"])
def test_a_table_without_a_seat_count_does_not_open(game: str) -> None:
    settings = {name: value for name, value in SETTINGS[game].items() if name != "seats"}
    with pytest.raises(SettingsError, match="number of seats at the table"):
        open_table(game, settings, date(2026, 1, 1))
    for seats in (1, 7):
        assert open_table(game, {**settings, "seats": seats}, date(2026, 1, 1))
    with pytest.raises(SettingsError, match="from 1 to 7"):
        open_table(game, {**settings, "seats": 8}, date(2026, 1, 1))
