"""The sign's machine against a small sign: opening, change, silence, wrong memory, unplugging."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers.alpha.driver import AlphaDriver
from drivers.base import DeviceState, LineSettings, StateReported, Write
from drivers.machines import LineDriver
from drivers.orders import ShowMeter, ShowSign
from drivers.readings import Shown
from tests.drivers.alpha.sign import VECTORS, Bench, Sign

SECOND = 1_000_000
HEX = bytes.fromhex
AMOUNT = "$123,456.78"


def states(out: Sequence[object]) -> list[tuple[DeviceState, str | None]]:
    return [
        (o.state, o.reason.code if o.reason else None) for o in out if isinstance(o, StateReported)
    ]


def shown(out: Sequence[object]) -> list[str]:
    return [o.content for o in out if isinstance(o, Shown)]


def letters(bench: Bench) -> list[str]:
    return [letter for _, letter in bench.sign.frames]


def ready(*, silent: bool = False, readback: bool = True) -> Bench:
    bench = Bench(AlphaDriver("sign", readback=readback), Sign(silent=silent))
    bench.driver.order(ShowSign(AMOUNT), bench.now_us)
    bench.do(bench.driver.opened(bench.now_us))
    bench.run_for(5 * SECOND)
    return bench


def test_it_is_a_line_driver_at_9600_7e2() -> None:
    driver: LineDriver = AlphaDriver("sign")
    assert driver.settings == LineSettings(9600, 7, "E", 2)
    assert driver.wake_us is None


def test_opening_asks_first_and_pauses_after_stx() -> None:
    bench = Bench()
    read = next(v for v in VECTORS["command"] if v["kind"] == "read")
    out = bench.driver.opened(0)
    assert out == [Write(HEX(read["writes"][0]))]
    wake_us = bench.driver.wake_us
    assert wake_us is not None
    assert wake_us >= 100_000
    assert bench.driver.advance(99_999) == []
    assert bench.driver.advance(wake_us) == [Write(HEX(read["writes"][1]))]


def test_a_strange_sign_is_set_up_with_the_vector_s_frames() -> None:
    bench = Bench()
    sent = b""
    real = bench.sign.hear

    def hear(data: bytes, now_us: int) -> None:
        nonlocal sent
        sent += data
        real(data, now_us)

    bench.sign.hear = hear  # type: ignore[method-assign]
    bench.driver.order(ShowSign(AMOUNT), 0)
    bench.do(bench.driver.opened(bench.now_us))
    out = bench.run_for(5 * SECOND)
    frame = {
        (v["kind"], v.get("string_size"), v.get("text")): v["frame"] for v in VECTORS["command"]
    }
    assert sent == b"".join(
        HEX(frame[key])
        for key in [
            ("read", None, None),
            ("allocate", 32, None),
            ("text", None, "JACKPOT "),
            ("string", None, AMOUNT),
            ("read", None, None),
        ]
    )
    assert bench.sign.shows == "JACKPOT $123,456.78"
    assert states(out) == [(DeviceState.READY, None)]
    assert shown(out) == [AMOUNT]


def test_a_sign_that_already_shows_it_is_not_blanked() -> None:
    bench = Bench(sign=Sign(text=b"A\x1b bJACKPOT \x101", string=AMOUNT, string_size=32))
    bench.driver.order(ShowSign(AMOUNT), 0)
    bench.do(bench.driver.opened(bench.now_us))
    out = bench.run_for(5 * SECOND)
    assert letters(bench) == ["H"]
    assert shown(out) == [AMOUNT]


@pytest.mark.parametrize(("held", "blanked"), [(AMOUNT, 0), ("$1.00", 1)])
def test_the_first_order_after_opening_is_compared_with_what_was_read(
    held: str, blanked: int
) -> None:
    bench = Bench(sign=Sign(text=b"A\x1b bJACKPOT \x101", string=held, string_size=32))
    bench.do(bench.driver.opened(bench.now_us))
    assert states(bench.run_for(3 * SECOND)) == [(DeviceState.READY, None)]
    out = bench.do(bench.driver.order(ShowSign(AMOUNT), bench.now_us))
    out += bench.run_for(5 * SECOND)
    assert bench.sign.blanked == blanked
    assert shown(out) == [AMOUNT]


def test_a_change_rewrites_only_the_string() -> None:
    bench = ready()
    bench.sign.frames.clear()
    bench.do(bench.driver.order(ShowSign("$123,456.79"), bench.now_us))
    out = bench.run_for(3 * SECOND)
    assert letters(bench) == ["G", "H"]
    assert bench.sign.blanked == 1
    assert shown(out) == ["$123,456.79"]
    assert bench.do(bench.driver.order(ShowSign("$123,456.79"), bench.now_us)) == []
    assert shown(bench.run_for(5 * SECOND)) == []


def test_fast_changes_are_thinned_out_and_the_last_one_wins() -> None:
    bench = ready()
    bench.sign.frames.clear()
    out: list[object] = []
    for cents in range(100):
        out += bench.do(bench.driver.order(ShowSign(f"$1.{cents:02}"), bench.now_us))
        out += bench.run_for(50_000)
    out += bench.run_for(3 * SECOND)
    assert letters(bench).count("G") <= 11
    assert bench.sign.shows == "JACKPOT $1.99"
    assert shown(out)[-1] == "$1.99"
    assert len(shown(out)) >= 4  # reading is not starved


def test_a_sign_that_is_not_read_gets_a_string_at_most_every_500_ms() -> None:
    bench = ready(readback=False)
    bench.sign.frames.clear()
    for cents in range(100):
        bench.do(bench.driver.order(ShowSign(f"$1.{cents:02}"), bench.now_us))
        bench.run_for(50_000)
    bench.run_for(SECOND)
    times = [at_us for at_us, letter in bench.sign.frames if letter == "G"]
    assert len(times) >= 8
    assert all(later - earlier >= 500_000 for earlier, later in pairwise(times))
    assert bench.sign.shows == "JACKPOT $1.99"


def test_an_order_taken_back_at_once_is_confirmed_again() -> None:
    bench = ready()
    while not bench.sign.answers:  # the line is busy with a reading
        bench.run_for(10_000)
    bench.do(bench.driver.order(ShowSign("$1.00"), bench.now_us))
    bench.do(bench.driver.order(ShowSign(AMOUNT), bench.now_us))
    assert shown(bench.run_for(3 * SECOND)) == [AMOUNT]


def test_the_string_is_rewritten_every_30_s_and_read_every_10_s() -> None:
    bench = ready()
    bench.sign.frames.clear()
    out = bench.run_for(120 * SECOND)
    assert letters(bench).count("G") == 4
    assert letters(bench).count("H") in (11, 12)
    assert out == []


def test_a_sign_that_lost_its_memory_is_set_up_again() -> None:
    bench = ready()
    bench.sign.text = bench.sign.string = None
    out = bench.run_for(15 * SECOND)
    assert bench.sign.shows == "JACKPOT $123,456.78"
    assert shown(out) == [AMOUNT]
    assert states(out) == []
    assert bench.driver.counters["repairs"] == 1


def test_a_silent_sign_is_unknown_within_a_second_of_the_first_missed_answer() -> None:
    bench = ready()
    bench.sign.silent = True
    out: list[object] = []
    missed_us = None
    while not states(out):
        out += bench.run_for(10_000)
        if missed_us is None and bench.driver.counters["missed_answers"]:
            missed_us = bench.now_us
    assert states(out) == [(DeviceState.UNKNOWN, "E-DSP-021")]
    assert missed_us is not None
    assert bench.now_us - missed_us <= SECOND


def test_a_silent_sign_is_still_written_to_and_rarely_blanked() -> None:
    bench = ready(silent=True)
    bench.sign.frames.clear()
    out = bench.run_for(300 * SECOND)
    assert out == []
    assert letters(bench).count("G") == 10
    assert bench.sign.blanked == 1
    bench.do(bench.driver.order(ShowSign("$2.00"), bench.now_us))
    bench.run_for(SECOND)
    assert bench.sign.shows == "JACKPOT $2.00"
    bench.run_for(600 * SECOND)
    assert bench.sign.blanked == 2
    bench.sign.silent = False
    out = bench.run_for(12 * SECOND)
    assert states(out) == [(DeviceState.READY, None)]
    assert shown(out) == ["$2.00"]
    assert bench.sign.blanked == 2


def test_one_missed_answer_is_no_state() -> None:
    bench = ready()
    bench.sign.silent = True
    while not bench.driver.counters["missed_answers"]:
        bench.run_for(10_000)
    bench.sign.silent = False
    assert bench.run_for(5 * SECOND) == []
    assert bench.sign.blanked == 1


def test_a_sign_that_holds_another_text_is_degraded_and_not_blanked_for_ever() -> None:
    bench = ready()
    bench.sign.forgets = True
    bench.sign.string = "0"
    out = bench.run_for(30 * SECOND)
    assert states(out) == [(DeviceState.DEGRADED, "E-DSP-022")]
    blanked = bench.sign.blanked
    assert bench.run_for(120 * SECOND) == []
    assert bench.sign.blanked - blanked in (3, 4)
    bench.sign.forgets = False
    out = bench.run_for(40 * SECOND)
    assert states(out) == [(DeviceState.READY, None)]
    assert shown(out) == [AMOUNT]


def test_a_sign_without_a_transmitter_is_never_read_and_never_called_shown() -> None:
    bench = Bench(AlphaDriver("sign", readback=False))
    bench.do(bench.driver.opened(bench.now_us))
    assert bench.driver.wake_us is None
    out = bench.do(bench.driver.order(ShowSign(AMOUNT), bench.now_us))
    out += bench.run_for(100 * SECOND)
    assert states(out) == [(DeviceState.DEGRADED, "E-DSP-024")]
    assert shown(out) == []
    assert "H" not in letters(bench)
    assert letters(bench).count("G") == 4
    assert bench.sign.shows == "JACKPOT $123,456.78"


def test_a_text_too_long_shows_dashes_and_is_degraded_while_ordered() -> None:
    bench = ready()
    out = bench.do(bench.driver.order(ShowSign("9" * 33), bench.now_us)) + bench.run_for(SECOND)
    assert bench.sign.shows == "JACKPOT --------"
    assert states(out) == [(DeviceState.DEGRADED, "E-DSP-023")]
    out = bench.do(bench.driver.order(ShowSign("9" * 32), bench.now_us)) + bench.run_for(SECOND)
    assert states(out) == [(DeviceState.READY, None)]
    assert bench.sign.shows == "JACKPOT " + "9" * 32


def test_unplugged_is_unknown_at_once_and_half_a_frame_is_forgotten() -> None:
    bench = ready()
    bench.driver.order(ShowSign("$5.00"), bench.now_us)  # its first piece is lost with the line
    lost = bench.driver.closed("hang-up", bench.now_us)
    assert states(lost) == [(DeviceState.UNKNOWN, "E-DSP-025")]
    assert bench.driver.wake_us is None
    assert bench.driver.advance(bench.now_us + SECOND) == []
    assert bench.driver.received(b"\x01", bench.now_us) == []
    bench.sign = Sign()
    bench.do(bench.driver.opened(bench.now_us))
    out = bench.run_for(5 * SECOND)
    assert states(out) == [(DeviceState.READY, None)]
    assert shown(out) == ["$5.00"]


def test_an_answer_nobody_asked_for_or_of_another_file_changes_nothing() -> None:
    bench = ready()
    for vector in VECTORS["answer"]:
        assert bench.driver.received(HEX(vector["frame"]), bench.now_us) == []
    assert bench.driver.counters["unexpected_answers"] == len(VECTORS["answer"])
    assert bench.driver.state is DeviceState.READY


def test_two_errors_that_cancel_in_the_sum_cause_a_rewrite_and_nothing_else() -> None:
    bench = ready()
    cancelling = HEX(VECTORS["answer"][1]["frame"])
    while not bench.sign.answers:
        bench.run_for(10_000)
    bench.sign.answers = [(bench.sign.answers[0][0], cancelling)]
    out = bench.run_for(5 * SECOND)
    assert states(out) == []
    assert bench.driver.counters["mismatches"] == 1
    assert shown(out) == [AMOUNT]


def test_a_damaged_answer_is_counted_and_asked_for_again() -> None:
    bench = ready()
    while not bench.sign.answers:
        bench.run_for(10_000)
    at_us, frame = bench.sign.answers[0]
    bench.sign.answers = [(at_us, frame.replace(b"$", b"%"))]
    assert bench.run_for(5 * SECOND) == []
    assert bench.driver.counters["E-DSP-028"] == 1
    assert bench.sign.blanked == 1


def test_other_orders_are_ignored() -> None:
    bench = ready()
    assert bench.driver.order(ShowMeter("1"), bench.now_us) == []


@pytest.mark.parametrize("size", [7, 126])
def test_a_string_size_out_of_range_is_refused(size: int) -> None:
    with pytest.raises(ValueError, match="STRING size"):
        AlphaDriver("sign", string_size=size)


def test_a_caption_too_long_is_refused() -> None:
    with pytest.raises(ValueError, match="caption"):
        AlphaDriver("sign", caption="J" * 60)


EVENTS = st.lists(
    st.one_of(
        st.sampled_from(["silent", "speaks", "deaf", "hears", "wiped", "unplug", "noise"]),
        st.text(alphabet="$0123,.é", max_size=34).map(ShowSign),
        st.integers(0, 15_000_000),
    ),
    max_size=15,
)


@given(EVENTS)
def test_whatever_happens_the_sign_shows_the_last_order_in_the_end(
    events: list[str | ShowSign | int],
) -> None:
    bench = Bench()
    bench.do(bench.driver.opened(bench.now_us))
    for event in events:
        match event:
            case int():
                bench.run_for(event)
            case ShowSign():
                bench.do(bench.driver.order(event, bench.now_us))
            case "silent" | "speaks":
                bench.sign.silent = event == "silent"
            case "deaf" | "hears":
                bench.sign.deaf = event == "deaf"
            case "wiped":
                bench.sign.text = bench.sign.string = None
            case "noise":
                bench.do(bench.driver.received(b"\x01\x30\xff\x04\x01", bench.now_us))
            case "unplug":
                bench.driver.closed("hang-up", bench.now_us)
                bench.sign = Sign()
                bench.do(bench.driver.opened(bench.now_us))
    bench.sign.silent = bench.sign.deaf = False
    bench.do(bench.driver.order(ShowSign("$7.77"), bench.now_us))
    out = bench.run_for(60 * SECOND)
    assert bench.sign.shows == "JACKPOT $7.77"
    assert bench.driver.state is DeviceState.READY
    assert shown(out)[-1] == "$7.77"
