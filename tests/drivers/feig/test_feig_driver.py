"""The driver of a reader: start-up, polling, failures, identity, silence."""

from __future__ import annotations

import pytest

from drivers.base import DeviceIdentified, DeviceState, Identity, Reopen, StateReported
from drivers.feig import faults
from drivers.feig.codec import SILENCE_US
from drivers.feig.driver import SILENT_US, FeigReader
from drivers.machines import LineDriver
from drivers.orders import LockCards, WatchAntennas
from drivers.readings import Antenna, AntennaFailed, AntennaRead
from tests.drivers.feig.reader import TAG, Bench, Reader, Sent, answer

A1, A2, A3 = (Antenna("chips-1", 1, channel) for channel in (1, 2, 3))
FOREIGN = Antenna("chips-2", 5, 1)


def watching(*antennas: Antenna, reader: Reader | None = None) -> Bench:
    bench = Bench(reader if reader is not None else Reader()).start()
    bench.order(WatchAntennas(frozenset(antennas)))
    return bench


def states(bench: Bench) -> list[tuple[DeviceState, str | None]]:
    return [
        (s.state, s.reason.code if s.reason else None)
        for s in bench.heard
        if isinstance(s, StateReported)
    ]


def is_inventory(request: bytes) -> bool:
    return request[4] == 0xB0


def test_it_is_a_line_driver_at_38400_8e1() -> None:
    driver: LineDriver = FeigReader("chips-1", "0A1B2C01")
    assert (driver.settings.baud, driver.settings.parity, driver.settings.char_us) == (
        38_400,
        "E",
        287,
    )


def test_start_up_asks_in_the_order_of_the_page_and_switches_ont_off() -> None:
    bench = Bench().start(700_000)
    right = "00 00 00 00 00 00 00 00 00 00 00 04 00 00"
    assert bench.reader.commands()[:10] == [
        "66 80",
        "65",
        "80 85",
        "81 85 " + right,
        "80 85",
        "80 05",
        "81 05 " + right,
        "80 05",
        "69",
        # then the guard
        "80 05",
    ]
    assert bench.reader.requests[0] == bytes.fromhex("02 00 08 01 66 80 AF 0A")
    assert bench.reader.eeprom[11] == bench.reader.ram[11] == 0x04
    found, ready = bench.heard
    assert isinstance(found, DeviceIdentified)
    assert found.identity == Identity("FEIG", "53", "0A1B2C01", "3.3.0")
    assert isinstance(ready, StateReported)
    assert ready.state is DeviceState.READY


def test_a_right_configuration_is_not_written() -> None:
    reader = Reader()
    reader.eeprom[11] = reader.ram[11] = 0x04
    bench = Bench(reader).start()
    assert not any(command.startswith("81") for command in reader.commands())
    assert states(bench) == [(DeviceState.READY, None)]


def test_a_configuration_that_is_not_kept_leaves_the_reader_unknown() -> None:
    bench = Bench(Reader(keeps_configuration=False)).start(5_000_000)
    assert states(bench) == [(DeviceState.UNKNOWN, faults.CONFIGURATION)]
    assert bench.driver.counters[faults.CONFIGURATION] in range(4, 7)
    bench.reader.keeps_configuration = True
    assert states(bench.run(1_500_000))[1:] == [(DeviceState.READY, None)]


def test_only_own_watched_antennas_are_read_in_turn() -> None:
    bench = watching(A3, A1, FOREIGN)
    bench.reader.tags = {(1, 1): {TAG[1]}, (1, 3): {TAG[2], TAG[3]}, (1, 2): {TAG[4]}}
    bench.run(200_000)
    reads = bench.reads()
    assert reads[:4] == [
        (A1, frozenset({TAG[1]})),
        (A3, frozenset({TAG[2], TAG[3]})),
        (A1, frozenset({TAG[1]})),
        (A3, frozenset({TAG[2], TAG[3]})),
    ]
    assert {antenna for antenna, _ in reads} == {A1, A3}


def test_an_antenna_is_selected_before_every_inventory() -> None:
    bench = watching(A1).run(300_000)
    sent = [command for command in bench.reader.commands() if command[:2] in ("DD", "B0")]
    assert set(sent[::2]) == {"DD 01 01 00"}
    assert set(sent[1::2]) == {"B0 01 00"}


