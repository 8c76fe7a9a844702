"""From lock to payment, or back: what people decide about an award, and what a void does to it.

    claimed -> locked -> verified -> approved -> paid
    any of the first four -> rejected (by people) | withdrawn (by the table)

A rejected or withdrawn award puts the jackpot back as if it had not been: its money returns, the
seed of the generation it began goes back to its sources. What was paid stays paid; if its round
turns out to be void later, the house makes the jackpot whole and carries the deficit.
"""

from __future__ import annotations

from typing import Final

from msgspec import structs

from link.ledger.amounts import worths
from link.ledger.claims import POISON, disarm
from link.ledger.errors import PoolError
from link.ledger.level import DEFICIT, DISPLAY, HOUSE, NEXT, PAID, PENDING, RESERVE, Level
from link.ledger.orders import Approve, Pay, Person, Reject, Verify
from link.ledger.rounds import HELD, OPEN, Held, RoundBook
from link.ledger.state import Poison, Reply, State, TableJournal, must_fit
from link.ledger.units import to_cents, to_units
from link.rows import AwardState
from record.kit.money import dollars
from record.link.events import Withdrawn
from record.link.messages import AwardChanged, LockedAward
from record.link.notes import revalued_note

LEGAL: Final[dict[str, frozenset[str]]] = {
    "": frozenset(("claimed",)),
    "claimed": frozenset(("locked", "rejected", "withdrawn")),
    "locked": frozenset(("locked", "verified", "rejected", "withdrawn")),
    "verified": frozenset(("verified", "approved", "rejected", "withdrawn")),
    "approved": frozenset(("paid", "rejected", "withdrawn")),
    "paid": frozenset(),
    "rejected": frozenset(),
    "withdrawn": frozenset(),
}
"""State to what may follow. The same state again is a first approval, or an amount that changed."""

MOST_LIVING: Final = 16


def changed(held: Held) -> Reply:
    return held.table, AwardChanged(held.round, held.seat, held.award, held.state, held.cents)


def find(state: State, award: str) -> Held:
    held = state.awards.get(award)
    if held is None:
        raise PoolError("E-POOL-021", f"there is no award {award} that anything could be done with")
    return held


def _must(held: Held, *states: AwardState) -> None:
    if held.state not in states:
        raise PoolError(
            "E-POOL-022", f"award {held.award} is {held.state}; expected {' or '.join(states)}"
        )


def _must_be_wagered(state: State, held: Held) -> None:
    """The round may be void since the last step."""
    if not state.journals[held.journal].rounds[held.round].wagered(held.seat):
        raise PoolError(
            "E-POOL-022",
            f"award {held.award}: the wager of seat {held.seat} in round {held.round} was reversed "
            f"while the award was {held.state}; do not hand over the money; two people reject it "
            f"(underfelt jackpot reject {held.award})",
        )


# --- people -------------------------------------------------------------------------------------


def verify(state: State, order: Verify, by: Person) -> list[Reply]:
    held = find(state, order.award)
    _must(held, "locked")
    state.step(held, "verified", by.account, by.role, order.note)
    return [changed(held)]


def approve(state: State, order: Approve, by: Person) -> list[Reply]:
    """Two people of different roles, one after the other."""
    held = find(state, order.award)
    _must(held, "verified")
    _must_be_wagered(state, held)
    account, role = held.first
    if not account:
        held.first = (by.account, by.role)
        state.step(held, "verified", by.account, by.role, order.note or "first approval")
        return []
    if by.account == account or by.role == role:
        raise PoolError(
            "E-POOL-024",
            f"award {held.award} was approved by {account} ({role}); expected another person with "
            f"another role, not {by.account} ({by.role})",
        )
    state.step(held, "approved", by.account, by.role, order.note)
    return [changed(held)]


