"""Rows 1 to 4 of the fault table: cables, names, swaps, stuck writes, silence, restarts."""

from __future__ import annotations

from typing import Final

import pytest

from drivers.readings import AntennaRead, CardRead, SpotLost, SpotSettled
from hw_sim.clock import MS, SECOND
from tests.sim.faults_bench import (
    LOCKED,
    READY,
    UNKNOWN,
    Bench,
    Watch,
    settled_wrongly,
    standing,
    truth_of,
)

LINES: Final = (
    ("mega", "chips-1"), ("mega", "shoe"), ("mega-shuffler", "shuffler"), ("mega", "sign")
)  # fmt: skip
each_line = pytest.mark.parametrize(("table", "line"), LINES, ids=[name for _, name in LINES])
CLOSED: Final = {
    "chips-1": "E-FEIG-011", "shoe": "E-CDP-011", "shuffler": "E-CDP-011", "sign": "E-DSP-025"
}  # fmt: skip
SILENT: Final = {"chips-1": "E-FEIG-010", "shoe": "E-CDP-010", "shuffler": "E-CDP-010"}
BACK_US: Final = 3 * SECOND


def bench_of(table: str) -> Bench:
    return Bench(table).set_up(cards=False)


def recovers(bench: Bench, line: str, within_us: int = BACK_US) -> None:
    """READY by itself, with the handshake made again (a sign has no identity)."""
    before = bench.identified(line)
    bench.run_for(within_us)
    assert bench.state(line) is READY
    if line != "sign":
        assert bench.identified(line) == before + 1
    assert bench.not_ready() == {}


@each_line
def test_unplugged_is_unknown_at_once_and_ready_again_when_plugged_in(
    table: str, line: str
) -> None:
    bench = bench_of(table)
    watch = Watch(bench)
    bench.fault(f"unplug {line}")
    bench.run_for(5 * SECOND)
    assert [(r.state, r.reason and r.reason.code) for r in watch.states(line)] == [
        (UNKNOWN, CLOSED[line])
    ]
    assert watch.left_ready_after_us(line) == 0
    assert watch.more(line)[CLOSED[line]] == 1
    assert watch.disturbed([line]) == {}
    assert watch.idle([line]) == []
    bench.fault(f"replug {line}")
    recovers(bench, line)


@pytest.mark.parametrize("after_ms", range(0, 60, 7))
def test_a_reader_unplugged_anywhere_in_a_frame_loses_its_spots_and_invents_none(
    after_ms: int,
) -> None:
    """The pull moves in steps of 7 ms through select, inventory and answer."""
    bench = bench_of("mega")
    truth = truth_of(bench)
    bench.run_for(after_ms * MS)
    watch = Watch(bench)
    bench.fault("unplug chips-1")
    bench.run_for(SECOND)
    lost = {r.antenna.reader for r in watch.readings if isinstance(r, SpotLost)}
    assert lost == {"chips-1"}
    assert not [r for r in watch.readings if isinstance(r, SpotSettled)]
    bench.fault("replug chips-1")
    bench.run_for(4 * SECOND)
    assert settled_wrongly(watch, truth) == []
    assert standing(bench)[1, "1"] == truth[1, "1"]


def test_a_shoe_unplugged_in_the_middle_of_a_card_reports_it_once_after_the_replug() -> None:
    bench = Bench().set_up()
    assert bench.sim.shoe is not None
    for micro in range(14_000, 22_000, 1_000):
        before = bench.cards()
        card = bench.sim.shoe.draw()
        assert card is not None
        bench.run_for(micro)
        bench.fault("unplug shoe")
        bench.run_for(500 * MS)
        bench.fault("replug shoe")
        bench.run_for(2 * SECOND)
        assert bench.cards() == [*before, card]
    assert bench.events("gap", "misread", "double feed") == []


