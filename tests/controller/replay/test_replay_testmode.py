"""A test mode between two rounds, as a replay of either of them tells it."""

from __future__ import annotations

from functools import cache

from controller.history.replay import DIVERGED
from controller.history.sealing import CardSealer
from controller.replay.screen import COLUMNS, ROWS, screen
from controller.replay.timeline import Moment, Timeline, build
from hw_sim.clock import SECOND
from record.journal.format import Record
from tests.controller.daemon.test_daemon_testmode import draw_cards, table_after
from tests.paper import Row
from tests.sim.table import KEY


@cache
def between_rounds() -> tuple[list[Record], CardSealer]:
    """A round, a technician who draws two cards of a test, another round."""
    table = table_after("mbs3-plain")
    assert table.begin_test() is None
    table.run_for(SECOND)
    draw_cards(table, 2)
    table.end_test()
    table.run_for(10 * SECOND)
    table.again("mbs3-plain")
    return list(table.journal.records()), CardSealer(KEY, table.journal.journal_id)


def of_tests(timeline: Timeline) -> list[Moment]:
    return [moment for moment in timeline.moments if moment.kind == "test"]


def test_it_is_told_after_the_round_before_and_before_the_round_after() -> None:
    records, _ = between_rounds()
    for number in (1, 2):
        timeline = build(records, number)
        assert timeline.diverged is None
        begin, *readings, end = of_tests(timeline)
        assert begin.what == "TEST MODE BEGINS: nothing that is read or pressed from here on counts"
        assert begin.by == "mia, technician, in the shell"
        assert {one.by for one in readings} == {"measured by shoe"}
        assert [one.what for one in readings] == [
            "Test mode: shoe told 'door', number 5, for the test alone",
            "Test mode: shoe told 'door', number 6, for the test alone",
            "Test mode: shoe told 'shoe loaded', number 3, for the test alone",
            "Test mode: shoe told 'card', number 1, for the test alone",
            "Test mode: shoe told 'card', number 2, for the test alone",
        ]
        assert (end.what, end.by) == ("TEST MODE ENDS: test off", "the table's computer")
        assert all("test" in one.marks for one in of_tests(timeline))
        assert begin.displays["prompt"].startswith("TEST MODE")
        assert not end.displays["prompt"].startswith("TEST MODE")


def test_begin_and_end_say_that_the_state_is_the_same_and_was_stepped_to() -> None:
    records, sealer = between_rounds()
    for timeline in (build(records, 1), build(records, 2), build(records, 2, sealer)):
        begin, *readings, end = of_tests(timeline)
        assert begin.digest == end.digest != ""
        assert all(one.digest == "" for one in readings)


def test_an_end_in_another_state_is_where_the_replay_diverges() -> None:
    records, _ = between_rounds()
    (at,) = [n for n, r in enumerate(records) if r.kind == "test" and b'"end"' in r.body]
    end = records[at]
    digest = of_tests(build(records, 1))[-1].digest
    forged = end.body.replace(digest.encode(), b"0" * 16)
    changed: list[Record] = [*records]
    changed[at] = Row(end.seq, end.kind, forged, end.at_ms, end.hash)
    timeline = build(changed, 1)
    assert timeline.diverged is not None
    assert (timeline.diverged.code, timeline.diverged.seq) == (DIVERGED, end.seq)
    begin, *_, last = of_tests(timeline)
    assert (begin.digest, begin.trouble) == (digest, "")
    assert last.digest == ""
    assert last.trouble.startswith("THE REPLAY DIVERGES HERE: ")


def test_it_fits_the_screen_and_has_no_cards() -> None:
    records, _ = between_rounds()
    timeline = build(records, 2)
    for moment in of_tests(timeline):
        lines = screen(timeline, moment.number - 1, "T-1")
        assert len(lines) == ROWS
        assert all(len(line) <= COLUMNS for line in lines)
        assert moment.cards == ()
