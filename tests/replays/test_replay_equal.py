"""A share of ``make replays``: what a replay tells is what the table did, to the cent."""

from __future__ import annotations

from copy import deepcopy

import pytest

from controller.history.replay import Replay
from controller.replay import felt, words
from controller.replay.finding import rounds_in
from controller.replay.timeline import DealtCard, Timeline, _Teller, build
from controller.rules.engine import effects as fx
from hw_sim.scenario import find
from record.journal.format import Record
from tests.controller.history.desk import GAMES
from tests.replays.desks import desk_rounds
from tests.replays.equality import all_differences, differences
from tests.replays.playing import (
    PLAIN,
    Journalled,
    people_rounds,
    scenario_rounds,
)

SEED = 20261117


def wrong(made: Journalled) -> list[str]:
    assert made.witness.results
    found = all_differences(made)
    assert made.witness.compared.keys() == made.witness.results.keys()
    assert all(made.witness.compared.values()), "somebody must have looked at the displays"
    return found


@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(("game", "device"), GAMES)
def test_rounds_with_whatever_people_report(game: str, device: str, seed: int) -> None:
    assert wrong(desk_rounds(game, device, SEED + seed, 3)) == []


@pytest.mark.parametrize("game", PLAIN)
def test_people_at_a_simulated_table(game: str) -> None:
    assert wrong(people_rounds(game, SEED, 1)) == []


def test_no_display_is_known_between_a_start_and_its_first_reading() -> None:
    """The power goes after a round has ended, and the dealer opens the next one at once."""
    made = people_rounds("MBS3", 10_002, 4)
    assert len(made.witness.starts) == 2
    assert wrong(made) == []


def test_a_card_read_twice_is_explained_without_the_key() -> None:
    """The one thing that closed cards decide: the table froze because two were the same."""
    assert wrong(scenario_rounds(find("nsw-duplicate-card"))) == []


@pytest.mark.parametrize(("game", "device"), [("NSW", "shoe"), ("MEGA", "shoe")])
def test_without_the_key_the_records_are_stepped_once(
    game: str, device: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """More rounds than a deck has cards to stand in for those that were never told."""
    made = desk_rounds(game, device, SEED, 20)
    taken: list[int] = []
    plain = Replay.take

    def take(self: Replay, record: Record) -> None:
        taken.append(record.seq)
        plain(self, record)

    monkeypatch.setattr(Replay, "take", take)
    number = min(rounds_in(made.records))
    with_key = build(made.records, number, made.sealer)
    needed = len(taken)
    taken.clear()
    without = build(made.records, number)
    assert with_key.diverged is without.diverged is None
    assert needed > 500
    assert len(taken) <= 2 * needed


def test_the_progress_is_told() -> None:
    made, told = desk_rounds("NSW", "shoe", SEED, 8), list[tuple[int, int]]()
    build(made.records, 1, progress=lambda done, of: told.append((done, of)))
    assert told == [(n * 500, told[0][1]) for n in range(len(told))]
    assert len(told) > 1


def test_the_comparison_can_fail() -> None:
    made = desk_rounds("PP6", "shoe", SEED, 1)
    (number,) = made.witness.results
    told = made.witness.results[number] = deepcopy(made.witness.results[number])
    told["seats"][0]["wagers"]["$"]["to_player"] = 123_456
    made.witness.digests[number] = "0" * 16
    found = differences(made, number)
    assert any("$ to_player" in one and "123456" in one for one in found)
    assert any("state " in one and "0000000000000000" in one for one in found)


def test_what_is_told_of_each_fact_is_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    """One thing told wrong at a time: wager, amount, card, clause, choice, who, felt, order."""
    made = desk_rounds("MBS3", "shoe", SEED, 2)
    assert wrong(made) == []
    real = {name: getattr(words, name) for name in ("cents", "_effect", "who")}
    dealt, rows, told = _Teller._card, felt.rows, _Teller.timeline

    def swapped(teller: _Teller) -> Timeline:
        found = told(teller)
        at = next(n for n, one in enumerate(found.moments) if "decision" in one.marks)
        found.moments[at - 1 : at + 1] = reversed(found.moments[at - 1 : at + 1])
        return found

    def without_clause(effect: fx.Effect) -> list[words.Sentence]:
        return [one._replace(clause="") for one in real["_effect"](effect)]

    def other_card(teller: _Teller, place: tuple[int, int], where: str) -> DealtCard:
        one = dealt(teller, place, where)
        return one if one.card is None else one._replace(card="2c" if one.card != "2c" else "3d")

    for where, name, lie, said in (
        (words, "cents", lambda amount: real["cents"](amount + 1), "cents "),
        (words, "_effect", without_clause, "clause MBS3-"),
        (words, "who", lambda _: "declared by nobody", "by D1, told"),
        (words, "CHOICES", {"ride": "takes it back", "withdraw": "lets it ride"}, "choice "),
        (words, "SPOTS", {**words.SPOTS, "1": "wager 2"}, "spot 'wager 1'"),
        (felt, "rows", lambda state: rows(state)[1:], "on the felt "),
        (_Teller, "_card", other_card, "is told as "),
        (_Teller, "timeline", swapped, "not in the order of records"),
    ):
        with monkeypatch.context() as patched:
            patched.setattr(where, name, lie)
            assert any(said in one for one in all_differences(made)), name


def test_a_display_that_nobody_saw_is_a_difference() -> None:
    made = scenario_rounds(find("pp6-plain"))
    assert wrong(made) == []
    at = next(n for n, one in enumerate(made.witness.shown) if "DECISION" in one[2])
    at_ms, device, seen = made.witness.shown[at]
    made.witness.shown[at] = (at_ms, device, seen.replace("DECISION", "SETTLE  "))
    assert any(": prompt 'DECISION" in one for one in wrong(made))


def test_a_display_that_the_replay_does_not_tell_is_a_difference() -> None:
    made = desk_rounds("RICO", "shoe", SEED, 1)
    assert wrong(made) == []
    middle = len(made.witness.shown) // 2
    at_ms, _, _ = made.witness.shown[middle]
    made.witness.shown.insert(middle + 1, (at_ms + 1, "lamps-1", "|".join(["fault"] * 7)))
    assert any("lamps-1 showed 'fault|" in one for one in wrong(made))
