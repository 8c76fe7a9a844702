"""What belongs to the table rather than a round: deck, limits, signs, link, people."""

from __future__ import annotations

from dataclasses import replace

from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.betting import acceptors
from controller.rules.engine.common import Refusal, Step
from controller.rules.engine.deal import must_cut, uses_packets
from controller.rules.engine.doubts import sentence
from controller.rules.engine.freezing import COUNT, freeze
from controller.rules.engine.irregular import note
from controller.rules.engine.state import Deck, Phase, TableState
from controller.rules.events import FULL_DECK
from controller.rules.settings import limits_crossed

WARNINGS_TO_FLOOR = 2


def deck_checked(state: TableState, what: f.DeckChecked, fact: f.Fact) -> Step:
    """A passed check is kept with its seal and who made it; a failed one withdraws the deck.

    A deck in doubt is released by a person: the device that miscounted it may miscount it again.
    """
    deck = state.deck
    name = deck.name if deck.name is not None else what.deck
    in_doubt = what.deck in deck.blocked or (deck.suspect and what.deck == name)
    said = f"deck {what.deck} checked: {'passed' if what.passed else 'failed'}"
    if what.passed and in_doubt and isinstance(fact.by, f.Measured):
        return note(state, fact, f"{said}; a person must release it"), ()
    seals = {n: s for n, s in deck.seals.items() if n != what.deck}
    blocked = deck.blocked - {what.deck} if what.passed else deck.blocked | {what.deck}
    if what.passed:
        seals[what.deck] = what.seal
    suspect = deck.suspect
    if what.deck == name:
        # Where the book asks for a check, a deck without its seal is out of play anyway.
        suspect = not what.passed and (suspect or not state.rules.book.deck_check_clause)
    state = note(state, fact, said)
    deck = replace(deck, name=name, seals=seals, suspect=suspect, blocked=blocked)
    return replace(state, deck=deck), ()


def deck_changed(state: TableState, what: f.DeckChanged, fact: f.Fact) -> Step:
    """Another deck comes into play; it needs a check (or its seal) and a new shuffle."""
    deck = state.deck
    if what.deck == deck.name:
        raise Refusal("a change needs another deck", "NSW-13.2.3")
    # What is in doubt stays so outside the table; its seal, and a broken one, count no more.
    blocked = deck.blocked | ({deck.name} if deck.suspect and deck.name else set())
    broken = {what.deck} if deck.seals.get(what.deck) != what.seal else set()
    seals = {n: s for n, s in deck.seals.items() if n not in blocked | broken}
    state = note(state, fact, f"deck changed to {what.deck}")
    colours = None if deck.colours is None else (what.deck, deck.colours[1])
    suspect = what.deck in blocked
    deck = Deck(what.deck, seals, colours=colours, suspect=suspect, blocked=blocked)
    prompts: tuple[fx.Effect, ...] = (fx.Prompt("shuffle"),)
    if what.deck not in deck.seals:
        prompts = (fx.Prompt("check deck"), *prompts)
    return replace(state, deck=deck), prompts


def deck_shuffled(state: TableState, what: f.DeckShuffled, _: f.Fact) -> Step:
    """Only the deck in play counts: the other may be shuffled at any time (NSW-3.2.1)."""
    deck = state.deck
    if deck.name is not None and what.deck != deck.name:
        waiting = what.deck if uses_packets(state.rules) else None
        return replace(state, deck=replace(deck, in_device=waiting)), ()
    deck = replace(deck, name=what.deck, shuffled=True, cut=False, device_ready=True)
    cut = (fx.Prompt("cut"),) if must_cut(state.rules) else ()
    return replace(state, deck=deck), cut


def deck_cut(state: TableState, _what: f.DeckCut, fact: f.Fact) -> Step:
    if uses_packets(state.rules):
        raise Refusal("cards from a shuffler are not cut", "NSW-4.4")
    state = note(state, fact, "deck cut and loaded")
    return replace(state, deck=replace(state.deck, cut=True)), ()


