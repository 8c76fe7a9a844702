"""How well an antenna reads, as a pure machine: every pattern of looks has one verdict."""

from __future__ import annotations

from itertools import product

import pytest

from controller.shell.testing.antennas import AntennaTest
from drivers.readings import Antenna, AntennaRead, Uid

SPOT = Antenna("chips-1", 1, 1)
CHIP = Uid("E004010200000001")


def judged(looks: str) -> str:
    """One spot and a chip on it: ``+`` sees it, ``-`` does not; what is said, or nothing yet."""
    test = AntennaTest({SPOT: (3, "1")}, 3, lambda _uid: "5.00 cash, in play", {})
    test.begin(0)
    test.take(AntennaRead("chips-1", SPOT, frozenset(), 0), 0)
    for number, look in enumerate(looks, 1):
        tags: frozenset[Uid] = frozenset({CHIP} if look == "+" else ())
        test.take(AntennaRead("chips-1", SPOT, tags, number), number)
    said = [step["text"] for step in test.steps if step["kind"] in ("pass", "fail")]
    return said[0] if said else ""


def test_six_looks_after_the_first_that_all_see_it() -> None:
    assert judged("+" * 6) == ""
    assert judged("+" * 7) == "seat 3, wager 1: read 6 of 6 times"


@pytest.mark.parametrize(
    ("looks", "said"),
    [
        ("+" + "-" + "+" * 18, ""),
        ("+" + "-" + "+" * 19, "seat 3, wager 1: read 19 of 20 times"),
        ("+" + "--" + "+" * 18, "seat 3, wager 1: read 18 of 20 times"),
        ("+" + "---" + "+" * 17, "seat 3, wager 1: weak: read 17 of 20 times"),
        ("+" + "-" * 20, "seat 3, wager 1: weak: read 0 of 20 times"),
        ("+" + "+-" * 10, "seat 3, wager 1: weak: read 10 of 20 times"),
    ],
)
def test_a_miss_is_looked_at_longer(looks: str, said: str) -> None:
    assert judged(looks) == said


def test_of_all_ways_to_see_a_chip_by_halves_one_in_64_passes_at_once() -> None:
    ways = ["".join(way) for way in product("+-", repeat=6)]
    passed = [way for way in ways if judged("+" + way).endswith("6 of 6 times")]
    assert (len(ways), passed) == (64, ["++++++"])
