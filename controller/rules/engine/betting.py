"""From the opening call to the lock: which wagers are in the round."""

from __future__ import annotations

from dataclasses import replace

from controller.rules import events as ev
from controller.rules.book import BASE_SPOTS, BONUS_SPOTS, SPOT_1, SPOT_2
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.awards import check_awards, kept_awards
from controller.rules.engine.common import (
    POT,
    POT_SEAT,
    Refusal,
    Step,
    person,
    reading,
)
from controller.rules.engine.deal import DEALER, must_cut, next_place
from controller.rules.engine.export import money_settings, with_result
from controller.rules.engine.irregular import happened, note
from controller.rules.engine.settlement import close_round
from controller.rules.engine.state import Phase, Seat, TableState
from controller.rules.wagers import broken_clauses
from record.kit.money import cents_text, dollars

PROGRESSIVE = "progressive"
NOTES_KEPT = 64
"""Notes of earlier rounds that stay in the state; the journal has them all."""


def wagers_of(state: TableState, number: int) -> dict[str, int]:
    """What lies on a seat's spots now, the progressive counted from its credits."""
    book = state.rules.book
    found = {s: c for s in book.wagers if (c := reading(state, number, s))}
    if book.progressive is not None and state.credits.get(number):
        found[PROGRESSIVE] = state.credits[number] * state.rules.table.credit_cents
    return found


def base_is_valid(state: TableState, number: int) -> bool:
    """Do the obligatory wagers of a seat entitle it to cards?"""
    book = state.rules.book
    wagers = {s: c for s, c in wagers_of(state, number).items() if s not in _optional(state)}
    if book.circles_optional and not state.rules.table.circles_optional and len(wagers) < 3:
        return False  # the operator has made circles 1 and 2 obligatory (AMB-W01)
    broken = broken_clauses(book, money_settings(state), wagers)
    # Posted limits do not keep a wager out of the round (NSW-6.2, NSW-6.3).
    return not [clause for clause in broken if clause != "NSW-6.1"]


def _optional(state: TableState) -> tuple[str, ...]:
    book = state.rules.book
    if book.family == "ricochet":
        return BONUS_SPOTS
    return (PROGRESSIVE, *book.side)


# --- opening -----------------------------------------------------------------------------------


def bets_opened(state: TableState, _what: f.BetsOpened, fact: f.Fact) -> Step:
    check_awards(state)
    state = _next_deck(state)
    _check_cards(state)
    rules = state.rules
    closing = state.signs.get("closing")
    if closing is not None and fact.at_ms - closing >= rules.table.notice_ms:
        raise Refusal("the table is closed: its notice has run out", "NSW-14.8")
    limits = state.next_limits or (state.min_wager, state.max_wager)
    state = _fresh_round(state, limits)
    effects: list[fx.Effect] = [fx.Prompt("place bets")]
    for number in range(1, rules.table.seats + 1):
        effects.append(fx.SetLamp(number, "fault" if number in state.excluded else "open"))
    effects += acceptors(state)
    if rules.book.progressive is not None:
        effects.append(fx.ShowJackpot(state.meter, stale=not state.link_up))
    if rules.book.family == "ricochet" and reading(state, POT_SEAT, POT) != rules.money.ante:
        effects.append(fx.Prompt("dealer ante"))
    effects.append(fx.StartTimer("vacancy", rules.table.vacancy_ms))
    return state, tuple(effects)


def acceptors(state: TableState) -> tuple[fx.Effect, ...]:
    """Which acceptors take a credit while bets are open: those of seats that may wager one."""
    rules = state.rules
    if rules.book.progressive is None:
        return ()
    any_seat = not rules.book.acceptor_after_base
    return tuple(
        fx.ArmAcceptor(n, state.takes_progressive and (any_seat or base_is_valid(state, n)))
        for n in range(1, rules.table.seats + 1)
    )


