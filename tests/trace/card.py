"""The path of one card through a virtual table, written down by the interpreter.

The table is a whole one: simulated devices, the product's drivers, core, journal and writer. The
card is the first of a round. Recorded are the calls into our own packages from the bytes of its
frame to the last order that follows from it.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from types import FrameType
from typing import Any, Final

from controller.rules.engine.state import Phase
from drivers.orders import Order
from drivers.readings import CardRead, Reading
from hw_sim.scenario import find, load
from tests.sim.table import VirtualTable

ROOT: Final = Path(__file__).resolve().parents[2]
OURS: Final = ("controller/", "drivers/", "link/", "record/")
ROUTERS: Final = ("drivers/rig.py:order", "drivers/bus.py:order")
"""They find the device."""
IS_DEVICE: Final = re.compile(r"drivers/.*:order$")
PARTS: Final = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>"})
"""Parts of a function. Which of them the interpreter calls differs with the version of Python."""
SCENARIO: Final = "mbs3-plain"


@dataclass
class Trace:
    """``calls`` by ``file:function``; ``files`` in the order in which they are first reached."""

    calls: Counter[str] = field(default_factory=Counter)
    files: list[str] = field(default_factory=list)
    orders: dict[str, int] = field(default_factory=dict)
    """How many devices took each order."""

    def count(self, file: str, function: str) -> int:
        return self.calls[f"{file}:{function}"]

    @property
    def functions(self) -> int:
        return len(self.calls)


class TracedTable(VirtualTable):
    """Traces the bytes that bring the first card, and the orders that follow from it."""

    _found: bool = False

    def watch(self) -> Trace:
        self.trace = Trace()
        self.bench.received = self._bytes(self.bench.received)  # type: ignore[assignment, method-assign]
        self.play(until=lambda: bool(self.trace.orders))
        return self.trace

    def _bytes(self, received: Callable[[str, bytes], None]) -> Callable[[str, bytes], None]:
        def traced(port: str, data: bytes) -> None:
            if self._found or self.writer.core.state.phase is not Phase.LOCKED:
                return received(port, data)
            trial = Trace()
            with recording(trial):
                received(port, data)
            self._keep(trial)
            return None

        return traced

    def _keep(self, trial: Trace) -> None:
        """If it was a card that came."""
        if self._found:
            self.trace = trial

    def _reading(self, reading: Reading) -> None:
        if isinstance(reading, CardRead):
            self._found = True
        super()._reading(reading)

    def _order(self, order: Order, starts: int) -> None:
        if not self._found or type(order).__name__ in self.trace.orders:
            return super()._order(order, starts)
        before = self.trace.calls.copy()
        with recording(self.trace):
            super()._order(order, starts)
        taken = self.trace.calls - before
        heard = [n for call, n in taken.items() if call not in ROUTERS and IS_DEVICE.match(call)]
        self.trace.orders[type(order).__name__] = sum(heard)
        return None


@contextmanager
def recording(trace: Trace) -> Iterator[None]:
    def called(frame: FrameType, event: str, _argument: Any) -> None:
        if event != "call" or frame.f_code.co_name in PARTS:
            return
        file = frame.f_code.co_filename.removeprefix(f"{ROOT}/")
        if not file.startswith(OURS):
            return
        trace.calls[f"{file}:{frame.f_code.co_name}"] += 1
        if file not in trace.files:
            trace.files.append(file)

    sys.setprofile(called)
    try:
        yield
    finally:
        sys.setprofile(None)


@cache
def first_card() -> Trace:
    """In a process of its own: what other tests have left in caches would not be called again."""
    done = subprocess.run(
        [sys.executable, "-m", "tests.trace.card"], cwd=ROOT, capture_output=True, text=True,
        check=True, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    told = json.loads(done.stdout)
    return Trace(Counter(told["calls"]), told["files"], told["orders"])


if __name__ == "__main__":
    print(json.dumps(vars(TracedTable(load(find(SCENARIO))).watch())))
