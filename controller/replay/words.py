"""Facts and effects in plain English, with the clause behind each; for people at the table."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, NamedTuple

from controller.rules import events as ev
from controller.rules import rulings as r
from controller.rules.cards import NAMES, Card
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine import prompts
from controller.rules.engine.authority import AUTHORITY
from controller.rules.engine.deal import DEALER
from controller.rules.engine.doubts import sentence
from controller.rules.engine.state import TableState
from controller.rules.explain import explain
from controller.rules.hands import HAND_NAMES
from controller.rules.rulings import rule_on
from record.kit.money import cents_text
from record.kit.words import counted
from record.rounds import ending, reason

CHOICES: Final = {"ride": "lets it ride", "withdraw": "takes it back"}
CONSOLE: Final = "console"
"""The reason in facts that were declared with keys, which have no letters."""
SPOTS: Final = {
    "$": "$", "1": "wager 1", "2": "wager 2", "pair_plus": "Pair Plus", "six_card": "6 Card Bonus",
    "rapid_fire": "Rapid Fire", "hedge": "Hedge", "ante": "the ante", "play": "the play wager",
    "pot": "the pot", "progressive": "the progressive",
}  # fmt: skip
RULINGS: Final[Mapping[type, str]] = {
    r.VoidRound: "void round",
    r.AskSupervisor: "ask supervisor",
    r.VoidHand: "void hand",
    r.HoldSeat: "hold seat",
    r.RefusePart: "refuse part",
    r.KeepLive: "keep live",
    r.RideFrom: "ride from",
    r.CorrectTo: "correct to",
    r.Forfeit: "forfeit",
}


class Sentence(NamedTuple):
    """What followed, and the clause that decided it; empty where no clause is behind it."""

    text: str
    clause: str = ""

    def __str__(self) -> str:
        return f"{self.text} [{self.clause}]" if self.clause else self.text


def cents(amount: int | None) -> str:
    return "held" if amount is None else cents_text(amount)


def cards(found: Iterable[Card]) -> str:
    return " ".join(NAMES[card] for card in found) or "none"


def spot(name: str) -> str:
    return SPOTS.get(name, name)


def place(seat: int | None) -> str:
    return "the dealer" if seat == DEALER else "all seats" if seat is None else f"seat {seat}"


def at(seat: int) -> str:
    return "Dealer" if seat == DEALER else f"Seat {seat}"


def who(by: f.Source) -> str:
    if isinstance(by, f.Declared):
        return f"declared by {by.person}, {by.role.value}"
    return f"measured by {by.device}"


# --- facts -------------------------------------------------------------------------------------

Tell = Callable[[Any], str]

_FACTS: Final[Mapping[type[f.What], Tell]] = {
    f.LimitsChanged: lambda w: f"New limits: {_limit(w.min_wager)} to {_limit(w.max_wager)}",
    f.SignShown: lambda w: f"A sign announces: {w.announces}",
    f.SignRemoved: lambda w: f"The sign is removed: {w.announces}",
    f.TimerFired: lambda w: f"The {w.name} timer ran out",
    f.ProgressiveClosed: lambda w: f"The house closes the progressive: {w.why}",
    f.ProgressiveOpened: lambda _: "The house opens the progressive again",
    f.DeckChecked: lambda w: f"The {w.deck} deck was checked: {_passed(w)}",
    f.DeckChanged: lambda w: f"The {w.deck} deck comes into play",
    f.DeckShuffled: lambda w: f"The {w.deck} deck was shuffled",
    f.DeckCut: lambda _: "The deck was cut and loaded",
    f.DecksLoaded: lambda w: f"Decks: {w.in_play} in play, {w.in_device} in the device",
    f.DeckCounted: lambda w: f"The deck was counted: {counted(w.count, 'card')}",
    f.CountOrdered: lambda _: "A count of the cards is ordered",
    f.BetsOpened: lambda _: "Bets are opened",
    f.WagerRead: lambda w: f"{at(w.seat)}: {cents(w.cents)} is on {spot(w.spot)}",
    f.CreditsRead: lambda w: f"Seat {w.seat}: {_many(w.credits, 'progressive credit')} in",
    f.WagerDeclared: lambda w: f"{at(w.seat)}: {cents(w.cents)} on {spot(w.spot)}, by hand",
    f.BetsClosed: lambda _: "No more bets: the closing call",
    f.RoundCalledOff: lambda _: "Nobody plays: the round is called off",
    f.SeatLeftOut: lambda w: f"Seat {w.seat} is left out of the round",
    f.WagerRefused: lambda w: f"Seat {w.seat}: wager refused{_note(w.reason)}",
    f.SeatExcluded: lambda w: f"Seat {w.seat} is excluded{_note(w.reason)}",
    f.SeatReadmitted: lambda w: f"Seat {w.seat} is readmitted",
    f.SelectionCommitted: lambda w: f"The draw is committed to: {w.digest[:16]}",
    f.SelectionRevealed: lambda w: (
        f"The draw: magic card {_card(w.magic_card)}, lucky seat {w.lucky_seat or 'none'}"
    ),
    f.CutCardSeen: lambda _: "The cut card came out",
    f.UnknownCardSeen: lambda w: (
        sentence(w).removesuffix(".")
        if w.kind
        else "Something came out that is no card of this deck, or a misread"
    ),
    f.CardFaultReported: lambda w: f"Card fault: {w.kind}, {counted(w.count, 'card')}",
    f.ShufflerFailed: lambda _: "The shuffler failed",
    f.ShufflerReady: lambda _: "The shuffler is ready again",
    f.DealConfirmed: lambda _: "The dealer confirms the cards on the table",
    f.CardsHandled: lambda w: f"Cards are handled: {place(w.seat)}",
    f.Decided: lambda w: f"Seat {w.seat} {CHOICES[w.choice]}: {spot(w.spot)}",
    f.DecisionCorrected: lambda w: (
        f"CORRECTED, the key before was wrong: seat {w.seat} {CHOICES[w.choice]}: {spot(w.spot)}"
    ),
    f.RideAllSignalled: lambda w: f"Seat {w.seat} tucks the cards: everything rides",
    f.CommunityTurned: lambda w: f"Community card {w.number} is turned",
    f.PlayerAbsent: lambda w: (
        f"Seat {w.seat}: the player is absent, cards {'' if w.viewed else 'not '}looked at"
    ),
    f.WagersCorrected: lambda w: f"Seat {w.seat}: wagers corrected to {cents(w.cents)} each",
    f.CorrectionRefused: lambda w: f"Seat {w.seat} refuses to correct the wagers",
    f.Folded: lambda w: f"Seat {w.seat} folds",
    f.Played: lambda w: f"Seat {w.seat} plays",
    f.OrderDirected: lambda w: f"Seats {_seats(w.seats)} are to decide first{_note(w.reason)}",
    f.CardExposed: lambda w: (
        f"{_many(w.count, 'community card' if w.community else 'card')} exposed"
    ),
    f.DealtWrong: lambda _: "The dealer found the cards dealt incorrectly",
    f.HandsRemapped: lambda w: f"The hands of {place(w.first)} and {place(w.second)} are exchanged",
    f.StrayHandFound: lambda w: f"A hand was dealt to seat {w.seat}, which has no wager",
    f.CountFound: lambda w: (
        f"{counted(w.count, 'card')} at seat {w.seat}"
        if w.seat
        else counted(w.count, "community card")
    ),
    f.HandVoided: lambda w: f"Seat {w.seat}: hand void: {w.reason}",
    f.OutcomeInvalidated: lambda w: f"The game is invalidated: {w.reason}{_forfeit(w)}",
    f.SupervisorRuled: lambda w: f"The supervisor rules: {w.ruling}{_note(w.note)}",
    f.RulingSeconded: lambda _: "A second person agrees with the ruling",
    f.SeatRuled: lambda w: f"The supervisor rules on seat {w.seat}: {w.ruling}{_note(w.note)}",
    f.PlayerWarned: lambda w: f"Seat {w.seat} is warned{_note(w.reason)}",
    f.BreachNoted: lambda w: f"A breach is noted about seats {_seats(w.seats)}{_note(w.what)}",
    f.BonusCardTurned: lambda _: "The middle card is turned",
    f.HandOpened: lambda w: f"Seat {w.seat}: the hand is opened",
    f.SeatSettled: lambda w: f"Seat {w.seat}: paid and collected{_called(w)}",
    f.CardCorrected: lambda w: f"Seat {w.seat}: card {w.number} is really {NAMES[w.card]}",
    f.DisputeRaised: lambda w: f"DISPUTE at seat {w.seat}{_note(w.about)}",
    f.DisputeDecided: lambda w: f"DISPUTE at seat {w.seat} IS DECIDED{_note(w.decision)}",
    f.PayCorrected: lambda w: (
        f"CORRECTION of round {w.round_no}, seat {w.seat}: really paid {cents(w.paid_cents)}"
        f"{_note(w.note)}"
    ),
    f.VoidCleared: lambda _: "The stakes of the void round are back",
    f.RoundEnded: lambda _: "The round is ended",
    f.MeterReported: lambda w: f"The link reports the meter: {cents(w.jackpot_cents)}",
    f.LinkLost: lambda _: "The progressive link is lost",
    f.LinkRestored: lambda _: "The progressive link is back",
    f.JackpotLocked: lambda w: f"The link server locks the jackpot at {cents(w.jackpot_cents)}",
    f.AwardChanged: lambda w: f"Jackpot award {w.award}: {w.state}, {cents(w.cents)}",
    f.MysteryWon: lambda w: f"Seat {w.seat} wins the mystery {w.level}: {cents(w.cents)}",
}


def _limit(amount: int | None) -> str:
    return "none" if amount is None else cents(amount)


def _passed(what: f.DeckChecked) -> str:
    return "complete" if what.passed else "NOT complete"


def _card(card: Card | None) -> str:
    return "none" if card is None else NAMES[card]


def _seats(seats: Iterable[int]) -> str:
    return ", ".join(map(str, seats)) or "none"


def _forfeit(what: f.OutcomeInvalidated) -> str:
    return f"; forfeit: seats {_seats(what.forfeit_seats)}" if what.forfeit_seats else ""


def _note(note: str) -> str:
    """A reason in somebody's words. The console has no letters to give one with."""
    return f" ({note})" if note and note != CONSOLE else ""