def _fresh_round(state: TableState, limits: tuple[int | None, int | None]) -> TableState:
    """Everything that belongs to one round goes; what belongs to the table stays."""
    kept = TableState(
        rules=state.rules,
        phase=Phase.BETTING,
        round_no=state.round_no + 1,
        # Nobody reads a declared wager off its spot again: it holds for its own round.
        spots={k: cents for k, cents in state.spots.items() if k not in state.declared},
        excluded=state.excluded,
        meter=state.meter,
        link_up=state.link_up,
        progressive_closed=state.progressive_closed,
        carried=state.carried,
        deck=state.deck,
        min_wager=limits[0],
        max_wager=limits[1],
        signs=state.signs,
        warnings=state.warnings,
        idle=state.idle,
        history=state.history,
        disputes=state.disputes,
        decided_by=tuple(d for d in state.decided_by if d[0] in state.disputes),
        awards=kept_awards(state),
    )
    return replace(kept, notes=state.notes[-NOTES_KEPT:])


def _next_deck(state: TableState) -> TableState:
    """The deck that was shuffled in the device while the other was in play (NSW-3.2.1)."""
    deck = state.deck
    if deck.shuffled or deck.suspect or deck.in_device not in deck.seals:
        return state
    return replace(state, deck=replace(deck, name=deck.in_device, in_device=None, shuffled=True))


def _check_cards(state: TableState) -> None:
    deck, book = state.deck, state.rules.book
    if deck.suspect:
        raise Refusal("the deck must be checked for missing and foreign cards", "NSW-12.9.3")
    if book.deck_check_clause and deck.name not in deck.seals:
        raise Refusal("the deck in play has no passed check", book.deck_check_clause)
    if deck.colours is not None and deck.colours[0] == deck.colours[1]:
        raise Refusal("both decks have the same back colour", "NSW-3.2.2")
    if state.rules.table.shuffle_required and not deck.shuffled:
        raise Refusal("the cards must be shuffled", book.shuffle_clause or "NSW-4.1")
    if must_cut(state.rules) and not deck.cut:
        raise Refusal("the cards must be cut and loaded", "NSW-4.2")


# --- while bets are open -----------------------------------------------------------------------


def _check_open(state: TableState) -> None:
    if not state.takes_progressive:
        why = state.progressive_closed or "the link is down"
        clause = state.rules.book.clauses.side_needs_base
        raise Refusal(f"{why}: the progressive is closed", clause)


def credits_only(state: TableState, spot: str, cents: int) -> None:
    """Where credits are taken by an acceptor, nothing else makes a progressive wager."""
    if cents and spot == PROGRESSIVE and state.rules.book.acceptor_after_base:
        raise Refusal("chips are no credits: the acceptor takes the wager", "MEGA-3.5.1")


def wager_read(state: TableState, what: f.WagerRead, _: f.Fact) -> Step:
    credits_only(state, what.spot, what.cents)
    state = replace(
        state,
        spots={**state.spots, (what.seat, what.spot): what.cents},
        declared=state.declared - {(what.seat, what.spot)},
    )
    if what.seat == POT_SEAT:
        return state, ()
    if what.seat in state.excluded and what.cents:
        back = fx.ReturnWager(what.seat, what.spot, what.cents, "NSW-12.12.4")
        return state, (fx.SetLamp(what.seat, "fault"), back)
    state, effects = _advise(state, what.seat)
    if what.spot == PROGRESSIVE and what.cents and not state.takes_progressive:
        effects = (*effects, _returned(state, what.seat, what.spot, what.cents))
    return state, effects


def _advise(state: TableState, number: int) -> Step:
    """Lamps and prompts before the close: a help, nothing more (NSW-6.4)."""
    wagers = wagers_of(state, number)
    valid = base_is_valid(state, number)
    effects: list[fx.Effect] = []
    if state.rules.book.acceptor_after_base:
        effects.append(fx.ArmAcceptor(number, valid and state.takes_progressive))
        if not valid and state.credits.get(number) and state.phase is Phase.BETTING:
            # The base wagers went: the credits go back too (AMB-W17). After the lock they are
            # spent: contributed, lost, paid or returned by the settlement.
            cents = wagers[PROGRESSIVE]
            clause = state.rules.book.clauses.side_needs_base
            effects.append(fx.ReturnWager(number, PROGRESSIVE, cents, clause))
            state = replace(state, credits={**state.credits, number: 0})
    broken = broken_clauses(state.rules.book, money_settings(state), wagers) if wagers else []
    unit = state.rules.table.wager_unit
    above = (wagers[s] - (state.min_wager or 0) for s in BASE_SPOTS if s in wagers)
    if any(cents % unit for cents in above if cents > 0):
        broken.append("NSW-6.1")
    if wagers and not valid and not broken:
        broken.append(state.rules.book.clauses.equal)
    effects.append(fx.SetLamp(number, "fault" if broken else "open" if not wagers else "live"))
    if broken:
        effects.append(_advice(state, number, broken))
    return state, tuple(effects)


