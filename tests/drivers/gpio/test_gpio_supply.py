"""Supply flags: the kernel's text, in all its forms."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers.base import Fault, StateReported
from drivers.gpio.codec import parse_throttled
from drivers.gpio.driver import SupplyDriver
from drivers.readings import SupplyRead

SECOND = 1_000_000
START = 9_000 * SECOND
VECTORS = tomllib.loads((Path(__file__).parents[2] / "vectors" / "gpio.toml").read_text("utf-8"))


def flags(readings: Sequence[object]) -> list[int]:
    return [r.flags for r in readings if isinstance(r, SupplyRead)]


def states(readings: Sequence[object]) -> list[tuple[str, str]]:
    return [
        (r.state.value, r.reason.code if r.reason else "")
        for r in readings
        if isinstance(r, StateReported)
    ]


@pytest.mark.parametrize("vector", VECTORS["supply"], ids=lambda v: repr(v["text"]))
def test_vectors(vector: dict[str, Any]) -> None:
    result = parse_throttled(vector["text"])
    if "code" in vector:
        assert isinstance(result, Fault)
        assert result.code == vector["code"]
    else:
        assert result == vector["flags"] == sum(1 << bit for bit in vector["bits"])


@given(st.text(max_size=100))
def test_any_text_is_flags_or_a_fault(text: str) -> None:
    result = parse_throttled(text)
    if isinstance(result, Fault):
        assert len(result.detail) < 250
    else:
        assert 0 <= result <= 0xFFFFFFFF


@given(st.integers(0, 0xFFFFFFFF), st.sampled_from(["{:x}\n", "0x{:x}", "throttled=0x{:x}\n"]))
def test_every_number_is_read_back(number: int, form: str) -> None:
    assert parse_throttled(form.format(number)) == number


def test_flags_are_reported_on_change_only() -> None:
    supply = SupplyDriver()
    said: list[object] = []
    for second, text in enumerate(["0\n", "0\n", "50005\n", "50005\n", "50000\n"]):
        said += supply.read(text, START + second * SECOND)
    assert flags(said) == [0, 0x50005, 0x50000]
    assert states(said) == [("ready", "")]


def test_garbage_is_unknown_once_and_the_flags_are_told_again_after_it() -> None:
    supply = SupplyDriver()
    supply.read("50005", START)
    assert states(supply.read("??", START + SECOND)) == [("unknown", "E-SUP-001")]
    assert supply.read("??", START + 2 * SECOND) == []
    assert states(supply.failed("No such file", START + 3 * SECOND)) == [("unknown", "E-SUP-002")]
    said = supply.read("50005", START + 4 * SECOND)
    assert states(said) == [("ready", "")]
    assert flags(said) == [0x50005]
    assert supply.counters["E-SUP-001"] == 2


def test_silence_is_unknown_within_two_seconds() -> None:
    supply = SupplyDriver()
    assert supply.advance(START) == []
    supply.read("0", START)
    assert supply.advance(START + 1_899_999) == []
    assert supply.wake_us == START + 1_900_000
    assert states(supply.advance(supply.wake_us)) == [("unknown", "E-SUP-002")]
    assert supply.advance(supply.wake_us) == []
