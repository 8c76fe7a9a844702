"""The seeded share of ``make fuzz`` that every test run does; and that the fuzzer can fail."""

from __future__ import annotations

from random import Random

import pytest

from drivers.cards import continuity
from drivers.feig import codec as feig_codec
from drivers.mcp23017 import codec as mcp_codec
from drivers.orders import WatchAntennas
from drivers.readings import Antenna
from tests.fuzz import money, texts, wire
from tests.fuzz.run import TARGETS, Outcome, cases_of, failures, run_cases
from tests.fuzz.tally import CRC16_RATE, Broken, quantile

FRAMES = 3_000
SEED = 7


NAMES = list(TARGETS)


@pytest.mark.parametrize("name", NAMES)
def test_the_codec_law_holds_for_a_share_of_the_mutants(name: str) -> None:
    cases = max(3, cases_of(TARGETS[name], FRAMES))
    assert failures({name: run_cases(name, SEED, 0, cases)}) == []


def test_a_case_is_the_same_whenever_it_runs() -> None:
    whole = run_cases("cdp", SEED, 0, 200)
    halves = Outcome("cdp")
    halves.add(run_cases("cdp", SEED, 100, 200))
    halves.add(run_cases("cdp", SEED, 0, 100))
    assert halves.tally == whole.tally


def test_chance_is_allowed_for_and_no_more() -> None:
    assert quantile(1_000_000, 0.0) == 0
    assert quantile(10, 0.5) == 10
    assert 30 < quantile(1_000_000, CRC16_RATE) < 56  # the mean is 30.5


# --- the fuzzer can fail ------------------------------------------------------------------------


def test_a_decoder_that_looks_at_no_crc_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feig_codec, "_frame_at", _frame_without_crc)
    assert any("alone" in it for it in failures({"feig": run_cases("feig", SEED, 0, 400)}))


def _frame_without_crc(data: bytes, start: int, end: int, *, isolated: bool) -> feig_codec.Frame:
    advanced = data[start] == feig_codec.STX
    head = start + (3 if advanced else 1)
    body = data[head + 2 : end - 2]
    return feig_codec.Frame(data[head], data[head + 1], body, advanced, isolated)


def test_a_decoder_that_forgets_pauses_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feig_codec, "SILENCE_US", 12_000)
    assert any("lost" in it for it in failures({"feig": run_cases("feig", SEED, 0, 400)}))


def test_a_block_check_without_the_sequence_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mcp_codec, "constants", lambda *_: b"")
    assert failures({"mcp23017": run_cases("mcp23017", SEED, 0, 300)}) != []


def test_a_lie_that_is_told_often_enough_is_believed() -> None:
    """Shows that the scenario would notice: one lie is no fact, the same one for ever is."""
    spot = Antenna("chips-1", 1, 1)
    table = money.Table(Random(1), {spot: []})
    table.corrupt_from_us, table.times = 500_000, 1_000
    table._lie = 0xB0, b"\0" + wire.tag_sets([bytes.fromhex("E004010012345678")])
    table._lied_about = spot
    table._do(table.driver.opened(table.now))
    table.order(WatchAntennas(table.antennas))
    with pytest.raises(Broken, match="settled"):
        table.run(4_000_000)


def test_a_shoe_driver_that_misses_gaps_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(continuity.Continuity, "take", lambda *_, **__: [])
    kinds = run_cases("money-cards", SEED, 0, 100).kinds
    assert any("without a word" in kind for kind in kinds)


def test_the_second_supply_parser_agrees_with_the_page() -> None:
    assert texts.flags_of("throttled=0x50005\n") == 0x50005
    assert [texts.flags_of(text) for text in ("", "0x", "-1", "123456789", "5_0")] == [None] * 5


def test_an_exception_of_any_kind_counts_as_a_breach(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(_text: str) -> int:
        raise KeyError("anything")

    monkeypatch.setattr(texts, "parse_throttled", broken)
    outcome = run_cases("supply", SEED, 0, 5)
    assert outcome.kinds == {"KeyError: 'anything'": 5}