def pay(state: State, order: Pay, by: Person) -> list[Reply]:
    held = find(state, order.award)
    _must(held, "approved")
    _must_be_wagered(state, held)
    state.move(state.level_of(held), PENDING, PAID, to_units(held.cents), "paid", award=held.award)
    state.step(held, "paid", by.account, by.role, order.note)
    return [changed(held)]


def reject(state: State, order: Reject, people: tuple[Person, ...]) -> list[Reply]:
    """The step names the first of the two; its note the second."""
    held = find(state, order.award)
    _must(held, "claimed", "locked", "verified", "approved")
    others = "".join(f"; with {other.account} ({other.role})" for other in people[1:])
    return _undo(state, held, "rejected", people[0], order.why + others)


# --- the table ----------------------------------------------------------------------------------


def withdraw(state: State, journal: TableJournal, body: Withdrawn) -> list[Reply]:
    """These seats' awards are void, whatever has become of them."""
    book = journal.rounds.get(body.round)
    if book is None:
        raise Poison(POISON, f"round {body.round} is not known, so nothing of it can be withdrawn")
    replies: list[Reply] = []
    mine = [held for held in book.awards if held.seat in body.seats]
    for held in mine:
        if held.state == "paid" and not held.restored:  # the house brings its money a second time
            units = sum(h.pot_units for h in mine if h.level == held.level)
            must_fit(state.level_of(held), units, f"round {body.round}")
    for held in mine:
        if held.state in OPEN:
            replies += _undo(state, held, "withdrawn", Person(journal.table, "table"), "void")
        elif held.state == "paid" and not held.restored:
            _void_after_payment(state, held)
    if not book.claims():
        book.locked = None
    return replies


def _undo(state: State, held: Held, to: AwardState, by: Person, note: str) -> list[Reply]:
    locked = held.state in HELD
    state.step(held, to, by.account, by.role, note)
    if not locked:
        pool = state.pools[held.pool]
        pool.waiting = [(j, book) for j, book in pool.waiting if _claims(book)]
        return [changed(held)]
    level = state.level_of(held)
    level.hits -= 1
    level.state.wins_cents -= held.cents
    state.move(level, PENDING, HOUSE, held.top_up_units, "top-up back", award=held.award)
    left = held.pot_units - _repay_top_ups(state, level, held)
    _restore(state, level, held, PENDING, left)
    return [changed(held), *_revalue(state, level, held)]


def _claims(book: RoundBook) -> bool:
    return any(held.state == "claimed" for held in book.awards)


def _void_after_payment(state: State, held: Held) -> None:
    level = state.level_of(held)
    _restore(state, level, held, DEFICIT, held.pot_units)
    text = f"award {held.award} was paid and its round is void; the house carries the deficit"
    state.alarm("E-POOL-042", held.table, text)


# --- putting a jackpot back -----------------------------------------------------------------------


def _repay_top_ups(state: State, level: Level, held: Held) -> int:
    """Others of the same lock whom the house paid because this one had taken the jackpot: now the
    jackpot pays them. Units used."""
    used = 0
    for reset in level.state.resets:
        if held.award not in reset.locked:
            continue
        for name in reset.locked:
            other = state.awards.get(name)
            if other is None or other is held or other.state not in (*HELD, "paid"):
                continue
            units = min(other.top_up_units, held.pot_units - used)
            if units > 0:
                state.move(level, PENDING, HOUSE, units, "top-up back", award=other.award)
                other.pot_units += units
                state.touch_award(other)
                used += units
    return used


def _restore(state: State, level: Level, held: Held, source: str, units: int) -> None:
    """``units`` of the jackpot come back from ``source``. If no award is left that made the level
    begin again, that beginning is undone too: its seed goes back, its reversals are settled."""
    held.restored = True
    state.touch_award(held)
    for reset in level.state.resets:
        if held.award in reset.awards and not reset.restored and _none_stands(state, reset.awards):
            reset.restored = True
            living = [g for g in reset.living if g not in level.state.living]
            level.state.living = (living + level.state.living)[-MOST_LIVING:]
    _seeds_back(state, level)
    parts = level.to_display(units)
    state.move_parts(level, source, parts, "restored", award=held.award)
    level.state.overflow_units += sum(part for account, part in parts if account != DISPLAY)
    _seeds_back(state, level)
    _settle_owed(state, level, held)
    disarm(state, level)


