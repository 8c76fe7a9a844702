"""Settlement: hands are opened from the dealer's right, paid, and the round is closed."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from controller.rules import events as ev
from controller.rules.cards import PublicMoment, reveal
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.awards import (
    ONLY_VOID,
    revalued,
    stop_for,
    waits_for_server,
    withdrawn,
)
from controller.rules.engine.common import (
    POT,
    POT_SEAT,
    Refusal,
    Step,
    in_round,
    is_supervisor,
    person,
    with_seat,
)
from controller.rules.engine.deal import assign, open_twice
from controller.rules.engine.export import (
    chips_at_opening,
    export_round,
    lifted,
    paid_nets,
    settled_so_far,
    with_result,
)
from controller.rules.engine.freezing import freeze
from controller.rules.engine.state import Archive, Phase, TableState
from controller.rules.hands import HAND_BY_NAME, HAND_NAMES
from controller.rules.paytables import JackpotShare

Claims = tuple[tuple[int, str, int], ...]
KEPT_ROUNDS = 50
PROGRESSIVE = "progressive"
SIX_CARD = "six_card"
OPEN_TWICE = "This card lies open already: one of the two is another card, or a foreign one."
DISPUTE = "dispute"
NAMED_WRONG = ("misread", "confirmed")


def begin_settlement(state: TableState) -> Step:
    """Entered once, when the second community card is open."""
    state, effects = finish_if_known(state)
    return state, (*effects, *next_step(state))


def judged_again(state: TableState, voided: tuple[int, ...]) -> Step:
    """An irregularity while hands are opened and paid: the round is ruled on again.

    A void hand claims nothing, and if it was the last closed one the round is complete.
    """
    before = paid_nets(state, voided)
    first = any(state.seats[number].opened is None for number in voided)
    sent = () if first or to_open(state) else state.claims
    claims = tuple(c for c in state.claims if not state.seats[c[0]].out)
    state = replace(state, claims=claims, record=None, result=None)
    state, claim = tell_claims(state, sent)
    if state.frozen is None:
        state, envy = finish_if_known(state)
        claim = (*claim, *envy)
    if state.result is not None:
        back = paid_back(state, before)
    else:
        gives = ((n, before[n]) for n in voided if before.get(n))
        back = tuple(fx.PayDifference(state.round_no, n, -cents) for n, cents in gives)
    follows = next_step(state) if state.frozen is None else ()
    return state, (*claim, *back, *follows)


def tell_claims(state: TableState, sent: Claims) -> Step:
    """What the server must hear so that its claims are ours; ``sent`` is what it was told before.

    It may have locked them meanwhile: what it locked is withdrawn before anything else is claimed.
    """
    if to_open(state):
        return state, ()
    if any(claim not in sent for claim in state.claims):
        return _claim_again(state, sent)
    still = {seat for seat, _, _ in state.claims}
    gone = tuple(seat for seat, _, _ in sent if seat not in still)
    if not gone:
        return state, ()
    state, more = revalued(withdrawn(state, gone), settled_so_far(state))
    return state, (fx.WithdrawClaim(state.round_no, gone), *more)


def _claim_again(state: TableState, sent: Claims) -> Step:
    claim = fx.ClaimJackpot(state.round_no, state.claims)
    if not sent:
        return state, (claim,)
    for seat, hand, _ in sent:
        if state.seats[seat].settled:
            text = f"seat {seat}: its {hand} is paid, and the claims of the round change"
            return stop_for(state, seat, text, ONLY_VOID)
    seats = tuple(seat for seat, _, _ in sent)
    state = replace(withdrawn(state, seats), jackpot=None, reset=None)
    return state, (fx.WithdrawClaim(state.round_no, seats), claim)


def paid_back(state: TableState, before: dict[int, int]) -> tuple[fx.Effect, ...]:
    """Seat by seat, what a seat already paid must now get or give back (AMB-V07)."""
    nets = ((row["seat"], row["net"]) for row in state.result["seats"] if row["seat"] in before)
    return tuple(
        fx.PayDifference(state.round_no, seat, net - before[seat])
        for seat, net in nets
        if net is not None and net != before[seat]
    )


def to_open(state: TableState) -> list[int]:
    return [n for n in reversed(state.live) if state.seats[n].opened is None]


def to_settle(state: TableState) -> list[int]:
    """Open hands that are not settled, in order."""
    waiting = [n for n in reversed(state.live) if state.seats[n].opened is not None]
    if bonus_walk(state):
        return [n for n in waiting if _six_card(state, n) and not state.seats[n].bonus_settled]
    return [n for n in waiting if not state.seats[n].settled]


def bonus_walk(state: TableState) -> bool:
    """The middle card is open: the 6 Card Bonus is settled in a walk of its own."""
    return state.bonus is not None


def _six_card(state: TableState, number: int) -> bool:
    return bool(state.seats[number].locked.get(SIX_CARD))


def _awaits_jackpot(state: TableState, number: int) -> bool:
    return number in waits_for_server(state)


def next_step(state: TableState) -> tuple[fx.Effect, ...]:
    """What the dealer does next."""
    due = [n for n in to_settle(state) if not _awaits_jackpot(state, n)]
    if due:
        return (fx.SetLamp(due[0], "your turn"),)
    if not bonus_walk(state) and (closed := to_open(state)):
        return (fx.Prompt("open hand", closed[0]), fx.SetLamp(closed[0], "your turn"))
    if waiting := to_settle(state):
        return (fx.Prompt("wait jackpot", waiting[0]),)
    if _bonus_due(state):
        return (fx.Prompt("turn bonus"),)
    return (fx.Prompt("end round"),)


def _bonus_due(state: TableState) -> bool:
    return (
        state.rules.book.bonus_card
        and state.bonus is None
        and any(_six_card(state, n) for n in state.live)
    )


# --- opening -----------------------------------------------------------------------------------


def hand_opened(state: TableState, what: f.HandOpened, _: f.Fact) -> Step:
    clause = state.rules.book.round_clauses.settle
    seat = in_round(state, what.seat)
    if seat.out:
        raise Refusal(f"seat {what.seat} is void: its cards stay closed", clause)
    closed = to_open(state)
    if not closed or closed[0] != what.seat:
        turn = f"open seat {closed[0]} first" if closed else "every hand is open"
        raise Refusal(turn, clause)
    _check_ruled(state, what.seat)
    due = [n for n in to_settle(state) if not _awaits_jackpot(state, n)]
    if due:
        raise Refusal(f"settle seat {due[0]} first", clause)
    hidden = assign(state).seats[what.seat]
    if len(hidden) != state.rules.book.card_count:
        raise Refusal(f"seat {what.seat} was dealt {len(hidden)} cards: report the count", clause)
    dealt_open = state.swapped.get(what.seat, what.seat) in state.face_up
    if not dealt_open and (twice := open_twice(state, hidden)) is not None:
        return freeze(state, OPEN_TWICE, NAMED_WRONG, ev.ForeignCard(), (twice,))
    opened = tuple(reveal(c, PublicMoment.HAND_OPENED) for c in hidden)
    state = with_seat(state, what.seat, opened=opened, **chips_at_opening(state, what.seat))
    row = row_of(settled_so_far(state), what.seat)
    state = note_claim(state, what.seat, row)
    effects: list[fx.Effect] = [*show_hand(state, what.seat, row)]
    if state.magic_card in opened and PROGRESSIVE in seat.locked:
        effects.append(fx.ShowMagicHit((what.seat,)))
    if not to_open(state) and state.claims and state.jackpot is None:
        effects.append(fx.ClaimJackpot(state.round_no, state.claims))
    state, more = finish_if_known(state)
    return state, (*effects, *more, *next_step(state))


def _check_ruled(state: TableState, number: int) -> None:
    """A seat with an open question is neither opened nor paid, and no round ends over it."""
    if (question := state.seats[number].held) is not None:
        clause = state.rules.book.round_clauses.settle
        raise Refusal(f"the supervisor has not ruled: {question}", clause)


def row_of(result: Any, number: int) -> Any:
    return next(row for row in result["seats"] if row["seat"] == number)


def note_claim(state: TableState, number: int, row: Any) -> TableState:
    """A share of the jackpot is claimed from the server; the table never pays it on its own."""
    table, wager = state.rules.book.progressive, row["wagers"].get(PROGRESSIVE)
    if table is None or wager is None or row["hand"] is None or wager["status"] == "refused":
        return state
    pay = table.pay(HAND_BY_NAME[row["hand"]])
    if not isinstance(pay, JackpotShare):
        return state
    return replace(state, claims=(*state.claims, (number, row["hand"], pay.percent)))


def show_hand(state: TableState, number: int, row: Any) -> tuple[fx.Effect, ...]:
    seat = state.seats[number]
    pays = {**row, "awards": [a for a in row["awards"] if a["kind"] != "envy"]}
    pays.pop("net")
    if _awaits_jackpot(state, number):
        pays["wagers"] = {**pays["wagers"], PROGRESSIVE: None}
    wins = any(w and w["win"] for w in pays["wagers"].values()) or pays["awards"]
    owed = tuple(
        fx.ShowOwed(number, spot, w["placed"])
        for spot, w in row["wagers"].items()
        if w["status"] == "lose" and lifted(state, number, seat, spot)
    )
    return (
        fx.ShowHand(number, seat.opened or (), row["hand"], pays),
        fx.SetLamp(number, "pay" if wins else "collect"),
        *owed,
    )


def bonus_card_turned(state: TableState, _what: f.BonusCardTurned, _: f.Fact) -> Step:
    if not _bonus_due(state):
        raise Refusal("nobody has a 6 Card Bonus: the middle card stays closed", "PP6-M7a")
    if to_open(state) or to_settle(state):
        raise Refusal("first settle the main wagers and Pair Plus", "PP6-M7a")
    hidden = assign(state).bonus
    if hidden is None:
        raise Refusal("the middle card has not come from the device", "PP6-M1c")
    if open_twice(state, (hidden,)) is not None:
        return freeze(state, OPEN_TWICE, NAMED_WRONG, ev.ForeignCard(), (hidden,))
    card = reveal(hidden, PublicMoment.BONUS_CARD_TURNED)
    state, effects = finish_if_known(replace(state, bonus=card))
    shown: tuple[fx.Effect, ...] = ()
    for number in to_settle(state):
        row = row_of(state.result, number)
        bonus = {**row, "wagers": {SIX_CARD: row["wagers"][SIX_CARD]}}
        shown += show_hand(state, number, bonus)
    return state, (fx.ShowBonusCard(card), *effects, *shown, *next_step(state))


def finish_if_known(state: TableState) -> Step:
    """Once every hand is open and every amount known, the whole round is settled."""
    waits = to_open(state) or waits_for_server(state) or _bonus_due(state)
    if waits or state.result is not None:
        return state, ()
    state = with_result(state)
    envy = tuple(
        fx.ShowAward(row["seat"], award["kind"], award["amount"])
        for row in state.result["seats"]
        for award in row["awards"]
        if award["kind"] == "envy"
    )
    return state, envy


# --- paying ------------------------------------------------------------------------------------


def seat_settled(state: TableState, what: f.SeatSettled, fact: f.Fact) -> Step:
    clause = state.rules.book.round_clauses.settle
    seat = in_round(state, what.seat)
    due = [n for n in to_settle(state) if not _awaits_jackpot(state, n)]
    if _awaits_jackpot(state, what.seat):
        raise Refusal("wait: the jackpot is not locked", f"{state.rules.book.key}-4.2-T1")
    if not due or due[0] != what.seat:
        turn = f"settle seat {due[0]} first" if due else "no open hand is unsettled"
        raise Refusal(turn, clause)
    _check_ruled(state, what.seat)
    if bonus_walk(state):
        state = with_seat(state, what.seat, bonus_settled=True)
        return state, (fx.SetLamp(what.seat, "off"), *next_step(state))
    row = row_of(settled_so_far(state), what.seat)
    owed = [
        s for s in sorted(seat.lifted or ()) if row["wagers"].get(s, {}).get("status") == "lose"
    ]
    if owed and not is_supervisor(fact):
        reason = f"seat {what.seat} owes {', '.join(owed)}: the supervisor closes it"
        raise Refusal(reason, state.rules.book.round_clauses.late_withdrawal)
    engine = row["hand"]
    called = seat.called
    if what.called is not None and HAND_NAMES[what.called] != engine:
        if not is_supervisor(fact):
            raise Refusal(
                f"dealer calls {HAND_NAMES[what.called]}, cards say {engine}: "
                "the supervisor's key is needed",
                "NSW-9.4",
            )
        called = HAND_NAMES[what.called]
        text = f"seat {what.seat}: dealer calls {called}, cards say {engine}"
        both = ev.SupervisorConfirmed(person(fact), text)
        state = replace(state, events=(*state.events, both))
        state = state if state.result is None else with_result(state)
    state = with_seat(state, what.seat, settled=True, called=called)
    return state, (fx.SetLamp(what.seat, "off"), *next_step(state))


# --- closing -----------------------------------------------------------------------------------


def opened_too_early(state: TableState, _what: f.BetsOpened, _: f.Fact) -> Step:
    """The round lasts until every seat is settled; the refusal names those that are not."""
    waiting = [n for n in reversed(state.live) if n in (*to_open(state), *to_settle(state))]
    named = ", ".join(str(n) for n in waiting)
    reason = f"seat {named}: not settled yet" if named else "end the round first"
    raise Refusal(reason, state.rules.book.round_clauses.round)


def round_ended(state: TableState, _what: f.RoundEnded, _: f.Fact) -> Step:
    clause = state.rules.book.round_clauses.round
    if closed := to_open(state):
        raise Refusal(f"seat {closed[0]} has not been opened", clause)
    if waiting := to_settle(state):
        raise Refusal(f"seat {waiting[0]} has not been settled", clause)
    for number in state.live:
        _check_ruled(state, number)
    if state.result is None:
        raise Refusal("the middle card has not been turned", "PP6-M7a")
    if state.disputes:
        raise Refusal(f"seat {min(state.disputes)}: a dispute is open", "NSW-14.12")
    for row in state.result["seats"]:
        check_collected(state, row, clause)
    return close_round(state)


def check_collected(state: TableState, row: Any, clause: str) -> None:
    """A lost wager must have been off its spot once (AMB-S06)."""
    seat = state.seats[row["seat"]]
    for spot, wager in row["wagers"].items():
        key = (row["seat"], spot)
        if wager["status"] != "lose" or spot == PROGRESSIVE or spot in seat.declared:
            continue
        if spot not in seat.emptied and state.spots.get(key, 0):
            raise Refusal(f"seat {row['seat']}: collect the wager on {spot}", clause)


def close_round(state: TableState) -> Step:
    record = export_round(state)
    archive = Archive(state.round_no, record, state.result)
    idle, notices = _idle(state)
    state = replace(
        state,
        phase=Phase.IDLE,
        in_play=False,
        history=(*state.history, archive)[-KEPT_ROUNDS:],
        idle=idle,
    )
    effects: list[fx.Effect] = [fx.PublishRound(state.round_no, record, archive.result)]
    effects += [fx.SetLamp(n, "off") for n in state.seats]
    check = (fx.Prompt("check deck"),) if state.deck.suspect else ()
    vacancy = fx.StartTimer("vacancy", state.rules.table.vacancy_ms)
    return state, (*effects, *notices, *check, fx.Prompt("shuffle"), vacancy)


def _idle(state: TableState) -> tuple[dict[int, int], tuple[fx.Effect, ...]]:
    """Rounds without a wager at a seat while all others were in use (NSW-14.9)."""
    if state.rules.book.in_play_from_first_card and not state.in_play:
        return dict(state.idle), ()  # betting called off before the first card is no round played
    everybody = set(range(1, state.rules.table.seats + 1))
    empty = everybody - set(state.seats)
    idle = dict.fromkeys(everybody, 0)
    notices: tuple[fx.Effect, ...] = ()
    if len(empty) == 1:
        (number,) = empty
        idle[number] = state.idle.get(number, 0) + 1
        if idle[number] >= state.rules.table.idle_rounds:
            notices = (fx.Prompt("idle", number, str(idle[number])),)
    return idle, notices


def to_clear(state: TableState) -> list[int]:
    """Seats, and 0 for the pot, whose chips must leave the felt before a void round ends."""
    if state.rules.table.after_void != "clear":
        return []
    carried = ((POT_SEAT, POT), state.carried)  # waits for the next round
    return sorted({one[0][0] for one in state.spots.items() if one[1] and one != carried})


def void_cleared(state: TableState, _what: f.VoidCleared, _: f.Fact) -> Step:
    if to_clear(state):
        raise Refusal("wagers still lie on the table", state.rules.book.round_clauses.round)
    return close_round(state)


def dispute_raised(state: TableState, what: f.DisputeRaised, _: f.Fact) -> Step:
    earlier = state.disputes.get(what.seat)
    about = what.about if earlier in (None, what.about) else f"{earlier}; {what.about}"
    state = replace(state, disputes={**state.disputes, what.seat: about})
    return state, (fx.Prompt("dispute", what.seat, what.about),)


def _check_reviewer(state: TableState, number: int, fact: f.Fact) -> None:
    """Nobody reviews his own decision, and a review of a review is the casino supervisor's."""
    about = [(who, sort) for n, who, sort in state.decided_by if n in (0, number)]
    if person(fact) in [who for who, _ in about]:
        reason = f"{person(fact)} decided this: somebody else reviews it"
        raise Refusal(reason, "NSW-14.12")
    above = isinstance(fact.by, f.Declared) and fact.by.role is f.Role.CASINO_SUPERVISOR
    if any(sort == DISPUTE for _, sort in about) and not above:
        raise Refusal("a decided dispute goes to a casino supervisor", "NSW-14.12")


def dispute_decided(state: TableState, what: f.DisputeDecided, fact: f.Fact) -> Step:
    if what.seat not in state.disputes:
        raise Refusal(f"seat {what.seat} has no open dispute", "NSW-14.12")
    _check_reviewer(state, what.seat, fact)
    disputes = {n: text for n, text in state.disputes.items() if n != what.seat}
    role = fact.by.role.value if isinstance(fact.by, f.Declared) else fact.by.device
    text = f"{person(fact)} ({role}): dispute of seat {what.seat}: {what.decision}"
    return replace(state, disputes=disputes, notes=(*state.notes, text)), ()