def _advice(state: TableState, number: int, broken: list[str]) -> fx.Effect:
    """What is wrong with a seat's wagers, in words where there are some."""
    clauses = state.rules.book.clauses
    if clauses.equal in broken and state.rules.book.family == "let it ride":
        return fx.Prompt("unequal", number, ", ".join(broken))
    if any(clause in broken for clause in clauses.side_at_most_base.values()):
        return fx.Prompt("bonus above", number, ", ".join(broken))
    return fx.Prompt("limit", number, ", ".join(broken))


def credits_read(state: TableState, what: f.CreditsRead, _: f.Fact) -> Step:
    book, most = state.rules.book, state.rules.table.max_credits
    if book.progressive is None:
        raise Refusal("this game has no progressive wager", book.clauses.equal)
    if what.credits:
        _check_open(state)
    if what.credits > most:
        raise Refusal(f"at most {most} credits a seat", book.clauses.side_needs_base)
    if what.credits and book.acceptor_after_base and not base_is_valid(state, what.seat):
        raise Refusal(
            f"seat {what.seat}: credits come after the base wagers", book.clauses.side_needs_base
        )
    return replace(state, credits={**state.credits, what.seat: what.credits}), ()


def wager_declared(state: TableState, what: f.WagerDeclared, fact: f.Fact) -> Step:
    if what.spot not in state.rules.book.wagers or what.cents < 0:
        said = f"no such wager: {what.spot} {dollars(what.cents)}"
        raise Refusal(said, state.rules.book.clauses.equal)
    credits_only(state, what.spot, what.cents)
    key = (what.seat, what.spot)
    state = note(state, fact, f"declared seat {what.seat} {what.spot}: {what.cents}")
    if what.spot == PROGRESSIVE:
        if what.cents:
            _check_open(state)
        count, rest = divmod(what.cents, state.rules.table.credit_cents)
        if rest or count > state.rules.table.max_credits:
            raise Refusal("not a number of credits", state.rules.book.clauses.side_needs_base)
        state = replace(state, credits={**state.credits, what.seat: count})
    state = replace(state, spots={**state.spots, key: what.cents}, declared=state.declared | {key})
    return _advise(state, what.seat)


def seat_left_out(state: TableState, what: f.SeatLeftOut, _: f.Fact) -> Step:
    clause = state.rules.book.clauses.equal
    wagers = wagers_of(state, what.seat)
    effects = [fx.ReturnWager(what.seat, s, c, clause) for s, c in wagers.items()]
    state = replace(
        state, left_out=state.left_out | {what.seat}, credits={**state.credits, what.seat: 0}
    )
    return state, (*effects, fx.SetLamp(what.seat, "fault"))


def wager_refused(state: TableState, what: f.WagerRefused, fact: f.Fact) -> Step:
    """A supervisor refuses a wager before the first card and has it removed."""
    wagers = wagers_of(state, what.seat)
    state = note(state, fact, f"refused seat {what.seat}: {what.reason}")
    effects: tuple[fx.Effect, ...] = tuple(
        fx.ReturnWager(what.seat, s, c, "NSW-14.11") for s, c in wagers.items()
    )
    locked = state.seats.get(what.seat)
    if locked is not None and PROGRESSIVE in locked.locked:
        # It was posted at the lock, and it goes back.
        stake = ((what.seat, locked.locked[PROGRESSIVE]),)
        effects += (fx.ReverseContributions(state.round_no, stake),)
    seats = {n: s for n, s in state.seats.items() if n != what.seat}
    left_out, kept = state.left_out | {what.seat}, {**state.credits, what.seat: 0}
    return replace(state, left_out=left_out, seats=seats, credits=kept), effects


def seat_excluded(state: TableState, what: f.SeatExcluded, fact: f.Fact) -> Step:
    state = note(state, fact, f"excluded seat {what.seat}: {what.reason}")
    return replace(state, excluded=state.excluded | {what.seat}), (fx.SetLamp(what.seat, "fault"),)


