"""Row 8 and the verbs of the card devices: what left the gate is told as it was, or not at all."""

from __future__ import annotations

from typing import Final

import pytest

from hw_sim.clock import MS, SECOND
from hw_sim.devices.cdp import FULL_DECK, JOKER
from tests.sim.faults_bench import DEGRADED, READY, UNKNOWN, Bench, Watch

TABLES: Final = (("mega", "shoe"), ("mega-shuffler", "shuffler"))
each_device = pytest.mark.parametrize(("table", "line"), TABLES, ids=("shoe", "shuffler"))


def set_up(table: str = "mega") -> Bench:
    return Bench(table).set_up(sensing=False)


def take(bench: Bench) -> list[int]:
    """One card or one packet, as it really left the device."""
    return [bench.draw()] if bench.sim.shoe is not None else bench.packet()


@each_device
def test_a_counter_that_falls_is_a_new_epoch_and_the_cards_are_still_told(
    table: str, line: str
) -> None:
    bench = set_up(table)
    drawn = [card for _ in range(4) for card in take(bench)]
    watch = Watch(bench)
    bench.fault(f"backwards {line} 2")
    drawn += take(bench)
    bench.run_for(SECOND)
    epochs = bench.events("new epoch")
    assert [(e.result, e.device) for e in epochs] == [("backwards", line)]
    assert bench.cards() == drawn
    assert watch.disturbed([line]) == {}
    drawn += take(bench)
    assert bench.cards() == drawn
    assert len(bench.events("new epoch")) == 1, "counting goes on from there"


@each_device
def test_a_device_without_memory_is_a_restart_a_fallen_counter_and_degraded(
    table: str, line: str
) -> None:
    bench = set_up(table)
    for _ in range(3):
        take(bench)
    device = bench.sim.shoe or bench.sim.shuffler
    assert device is not None
    device.lose_memory()
    bench.run_for(3 * SECOND)
    assert {e.result for e in bench.events("new epoch")} == {"restart", "backwards"}
    assert bench.state(line) is DEGRADED
    assert bench.reason(line) == "E-CDP-033"


@each_device
def test_a_restart_between_two_cards_is_a_new_epoch_and_loses_none(table: str, line: str) -> None:
    bench = set_up(table)
    drawn = take(bench)
    bench.fault(f"reboot {line}")
    bench.run_for(3 * SECOND)
    assert [(e.result) for e in bench.events("new epoch")] == ["restart"]
    drawn += take(bench)
    assert bench.cards() == drawn
    assert bench.events("gap") == []


def test_a_restart_with_a_card_in_the_gate_is_a_jam() -> None:
    bench = set_up()
    assert bench.sim.shoe is not None
    bench.sim.shoe.draw()
    bench.run_for(5 * MS)
    bench.fault("reboot shoe")
    bench.run_for(3 * SECOND)
    assert [e.kind for e in bench.events("jam")] == ["jam"]
    assert bench.cards() == []
    assert bench.reason("shoe") == "E-CDP-030"


@each_device
def test_a_card_that_cannot_be_read_is_never_guessed(table: str, line: str) -> None:
    bench = set_up(table)
    told = take(bench)
    for _ in range(5):
        bench.fault("misread")
        take(bench)
    assert bench.cards() == told
    assert len(bench.events("misread")) == 5
    assert bench.state(line) is READY


def test_a_double_feed_is_told_as_one_and_its_cards_are_not() -> None:
    bench = set_up()
    told = [bench.draw()]
    bench.fault("doublefeed")
    bench.draw()
    told.append(bench.draw())
    assert [(e.number, e.count) for e in bench.events("double feed")] == [(2, 2)]
    assert bench.cards() == told


def test_a_packet_of_four_is_told_as_four() -> None:
    bench = set_up("mega-shuffler")
    bench.fault("doublefeed")
    taken = bench.packet()
    assert len(taken) == 4
    assert bench.cards() == taken


def test_a_card_pushed_back_is_told_with_its_number() -> None:
    bench = set_up()
    first = bench.draw()
    bench.fault("pushback")
    bench.run_for(2 * SECOND)
    assert [e.number for e in bench.events("returned")] == [1]
    assert bench.draw() == first
    assert bench.cards() == [first, first]


@each_device
def test_a_joker_and_a_card_dealt_before_are_told_as_they_are(table: str, line: str) -> None:
    bench = set_up(table)
    drawn = take(bench)
    bench.fault("foreign")
    drawn += take(bench)
    bench.fault("duplicate")
    drawn += take(bench)
    assert JOKER in drawn
    assert len(drawn) - len(set(drawn)) == 1
    assert bench.cards() == drawn
    assert bench.state(line) is READY


def test_missing_cards_end_the_shoe_early_and_it_says_empty() -> None:
    bench = set_up()
    bench.fault("missing 48")
    drawn = [bench.draw() for _ in range(4)]
    assert bench.cards() == drawn == list(FULL_DECK[:4])
    assert [e.kind for e in bench.events("empty")] == ["empty"]


def test_missing_cards_are_found_by_the_shuffler() -> None:
    bench = Bench("mega-shuffler").set_up(cards=False, sensing=False)
    shuffler = bench.sim.shuffler
    assert shuffler is not None
    shuffler.insert(1, list(FULL_DECK))
    bench.fault("missing 2")
    bench.run_for(SECOND)
    assert shuffler.shuffle()
    bench.run_for(91 * SECOND)
    ended = bench.events("shuffle ended")
    assert [(e.count, e.expected, e.result) for e in ended] == [(50, 52, "short")]
    assert (bench.state("shuffler"), bench.reason("shuffler")) == (DEGRADED, "E-CDP-036")


@each_device
def test_a_jam_degrades_within_a_second_and_ends_when_a_hand_clears_it(
    table: str, line: str
) -> None:
    bench = set_up(table)
    device = bench.sim.shoe or bench.sim.shuffler
    assert device is not None
    watch = Watch(bench)
    bench.fault("jam")
    bench.run_for(SECOND)
    assert (bench.state(line), bench.reason(line)) == (DEGRADED, "E-CDP-030")
    assert (watch.left_ready_after_us(line) or 0) <= SECOND
    assert not device.gate_open
    assert watch.disturbed([line]) == {}
    bench.fault("jam off")
    bench.run_for(3 * SECOND)
    assert bench.not_ready() == {}
    assert [e.kind for e in bench.events("jam", "jam cleared")] == ["jam", "jam cleared"]
    drawn = take(bench)
    assert bench.cards()[-len(drawn) :] == drawn


@each_device
def test_an_open_lid_degrades_and_shuts_the_gate(table: str, line: str) -> None:
    bench = set_up(table)
    device = bench.sim.shoe or bench.sim.shuffler
    assert device is not None
    watch = Watch(bench)
    bench.fault("lid open")
    bench.run_for(SECOND)
    assert (bench.state(line), bench.reason(line)) == (DEGRADED, "E-CDP-031")
    assert not device.gate_open
    bench.fault("lid closed")
    bench.run_for(2 * SECOND)
    assert bench.state(line) is READY
    doors = [e.kind for e in watch.readings if e in bench.events("door opened", "door closed")]
    assert doors == ["door opened", "door closed"]


def test_no_card_leaves_while_nobody_listens() -> None:
    """Row 1: the gate is shut when the host is gone, so no card can go unseen."""
    bench = set_up()
    assert bench.sim.shoe is not None
    bench.fault("unplug shoe")
    bench.run_for(900 * MS)
    assert bench.sim.shoe.draw() is None
    assert bench.state("shoe") is UNKNOWN
