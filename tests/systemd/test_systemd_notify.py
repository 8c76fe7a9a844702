"""sd_notify over real sockets, and the watchdog that a dead device never starves."""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.daemon.notify import Notifier, Watchdog


@pytest.fixture(params=["path", "abstract"])
def listening(
    request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[tuple[str, socket.socket]]:
    """A notify socket as systemd has it, and its address as systemd writes it."""
    server = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    name = f"underfelt-test-{secrets.token_hex(8)}"
    address = f"@{name}" if request.param == "abstract" else str(tmp_path / "notify")
    server.bind("\0" + name if request.param == "abstract" else address)
    server.settimeout(10)
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
        "from controller.daemon.notify import Notifier\n"
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
LOOPS = ("chips-1", "shoe", "bus")


def all_moved(dog: Watchdog, *but: str) -> None:
    if "writer" not in but:
        dog.writer_passed()
    for loop in LOOPS:
        if loop not in but:
            dog.iterated(loop)


def test_it_is_fed_in_time_while_everybody_moves() -> None:
    dog, now, fed = Watchdog(LOOPS, PERIOD, 0), 0, [0]
    while now < 60_000_000:
        now = dog.wake_us
        all_moved(dog)
        if dog.feed_now(now):
            fed.append(now)
    assert max(b - a for a, b in pairwise(fed)) <= PERIOD // 2


@pytest.mark.parametrize("stuck", ["writer", *LOOPS])
def test_whoever_stands_still_starves_it(stuck: str) -> None:
    dog = Watchdog(LOOPS, PERIOD, 0)
    all_moved(dog)
    assert dog.feed_now(dog.wake_us)
    for _ in range(100):
        all_moved(dog, stuck)
        assert not dog.feed_now(dog.wake_us)
        assert dog.waiting_for() == (stuck,)
    all_moved(dog)
    assert dog.feed_now(dog.wake_us)


@pytest.mark.parametrize("dead", LOOPS)
def test_a_dead_device_never_starves_it(dead: str) -> None:
    dog = Watchdog(LOOPS, PERIOD, 0)
    dog.declared_failed(dead)
    for _ in range(100):
        all_moved(dog, dead)
        assert dog.feed_now(dog.wake_us)
    dog.iterated(dead)  # it is back, and waited for again
    all_moved(dog)
    assert dog.feed_now(dog.wake_us)
    all_moved(dog, dead)
    assert not dog.feed_now(dog.wake_us)


def test_all_devices_dead_and_the_writer_alive_is_alive() -> None:
    dog = Watchdog(LOOPS, PERIOD, 0)
    for loop in LOOPS:
        dog.declared_failed(loop)
    dog.writer_passed()
    assert dog.feed_now(dog.wake_us)
    assert not dog.feed_now(dog.wake_us)


def test_a_loop_nobody_announced_is_a_fault_of_the_program() -> None:
    with pytest.raises(KeyError, match="no poll loop 'sign'; there are bus, chips-1, shoe"):
        Watchdog(LOOPS, PERIOD, 0).iterated("sign")


STEPS = st.one_of(
    st.just("writer"),
    st.sampled_from([f"move {loop}" for loop in LOOPS]),
    st.sampled_from([f"fail {loop}" for loop in LOOPS]),
    st.integers(0, 3_000_000),
)


@given(st.lists(STEPS, max_size=60))
def test_it_is_fed_only_if_everybody_moved_since_the_last_time(steps: list[str | int]) -> None:
    """Against the sentence itself, kept as plain sets."""
    dog, now = Watchdog(LOOPS, PERIOD, 0), 0
    moved: set[str] = set()
    failed: set[str] = set()
    for step in steps:
        if isinstance(step, int):
            now += step
            due = now >= dog.wake_us
            alive = "writer" in moved and set(LOOPS) <= moved | failed
            assert dog.feed_now(now) == (due and alive)
            if due and alive:
                moved.clear()
        elif step == "writer":
            dog.writer_passed()
            moved.add("writer")
        elif step.startswith("move "):
            dog.iterated(step[5:])
            moved.add(step[5:])
            failed.discard(step[5:])
        else:
            dog.declared_failed(step[5:])
            failed.add(step[5:])