def decks_loaded(state: TableState, what: f.DecksLoaded, _: f.Fact) -> Step:
    colours = (what.in_play, what.in_device)
    state = replace(state, deck=replace(state.deck, colours=colours))
    if what.in_play == what.in_device:
        alarm = fx.RaiseAlarm("deck colours", None, what.in_play, "NSW-3.2.2")
        return state, (alarm,)
    return state, ()


def deck_counted_idle(state: TableState, what: f.DeckCounted, fact: f.Fact) -> Step:
    """Between rounds a wrong count closes the table for play; closed rounds stand."""
    state = note(state, fact, f"deck counted: {what.count}")
    if what.count == FULL_DECK:
        return state, ()
    clause = state.rules.book.round_clauses.deck
    question = f"The deck holds {what.count} cards; the last round is closed."
    return (
        replace(state, deck=replace(state.deck, suspect=True)),
        (
            fx.RaiseAlarm("deck count", None, str(what.count), clause),
            fx.AskSupervisor(question, ("check the deck",)),
            fx.Prompt("check deck"),
        ),
    )


def card_fault_idle(state: TableState, what: f.What, fact: f.Fact) -> Step:
    """Found between rounds: those played stand, the deck is checked (NSW-12.9.1, NSW-12.9.3)."""
    state = note(state, fact, "card fault between rounds")
    told = sentence(what) if isinstance(what, f.UnknownCardSeen) and what.kind else ""
    alarm = fx.RaiseAlarm("card fault", None, told, state.rules.book.round_clauses.deck)
    deck = replace(state.deck, suspect=True)
    return replace(state, deck=deck), (alarm, fx.Prompt("check deck"))


def count_ordered(state: TableState, _what: f.CountOrdered, fact: f.Fact) -> Step:
    """The cards are counted now: in a round nothing continues until that is done (NSW-3.8)."""
    role = fact.by.role.value if isinstance(fact.by, f.Declared) else fact.by.device
    state = note(state, fact, f"card count ordered by the {role}")
    if not state.in_play or state.phase is Phase.VOIDING:
        return state, (fx.Prompt("check deck"),)
    return freeze(state, "The cards are to be counted.", ("resume",), about=COUNT)


def shuffler_ready(state: TableState, _what: f.ShufflerReady, _: f.Fact) -> Step:
    return replace(state, deck=replace(state.deck, device_ready=True)), ()


def timer_fired(state: TableState, _what: f.TimerFired, _: f.Fact) -> Step:
    """The table was empty: a shuffle before play continues (NSW-4.1.3)."""
    if state.phase not in (Phase.IDLE, Phase.BETTING) or any(state.spots.values()):
        return state, (fx.StartTimer("vacancy", state.rules.table.vacancy_ms),)
    deck = replace(state.deck, shuffled=False, cut=False)
    return replace(state, deck=deck, vacant=True), (fx.Prompt("shuffle"),)


def sign_shown(state: TableState, what: f.SignShown, fact: f.Fact) -> Step:
    signs = {**state.signs, what.announces: fact.at_ms}
    return replace(note(state, fact, f"sign: {what.announces}"), signs=signs), ()


def sign_removed(state: TableState, what: f.SignRemoved, fact: f.Fact) -> Step:
    signs = {name: at for name, at in state.signs.items() if name != what.announces}
    return replace(note(state, fact, f"sign removed: {what.announces}"), signs=signs), ()


def may_close(state: TableState, at_ms: int) -> bool:
    """A table with players closes only when its sign has stood long enough (NSW-14.8).

    Players are seen by their wagers: one lies there, or the last round had one and the table has
    not stood empty since.
    """
    if not state.rules.book.closing_clause or not occupied(state):
        return True
    shown = state.signs.get("closing")
    return shown is not None and at_ms - shown >= state.rules.table.notice_ms


def occupied(state: TableState) -> bool:
    wagered = any(cents for (seat, _), cents in state.spots.items() if seat)
    return wagered or (bool(state.seats) and not state.vacant)


