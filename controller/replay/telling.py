"""Single records in words: what happened, how it is known, and the clause behind it.

Pure. A past round and the table that plays are told by the same functions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from controller.history.entries import ENTRY_KINDS, cards_in, decode_entry
from controller.history.errors import BodyError
from controller.history.table_log import Happened
from controller.replay import record_words, words
from controller.replay.felt import FACE_DOWN
from controller.rules.cards import NAMES, Card, HiddenCard
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.deal import next_place
from controller.rules.engine.entries import CreditDropped, CreditGivenBack, SignedOn, TableCall
from controller.rules.engine.names import NAME_OF
from controller.rules.engine.state import Phase, TableState
from record.journal.format import Record

BY_ITSELF: Final = frozenset(("opened", "lock", "unlock", "alarm", "configuration", "test"))
"""Records that are no facts and that a person would tell."""
COUNTED: Final = (f.MeterReported, f.TimerFired)
"""Facts that the displays show by themselves, all the time."""
ASIDE: Final = (
    fx.Prompt, fx.ShowJackpot, fx.ArmAcceptor, fx.RequestSelection, fx.PostContributions,
    fx.ReverseContributions, fx.RaiseAlarm, fx.PublishRound,
)  # fmt: skip
"""Effects that displays or other entries tell, or that are told in short."""


class EntryTold(NamedTuple):
    text: str
    by: str = ""
    seat: int | None = None
    trouble: str = ""


def unseen(_: Any) -> HiddenCard:
    """Where a record is told without stepping, its cards are not looked at."""
    return HiddenCard(Card(0))


def entry(record: Record) -> EntryTold:
    """What people and acceptors did that is no fact of a round."""
    try:
        found = decode_entry(record.kind, record.body, unseen).entry
    except BodyError as error:
        return EntryTold(record.kind, trouble=str(error))
    match found:
        case SignedOn(person, role, relieved):
            after = f", relieving {relieved}" if relieved else ""
            return EntryTold(f"{person} signs on as {role.value}{after}", person)
        case TableCall(kind, by):
            return EntryTold(f"Call: {kind}", words.who(by))
        case CreditDropped(seat, number):
            text = f"Seat {seat}: the chip of credit {number} has dropped"
            return EntryTold(text, "measured by acceptors", seat)
        case CreditGivenBack(seat, number):
            text = f"Seat {seat}: the acceptor gave the chip of credit {number} back"
            return EntryTold(text, "measured by acceptors", seat)
        case _:
            return EntryTold(record.kind)


def brings_cards(fact: f.Fact) -> bool:
    """A card left the card device: which one is told only as far as it is public."""
    return bool(cards_in(fact)) and not isinstance(fact.what, f.SupervisorRuled)


def goes_to(before: TableState) -> int | None:
    """The place that the next card or packet is for."""
    if before.phase is Phase.DRAW and before.showdown is not None:
        return before.showdown.to_act
    return next_place(before)


def drawn(what: f.What, where: str, names: Sequence[str | None]) -> str:
    """Cards that left the card device; None for one that nobody may know."""
    sort = "Card" if isinstance(what, f.CardDrawn) else f"Packet of {len(names)}"
    to = f"to {where}" if where not in ("?", "all seats") else "when none was due"
    return f"{sort} {to}: {' '.join(name or FACE_DOWN.value for name in names)}"


# --- the table that plays ------------------------------------------------------------------------


def live(one: Happened) -> dict[str, Any] | None:
    """An entry for those who follow the table; None if nobody would tell it."""
    if one.step is not None:
        return _fact(one)
    record = one.record
    if record.kind in ENTRY_KINDS:
        told = entry(record)
        return _row(one, told.text, told.by, record.kind.replace("-", " "))
    if record.kind in BY_ITSELF or _is_state(record):
        clause = str(record_words.body_of(record).get("clause") or "")
        text, by = record_words.told(record), record_words.by(record)
        return _row(one, text, by, record.kind, clause)
    return None


def _is_state(record: Record) -> bool:
    return record.kind == "device" and "state" in record_words.body_of(record)


def _fact(one: Happened) -> dict[str, Any] | None:
    assert one.step is not None
    fact, before, ahead = one.step
    what = fact.what
    if isinstance(what, COUNTED):
        return None
    if brings_cards(fact):
        shown = [NAMES[e.card] for e in ahead.effects if isinstance(e, fx.ShowDealtCard)]
        names: list[str | None] = [*shown, *[None] * (len(cards_in(fact)) - len(shown))]
        text = drawn(what, words.place(goes_to(before)), names)
    else:
        text = words.fact(what)
    told = (e for e in ahead.effects if not isinstance(e, (*ASIDE, fx.ShowDealtCard)))
    ended = (e for e in ahead.effects if isinstance(e, fx.PublishRound))
    followed = [
        *words.rulings(before, ahead.state),
        *words.effects(told),
        *(words.outcome(e.record, e.result) for e in ended),
    ]
    clause = words.clause_of(what, before)
    row = _row(one, text, words.who(fact.by), NAME_OF[type(what)], clause)
    return {**row, "followed": [{"text": s.text, "clause": s.clause} for s in followed]}


def _row(one: Happened, text: str, how: str, kind: str, clause: str = "") -> dict[str, Any]:
    return {
        "at_ms": one.record.at_ms,
        "seq": one.record.seq,
        "round": one.round_no,
        "text": text,
        "how": how,
        "clause": clause,
        "kind": kind,
        "followed": [],
    }
