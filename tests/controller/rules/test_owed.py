"""No one person takes back what a player is owed, and no question that was accepted vanishes.

Every fact that a person can declare is tried, one after another and in pairs, at a table whose
player has won and has a claim: by the dealer alone, and once a seat is paid by the supervisor alone
and by one who holds both positions. What counts is the effect on the player, not the phase.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from controller.demo.scripted_dealer import CHIPS, DEALER_AT_TABLE, SUPERVISOR, ScriptedDealer
from controller.rules.cards import card
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.export import settled_so_far
from controller.rules.engine.owed import phase_of
from controller.rules.engine.state import Phase, TableState
from controller.rules.engine.step import step
from controller.table.asks import Around
from controller.table.guide import guide
from tests.clauses.tables import base, confirmed, only, refused, row, table
from tests.controller.table.test_table_console import CODES

GAMES = ("MBS3", "MEGA", "NSW", "PP6")
EVERY_GAME = (*GAMES, "RICO")
BOTH = (DEALER_AT_TABLE, f.Declared("D1", f.Role.CASINO_SUPERVISOR))
"""One person at the dealer's position who also has the key."""
SECOND = f.Declared("S2", f.Role.CASINO_SUPERVISOR)
SEATS = (2, 5)
Make = Callable[[str], ScriptedDealer]
COUNTS = (f.CountFound(None, 3), f.CountFound(2, 4), f.CountFound(5, 2), f.CardExposed(2),
          f.CardExposed(1, community=True), f.DealtWrong(), f.HandVoided(2, "other"),
          f.OutcomeInvalidated("disruption"), f.SupervisorRuled("void"),
          f.SupervisorRuled("confirmed"), f.SeatRuled(2, "hand void"), f.RulingSeconded(),
          f.PayCorrected(1, 2, 10_000_000, "x"), f.DeckCounted(51),
          f.CardFaultReported("foreign", 52), f.RoundCalledOff(), f.VoidCleared(),
          f.PlayerAbsent(2, viewed=False), f.WagersCorrected(2, 500), f.Folded(2))  # fmt: skip
"""Reports that could void something, beside those of the console test's codes."""


def declared() -> tuple[f.What, ...]:
    of_the_menu = [what for _, what in CODES if isinstance(what, f.What)]
    return (*COUNTS, *of_the_menu)


def wagers(game: str) -> dict[str, int]:
    return base(500, progressive=100) if game in ("MBS3", "MEGA") else base(500)


def settling(game: str) -> ScriptedDealer:
    """Seat 5 has lost, seat 2 holds a royal flush; the community cards are open."""
    dealer = "JsTs" if game != "PP6" else "Js2dTs"
    croupier = table(game, {2: "AsKsQs", 5: "3c5d8h"}, dealer)
    croupier.prepare()
    croupier.bets({n: wagers(game) for n in SEATS})
    croupier.deal()
    croupier.do(f.CardsHandled())
    croupier.decide()
    croupier.turn(1)
    croupier.decide()
    croupier.turn(2)
    return croupier


def opened(game: str) -> ScriptedDealer:
    """Both hands are open, seat 5 is collected, seat 2 is not paid; its claim is locked."""
    croupier = settling(game)
    croupier.do(f.HandOpened(5))
    croupier.do(f.SeatSettled(5))
    for spot in ("1", "2", "$"):
        croupier.take(5, spot)
    croupier.do(f.HandOpened(2))
    if croupier.state.claims:
        croupier.do(f.JackpotLocked(croupier.state.meter), f.Measured("link"))
    return croupier


def paid(game: str) -> ScriptedDealer:
    croupier = opened(game)
    croupier.do(f.SeatSettled(2))
    return croupier


def closed(game: str) -> ScriptedDealer:
    croupier = settling(game)
    croupier.settle()
    return croupier


STAGES = {"settling": settling, "opened": opened, "paid": paid, "closed": closed}


def acting(_game: str) -> ScriptedDealer:
    """Ricochet: the deal is confirmed, the bonus wagers are paid and collected."""
    croupier = table("RICO", {2: "AsKs", 5: "3c5d"}, "AhKd9c7s3d")
    croupier.prepare()
    croupier.bets({n: {"ante": 500, "rapid_fire": 500, "hedge": 500} for n in SEATS})
    croupier.deal()
    croupier.do(f.DealConfirmed())
    for number, spot in product(SEATS, ("rapid_fire", "hedge")):
        croupier.take(number, spot)
    return croupier