def limits_changed(state: TableState, what: f.LimitsChanged, fact: f.Fact) -> Step:
    """New limits hold from the next opening; a higher minimum needs its sign (NSW-6.5)."""
    if not state.rules.book.posted_limits:
        raise Refusal("this book has printed limits", state.rules.book.clauses.equal)
    if wrong := limits_crossed(what.min_wager, what.max_wager):
        raise Refusal(wrong, "NSW-6.1")
    if (what.min_wager or 0) > (state.min_wager or 0):
        shown = state.signs.get("higher minimum")
        if shown is None or fact.at_ms - shown < state.rules.table.notice_ms:
            raise Refusal("the sign for a higher minimum has not stood 20 minutes", "NSW-6.5")
        # The sign announced this change and no other.
        signs = {name: at for name, at in state.signs.items() if name != "higher minimum"}
        state = replace(state, signs=signs)
    state = note(state, fact, f"limits {what.min_wager} to {what.max_wager}")
    limits = (what.min_wager, what.max_wager)
    if state.phase is Phase.IDLE:
        return replace(state, min_wager=limits[0], max_wager=limits[1]), ()
    return replace(state, next_limits=limits), ()


def meter_reported(state: TableState, what: f.MeterReported, _: f.Fact) -> Step:
    """Shown at once; what counts for this round is frozen when bets close."""
    if state.phase in (Phase.IDLE, Phase.BETTING):
        state = replace(state, meter=what.jackpot_cents)
    return state, (fx.ShowJackpot(what.jackpot_cents),)


def link_lost(state: TableState, _what: f.LinkLost, _: f.Fact) -> Step:
    state, effects = _credits_back(state)
    shown = fx.ShowJackpot(state.meter, stale=True)
    return replace(state, link_up=False), (shown, *effects)


def _credits_back(state: TableState) -> Step:
    """While bets are open nothing is accepted yet: what was placed goes back. Later it stands."""
    effects: tuple[fx.Effect, ...] = ()
    if state.phase is not Phase.BETTING or state.rules.book.progressive is None:
        return state, effects
    clause = state.rules.book.clauses.side_needs_base
    cents = state.rules.table.credit_cents
    for number in range(1, state.rules.table.seats + 1):
        effects += (fx.ArmAcceptor(number, False),)
        if count := state.credits.get(number):
            effects += (fx.ReturnWager(number, "progressive", count * cents, clause),)
    return replace(state, credits={}), effects


def progressive_closed(state: TableState, what: f.ProgressiveClosed, fact: f.Fact) -> Step:
    if state.rules.book.progressive is None:
        raise Refusal("this game has no progressive wager", state.rules.book.clauses.equal)
    state, effects = _credits_back(state)
    state = note(state, fact, f"progressive closed: {what.why}")
    return replace(state, progressive_closed=what.why), effects


def progressive_opened(state: TableState, _what: f.ProgressiveOpened, fact: f.Fact) -> Step:
    """In a betting under way the acceptors stay as they are until the next one."""
    state = note(state, fact, "progressive open again")
    return replace(state, progressive_closed=""), ()


def link_restored(state: TableState, _what: f.LinkRestored, _: f.Fact) -> Step:
    """Bets that are still open may have progressive wagers again."""
    state = replace(state, link_up=True)
    open_ = acceptors(state) if state.phase is Phase.BETTING else ()
    return state, (fx.ShowJackpot(state.meter), *open_)


def player_warned(state: TableState, what: f.PlayerWarned, fact: f.Fact) -> Step:
    """The dealer warns first; a repetition goes to the floor (PP6-R5c)."""
    count = state.warnings.get(what.seat, 0) + 1
    state = note(state, fact, f"warned seat {what.seat}: {what.reason}")
    state = replace(state, warnings={**state.warnings, what.seat: count})
    if count >= WARNINGS_TO_FLOOR:
        return state, (fx.Prompt("floor", what.seat, what.reason),)
    return state, ()


def breach_noted(state: TableState, what: f.BreachNoted, fact: f.Fact) -> Step:
    return note(state, fact, f"seats {list(what.seats)}: {what.what}"), ()