def corrector(who: str) -> str:
    """``S1: short paid``, as a correction has it; without the console's word for no reason."""
    return who.removesuffix(f": {CONSOLE}")


def _many(count: int, what: str) -> str:
    return f"{count} {what}" if count == 1 else f"{count} {what}s"


def _called(what: f.SeatSettled) -> str:
    return "" if what.called is None else f"; the dealer called {HAND_NAMES[what.called]}"


def fact(what: f.What) -> str:
    """A fact without its cards; the public ones are listed beside it."""
    return _FACTS[type(what)](what)


def clause_of(what: f.What, state: TableState) -> str:
    """The clause behind this fact, in the book of the table."""
    book = state.rules.book
    own = book.round_clauses
    match what:
        case f.BetsOpened():
            return own.open
        case f.BetsClosed():
            return own.close
        case f.CardDrawn() | f.PacketDispensed() | f.DealConfirmed():
            return own.deal
        case f.Decided(spot=name) | f.DecisionCorrected(spot=name):
            return own.decide_1 if name == "1" else own.decide_2
        case f.Played() | f.Folded() | f.RideAllSignalled():
            return own.decide_1
        case f.CommunityTurned(number):
            return own.turn_1 if number == 1 else own.turn_2
        case f.HandOpened() | f.SeatSettled() | f.RoundEnded() | f.BonusCardTurned():
            return own.settle
        case _:
            clause = AUTHORITY.get(type(what), (None, ""))[1]
            return clause if clause.startswith(f"{book.key}-") else ""


