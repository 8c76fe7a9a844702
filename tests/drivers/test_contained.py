"""A vendor's driver that misbehaves, in every method and every way, stops its own device alone."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers.base import (
    SECOND,
    DeviceIdentified,
    DeviceState,
    Fault,
    Identity,
    Reopen,
    StateReported,
    Write,
)
from drivers.build import build
from drivers.contained import AGAIN_US, Contained
from drivers.layout import LineLayout, TableLayout, Transport
from drivers.orders import LockCards
from drivers.readings import CardEvent, CardRead, KeyPressed, PacketRead, SealedCard, SwitchRead
from drivers.rig import Rig
from tests.drivers.villain import METHODS, Mischief, maker

UNKNOWN, READY = DeviceState.UNKNOWN, DeviceState.READY
LINE = LineLayout("shoe", "villain", "/dev/null", serial="V-1")
SECRET = "7h"
"""What an exception might say."""


def raises(error: BaseException) -> Mischief:
    def act() -> Any:
        raise error

    return act


def gives(value: object) -> Mischief:
    return lambda: value


RAISED: dict[str, Mischief] = {
    repr(error): raises(error)
    for error in (
        ValueError(SECRET), KeyError(SECRET), OSError(5, SECRET), RuntimeError(SECRET),
        RecursionError(SECRET), AssertionError(SECRET), StopIteration(SECRET), MemoryError(SECRET),
        SystemExit(SECRET), GeneratorExit(SECRET), UnicodeDecodeError("ascii", b"x", 0, 1, SECRET),
    )
}  # fmt: skip
SEALED = SealedCard(0x27)
WRONG_ACTIONS: dict[str, Mischief] = {
    name: gives(value)
    for name, value in {
        "none": None,
        "a tuple": (),
        "a text": "READY",
        "a number in a list": [5],
        "a class": [StateReported],
        "a text to write": [Write("who?")],  # type: ignore[arg-type]
        "a long write": [Write(bytes(5_000))],
        "without end": [Write(b"x")] * 300,
        "no fault": [Reopen("because")],  # type: ignore[arg-type]
        "another device": [StateReported("pins", READY, None, 1)],
        "no state": [StateReported("shoe", "ready", None, 1)],  # type: ignore[arg-type]
        "no time": [StateReported("shoe", READY, None, 1.5)],  # type: ignore[arg-type]
        "escape": [StateReported("shoe", UNKNOWN, Fault("E-V-1", "\x1b[2J"), 1)],
        "long text": [StateReported("shoe", UNKNOWN, Fault("E-V-1", "x" * 300), 1)],
        "no identity": [DeviceIdentified("shoe", "V-1", 1)],  # type: ignore[arg-type]
        "half an identity": [DeviceIdentified("shoe", Identity("V", "1", 7, ""), 1)],  # type: ignore[arg-type]
        "an open card": [CardRead("shoe", 1, 0x27, 1, 1)],  # type: ignore[arg-type]
        "a card that is none": [CardRead("shoe", 1, SealedCard("7h"), 1, 1)],  # type: ignore[arg-type]
        "a float for a key": [CardRead("shoe", 1, SEALED, 1, 1.0)],  # type: ignore[arg-type]
        "true for a key": [CardRead("shoe", 1, SEALED, 1, True)],
        "a huge key": [CardRead("shoe", 1, SEALED, 1, 1 << 64)],
        "cards in a list": [PacketRead("shoe", 1, "red", [SEALED], 1)],  # type: ignore[arg-type]
        "no event": [CardEvent("shoe", "exploded", 1)],  # type: ignore[arg-type]
        "a key of the console": [KeyPressed("shoe", "PAID", 1)],
        "the supervisor key": [SwitchRead("shoe", "supervisor_key", True, 1)],
    }.items()
}
WRONG_VALUES: dict[str, Mischief] = {
    f"{type(value).__name__} {value!r}": gives(value)
    for value in ("soon", 1.5, True, b"", Ellipsis)
}


def run_through(rig: Rig, from_us: int) -> Sequence[object]:
    """One call of everything."""
    said = rig.line_opened("shoe", from_us)
    said += rig.line_received("shoe", b"here", from_us + 1)
    said += rig.order(LockCards(locked=True), from_us + 2)
    said += rig.advance(from_us + 10_000)
    return said + rig.line_closed("shoe", "unplugged", from_us + 20_000)


def rig_with(mischief: dict[str, Mischief]) -> Rig:
    honest = LineLayout("other", "honest", "/dev/zero")
    layout = TableLayout("villains", 7, Transport(), (LINE, honest), {}, {})
    return build(layout, {"villain": maker(mischief), "honest": maker({})})


def codes(said: Sequence[object]) -> list[str]:
    faults = [r.reason for r in said if isinstance(r, StateReported) and r.reason is not None]
    return [fault.code for fault in faults]


@pytest.mark.parametrize("method", [*METHODS, "make", "load"])
@pytest.mark.parametrize("mischief", RAISED)
def test_an_exception_anywhere_fails_its_device_and_names_the_driver(
    method: str, mischief: str
) -> None:
    rig = rig_with(
        {method: RAISED[mischief], **({"wake_us": gives(0)} if method == "advance" else {})}
    )
    said = run_through(rig, SECOND)
    assert "E-DRV-001" in codes(said)
    (fault, *_) = [r.reason for r in said if isinstance(r, StateReported) and r.reason]
    kind = mischief.partition("(")[0]
    shown = "make" if method in ("load", "settings") else method
    shown = "wake_us" if method == "counters" else shown
    where = r" at (villain|test_contained)\.py:\d+"
    assert re.fullmatch(rf"villain: {shown} raised {kind}{where}", fault.detail), fault.detail
    assert SECRET not in str(said)
    assert rig.lines["other"].opened(5 * SECOND) == [Write(b"who?")]


@pytest.mark.parametrize("method", ["opened", "closed", "received", "order", "advance"])
@pytest.mark.parametrize("mischief", WRONG_ACTIONS)
def test_what_no_driver_may_say_is_not_handed_on(method: str, mischief: str) -> None:
    due: dict[str, Mischief] = {"wake_us": gives(0)} if method == "advance" else {}
    said = run_through(rig_with({method: WRONG_ACTIONS[mischief], **due}), SECOND)
    assert "E-DRV-003" in codes(said)
    wrong = WRONG_ACTIONS[mischief]()
    wrongs = wrong if isinstance(wrong, list) else [wrong]
    assert not [one for one in said if any(one is two for two in wrongs)]
    assert SECRET not in str(said)


@pytest.mark.parametrize("mischief", WRONG_VALUES)
@pytest.mark.parametrize("method", ["wake_us", "settings"])
def test_properties_of_another_type_fail_it_too(method: str, mischief: str) -> None:
    assert "E-DRV-003" in codes(run_through(rig_with({method: WRONG_VALUES[mischief]}), SECOND))


def test_a_driver_that_recovers_is_made_anew_after_ten_seconds_and_works() -> None:
    mischief: dict[str, Mischief] = {"received": raises(ValueError(SECRET))}
    driver = Contained(LINE, maker(mischief))
    assert driver.opened(SECOND) == [Write(b"who?")]
    (failed,) = driver.received(b"x", 2 * SECOND)
    assert isinstance(failed, StateReported)
    assert failed.state is UNKNOWN
    assert driver.received(b"x", 3 * SECOND) == []
    assert driver.wake_us == 2 * SECOND + AGAIN_US
    assert driver.advance(2 * SECOND + AGAIN_US - 1) == []
    mischief.clear()
    (again,) = driver.advance(2 * SECOND + AGAIN_US)
    assert isinstance(again, Reopen)
    driver.closed("reopened", 13 * SECOND)
    assert driver.opened(14 * SECOND) == [Write(b"who?")]
    assert driver.received(b"x", 15 * SECOND) == [StateReported("shoe", READY, None, 15 * SECOND)]
    assert driver.counters["E-DRV-001"] == 1


def test_a_driver_that_is_always_due_does_not_keep_the_loop_busy() -> None:
    driver = Contained(LINE, maker({"wake_us": gives(0)}))
    driver.opened(SECOND)
    turns = 0
    for at_us in range(SECOND, 2 * SECOND, 100):
        assert driver.wake_us is not None
        if driver.wake_us <= at_us:
            driver.advance(at_us)
            turns += 1
    assert turns == 1_000


def test_a_device_that_talks_without_end_does_not_put_off_its_turn() -> None:
    driver = Contained(LINE, maker({"wake_us": gives(SECOND)}))
    driver.opened(0)
    for n in range(2_000):
        driver.received(b"x", n * 500)
    assert driver.wake_us == SECOND


def test_counters_without_end_are_bounded() -> None:
    many: dict[object, object] = {f"c{n}": n for n in range(10_000)} | {7: 1, "x": "y"}
    driver = Contained(LINE, maker({"counters": gives(many)}))
    driver.opened(SECOND)
    assert len(driver.counters) <= 256


CALLS: dict[str, Callable[[Contained, int], Sequence[object]]] = {
    "opened": lambda d, at: d.opened(at),
    "closed": lambda d, at: d.closed("x", at),
    "received": lambda d, at: d.received(b"x", at),
    "order": lambda d, at: d.order(LockCards(locked=True), at),
    "advance": lambda d, at: d.advance(at),
    "blocked": lambda d, at: d.blocked("received", at),
}
EVERY: list[Mischief | None] = [None, *RAISED.values(), *WRONG_ACTIONS.values()]


@given(st.lists(st.tuples(st.sampled_from(sorted(CALLS)), st.sampled_from(EVERY)), max_size=30))
def test_no_history_of_calls_and_mischief_raises(
    history: list[tuple[str, Mischief | None]],
) -> None:
    mischief: dict[str, Mischief] = {}
    driver = Contained(LINE, maker(mischief))
    for n, (call, wrong) in enumerate(history):
        mischief.clear()
        if wrong is not None:
            mischief[call] = wrong
        for one in CALLS[call](driver, n * 3 * SECOND):
            assert isinstance(one, StateReported | Write | Reopen)
            assert not isinstance(one, StateReported) or one.device == "shoe"