def test_an_order_for_other_devices_and_impossible_antennas_do_nothing() -> None:
    bench = Bench().start()
    bench.order(LockCards(locked=True))
    bench.order(WatchAntennas(frozenset({Antenna("chips-1", 16, 1), Antenna("chips-1", 1, 9)})))
    bench.run(1_000_000)
    assert not bench.reads()


def test_a_stack_of_twenty_comes_in_three_answers() -> None:
    bench = watching(A1)
    bench.reader.tags = {(1, 1): {TAG[n] for n in range(1, 21)}}
    bench.run(200_000)
    assert bench.reads()[0] == (A1, frozenset({TAG[n] for n in range(1, 21)}))
    at = bench.reader.commands().index("B0 01 00")
    assert bench.reader.commands()[at : at + 3] == ["B0 01 00", "B0 01 80", "B0 01 80"]


def test_a_chain_that_fails_gives_nothing_of_it() -> None:
    bench = watching(A1)
    bench.reader.tags = {(1, 1): {TAG[n] for n in range(1, 21)}}

    def no_more(request: bytes, sent: Sent) -> Sent:
        return [(10_000, answer(0xB0, 0x83))] if request[5:7] == b"\x01\x80" else sent

    bench.reader.spoil = no_more
    bench.run(800_000)
    assert not bench.reads()
    failed = next(r for r in bench.heard if isinstance(r, AntennaFailed))
    assert (failed.antenna, failed.code) == (A1, faults.RF_COMMUNICATION)


def test_a_chain_without_end_is_cut() -> None:
    bench = watching(A1)

    def endless(request: bytes, sent: Sent) -> Sent:
        return [(1_000, answer(0xB0, 0x94, b"\x00"))] if is_inventory(request) else sent

    bench.reader.spoil = endless
    bench.run(2_000_000)
    assert bench.driver.counters[faults.CHAIN_TOO_LONG] >= 3
    assert any(isinstance(r, AntennaFailed) for r in bench.heard)


@pytest.mark.parametrize(
    ("status", "code", "tries"),
    [
        (0x0B, faults.COLLISION, 3),
        (0x83, faults.RF_COMMUNICATION, 3),
        (0x84, faults.RF_WARNING, 3),
        (0x93, faults.BUFFER_OVERFLOW, 3),
        (0x95, faults.ISO15693_ERROR, 3),
        (0x0E, faults.OTHER_STATUS, 3),
        (0x82, faults.SCAN_MODE, 1),
        (0x13, faults.LOGIN, 1),
        (0x11, faults.OUTPUT_REFUSED, 1),
        (0xF1, faults.HARDWARE, 1),
        (0x80, faults.OTHER_STATUS, 1),
    ],
)
def test_one_bad_antenna_degrades_itself_and_not_the_others(
    status: int, code: str, tries: int
) -> None:
    bench = watching(A1, A2)
    bench.reader.tags = {(1, 1): {TAG[1]}, (1, 2): {TAG[2]}}
    bench.flush()

    def bad(request: bytes, sent: Sent) -> Sent:
        here = bench.reader.selected == (1, 2) and is_inventory(request)
        return [(10_000, answer(0xB0, status))] if here else sent

    bench.reader.spoil = bad
    bench.run(500_000)
    failures = [r for r in bench.heard if isinstance(r, AntennaFailed)]
    assert [(f.antenna, f.code) for f in failures] == [(A2, code)]
    assert bench.driver.counters[code] == tries
    assert states(bench) == [(DeviceState.DEGRADED, code)]
    assert (A1, frozenset({TAG[1]})) in bench.reads()
    bench.reader.spoil = None
    bench.flush()
    bench.run(1_200_000)
    assert (A2, frozenset({TAG[2]})) in bench.reads()
    assert states(bench) == [(DeviceState.READY, None)]


def test_a_failed_antenna_is_tried_once_a_second() -> None:
    bench = watching(A1, A2)
    bench.reader.spoil = lambda request, sent: (
        [] if bench.reader.selected == (1, 2) and is_inventory(request) else sent
    )
    bench.run(10_000_000)
    failures = [r for r in bench.heard if isinstance(r, AntennaFailed)]
    assert 6 <= len(failures) <= 8
    assert {f.code for f in failures} == {faults.NO_ANSWER}
    assert len(bench.reads()) > 100
    assert DeviceState.UNKNOWN not in {state for state, _ in states(bench)}


