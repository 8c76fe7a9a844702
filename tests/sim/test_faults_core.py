"""Rows 1, 8 and 12 to 15 with the table's core: what a fault may and may not do to a round."""

from __future__ import annotations

from typing import Final

import pytest

from controller.rules.engine import effects as fx
from controller.rules.engine.state import Phase
from drivers.base import StateReported
from hw_sim.people.dealer import Stuck
from hw_sim.scenario import find, load
from tests.sim.faults_bench import Played
from tests.sim.table import differences

BETS: Final = (
    "seat 2 bets 25.00 on 1 2 $", "seat 5 bets 10.00 on 1 2 $", "seat 2 credits 1",
    "seat 5 credits 1",
)  # fmt: skip
WILL: Final = ("seat 2 will back ride", "seat 5 will ride ride")
PLAIN: Final = [{2: 2_234_567, 5: 32_900}]
"""The plain round: a straight flush of 25.00 with 10 % of the meter, a pair of kings."""
ROYAL: Final = "Th Kc Jh Kd Qh 2s Kh Ah"
DOUBLED: Final = "Th Kc Jh Kd Qh Th Kh Ah"
"""Seat 2 gets its royal flush, and seat 5 a second ten of hearts."""


def opened(cards: str | None = None) -> Played:
    return Played(cards=cards).do("dealer opens", *BETS)


def alarms(table: Played) -> list[str]:
    return [alarm["code"] for alarm in table.writer.alarms]


# --- row 12: chips that come and go --------------------------------------------------------------


def test_a_chip_that_flaps_through_the_whole_play_changes_no_settlement() -> None:
    table = opened().do("dealer closes", "fault flap 2 $", "wait 5000", *WILL, "dealer plays on")
    assert table.nets() == PLAIN


def test_a_flapping_chip_that_counts_as_gone_holds_the_round_and_is_not_taken_for_taken() -> None:
    """At a decision two antennas are polled so fast that the flapping may fall into step: the round
    is held or goes on, and either way nobody's wager is taken back."""
    table = opened().do("dealer closes", "fault flap 5 1", "wait 5000", *WILL)
    try:
        table.do("dealer plays on")
    except Stuck:
        assert "wager lifted" in alarms(table)
        assert table.nets() == []
        table.do("fault flap 5 1 off", "wait 4000", "dealer plays on")
    assert table.nets() == PLAIN


def test_a_chip_that_flaps_at_the_call_is_never_counted_silently() -> None:
    """The seat is uncertain, or the flapping kept step with the polls and every look of the sweep
    found the chip (chip-sensing.md). The calls are spread over one period of the flapping."""
    assert Phase.BETTING in [_called_while_it_flaps(ms) for ms in (4000, 4015, 4030, 4045)]


def _called_while_it_flaps(wait_ms: int) -> Phase:
    table = opened().do("wait 2000", "fault flap 2 $", f"wait {wait_ms}")
    looks = _looks_at(table, 2, "$")
    table.do("press CLOSE")
    for _ in range(20):
        table.do("wait 500")
        if table.core.closing is None:
            break
    told = table.core.state.phase
    if told is Phase.BETTING:
        assert table.core.uncertain == {2}
        assert "SEAT 2" in table.prompt
        table.do("fault flap 2 $ off", "wait 4000", "dealer closes")
    else:
        assert looks, wait_ms
        assert all(looks), wait_ms
        table.do("fault flap 2 $ off")
    table.do(*WILL, "dealer plays on")
    assert table.nets() == PLAIN
    return told


def _looks_at(table: Played, seat: int, spot: str) -> list[int]:
    """Filled with the number of chips that each look of a reader at this spot finds."""
    felt, looks = table.bench.sim.felt, list[int]()
    tags = felt.tags

    def looked(number: int, name: str) -> list[bytes]:
        found = tags(number, name)
        if (number, name) == (seat, spot):
            looks.append(len(found))
        return found

    felt.tags = looked  # type: ignore[method-assign, assignment]
    return looks


def test_a_wager_lifted_after_the_lock_is_an_exception_and_settles_as_it_was_locked() -> None:
    table = opened().do("dealer closes", "seat 2 takes $", "wait 4000")
    assert "wager lifted" in alarms(table)
    table.do("seat 2 bets 25.00 on $", "wait 3000", *WILL, "dealer plays on")
    assert table.nets() == PLAIN


def test_a_chip_added_after_the_lock_is_told_and_not_counted() -> None:
    table = opened().do("dealer closes", "seat 2 adds 5.00 on $", "wait 4000")
    assert table.core.notices.newest is not None
    table.do(*WILL, "dealer plays on")
    assert table.nets() == PLAIN


