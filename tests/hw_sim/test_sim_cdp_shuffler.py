"""The simulated shuffler: shuffles, packets and deck checks in virtual time."""

from __future__ import annotations

import random

import pytest

from hw_sim.devices import cdp
from hw_sim.devices.shuffler import Shuffler
from tests.hw_sim.cdp_host import Host, fields_of

DECK = list(cdp.FULL_DECK)
ORDER = DECK[::-1]
LONGEST_MS = 91_000


@pytest.fixture
def shuffler() -> Shuffler:
    return Shuffler("SF-000001", random.Random(3))


@pytest.fixture
def host(shuffler: Shuffler) -> Host:
    host = Host(shuffler)
    host.start()
    return host


@pytest.fixture
def ready(host: Host, shuffler: Shuffler) -> Host:
    """Deck 1 is shuffled into a known order."""
    shuffler.insert(1, DECK)
    assert shuffler.shuffle(ORDER)
    host.run(LONGEST_MS)
    host.told()
    return host


def last(host: Host) -> dict[str, int]:
    return fields_of(host.events[-1])


def test_a_shuffle_takes_its_time(host: Host, shuffler: Shuffler) -> None:
    shuffler.insert(2, DECK)
    assert shuffler.shuffle()
    host.run(29_000)
    assert last(host) == {
        "shuffle_id": 1, "cards": 0, "expected": 52, "result": 0, "deck_id": 2,
    }  # fmt: skip
    assert host.told() == [cdp.DOOR, cdp.DOOR, cdp.SHUFFLE_START]
    assert host.status()["state"] == 2
    assert not shuffler.shuffle()
    assert not shuffler.dispense()
    host.run(62_000)
    assert last(host)["cards"] == 52
    assert last(host)["result"] == 0
    assert host.told() == [cdp.SHUFFLE_END]
    assert host.status()["state"] == 1
    assert sorted(shuffler.present[2]) == sorted(DECK)
    assert shuffler.present[2] != DECK


def test_packets_from_the_bottom_up(ready: Host, shuffler: Shuffler) -> None:
    assert shuffler.dispense()
    assert not shuffler.dispense()
    assert ready.status()["state"] == 2
    ready.run(1_300)
    assert shuffler.take_packet() is None
    assert ready.told() == []
    ready.run(300)
    assert ready.events[-1].payload == bytes((1, 1, 3, *ORDER[:3]))
    assert not shuffler.dispense()  # the tray is not empty
    assert shuffler.take_packet() == ORDER[:3]
    assert not shuffler.dispense()  # not acknowledged
    ready.run(100)
    assert ready.told() == [cdp.PACKET, cdp.PACKET_REMOVED]
    assert shuffler.dispense(2)
    ready.run(1_700)
    assert ready.events[-1].payload == bytes((2, 1, 2, *ORDER[3:5]))
    status = ready.status()
    assert (status["load_id"], status["number"], status["cards_left"]) == (1, 2, 47)


def test_the_whole_deck_in_packets(ready: Host, shuffler: Shuffler) -> None:
    cards: list[int] = []
    while shuffler.dispense(5):
        ready.run(1_700)
        cards += shuffler.take_packet() or []
        ready.run(100)
    assert cards == ORDER
    assert ready.status()["state"] == 0
    assert ready.status()["number"] == 11


def test_locked_gives_nothing_but_finishes_the_packet(ready: Host, shuffler: Shuffler) -> None:
    shuffler.dispense()
    assert ready.ask(cdp.LOCK, b"\0").kind == cdp.ACK
    ready.run(1_700)
    assert ready.told() == [cdp.PACKET]
    shuffler.take_packet()
    ready.run(100)
    assert not shuffler.dispense()


def test_by_itself_if_set_so(ready: Host, shuffler: Shuffler) -> None:
    shuffler.automatic = True
    ready.run(2_000)
    assert shuffler.take_packet() == ORDER[:3]
    ready.run(2_000)
    assert shuffler.take_packet() == ORDER[3:6]


@pytest.mark.parametrize(
    ("fault", "told", "taken"),
    [
        ("foreign", [*ORDER[:2], 0xF0], [*ORDER[:2], 0xF0]),
        ("double feed", ORDER[:4], ORDER[:4]),
    ],
)
def test_bad_packets(
    ready: Host, shuffler: Shuffler, fault: str, told: list[int], taken: list[int]
) -> None:
    shuffler.next_read = fault
    shuffler.dispense()
    ready.run(1_700)
    assert list(ready.events[-1].payload[3:]) == told
    assert shuffler.take_packet() == taken
    assert shuffler.next_read is None


