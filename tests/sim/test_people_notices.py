"""People who must take notices away before they can read what is to be done."""

from __future__ import annotations

from dataclasses import replace

from hw_sim.layout import load as load_layout
from hw_sim.people.dealer import WITNESSED
from hw_sim.people.random_play import random_rounds
from hw_sim.scenario import Step, find, load, parse_step
from tests.sim.table import VirtualTable


def played(steps: list[Step], seed: int) -> VirtualTable:
    plain = load(find("mbs3-plain"))
    table = VirtualTable(replace(plain, steps=tuple(steps), cards=(), seed=seed, rounds=()))
    table.play()
    return table


def test_a_dealer_is_not_stuck_behind_notices_that_read_the_same() -> None:
    """Three wrong chips at one seat while another seat's wager goes back: CHIPS KEY MENU 27."""
    told = (
        "dealer opens", "seat 2 bets 10.00 on 1 2 $", "seat 5 bets 10.00 on 1 2 $", "wait 1500",
        "dealer closes", "seat 2 will back ride", "seat 5 will ride ride", "dealer until RIDE",
        "seat 5 strange chip on 1", "seat 5 strange chip on 2", "seat 5 strange chip on $",
        "wait 2000", "dealer plays on",
    )  # fmt: skip
    steps = [step for text in told if (step := parse_step(0, text)) is not None]
    assert len(steps) == len(told)
    table = played(steps, 1)
    seen = table.director.dealer.seen
    assert ["SEAT 5: NO CHIP", "SEAT 2  1      10.00", "GIVE BACK WAGER 1",
            "CHIPS KEY MENU 27"] in seen  # fmt: skip
    assert table.results[1]["round_status"] == "settled"


def test_seven_people_at_a_random_table_with_faults_get_to_the_end() -> None:
    layout = load_layout(load(find("mbs3-plain")).layout_path)
    rounds = random_rounds("MBS3", layout, 10_001, 3, players=7, faults=True)
    table = played([step for one in rounds for step in one], 10_001)
    assert [one["round_status"] for one in table.results.values()] == ["settled"] * 3


def test_a_dealer_who_plays_for_days_remembers_the_last_prompts_only() -> None:
    dealer = VirtualTable(load(find("mbs3-plain"))).director.dealer
    for number in range(2 * WITNESSED):
        dealer.seen.append([str(number)])
        dealer.paid.append((1, "", str(number)))
    assert (len(dealer.seen), len(dealer.paid)) == (WITNESSED, WITNESSED)
    assert dealer.seen[-1] == [str(2 * WITNESSED - 1)]
