"""Wagers into the pools, and back out of them when a round is void. Exact, seat by seat."""

from __future__ import annotations

from link.ledger import mystery
from link.ledger.claims import lock_mystery
from link.ledger.level import DEFICIT, DISPLAY, ENVY, RESERVE, WAGERS, Level
from link.ledger.rounds import OPEN, Part, Post, RoundBook, Spread, Streams
from link.ledger.state import (
    UNREASONABLE,
    Poison,
    PoolState,
    Reply,
    State,
    TableJournal,
    must_fit,
)
from link.ledger.sums import WAGERED_CENTS, WAGERS_COUNTED
from link.ledger.units import to_units
from record.kit.money import dollars
from record.kit.words import counted
from record.link.events import Contributed, Reversed, Wager

POISON = "E-LNK-017"


def contribute(state: State, journal: TableJournal, body: Contributed) -> list[Reply] | None:
    """The hot path. None where there is nothing to say beside the ack."""
    number = body.round
    book = journal.rounds.get(number)
    pool = state.pool_of.get(journal.table) if book is None else state.pools[book.pool]
    if pool is None:
        raise Poison(POISON, f"round {number}: table {journal.table} plays for no pool")
    total, seats, allowed, wagers = 0, 0, pool.allowed, body.wagers
    for wager in wagers:
        seat, cents = 1 << wager.seat, wager.cents
        if seats & seat:
            raise Poison(POISON, f"round {number}: seat {wager.seat} stands twice")
        if (cents, wager.credits) not in allowed:
            raise Poison(
                UNREASONABLE,
                f"seat {wager.seat}: {dollars(cents)} with {counted(wager.credits, 'credit')} "
                f"is no wager of pool {pool.pool}",
            )
        seats |= seat
        total += cents
    if book is not None:
        _check_more(pool, book, wagers, total)
    elif number <= journal.forgotten:
        raise Poison(POISON, f"round {number} comes after round {journal.forgotten}")
    elif total > pool.most_cents:
        raise _too_much(pool, number, total)
    event = state.event
    came = pool.came + total
    near = came > pool.room
    if near:
        state.settle()
        pool.room = min(level.room_cents() for level in pool.levels)
        came = total
        near = came > pool.room
        if near:
            _check_width(pool, number, len(wagers), total)
    if book is None:
        book = state.new_book(journal, pool.pool, number)
    sums = state.tally.of(state.at_ms, pool.pool, "", journal.table)
    sums[WAGERS_COUNTED] += len(wagers)
    sums[WAGERED_CENTS] += total
    if near:
        return _seat_by_seat(state, journal, book, wagers, total)
    pool.came = came
    pool.count += len(wagers)
    pool.last_event = event
    if not pool.first_event:
        pool.first_event = event
        state.unsettled.append(pool)
    book.posts.append(Post(wagers, pool.spreads))
    return None


def _check_more(pool: PoolState, book: RoundBook, wagers: tuple[Wager, ...], total: int) -> None:
    """Further wagers of a round that has some."""
    if pool.closed:
        raise Poison(POISON, f"round {book.round}: pool {pool.pool} is closed")
    put = {wager.seat for post in book.posts for wager in post.wagers}
    again = [wager.seat for wager in wagers if wager.seat in put]
    if again:
        raise Poison(POISON, f"round {book.round}: seat {again[0]} has contributed already")
    total += sum(wager.cents for post in book.posts for wager in post.wagers)
    if total > pool.most_cents:
        raise _too_much(pool, book.round, total)


def _check_width(pool: PoolState, number: int, wagers: int, total: int) -> None:
    """Nothing comes in that the store's columns could not hold; each wager may reset a mystery."""
    for level in pool.levels:
        plain = level.plain
        units = total * (plain.rate + plain.hidden + plain.envy)
        if level.terms.must_hit is not None:
            units += wagers * to_units(level.coming.reset_cents)
        must_fit(level, units, f"round {number}")


def _too_much(pool: PoolState, number: int, total: int) -> Poison:
    return Poison(
        UNREASONABLE,
        f"round {number}: {dollars(total)}; expected at most {dollars(pool.most_cents)}, "
        f"every seat of pool {pool.pool} with the largest wager",
    )


def _seat_by_seat(
    state: State, journal: TableJournal, book: RoundBook, wagers: tuple[Wager, ...], total: int
) -> list[Reply]:
    """A ceiling, a full reserve or a trigger is near: where each seat's money goes is kept."""
    spreads: list[Spread] = []
    replies: list[Reply] = []
    event = state.event
    for level in state.pools[book.pool].levels:
        state.touch(level)
        plain = level.plain
        if total <= level.room_cents():
            level.add_plain(total, len(wagers), event, event)
            spreads.append(plain)
            continue
        exact: dict[int, tuple[int, Streams]] = {}
        winners = []
        for wager in wagers:
            exact[wager.seat] = (level.generation, _post_seat(state, level, wager))
            if level.balances[DISPLAY] >= level.trigger_units:
                winners.append(lock_mystery(state, journal, book, level, wager.seat))
        spreads.append(
            Spread(level.name, plain.generation, plain.rate, plain.hidden, plain.envy, exact)
        )
        replies += [(journal.table, mystery.told(held)) for held in winners]
    book.posts.append(Post(wagers, tuple(spreads)))
    return replies


