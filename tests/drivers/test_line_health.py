"""Why a line's device is not known: the port, garbage or silence; each told once per change."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from drivers.base import DeviceState, Fault, StateReported
from drivers.line_health import LineHealth

UNKNOWN, READY = DeviceState.UNKNOWN, DeviceState.READY
MISSING = Fault("E-SER-001", "no such port")
IN_USE = Fault("E-SER-003", "somebody has it")
SILENT = Fault("E-FEIG-010", "silent")


def line() -> tuple[LineHealth, Counter[str]]:
    counters: Counter[str] = Counter()
    return LineHealth("chips-1", counters), counters


def code(told: Sequence[object]) -> list[str]:
    reasons = [one.reason for one in told if isinstance(one, StateReported)]
    return [reason.code for reason in reasons if reason is not None]


def test_a_port_fault_is_told_once_and_again_when_it_changes() -> None:
    health, counters = line()
    assert code(health.failed(MISSING, 1)) == ["E-SER-001"]
    assert health.failed(MISSING, 2) == []
    assert code(health.failed(IN_USE, 3)) == ["E-SER-003"]
    assert counters["E-SER-001"] == 2
    assert code(health.opened(4)) == ["E-SER-009"]
    assert health.opened(5) == []


def test_a_line_that_simply_opens_says_nothing() -> None:
    health, _ = line()
    assert health.opened(1) == []
    assert health.said(StateReported("chips-1", READY, None, 2)).state is READY
    assert code([health.said(StateReported("chips-1", UNKNOWN, SILENT, 3))]) == ["E-FEIG-010"]
    assert health.opened(4) == []


def test_bytes_without_a_frame_are_garbage_however_they_are_split() -> None:
    for size in (1, 7, 63, 64, 500):
        health, _ = line()
        health.opened(0)
        told = [one for n in range(600) for one in health.received(size, n)]
        assert code(told) == ["E-SER-010"], size


def test_a_report_that_comes_of_a_frame_in_pieces_is_the_drivers_own() -> None:
    """The driver speaks while it looks at the last piece; what came before it was no garbage."""
    for before, last in ((16, 4), (40, 500)):
        health, counters = line()
        health.opened(0)
        health.said(StateReported("chips-1", READY, None, 1))
        health.received(before, 2)
        counters["frames"] += 1
        restarted = StateReported("chips-1", UNKNOWN, Fault("E-CDP-012", "started anew"), 3)
        assert code([health.said(restarted)]) == ["E-CDP-012"]
        assert health.received(last, 3) == []
        assert code([health.said(replace(restarted, reason=SILENT))]) == ["E-FEIG-010"]


def test_a_few_stray_bytes_are_none() -> None:
    health, _ = line()
    health.opened(0)
    assert health.received(63, 1) == []
    health, _ = line()
    health.opened(0)
    health.received(7, 1)
    assert code([health.said(StateReported("chips-1", UNKNOWN, SILENT, 2))]) == ["E-FEIG-010"]


def test_a_device_that_worked_and_turns_to_garbage() -> None:
    health, counters = line()
    health.opened(0)
    for n in range(100):
        counters["frames received"] += 1
        assert health.received(20, n) == []
    health.said(StateReported("chips-1", READY, None, 100))
    assert health.received(500, 101) == []  # a burst: its driver still knows it
    assert code([health.said(StateReported("chips-1", UNKNOWN, SILENT, 102))]) == ["E-SER-010"]
    assert health.received(500, 103) == []


def test_garbage_that_stopped_is_no_answer_after_the_next_opening() -> None:
    health, _ = line()
    health.opened(0)
    assert code(health.received(64, 1)) == ["E-SER-010"]
    assert health.opened(2) == []  # it may go on
    assert code(health.opened(3)) == ["E-SER-009"]


def test_a_driver_that_failed_is_not_called_garbage() -> None:
    health, _ = line()
    health.opened(0)
    health.received(60, 1)
    failed = Fault("E-DRV-002", "acme-shoe: received does not return")
    assert code([health.said(StateReported("chips-1", UNKNOWN, failed, 2))]) == ["E-DRV-002"]
    assert health.received(1_000, 3) == []
