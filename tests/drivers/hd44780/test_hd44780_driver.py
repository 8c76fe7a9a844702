"""The prompt's machine against a small display: start, change, glitch, bad memory, absence."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers.base import BusDone, DeviceState, StateReported
from drivers.hd44780 import codec
from drivers.hd44780.driver import PromptDriver
from drivers.machines import BoardDriver
from drivers.orders import ShowMeter, ShowPrompt
from drivers.readings import Shown
from tests.drivers.hd44780.lcd import VECTORS, Bench, Lcd

SECOND = 1_000_000
PROMPT = ShowPrompt(("BETS OPEN     R 1841", "SEAT 3   PAY  175.00", "7♥ turned", "RIDE BACK"))
CODES = [
    b"BETS OPEN     R 1841",
    b"SEAT 3   PAY  175.00",
    b"7\x02 turned           ",
    b"RIDE BACK           ",
]
CONTENT = "BETS OPEN     R 1841\nSEAT 3   PAY  175.00\n7♥ turned           \nRIDE BACK           "


def ready(order: ShowPrompt | None = PROMPT) -> Bench:
    bench = Bench()
    if order is not None:
        bench.driver.order(order, bench.now_us)
    bench.run_for(2 * SECOND)
    bench.batches.clear()
    return bench


def states(out: Sequence[object]) -> list[tuple[DeviceState, str | None]]:
    return [
        (o.state, o.reason.code if o.reason else None) for o in out if isinstance(o, StateReported)
    ]


def shown(out: Sequence[object]) -> list[str]:
    return [o.content for o in out if isinstance(o, Shown)]


def test_it_is_a_board_driver() -> None:
    driver: BoardDriver = PromptDriver("prompt", 0x3F)
    assert driver.address == 0x3F


def test_start_initialises_with_the_vector_s_bytes_and_no_pulse_is_lost() -> None:
    bench = Bench()
    out = bench.run_for(SECOND)
    steps = VECTORS["step"]
    assert [t for _, t in bench.batches[: len(steps)]] == [v["transactions"] for v in steps]
    for n, vector in enumerate(steps[:-1]):
        assert bench.batches[n + 1][0] - bench.batches[n][0] >= vector["wait_us"]
    assert bench.lcd.lost_pulses == 0
    assert bench.lcd.on
    assert states(out) == [(DeviceState.READY, None)]
    assert shown(out) == []


def test_a_prompt_is_written_read_back_and_reported_once() -> None:
    bench = ready(None)
    bench.driver.order(PROMPT, bench.now_us)
    out = bench.run_for(5 * SECOND)
    assert shown(out) == [CONTENT]
    assert bench.lcd.visible == CODES
    assert bench.batches[1][1] == VECTORS["write"][0]["transactions"]
    assert bench.driver.order(PROMPT, bench.now_us) == []
    assert shown(bench.run_for(SECOND)) == []
    assert bench.lcd.lost_pulses == 0


def test_only_changed_cells_are_written_and_only_changed_lines_read_back() -> None:
    bench = ready()
    changed = (PROMPT.lines[0], "SEAT 3   PAY  175.50", *PROMPT.lines[2:])
    bench.driver.order(ShowPrompt(changed), bench.now_us)
    for _ in range(5):
        out = bench.one()
    assert bench.batches[0][1] == ["w DC D8 2C 28 3D 39 5D 59"]
    assert [t[0] for _, t in bench.batches[1:]] == ["w 0C 08 CC C8"] * 4, "lit before it is read"
    assert [t[1] for _, t in bench.batches[1:]] == [
        "w CC C8 0C 08",
        "w CC C8 5C 58",
        "w CC C8 AC A8",
        "w CC C8 FC F8",
    ]
    assert shown(out) == [
        "\n".join((*CONTENT.split("\n")[:1], changed[1], *CONTENT.split("\n")[2:]))
    ]


def test_no_batch_keeps_the_bus_longer_than_twenty_milliseconds() -> None:
    bench = ready()
    bench.run_for(10 * SECOND)
    assert 0 < bench.longest_us <= 20_000


def test_the_patrol_reads_a_line_and_a_glyph_at_least_every_second() -> None:
    bench = ready()
    bench.run_for(6 * SECOND)
    lit = "w 0C 08 CC C8"
    first_ops = [t[1] if t[0] == lit else t[0] for _, t in bench.batches]
    for address in ("w 8C 88 0C 08", "w CC C8 0C 08", "w 9C 98 4C 48", "w DC D8 4C 48"):
        assert first_ops.count(address) in (2, 3)
    for glyph in range(8):
        command = 0x40 + 8 * glyph
        high, low = command & 0xF0, command << 4 & 0xF0
        op = f"w {high | 0xC:02X} {high | 8:02X} {low | 0xC:02X} {low | 8:02X}"
        assert first_ops.count(op) == 1
    assert all(t[0][0] == "w" and len(t) > 1 for _, t in bench.batches)  # nothing is written


def test_a_power_glitch_is_repaired_by_the_patrol() -> None:
    bench = ready()
    bench.lcd.power_glitch()
    out = bench.run_for(2 * SECOND)
    assert bench.lcd.visible == CODES
    assert states(out) == []
    assert shown(out) == [CONTENT]
    assert bench.driver.counters["mismatches"] == 1
    assert bench.driver.counters["repairs"] == 1


@pytest.mark.parametrize("line", [0, 1, 2, 3])
def test_a_flipped_bit_on_any_line_is_repaired_within_one_round_of_the_patrol(line: int) -> None:
    bench = ready()
    address = (0x00, 0x40, 0x14, 0x54)[line] + 17
    bench.lcd.ddram[address] = bench.lcd.ddram.get(address, 0x20) ^ 0x01
    out = bench.run_for(4 * SECOND)
    assert bench.lcd.visible == CODES
    assert shown(out) == [CONTENT]


def test_a_spoilt_suit_glyph_is_repaired_within_one_round_of_the_patrol() -> None:
    bench = ready()
    bench.lcd.cgram[0x12] ^= 0x04
    bench.run_for(8 * SECOND)
    assert bytes(bench.lcd.cgram[0x10:0x18]) == bytes.fromhex(VECTORS["glyph"][2]["rows"])
    assert bench.driver.counters["mismatches"] == 1


@pytest.mark.parametrize("after", range(0, 27, 3))
def test_a_bus_error_anywhere_in_a_batch_leaves_no_nibble_astray(after: int) -> None:
    bench = ready()
    bench.lcd.errno_after = after
    out = bench.run_for(3 * SECOND)
    assert states(out) == []
    assert bench.lcd.visible == CODES
    assert bench.driver.counters["bus_errors"] == 1
    assert shown(out) == [CONTENT]


def test_a_display_gone_behind_its_backpack_is_degraded_and_comes_back() -> None:
    bench = ready()
    bench.lcd.connected = False
    out = bench.run_for(2 * SECOND)
    assert states(out) == [(DeviceState.DEGRADED, "E-DSP-012")]
    assert bench.driver.counters["inits"] == 3  # the first, and two repairs
    bench.batches.clear()
    assert bench.run_for(20 * SECOND) == []
    assert bench.driver.counters["inits"] <= 8
    bench.lcd.connected = True
    bench.lcd.power_glitch()
    bench.driver.order(ShowPrompt(("A", "", "", "")), bench.now_us)
    out = bench.run_for(SECOND)
    assert states(out) == [(DeviceState.READY, None)]
    assert shown(out)[0].startswith("A ")


@pytest.mark.parametrize("errno", [121, 19, 110])
def test_a_prompt_unplugged_is_unknown_within_a_second_and_comes_back(errno: int) -> None:
    bench = ready()
    bench.lcd.errno = errno
    lost_us = bench.now_us
    out = bench.run_for(10 * SECOND)
    assert states(out) == [(DeviceState.UNKNOWN, "E-DSP-011")]
    assert next(o.at_us for o in out if isinstance(o, StateReported)) - lost_us <= SECOND
    assert len(bench.batches) <= 25
    bench.lcd.errno = 0
    bench.lcd.power_glitch()
    out = bench.run_for(2 * SECOND)
    assert states(out) == [(DeviceState.READY, None)]
    assert shown(out) == [CONTENT]


def test_a_lost_bus_is_unknown_at_once_and_its_batch_is_forgotten() -> None:
    bench = ready()
    bench.driver.plan(bench.now_us)
    out = bench.driver.bus_lost("SDA low", bench.now_us)
    assert states(out) == [(DeviceState.UNKNOWN, "E-DSP-013")]
    assert bench.driver.finish(BusDone(()), bench.now_us) == []
    assert shown(bench.run_for(2 * SECOND)) == [CONTENT]


def test_a_long_line_is_degraded_while_it_is_ordered() -> None:
    bench = ready()
    bench.driver.order(ShowPrompt(("X" * 21, "", "", "")), bench.now_us)
    out = bench.run_for(SECOND)
    assert states(out) == [(DeviceState.DEGRADED, "E-DSP-014")]
    assert bench.lcd.visible[0] == b"X" * 19 + b">"
    bench.driver.order(ShowPrompt(("X" * 19 + ">", "", "", "")), bench.now_us)
    assert states(bench.run_for(SECOND)) == [(DeviceState.READY, None)]


def test_unknown_characters_are_question_marks_and_counted() -> None:
    bench = ready(ShowPrompt(("für ♠", "", "", "")))
    assert bench.lcd.visible[0] == b"f?r \x03".ljust(20)
    assert bench.driver.counters["unknown_characters"] == 1


def test_an_order_taken_back_at_once_is_confirmed_again() -> None:
    bench = ready()
    bench.driver.order(ShowPrompt(("A", "", "", "")), bench.now_us)
    bench.driver.order(PROMPT, bench.now_us)
    assert shown(bench.run_for(SECOND)) == [CONTENT]


def test_a_line_ordered_anew_while_it_is_read_is_read_again_from_its_first_piece() -> None:
    bench = ready()
    bench.driver.order(ShowPrompt(("A", *PROMPT.lines[1:])), bench.now_us)
    bench.one()  # written
    ops = bench.driver.plan(bench.now_us)  # its first piece is on the way
    bench.driver.order(ShowPrompt(("B", *PROMPT.lines[1:])), bench.now_us)
    bench.driver.finish(bench.lcd.run(ops, bench.now_us), bench.lcd.now_us)
    bench.now_us = bench.lcd.now_us
    bench.batches.clear()
    for _ in range(5):
        out = bench.one()
    assert bench.batches[1][1][:2] == ["w 0C 08 CC C8", "w 8C 88 0C 08"]
    assert shown(out)[0].startswith("B ")


def test_other_orders_are_ignored() -> None:
    bench = ready()
    assert bench.driver.order(ShowMeter("1"), bench.now_us) == []
    assert shown(bench.run_for(SECOND)) == []


LINE = st.text(alphabet="AB19 ♥€ü", max_size=22)
EVENTS = st.lists(
    st.one_of(
        st.tuples(LINE, LINE, LINE, LINE),
        st.sampled_from(["glitch", "gone", "back", "off", "on", "nak", "flip"]),
        st.integers(0, 900_000),
    ),
    max_size=15,
)


@given(EVENTS)
def test_whatever_happens_only_what_is_on_the_glass_is_called_shown(
    events: list[tuple[str, str, str, str] | str | int],
) -> None:
    bench = Bench(Lcd())
    for event in events:
        match event:
            case int():
                bench.run_for(event)
            case tuple():
                bench.driver.order(ShowPrompt(event), bench.now_us)
            case "glitch":
                bench.lcd.power_glitch()
            case "gone" | "back":
                bench.lcd.errno = 121 if event == "gone" else 0
            case "off" | "on":
                bench.lcd.connected = event == "on"
            case "nak":
                bench.lcd.errno_after = 3
            case "flip":
                bench.lcd.ddram[0x41] = bench.lcd.ddram.get(0x41, 0x20) ^ 2
    bench.lcd.errno, bench.lcd.errno_after, bench.lcd.connected = 0, None, True
    bench.driver.order(PROMPT, bench.now_us)
    bench.run_for(12 * SECOND)
    assert bench.seen[-1] == (CONTENT, CODES)
    if not {"glitch", "flip"} & {event for event in events if isinstance(event, str)}:
        for content, visible in bench.seen:
            assert content.split("\n") == [codec.decode_line(line) for line in visible]
    assert bench.lcd.visible == CODES
    assert bench.driver.state is DeviceState.READY
