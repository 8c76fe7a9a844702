"""Session, acknowledgement, repetition, lock, doors and jams of the simulated card devices."""

from __future__ import annotations

import random

import pytest

from hw_sim.devices import cdp
from hw_sim.devices.shoe import Shoe
from tests.hw_sim.cdp_host import EVENTS, Host, fields_of

CARDS = [0x01, 0x1D, 0x3A, 0x29, 0x2C, 0x15]


@pytest.fixture
def shoe() -> Shoe:
    return Shoe("SH-000001", random.Random(7))


@pytest.fixture
def host(shoe: Shoe) -> Host:
    """Loaded, session open, unlocked, nothing waiting."""
    shoe.load(CARDS)
    host = Host(shoe)
    host.start()
    host.told()
    return host


def copies(host: Host, first: int) -> list[tuple[int, int]]:
    """(flags, milliseconds since the first) of every event from this frame on."""
    found = [
        (frame.flags, at_us)
        for frame, at_us in zip(host.frames[first:], host.times_us[first:], strict=True)
        if frame.kind in EVENTS
    ]
    return [(flags, (at_us - found[0][1]) // 1000) for flags, at_us in found]


def test_heartbeats_from_power_on_without_a_host(shoe: Shoe) -> None:
    host = Host(shoe)
    host.beats = False
    host.run(2_000)
    assert [f.kind for f in host.frames] == [cdp.HEARTBEAT] * 7
    assert host.times_us[0] < 500_000
    gaps = {b - a for a, b in zip(host.times_us, host.times_us[1:], strict=False)}
    assert gaps == {250_000}
    assert host.last_beat()["state"] == 0
    assert host.last_beat()["switches"] == 0b100


def test_no_session_no_command_no_event(shoe: Shoe) -> None:
    shoe.load(CARDS)
    host = Host(shoe)
    host.run(600)
    assert host.ask(cdp.UNLOCK, b"\0").payload == bytes((cdp.NO_SESSION,))
    assert host.ask(cdp.STATUS).kind == cdp.STATUS  # answered, but without HELLO opens nothing
    assert host.ask(cdp.LOCK, b"\0").payload == bytes((cdp.NO_SESSION,))
    assert host.run(3_000) == []
    assert host.ask(cdp.HELLO, seq=0).kind == cdp.HELLO_R
    assert host.ask(cdp.UNLOCK, b"\0").payload == bytes((cdp.NO_SESSION,))
    assert host.run(3_000) == []
    host.ask(cdp.STATUS)
    host.run(300)
    assert host.told() == [cdp.DOOR, cdp.DOOR, cdp.SHOE_LOADED]
    assert [f.seq for f in host.frames if f.kind in EVENTS] == [1, 2, 3]


def test_position_is_that_of_the_last_acknowledged_event(host: Host, shoe: Shoe) -> None:
    host.acks = False
    assert shoe.draw() == CARDS[0]
    host.run(60)
    status = host.status()
    assert (status["load_id"], status["number"], status["waiting"]) == (1, 0, 1)
    assert status["cards_left"] == len(CARDS) - 1
    host.acks = True
    host.run(200)
    status = host.status()
    assert (status["load_id"], status["number"], status["waiting"]) == (1, 1, 0)


def test_an_event_is_repeated_for_ever_and_the_gate_stays_shut(host: Host, shoe: Shoe) -> None:
    host.acks = False
    first = len(host.frames)
    shoe.draw()
    host.run(4_000)
    seen = copies(host, first)
    assert [flags for flags, _ in seen] == [1] + [3] * (len(seen) - 1)
    assert [at_ms for _, at_ms in seen] == [0, 100, 200, 300, 400, 500, 1_500, 2_500, 3_500]
    assert len({f.payload for f in host.frames[first:] if f.kind == cdp.CARD}) == 1
    assert shoe.draw() is None
    host.acks = True
    host.run(1_500)
    assert host.told() == [cdp.CARD]
    assert shoe.draw() == CARDS[1]


def test_a_new_session_gets_the_waiting_event_soon_with_the_same_number(
    host: Host, shoe: Shoe
) -> None:
    host.acks = False
    shoe.draw()
    host.run(1_000)
    sent = [f for f in host.frames if f.kind == cdp.CARD][-1]
    assert host.ask(cdp.HELLO, seq=0).kind == cdp.HELLO_R
    assert host.run(2_000) == []
    host.say(cdp.STATUS)
    status, event = host.run(105)[:2]
    assert status.kind == cdp.STATUS
    assert event == sent
    gap_us = host.times_us[host.frames.index(event, -3)] - host.times_us[-3]
    assert 0 < gap_us < 100_000


@pytest.mark.parametrize("code", [cdp.UNKNOWN_TYPE, cdp.WRONG_PAYLOAD, cdp.OUT_OF_SEQUENCE])
def test_a_refused_event_waits_for_hello(host: Host, shoe: Shoe, code: int) -> None:
    host.acks = False
    shoe.draw()
    event = host.run(60)[0]
    host.say(cdp.NAK, bytes((code,)), seq=event.seq)
    assert host.run(3_000) == []
    err = 0 if code == cdp.OUT_OF_SEQUENCE else 0x0010
    assert host.last_beat()["err"] == err
    assert shoe.draw() is None
    host.say(cdp.ACK, seq=event.seq)  # it is not out any more
    host.run(10)
    assert shoe.state()["waiting"] == 1
    host.acks = True
    host.greet()
    assert host.told() == [cdp.CARD]
    assert host.status()["err"] == 0


def test_a_busy_host_is_asked_again(host: Host, shoe: Shoe) -> None:
    host.acks = False
    first = len(host.frames)
    shoe.draw()
    event = host.run(60)[0]
    host.say(cdp.NAK, bytes((cdp.BUSY,)), seq=event.seq)
    host.run(400)
    (_, _), (flags, at_ms), *_ = copies(host, first)
    assert flags == 3
    assert 250 <= at_ms < 320


@pytest.mark.parametrize("code", [0, cdp.WRONG_STATE, cdp.NO_SESSION, 7])
def test_a_nak_that_makes_no_sense_changes_nothing(host: Host, shoe: Shoe, code: int) -> None:
    host.acks = False
    first = len(host.frames)
    shoe.draw()
    event = host.run(60)[0]
    host.say(cdp.NAK, bytes((code,)), seq=event.seq)
    host.run(200)
    assert [at_ms for _, at_ms in copies(host, first)] == [0, 100, 200]


def test_answers_that_fit_nothing_are_ignored(host: Host, shoe: Shoe) -> None:
    host.acks = False
    shoe.draw()
    event = host.run(60)[0]
    host.say(cdp.ACK, seq=event.seq + 1)
    host.say(cdp.ACK, b"\0", seq=event.seq)
    host.say(cdp.ACK, seq=event.seq, flags=1)
    host.run(10)
    assert shoe.state()["waiting"] == 1


def test_a_command_is_carried_out_once(host: Host, shoe: Shoe) -> None:
    seq = host.say(cdp.UNLOCK, b"\0")
    host.run(10)
    assert host.ask(cdp.LOCK, b"\1").kind == cdp.ACK
    assert shoe.locked
    lock_seq = seq + 1
    assert host.ask(cdp.UNLOCK, b"\0", seq=lock_seq, flags=3).kind == cdp.ACK
    assert shoe.locked  # a copy by its number, whatever it says
    assert host.ask(cdp.UNLOCK, b"\0", seq=seq).kind == cdp.ACK
    assert not shoe.locked


@pytest.mark.parametrize(
    ("kind", "payload", "flags", "code"),
    [
        (0x26, b"", 0, cdp.UNKNOWN_TYPE),
        (cdp.CARD, bytes(8), 1, cdp.UNKNOWN_TYPE),
        (cdp.HELLO_R, bytes(41), 0, cdp.UNKNOWN_TYPE),
        (cdp.DECK_VERIFY, b"\1", 1, cdp.UNKNOWN_TYPE),
        (cdp.METERS, b"", 0, cdp.UNKNOWN_TYPE),
        (cdp.LOCK, b"\4", 1, cdp.WRONG_PAYLOAD),
        (cdp.LOCK, b"", 1, cdp.WRONG_PAYLOAD),
        (cdp.UNLOCK, b"\1", 1, cdp.WRONG_PAYLOAD),
        (cdp.UNLOCK, b"\0", 0, cdp.WRONG_PAYLOAD),
        (cdp.CHALLENGE, bytes(15), 1, cdp.WRONG_PAYLOAD),
        (cdp.STATUS, b"", 1, cdp.WRONG_PAYLOAD),
        (cdp.STATUS, b"\0", 0, cdp.WRONG_PAYLOAD),
        (cdp.HEARTBEAT, b"", 1, cdp.WRONG_PAYLOAD),
    ],
)
def test_what_a_shoe_refuses(host: Host, kind: int, payload: bytes, flags: int, code: int) -> None:
    answer = host.ask(kind, payload, flags=flags)
    assert (answer.kind, answer.payload) == (cdp.NAK, bytes((code,)))


def test_the_gate_shuts_when_the_host_is_silent_and_opens_again(host: Host, shoe: Shoe) -> None:
    host.beats = False
    host.say(cdp.HEARTBEAT, seq=0)
    host.run(840)
    assert shoe.gate_open
    host.run(20)
    assert shoe.draw() is None
    assert not shoe.locked
    host.say(cdp.HEARTBEAT, seq=0)
    host.run(10)
    assert shoe.draw() == CARDS[0]


def test_hello_and_lock_shut_the_gate(host: Host, shoe: Shoe) -> None:
    host.ask(cdp.LOCK, b"\0")
    assert shoe.draw() is None
    assert host.ask(cdp.UNLOCK, b"\0").kind == cdp.ACK
    assert shoe.gate_open
    host.ask(cdp.HELLO, seq=0)
    assert shoe.draw() is None
    assert shoe.locked


def test_reboot_keeps_queue_and_counters_and_comes_up_locked(host: Host, shoe: Shoe) -> None:
    shoe.draw()
    host.run(100)
    host.acks = False
    shoe.draw()
    host.run(100)
    boot_id = host.last_beat()["boot_id"]
    shoe.reboot()
    assert host.run(2_000) == []  # no session, no event
    assert host.last_beat()["boot_id"] == boot_id + 1
    assert host.last_beat()["switches"] == 0b1100
    status = host.status()
    assert (status["load_id"], status["number"], status["waiting"]) == (1, 1, 1)
    assert status["uptime"] == 1
    host.acks = True
    host.told()
    host.greet()
    event = host.events[-1]
    assert (event.flags, event.seq) == (3, 1)
    assert fields_of(event)["draw_no"] == 2
    assert host.ask(cdp.UNLOCK, b"\0").kind == cdp.ACK
    shoe.draw()
    host.run(100)
    assert fields_of(host.events[-1])["draw_no"] == 3


def test_numbers_on_the_wire_wrap(host: Host, shoe: Shoe) -> None:
    shoe._outbox._next_seq = 0xFFFF
    for _ in range(2):
        assert shoe.draw() is not None
        host.run(100)
    assert [event.seq for event in host.events] == [0xFFFF, 0]


def test_jam_until_a_hand_clears_it_and_the_host_says_hello(host: Host, shoe: Shoe) -> None:
    shoe.jam(True)
    host.run(600)
    assert host.told() == [cdp.JAM]
    beat = host.last_beat()
    assert (beat["state"], beat["switches"], beat["err"]) == (4, 0b110, 1)
    host.greet()
    assert host.ask(cdp.UNLOCK, b"\0").payload == bytes((cdp.WRONG_STATE,))
    shoe.jam(False)
    host.run(600)
    assert host.told() == [cdp.DOOR, cdp.DOOR, cdp.JAM_CLEARED]
    assert host.last_beat()["err"] == 0
    assert host.ask(cdp.UNLOCK, b"\0").payload == bytes((cdp.WRONG_STATE,))
    host.greet()
    assert host.ask(cdp.UNLOCK, b"\0").kind == cdp.ACK
    assert shoe.draw() == CARDS[0]


def test_a_person_who_opened_the_lid_does_not_open_it_again(host: Host, shoe: Shoe) -> None:
    shoe.jam(True)
    shoe.lid(True)
    shoe.lid(True)
    shoe.jam(False)
    host.run(600)
    assert host.told() == [cdp.JAM, cdp.DOOR, cdp.DOOR, cdp.JAM_CLEARED]


def test_lid(host: Host, shoe: Shoe) -> None:
    shoe.lid(True)
    host.run(300)
    assert shoe.draw() is None
    assert host.status()["lid"] == 1
    assert host.last_beat()["switches"] == 1
    opened = fields_of(host.events[-1])
    shoe.lid(False)
    host.run(300)
    closed = fields_of(host.events[-1])
    assert opened == {"door_no": 3, "door": 1, "open": 1}
    assert closed == {"door_no": 4, "door": 1, "open": 0}
    assert not shoe.locked
    assert shoe.draw() == CARDS[0]


def test_full_queue_uses_numbers_up_and_says_so_until_hello(host: Host, shoe: Shoe) -> None:
    host.acks = False
    shoe.draw()
    host.run(50)
    for _ in range(4):
        shoe.lid(True)
        shoe.lid(False)
    assert shoe.state()["waiting"] == 8
    assert host.status()["err"] == 0x0020
    assert not shoe.load(CARDS)
    host.acks = True
    host.greet()
    host.run(600)
    doors = [fields_of(e)["door_no"] for e in host.events if e.kind == cdp.DOOR]
    assert doors == [3, 4, 5, 6, 7, 8, 9]
    host.told()
    shoe.lid(True)
    host.run(100)
    assert fields_of(host.events[-1])["door_no"] == 13
    assert host.status()["err"] == 0


def test_challenge_is_answered_after_its_ack_and_replaced_by_the_next(
    host: Host, shoe: Shoe
) -> None:
    shoe.image = b"underfelt shoe image 1"
    host.say(cdp.CHALLENGE, bytes(16))
    host.run(50)
    seq = host.say(cdp.CHALLENGE, bytes(range(16)))
    came = host.run(2_000)
    assert [(f.kind, f.seq) for f in came] == [(cdp.ACK, seq), (cdp.RESPONSE, seq)]
    assert came[1].payload.hex() == "1c4290586f2ef71e7e6d92cd907a0300"


def test_a_muted_device_hears(host: Host, shoe: Shoe) -> None:
    shoe.muted = True
    before = len(host.frames)
    host.say(cdp.LOCK, b"\0")
    host.run(2_000)
    assert len(host.frames) == before
    assert shoe.locked
    shoe.muted = False
    host.run(300)
    assert host.last_beat()["switches"] == 0b100


def test_lost_memory(host: Host, shoe: Shoe) -> None:
    shoe.draw()
    host.run(100)
    shoe.lose_memory()
    host.run(600)
    host.greet()
    status = host.status()
    assert (status["load_id"], status["number"], status["err"]) == (0, 0, 0x0004)
    assert shoe.draw() is None


def test_unplugged_it_keeps_the_event(host: Host, shoe: Shoe) -> None:
    shoe.draw()
    host.line.unplug()
    host.run(3_000)
    assert shoe.state()["waiting"] == 1
    host.line.replug()
    host.line.plug_in(host)
    host.run(1_200)
    assert host.told() == [cdp.CARD]