def seat_readmitted(state: TableState, what: f.SeatReadmitted, fact: f.Fact) -> Step:
    state = note(state, fact, f"readmitted seat {what.seat}")
    back = {what.seat}
    state = replace(state, excluded=state.excluded - back, left_out=state.left_out - back)
    return state, (fx.SetLamp(what.seat, "open"),)


# --- the lock ----------------------------------------------------------------------------------


def bets_closed(state: TableState, _what: f.BetsClosed, _: f.Fact) -> Step:
    """One snapshot of all spots. A seat that is not valid holds the lock until it is cured."""
    clause = state.rules.book.clauses.equal
    for number in _betting(state):
        _check_printed(state, number)
    invalid = [n for n in _betting(state) if not base_is_valid(state, n)]
    if invalid and not state.rules.book.correct_unequal:
        named = ", ".join(str(n) for n in invalid)
        raise Refusal(f"seat {named}: wagers are not valid; correct or leave out", clause)
    if not [n for n in _betting(state) if n not in invalid or state.rules.book.correct_unequal]:
        raise Refusal("no seat has a valid wager", clause)
    _check_pot(state)
    return lock(state)


def _check_printed(state: TableState, number: int) -> None:
    """A wager outside the limits of the book, or of the house within them (PP6-W1 to W3).

    A bonus above the $ wager but within them is no such case: the part above goes back.
    """
    for spot, cents in wagers_of(state, number).items():
        limit = state.rules.book.wager_limits.get(spot)
        if limit is None or spot in (SPOT_1, SPOT_2) or limit.least <= cents <= limit.most:
            continue  # a circle must equal the $ wager, whatever its own limits
        within = f"{cents_text(limit.least)} to {cents_text(limit.most)}"
        said = f"seat {number}: {spot} holds {cents_text(cents)}, the limits are {within}; "
        raise Refusal(f"{said}correct or leave out", limit.clause)


def round_called_off(state: TableState, _what: f.RoundCalledOff, _: f.Fact) -> Step:
    """Nobody bets, or the last player took the wagers back: the round ends as it began."""
    clause = state.rules.book.round_clauses.round
    betting = _betting(state) if state.phase is Phase.BETTING else list(state.live)
    if betting:
        raise Refusal(f"seat {betting[0]} has a wager: the round is played", clause)
    effects: list[fx.Effect] = []
    if state.phase is Phase.BETTING:
        for number in range(1, state.rules.table.seats + 1):
            wagers = wagers_of(state, number)
            effects += [_returned(state, number, s, c) for s, c in wagers.items()]
    if state.rules.book.progressive is not None:
        effects += [fx.ArmAcceptor(n, False) for n in range(1, state.rules.table.seats + 1)]
    state, closed = close_round(with_result(replace(state, credits={})))
    return state, (*effects, *closed)


def _betting(state: TableState) -> list[int]:
    """Seats with an obligatory wager down that are neither excluded nor left out."""
    return [
        n
        for n in range(1, state.rules.table.seats + 1)
        if n not in state.excluded | state.left_out
        and any(s not in _optional(state) for s in wagers_of(state, n))
    ]


def _check_pot(state: TableState) -> None:
    ante = state.rules.money.ante or 0
    due = ante + state.carried
    if state.rules.book.family == "ricochet" and reading(state, POT_SEAT, POT) != due:
        carried = f" and {dollars(state.carried)} carried over" if state.carried else ""
        raise Refusal(f"the pot must hold the dealer's ante of {dollars(ante)}{carried}", "RICO-1a")