def _post_seat(state: State, level: Level, wager: Wager) -> Streams:
    event, terms, cents = state.event, level.plain, wager.cents
    visible = level.to_display(cents * terms.rate)
    for account, units in visible:
        why = "contribution" if account == DISPLAY else "overflow"
        level.add(account, units, why, event, event)
        if account != DISPLAY:
            level.state.overflow_units += units
    hidden = level.to_reserve(cents * terms.hidden)
    for account, units in hidden:
        why = "hidden" if account == RESERVE else "reserve full"
        level.add(account, units, why, event, event)
    level.add(ENVY, cents * terms.envy, "envy fund", event, event)
    level.state.wagers += 1
    level.state.wagered_cents += cents
    return Streams(tuple(visible), tuple(hidden), cents * terms.envy)


# --- back ---------------------------------------------------------------------------------------


def reverse(state: State, journal: TableJournal, body: Reversed) -> list[Reply]:
    """The wagers went back to the players; their part of the pools goes back where it came from."""
    book = journal.rounds.get(body.round)
    if book is None:
        raise Poison(POISON, f"round {body.round} is not known, so nothing of it can be reversed")
    if len({wager.seat for wager in body.wagers}) != len(body.wagers):
        raise Poison(POISON, f"round {body.round}: a seat stands twice among its reversals")
    for wager in body.wagers:
        stands = book.wagered(wager.seat)
        if not 0 < wager.cents <= stands:
            raise Poison(
                POISON,
                f"round {body.round}, seat {wager.seat}: {dollars(wager.cents)} reversed, but "
                f"{dollars(stands)} stands",
            )
    pool = state.pools[book.pool]
    for wager in body.wagers:
        post = next(p for p in book.posts if any(w.seat == wager.seat for w in p.wagers))
        before = book.back.get(wager.seat, 0)
        put = next(w for w in post.wagers if w.seat == wager.seat)
        for spread in post.spreads:
            level = pool.level(spread.level)
            _take_back(state, level, spread, put, back=(before, wager.cents))
        book.back[wager.seat] = before + wager.cents
        sums = state.tally.of(state.at_ms, book.pool, "", journal.table)
        sums[WAGERED_CENTS] -= wager.cents
        if before + wager.cents == put.cents:
            sums[WAGERS_COUNTED] -= 1
    _warn(state, journal, book)
    return []


def _take_back(
    state: State, level: Level, spread: Spread, wager: Wager, *, back: tuple[int, int]
) -> None:
    """``back``: cents of the wager that are back already, and cents that go back now. The last that
    came in are the first to go out."""
    put, (before, cents) = wager.cents, back
    if spread.exact is None:
        generation = spread.generation
        streams = Streams(
            ((DISPLAY, put * spread.rate),), ((RESERVE, put * spread.hidden),), put * spread.envy
        )
    else:
        generation, streams = spread.exact[wager.seat]
    for account, units in _last(streams.visible, put, before, cents):
        _out(state, level, account, units, generation)
        if account != DISPLAY:
            level.state.overflow_units -= units
    for account, units in _last(streams.hidden, put, before, cents):
        _out(state, level, account, units, generation)
    for account, units in _last(((ENVY, streams.envy),), put, before, cents):
        _out(state, level, account, units, generation)
    level.state.wagered_cents -= cents
    if before + cents == put:
        level.state.wagers -= 1
    state.touch(level)


def _last(stream: tuple[Part, ...], put: int, before: int, cents: int) -> list[Part]:
    """Of a stream that ``put`` cents made, the part of the last ``cents`` but ``before``."""
    rate = sum(units for _, units in stream) // put
    spared, wanted = before * rate, cents * rate
    found = []
    for account, part in reversed(stream):
        gone = min(part, spared)
        spared -= gone
        back = min(part - gone, wanted)
        wanted -= back
        if back:
            found.append((account, back))
    return found


def _out(state: State, level: Level, account: str, units: int, generation: int) -> None:
    """From where it went, as far as it is still there; what is gone is a deficit of the house."""
    there, held = min(units, level.balances[account]), level.state
    if account == DISPLAY and generation not in held.living:
        there = 0  # its jackpot is out
    state.move(level, account, WAGERS, there, "reversal")
    gone = units - there
    if not gone:
        return
    state.move(level, DEFICIT, WAGERS, gone, "reversal after a win")
    # The award that took the money settles this if it is ever given back.
    if account != DISPLAY:
        for reset in reversed(held.resets):
            lent = min(gone, getattr(reset, account, 0) - reset.lent.get(account, 0))
            if lent > 0:
                reset.lent[account] = reset.lent.get(account, 0) + lent
                gone -= lent
    elif generation not in held.living:
        held.owed[generation] = held.owed.get(generation, 0) + gone
    else:
        for award in state.pending(level):
            lent = min(gone, award.pot_units - award.lent)
            if lent > 0:
                award.lent += lent
                gone -= lent
                state.touch_award(award)


def _warn(state: State, journal: TableJournal, book: RoundBook) -> None:
    """The table withdraws a claim of its own; of a mystery it may know nothing any more."""
    for held in book.mysteries():
        if held.state in OPEN and not book.wagered(held.seat):
            text = f"the wager behind award {held.award} went back; it is to be rejected"
            state.alarm("E-POOL-041", journal.table, text)
