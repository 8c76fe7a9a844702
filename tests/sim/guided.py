"""A guided test at the simulator's devices in virtual time, and the technician who does it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from controller.shell.testing.steps import Answer, Challenge, Guided, Looped, Probe, Wishes
from drivers.orders import LockCards, ShowLamps, WatchAntennas
from drivers.readings import Reading
from hw_sim.clock import MS, SECOND
from tests.sim.faults_bench import Bench

TICK_US: Final = 100 * MS
LONGEST_US: Final = 1800 * SECOND
Person = Callable[["Bench", dict[str, Any]], "Answer | None"]
"""Hears a step, does something at the table, and may answer."""


class TestBench(Bench):
    """``guided`` hears every reading, as the daemon's desk lets it."""

    __test__ = False
    guided: Guided | None = None
    _probed: str = ""

    def _heard(self, reading: Reading) -> None:
        super()._heard(reading)
        self._tell(reading)

    def _tell(self, reading: Reading | Looped) -> None:
        if self.guided is not None:
            self._do(self.guided.take(reading, self.now_us))

    def received(self, port: str, data: bytes) -> None:
        if port == self._probed:
            self._tell(Looped(port, data))
        else:
            super().received(port, data)

    def _write(self, port: str, data: bytes) -> None:
        if port != self._probed:
            super()._write(port, data)

    def _do(self, wishes: Wishes) -> None:
        for wish in wishes:
            self.clock.after(0, lambda wish=wish: self._wish(wish))  # type: ignore[misc]

    def _wish(self, wish: Any) -> None:
        match wish:
            case Probe(line, data):
                self._probed = line
                super()._write(line, data)
            case Challenge(device, nonce, digest):
                self.run(self.rig.challenge(device, nonce, digest, self.now_us))
            case _:
                self.order(wish)

    def in_test_mode(self) -> TestBench:
        """As the writer leaves the devices: nothing lies there, nothing is given or watched."""
        self.set_up(cards=False)
        for seat, spot in list(self.sim.felt.spots):
            self.sim.felt.rack.put(self.sim.felt.take(seat, spot))
        for order in (
            WatchAntennas(frozenset()), LockCards(True), ShowLamps(("off",) * 7, beacon=True),
        ):  # fmt: skip
            self.order(order)
        self.run_for(SECOND)
        return self

    def tried(self, guided: Guided, person: Person = lambda _bench, _step: None) -> Guided:
        """To its verdict; the person hears every step once."""
        self.guided, heard = guided, 0
        self._do(guided.begin(self.now_us))
        until_us = self.now_us + LONGEST_US
        while not guided.done:
            assert self.now_us < until_us, guided.steps[-3:]
            for step in guided.steps[heard:]:
                heard += 1
                answer = person(self, step)
                if answer is not None:
                    self._do(guided.answer(answer, self.now_us))
            self.run_for(TICK_US)
            if not guided.done:
                self._do(guided.advance(self.now_us))
        self.run_for(TICK_US)
        self.guided = None
        return guided


def failed(guided: Guided) -> list[str]:
    return [step["text"] for step in guided.steps if step["kind"] == "fail"]


def passed(guided: Guided) -> list[str]:
    return [step["text"] for step in guided.steps if step["kind"] == "pass"]


def yes(_bench: Bench, step: dict[str, Any]) -> Answer | None:
    return "yes" if step["kind"] == "ask" else None