def test_a_failed_antenna_no_longer_wanted_makes_the_reader_ready_again() -> None:
    bench = watching(A1, A2)
    bench.reader.spoil = lambda request, sent: (
        [(5_000, answer(0xDD, 0x0E))] if request[4:7] == b"\xdd\x01\x02" else sent
    )
    bench.run(300_000)
    assert states(bench)[-1] == (DeviceState.DEGRADED, faults.MUX_MISSING)
    bench.order(WatchAntennas(frozenset({A1})))
    assert states(bench)[-1] == (DeviceState.READY, None)


def test_another_reader_on_the_port_locks_and_reads_nothing() -> None:
    bench = watching(A1, reader=Reader(device_id="0A1B2C02"))
    bench.reader.tags = {(1, 1): {TAG[1]}}
    bench.run(5_000_000)
    assert states(bench) == [(DeviceState.LOCKED, faults.WRONG_READER)]
    assert not bench.reads()
    assert set(bench.reader.commands()) == {"66 80"}


def test_a_lock_ends_only_when_the_right_reader_answers_after_a_reopening() -> None:
    bench = watching(A1, reader=Reader(device_id="0A1B2C02"))
    bench.run(2_000_000)
    bench.reader.device_id = "0A1B2C01"
    bench.run(2_000_000)
    assert isinstance(bench.heard[-1], Reopen)
    assert states(bench) == [(DeviceState.LOCKED, faults.WRONG_READER)]
    bench.close("reopening")
    bench.start()
    assert states(bench)[1:] == [(DeviceState.READY, None)]
    assert bench.reads()


def test_a_reader_swapped_in_service_is_found_within_a_second() -> None:
    bench = watching(A1).run(3_000_000)
    bench.flush()
    swapped_us = bench.now_us
    bench.reader.device_id = "0A1B2C02"
    bench.run(1_000_000)
    (locked,) = [r for r in bench.heard if isinstance(r, StateReported)]
    assert locked.state is DeviceState.LOCKED
    assert locked.at_us - swapped_us < 1_000_000
    late = [r for r in bench.heard if isinstance(r, AntennaRead) and r.at_us > locked.at_us]
    assert not late


def test_a_restart_that_brought_ont_back_is_found_before_a_removal_could_count() -> None:
    bench = watching(A1).run(3_000_000)
    bench.flush()
    before_us = bench.now_us
    bench.reader.ram[11] = 0x05
    bench.run(1_500_000)
    lost, back = [r for r in bench.heard if isinstance(r, StateReported)]
    assert (lost.state, lost.reason and lost.reason.code) == (
        DeviceState.UNKNOWN,
        faults.CONFIGURATION,
    )
    assert lost.at_us - before_us < 1_000_000
    assert back.state is DeviceState.READY
    assert bench.reader.ram[11] == 0x04


@pytest.mark.parametrize("antennas", [(), (A1,), (A1, A2, A3)], ids=len)
@pytest.mark.parametrize("phase_us", [0, 3_000, 11_000, 170_000, 399_000])
def test_a_silent_reader_is_unknown_within_a_second(
    antennas: tuple[Antenna, ...], phase_us: int
) -> None:
    bench = watching(*antennas).run(1_000_000 + phase_us)
    bench.flush()
    bench.reader.powered = False
    bench.wire.clear()
    gone_us = bench.now_us
    bench.run(1_000_000)
    (unknown,) = [r for r in bench.heard if isinstance(r, StateReported)]
    assert unknown.state is DeviceState.UNKNOWN
    assert unknown.at_us - gone_us <= SILENT_US + SILENCE_US


def test_noise_is_no_sign_of_life() -> None:
    bench = watching(A1).run(1_000_000)
    bench.flush()
    bench.reader.spoil = lambda _request, _sent: [(5_000, b"\x02\x00\x08\x01\xb0\x01\xc5\x95")]
    bench.run(1_000_000)
    assert states(bench) == [(DeviceState.UNKNOWN, faults.SILENT)]
    assert not bench.reads()


def test_a_silent_reader_is_probed_at_a_bounded_rate_and_the_line_reopened() -> None:
    bench = watching(A1).run(1_000_000)
    bench.reader.powered = False
    bench.reader.requests.clear()
    bench.run(4_500_000)
    assert isinstance(bench.heard[-1], Reopen)
    assert len(bench.reader.requests) <= 8 + 6
    asked = len(bench.reader.requests)
    bench.run(60_000_000)
    assert len(bench.reader.requests) == asked
    bench.reader.powered = True
    bench.start(1_000_000)
    assert states(bench)[-1] == (DeviceState.READY, None)
    assert bench.reads()