def _none_stands(state: State, awards: list[str]) -> bool:
    """An award that is forgotten was paid."""
    return all(name in state.awards and state.awards[name].restored for name in awards)


def _seeds_back(state: State, level: Level) -> None:
    """The last source first: the house gave what the others could not."""
    for reset in level.state.resets:
        if not reset.restored or reset.generation not in level.state.living:
            continue
        for source in (HOUSE, RESERVE, NEXT):
            units = min(getattr(reset, source), level.balances[DISPLAY])
            if units:
                setattr(reset, source, getattr(reset, source) - units)
                state.move(level, DISPLAY, source, units, "seed back", award=reset.awards[0])
                lent = min(reset.lent.get(source, 0), units)
                state.move(level, source, DEFICIT, lent, "reversal")
                reset.lent[source] = reset.lent.get(source, 0) - lent
    state.touch(level)


def _settle_owed(state: State, level: Level, held: Held) -> None:
    """What was reversed while the jackpot was out: it is back and bears it."""
    lent = min(held.lent, level.balances[DISPLAY])
    state.move(level, DISPLAY, DEFICIT, lent, "reversal")
    held.lent -= lent
    owed = level.state.owed
    for generation in [g for g in owed if g in level.state.living]:
        units = min(owed[generation], level.balances[DISPLAY])
        state.move(level, DISPLAY, DEFICIT, units, "reversal")
        owed[generation] -= units
        if not owed[generation]:
            del owed[generation]


def _revalue(state: State, level: Level, gone: Held) -> list[Reply]:
    """The other claims of the round, as the table settles them without the one that is gone."""
    book = state.journals[gone.journal].rounds[gone.round]
    rest = [
        held
        for held in book.claims()
        if held.level == gone.level and held.state in (*HELD, "paid") and gone.percent
    ]
    found = worths(gone.jackpot_cents, gone.reset_cents, gone.rule, [h.percent for h in rest])
    replies: list[Reply] = []
    for held, worth in zip(rest, found, strict=True):
        if worth.cents == held.cents:
            continue
        if held.state not in ("locked", "verified"):
            text = (
                f"award {held.award} would be {dollars(worth.cents)} without {gone.award}; it is "
                f"{held.state} with {dollars(held.cents)}"
            )
            state.alarm("E-POOL-043", held.table, text)
            continue
        _set_cents(state, level, held, worth.cents, gone)
        replies.append(changed(held))
    if replies and book.locked is not None:
        awards = tuple(
            LockedAward(h.seat, h.award, h.cents) for h in rest if h.state in (*HELD, "paid")
        )
        book.locked = structs.replace(book.locked, awards=awards)
    return replies


def _set_cents(state: State, level: Level, held: Held, cents: int, gone: Held) -> None:
    note = revalued_note(held.cents, gone.award, gone.state)
    more = cents - held.cents
    if more > 0:
        there = min(more, to_cents(level.balances[DISPLAY]))
        state.move(level, DISPLAY, PENDING, to_units(there), "award", award=held.award)
        state.move(level, HOUSE, PENDING, to_units(more - there), "top-up", award=held.award)
        held.pot_units += to_units(there)
    else:
        units = to_units(-more)
        extra = min(units, held.top_up_units)
        state.move(level, PENDING, HOUSE, extra, "top-up back", award=held.award)
        parts = level.to_display(units - extra)
        state.move_parts(level, PENDING, parts, "restored", award=held.award)
        level.state.overflow_units += sum(part for account, part in parts if account != DISPLAY)
        held.pot_units -= units - extra
    level.state.wins_cents += more
    held.cents, held.first = cents, ("", "")
    state.step(held, held.state, "server", "", note)