def drawing(game: str) -> ScriptedDealer:
    croupier = acting(game)
    assert croupier.state.showdown is not None
    number = croupier.state.showdown.to_act
    assert number is not None
    croupier.do(f.WagerRead(number, "play", 500), CHIPS)
    croupier.do(f.Played(number))
    return croupier


def pot_due(game: str) -> ScriptedDealer:
    croupier = drawing(game)
    while croupier.is_in(Phase.DRAW):
        croupier.deal_one()
    croupier.fill_pot()
    assert croupier.state.showdown is not None
    croupier.do(f.Folded(croupier.state.showdown.to_act or 0))
    return croupier


def pot_paid(game: str) -> ScriptedDealer:
    croupier = pot_due(game)
    croupier.end_ricochet()
    return croupier


RICOCHET = {"acting": acting, "drawing": drawing, "pot due": pot_due, "closed": pot_paid}
KNOWN = [*((g, s, make) for g in GAMES for s, make in STAGES.items()),
         *(("RICO", s, make) for s, make in RICOCHET.items())]  # fmt: skip
"""Every game wherever the result, or a part of it, is known."""
PAID = [one for one in KNOWN if one[1] != "settling"]


HARMFUL = (fx.WithdrawClaim, fx.ReverseContributions, fx.ReturnWager, fx.PayDifference)


def harms(before: TableState, after: TableState, effects: tuple[fx.Effect, ...]) -> list[str]:
    """What a step took from a player."""
    found = [type(e).__name__ for e in effects if isinstance(e, HARMFUL)]
    found += [f"seat {n} out" for n, s in after.seats.items()
              if s.out and n in before.seats and not before.seats[n].out]  # fmt: skip
    return found + changes(before, after)


def changes(before: TableState, after: TableState) -> list[str]:
    """What is no longer as it was paid. Nothing is decided while a question is open."""
    found = []
    if phase_of(after) is Phase.VOIDING and phase_of(before) is not Phase.VOIDING:
        found.append("round void")
    if after.history[: len(before.history)] != before.history:
        found.append("closed round changed")
    asked = after.frozen is not None or any(s.held is not None for s in after.seats.values())
    if after.round_no == before.round_no and not asked:
        now = got(after)
        found += [f"seat {n}: {had} is {now.get(n)}" for n, had in got(before).items()
                  if now.get(n) != had]  # fmt: skip
    return found


def got(state: TableState) -> dict[int, Any]:
    """What every paid seat got with its hand, and its share in others' once that is known."""
    paid_seats = [n for n, seat in state.seats.items() if seat.settled]
    if state.rules.book.family == "ricochet":
        paid_seats = list(state.seats) if state.result is not None else []
    if not paid_seats:
        return {}
    result = state.result or settled_so_far(state)
    rows = {row["seat"]: row for row in result["seats"] if row["seat"] in paid_seats}
    return {n: (_pays(row), row["awards"] if state.result else []) for n, row in rows.items()}


def _pays(row: Any) -> dict[str, Any]:
    """The middle card decides the 6 Card Bonus, in a walk of its own."""
    return {spot: w and w["to_player"] for spot, w in row["wagers"].items() if spot != "six_card"}


KEYS: tuple[f.What, ...] = (
    f.BetsOpened(), f.BetsClosed(), f.RoundEnded(), f.VoidCleared(), f.BonusCardTurned(),
    *(kind(n) for kind in (f.HandOpened, f.SeatSettled, f.Played, f.Folded) for n in SEATS),
    *(f.OutcomeInvalidated("fraud", seats) for seats in ((), (2,))),
    *(f.CardCorrected(2, n, card("9c")) for n in (1, 2, 3)),
    *(f.PayCorrected(1, n, 0, "x") for n in SEATS),
)  # fmt: skip
"""What the game keys declare, and codes that matter at the seats of these tables."""