def test_a_reader_that_returns_is_started_up_anew() -> None:
    bench = watching(A1).run(1_000_000)
    bench.reader.powered = False
    bench.run(1_500_000)
    bench.reader.powered = True
    bench.reader.ram[11] = 0x05
    bench.flush()
    bench.run(1_000_000)
    assert states(bench) == [(DeviceState.READY, None)]
    assert bench.reader.ram[11] == 0x04


def test_a_reader_that_never_answers_is_reported_once() -> None:
    bench = Bench(Reader(powered=False)).start(2_000_000)
    assert states(bench) == [(DeviceState.UNKNOWN, faults.SILENT)]


def test_a_closed_line_is_unknown_at_once_and_asks_for_nothing() -> None:
    bench = watching(A1).run(1_000_000)
    bench.flush()
    bench.close()
    assert states(bench) == [(DeviceState.UNKNOWN, faults.LINE_CLOSED)]
    assert bench.driver.wake_us is None
    bench.run(5_000_000)
    assert not bench.reads()
    bench.start()
    assert bench.reads()


def test_an_empty_serial_takes_the_first_reader_and_holds_to_it() -> None:
    bench = Bench(Reader(device_id="77777777"), FeigReader("chips-1", "")).start()
    assert states(bench) == [(DeviceState.READY, None)]
    bench.reader.device_id = "88888888"
    bench.run(1_000_000)
    assert states(bench)[-1] == (DeviceState.LOCKED, faults.WRONG_READER)


def test_a_reader_that_cannot_say_who_it_is_is_unknown() -> None:
    bench = Bench()
    bench.reader.spoil = lambda request, sent: (
        [(5_000, answer(0x66, 0x80))] if request[4] == 0x66 else sent
    )
    bench.start(5_000_000)
    assert states(bench) == [(DeviceState.UNKNOWN, faults.OTHER_STATUS)]


def test_the_host_keeps_five_milliseconds_of_silence_before_every_request() -> None:
    bench = watching(A1, A2)
    last_us = [0]
    gaps: list[int] = []

    def note(_request: bytes, sent: Sent) -> Sent:
        gaps.append(bench.now_us - last_us[0])
        last_us[0] = bench.now_us + sent[-1][0]
        return sent

    bench.reader.spoil = note
    bench.run(3_000_000)
    assert min(gaps[1:]) >= 5_000


def test_an_address_that_no_reader_can_have_is_refused() -> None:
    with pytest.raises(ValueError, match="255"):
        FeigReader("chips-1", "0A1B2C01", 0xFF)


def test_the_reason_is_what_is_wrong_with_an_antenna_now() -> None:
    """A late answer may be the first fault of an antenna that is broken; it is not the cause."""
    bench = watching(A1, A2, A3)
    bench.flush()
    bad: dict[tuple[int, int], Sent] = {(1, 2): []}

    def spoil(request: bytes, sent: Sent) -> Sent:
        here = bench.reader.selected
        return bad[here] if here in bad and is_inventory(request) else sent

    bench.reader.spoil = spoil
    bench.run(3_000_000)
    assert reasons(bench) == [(faults.NO_ANSWER, A2)]
    bad[1, 2] = [(10_000, answer(0xB0, 0x84))]
    bench.run(3_000_000)
    assert reasons(bench) == [(faults.RF_WARNING, A2)]
    bad[1, 3] = [(10_000, answer(0xB0, 0x95))]
    bench.run(5_000_000)
    assert reasons(bench) == []  # two broken antennas do not take turns
    del bad[1, 2]
    bench.run(5_000_000)
    assert reasons(bench) == [(faults.ISO15693_ERROR, A3)]


def reasons(bench: Bench) -> list[tuple[str, Antenna]]:
    """What the reader was told to have since the last look, each with the antenna it names."""
    told = [r for r in bench.heard if isinstance(r, StateReported)]
    bench.flush()
    return [
        (r.reason.code, next(a for a in (A1, A2, A3) if f"antenna {a}:" in r.reason.detail))
        for r in told
        if r.reason is not None
    ]
