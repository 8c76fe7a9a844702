"""Notices over the question: money that is owed is never told away."""

from __future__ import annotations

from controller.table.notices import MOST, Notices
from controller.table.prompt import Notice


def told(notices: Notices) -> list[tuple[str, int | None]]:
    """From the newest on, as CLEAR takes them away."""
    found = []
    while (newest := notices.newest) is not None:
        found.append((newest.code, newest.cents))
        notices.clear_newest(str)
    return found


def test_what_is_owed_again_is_one_line_with_the_sum() -> None:
    notices = Notices()
    for _ in range(2):
        notices.add(Notice("award", 3, 5_000, "envy"))
    notices.add(Notice("award", 4, 5_000, "envy"))
    notices.new_round()
    notices.add(Notice("difference pay", 3, 1_000))
    notices.add(Notice("award", 3, 5_000, "envy"))
    assert told(notices) == [("award", 15_000), ("difference pay", 1_000), ("award", 5_000)]


def test_the_same_chips_given_back_are_told_once() -> None:
    notices = Notices()
    for _ in range(2):
        notices.add(Notice("return", 3, 500))
    assert told(notices) == [("return", 500)]


def test_many_notices_push_out_the_oldest_but_no_money() -> None:
    notices = Notices()
    notices.add(Notice("award", 1, 5_000, "envy"))
    for seat in range(2, 3 + MOST):
        notices.add(Notice("idle", seat))
    left = told(notices)
    assert len(left) == MOST
    assert left[-1] == ("award", 5_000)
    assert left[0] == ("idle", None)