# --- effects -----------------------------------------------------------------------------------


def effects(found: Iterable[fx.Effect]) -> list[Sentence]:
    """What the table did; lamps and timers are left to the displays."""
    said: list[Sentence] = []
    armed: dict[bool, list[int]] = {}
    for one in found:
        if isinstance(one, fx.ArmAcceptor):
            armed.setdefault(one.armed, []).append(one.seat)
        else:
            said += _effect(one)
    for on, seats in armed.items():
        said.append(Sentence(f"credits {'taken' if on else 'not taken'} at seats {_seats(seats)}"))
    return said


def _effect(one: fx.Effect) -> list[Sentence]:
    match one:
        case fx.Refused(reason, clause):
            return [Sentence(f"refused: {reason}", clause)]
        case fx.Prompt():
            return [Sentence(f"prompt: {prompts.text(one).removesuffix(f': {CONSOLE}')}")]
        case fx.RaiseAlarm(code, seat, detail, clause):
            about = f"seat {seat}: " if seat is not None else ""
            return [Sentence(f"ALARM {code}: {about}{detail}", clause)]
        case fx.AskSupervisor(question, answers):
            return [Sentence(f"the supervisor is asked: {question} Answers: {', '.join(answers)}")]
        case fx.ReturnWager(seat, name, amount, clause):
            return [Sentence(f"{cents(amount)} goes back to seat {seat}: {spot(name)}", clause)]
        case fx.PostContributions(_, rows):
            return [Sentence(f"to the progressive: {_by_seat(rows)}")]
        case fx.ReverseContributions(_, rows):
            return [Sentence(f"back from the progressive: {_by_seat(rows)}")]
        case fx.RequestSelection(_, seats):
            return [Sentence(f"a draw is asked for, seats {_seats(seats)}")]
        case fx.ShowJackpot(amount, stale):
            return [Sentence(f"meter: {cents(amount)}{' (stale)' if stale else ''}")]
        case fx.ClaimJackpot(_, claims):
            return [
                Sentence(f"seat {s} claims {p}% of the jackpot: {hand}") for s, hand, p in claims
            ]
        case fx.WithdrawClaim(_, seats):
            return [Sentence(f"claims withdrawn: seats {_seats(seats)}")]
        case fx.PayDifference(_, seat, amount):
            verb = "pay" if amount >= 0 else "collect"
            return [Sentence(f"{verb} {cents(abs(amount))} at seat {seat}")]
        case fx.PublishRound(_, record, result):
            return _result(record, result)
        case _:
            return _open_cards(one)