@each_line
def test_renamed_is_reopened_by_its_port_path_and_identified_again(table: str, line: str) -> None:
    bench = bench_of(table)
    watch = Watch(bench)
    bench.fault(f"rename {line}")
    recovers(bench, line)
    assert watch.left_ready_after_us(line) == 0
    assert bench.counts[f"opened {line}"] == 2
    assert watch.more(line)[CLOSED[line]] == 1
    assert watch.disturbed([line]) == {}


def test_two_readers_swapped_are_both_locked_and_nothing_of_them_counts() -> None:
    """They have different bus addresses: the probe for any address finds the stranger."""
    bench = bench_of("mega")
    watch = Watch(bench)
    bench.fault("swap chips-1 chips-2")
    bench.run_for(6 * SECOND)
    for line in ("chips-1", "chips-2"):
        assert bench.state(line) is LOCKED
        assert bench.reason(line) == "E-FEIG-016"
        assert watch.left_ready_after_us(line) == 0
        assert watch.more(line)["E-FEIG-016"] == 1
    assert not [r for r in watch.readings if isinstance(r, AntennaRead | SpotSettled)]
    assert watch.disturbed(["chips-1", "chips-2"]) == {}
    bench.fault("swap chips-1 chips-2")
    bench.run_for(BACK_US)
    assert bench.not_ready() == {}


@pytest.mark.parametrize(
    ("table", "one", "other"),
    [
        ("mega", "shoe", "chips-1"),
        ("mega", "shoe", "sign"),
        ("mega", "chips-2", "sign"),
        ("mega-shuffler", "shuffler", "chips-1"),
    ],
)
def test_two_kinds_swapped_never_become_ready_and_return_when_put_right(
    table: str, one: str, other: str
) -> None:
    bench = bench_of(table)
    watch = Watch(bench)
    bench.fault(f"swap {one} {other}")
    bench.run_for(12 * SECOND)
    for line in (one, other):
        assert bench.state(line) in (UNKNOWN, LOCKED)
        assert all(r.state is not READY for r in watch.states(line))
        assert watch.left_ready_after_us(line) == 0
        assert watch.codes(line)
        spoken = [r for r in watch.readings if isinstance(r, AntennaRead | CardRead)]
        assert not [r for r in spoken if r.device == line]
    assert watch.disturbed([one, other]) == {}
    assert watch.idle([one, other]) == []
    bench.fault(f"swap {one} {other}")
    bench.run_for(BACK_US)
    assert bench.not_ready() == {}


def test_a_foreign_reader_on_the_port_is_locked_until_the_right_one_is_back() -> None:
    bench = bench_of("mega")
    reader = bench.sim.lines["chips-1"].device
    ours = reader.device_id  # type: ignore[attr-defined]
    reader.device_id = bytes.fromhex("DEADBEEF")  # type: ignore[attr-defined]
    watch = Watch(bench)
    bench.fault("rename chips-1")
    bench.run_for(5 * SECOND)
    assert bench.state("chips-1") is LOCKED
    assert bench.reason("chips-1") == "E-FEIG-016"
    reads = [r for r in watch.readings if isinstance(r, AntennaRead)]
    assert {r.device for r in reads} == {"chips-2"}
    reader.device_id = ours  # type: ignore[attr-defined]
    bench.fault("rename chips-1")
    recovers(bench, "chips-1")


@pytest.mark.parametrize(("table", "line"), LINES[1:3], ids=("shoe", "shuffler"))
def test_a_foreign_card_device_is_locked_and_gives_no_card(table: str, line: str) -> None:
    bench = bench_of(table)
    device = bench.sim.shoe or bench.sim.shuffler
    assert device is not None
    ours, device.serial = device.serial, b"XX-000009"
    watch = Watch(bench)
    bench.fault(f"rename {line}")
    bench.run_for(5 * SECOND)
    assert bench.state(line) is LOCKED
    assert bench.reason(line) == "E-CDP-020"
    assert watch.more(line)["E-CDP-020"] >= 1
    assert not device.gate_open
    assert watch.disturbed([line]) == {}
    device.serial = ours
    bench.fault(f"rename {line}")
    recovers(bench, line)


