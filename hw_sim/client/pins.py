"""A gpiozero pin factory whose pins follow the simulator (docs/protocols/simulator.md, 2).

Built on gpiozero's own mock factory. A level is asked for when it is read, so a pin whose edge got
lost still reads right; a thread listens to the edges and passes them on.
"""

from __future__ import annotations

import json
import socket
import threading
from time import monotonic
from typing import Any

from gpiozero.pins.mock import MockFactory, MockPin


class FollowingPin(MockPin):  # type: ignore[misc]
    """A pin whose level is whatever the simulator drives it to; it has no pull of its own."""

    def _set_pull(self, value: str) -> None:
        self._pull = value

    def _get_state(self) -> bool:
        level: bool = self.factory.level(_number(self))
        return level

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
        self._watching = _connect(path)
        self._edges = self._watching.makefile("rb")
        self._watching.sendall(b'{"op": "watch"}\n')
        self._edges.readline()
        threading.Thread(target=self._follow, name="sim-pins", daemon=True).start()

    def level(self, number: int) -> bool:
        with self._lock:
            self._asking.sendall(json.dumps({"op": "pin", "number": number}).encode() + b"\n")
            answer = self._answers.readline()
        if not answer:
            raise OSError("the simulator is gone")
        return bool(json.loads(answer)["level"])

    def close(self) -> None:
        super().close()
        for link in (self._asking, self._watching):
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
