"""GPIO levels in a thread of their own, through gpiozero with one fixed pin factory.

No bounce_time, no held events, no fall-back factory: the thread samples the levels at least every
50 ms and an edge only makes it sample sooner. Debouncing is in ``drivers.gpio``, which hears every
sample for a while after a change and else so many that it knows of the thread's life. After any
failure the pins are closed and opened again, for as long as it takes.
"""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from typing import Any, Final

from drivers.transport.loop import T, dotted, on_loop

SAMPLE_S: Final = 0.05
CONFIRM_S: Final = 0.021
"""After a sample that differs: a level counts when two samples at least 20 ms apart agree."""
APART_S: Final = 0.005
"""A chattering contact gets no more than one sample per this time."""
TOLD_AFTER_CHANGE: Final = 4
AGAIN_S: Final = 0.5
"""Between two attempts to open the pins."""
TELL_EVERY: Final = 6
"""Samples without any change: told every 0.3 s, a third of the time after which silence counts."""
Levels = dict[str, bool]


class PinThread:
    """Calls ``sampled(levels)`` on the loop: raw levels by pin name, True is high."""

    def __init__(
        self,
        pins: Mapping[str, int],
        factory: str,
        argument: str,
        sampled: Callable[[Levels], None],
        failed: Callable[[str], None],
    ) -> None:
        self._pins = dict(pins)
        self._factory = factory
        self._argument = argument
        self._sampled = sampled
        self._failed = failed
        self._loop = asyncio.get_running_loop()
        self._edges: queue.SimpleQueue[None] = queue.SimpleQueue()
        self._stop = False
        threading.Thread(target=self._work, name="gpio", daemon=True).start()

    def close(self) -> None:
        self._stop = True
        self._edge()

    def _edge(self) -> None:
        self._edges.put(None)

    def _work(self) -> None:
        """Open the pins and watch them; after any failure once more, until nobody listens."""
        while not self._stop:
            try:
                self._open_and_watch()
            except _Deaf:
                return
            except Exception as error:  # a library's own too: the pins are lost, for now
                with suppress(_Deaf):
                    self._on_loop(self._failed, f"{type(error).__name__}: {error}")
            self._rest()

    def _open_and_watch(self) -> None:
        # Here, because it takes longer than most of a start and the pins are not waited for.
        from gpiozero import DigitalInputDevice

        opened = ExitStack()
        try:
            make = dotted(self._factory)
            factory = make(*_arguments(self._argument))
            opened.callback(_close, factory)
            devices: dict[str, Any] = {}
            for name, number in self._pins.items():
                device = DigitalInputDevice(number, pull_up=True, pin_factory=factory)
                opened.callback(_close, device)
                device.when_activated = device.when_deactivated = self._edge
                devices[name] = device
            self._watch(devices)
        finally:
            opened.close()

    def _watch(self, devices: Mapping[str, Any]) -> None:
        before: Levels = {}
        calm = 0
        while not self._stop:
            # With a pull-up gpiozero calls low "active"; the driver wants the raw level.
            levels = {name: not device.value for name, device in devices.items()}
            calm = 0 if levels != before else calm + 1
            before = levels
            if calm <= TOLD_AFTER_CHANGE or calm % TELL_EVERY == 0:
                self._on_loop(self._sampled, levels)
            self._pause(due_s(calm))

    def _pause(self, due_s: float) -> None:
        """Until the next sample is due; an edge makes it sooner."""
        try:
            self._edges.get(timeout=due_s)
        except queue.Empty:
            return
        time.sleep(APART_S)
        while not self._edges.empty():
            self._edges.get()

    def _rest(self) -> None:
        """Before the pins are opened again; ``close`` ends it."""
        until_s = time.monotonic() + AGAIN_S
        while not self._stop and (left_s := until_s - time.monotonic()) > 0:
            with suppress(queue.Empty):
                self._edges.get(timeout=left_s)

    def _on_loop(self, act: Callable[[T], None], what: T) -> None:
        if not on_loop(self._loop, act, what):
            raise _Deaf


def due_s(calm: int) -> float:
    """When to sample next, after so many samples that did not differ from the one before."""
    return SAMPLE_S if calm else CONFIRM_S


class _Deaf(Exception):
    """The loop is closed: nobody listens any more."""


def _arguments(text: str) -> tuple[int | str, ...]:
    """What the factory is made with: gpiozero's own want the number of a chip, as a number."""
    if not text:
        return ()
    return (int(text) if text.isascii() and text.isdecimal() else text,)


def _close(opened: Any) -> None:
    with suppress(Exception):  # it is lost already
        opened.close()
