"""The machine against a small board: start, change, brown-out, bad memory, absence."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers.base import BusDone, BusFailed, DeviceState, StateReported
from drivers.ht16k33.codec import card_frame
from drivers.ht16k33.driver import MagicCardDriver, MeterDriver
from drivers.machines import BoardDriver
from drivers.orders import ShowMagicCard, ShowMeter, ShowSign
from drivers.readings import Shown
from tests.drivers.ht16k33.board import RUBBISH, VECTORS, Bench, Board

SECOND = 1_000_000
BATCHES = {batch["name"]: batch["transactions"] for batch in VECTORS["batch"]}


def magic(*, confirmed: str | None = None) -> Bench:
    bench = Bench(MagicCardDriver("magic", 0x73))
    bench.run_for(100_000)
    if confirmed is not None:
        bench.driver.order(ShowMagicCard(confirmed), bench.now_us)
        bench.run_for(100_000)
        bench.batches.clear()
        bench.board.lit_history.clear()
    return bench


def states(out: Sequence[object]) -> list[tuple[DeviceState, str | None]]:
    return [
        (o.state, o.reason.code if o.reason else None) for o in out if isinstance(o, StateReported)
    ]


def shown(out: Sequence[object]) -> list[str]:
    return [o.content for o in out if isinstance(o, Shown)]


def test_it_is_a_board_driver() -> None:
    driver: BoardDriver = MeterDriver("meter-1", 0x70, 0)
    other: BoardDriver = MagicCardDriver("magic", 0x73)
    assert (driver.name, driver.address, other.address) == ("meter-1", 0x70, 0x73)


def test_start_clears_the_memory_before_the_light() -> None:
    bench = Bench(MagicCardDriver("magic", 0x73))
    out = bench.run_for(1000)
    assert [t for _, t in bench.batches] == [BATCHES["write, nothing ordered"], BATCHES["light"]]
    assert set(bench.board.lit_history) == {bytes(16)}
    assert states(out) == [(DeviceState.READY, None)]
    assert shown(out) == []  # nothing was ordered


def test_a_card_is_reported_shown_once() -> None:
    bench = magic()
    bench.driver.order(ShowMagicCard("7h"), bench.now_us)
    bench.batches.clear()
    out = bench.run_for(10 * SECOND)
    assert [t for _, t in bench.batches[:2]] == [BATCHES["write 7h"], BATCHES["light"]]
    assert shown(out) == ["7h"]
    assert bench.board.lit == card_frame("7h").ram
    assert bench.driver.order(ShowMagicCard("7h"), bench.now_us) == []
    assert shown(bench.run_for(5 * SECOND)) == []


def test_all_setup_goes_out_again_at_least_every_second() -> None:
    bench = magic(confirmed="7h")
    bench.run_for(10 * SECOND)
    verifies = [at for at, t in bench.batches if t == BATCHES["verify"]]
    lights = [at for at, t in bench.batches if t == BATCHES["light"]]
    assert len(verifies) == len(lights) == 12
    assert all(b - a < SECOND for a, b in pairwise(verifies))


def test_the_three_modules_share_one_order() -> None:
    benches = [Bench(MeterDriver(f"meter-{n + 1}", 0x70 + n, n)) for n in range(3)]
    contents: list[str] = []
    for bench in benches:
        bench.run_for(1000)
        bench.driver.order(ShowMeter("1,234,567.89"), bench.now_us)
        contents += shown(bench.run_for(1000))
    assert contents == ["   1.", "234.5", "67.89"]


def test_blinking_is_the_board_s_own() -> None:
    bench = Bench(MeterDriver("meter-3", 0x72, 2))
    bench.driver.order(ShowMeter("12.34", blink=True), 0)
    bench.run_for(SECOND)
    assert (bench.board.on, bench.board.blink) == (True, 1)
    bench.driver.order(ShowMeter("12.34"), bench.now_us)
    bench.run_for(1000)
    assert (bench.board.on, bench.board.blink) == (True, 0)


def test_other_orders_are_ignored() -> None:
    bench = magic(confirmed="7h")
    assert bench.driver.order(ShowMeter("1"), bench.now_us) == []
    assert bench.driver.order(ShowSign("x"), bench.now_us) == []
    assert shown(bench.run_for(2 * SECOND)) == []
    assert bench.board.lit == card_frame("7h").ram


def test_a_brown_out_is_repaired_within_a_second_and_no_rubbish_is_lit() -> None:
    bench = magic(confirmed="7h")
    bench.board.brown_out()
    out = bench.run_for(SECOND)
    assert bench.board.lit == card_frame("7h").ram
    assert RUBBISH not in bench.board.lit_history
    assert shown(out) == ["7h"]  # confirmed anew
    assert states(out) == []
    assert bench.driver.counters["mismatches"] == 1
    assert bench.driver.counters["repairs"] == 1


def test_standby_with_memory_intact_is_lit_again_within_a_second() -> None:
    bench = magic(confirmed="7h")
    bench.board.oscillator = bench.board.on = False
    bench.run_for(SECOND)
    assert bench.board.lit == card_frame("7h").ram


def test_stale_memory_is_rewritten_three_times_then_dark_and_degraded() -> None:
    bench = magic(confirmed="7h")
    bench.board.spoil = lambda data: data[:-1] + b"\x55"
    out = bench.run_for(SECOND)
    kinds = [t for _, t in bench.batches]
    assert kinds == [BATCHES["verify"]] + [BATCHES["write 7h"]] * 3 + [BATCHES["blank"]]
    assert states(out) == [(DeviceState.DEGRADED, "E-DSP-002")]
    assert bench.board.lit == bytes(16)
    bench.batches.clear()
    assert bench.run_for(8 * SECOND) == []
    assert 15 <= len(bench.batches) <= 22  # a try and a blank every 800 ms, no more
    bench.board.spoil = lambda data: data
    out = bench.run_for(SECOND)
    assert states(out) == [(DeviceState.READY, None)]
    assert shown(out) == ["7h"]


def test_one_wrong_reading_is_no_state() -> None:
    bench = magic(confirmed="7h")
    readings = iter([b"", *[b"\0" * 16] * 2])
    bench.board.spoil = lambda data: next(readings, data)
    out = bench.run_for(SECOND)
    assert states(out) == []
    assert shown(out) == ["7h"]


@pytest.mark.parametrize("vector", VECTORS["refused"], ids=lambda v: v["ram"][:8])
def test_memory_that_is_not_the_card_is_never_confirmed(vector: dict[str, str]) -> None:
    bench = magic()
    bench.board.spoil = lambda _: bytes.fromhex(vector["ram"])
    bench.driver.order(ShowMagicCard(vector["card"]), bench.now_us)
    assert shown(bench.run_for(3 * SECOND)) == []


@pytest.mark.parametrize("errno", [121, 19, 110, 5])
def test_a_board_that_vanishes_is_unknown_within_a_second_and_comes_back(errno: int) -> None:
    bench = magic(confirmed="7h")
    lost_us = bench.now_us
    bench.board.errno = errno
    out = bench.run_for(5 * SECOND)
    assert states(out) == [(DeviceState.UNKNOWN, "E-DSP-001")]
    reported = next(o for o in out if isinstance(o, StateReported))
    assert reported.at_us - lost_us <= SECOND
    assert len(bench.batches) <= 14  # bounded tries
    bench.driver.order(ShowMagicCard("Td"), bench.now_us)
    bench.board.errno = 0
    bench.board.brown_out()
    out = bench.run_for(SECOND)
    assert states(out) == [(DeviceState.READY, None)]
    assert shown(out) == ["Td"]
    assert RUBBISH not in bench.board.lit_history


def test_two_bus_errors_are_repaired_in_silence() -> None:
    bench = magic(confirmed="7h")
    bench.run_for(750_000)
    driver = bench.driver
    for _ in range(2):
        now_us = driver.wake_us
        driver.plan(now_us)
        assert driver.finish(BusFailed(0, 121), now_us) == []
    out = bench.run_for(SECOND)
    assert states(out) == []
    assert shown(out) == ["7h"]


def test_a_board_that_takes_every_batch_but_the_light_is_unknown() -> None:
    bench = magic(confirmed="7h")
    driver = bench.driver
    out: list[object] = []
    for _ in range(8):
        now_us = driver.wake_us
        ops = driver.plan(now_us)
        out += driver.finish(BusFailed(0, 121) if len(ops) == 1 else bench.board.run(ops), now_us)
    assert states(out) == [(DeviceState.UNKNOWN, "E-DSP-001")]


def test_a_lost_bus_is_unknown_at_once() -> None:
    bench = magic(confirmed="7h")
    bench.driver.plan(bench.now_us)
    out = bench.driver.bus_lost("SDA low", bench.now_us)
    assert states(out) == [(DeviceState.UNKNOWN, "E-DSP-003")]
    assert bench.driver.finish(BusDone(()), bench.now_us) == []
    assert shown(bench.run_for(SECOND)) == ["7h"]


@pytest.mark.parametrize("batches_before", [1, 2, 3])
def test_an_order_during_a_batch_is_written_before_it_counts(batches_before: int) -> None:
    bench = Bench(MagicCardDriver("magic", 0x73))
    driver = bench.driver
    driver.order(ShowMagicCard("7h"), 0)
    out: list[object] = []
    for n in range(batches_before):
        ops = driver.plan(n)
        if n == batches_before - 1:
            driver.order(ShowMagicCard("Td"), n)
        out += driver.finish(bench.board.run(ops), n)
    out += bench.run_for(SECOND)
    assert shown(out)[-1] == "Td"
    assert bench.seen == [("Td", card_frame("Td").ram)]


def test_an_order_before_the_first_light_is_not_taken_for_written() -> None:
    bench = Bench(MagicCardDriver("magic", 0x73))
    bench.driver.finish(bench.board.run(bench.driver.plan(0)), 0)  # written dark, not lit yet
    bench.driver.order(ShowMagicCard("7h"), 1)
    out = bench.run_for(1000)
    assert shown(out) == ["7h"]
    assert bench.board.lit == card_frame("7h").ram


def test_a_text_too_wide_and_a_card_that_is_none_are_degraded_until_the_next_order() -> None:
    bench = Bench(MeterDriver("meter-1", 0x70, 0))
    bench.driver.order(ShowMeter("1234567890123"), 0)
    out = bench.run_for(2 * SECOND)
    assert states(out) == [(DeviceState.DEGRADED, "E-DSP-004")]
    assert shown(out) == ["----"]
    bench.driver.order(ShowMeter("1"), bench.now_us)
    assert states(bench.run_for(1000)) == [(DeviceState.READY, None)]

    bench = magic(confirmed="7h")
    bench.driver.order(ShowMagicCard("1x"), bench.now_us)
    assert states(bench.run_for(1000)) == [(DeviceState.DEGRADED, "E-DSP-005")]
    assert bench.board.lit == bytes(16)


@pytest.mark.parametrize("brightness", [-1, 16])
def test_brightness_out_of_range_is_refused(brightness: int) -> None:
    with pytest.raises(ValueError, match="brightness"):
        MagicCardDriver("magic", 0x73, brightness=brightness)


def test_a_fourth_module_is_refused() -> None:
    with pytest.raises(ValueError, match="module 3"):
        MeterDriver("meter-4", 0x74, 3)


EVENTS = st.lists(
    st.one_of(
        st.sampled_from(["brown-out", "gone", "back", "bad", "good", "lost"]),
        st.sampled_from(["7h", "Td", "As", "1x"]),
        st.integers(0, 1_500_000),
    ),
    max_size=25,
)


@given(EVENTS)
def test_whatever_happens_only_what_is_in_memory_is_called_shown(events: list[str | int]) -> None:
    bench = Bench(MagicCardDriver("magic", 0x73), Board())
    for event in events:
        match event:
            case int():
                bench.run_for(event)
            case "brown-out":
                bench.board.brown_out()
            case "gone" | "back":
                bench.board.errno = 121 if event == "gone" else 0
            case "bad":
                bench.board.spoil = lambda _: RUBBISH
            case "good":
                bench.board.spoil = lambda data: data
            case "lost":
                bench.driver.bus_lost("stuck", bench.now_us)
            case str():
                bench.driver.order(ShowMagicCard(event), bench.now_us)
    bench.board.errno = 0
    bench.board.spoil = lambda data: data
    bench.driver.order(ShowMagicCard("Kc"), bench.now_us)
    assert shown(bench.run_for(2 * SECOND))[-1:] == ["Kc"]
    assert bench.board.lit == card_frame("Kc").ram
    assert bench.driver.state is DeviceState.READY
    assert all(lit == card_frame(content).ram for content, lit in bench.seen)
    assert RUBBISH not in bench.board.lit_history
