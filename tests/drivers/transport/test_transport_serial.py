"""Serial ports: why one does not open, one that hangs, garbage, and what comes and goes."""

from __future__ import annotations

import asyncio
import errno
import fcntl
import os
import pty
import termios
import threading
import time
import tty
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import serial
import serial.serialposix

from drivers.base import DeviceState, Fault, LineSettings, StateReported
from drivers.build import build
from drivers.layout import LineLayout, TableLayout, Transport
from drivers.transport import serial as transport
from drivers.transport.hub import Hub
from drivers.transport.serial import SerialPort, open_port, why_not
from tests.patience import PATIENCE_S

PLAIN = LineSettings(9600)
EVEN = LineSettings(38400, parity="E")


@pytest.fixture
def ends() -> Iterator[tuple[int, str]]:
    """The device's end of a pty, and the path of the host's."""
    master, slave = pty.openpty()
    tty.setraw(master)
    yield master, os.ttyname(slave)
    for end in (master, slave):
        os.close(end)


def refusal(path: str, settings: LineSettings = PLAIN) -> Fault:
    with pytest.raises((OSError, serial.SerialException, termios.error)) as raised:
        open_port(path, settings)
    return why_not(path, settings, raised.value)


def test_each_reason_why_a_port_does_not_open_has_its_code(
    tmp_path: Path, ends: tuple[int, str]
) -> None:
    (tmp_path / "file").write_text("not a port")
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    (tmp_path / "dangling").symlink_to(tmp_path / "nothing")
    os.mkfifo(tmp_path / "fifo")
    found = {
        name: refusal(str(tmp_path / name)).code
        for name in ("nothing", "file", "loop", "dangling", "fifo", "file/below", ".")
    }
    assert found == {
        "nothing": "E-SER-001",
        "file": "E-SER-002",
        "loop": "E-SER-001",
        "dangling": "E-SER-001",
        "fifo": "E-SER-002",
        "file/below": "E-SER-001",
        ".": "E-SER-002",
    }
    assert refusal("/dev/null").code == "E-SER-002"
    _, path = ends
    first = open_port(path, PLAIN)
    in_use = refusal(path)
    assert (in_use.code, path in in_use.detail) == ("E-SER-003", True)
    first.close()


def test_a_port_that_refuses_parity_says_which_settings(ends: tuple[int, str]) -> None:
    """A pty keeps no parity: asked for nothing else that is new, it refuses."""
    _, path = ends
    open_port(path, EVEN).close()
    refused = refusal(path, EVEN)
    assert refused.code == "E-SER-004"
    assert "38400 8E1 refused" in refused.detail


@pytest.mark.parametrize(
    ("number", "code"),
    [
        (errno.EACCES, "E-SER-005"),
        (errno.EPERM, "E-SER-005"),
        (errno.EBUSY, "E-SER-003"),
        (errno.ENXIO, "E-SER-001"),
        (errno.ENODEV, "E-SER-001"),
        (errno.EIO, "E-SER-007"),
        (errno.EMFILE, "E-SER-007"),
    ],
)
def test_errors_that_need_other_hardware_are_told_apart(number: int, code: str) -> None:
    fault = why_not("/dev/ttyUSB0", PLAIN, OSError(number, "as the kernel says"))
    assert (fault.code, errno.errorcode[number] in fault.detail) == (code, True)
    hidden = serial.SerialException("could not configure port")
    hidden.__context__ = termios.error(number, "hidden below")
    assert why_not("/dev/ttyUSB0", PLAIN, hidden).code == code


def test_an_error_without_a_number_is_told_as_it_is() -> None:
    fault = why_not("/dev/ttyUSB0", PLAIN, ValueError("not a valid baudrate"))
    assert (fault.code, "not a valid baudrate" in fault.detail) == ("E-SER-007", True)


