"""What every device reports of its state, and what every display on the bus does when in doubt."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from drivers.base import Counters, DeviceState, Fault
from drivers.ht16k33.driver import MagicCardDriver
from drivers.machines import Reporter
from drivers.orders import Order, ShowMagicCard, ShowPrompt
from drivers.readings import Shown
from tests.drivers.hd44780.lcd import Bench as PromptBench
from tests.drivers.ht16k33.board import Bench as CardBench

SECOND = 1_000_000


def test_a_state_is_reported_once_per_change_of_state_or_reason() -> None:
    counters = Counters()
    reporter = Reporter("sign", counters)
    told = [
        len(reporter.report(state, reason, at_us))
        for at_us, (state, reason) in enumerate(
            [
                (DeviceState.UNKNOWN, Fault("E-X-001", "at first")),
                (DeviceState.UNKNOWN, Fault("E-X-001", "in other words")),
                (DeviceState.UNKNOWN, Fault("E-X-002", "another reason")),
                (DeviceState.READY, None),
                (DeviceState.READY, None),
            ]
        )
    ]
    assert told == [1, 0, 1, 1, 0]
    assert counters == {"E-X-001": 1, "E-X-002": 1}
    assert reporter.state is DeviceState.READY


@pytest.mark.parametrize(
    ("bench", "order"),
    [
        (PromptBench(), ShowPrompt(("one", "two", "", ""))),
        (CardBench(MagicCardDriver("magic", 0x73)), ShowMagicCard("7h")),
    ],
    ids=["prompt", "magic"],
)
def test_a_lost_bus_puts_in_doubt_what_a_display_shows(
    bench: PromptBench | CardBench, order: Order
) -> None:
    bench.driver.order(order, bench.now_us)
    (first,) = shown(bench.run_for(SECOND))
    bench.driver.bus_lost("stuck", bench.now_us)
    assert (bench.driver.state, bench.driver.counters["repairs"]) == (DeviceState.UNKNOWN, 1)
    assert shown(bench.run_for(SECOND)) == [first]


def shown(out: Sequence[object]) -> list[str]:
    return [reading.content for reading in out if isinstance(reading, Shown)]
