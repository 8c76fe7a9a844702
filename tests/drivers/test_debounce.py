"""Levels that count."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from drivers.debounce import APART_US, Debouncer, Level


def test_two_samples_twenty_milliseconds_apart_count() -> None:
    pins = Debouncer(0b101)
    assert pins.sample(0b001, 0) == []
    assert pins.sample(0b001, 19_999) == []
    assert pins.pending
    assert pins.sample(0b001, 20_000) == [Level(0, True, True), Level(2, False, True)]
    assert pins.complete
    assert pins.on == 0b001


def test_pins_outside_the_mask_do_not_exist() -> None:
    pins = Debouncer(0b101)
    pins.sample(0b010, 0)
    assert [level.pin for level in pins.sample(0b010, 20_000)] == [0, 2]
    assert pins.on == 0


def test_forgotten_levels_are_first_again() -> None:
    pins = Debouncer(0b1)
    pins.sample(1, 0)
    pins.sample(1, 20_000)
    pins.forget()
    assert pins.sample(1, 30_000) == []
    assert pins.sample(1, 60_000) == [Level(0, True, True)]


@given(st.lists(st.tuples(st.integers(0, 60_000), st.integers(0, 7)), max_size=40))
def test_a_level_counts_exactly_when_the_samples_say_so(story: list[tuple[int, int]]) -> None:
    """Against the rule in its own words, pin by pin, over the whole history."""
    pins, now_us = Debouncer(0b111), 0
    history: list[tuple[int, int]] = []
    counted: list[bool | None] = [None, None, None]
    for wait_us, bits in story:
        now_us += wait_us
        history.append((now_us, bits))
        expected = []
        for pin in range(3):
            level = bool(bits >> pin & 1)
            run_us = now_us
            for at_us, earlier in reversed(history):
                if bool(earlier >> pin & 1) != level:
                    break
                run_us = at_us
            alone = len(history) < 2 or bool(history[-2][1] >> pin & 1) != level
            if not alone and now_us - run_us >= APART_US and counted[pin] is not level:
                expected.append(Level(pin, level, counted[pin] is None))
                counted[pin] = level
        assert pins.sample(bits, now_us) == expected