def _open_cards(one: fx.Effect) -> list[Sentence]:
    match one:
        case fx.ShowSelection(magic, lucky):
            return [Sentence(f"shown: magic card {_card(magic)}, lucky seat {lucky or 'none'}")]
        case fx.ShowDealtCard(seat, card):
            return [Sentence(f"open at {place(seat)}: {NAMES[card]}")]
        case fx.ShowCommunity(number, card):
            return [Sentence(f"community card {number}: {NAMES[card]}")]
        case fx.ShowBonusCard(card):
            return [Sentence(f"middle card: {NAMES[card]}")]
        case fx.ShowHand(seat, held, hand, pays):
            return [Sentence(f"seat {seat} holds {cards(held)}: {hand or 'no hand'}"), *_pays(pays)]
        case fx.ShowMagicHit(seats):
            return [Sentence(f"magic card: seats {_seats(seats)}")]
        case fx.ShowAward(seat, kind, amount):
            return [Sentence(f"seat {seat}: {kind.replace('_', ' ')} {cents(amount)}")]
        case fx.ShowOwed(seat, name, amount):
            return [Sentence(f"seat {seat} owes {cents(amount)}: {spot(name)}")]
        case fx.ShowKickout(out):
            return [Sentence("kickout: the dealer is out" if out else "the dealer's hand plays")]
        case fx.ShowPot(amount, winners):
            to = ", ".join(place(w) if isinstance(w, int) else str(w) for w in winners)
            return [Sentence(f"pot {cents(amount)}{f' to {to}' if to else ''}")]
        case _:
            return []  # lamps and timers: the displays say what came of them


