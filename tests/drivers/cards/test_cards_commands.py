"""The host's commands, the device's health and the challenge, in virtual time."""

from __future__ import annotations

import struct

import pytest

from drivers.base import MS, SECOND, DeviceIdentified
from drivers.orders import LockCards, ShowSign
from tests.drivers.cards.shoe_bench import (
    ACK,
    BEAT,
    CHALLENGE,
    HELLO,
    JAM,
    JAM_CLEARED,
    LOCK,
    NAK,
    STATUS,
    UNLOCK,
    bench,
    events,
    in_session,
)
from tests.drivers.cards.wire import Bench, beat, hello_r, status

# --- the host's commands --------------------------------------------------------------------------


def test_unlock_is_ordered_repeated_and_given_up_after_five_retries() -> None:
    at = in_session()
    at.order(LockCards(locked=False))
    at.wait(590 * MS, beating=True, switches=4)
    tries = [said for said in at.said if said.kind == UNLOCK]
    assert [said.flags for said in tries] == [1, 3, 3, 3, 3, 3]
    assert len({said.seq for said in tries}) == 1
    assert at.states() == []
    at.wait(20 * MS)
    assert at.states() == ["unknown"]
    assert at.driver.counters["retries"] == 5


def test_a_lock_goes_before_an_unlock_that_is_not_answered() -> None:
    at = in_session()
    at.order(LockCards(locked=False))
    stale = at.last(UNLOCK).seq
    at.order(LockCards(locked=True))
    assert at.kinds()[-1] == LOCK
    at.send(ACK, 0, stale)
    assert events(at) == []
    at.send(ACK, 0, at.last(LOCK).seq)
    at.wait(1 * SECOND, beating=True, switches=4)
    assert at.kinds().count(UNLOCK) == 1


def test_the_same_lock_ordered_twice_is_sent_once() -> None:
    at = in_session()
    at.order(LockCards(locked=False))
    at.acknowledge_all()
    at.order(LockCards(locked=False))
    at.order(ShowSign("JACKPOT"))
    assert at.kinds().count(UNLOCK) == 1
    assert events(at) == [("unlocked", 0)]


def test_the_lock_wanted_is_told_again_after_a_reconnect() -> None:
    at = in_session()
    at.order(LockCards(locked=False))
    at.acknowledge_all()
    at.close()
    at.open()
    at.session()
    assert at.kinds()[-1] == UNLOCK


def test_a_lock_that_does_not_follow_is_told_once_a_second_and_reported() -> None:
    at = in_session()
    at.order(LockCards(locked=False))
    at.acknowledge_all()
    at.clear()
    for _ in range(40):
        at.wait(250 * MS, beating=True, switches=4)
        at.acknowledge_all()
    assert at.states() == ["degraded"]
    assert at.driver.counters["E-CDP-016"] == 1
    assert 8 <= at.kinds().count(UNLOCK) <= 11


@pytest.mark.parametrize("code", [1, 2, 3])
def test_a_refused_command_is_not_repeated_by_itself(code: int) -> None:
    at = in_session()
    at.order(LockCards(locked=False))
    at.send(NAK, 0, at.last(UNLOCK).seq, bytes([code]))
    at.wait(240 * MS)
    assert at.kinds().count(UNLOCK) == 1
    assert at.driver.counters["E-CDP-015"] == 1


def test_a_busy_device_is_asked_again_every_250_ms_five_times() -> None:
    at = in_session()
    at.order(LockCards(locked=False))
    for _ in range(5):
        at.send(NAK, 0, at.last(UNLOCK).seq, b"\x04")
        before = at.kinds().count(UNLOCK)
        at.wait(240 * MS)
        assert at.kinds().count(UNLOCK) == before
        at.wait(20 * MS)
        assert at.kinds().count(UNLOCK) == before + 1
    at.send(NAK, 0, at.last(UNLOCK).seq, b"\x04")
    at.wait(240 * MS)
    assert at.kinds().count(UNLOCK) == 6
    assert at.driver.counters["E-CDP-015"] == 1


@pytest.mark.parametrize("code", [5, 6])
def test_without_a_session_the_host_says_hello(code: int) -> None:
    at = in_session()
    at.order(LockCards(locked=False))
    at.send(NAK, 0, at.last(UNLOCK).seq, bytes([code]))
    assert at.kinds()[-1] == HELLO
    assert at.states() == ["unknown"]


def test_answers_that_fit_nothing_are_ignored() -> None:
    at = in_session()
    for kind, payload in ((ACK, b""), (NAK, b"\x03"), (STATUS, status()), (0x06, bytes(16))):
        at.send(kind, 0, 4711, payload)
    at.send(0x02, 0, 0, hello_r())
    assert at.readings == []
    assert at.said == []


def test_the_hosts_own_frames_coming_back_are_an_echo_and_nothing_else() -> None:
    at = in_session()
    at.order(LockCards(locked=False))
    at.line(at.raw)
    assert at.driver.counters["E-CDP-004"] == 1
    assert at.readings == []


