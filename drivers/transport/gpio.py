"""GPIO levels in a thread of their own, through gpiozero with one fixed pin factory.

No bounce_time, no held events, no fall-back factory: the thread samples the levels at least every
50 ms and an edge only makes it sample sooner. Debouncing is in ``drivers.gpio``, which hears every
sample for a while after a change and else so many that it knows of the thread's life.
"""

from __future__ import annotations

import asyncio
import queue
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from drivers.transport.i2c import dotted

SAMPLE_S: Final = 0.05
APART_S: Final = 0.005
"""A chattering contact gets no more than one sample per this time."""
TOLD_AFTER_CHANGE: Final = 4
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
        # Here, because it takes longer than most of a start and the pins are not waited for.
        from gpiozero import DigitalInputDevice

        devices: dict[str, Any] = {}
        factory: Any = None
        try:
            make = dotted(self._factory)
            factory = make(self._argument) if self._argument else make()
            for name, number in self._pins.items():
                device = DigitalInputDevice(number, pull_up=True, pin_factory=factory)
                device.when_activated = device.when_deactivated = self._edge
                devices[name] = device
            self._watch(devices)
        except RuntimeError:
            return  # the loop is closed: nobody listens any more
        except Exception as error:  # a library's own too: the pins are lost
            self._tell(f"{type(error).__name__}: {error}")
        finally:
            for device in devices.values():
                device.close()
            if factory is not None:
                factory.close()

    def _watch(self, devices: Mapping[str, Any]) -> None:
        before: Levels = {}
        calm = 0
        while not self._stop:
            # With a pull-up gpiozero calls low "active"; the driver wants the raw level.
            levels = {name: not device.value for name, device in devices.items()}
            calm = 0 if levels != before else calm + 1
            before = levels
            if calm <= TOLD_AFTER_CHANGE or calm % TELL_EVERY == 0:
                self._loop.call_soon_threadsafe(self._sampled, levels)
            self._pause()

    def _pause(self) -> None:
        """Until the next sample is due; an edge makes it sooner."""
        try:
            self._edges.get(timeout=SAMPLE_S)
        except queue.Empty:
            return
        time.sleep(APART_S)
        while not self._edges.empty():
            self._edges.get()

    def _tell(self, why: str) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._failed, why)