def test_misread_and_duplicate_in_a_packet(ready: Host, shuffler: Shuffler) -> None:
    shuffler.next_read = "misread"
    shuffler.dispense()
    ready.run(1_700)
    told = list(ready.events[-1].payload[3:])
    assert told.count(0xFF) == 1
    assert shuffler.take_packet() == ORDER[:3]
    ready.run(100)
    shuffler.next_read = "duplicate"
    shuffler.dispense()
    ready.run(1_700)
    packet = shuffler.take_packet()
    assert packet is not None
    assert packet[:2] == ORDER[3:5]
    assert packet[2] in ORDER[:5]


def test_a_short_deck_must_be_taken_out(host: Host, shuffler: Shuffler) -> None:
    shuffler.insert(1, DECK)
    del shuffler.present[1][-2:]
    shuffler.shuffle()
    host.run(LONGEST_MS)
    assert (last(host)["cards"], last(host)["result"]) == (50, 1)
    assert host.last_beat()["err"] == 0x0040
    assert not shuffler.dispense()
    assert not shuffler.shuffle()
    shuffler.lid(True)
    host.run(300)
    assert host.last_beat()["err"] == 0x0040
    shuffler.lid(False)
    host.run(300)
    assert host.last_beat()["err"] == 0
    assert host.status()["cards_left"] == 0
    assert host.status()["state"] == 0


def test_a_long_deck_and_an_unreadable_card(host: Host, shuffler: Shuffler) -> None:
    shuffler.insert(1, [*DECK, 0xF0])
    shuffler.shuffle()
    host.run(LONGEST_MS)
    assert (last(host)["cards"], last(host)["result"]) == (53, 2)
    shuffler.insert(1, [*DECK[1:], 0xFF])
    assert shuffler.shuffle()
    host.run(LONGEST_MS)
    assert last(host)["result"] == 4


def test_no_new_shuffle_before_the_last_is_unloaded(ready: Host, shuffler: Shuffler) -> None:
    assert not shuffler.shuffle()
    assert shuffler.unload() == ORDER
    ready.run(300)
    assert ready.told() == []
    assert ready.status()["state"] == 0
    shuffler.insert(2, DECK)
    assert shuffler.shuffle()
    ready.run(LONGEST_MS)
    assert last(ready)["shuffle_id"] == 2
    assert ready.status()["number"] == 0


def test_a_dealer_changes_decks(ready: Host, shuffler: Shuffler) -> None:
    shuffler.dispense()
    ready.run(1_700)
    ready.told()
    shuffler.insert(2, DECK)  # tray and machine are emptied first
    assert set(shuffler.present) == {2}
    assert shuffler.shuffle(ORDER)
    ready.run(LONGEST_MS)
    assert ready.told() == [
        cdp.PACKET_REMOVED, cdp.DOOR, cdp.DOOR, cdp.SHUFFLE_START, cdp.SHUFFLE_END,
    ]  # fmt: skip


def test_jam_while_shuffling(host: Host, shuffler: Shuffler) -> None:
    shuffler.insert(1, DECK)
    shuffler.shuffle()
    host.run(10_000)
    host.told()
    shuffler.jam(True)
    host.run(LONGEST_MS)
    assert last(host)["result"] == 3
    assert host.told() == [cdp.JAM, cdp.SHUFFLE_END]
    shuffler.jam(False)
    host.run(1_000)
    assert host.told() == [cdp.DOOR, cdp.DOOR, cdp.JAM_CLEARED]
    assert host.last_beat()["err"] == 0
    assert shuffler.present == {}


def test_jam_while_delivering(ready: Host, shuffler: Shuffler) -> None:
    shuffler.dispense()
    ready.run(500)
    shuffler.jam(True)
    ready.run(3_000)
    assert ready.told() == [cdp.JAM]
    assert shuffler.take_packet() is None
    assert ready.status()["cards_left"] == 49


