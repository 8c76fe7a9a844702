"""The bus thread: readings on the loop, orders at once, a hung batch costs its thread only."""

from __future__ import annotations

import asyncio
import errno
import threading
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any

import pytest

from drivers.base import SECOND, DeviceState, Fault, StateReported
from drivers.bus import BusMachine
from drivers.mcp23017.keys import KEYS_1, KeysDriver
from drivers.mcp23017.lamps import LAMPS_1, LampsDriver
from drivers.orders import ShowLamps
from drivers.readings import Shown
from drivers.transport import i2c
from drivers.transport.clock import now_us
from drivers.transport.i2c import MOST_HANGING, BusThread
from tests.drivers.transport.boards_bus import DOTTED, EXPANDER, OTHER, BoardsBus
from tests.patience import PATIENCE_S

READY, UNKNOWN = DeviceState.READY, DeviceState.UNKNOWN


class Bench:
    """Keys and lamps on one bus, and what was heard on the loop."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.keys = KeysDriver("keys-1", EXPANDER, KEYS_1)
        self.machine = BusMachine([self.keys, LampsDriver("lamps-1", OTHER, LAMPS_1)])
        self.heard: list[object] = []
        self.on_loop: set[int] = set()
        self._news = asyncio.Event()
        self.thread = BusThread(self.machine, DOTTED, name, self.hear)

    def hear(self, readings: Sequence[object]) -> None:
        self.heard += readings
        self.on_loop.add(threading.get_ident())
        self._news.set()

    @property
    def buses(self) -> list[BoardsBus]:
        return BoardsBus.made[self.name]

    def last(self, device: str) -> DeviceState | None:
        told = [r for r in self.heard if isinstance(r, StateReported) and r.device == device]
        return told[-1].state if told else None

    def has_more_buses_than(self, many: int) -> bool:
        return len(self.buses) > many

    def was_unknown(self) -> set[str]:
        told = [r for r in self.heard if isinstance(r, StateReported)]
        return {r.device for r in told if r.state is UNKNOWN}

    async def until(self, what: Callable[[], Any]) -> None:
        async with asyncio.timeout(PATIENCE_S):
            while not what():
                self._news.clear()
                await asyncio.wait([asyncio.ensure_future(self._news.wait())], timeout=0.02)

    async def ready(self) -> None:
        await self.until(lambda: self.last("keys-1") is self.last("lamps-1") is READY)


def play(name: str, act: Callable[[Bench], Awaitable[None]]) -> Bench:
    async def main() -> Bench:
        bench = Bench(name)
        try:
            await bench.ready()
            await act(bench)
        finally:
            bench.thread.close()
        await bench.until(lambda: bench.buses[-1].closed)
        return bench

    return asyncio.run(main())


@pytest.fixture
def later(monkeypatch: pytest.MonkeyPatch) -> Callable[[int], None]:
    """Lets the transport's clock jump."""
    ahead = [0]
    monkeypatch.setattr(i2c, "now_us", lambda: now_us() + ahead[0])
    return lambda us: ahead.__setitem__(0, ahead[0] + us)


def test_readings_come_on_the_loop_and_an_order_is_shown() -> None:
    async def act(bench: Bench) -> None:
        order = ShowLamps(("live",) * 7)
        bench.heard += bench.thread.order(order)
        await bench.until(lambda: any(isinstance(r, Shown) for r in bench.heard))

    bench = play("readings", act)
    assert bench.on_loop == {threading.get_ident()}
    shown = [r.content for r in bench.heard if isinstance(r, Shown)]
    assert shown == ["1 live, 2 live, 3 live, 4 live"]
    assert len(bench.buses) == 1


def test_a_batch_that_hangs_is_given_up_and_the_bus_opened_anew(
    later: Callable[[int], None],
) -> None:
    release = threading.Event()

    async def act(bench: Bench) -> None:
        (bus,) = bench.buses
        bus.hangs = release
        await bench.until(bus.hung.is_set)
        assert bench.thread.look() == []
        later(500_000)
        lost = bench.thread.look()
        assert [(r.device, r.state) for r in lost if isinstance(r, StateReported)] == [
            ("keys-1", UNKNOWN),
            ("lamps-1", UNKNOWN),
        ]
        bench.hear(lost)
        await bench.ready()
        release.set()
        await bench.until(lambda: bus.closed and bench.machine.counters["late"])

    bench = play("hangs", act)
    assert len(bench.buses) == 2
    assert bench.machine.counters["E-BUS-001"] == 1
    assert bench.machine.counters["recoveries"] == 1
    assert bench.machine.counters["late"] == 1
    assert bench.last("keys-1") is READY