def alone(
    state: TableState, people: tuple[f.Declared, ...], depth: int
) -> Iterator[tuple[object, TableState, tuple[fx.Effect, ...]]]:
    """Every sequence of declarations by one person, with what each step led to."""
    seen: list[TableState] = []
    for what, by in product((*declared(), *KEYS), people):
        after, effects = step(state, f.Fact(what, by, 1000))
        if after is state:
            continue
        yield what, after, effects
        if depth > 1 and not any(after == one for one in seen):
            seen.append(after)
            for then, last, more in alone(after, people, depth - 1):
                yield (what, then), last, more


@pytest.mark.parametrize(("game", "stage", "make"), KNOWN)
def test_a_dealer_alone_takes_nothing_back_once_the_result_is_known(
    game: str, stage: str, make: Make
) -> None:
    state = make(game).state
    tried = 0
    for done, after, effects in alone(state, (DEALER_AT_TABLE,), 2):
        tried += 1
        assert not harms(state, after, effects), (stage, done)
    assert tried > 50


@pytest.mark.parametrize("people", [(SUPERVISOR,), BOTH], ids=["supervisor", "both in one"])
@pytest.mark.parametrize(("game", "stage", "make"), PAID)
def test_no_supervisor_alone_changes_what_a_paid_seat_got(
    game: str, stage: str, make: Make, people: tuple[f.Declared, ...]
) -> None:
    state = make(game).state
    for done, after, _ in alone(state, people, 2):
        assert not changes(state, after), (stage, done)


@pytest.mark.parametrize("game", ["MBS3", "MEGA", "PP6"])
def test_one_question_reported_twice_is_answered_once_and_leaves_nothing_behind(game: str) -> None:
    """A second report asked nothing of its own, and stayed in the record after "play on"."""
    croupier = settling(game)
    croupier.do(f.HandOpened(5))
    croupier.do(f.SeatSettled(5))
    for spot in ("1", "2", "$"):
        croupier.take(5, spot)
    before = got(croupier.state)
    for seats in ((), (2,), ()):
        croupier.do(f.OutcomeInvalidated("fraud", seats), SUPERVISOR)
    while croupier.state.frozen is not None:
        croupier.do(f.SupervisorRuled("play on"), SUPERVISOR)
    assert got(croupier.state) == before
    croupier.settle()
    assert croupier.state.history[-1].result["round_status"] == "settled"


def test_a_count_at_a_paid_seat_is_a_question_for_two_people() -> None:
    croupier = paid("MEGA")
    croupier.do(f.CountFound(2, 2))
    assert croupier.is_in(Phase.FROZEN)
    croupier.do(f.SupervisorRuled("confirmed"), SUPERVISOR)
    assert croupier.state.seats[2].held is not None
    reason = refused(croupier.try_(f.RoundEnded())).reason
    assert reason.startswith("the supervisor has not ruled: Seat 2")
    croupier.do(f.SeatRuled(2, "hand void"), SUPERVISOR)
    effects = croupier.do(f.RulingSeconded())
    given_back = {e.seat: e.cents for e in effects if isinstance(e, fx.PayDifference)}
    assert given_back == {2: -(3 * 500 * 1000 + 100 - 100)}


def test_a_hand_with_an_open_question_is_not_paid() -> None:
    croupier = opened("MEGA")
    croupier.do(f.CountFound(2, 2))
    assert guide(croupier.state, Around()).code == "held"
    reason = refused(croupier.try_(f.SeatSettled(2))).reason
    assert reason.startswith("the supervisor has not ruled: Seat 2")
    croupier.do(f.SeatRuled(2, "play on"), SUPERVISOR)
    croupier.settle()
    assert row(croupier, 2)["hand"] == "royal flush"


def test_one_supervisor_does_not_void_a_ricochet_round_whose_bonus_wagers_are_paid() -> None:
    croupier = acting("RICO")
    croupier.do(f.OutcomeInvalidated("disruption"), SUPERVISOR)
    croupier.do(f.SupervisorRuled("void"), SUPERVISOR)
    assert croupier.is_in(Phase.FROZEN)
    assert "another person" in refused(croupier.try_(f.RulingSeconded(), SUPERVISOR)).reason
    croupier.do(f.RulingSeconded())
    assert croupier.is_in(Phase.VOIDING)


