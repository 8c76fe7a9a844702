"""The time budget: the tables of the page are the function's values."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from drivers.chips.budget import (
    SLOW,
    USUAL,
    Rates,
    busiest,
    double_sweep_us,
    poll_cycle_us,
    sweep_deadline_us,
    visit_us,
)
from drivers.chips.policy import Policy

PAGE = Path(__file__).resolve().parents[3] / "docs" / "protocols" / "chip-sensing.md"
LOADS = ((0, USUAL), (1, USUAL), (3, USUAL), (6, USUAL), (6, SLOW))


def rows_of(heading: str) -> list[list[str]]:
    """The rows of the first table of numbers after these words."""
    text = PAGE.read_text("utf-8")
    table = text[text.index(heading) :].split("\n\n")[1]
    lines = [line for line in table.splitlines() if re.match(r"\| \d", line)]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]


def seconds(us: int) -> str:
    return f"{-(-us // 10_000) / 100:.2f}"


def row(spots: int, readers: int, *times: int) -> list[str]:
    return [str(spots), str(readers), str(busiest(spots, readers)), *map(seconds, times)]


TABLES = [(spots, readers) for spots in (21, 28, 42) for readers in (1, 2, 4)]


def test_the_poll_table_of_the_page_is_the_budget() -> None:
    expected = [
        row(s, r, *(poll_cycle_us(busiest(s, r), chips, rates) for chips, rates in LOADS))
        for s, r in TABLES
    ]
    assert rows_of("**Poll cycle**") == expected


def test_the_sweep_table_of_the_page_is_the_budget() -> None:
    expected = []
    for s, r in TABLES:
        most = busiest(s, r)
        times = [double_sweep_us(most, chips, rates) for chips, rates in LOADS]
        expected.append(row(s, r, *times, sweep_deadline_us(most)))
    assert rows_of("**Double sweep**") == expected


@pytest.mark.parametrize(("words", "rates"), [("at 30 tags/s", USUAL), ("at 20 tags/s", SLOW)])
def test_the_visit_table_of_the_page_is_the_budget(words: str, rates: Rates) -> None:
    (line,) = [one for one in PAGE.read_text("utf-8").splitlines() if f"| {words}, ms |" in one]
    cells = [cell.strip() for cell in line.strip("|").split("|")][1:]
    expected = [f"{-(-visit_us(chips, rates) // 100) / 10:.1f}" for chips in (0, 1, 3, 6, 20)]
    assert cells == expected


def test_one_empty_visit_by_hand() -> None:
    # (10 + 8 + 9 + 9) characters, multiplexer 4 ms, anticollision 15 ms, two silences of 5 ms.
    assert visit_us(0) == 36 * 287 + 4_000 + 15_000 + 2 * 5_000


def test_the_deadline_of_the_policy_is_the_budgets() -> None:
    assert Policy().sweep_deadline_us(21) == sweep_deadline_us(21) == 26_531_664


def test_every_deadline_leaves_room_for_the_sweep_it_is_for() -> None:
    for spots in range(1, 43):
        assert sweep_deadline_us(spots) > double_sweep_us(spots, 6, SLOW) + SLOW.failure_us


def test_rates_that_no_tag_can_keep_are_refused() -> None:
    with pytest.raises(ValueError, match="no tag fits"):
        Rates(tags_per_second=0)
    with pytest.raises(ValueError, match="no tag fits"):
        Rates(response_us=16_000)
