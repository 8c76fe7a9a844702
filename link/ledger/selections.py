"""Magic card and lucky player of tables that have the server draw them.

A table asks when its bets are locked; the draw is an order of record with its seed, so that it is
on disk before the commitment, and the commitment leaves before the draw. A table that asks again,
after whatever interruption, gets the same answer: nothing is ever drawn a second time.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from link.ledger.claims import POISON
from link.ledger.errors import PoolError
from link.ledger.orders import Select
from link.ledger.rounds import Selection
from link.ledger.state import Poison, Reply, State, TableJournal
from record.draw import CARDS, SALT_BYTES, SEED_BYTES, Chances, commitment, picks
from record.link.events import SelectionWanted
from record.link.messages import SelectionCommitted, SelectionRevealed

MOST_SEATS: Final = 7


def want(state: State, journal: TableJournal, body: SelectionWanted) -> list[Reply]:
    """Remember what was asked; repeat what is drawn already."""
    number = body.round
    known = journal.selection
    if known is not None and number <= known.round:
        if number < known.round:
            raise Poison(POISON, f"round {number}: a selection was drawn for {known.round} already")
        return told(journal, number)
    if list(body.seats) != sorted(set(body.seats)) or len(body.seats) > MOST_SEATS:
        raise Poison(POISON, f"round {number}: seats {body.seats} are not some of 1 to 7 in order")
    try:
        rates = _chances(body)
    except (ValueError, ZeroDivisionError):
        rates = None
    if rates is None or max(rates.magic_rate, rates.lucky_rate) > 1:
        said = f"{body.magic_rate[:40]} and {body.lucky_rate[:40]}"
        raise Poison(POISON, f"round {number}: rates of {said} are not shares of one")
    journal.wanted = body
    state.unselected.append(journal)
    return []


def draw(journal: TableJournal, chance: bytes, salt: bytes) -> Select:
    """The order that answers what the journal wants."""
    assert journal.wanted is not None
    wanted, seed, salt = journal.wanted, chance[:SEED_BYTES], salt[:SALT_BYTES]
    found = picks(seed, journal.journal, wanted.round, _chances(wanted))
    return Select(
        journal=journal.journal,
        round=wanted.round,
        digest=commitment(seed, salt, journal.journal, wanted.round),
        seed=seed.hex(),
        salt=salt.hex(),
        magic_card=None if found.magic_card is None else CARDS[found.magic_card],
        lucky_seat=found.lucky_seat,
    )


def drawn(state: State, order: Select) -> list[Reply]:
    journal = state.journals.get(order.journal)
    if journal is None or journal.wanted is None or journal.wanted.round != order.round:
        raise PoolError("E-POOL-026", f"nobody wants a selection for round {order.round}")
    wanted = journal.wanted
    state.unselected = [other for other in state.unselected if other is not journal]
    journal.wanted = None
    journal.selection = Selection(
        order.round,
        order.digest,
        {
            "seed": order.seed,
            "salt": order.salt,
            "seats": list(wanted.seats),
            "magic_rate": wanted.magic_rate,
            "lucky_rate": wanted.lucky_rate,
            "magic_card": order.magic_card,
            "lucky_seat": order.lucky_seat,
        },
    )
    state.touch_journal(journal)
    return told(journal, order.round)


def told(journal: TableJournal, number: int) -> list[Reply]:
    """Commitment, then draw: the table writes down the one before it hears the other."""
    held = journal.selection
    if held is None or held.round != number:
        return []
    return [
        (journal.table, SelectionCommitted(number, held.digest)),
        (journal.table, SelectionRevealed(number, held.draw)),
    ]


def _chances(wanted: SelectionWanted) -> Chances:
    rates = Fraction(wanted.magic_rate), Fraction(wanted.lucky_rate)
    return Chances(wanted.seats, *rates)