def test_a_royal_flush_stands_until_a_supervisor_confirms_the_count() -> None:
    croupier = opened("MBS3")
    asked = only(croupier.do(f.CountFound(None, 3)), fx.AskSupervisor)
    assert asked.question == "Community cards: 3 reported, the shoe counted 2"
    assert croupier.is_in(Phase.FROZEN)
    croupier.do(f.SupervisorRuled("resume"), SUPERVISOR)
    croupier.settle()
    assert row(croupier, 2)["hand"] == "royal flush"


def test_the_person_who_reports_never_confirms_what_was_paid() -> None:
    """Whoever is both dealer and supervisor is still one person."""
    both = f.Declared("D1", f.Role.CASINO_SUPERVISOR)
    croupier = closed("MBS3")
    croupier.do(f.CountFound(None, 3))
    croupier.do(f.SupervisorRuled("confirmed"), both)
    assert refused(croupier.try_(f.RulingSeconded())).reason.endswith("another person must agree")
    assert croupier.state.history[-1].ruled_anew is None
    croupier.do(f.RulingSeconded(), SECOND)
    assert croupier.state.history[-1].ruled_anew is not None


# --- questions ---------------------------------------------------------------------------------


def test_a_question_asked_while_another_is_open_is_put_after_it() -> None:
    croupier = settling("MBS3")
    croupier.do(f.UnknownCardSeen(), f.Measured("shoe"))
    croupier.do(f.OutcomeInvalidated("disruption"), SUPERVISOR)
    croupier.do(f.SupervisorRuled("resume"), SUPERVISOR)
    frozen = croupier.state.frozen
    assert frozen is not None
    assert "invalidated" in frozen.question
    assert frozen.answers == ("play on", "void")
    croupier.do(f.SupervisorRuled("play on"), SUPERVISOR)
    croupier.settle()
    assert row(croupier, 2)["hand"] == "royal flush"


QUESTIONS: tuple[tuple[f.What, f.Source], ...] = (
    (f.UnknownCardSeen(), f.Measured("shoe")),
    (f.CardFaultReported("foreign", 52), DEALER_AT_TABLE),
    (f.DeckCounted(51), DEALER_AT_TABLE),
    (f.OutcomeInvalidated("disruption"), SUPERVISOR),
    (f.CountOrdered(), SUPERVISOR),
)


@pytest.mark.parametrize("game", ["MBS3", "MEGA", "PP6"])
@pytest.mark.parametrize(("first", "second", "third"), list(product(range(5), repeat=3)))
def test_every_accepted_question_is_put_before_play_goes_on(
    game: str, first: int, second: int, third: int
) -> None:
    croupier = settling(game)
    asked: list[str] = []
    for what, by in (QUESTIONS[first], QUESTIONS[second], QUESTIONS[third]):
        effects = croupier.do(what, by)
        asked += [e.question for e in effects if isinstance(e, fx.AskSupervisor)]
    put: list[str] = []
    while (frozen := croupier.state.frozen) is not None:
        put.append(frozen.question)
        ruling = "resume" if "resume" in frozen.answers else "play on"
        croupier.do(f.SupervisorRuled(ruling), SUPERVISOR)  # type: ignore[arg-type]
    counted = "The cards are to be counted."
    if "The deck holds 51 cards." in asked:  # the count answers the order to count
        asked, put = ([q for q in seen if q != counted] for seen in (asked, put))
    assert sorted(put) == sorted(asked)
    assert croupier.is_in(Phase.SETTLEMENT)


def test_a_stray_hand_answers_no_question_but_the_one_about_its_cards() -> None:
    croupier = table("NSW", {2: "TcTd2h", 5: "3c5d8h"}, "JsQh")
    croupier.prepare()
    croupier.bets({n: base(500) for n in SEATS})
    croupier.deal()
    croupier.do(f.CardsHandled())
    croupier.do(f.CardFaultReported("foreign", 52))
    for _ in range(3):
        croupier.do(f.CardDrawn(croupier.draw()), f.Measured("shoe"))
    croupier.do(f.StrayHandFound(3))
    frozen = croupier.state.frozen
    assert frozen is not None
    assert frozen.question == "A foreign card is reported."