def test_a_bus_that_times_out_is_opened_again_by_its_own_thread(
    later: Callable[[int], None],
) -> None:
    async def act(bench: Bench) -> None:
        bench.buses[0].bus.stuck = True
        later(1_000_000)
        await bench.until(lambda: bench.last("keys-1") is UNKNOWN)
        bench.buses[0].bus.stuck = False
        later(10_000_000)
        bench.thread.nudge()
        await bench.ready()

    bench = play("times out", act)
    assert len(bench.buses) >= 2
    assert all(bus.closed for bus in bench.buses)
    assert bench.machine.counters["E-BUS-002"] >= 1


@pytest.mark.parametrize(
    "error",
    [
        OSError(errno.ENODEV, "No such device"),
        OSError(errno.EREMOTEIO, "no acknowledge"),
        OSError(errno.EIO, "Input/output error"),
        OSError(errno.EBADF, "Bad file descriptor"),
        OSError("no number at all"),
        ValueError("not what was asked for"),
        KeyError("data"),
        RuntimeError("a library's own"),
    ],
    ids=repr,
)
def test_a_bus_that_fails_in_any_way_is_opened_again_and_works(
    error: Exception, later: Callable[[int], None]
) -> None:
    name = f"fails {error!r}"

    async def act(bench: Bench) -> None:
        bench.buses[0].raises = error
        later(SECOND)
        await bench.until(lambda: bench.was_unknown() == {"keys-1", "lamps-1"})
        await bench.until(lambda: len(bench.buses) > 1)
        await bench.ready()

    bench = play(name, act)
    assert bench.buses[0].closed
    assert bench.machine.counters["recoveries"] >= 1


def test_a_bus_that_does_not_open_says_why_and_is_tried_again(
    later: Callable[[int], None],
) -> None:
    async def act(bench: Bench) -> None:
        BoardsBus.opening["opens late"] = FileNotFoundError(errno.ENOENT, "No such file", "x")
        bench.buses[0].raises = OSError(errno.ENODEV, "unplugged")
        later(SECOND)
        await bench.until(lambda: bench.machine.counters["E-BUS-003"] >= 2)
        why = "E-BUS-003: unplugged"
        told = [r for r in bench.heard if isinstance(r, StateReported) and r.state is UNKNOWN]
        assert {(r.device, r.reason) for r in told} == {
            ("keys-1", Fault("E-EXP-006", why)),
            ("lamps-1", Fault("E-EXP-006", why)),
        }
        del BoardsBus.opening["opens late"]
        await bench.ready()

    play("opens late", act)


def test_no_more_threads_hang_than_the_limit(later: Callable[[int], None]) -> None:
    release = threading.Event()

    async def act(bench: Bench) -> None:
        for _ in range(MOST_HANGING + 3):
            last = bench.buses[-1]
            last.hangs = release
            with suppress(TimeoutError):
                async with asyncio.timeout(0.3):
                    await bench.until(last.hung.is_set)
            later(500_000)
            bench.hear(bench.thread.look())
            later(10_000_000)
            bench.hear(bench.thread.look())
            many = len(bench.buses)
            with suppress(TimeoutError):
                async with asyncio.timeout(0.3):
                    await bench.until(partial(bench.has_more_buses_than, many))
        assert len(bench.buses) == MOST_HANGING + 1
        release.set()
        await bench.until(lambda: all(bus.closed for bus in bench.buses[:-1]))
        later(20_000_000)
        bench.hear(bench.thread.look())
        await bench.ready()

    play("hang for ever", act)


def test_a_mistake_of_a_driver_reaches_the_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    """There it ends the process (controller.daemon.crash_policy)."""
    told: list[object] = []

    def broken(*_outcome: object) -> Sequence[object]:
        raise RuntimeError("a driver's mistake")

    async def act(bench: Bench) -> None:
        loop = asyncio.get_running_loop()
        loop.set_exception_handler(lambda _loop, context: told.append(context["exception"]))
        monkeypatch.setattr(KeysDriver, "finish", broken)
        await bench.until(lambda: told)

    play("mistake", act)
    assert [str(error) for error in told] == ["a driver's mistake"]


def test_the_thread_ends_when_nobody_listens_any_more() -> None:
    async def main() -> None:
        Bench("ends")

    before = set(threading.enumerate())  # other tests leave threads that hang, as they should
    asyncio.run(main())
    threads = [t for t in threading.enumerate() if t.name == "i2c" and t not in before]
    for thread in threads:
        thread.join(PATIENCE_S)
    assert threads
    assert not any(thread.is_alive() for thread in threads)
    assert BoardsBus.made["ends"][-1].closed