# --- row 13: impossible cards --------------------------------------------------------------------


def test_the_same_hand_without_a_fault_claims_the_jackpot() -> None:
    table = opened(ROYAL).do("dealer closes", "seat 2 will ride ride", "dealer plays on")
    assert len(table.some(fx.ClaimJackpot)) == 1


def test_a_card_that_comes_twice_freezes_the_round_and_claims_nothing() -> None:
    table = opened(DOUBLED).do("dealer closes", "dealer until KEY")
    assert table.is_in(Phase.FROZEN)
    table.do("press PAID", "press END", "press COMM1", "press SHOW", "wait 2000")
    assert table.is_in(Phase.FROZEN)
    assert table.some(fx.ClaimJackpot) == []
    assert table.nets() == []
    table.do("supervisor menu 51 4", "expect prompt RETURN ALL WAGERS", "press CLEAR CLEAR")
    table.do("expect prompt ROUND VOID", "dealer plays on")
    assert [r["round_status"] for r in table.results.values()] == ["void"]
    assert table.some(fx.ClaimJackpot) == []


@pytest.mark.parametrize("verb", ["foreign", "duplicate", "misread", "doublefeed"])
def test_any_card_in_doubt_freezes_the_round_and_claims_nothing(verb: str) -> None:
    table = opened(ROYAL).do("dealer closes", "dealer plays 5", f"fault {verb}")
    table.do("dealer until KEY", "wait 2000")
    assert table.is_in(Phase.FROZEN)
    assert table.some(fx.ClaimJackpot) == []
    assert table.nets() == []


def test_a_card_pushed_back_freezes_the_round() -> None:
    table = opened(ROYAL).do("dealer closes", "dealer plays 3", "fault pushback", "wait 3000")
    assert table.is_in(Phase.FROZEN)
    assert table.some(fx.ClaimJackpot) == []


def test_one_card_too_many_freezes_the_round_and_claims_nothing() -> None:
    """More cards than the deal has: the device's gate is shut, so it is forced past the lock."""
    table = opened(ROYAL).do("dealer closes", "seat 2 will ride ride", "dealer until RIDE")
    shoe = table.bench.sim.shoe
    assert shoe is not None
    assert not shoe.gate_open, "no card can be pulled while none should be dealt"
    shoe._locked = False  # somebody pulls one all the same
    assert shoe.draw() is not None
    table.do("wait 2000")
    assert table.is_in(Phase.FROZEN)
    assert table.some(fx.ClaimJackpot) == []


# --- rows 1 and 8: the card device goes in the middle of the deal --------------------------------


def test_an_unplugged_shoe_holds_the_deal_and_the_round_goes_on_when_it_is_back() -> None:
    table = opened().do("dealer closes", "dealer plays 2", "fault unplug shoe", "wait 1000")
    entries = table.facts()
    assert table.core.health.card_hold == "card device"
    assert table.bench.sim.shoe is not None
    assert table.bench.sim.shoe.draw() is None
    table.do("wait 3000")
    assert table.facts() == entries, "no fact comes of a device that is not there"
    assert table.nets() == []
    table.do("fault replug shoe", *WILL, "dealer plays on")
    assert table.nets() == PLAIN


def test_a_shoe_that_restarts_in_the_deal_puts_the_round_before_the_supervisor() -> None:
    table = opened().do("dealer closes", "dealer plays 2", "fault reboot shoe", "wait 3000")
    assert table.is_in(Phase.FROZEN)
    assert table.nets() == []


def test_a_counter_that_falls_in_the_deal_puts_the_round_before_the_supervisor() -> None:
    table = opened().do("dealer closes", "dealer plays 3", "fault backwards shoe 2")
    table.do("dealer plays 1", "wait 2000")
    assert table.is_in(Phase.FROZEN)
    assert table.nets() == []


@pytest.mark.parametrize("fault", ["unplug chips-1", "stuck", "absent keys-2", "mute chips-2"])
def test_a_sensor_away_for_a_while_in_the_deal_changes_no_settlement(fault: str) -> None:
    off = {"unplug chips-1": "replug chips-1"}.get(fault, f"{fault} off")
    table = opened().do("dealer closes", "dealer plays 2", f"fault {fault}", "wait 3000")
    table.do(f"fault {off}", "wait 11000", *WILL, "dealer plays on")
    assert table.nets() == PLAIN
    assert table.core.health.flagged == {}


