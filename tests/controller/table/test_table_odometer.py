"""The jackpot meter counts up at a pace: a function of time, never above what was committed."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.rules.engine import facts as f
from controller.table.odometer import STEP_US, CountUp
from controller.table.options import Options
from drivers.orders import ShowMeter, ShowSign
from tests.clauses.tables import table
from tests.controller.table.console_player import Table

SECOND = 1_000_000


@pytest.mark.parametrize(
    ("now_us", "cents"),
    [(-1, 100), (0, 100), (99_999, 100), (100_000, 150), (199_999, 150), (1_000_000, 600),
     (1_999_999, 1050), (2_000_000, 1100), (9_000_000, 1100)],
)  # fmt: skip
def test_a_run_is_a_function_of_time(now_us: int, cents: int) -> None:
    run = CountUp(100, 1100, 0, 2 * SECOND)
    assert run.at(now_us) == cents


def test_a_sign_takes_larger_steps_of_the_same_run() -> None:
    run = CountUp(100, 1100, 0, 2 * SECOND)
    assert [run.at(t, SECOND) for t in (0, 999_999, SECOND, 1_999_999, 2 * SECOND)] == [
        100, 100, 600, 600, 1100,
    ]  # fmt: skip


RUNS = st.builds(
    lambda a, more, start, over: CountUp(a, a + more, start, over),
    st.integers(0, 10**12), st.integers(1, 10**9), st.integers(0, 10**12),
    st.integers(1, 60 * SECOND),
)  # fmt: skip


@given(RUNS)
def test_followed_by_its_own_clock_it_rises_to_its_end_and_never_beyond(run: CountUp) -> None:
    now_us, shown, steps = run.start_us, [run.at(run.start_us)], 0
    while now_us < run.end_us:
        following_us = run.next_us(now_us)
        assert now_us < following_us <= run.end_us
        assert run.at(following_us - 1) == shown[-1], "nothing is missed in between"
        now_us = following_us
        shown.append(run.at(now_us))
        steps += 1
    assert shown[0] == run.from_cents
    assert shown[-1] == run.to_cents
    assert shown == sorted(shown)
    assert steps <= run.over_us // STEP_US + 1


@given(RUNS, st.integers(0, 10**13), st.sampled_from((STEP_US, SECOND)))
def test_at_no_time_is_it_outside_of_its_run(run: CountUp, now_us: int, step_us: int) -> None:
    assert run.from_cents <= run.at(now_us, step_us) <= run.to_cents


# --- on the table ------------------------------------------------------------------------------


def counting(odometer_us: int = 2 * SECOND, game: str = "MBS3") -> Table:
    told = Table(table(game).state, options={"options": Options(odometer_us=odometer_us)})
    told.fact(f.MeterReported(10_000_000))
    told.core.outbox.clear()
    return told


def cents(text: str) -> int:
    return int("".join(c for c in text if c.isdecimal()))


def run_out(table_: Table) -> list[int]:
    """Every value that was shown, driven by nothing but the core's own wakes."""
    shown = [cents(table_.meter)]
    while (wake_us := table_.core.wake_us) is not None:
        orders = table_.wait(wake_us - table_.now_us)
        shown += [cents(o.text) for o in orders if isinstance(o, ShowMeter)]
    return shown


def runs(table_: Table) -> list[Any]:
    return [e for e in table_.core.outbox if isinstance(e, CountUp)]


def test_the_first_value_is_there_at_once() -> None:
    table_ = counting()
    assert table_.meter == "   $100,000.00"
    assert table_.core.wake_us is None


def test_a_higher_value_is_counted_up_to_and_the_run_is_told_once() -> None:
    table_ = counting()
    table_.now_us += 5 * SECOND
    table_.fact(f.MeterReported(10_002_000))
    assert runs(table_) == [CountUp(10_000_000, 10_002_000, 5 * SECOND, 2 * SECOND)]
    shown = run_out(table_)
    assert shown == [10_000_000 + 100 * n for n in range(21)]
    assert table_.now_us == 7 * SECOND
    assert len(runs(table_)) == 1
    assert table_.last(ShowSign) == ShowSign("$100,020.00")


def test_the_sign_changes_once_a_second() -> None:
    table_ = counting(4 * SECOND)
    table_.fact(f.MeterReported(10_004_000))
    before = len(table_.log)
    run_out(table_)
    texts = [o.text for o in table_.log[before:] if isinstance(o, ShowSign)]
    assert texts == ["$100,010.00", "$100,020.00", "$100,030.00", "$100,040.00"]


def test_a_lower_value_jumps() -> None:
    table_ = counting()
    table_.fact(f.MeterReported(50_000))
    assert (table_.meter.strip(), runs(table_), table_.core.wake_us) == ("$500.00", [], None)


def test_a_lower_value_in_a_run_jumps_too_and_is_never_exceeded() -> None:
    table_ = counting()
    table_.fact(f.MeterReported(10_002_000))
    table_.wait(SECOND)
    table_.fact(f.MeterReported(10_001_500))
    assert run_out(table_) == [10_001_500]


def test_a_higher_value_in_a_run_goes_on_from_what_is_shown() -> None:
    table_ = counting()
    table_.fact(f.MeterReported(10_002_000))
    table_.wait(SECOND)
    assert cents(table_.meter) == 10_001_000
    table_.fact(f.MeterReported(10_009_000))
    assert cents(table_.meter) == 10_001_000
    shown = run_out(table_)
    assert shown == sorted(shown)
    assert shown[-1] == 10_009_000
    assert [run.from_cents for run in runs(table_)] == [10_000_000, 10_001_000]


def test_the_same_value_again_disturbs_no_run() -> None:
    table_ = counting()
    table_.fact(f.MeterReported(10_002_000))
    table_.wait(SECOND)
    table_.fact(f.MeterReported(10_002_000))
    assert cents(table_.meter) == 10_001_000
    assert len(runs(table_)) == 1


def test_without_a_pace_it_jumps() -> None:
    table_ = counting(0)
    table_.fact(f.MeterReported(10_002_000))
    assert (cents(table_.meter), runs(table_), table_.core.wake_us) == (10_002_000, [], None)


def test_a_word_ends_the_run_and_behind_a_word_nothing_is_counted() -> None:
    table_ = counting()
    table_.fact(f.MeterReported(10_002_000))
    table_.wait(SECOND)
    table_.fact(f.LinkLost())
    assert table_.meter.startswith("STALE")
    table_.fact(f.LinkRestored())
    assert cents(table_.meter) == 10_002_000
    table_.fact(f.ProgressiveClosed("x"))
    table_.fact(f.MeterReported(10_003_000))
    assert table_.meter == "CLOSED"
    table_.fact(f.ProgressiveOpened())
    assert cents(table_.meter) == 10_003_000
    assert len(runs(table_)) == 1


def test_after_a_start_it_counts_on_from_the_value_of_the_journal() -> None:
    state = counting().core.state
    again = Table(state, options={"options": Options(odometer_us=2 * SECOND)})
    assert cents(again.meter) == 10_000_000
    again.fact(f.MeterReported(10_002_000))
    assert cents(again.meter) == 10_000_000
    assert run_out(again)[-1] == 10_002_000
