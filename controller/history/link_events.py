"""What a fact makes the table tell the link server: effects and closed rounds as event bodies.

Pure, and a function of the states and effects of one fact alone, so that a replay gives the same
bytes. Which of it can be sent is not asked here: what is owed is written down in any case.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import sha256
from typing import Any, Final

import msgspec

from controller.rules.book import Book
from controller.rules.engine import effects as fx
from controller.rules.engine.state import Archive, TableState
from controller.rules.hands import HAND_BY_NAME
from controller.rules.paytables import Odds
from record.kit.outside import fault
from record.link.codec import encode_body
from record.link.events import (
    AnyBody,
    Claim,
    Claimed,
    Contributed,
    FixedAward,
    Reversed,
    RoundPlayed,
    SelectionWanted,
    Wager,
    Withdrawn,
)
from record.link.messages import LONGEST

PROGRESSIVE: Final = "progressive"
ENVELOPE: Final = 256
"""More than what an ``Event`` adds to its body."""
MOST_BYTES: Final = LONGEST - ENVELOPE
PAID_HERE: Final = ("envy", "magic card", "lucky player")
"""Awards of fixed sums, beside the odds of the hand."""


def bodies_of(before: TableState, after: TableState, effects: Iterable[fx.Effect]) -> list[AnyBody]:
    """In the order in which they happened; a closed or corrected round comes last."""
    found: list[AnyBody] = []
    for effect in effects:
        match effect:
            case fx.PostContributions(number, cents):
                found.append(Contributed(number, _wagers(after, cents)))
            case fx.ReverseContributions(number, cents):
                found.append(Reversed(number, _wagers(after, cents)))
            case fx.ClaimJackpot(number, claims):
                found.append(Claimed(number, tuple(Claim(*claim) for claim in claims)))
            case fx.WithdrawClaim(number, seats):
                found.append(Withdrawn(number, seats))
            case fx.RequestSelection(number, seats) if after.rules.table.selector == "server":
                table = after.rules.table
                rates = str(table.magic_rate), str(table.lucky_rate)
                found.append(SelectionWanted(number, tuple(sorted(seats)), *rates))
            case _:
                pass
    if after.history is not before.history:
        known = {archive.round_no: archive.current for archive in before.history}
        changed = (a for a in after.history if known.get(a.round_no) != a.current)
        found += [_played(after.rules.book, archive) for archive in changed]
    return found


def _wagers(state: TableState, cents: Iterable[tuple[int, int]]) -> tuple[Wager, ...]:
    credit = state.rules.table.credit_cents
    return tuple(Wager(seat, amount, max(1, amount // credit)) for seat, amount in cents)


def _played(book: Book, archive: Archive) -> RoundPlayed:
    record, result = archive.current
    body = RoundPlayed(archive.round_no, record, result, fixed_awards(book, result))
    wrong = fault(record) or fault(result)
    if len(encode_body(body)) <= MOST_BYTES and wrong is None:
        return body
    # Never seen with people at a table, and no server would take it; the journal has it whole, and
    # the hash says which it is.
    return RoundPlayed(archive.round_no, _left_out(record), _left_out(result), body.awards)


def _left_out(part: Any) -> dict[str, Any]:
    text = msgspec.json.encode(part)
    return {"left_out_bytes": len(text), "sha256": sha256(text).hexdigest()}


def fixed_awards(book: Book, result: Mapping[str, Any]) -> tuple[FixedAward, ...]:
    """What the table paid from the progressive's pay table, without shares of the jackpot."""
    if book.progressive is None:
        return ()
    found: list[FixedAward] = []
    for row in result["seats"]:
        wager = row["wagers"].get(PROGRESSIVE)
        if wager and wager["win"] and isinstance(_pay(book, row["hand"]), Odds):
            found.append(FixedAward(row["seat"], row["hand"], wager["win"]))
        for award in row["awards"]:
            if award["kind"] in PAID_HERE:
                found.append(FixedAward(row["seat"], award["kind"], award["amount"]))
    return tuple(found)


def _pay(book: Book, hand: str | None) -> object:
    assert book.progressive is not None
    return None if hand is None else book.progressive.pay(HAND_BY_NAME[hand])
