"""Why the table waits: one sentence and the clause behind it, from the question to the dealer.

Pure. The sentences say what the four lines of the prompt have no room for. Nothing here depends on
a closed card, as the question does not.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NamedTuple

from controller.rules.engine.state import Phase, TableState
from controller.rules.events import Event
from controller.rules.rulings import rule_on
from controller.table.asks import Ask


class Reason(NamedTuple):
    text: str
    clause: str = ""
    """A field of the book's round clauses, or one of the words below."""


EQUAL, CHECK, SHUFFLE, DECIDE, TURN, VOIDED = (
    "equal",
    "check",
    "shuffle",
    "decide",
    "turn",
    "voided",
)
_CARDS: Final = "the card device is not ready, so no card may be dealt"
_FROZEN: Final = "the round is stopped until the supervisor rules: "

REASONS: Final[Mapping[str, Reason]] = {
    "power fail": Reason("the power is failing; nothing is taken until it is back"),
    "test mode": Reason("a technician is testing the devices; play resumes after test off"),
    "overrun": Reason("readings were lost and everything is being read again"),
    "card device": Reason(_CARDS, "deal"),
    "card jam": Reason("the card device is jammed: clear it", "deal"),
    "card door": Reason("the card device is open: close it", "deal"),
    "deck out": Reason("the card device counted its deck wrong: take the deck out", "deck"),
    "load": Reason("the deck was shuffled and not loaded into the shoe again", SHUFFLE),
    "table closed": Reason("the table is closed", "open"),
    "check deck": Reason("the {detail} deck must be checked before it is played", CHECK),
    "deck colours": Reason("both decks have the same backs: change one", "deck"),
    "shuffler": Reason("the shuffler has not finished", SHUFFLE),
    "shuffle": Reason("the {detail} deck must be shuffled", SHUFFLE),
    "cut": Reason("the cards must be cut and loaded", SHUFFLE),
    "low supply": Reason("the supply voltage is too low: no round opens"),
    "disk full": Reason("the disk is full: no round opens"),
    "jackpot hold": Reason("the jackpot of seat {seat} is not verified yet", "settle"),
    "open": Reason("the dealer has not opened the bets", "open"),
    "open no progressive": Reason("the dealer has not opened the bets; no progressive", "open"),
    "sweeping": Reason("the chips are being read after the closing call", "close"),
    "sensor": Reason("the wager of {who} on {spot} cannot be read", "round"),
    "uncertain": Reason("the chips of {who} moved at the closing call", "close"),
    "dealer ante": Reason("the dealer's ante does not lie on the pot", "open"),
    "place bets": Reason("no seat has a wager yet", "open"),
    "place bets no progressive": Reason("no seat has a wager yet; no progressive", "open"),
    "nobody": Reason("nobody is in the round: the dealer ends it", "round"),
    "unequal": Reason("the wagers of seat {seat} are not valid", EQUAL),
    "close": Reason("the dealer has not called no more bets", "close"),
    "selection": Reason("the magic card is being drawn", "close"),
    "correct": Reason("the wagers of seat {seat} are not equal: correct them or fold", EQUAL),
    "press close": Reason("a card is out before the closing call", "close"),
    "deal dealer": Reason("the dealer's next card is due", "deal"),
    "deal seat": Reason("the next card of seat {seat} is due", "deal"),
    "cards missing": Reason("the cards that are out are not as many as they should be", "deal"),
    "decide": Reason("seat {seat} has not decided about wager {spot}", DECIDE),
    "take back": Reason("seat {seat} took wager {spot} back and its chips still lie", DECIDE),
    "take back late": Reason("seat {seat} took wager {spot} back, too long ago: it lies", DECIDE),
    "chips": Reason("the chips of seat {seat} on {spot} are gone without leave", "late_withdrawal"),
    "held": Reason("the supervisor must decide about seat {seat}", "round"),
    "turn": Reason("community card {detail} has not been turned", TURN),
    "confirm deal": Reason("the cards dealt have not been compared and confirmed", "deal"),
    "move to pot": Reason("the pot does not hold what it should", "settle"),
    "play bet": Reason("the play wager of seat {seat} is not equal to the ante", "decide_1"),
    "bonus pay": Reason("seat {about} is to be paid, and seat {seat} to act", "decide_1"),
    "bonus collect": Reason("seat {about} lost its bonus wager; seat {seat} acts", "decide_1"),
    "act": Reason("seat {seat} has neither played nor folded", "decide_1"),
    "act or take": Reason(
        "seat {seat} is the last hand: it plays, or takes the pot by folding", "decide_1"
    ),
    "draw": Reason("the three cards of seat {seat} are due", "deal"),
    "return all": Reason("the round is void and wagers still lie", VOIDED),
    "void": Reason("the round is void: it must be ended", VOIDED),
    "open hand": Reason("the hand of seat {seat} has not been opened", "settle"),
    "wait jackpot": Reason("the link server verifies the jackpot of seat {seat}", "settle"),
    "turn bonus": Reason("the middle card has not been turned", "settle"),
    "settle": Reason("seat {seat} has not been settled", "settle"),
    "owes": Reason("seat {seat} lost a wager whose chips are gone", "settle"),
    "award pot": Reason("the pot has not been moved to its winner", "settle"),
    "collect": Reason("the lost wager of seat {seat} on {spot} still lies", "settle"),
    "dispute": Reason("the dispute of seat {seat} is open", "round"),
    "end round": Reason("everything is settled: the dealer has not ended the round", "round"),
    "frozen jackpot": Reason(_FROZEN + "table and link server differ about a jackpot", "settle"),
    "frozen stop": Reason(_FROZEN + "cards are to be counted or checked", "deck"),
    "frozen excess card": Reason(_FROZEN + "a card too many is out", "excess"),
    "frozen card in doubt": Reason(_FROZEN + "a card is in doubt", "deck"),
    "frozen gap": Reason(_FROZEN + "the card device skipped draw {detail}", "deck"),
    "frozen misread": Reason(_FROZEN + "the card of draw {detail} could not be read", "deck"),
    "frozen double feed": Reason(_FROZEN + "several cards left at once at draw {detail}", "deck"),
    "frozen returned": Reason(_FROZEN + "a card was pushed back into the card device", "deck"),
    "frozen burn": Reason(_FROZEN + "a card was burnt", "deck"),
    "frozen restarted": Reason(_FROZEN + "the card device started to count again", "deck"),
    "frozen twice": Reason(_FROZEN + "the same card was read twice", "deck"),
    "frozen foreign_card": Reason(_FROZEN + "a foreign card", "deck"),
    "frozen deck_count": Reason(_FROZEN + "the deck count is wrong", "deck"),
    "frozen dealt_incorrectly": Reason(_FROZEN + "dealt incorrectly", "deal"),
    "frozen exposed_cards": Reason(_FROZEN + "cards were exposed", "deal"),
    "frozen count": Reason(_FROZEN + "the cards are to be counted", "deck"),
    "frozen second": Reason(
        "a ruling takes back what was paid: a second person must agree", "round"
    ),
    "frozen reported count": Reason(
        _FROZEN + "{about} cards are reported, the card device dealt {detail}", "deal"
    ),
    "frozen closed round": Reason(_FROZEN + "a wrong count in a closed round", "round"),
    "frozen pay more": Reason(_FROZEN + "seat {seat} was paid too little", "round"),
    "frozen take back": Reason(_FROZEN + "seat {seat} was paid too much", "round"),
    "frozen community_count": Reason(_FROZEN + "the dealer's card count is wrong", "community"),
    "frozen player_card_count": Reason(_FROZEN + "the card count of seat {seat} is wrong", "deal"),
    "frozen hand_dealt_no_wager": Reason(_FROZEN + "a hand without a wager was dealt", "deal"),
    "frozen absent_player": Reason(_FROZEN + "the player of seat {seat} is absent", "decide_1"),
    "frozen unequal_wagers": Reason(_FROZEN + "the wagers of seat {seat} are not equal", EQUAL),
    "frozen shuffler_malfunction": Reason(_FROZEN + "the shuffler failed", "deal"),
    "frozen wagers_voided_by_supervisor": Reason(_FROZEN + "is the hand void?", "round"),
    "frozen game_invalidated": Reason(_FROZEN + "is the outcome invalid?", "round"),
}
"""Every question of the prompt's catalogue."""