# --- health ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("switches", "err", "code"),
    [
        (2, 1, "E-CDP-030"),
        (1, 0, "E-CDP-031"),
        (0, 2, "E-CDP-032"),
        (0, 4, "E-CDP-033"),
        (0, 8, "E-CDP-034"),
        (0, 0x10, "E-CDP-035"),
        (0, 0x20, "E-CDP-035"),
        (0, 0x40, "E-CDP-036"),
    ],
)
def test_what_a_beat_says_degrades_and_heals(switches: int, err: int, code: str) -> None:
    at = in_session()
    for _ in range(3):
        at.send(BEAT, 0, 0, beat(switches=switches | 4, err=err))
    at.send(BEAT, 0, 0, beat(switches=4))
    assert at.states() == ["degraded", "ready"]
    assert at.driver.counters[code] == 1


def test_a_jam_is_unlocked_only_after_it_is_cleared_on_disk_and_greeted_anew() -> None:
    at = in_session()
    at.order(LockCards(locked=False))
    at.acknowledge_all()
    at.clear()
    at.event(JAM, 1, struct.pack("<IB", 5, 2))
    at.on_disk(at.readings[-1])
    at.wait(2 * SECOND, beating=True, switches=6, err=1)
    assert UNLOCK not in at.kinds()
    assert events(at) == [("jam", 5), ("locked", 0)]
    at.event(JAM_CLEARED, 2, struct.pack("<I", 5))
    assert at.kinds()[-1] != HELLO
    at.on_disk(at.readings[-1])
    assert at.acks() == [1, 2]
    assert at.kinds()[-1] == HELLO
    at.session()
    assert at.kinds()[-1] == UNLOCK
    assert at.states() == ["degraded", "unknown", "ready"]


# --- challenge ------------------------------------------------------------------------------------

NONCE = bytes(range(16))
RIGHT = bytes.fromhex("1C4290586F2EF71E7E6D92CD907A0300")


def test_the_right_answer_to_a_challenge_confirms_the_identity() -> None:
    at = in_session()
    at.challenge(NONCE, RIGHT)
    asked = at.last(CHALLENGE)
    assert asked.payload == NONCE
    at.send(ACK, 0, asked.seq)
    at.send(0x06, 0, asked.seq, RIGHT)
    assert isinstance(at.readings[-1], DeviceIdentified)
    at.wait(10 * SECOND, beating=True, switches=4)
    assert at.states() == []
    assert at.kinds().count(CHALLENGE) == 1


def test_the_wrong_answer_locks_out_until_somebody_challenges_anew() -> None:
    at = in_session()
    at.challenge(NONCE, RIGHT)
    at.acknowledge_all()
    at.send(0x06, 0, at.last(CHALLENGE).seq, bytes(16))
    assert at.states() == ["locked"]
    at.close()
    at.open()
    at.send(0x02, 0, 0, hello_r())
    assert at.states() == ["locked", "unknown", "locked"]
    proves(at)
    assert at.states() == ["locked", "unknown", "locked", "unknown", "ready"]


def proves(at: Bench) -> None:
    """In a session that is opened for this alone: nothing of the device counts before."""
    at.challenge(NONCE, RIGHT)
    at.send(0x02, 0, 0, hello_r())
    at.answer_status()
    at.acknowledge_all()
    at.send(BEAT, 0, 0, beat(switches=4))
    at.event(JAM, 1, struct.pack("<IB", 5, 2))
    assert at.states()[-1] == "unknown"
    assert [told for told in events(at) if told[0] == "jam"] == []
    at.send(0x06, 0, at.last(CHALLENGE).seq, RIGHT)
    at.send(BEAT, 0, 0, beat(switches=4))


def test_a_device_locked_out_before_a_start_stays_so_until_it_proves_itself() -> None:
    at = bench()
    at.driver.lock_out()
    at.open()
    at.send(0x02, 0, 0, hello_r())
    assert at.states() == ["locked"]
    at.wait(10 * SECOND, beating=True, switches=4)
    assert at.states() == ["locked"]
    proves(at)
    assert at.states() == ["locked", "unknown", "ready"]


def test_a_challenge_never_answered_locks_out_after_three() -> None:
    at = in_session()
    at.challenge(NONCE, RIGHT)
    for _ in range(3):
        at.acknowledge_all()
        at.wait(2_010 * MS, beating=True, switches=4)
    assert at.kinds().count(CHALLENGE) == 3
    assert at.states() == ["locked"]


def test_a_challenge_never_acknowledged_locks_out_too() -> None:
    at = in_session()
    at.challenge(NONCE, RIGHT)
    for _ in range(20):
        at.wait(200 * MS, beating=True, switches=4)
        at.send(BEAT, 0, 0, beat(switches=4))
        if at.kinds()[-1] == HELLO:
            at.send(0x02, 0, 0, hello_r())
            at.answer_status()
            at.send(ACK, 0, at.last(LOCK).seq)
    assert at.states()[-1] == "locked"


def test_a_device_without_challenge_is_locked_out() -> None:
    at = in_session()
    at.challenge(NONCE, RIGHT)
    at.send(NAK, 0, at.last(CHALLENGE).seq, b"\x01")
    assert at.states() == ["locked"]


def test_a_challenge_of_the_wrong_length_is_our_own_mistake() -> None:
    with pytest.raises(ValueError, match="16"):
        bench().challenge(b"short", RIGHT)