def test_no_lock_while_a_live_wager_cannot_be_read() -> None:
    table = opened().do("wait 2000", "fault antenna 2 $", "wait 3000", "press CLOSE", "wait 3000")
    assert table.is_in(Phase.BETTING)
    assert table.core.closing is None
    table.do("fault antenna 2 $ off", "wait 4000", "dealer closes", *WILL, "dealer plays on")
    assert table.nets() == PLAIN


# --- row 14: displays ----------------------------------------------------------------------------

FLAGS: Final = {
    "": {},
    "dead meter-1": {"meter-1": "E-DSP-002"},
    "absent meter-2": {"meter-2": "E-DSP-001"},
    "unplug sign": {"sign": "E-DSP-025"},
    "mute sign": {"sign": "E-DSP-021"},
    "absent lamps-2": {"lamps-2": "E-EXP-001"},
}


@pytest.mark.parametrize("fault", FLAGS)
def test_a_dead_display_is_flagged_and_the_round_settles_to_the_same_amounts(fault: str) -> None:
    """The meter moves meanwhile, so every module has something new to show."""
    table = Played().do("dealer opens", *([f"fault {fault}"] if fault else []), *BETS)
    table.do("link meter 1234567.90", "dealer closes", *WILL, "dealer plays on")
    flagged = table.core.health.flagged
    assert {d: reason.code for d, reason in flagged.items() if reason} == FLAGS[fault]
    assert table.nets() == [{2: 13_345_679, 5: 32_900}]


def test_a_dead_magic_card_is_flagged_and_pays_as_if_it_had_shone() -> None:
    table = Played("mega-plain").do("fault dead magic")
    scenario = load(find("mega-plain"))
    table.do(*(s.text for s in scenario.steps if s.verb != "expect magic"))
    said = [r for r in table.bench.readings if isinstance(r, StateReported)]
    flagged = [r.reason.code for r in said if r.device == "magic" and r.reason is not None]
    assert "E-DSP-002" in flagged
    found = [
        differences(e, r) for e, r in zip(scenario.rounds, table.results.values(), strict=True)
    ]
    assert found == [[] for _ in scenario.rounds]


def test_a_prompt_gone_for_a_while_takes_nothing_with_it() -> None:
    table = opened().do("dealer closes", "dealer plays 2", "fault absent prompt", "wait 3000")
    assert table.core.health.flagged.keys() == {"prompt"}
    table.do("fault absent prompt off", "wait 3000", *WILL, "dealer plays on")
    assert table.nets() == PLAIN


# --- row 15: the supply --------------------------------------------------------------------------


def test_under_voltage_refuses_a_new_round_while_bit_0_is_set() -> None:
    table = Played().do("dealer until OPEN", "fault undervoltage", "wait 3000")
    table.do("press OPEN", "wait 1000", "press OPEN", "wait 1000")
    assert table.is_in(Phase.IDLE)
    assert "SUPPLY" in table.prompt
    table.do("fault undervoltage off", "wait 3000")
    assert table.bench.sim.throttled == 0x50000, "has been low; bits 16 to 19 do not refuse"
    table.do("dealer opens", "wait 1000")
    assert table.is_in(Phase.BETTING)


def test_under_voltage_in_a_round_lets_it_finish() -> None:
    table = opened().do("fault undervoltage", "wait 2000", "dealer closes", *WILL)
    table.do("dealer until PAID", "fault undervoltage off", "dealer plays on")
    assert table.nets() == PLAIN


def test_nothing_is_accepted_while_the_power_fails_and_nothing_is_lost_if_it_returns() -> None:
    table = opened().do("fault powerfail", "wait 500")
    before, known = table.facts(), dict(table.core.state.spots)
    table.do("seat 3 bets 10.00 on 1 2 $", "press CLOSE", "wait 4000")
    assert table.facts() == before
    assert table.core.state.spots == known
    assert set(table.bench.sim.lamps()) == {"off"}
    table.do("fault powerfail off", "wait 4000")
    assert table.is_in(Phase.BETTING), "a key pressed meanwhile does not count"
    assert table.core.state.spots[3, "1"] == 1_000, "chips laid meanwhile do"


def test_an_opened_door_is_a_notice_and_an_alarm_and_stops_nothing() -> None:
    table = opened().do("fault door open", "wait 1000")
    assert "DOOR" in table.prompt
    assert alarms(table) == ["door"]
    table.do("fault door closed", "wait 1000")
    assert "DOOR" not in table.prompt
    table.do("dealer closes", *WILL, "dealer plays on")
    assert table.nets() == PLAIN