def test_dtr_and_rts_are_never_raised(
    ends: tuple[int, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    ioctl = fcntl.ioctl

    def noted(fd: int, request: int, *more: Any) -> Any:
        asked.append(request)
        if request in (serial.serialposix.TIOCMBIS, serial.serialposix.TIOCMBIC):
            return 0
        return ioctl(fd, request, *more)

    monkeypatch.setattr(fcntl, "ioctl", noted)
    open_port(ends[1], PLAIN).close()
    assert serial.serialposix.TIOCMBIS not in asked
    assert asked.count(serial.serialposix.TIOCMBIC) == 2


class Heard:
    """A listener that notes."""

    def __init__(self) -> None:
        self.events: list[tuple[str, object]] = []

    def opened(self) -> None:
        self.events.append(("opened", None))

    def failed(self, fault: Fault) -> None:
        self.events.append(("failed", fault.code))

    def closed(self, why: str) -> None:
        self.events.append(("closed", why))

    def received(self, data: bytes) -> None:
        self.events.append(("received", data))


async def until(what: Callable[[], Any]) -> None:
    async with asyncio.timeout(PATIENCE_S):
        while not what():
            await asyncio.sleep(0.005)


def played(path: str, act: Callable[[SerialPort, Heard], Awaitable[None]]) -> Heard:
    async def main() -> Heard:
        heard = Heard()
        port = SerialPort(path, lambda: PLAIN, heard)
        port.open()
        try:
            await act(port, heard)
        finally:
            port.close()
        return heard

    return asyncio.run(main())


def test_a_port_that_comes_late_and_goes_is_opened_whenever_it_is_there(tmp_path: Path) -> None:
    link = tmp_path / "port"

    async def act(port: SerialPort, heard: Heard) -> None:
        await until(lambda: heard.events.count(("failed", "E-SER-001")) >= 2)
        for _ in range(2):
            master, slave = pty.openpty()
            tty.setraw(master)
            link.symlink_to(os.ttyname(slave))
            before = len(heard.events)
            await until(lambda before=before: ("opened", None) in heard.events[before:])  # type: ignore[misc]
            os.write(master, b"hello")
            await until(lambda: heard.events[-1] == ("received", b"hello"))
            link.unlink()
            os.close(master)
            os.close(slave)
            await until(lambda: not port.is_open)
        await until(lambda: heard.events[-1] == ("failed", "E-SER-001"))

    played(str(link), act)


def test_an_opening_that_hangs_is_told_and_stops_nothing_and_costs_one_thread(
    ends: tuple[int, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    release = threading.Event()
    ticks = 0

    def wedged(path: str, wanted: LineSettings) -> serial.Serial:
        release.wait()
        return open_port(path, wanted)

    monkeypatch.setattr(transport, "open_port", wedged)
    monkeypatch.setattr(transport, "OPEN_S", 0.05)

    async def act(port: SerialPort, heard: Heard) -> None:
        nonlocal ticks
        while not heard.events or ticks < 20:
            ticks += 1
            port.open()
            await asyncio.sleep(0.01)
        names = [thread.name for thread in threading.enumerate()]
        assert names.count(f"open {ends[1]}") == 1
        assert heard.events == [("failed", "E-SER-006")]
        release.set()
        await until(lambda: port.is_open)

    heard = played(ends[1], act)
    assert heard.events == [("failed", "E-SER-006"), ("opened", None)]


def test_the_back_off_grows_and_starts_anew_when_the_device_talks_sense(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(transport, "BACK_OFF_S", (0.0, 0.01, 0.02, 60.0))

    async def act(port: SerialPort, heard: Heard) -> None:
        await until(lambda: len(heard.events) == 4)  # the next try would be in a minute
        await asyncio.sleep(0.05)
        assert len(heard.events) == 4
        port.heard()
        port._retry = None
        port.open()
        await until(lambda: len(heard.events) == 4 + 4)

    played(str(tmp_path / "nothing"), act)


# --- a reader on a port, through the hub ---------------------------------------------------------


def reader_on(path: str, act: Callable[[Hub, list[StateReported]], Awaitable[None]]) -> None:
    line = LineLayout("chips-1", "feig", path, serial="0A1B2C01", address=1)
    layout = TableLayout("one", 7, Transport(), (line,), {}, {})

    async def main() -> None:
        told: list[StateReported] = []

        def heard(reading: object) -> None:
            if isinstance(reading, StateReported):
                told.append(reading)

        hub = Hub(build(layout), layout, heard)
        hub.start()
        try:
            await act(hub, told)
        finally:
            hub.close()

    asyncio.run(main())


def codes(told: list[StateReported]) -> list[str]:
    assert all(r.state is DeviceState.UNKNOWN for r in told)
    return [r.reason.code if r.reason else "" for r in told]


def test_garbage_is_told_as_garbage_and_not_as_silence(ends: tuple[int, str]) -> None:
    master, path = ends
    os.set_blocking(master, False)

    async def act(_hub: Hub, told: list[StateReported]) -> None:
        until_s = time.monotonic() + PATIENCE_S
        while "E-SER-010" not in codes(told):
            assert time.monotonic() < until_s, codes(told)
            os.write(master, b"\x55\xaa\x00\xfe" * 4)
            await asyncio.sleep(0.01)

    reader_on(path, act)


def test_a_port_that_is_missing_and_then_open_without_a_device(
    tmp_path: Path, ends: tuple[int, str]
) -> None:
    link = tmp_path / "port"

    async def act(_hub: Hub, told: list[StateReported]) -> None:
        await until(lambda: codes(told) == ["E-SER-001"])
        link.symlink_to(ends[1])
        await until(lambda: "E-SER-009" in codes(told))

    reader_on(str(link), act)
