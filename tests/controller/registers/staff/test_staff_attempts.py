"""Guessing: five wrong PINs lock an id, twenty the console, and pulling the plug helps nobody."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from controller.registers.staff.attempts import CONSOLE, FIRST_LOCK_MS, Attempt, Attempts

MINUTE = 60_000
DAY = 24 * 60 * MINUTE


def fail(attempts: Attempts, who: str, times: int, now_ms: int = 0) -> list[Attempt]:
    return [one for _ in range(times) for one in attempts.fail(who, now_ms)]


def test_the_fifth_failure_locks_for_fifteen_minutes() -> None:
    attempts = Attempts()
    fail(attempts, "1042", 4)
    assert attempts.locked_ms("1042", 0) == 0
    assert attempts.fail("1042", 0) == [Attempt("failed", "1042"), Attempt("locked", "1042")]
    assert attempts.locked_ms("1042", 0) == 15 * MINUTE
    assert attempts.locked_ms("1042", 15 * MINUTE - 1) == 1
    assert attempts.locked_ms("1042", 15 * MINUTE) == 0
    assert attempts.locked_ms("7", 0) == 0


def test_the_right_pin_in_between_starts_the_count_anew() -> None:
    attempts = Attempts()
    fail(attempts, "1042", 4)
    assert attempts.succeed("1042", 0) == [Attempt("passed", "1042")]
    fail(attempts, "1042", 4)
    assert attempts.locked_ms("1042", 0) == 0


def test_every_further_lock_is_twice_as_long_up_to_a_day() -> None:
    attempts = Attempts()
    now, lengths = 0, []
    for _ in range(9):
        attempts.clear(CONSOLE, now)
        fail(attempts, "1042", 5, now)
        lengths.append(attempts.locked_ms("1042", now) // MINUTE)
        now += attempts.locked_ms("1042", now)
        assert attempts.lapse(now) == [Attempt("lapsed", "1042")]
    assert lengths == [15, 30, 60, 120, 240, 480, 960, 1440, 1440]


def test_one_pin_tried_on_everybody_locks_the_console() -> None:
    attempts = Attempts()
    for who in range(1, 20):
        fail(attempts, str(who), 1)
    assert attempts.locked_ms("99", 0) == 0
    assert Attempt("locked", CONSOLE) in attempts.fail("20", 0)
    assert attempts.locked_ms("99", 0) == FIRST_LOCK_MS


def test_signing_on_oneself_does_not_wipe_the_slate_for_guessing() -> None:
    attempts = Attempts()
    for who in range(1, 20):
        fail(attempts, str(who), 1)
        attempts.succeed("1042", 0)
    assert Attempt("locked", CONSOLE) in attempts.fail("20", 0)


def test_honest_slips_are_forgiven_with_the_right_pin() -> None:
    attempts = Attempts()
    for _ in range(30):
        fail(attempts, "1042", 2)
        attempts.succeed("1042", 0)
    assert attempts.locked_ms("1042", 0) == 0


def test_a_lock_begins_anew_after_a_restart_and_a_lapsed_one_does_not() -> None:
    attempts = Attempts()
    told = fail(attempts, "1042", 5)
    again = Attempts.restored(told, now_ms=5_000)
    assert again.locked_ms("1042", 5_000) == FIRST_LOCK_MS
    told += attempts.lapse(FIRST_LOCK_MS)
    again = Attempts.restored(told, now_ms=5_000)
    assert again.locked_ms("1042", 5_000) == 0
    fail(again, "1042", 5, 5_000)
    assert again.locked_ms("1042", 5_000) == 2 * FIRST_LOCK_MS, "the second lock"


def test_authority_clears_a_lock() -> None:
    attempts = Attempts()
    told = fail(attempts, "1042", 5)
    told += attempts.clear("1042", 1)
    assert attempts.locked_ms("1042", 1) == 0
    assert Attempts.restored(told, 0).locked_ms("1042", 0) == 0
    assert attempts.clear("1042", 1) == []


STEPS = st.lists(
    st.tuples(st.sampled_from("fsl"), st.sampled_from(["1", "2", "?"]), st.integers(0, DAY)),
    max_size=60,
)


@given(STEPS)
def test_a_restart_never_shortens_a_lock_nor_forgets_a_failure(
    steps: list[tuple[str, str, int]],
) -> None:
    """Against the same steps after it: whoever is locked without the restart is locked with it."""
    attempts, told, now = Attempts(), [], 0
    for what, who, later in steps:
        now += later
        told += attempts.lapse(now)
        if what == "f" and not attempts.locked_ms(who, now):
            told += attempts.fail(who, now)
        elif what == "s" and not attempts.locked_ms(who, now):
            told += attempts.succeed(who, now)
    again = Attempts.restored(told, now)
    for who in ("1", "2", "?"):
        assert again.locked_ms(who, now) >= attempts.locked_ms(who, now)
        if not again.locked_ms(who, now):
            for _ in range(5):
                if not attempts.locked_ms(who, now):
                    assert again.fail(who, now) == attempts.fail(who, now)