def test_power_lost_while_shuffling_is_told_after_boot(host: Host, shuffler: Shuffler) -> None:
    shuffler.insert(1, DECK)
    shuffler.shuffle()
    host.run(10_000)
    host.told()
    shuffler.reboot()
    host.run(LONGEST_MS)
    host.greet()
    assert last(host)["result"] == 5
    assert host.told() == [cdp.SHUFFLE_END]
    assert host.last_beat()["err"] == 0x0040


def test_power_lost_between_packets_counts_on(ready: Host, shuffler: Shuffler) -> None:
    shuffler.dispense()
    ready.run(1_700)
    shuffler.reboot()
    ready.run(600)
    ready.greet()
    ready.ask(cdp.UNLOCK, b"\0")
    assert shuffler.take_packet() == ORDER[:3]
    ready.run(100)
    assert shuffler.dispense()
    ready.run(1_700)
    assert ready.events[-1].payload == bytes((2, 1, 3, *ORDER[3:6]))


def test_power_lost_with_a_packet_on_its_way_is_a_jam(ready: Host, shuffler: Shuffler) -> None:
    shuffler.dispense()
    ready.run(500)
    shuffler.reboot()
    ready.run(600)
    ready.greet()
    assert ready.told() == [cdp.JAM]
    assert ready.status()["number"] == 0


def test_lid_opened_while_shuffling(host: Host, shuffler: Shuffler) -> None:
    shuffler.insert(1, DECK)
    shuffler.shuffle()
    host.run(10_000)
    host.told()
    shuffler.lid(True)
    host.run(300)
    assert last(host)["result"] == 5
    assert host.told() == [cdp.DOOR, cdp.SHUFFLE_END]


@pytest.mark.parametrize(
    ("deck", "result"),
    [
        (DECK, 0),
        (DECK[:51], 1),
        ([*DECK, 0x01], 2),
        ([*DECK[:51], 0xFF], 4),
        ([*DECK[:51], 0xF0], 6),
        ([*DECK[:51], 0x01], 6),
    ],
)
def test_deck_check(host: Host, shuffler: Shuffler, deck: list[int], result: int) -> None:
    shuffler.insert(2, deck)
    host.run(300)
    host.told()
    assert host.ask(cdp.DECK_VERIFY, b"\2").kind == cdp.ACK
    host.run(29_000)
    assert host.told() == []
    assert host.status()["state"] == 2
    assert host.ask(cdp.DECK_VERIFY, b"\2").kind == cdp.ACK  # starts nothing
    host.run(LONGEST_MS)
    assert last(host) == {
        "verify_id": 1, "cards": len(deck), "expected": 52, "result": result, "deck_id": 2,
    }  # fmt: skip
    assert host.told() == [cdp.DECK_VERIFIED]
    assert host.status()["state"] == 0


def test_a_checked_deck_must_be_shuffled(ready: Host, shuffler: Shuffler) -> None:
    assert ready.ask(cdp.DECK_VERIFY, b"\1").kind == cdp.ACK
    ready.run(LONGEST_MS)
    assert not shuffler.dispense()
    assert shuffler.shuffle()


def test_when_a_check_is_refused(ready: Host, shuffler: Shuffler) -> None:
    def answer(deck: int) -> bytes:
        return ready.ask(cdp.DECK_VERIFY, bytes((deck,))).payload

    assert answer(3) == bytes((cdp.WRONG_PAYLOAD,))
    assert answer(2) == bytes((cdp.WRONG_STATE,))
    shuffler.dispense()
    assert answer(1) == bytes((cdp.WRONG_STATE,))
    ready.run(1_700)
    assert answer(1) == bytes((cdp.WRONG_STATE,))
    shuffler.insert(1, DECK)
    shuffler.shuffle()
    assert answer(1) == bytes((cdp.BUSY,))


def test_meters(ready: Host, shuffler: Shuffler) -> None:
    shuffler.dispense()
    ready.run(1_700)
    answer = ready.ask(cdp.METERS)
    assert fields_of(answer) == {
        "shuffles_ok": 1, "shuffles_failed": 0, "cards": 3, "door_openings": 1,
    }  # fmt: skip


def test_counter_back(ready: Host, shuffler: Shuffler) -> None:
    for _ in range(3):
        shuffler.dispense()
        ready.run(1_700)
        shuffler.take_packet()
        ready.run(100)
    shuffler.counter_back(2)
    assert ready.status()["number"] == 1
    shuffler.dispense()
    ready.run(1_700)
    assert ready.events[-1].payload[0] == 2