@each_line
def test_a_stuck_write_is_given_up_and_the_line_returns_when_it_moves_again(
    table: str, line: str
) -> None:
    """The port gives up a second after the first byte that does not move."""
    bench = bench_of(table)
    watch = Watch(bench)
    bench.fault(f"stick {line}")
    bench.run_for(12 * SECOND)
    assert bench.state(line) is UNKNOWN
    assert watch.codes(line)
    assert bench.counts[f"opened {line}"] >= 2
    if line != "sign":  # which is written to every ten seconds only
        assert (watch.left_ready_after_us(line) or 0) <= 1_300 * MS
    assert watch.disturbed([line]) == {}
    assert watch.idle([line]) == []
    bench.fault(f"stick {line} off")
    recovers(bench, line, 12 * SECOND if line == "sign" else BACK_US)


@pytest.mark.parametrize(("table", "line"), LINES[:3], ids=("chips-1", "shoe", "shuffler"))
def test_a_mute_device_is_unknown_within_a_second_though_it_hears(table: str, line: str) -> None:
    bench = bench_of(table)
    watch = Watch(bench)
    bench.fault(f"mute {line}")
    bench.run_for(4 * SECOND)
    assert [r.reason and r.reason.code for r in watch.states(line)] == [SILENT[line]]
    assert (watch.left_ready_after_us(line) or 0) <= SECOND
    assert watch.more(line)[SILENT[line]] == 1
    assert watch.disturbed([line]) == {}
    assert watch.idle([line]) == []
    bench.fault(f"mute {line} off")
    recovers(bench, line)


def test_a_mute_sign_is_unknown_815_ms_after_the_first_answer_it_owes() -> None:
    """It is asked every ten seconds, so up to 11.7 s pass; it is an output and holds up nothing."""
    bench = bench_of("mega")
    watch = Watch(bench)
    bench.fault("mute sign")
    bench.run_for(12 * SECOND)
    assert [r.reason and r.reason.code for r in watch.states("sign")] == ["E-DSP-021"]
    assert watch.more("sign")["E-DSP-021"] == 1
    assert watch.disturbed(["sign"]) == {}
    bench.fault("mute sign off")
    recovers(bench, "sign", 12 * SECOND)


@pytest.mark.parametrize(
    ("table", "line", "code"),
    [
        ("mega", "chips-1", "E-FEIG-010"),
        ("mega", "shoe", "E-CDP-012"),
        ("mega-shuffler", "shuffler", "E-CDP-012"),
    ],
)
def test_a_restart_is_unknown_within_a_second_and_identified_again(
    table: str, line: str, code: str
) -> None:
    bench = bench_of(table)
    before = bench.identified(line)
    watch = Watch(bench)
    bench.fault(f"reboot {line}")
    bench.run_for(5 * SECOND)
    assert [(r.state, r.reason and r.reason.code) for r in watch.states(line)] == [
        (UNKNOWN, code), (READY, None)
    ]  # fmt: skip
    assert (watch.left_ready_after_us(line) or 0) <= SECOND
    assert bench.identified(line) == before + 1
    assert watch.more(line)[code] == 1
    assert watch.disturbed([line]) == {}


def test_a_sign_that_restarts_shows_its_text_again_and_disturbs_nobody() -> None:
    bench = bench_of("mega")
    assert bench.sim.sign is not None
    bench.sim.sign.battery = False  # its files are gone as well
    watch = Watch(bench)
    bench.fault("reboot sign")
    assert "1,234,567.89" not in bench.sim.sign.visible()
    bench.run_for(15 * SECOND)
    assert "1,234,567.89" in bench.sim.sign.visible()
    assert watch.more("sign")["repairs"] >= 1
    assert watch.disturbed(["sign"]) == {}