DUE: Final[Mapping[str, str]] = {
    "DEAL": "deal the next card or packet",
    "CHIPS": "put the chips right",
    "SHUFFLE": "shuffle in the shuffler",
    "KEY": "turn the supervisor key",
}
"""What line 4 of the prompt says that is no key of the console (docs/protocols/console.md)."""


def due(ask: Ask) -> str:
    """What the people at the table do next; empty if they wait."""
    keys = [key for key in ask.keys if key != "WAIT"]
    ways = [DUE[key] for key in keys if key in DUE]
    if pressed := [key for key in keys if key not in DUE]:
        ways.append(f"press {' or '.join(pressed)}")
    then = ", then " if "KEY" in keys else ", or "
    return then.join(ways)


def sentence(ask: Ask) -> str:
    who = "the pot" if ask.pot or not ask.seat else f"seat {ask.seat}"
    text = REASONS[ask.code].text.format(
        seat=ask.seat, spot=ask.spot or "its spot", detail=ask.detail, about=ask.about, who=who
    )
    return f"{text[0].upper()}{text[1:]}."


def clause(ask: Ask, state: TableState) -> str:
    """The clause of the book in force; empty where the table itself waits and no rule does."""
    book, named = state.rules.book, REASONS[ask.code].clause
    clauses = book.round_clauses
    if state.frozen is not None and state.frozen.event is not None:
        ruled = _ruled(state, state.frozen.event)
        if ruled:
            return ruled
    second = state.phase is Phase.DECISION_2
    match named:
        case "":
            return ""
        case "equal":
            return book.clauses.equal
        case "check":
            return book.deck_check_clause or clauses.deck
        case "shuffle":
            return book.shuffle_clause or clauses.deck
        case "decide":
            return clauses.decide_2 if second else clauses.decide_1
        case "turn":
            return clauses.turn_2 if second else clauses.turn_1
        case "voided":
            by = state.voided_by or ""
            return by if by.startswith(f"{book.key}-") else clauses.round
        case _:
            return str(getattr(clauses, named))


def _ruled(state: TableState, event: Event) -> str:
    rulings = rule_on(state.rules.book.rulings, (event,))
    found = (getattr(one, "clause", None) for one in rulings)
    return next((one for one in found if one), "")
