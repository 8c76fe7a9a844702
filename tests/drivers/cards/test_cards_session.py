"""Session, silence and identity of a card device, in virtual time."""

from __future__ import annotations

import pytest

from drivers.base import MS, SECOND, DeviceIdentified, DeviceState, StateReported
from tests.drivers.cards.shoe_bench import (
    BEAT,
    CARD,
    HELLO,
    LOCK,
    STATUS,
    bench,
    cards,
    events,
    in_session,
)
from tests.drivers.cards.wire import BOOT, beat, card, hello_r, wire

# --- the session ----------------------------------------------------------------------------------


def test_opening_says_hello_with_a_delimiter_before_it_every_250_ms() -> None:
    at = bench()
    at.open()
    assert at.raw == bytes.fromhex("00 02 01 02 01 01 01 05 2B BD 5F 65 00")
    at.wait(1 * SECOND)
    assert at.kinds() == [HELLO] * 5
    assert at.states() == []


def test_the_session_is_ready_after_identity_and_status_and_then_locks() -> None:
    at = bench()
    at.open()
    at.send(0x02, 0, 0, hello_r())
    assert at.states() == []
    at.answer_status()
    assert at.states() == ["ready"]
    assert isinstance(at.readings[0], DeviceIdentified)
    assert at.readings[0].identity.serial == "SH-000001"
    assert at.last(LOCK).payload == b"\0"
    at.acknowledge_all()
    assert events(at) == [("locked", 0)]


def test_heartbeats_go_out_every_250_ms() -> None:
    at = in_session()
    at.wait(2 * SECOND, beating=True, switches=4)
    assert at.kinds().count(BEAT) == 8


def test_silence_is_unknown_within_a_second_and_hello_follows() -> None:
    at = in_session()
    quiet_since = at.now
    at.wait(1 * SECOND)
    (lost,) = [it for it in at.readings if isinstance(it, StateReported)]
    assert lost.state is DeviceState.UNKNOWN
    assert lost.reason is not None
    assert lost.reason.code == "E-CDP-010"
    assert lost.at_us - quiet_since == 850 * MS
    assert at.kinds()[-1] == HELLO


def test_two_lost_beats_are_not_silence() -> None:
    at = in_session()
    at.wait(840 * MS)
    at.send(BEAT, 0, 0, beat(switches=4))
    at.wait(840 * MS)
    assert at.states() == []


def test_bytes_that_are_no_frame_are_no_sign_of_life() -> None:
    at = in_session()
    for _ in range(10):
        at.wait(100 * MS)
        at.line(b"\x55\xaa\x00")
    assert at.states() == ["unknown"]


def test_five_seconds_without_a_session_reopen_the_line_again_and_again() -> None:
    at = bench()
    at.open()
    at.wait(4_900 * MS)
    assert at.reopened == 0
    at.wait(200 * MS)
    assert at.reopened == 1
    assert at.driver.wake_us is None
    at.open()
    at.wait(5_100 * MS)
    assert at.reopened == 2


def test_a_device_that_beats_but_never_answers_is_reopened_too() -> None:
    at = bench()
    at.open()
    at.wait(5_100 * MS, beating=True)
    assert at.reopened == 1
    assert at.states() == []


def test_a_device_that_never_answers_status_is_asked_six_times_and_reopened_in_the_end() -> None:
    at = bench()
    at.open()
    at.send(0x02, 0, 0, hello_r())
    at.wait(590 * MS)
    asked = [said for said in at.said if said.kind == STATUS]
    assert len(asked) == 6
    assert [said.flags for said in asked] == [0, 2, 2, 2, 2, 2]
    assert len({said.seq for said in asked}) == 1
    at.wait(20 * MS)
    assert at.driver.counters["E-CDP-013"] == 1
    for _ in range(30):
        at.wait(200 * MS)
        at.send(0x02, 0, 0, hello_r())
        if at.reopened:
            break
    assert at.reopened == 1


def test_unplugged_in_the_middle_of_a_frame() -> None:
    at = in_session()
    frame = wire(0x10, CARD, 1, 1, card(1))
    at.line(frame[:9])
    at.close()
    assert at.states() == ["unknown"]
    at.open()
    at.line(frame[9:])
    at.session()
    assert cards(at) == []
    at.event(CARD, 1, card(1), again=True)
    assert cards(at) == [(1, 0x29)]


def test_nothing_is_read_from_a_closed_line() -> None:
    at = bench()
    at.line(wire(0x10, 0x02, 0, 0, hello_r()))
    assert at.said == []
    assert at.readings == []


# --- identity -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("identity", "dev", "code"),
    [
        (hello_r(serial="SH-000002"), 0x10, "E-CDP-020"),
        (hello_r(firmware="0000000000000001"), 0x10, "E-CDP-021"),
        (hello_r(), 0x11, "E-CDP-022"),
        (hello_r(proto=2), 0x10, "E-CDP-023"),
    ],
)
def test_another_device_is_locked_out_and_gets_no_word_more(
    identity: bytes, dev: int, code: str
) -> None:
    at = bench(firmware="580a1f977263c001")
    at.dev = dev
    at.open()
    at.send(0x02, 0, 0, identity)
    assert at.states() == ["locked"]
    reported = at.readings[-1]
    assert isinstance(reported, StateReported)
    assert reported.reason is not None
    assert reported.reason.code == code
    at.clear()
    at.event(CARD, 1, card(1))
    at.wait(10 * SECOND, beating=True)
    assert at.readings == []
    assert at.said == []
    assert at.reopened == 0


def test_firmware_is_not_compared_unless_configured() -> None:
    at = bench()
    at.open()
    at.session(identity=hello_r(firmware="0000000000000001"))
    assert at.states() == ["ready"]


def test_the_right_device_on_the_line_again_unlocks() -> None:
    at = bench()
    at.open()
    at.send(0x02, 0, 0, hello_r(serial="SH-000002", boot=7))
    at.send(BEAT, 0, 0, beat(boot=7))
    assert at.states() == ["locked"]
    at.send(BEAT, 0, 0, beat(boot=BOOT))
    assert at.states() == ["locked", "unknown"]
    at.session()
    assert at.states() == ["locked", "unknown", "ready"]
    assert ("new epoch", BOOT) not in events(at)


def test_shoe_and_shuffler_swapped_while_open() -> None:
    at = in_session()
    at.dev = 0x11
    at.wait(1 * SECOND, beating=True)
    assert at.states() == ["unknown"]
    at.send(0x02, 0, 0, hello_r())
    assert at.states() == ["unknown", "locked"]
    at.wait(2 * SECOND)
    assert at.states() == ["unknown", "locked", "unknown"]


def test_a_device_that_comes_back_as_another_is_unknown_at_once_and_then_locked() -> None:
    at = in_session()
    at.send(BEAT, 0, 0, beat(boot=99))
    assert at.states() == ["unknown"]
    at.event(CARD, 1, card(1))
    at.send(0x02, 0, 0, hello_r(serial="XX", boot=99))
    assert at.states() == ["unknown", "locked"]
    assert cards(at) == []
