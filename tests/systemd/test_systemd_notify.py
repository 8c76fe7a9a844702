"""sd_notify over real sockets, and the watchdog that a dead device never starves."""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.daemon.notify import Watchdog
from record.kit.notify import Notifier
from tests.patience import PATIENCE_S


@pytest.fixture(params=["path", "abstract"])
def listening(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[tuple[str, socket.socket]]:
    """A notify socket as systemd has it, and its address as systemd writes it."""
    server = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    name = f"underfelt-test-{secrets.token_hex(8)}"
    address = f"@{name}" if request.param == "abstract" else str(tmp_path / "notify")
    server.bind("\0" + name if request.param == "abstract" else address)
    server.settimeout(PATIENCE_S)
    yield address, server
    server.close()


def test_every_message_arrives_as_systemd_reads_it(listening: tuple[str, socket.socket]) -> None:
    address, server = listening
    notifier = Notifier(address)
    assert notifier.ready("betting, round 12")
    assert notifier.status("dealing\nMAINPID=1")
    assert notifier.feed()
    assert notifier.more_time(5_000_000)
    assert notifier.stopping("closing")
    notifier.close()
    got = [server.recv(4096).decode() for _ in range(5)]
    assert got == [
        "READY=1\nSTATUS=betting, round 12",
        "STATUS=dealing MAINPID=1",  # a line feed in a text must not become a command
        "WATCHDOG=1",
        "EXTEND_TIMEOUT_USEC=5000000",
        "STOPPING=1\nSTATUS=closing",
    ]


def test_a_process_of_its_own_is_heard(listening: tuple[str, socket.socket]) -> None:
    address, server = listening
    program = (
        "from record.kit.notify import Notifier\n"
        "n = Notifier.from_environment()\n"
        "n.ready('up'); print(n.watchdog_us)\n"
    )
    environ = {**os.environ, "NOTIFY_SOCKET": address, "WATCHDOG_USEC": "5000000"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=environ, capture_output=True, text=True, check=True
    )
    assert server.recv(4096) == b"READY=1\nSTATUS=up"
    assert done.stdout.strip() == "5000000"


def test_the_environment_is_read_once_and_not_inherited() -> None:
    environ = {"NOTIFY_SOCKET": "/nowhere/x", "WATCHDOG_USEC": "5000000", "WATCHDOG_PID": "1"}
    notifier = Notifier.from_environment(environ)
    assert environ == {}
    assert notifier.connected
    assert notifier.watchdog_us is None  # meant for another process
    mine = {"WATCHDOG_USEC": "5000000", "WATCHDOG_PID": str(os.getpid())}
    assert Notifier.from_environment(mine).watchdog_us == 5_000_000
    for odd in ("", "0", "-1", "soon", "\u0665"):
        assert Notifier.from_environment({"WATCHDOG_USEC": odd}).watchdog_us is None


@pytest.mark.parametrize("address", [None, "", "/", "@", "relative", "vsock:2:1234"])
def test_without_a_usable_socket_nothing_happens(address: str | None) -> None:
    notifier = Notifier(address)
    assert not notifier.connected
    assert not notifier.ready()


def test_a_socket_that_vanished_or_is_full_holds_up_nobody(tmp_path: Path) -> None:
    gone = Notifier(str(tmp_path / "gone"))
    assert not gone.ready()
    gone.close()
    server = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    server.bind(str(tmp_path / "full"))
    notifier = Notifier(str(tmp_path / "full"))
    sent = [notifier.feed() for _ in range(10_000)]  # nobody reads: a blocking send would hang here
    assert sent[0]
    assert not sent[-1]
    notifier.close()
    server.close()


# --- the watchdog -------------------------------------------------------------------------------

PERIOD = 5_000_000
GRACE = PERIOD // 3
RHYTHMS = {"keys": 50_000, "shoe": 1_000_000, "sign": 10_000_000, "yearly": 1 << 45}
"""Loop to how often it runs: far more and far less often than systemd wants to be fed."""


def running(now_us: int, *stopped: str, since_us: int = 0) -> dict[str, int]:
    """When each loop is due, if those that have not stopped run exactly in time."""
    return {
        loop: ((since_us if loop in stopped else now_us) // every + 1) * every
        for loop, every in RHYTHMS.items()
    }


def fed_at(dog: Watchdog, until_us: int, due: Callable[[int], dict[str, int]]) -> list[int]:
    found = [0]
    while (now := dog.wake_us) < until_us:
        dog.writer_passed()
        if dog.feed_now(due(now), now):
            found.append(now)
    return found


def test_it_is_fed_in_time_whatever_the_rhythms() -> None:
    fed = fed_at(Watchdog(PERIOD, 0), 120_000_000, running)
    assert max(b - a for a, b in pairwise(fed)) <= PERIOD // 2


@pytest.mark.parametrize("stuck", [loop for loop in RHYTHMS if loop != "yearly"])
def test_a_loop_that_stops_starves_it_after_its_own_rhythm(stuck: str) -> None:
    stopped_us, dog = 30_000_001, Watchdog(PERIOD, 0)
    due_us = running(stopped_us)[stuck]

    def due(now: int) -> dict[str, int]:
        return running(now, *([stuck] if now > stopped_us else []), since_us=stopped_us)

    fed = fed_at(dog, 120_000_000, due)
    assert due_us <= fed[-1] <= due_us + GRACE
    assert dog.waiting_for(due(120_000_000), 120_000_000) == (stuck,)
    assert fed_at(dog, 130_000_000, running)[-1] > 120_000_000  # it runs again


def test_a_writer_that_hangs_starves_it() -> None:
    dog = Watchdog(PERIOD, 0)
    dog.writer_passed()
    assert dog.feed_now({}, dog.wake_us)
    for _ in range(100):
        assert not dog.feed_now({}, dog.wake_us)
    assert dog.waiting_for({}, dog.wake_us) == ("writer",)
    dog.writer_passed()
    assert dog.feed_now({}, dog.wake_us)


def test_without_a_device_the_writer_alone_counts() -> None:
    assert len(fed_at(Watchdog(PERIOD, 0), 60_000_000, lambda _: {})) > 30


STEPS = st.one_of(
    st.just("writer"),
    st.tuples(st.sampled_from(sorted(RHYTHMS)), st.integers(0, 12_000_000)),
    st.integers(0, 3_000_000),
)


@given(st.lists(STEPS, max_size=60))
def test_it_is_fed_only_if_the_writer_passed_and_nobody_is_late(
    steps: list[str | int | tuple[str, int]],
) -> None:
    """Against the sentence itself."""
    dog, now, wrote, due = Watchdog(PERIOD, 0), 0, False, dict[str, int]()
    for step in steps:
        if isinstance(step, int):
            now += step
            asked = now >= dog.wake_us
            alive = wrote and not any(now - at > GRACE for at in due.values())
            assert dog.feed_now(due, now) == (asked and alive)
            wrote = wrote and not (asked and alive)
        elif isinstance(step, str):
            dog.writer_passed()
            wrote = True
        else:
            due[step[0]] = now + step[1]
