"""The pin thread: every change at once and for a while, else now and then a sign of life."""

from __future__ import annotations

import asyncio
import queue
from collections.abc import Callable, Mapping
from typing import Any, ClassVar

import pytest
from gpiozero.pins.mock import MockFactory, MockPin

from drivers.gpio.driver import PinsDriver
from drivers.readings import SwitchRead
from drivers.transport import gpio
from drivers.transport.gpio import (
    APART_S,
    SAMPLE_S,
    TELL_EVERY,
    TOLD_AFTER_CHANGE,
    Levels,
    PinThread,
    due_s,
)
from tests.patience import PATIENCE_S

PINS = {"door": 27, "expander_int": 4}
CALM: Levels = {"door": True, "expander_int": True}


class Factory(MockFactory):  # type: ignore[misc]
    """Loaded by dotted path."""

    made: Factory

    def __init__(self) -> None:
        super().__init__()
        type(self).made = self


class Failing(MockFactory):  # type: ignore[misc]
    """Loaded by dotted path; fails as the test says, when it is made or when a pin is read."""

    made: ClassVar[list[Failing]] = []
    making: ClassVar[list[Exception]] = []
    reading: ClassVar[list[Exception]] = []
    arguments: ClassVar[list[object]] = []

    def __init__(self, argument: object = None) -> None:
        self.arguments.append(argument)
        if self.making:
            raise self.making.pop()
        super().__init__(pin_class=FailingPin)
        self.made.append(self)


class FailingPin(MockPin):  # type: ignore[misc]
    def _get_state(self) -> bool:
        if Failing.reading:
            raise Failing.reading.pop()
        return bool(super()._get_state())


class Stepped(PinThread):
    """Takes its next sample when the test says so."""

    def __init__(self, sampled: Callable[[Levels], None]) -> None:
        self.steps: queue.SimpleQueue[None] = queue.SimpleQueue()
        self.pauses: queue.SimpleQueue[None] = queue.SimpleQueue()
        self.failures: list[str] = []
        super().__init__(PINS, f"{__name__}.Factory", "", sampled, self.failures.append)

    def _pause(self, _due_s: float) -> None:
        self.pauses.put(None)
        self.steps.get()

    def step(self, times: int) -> None:
        for _ in range(times):
            self.steps.put(None)
            self.pauses.get(timeout=PATIENCE_S)


def told_by(act: Callable[[Stepped, Any], None]) -> list[Mapping[str, bool]]:
    told: list[Mapping[str, bool]] = []

    async def main() -> None:
        pins = Stepped(told.append)
        await asyncio.to_thread(pins.pauses.get, timeout=PATIENCE_S)
        await asyncio.to_thread(act, pins, Factory.made)
        pins.close()
        pins.steps.put(None)
        await asyncio.sleep(0)
        assert not pins.failures

    asyncio.run(main())
    return told


def test_calm_pins_are_told_as_a_sign_of_life_only() -> None:
    told = told_by(lambda pins, _: pins.step(10 * TELL_EVERY))
    at_first = 1 + TOLD_AFTER_CHANGE
    later = [n for n in range(at_first, 10 * TELL_EVERY + 1) if n % TELL_EVERY == 0]
    assert told == [CALM] * (at_first + len(later))
    assert len(told) == 15


def test_a_change_is_told_at_once_and_so_often_that_it_can_be_confirmed() -> None:
    def act(pins: Stepped, factory: Any) -> None:
        pins.step(20)
        factory.pin(27).drive_low()
        pins.step(3)

    told = told_by(act)
    assert told[-3:] == [{"door": False, "expander_int": True}] * 3
    assert told[-4] == CALM


def test_an_edge_wakes_the_thread() -> None:
    failures: list[str] = []

    async def main() -> None:
        changed = asyncio.Event()
        levels: list[Levels] = []

        def sampled(found: Levels) -> None:
            levels.append(found)
            if not found["expander_int"]:
                changed.set()

        pins = PinThread(PINS, f"{__name__}.Factory", "", sampled, failures.append)
        async with asyncio.timeout(PATIENCE_S):
            while not levels:
                await asyncio.sleep(0.01)
            Factory.made.pin(4).drive_low()
            await changed.wait()
        pins.close()

    asyncio.run(main())
    assert failures == []


ERRORS = [
    OSError("the simulator is gone"),
    OSError(19, "No such device"),
    RuntimeError("a library's own"),
    KeyError("levels"),
    ValueError("not JSON"),
    AttributeError("chip"),
]


@pytest.mark.parametrize("error", ERRORS, ids=repr)
def test_pins_that_fail_are_opened_again_and_told_again(
    error: Exception, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The supervisor key is on these pins: a thread that ended would lose it until a restart."""
    monkeypatch.setattr(gpio, "AGAIN_S", 0.01)
    for where in (Failing.making, Failing.reading):
        Failing.made.clear()
        failures: list[str] = []

        async def main(where: list[Exception] = where, failures: list[str] = failures) -> None:
            told: list[Levels] = []
            where += [error, error]
            pins = PinThread(PINS, f"{__name__}.Failing", "", told.append, failures.append)
            async with asyncio.timeout(PATIENCE_S):
                while not told:
                    await asyncio.sleep(0.01)
                Failing.made[-1].pin(27).drive_low()
                while told[-1]["door"]:
                    await asyncio.sleep(0.01)
            pins.close()

        asyncio.run(main())
        assert failures == [f"{type(error).__name__}: {error}"] * 2


def test_a_number_is_given_to_the_factory_as_a_number() -> None:
    """gpiozero's LGPIOFactory opens the chip with this number and takes no text."""

    async def main(argument: str) -> object:
        Failing.arguments.clear()
        told: list[Levels] = []
        pins = PinThread(PINS, f"{__name__}.Failing", argument, told.append, lambda _: None)
        async with asyncio.timeout(PATIENCE_S):
            while not told:
                await asyncio.sleep(0.01)
        pins.close()
        return Failing.arguments[0]

    assert [asyncio.run(main(a)) for a in ("4", "0", "table.sock", "")] == [
        4,
        0,
        "table.sock",
        None,
    ]


def test_a_rail_that_fails_counts_26_ms_after_its_edge() -> None:
    """The thread's own times, without the thread: gpio.md, section 2."""
    healthy = {"supervisor_key": True, "door": False, "power_fail": True}
    driver, now_us = PinsDriver(), 1_000_000
    for _ in range(3):
        driver.sampled(healthy, now_us)
        now_us += round(SAMPLE_S * 1_000_000)

    edge_us = now_us
    failing = {**healthy, "power_fail": False}
    now_us += round(APART_S * 1_000_000)
    assert driver.sampled(failing, now_us) == []
    now_us += round(due_s(0) * 1_000_000)
    (said,) = driver.sampled(failing, now_us)
    assert isinstance(said, SwitchRead)
    assert (said.name, said.on) == ("power_fail", True)
    assert now_us - edge_us == 26_000
    assert due_s(1) == SAMPLE_S
