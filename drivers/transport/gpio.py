"""GPIO levels in a thread of their own, through gpiozero with one fixed pin factory.

No bounce_time, no held events, no fall-back factory: the thread samples the levels at least every
50 ms and an edge only makes it sample sooner. Debouncing is in ``drivers.gpio``.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from gpiozero import DigitalInputDevice

from drivers.transport.i2c import dotted

SAMPLE_S: Final = 0.05
APART_S: Final = 0.005
"""A chattering contact gets no more than one sample per this time."""
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
        self._wake = threading.Event()
        self._stop = False
        threading.Thread(target=self._work, name="gpio", daemon=True).start()

    def close(self) -> None:
        self._stop = True
        self._wake.set()

    def _work(self) -> None:
        devices: dict[str, Any] = {}
        factory: Any = None
        try:
            make = dotted(self._factory)
            factory = make(self._argument) if self._argument else make()
            for name, number in self._pins.items():
                device = DigitalInputDevice(number, pull_up=True, pin_factory=factory)
                device.when_activated = device.when_deactivated = self._wake.set
                devices[name] = device
            while not self._stop:
                # With a pull-up gpiozero calls low "active"; the driver wants the raw level.
                levels = {name: not device.value for name, device in devices.items()}
                self._loop.call_soon_threadsafe(self._sampled, levels)
                self._wake.wait(SAMPLE_S)
                time.sleep(APART_S)
                self._wake.clear()
        except RuntimeError:
            return  # the loop is closed: nobody listens any more
        except Exception as error:  # a library's own too: the pins are lost
            self._tell(f"{type(error).__name__}: {error}")
        finally:
            for device in devices.values():
                device.close()
            if factory is not None:
                factory.close()

    def _tell(self, why: str) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(self._failed, why)