def lock(state: TableState) -> Step:
    rules = state.rules
    effects: list[fx.Effect] = []
    seats: dict[int, Seat] = {}
    betting = _betting(state)
    for number in range(1, rules.table.seats + 1):
        wagers = wagers_of(state, number)
        if number not in betting:
            # Left out, or nothing but optional wagers, which need the base wagers: all goes back.
            effects += [_returned(state, number, s, c) for s, c in wagers.items()]
            continue
        valid = base_is_valid(state, number)
        kept = {s: c for s, c in wagers.items() if _accepted(state, s, valid)}
        effects += [_returned(state, number, s, c) for s, c in wagers.items() if s not in kept]
        declared = frozenset(s for n, s in state.declared if n == number)
        seats[number] = Seat(kept, declared=declared, unequal=not valid)
        effects.append(fx.SetLamp(number, "live" if valid else "fault"))
        if not valid:
            effects.append(fx.Prompt("correct or fold", number))
    state = replace(state, phase=Phase.LOCKED, seats=seats)
    contributions = tuple(
        (n, s.locked[PROGRESSIVE]) for n, s in seats.items() if PROGRESSIVE in s.locked
    )
    if rules.book.progressive is not None:
        effects += [fx.ArmAcceptor(n, False) for n in range(1, rules.table.seats + 1)]
        if contributions:
            effects.append(fx.PostContributions(state.round_no, contributions))
    if request := selection_due(state):
        effects.append(request)
    return state, (*effects, deal_prompt(state))


def selection_due(state: TableState) -> fx.RequestSelection | None:
    """What to ask the selector for: at the lock, and again after a restart before the first card
    or before a committed draw was told."""
    rules = state.rules
    told_later = state.commitment is not None and state.phase in (Phase.DEALING, Phase.DECISION_1)
    waits = state.phase is Phase.LOCKED or told_later
    if rules.book.magic_card is None or state.revealed or not waits:
        return None
    pool = tuple(n for n, seat in state.seats.items() if PROGRESSIVE in seat.locked)
    if rules.table.lucky_pool == "all_seats":
        pool = tuple(range(1, rules.table.seats + 1))
    return fx.RequestSelection(state.round_no, pool)


def _accepted(state: TableState, spot: str, base_valid: bool) -> bool:
    """An optional wager needs valid base wagers; in Ricochet its pay table, else the link."""
    if spot not in _optional(state):
        return True
    if spot == PROGRESSIVE and not state.takes_progressive:
        return False
    table = state.rules.table
    offered = {"rapid_fire": table.rapid_fire, "hedge": table.hedge}.get(spot, True)
    return base_valid and offered


def _returned(state: TableState, number: int, spot: str, cents: int) -> fx.Effect:
    clause = state.rules.book.clauses.side_needs_base or state.rules.book.clauses.equal
    return fx.ReturnWager(number, spot, cents, clause)


def deal_prompt(state: TableState) -> fx.Effect:
    following = next_place(state)
    return fx.Prompt("deal dealer") if following == DEALER else fx.Prompt("deal seat", following)


def locked_by_card(state: TableState, fact: f.Fact) -> Step:
    """A card came before the closing call: the wagers are frozen as they lie (AMB-W06)."""
    state, effects = lock(state)
    state = note(state, fact, "first card before the closing call")
    for number, seat in sorted(state.seats.items()):
        if seat.unequal and not state.rules.book.correct_unequal:
            state, more = happened(state, ev.UnequalWagers(number, False, "refused"))
            effects = (*effects, *more)
    alarm = fx.RaiseAlarm(
        "card before close", None, person(fact), state.rules.book.round_clauses.close
    )
    return state, (*effects, alarm, fx.Prompt("press close"))


def close_confirmed(state: TableState, _what: f.BetsClosed, fact: f.Fact) -> Step:
    """The closing call after an implicit lock: noted, it changes nothing."""
    return note(state, fact, "closing call made"), ()


def selection_committed(state: TableState, what: f.SelectionCommitted, _: f.Fact) -> Step:
    if state.rules.book.magic_card is None:
        raise Refusal("this game has no selections", state.rules.book.round_clauses.close)
    if state.commitment is not None:
        raise Refusal("a selection is never drawn again", "MEGA-4.3")
    return replace(state, commitment=what.digest), ()


def selection_revealed(state: TableState, what: f.SelectionRevealed, _: f.Fact) -> Step:
    if state.commitment is None:
        raise Refusal("nothing was committed before the first card: no selection", "MEGA-4.3")
    if state.revealed:
        raise Refusal("a selection is never drawn again", "MEGA-4.3")
    magic, lucky = what.magic_card, what.lucky_seat
    state = replace(state, magic_card=magic, lucky_seat=lucky, revealed=True)
    return state, (fx.ShowSelection(what.magic_card, what.lucky_seat),)
