"""The pin thread: every change at once and for a while, else now and then a sign of life."""

from __future__ import annotations

import asyncio
import queue
from collections.abc import Callable, Mapping
from typing import Any

from gpiozero.pins.mock import MockFactory

from drivers.transport.gpio import TELL_EVERY, TOLD_AFTER_CHANGE, Levels, PinThread

LIMIT_S = 60
PINS = {"door": 27, "expander_int": 4}
CALM: Levels = {"door": True, "expander_int": True}


class Factory(MockFactory):  # type: ignore[misc]
    """Loaded by dotted path."""

    made: Factory

    def __init__(self) -> None:
        super().__init__()
        type(self).made = self


class Stepped(PinThread):
    """Takes its next sample when the test says so."""

    def __init__(self, sampled: Callable[[Levels], None]) -> None:
        self.steps: queue.SimpleQueue[None] = queue.SimpleQueue()
        self.pauses: queue.SimpleQueue[None] = queue.SimpleQueue()
        self.failures: list[str] = []
        super().__init__(PINS, f"{__name__}.Factory", "", sampled, self.failures.append)

    def _pause(self) -> None:
        self.pauses.put(None)
        self.steps.get()

    def step(self, times: int) -> None:
        for _ in range(times):
            self.steps.put(None)
            self.pauses.get(timeout=LIMIT_S)


def told_by(act: Callable[[Stepped, Any], None]) -> list[Mapping[str, bool]]:
    told: list[Mapping[str, bool]] = []

    async def main() -> None:
        pins = Stepped(told.append)
        await asyncio.to_thread(pins.pauses.get, timeout=LIMIT_S)
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
        async with asyncio.timeout(LIMIT_S):
            while not levels:
                await asyncio.sleep(0.01)
            Factory.made.pin(4).drive_low()
            await changed.wait()
        pins.close()

    asyncio.run(main())
    assert failures == []