def test_a_seat_with_two_questions_is_asked_twice() -> None:
    croupier = table("MEGA", {2: "TcTd2h", 5: "3c5d8h"}, "JsQh")
    croupier.prepare()
    croupier.bets({n: base(500) for n in SEATS})
    croupier.deal()
    croupier.do(f.CardsHandled())
    croupier.do(f.PlayerAbsent(2, viewed=True))
    croupier.do(f.CountFound(2, 4))
    first = croupier.state.seats[2].held
    effects = croupier.do(f.SeatRuled(2, "play on"), SUPERVISOR)
    second = only(effects, fx.AskSupervisor).question
    assert croupier.state.seats[2].held == second != first
    croupier.do(f.SeatRuled(2, "play on"), SUPERVISOR)
    assert croupier.state.seats[2].held is None


def test_two_disputes_of_a_seat_are_both_kept() -> None:
    croupier = settling("NSW")
    croupier.do(f.DisputeRaised(2, "the cards"))
    croupier.do(f.DisputeRaised(2, "the pay"))
    assert croupier.state.disputes == {2: "the cards; the pay"}


# --- nobody plays ------------------------------------------------------------------------------


@pytest.mark.parametrize("game", EVERY_GAME)
def test_a_round_in_which_nobody_bets_is_called_off_without_a_fault(game: str) -> None:
    croupier = table(game)
    croupier.prepare()
    croupier.do(f.BetsOpened())
    effects = croupier.do(f.RoundCalledOff())
    assert croupier.is_in(Phase.IDLE)
    assert only(effects, fx.PublishRound).record["round"]["seats"] == []
    archive = croupier.state.history[-1]
    assert archive.record["round"].get("events", []) == []
    assert (archive.result["house_net"], archive.result["clauses"]) == (0, [])
    assert croupier.state.deck.shuffled
    croupier.do(f.BetsOpened())
    assert croupier.state.round_no == 2


def test_a_round_with_a_wager_is_not_called_off() -> None:
    croupier = table("MBS3", {2: "TcTd2h"}, "JsQh")
    croupier.prepare()
    croupier.bets({2: base(500)})
    assert refused(croupier.try_(f.RoundCalledOff())).reason == (
        "seat 2 has a wager: the round is played"
    )


def test_nsw_when_the_only_player_leaves_no_round_is_dealt() -> None:
    croupier = table("NSW", {2: "TcTd2h"}, "JsQh")
    croupier.prepare()
    croupier.bets({2: base(500)})
    for spot in ("1", "2", "$"):
        croupier.take(2, spot)
    assert croupier.state.live == ()
    shot = replace(croupier.state)
    card = f.CardDrawn(croupier.draw())
    effects = croupier.do(card, f.Measured("shoe"))
    assert only(effects, fx.RaiseAlarm).code == "card without a wager"
    assert (croupier.state.phase, croupier.state.drawn) == (shot.phase, ())
    croupier.do(f.RoundCalledOff())
    assert croupier.is_in(Phase.IDLE)


# --- who reviews whom --------------------------------------------------------------------------


@pytest.mark.clause("NSW-14.12")
def test_nobody_decides_a_dispute_about_his_own_decision() -> None:
    games = f.Declared("G1", f.Role.GAMES_SUPERVISOR)
    croupier = settling("NSW")
    croupier.do(f.UnknownCardSeen(), f.Measured("shoe"))
    croupier.do(f.SupervisorRuled("resume"), games)
    croupier.do(f.DisputeRaised(2, "the ruling"))
    decision = f.DisputeDecided(2, "it stands")
    assert refused(croupier.try_(decision, games)).reason == (
        "G1 decided this: somebody else reviews it"
    )
    croupier.do(decision, SUPERVISOR)
    croupier.do(f.DisputeRaised(2, "review"))
    other_games = f.Declared("G2", f.Role.GAMES_SUPERVISOR)
    assert refused(croupier.try_(decision, other_games)).reason == (
        "a decided dispute goes to a casino supervisor"
    )
    assert refused(croupier.try_(decision, SUPERVISOR)).clause == "NSW-14.12"
    croupier.do(decision, SECOND)


def test_confirmed_is_what_two_people_said() -> None:
    croupier = closed("MBS3")
    croupier.do(f.CountFound(None, 3))
    confirmed(croupier)
    assert {who.partition(":")[0] for _, _, who in croupier.state.history[-1].corrections} == {
        "D1 and S1"
    }
