"""A vendor's driver that misbehaves on demand: in any method, in any way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

from drivers.base import DeviceState, LineSettings, StateReported, Write
from drivers.layout import LineLayout
from drivers.orders import Order

Mischief = Callable[[], Any]
METHODS = ("opened", "closed", "received", "order", "advance", "wake_us", "settings", "counters")


class Villain:
    """READY when it hears anything. ``mischief`` by method is what it does instead."""

    def __init__(self, line: LineLayout, mischief: dict[str, Mischief]) -> None:
        self.name = line.name
        self._mischief = mischief
        self._counters: Counter[str] = Counter()

    def _do(self, method: str, honest: Any) -> Any:
        wrong = self._mischief.get(method)
        return honest if wrong is None else wrong()

    @property
    def settings(self) -> Any:
        return self._do("settings", LineSettings(19200))

    @property
    def counters(self) -> Any:
        return self._do("counters", self._counters)

    @property
    def wake_us(self) -> Any:
        return self._do("wake_us", None)

    def opened(self, _now_us: int) -> Any:
        return self._do("opened", [Write(b"who?")])

    def closed(self, _why: str, now_us: int) -> Any:
        return self._do("closed", [StateReported(self.name, DeviceState.UNKNOWN, None, now_us)])

    def received(self, _data: bytes, now_us: int) -> Any:
        self._counters["frames"] += 1
        return self._do("received", [StateReported(self.name, DeviceState.READY, None, now_us)])

    def order(self, _order: Order, _now_us: int) -> Any:
        return self._do("order", [])

    def advance(self, _now_us: int) -> Any:
        return self._do("advance", [])


def maker(mischief: dict[str, Mischief]) -> Callable[[], Callable[[LineLayout], Any]]:
    """As an entry point's ``load``; what ``mischief`` says is looked up at every call."""

    def make(line: LineLayout) -> Any:
        if "make" in mischief:
            return mischief["make"]()
        return Villain(line, mischief)

    def load() -> Callable[[LineLayout], Any]:
        return mischief["load"]() if "load" in mischief else make

    return load
