"""A gpiozero pin factory whose pins follow the simulator (docs/protocols/simulator.md, 2).

Built on gpiozero's own mock factory. Levels are asked for when one is read, so a pin whose edge got
lost still reads right; pins that are read together are asked for together. A thread listens to the
edges and passes them on.
"""

from __future__ import annotations

import json
import socket
import threading
from contextlib import suppress
from functools import cached_property
from time import monotonic
from typing import Any

from gpiozero.pins.mock import MockFactory, MockPin

TOGETHER_S = 0.002
"""Levels that were asked for so long ago at most are the levels of now."""


class FollowingPin(MockPin):  # type: ignore[misc]
    """A pin whose level is whatever the simulator drives it to; it has no pull of its own."""

    def _set_pull(self, value: str) -> None:
        self._pull = value

    def _get_state(self) -> bool:
        level: bool = self.factory.level(self._asked)
        return level

    @cached_property
    def _asked(self) -> str:
        return str(_number(self))

    def edge(self, level: bool) -> None:
        self._state = level
        self._last_change = monotonic()
        if self._when_changed is not None:
            self._call_when_changed()


class SimFactory(MockFactory):  # type: ignore[misc]
    def __init__(self, path: str) -> None:
        super().__init__(pin_class=FollowingPin)
        self._asking = _connect(path)
        self._answers = self._asking.makefile("rb")
        self._lock = threading.Lock()
        self._levels: dict[str, bool] = {}
        self._asked_s = -TOGETHER_S
        self._watching = _connect(path)
        self._edges = self._watching.makefile("rb")
        self._watching.sendall(b'{"op": "watch"}\n')
        self._edges.readline()
        threading.Thread(target=self._follow, name="sim-pins", daemon=True).start()

    def level(self, number: str) -> bool:
        with self._lock:
            if monotonic() - self._asked_s >= TOGETHER_S:
                self._ask()
            return self._levels.get(number, True)

    def _ask(self) -> None:
        self._asking.sendall(b'{"op": "pins"}\n')
        answer = self._answers.readline()
        if not answer:
            raise OSError("the simulator is gone")
        self._levels = json.loads(answer)["levels"]
        self._asked_s = monotonic()

    def close(self) -> None:
        super().close()
        for link in (self._asking, self._watching):
            with suppress(OSError):  # the simulator is gone
                link.shutdown(socket.SHUT_RDWR)  # the thread that follows edges is let go
            link.close()

    def _follow(self) -> None:
        try:
            for line in self._edges:
                event = json.loads(line)
                for pin in list(self.pins.values()):
                    if _number(pin) == event["edge"]:
                        pin.edge(event["level"])
        except (OSError, ValueError):
            return  # closed


def _connect(path: str) -> socket.socket:
    link = socket.socket(socket.AF_UNIX)
    try:
        link.connect(path)
    except OSError:
        link.close()
        raise
    return link


def _number(pin: Any) -> int:
    """The BCM number: gpiozero names a header pin ``GPIO17``."""
    return int(str(pin.info.name).removeprefix("GPIO"))