def _by_seat(rows: Iterable[tuple[int, int]]) -> str:
    return ", ".join(f"seat {seat} {cents(amount)}" for seat, amount in rows) or "nothing"


def _pays(pays: Any) -> list[Sentence]:
    said = []
    for name, wager in pays["wagers"].items():
        if wager is None:
            said.append(Sentence(f"  {spot(name)}: waits for the jackpot"))
            continue
        odds = f" at {wager['odds']}" if wager["odds"] else ""
        said.append(
            Sentence(
                f"  {spot(name)}: {wager['status']}{odds}, to player {cents(wager['to_player'])}"
            )
        )
    return said + [Sentence(f"  {a['kind']}: {cents(a['amount'])}") for a in pays["awards"]]


def outcome(record: Any, result: Any) -> Sentence:
    """How a round ended, in one line."""
    nets = ", ".join(f"seat {row['seat']} {cents(row['net'])}" for row in result["seats"])
    return Sentence(f"round {ending(record, result)}: {nets}", ", ".join(result["clauses"]))


def _result(record: Any, result: Any) -> list[Sentence]:
    question = result.get("question")
    asked = [Sentence(f"open question: {question}")] if question else []
    return [outcome(record, result), *_reasons(record, result), *asked]


def _reasons(record: Any, result: Any) -> list[Sentence]:
    """Wager by wager the cards, the hand in words and the clause: what a player disputes."""
    said = []
    for row in result["seats"]:
        for name, why in explain(record, result, row["seat"]).items():
            status, because = row["wagers"][name]["status"], reason(why.cards, why.text)
            told = f"  seat {row['seat']}, {spot(name)}: {status}; {because}"
            said.append(Sentence(told, why.clause))
    return said


# --- what changed without an effect ------------------------------------------------------------


def rulings(before: TableState, after: TableState) -> list[Sentence]:
    """What the book says about each new irregularity, and what became of the round."""
    said: list[Sentence] = []
    new = after.events[len(before.events) :] if after.round_no == before.round_no else after.events
    if after.events[: len(before.events)] != before.events:
        new = tuple(e for e in after.events if e not in before.events)
    for event in new:
        said += _ruled(event, after)
    if after.voided_by is not None and before.voided_by is None:
        own = after.voided_by.startswith(f"{after.rules.book.key}-")
        by = "" if own else f" by {after.voided_by}"
        said.append(Sentence(f"THE ROUND IS VOID{by}", after.voided_by if own else ""))
    if after.frozen is not None and before.frozen is None:
        answers = ", ".join(after.frozen.answers)
        said.append(Sentence(f"FROZEN: {after.frozen.question} Answers: {answers}"))
    return said


def phases(before: TableState, after: TableState) -> list[Sentence]:
    if before.phase is after.phase:
        return []
    return [Sentence(f"phase: {before.phase.value} -> {after.phase.value}")]


def _ruled(event: ev.Event, state: TableState) -> list[Sentence]:
    fields = {name: getattr(event, name) for name in ev.FIELDS[type(event)]}
    told = ", ".join(
        f"{name.replace('_', ' ')} {_seats(value) if isinstance(value, tuple) else value}"
        for name, value in fields.items()
        if value is not False and value != ()
    )
    said = (
        f"on the record: {ev.NAME_OF[type(event)].replace('_', ' ')}{f' ({told})' if told else ''}"
    )
    found = rule_on(state.rules.book.rulings, (event,))
    if not found:
        return [Sentence(said)]
    return [
        Sentence(f"{said}: {RULINGS[type(one)]}", str(getattr(one, "clause", None) or ""))
        for one in found
    ]
