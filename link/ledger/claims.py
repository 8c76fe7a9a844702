"""Claims on a jackpot, and the lock: order of record, amount of record, the next generation.

One message holds all percentage claims of a round. It is locked at once, or where a tie may still
come, together with the others of its time (``ties``). A lock is one step: amounts from the ledger
as it stands, money set aside, the level reset; the other tables play on.
"""

from __future__ import annotations

from link.ledger.amounts import worths
from link.ledger.level import DISPLAY, HOUSE, NEVER, NEXT, PENDING, RESERVE, Level, Reset
from link.ledger.rounds import HELD, Held, RoundBook
from link.ledger.state import Poison, PoolState, Reply, State, TableJournal, must_fit
from link.ledger.units import to_cents, to_units
from record.link.events import Claim, Claimed
from record.link.messages import Locked, LockedAward

POISON = "E-LNK-017"
MYSTERY = "mystery"

Message = tuple[TableJournal, RoundBook, list[Held]]
"""The claims of one round on one level."""


def claim(state: State, journal: TableJournal, body: Claimed) -> list[Reply]:
    book = journal.rounds.get(body.round)
    if book is None or not body.claims:
        what = "no claim" if book is not None else "no wager known"
        raise Poison(POISON, f"round {body.round}: {what}, so nothing can be claimed")
    pool = state.pools[book.pool]
    _check(pool, book, body)
    standing = book.claims()
    same = [(h.seat, h.hand, h.percent) for h in standing] == [
        (c.seat, c.hand, c.percent) for c in body.claims
    ]
    if any(held.state != "claimed" for held in standing):
        if not same:
            raise Poison(POISON, f"round {body.round}: its claims are locked and cannot change")
        return told(journal, book)
    if not same:
        _replace(state, journal, book, body)
    waits = any(waiting is book for _, waiting in pool.waiting)
    ties = any(
        c.percent == 100 and pool.hands[c.hand].terms.ties != "strict_order" for c in body.claims
    )
    if waits:
        return []
    if ties or pool.waiting:
        pool.waiting.append((journal, book))
        return []
    return lock(state, pool, [(journal, book)])


def told(journal: TableJournal, book: RoundBook) -> list[Reply]:
    return [] if book.locked is None else [(journal.table, book.locked)]


def _check(pool: PoolState, book: RoundBook, body: Claimed) -> None:
    """Every claim has a wager behind it and is one that the pool pays."""
    if pool.closed:
        raise Poison(POISON, f"round {body.round}: pool {pool.pool} is closed")
    if len({c.seat for c in body.claims}) != len(body.claims):
        raise Poison(POISON, f"round {body.round}: a seat claims twice")
    for c in body.claims:
        where = f"round {body.round}, seat {c.seat}"
        level = pool.hands.get(c.hand)
        if level is None or level.terms.shares[c.hand] != c.percent:
            raise Poison(POISON, f"{where}: {c.percent} % for {c.hand} is no award of {pool.pool}")
        if not book.wagered(c.seat):
            raise Poison(POISON, f"{where}: claims without a wager in this round")
    many = len(body.claims) * (1 + len(pool.waiting))
    for level in {c.hand: pool.hands[c.hand] for c in body.claims}.values():
        most = level.shown_cents + level.coming.reset_cents
        must_fit(level, many * to_units(most), f"round {body.round}")


def _replace(state: State, journal: TableJournal, book: RoundBook, body: Claimed) -> None:
    """A claim that did not change keeps its award; the others are withdrawn."""
    kept = {(h.seat, h.hand, h.percent): h for h in book.claims()}
    hands = state.pools[book.pool].hands
    awards = []
    for c in body.claims:
        found = kept.pop((c.seat, c.hand, c.percent), None)
        awards.append(found or _new(state, hands[c.hand], journal, book, c))
    for held in kept.values():
        state.step(held, "withdrawn", journal.table, "table", "replaced by a later claim")
    book.awards = [h for h in book.awards if h not in awards] + awards


def _new(state: State, level: Level, journal: TableJournal, book: RoundBook, claim: Claim) -> Held:
    pool = state.pools[level.pool]
    first = pool.first.state
    first.awards += 1
    state.touch(pool.first)
    held = Held(
        award=f"{pool.pool}/{level.generation}/{first.awards}",
        pool=pool.pool,
        level=level.name,
        generation=level.generation,
        order=first.awards,
        table=journal.table,
        journal=journal.journal,
        round=book.round,
        seat=claim.seat,
        hand=claim.hand,
        percent=claim.percent,
        event=state.event,
        claimed_ms=state.at_ms,
    )
    state.awards[held.award] = held
    state.step(held, "claimed", journal.table, "table")
    return held


# --- the lock -----------------------------------------------------------------------------------


def due_ms(pool: PoolState, now_ms: int) -> int | None:
    """When the claims that wait are locked: counted from the first that resets. At once, if none
    does any more, or if the clock went back: it says nothing about the time since."""
    if not pool.waiting:
        return None
    first = [h for _, book in pool.waiting for h in _waiting(book) if h.percent == 100]
    if any(now_ms < held.claimed_ms for held in first):
        return 0
    return min((h.claimed_ms + pool.level(h.level).terms.tie_ms for h in first), default=0)


def lock_waiting(state: State, pool: PoolState) -> list[Reply]:
    """In the order of their claims; one that was replaced by another has its place from that."""
    waiting, pool.waiting = pool.waiting, []
    waiting.sort(key=lambda found: min(held.order for held in _waiting(found[1])))
    return lock(state, pool, waiting)


def lock(
    state: State, pool: PoolState, rounds: list[tuple[TableJournal, RoundBook]]
) -> list[Reply]:
    """The claims of these rounds, in their order of record."""
    position = len({(h.journal, h.round) for h in state.awards.values() if _pending(h, pool)})
    for level in list(pool.levels):
        messages = [
            (journal, book, mine)
            for journal, book in rounds
            if (mine := [h for h in _waiting(book) if h.level == level.name])
        ]
        if messages:
            _lock_level(state, level, messages)
    replies: list[Reply] = []
    for journal, book in rounds:
        awards = [held for held in book.claims() if held.state == "locked"]
        position += 1
        book.locked = Locked(
            round=book.round,
            jackpot_cents=awards[0].jackpot_cents,
            reset_cents=awards[0].reset_cents,
            awards=tuple(LockedAward(h.seat, h.award, h.cents) for h in awards),
            position=position,
            policy=awards[0].policy,
        )
        state.touch_journal(journal)
        replies += told(journal, book)
    return replies


def _waiting(book: RoundBook) -> list[Held]:
    return [held for held in book.claims() if held.state == "claimed"]


def _pending(held: Held, pool: PoolState) -> bool:
    return held.pool == pool.pool and held.state in HELD


def _lock_level(state: State, level: Level, messages: list[Message]) -> None:
    """What the claims of each round are taken from, by the policy for ties."""
    ties = level.terms.ties
    if ties == "strict_order" or len(messages) == 1:
        for message in messages:
            _settle(state, level, [message], level.shown_cents)
        return
    if ties == "same_cycle_full":
        _settle(state, level, messages, level.shown_cents)
        return
    # share: percentages come off first, in order; those who take all share what is left.
    takers = [m for m in messages if any(held.percent == 100 for held in m[2])]
    for message in messages:
        if all(held.percent != 100 for held in message[2]):
            _settle(state, level, [message], level.shown_cents)
    if takers:
        _settle(state, level, takers, level.shown_cents // len(takers))


def _settle(state: State, level: Level, messages: list[Message], jackpot_cents: int) -> None:
    """Each round's claims on ``jackpot_cents``, together: one reset, even if several take all."""
    terms, reset_cents = level.terms, level.coming.reset_cents
    later: list[tuple[Held, int]] = []
    resetting: list[Held] = []
    everyone: list[str] = []
    for _, _, awards in messages:
        percents = [held.percent for held in awards]
        found = worths(jackpot_cents, reset_cents, terms.meter_rule, percents)
        for held, worth in zip(awards, found, strict=True):
            held.jackpot_cents, held.reset_cents = jackpot_cents, reset_cents
            held.policy, held.rule = terms.ties, terms.meter_rule
            everyone.append(held.award)
            if worth.phase == "reset":
                later.append((held, worth.cents))
                continue
            fund(state, level, held, worth.cents)
            if held.percent == 100:
                resetting.append(held)
    if resetting:
        begin_generation(state, level, resetting, everyone)
    for held, cents in later:
        fund(state, level, held, cents)
        if held.percent == 100:
            begin_generation(state, level, [held], [held.award])


def fund(state: State, level: Level, held: Held, cents: int) -> None:
    """Set the award's money aside: from the jackpot as far as it goes, then from the house."""
    state.flush(level)  # contributions before a lock are entries of their own, also if it pays 0
    there = min(cents, to_cents(level.balances[DISPLAY]))
    state.move(level, DISPLAY, PENDING, to_units(there), "award", award=held.award)
    state.move(level, HOUSE, PENDING, to_units(cents - there), "top-up", award=held.award)
    held.cents, held.pot_units = cents, to_units(there)
    held.generation = level.generation
    level.hits += 1
    level.state.wins_cents += cents
    state.step(held, "locked", "server", "")


def begin_generation(state: State, level: Level, awards: list[Held], everyone: list[str]) -> None:
    """Reset: the next base pays the seed first, then the reserve, then the house. What the jackpot
    had below a cent stays in it."""
    level.next_terms, terms = None, level.coming
    state.flush(level)
    level.generation += 1
    level.adopt(terms)
    reset = Reset(
        generation=level.generation,
        living=level.state.living,
        awards=[held.award for held in awards],
        locked=everyone,
    )
    level.state.living = [level.generation]
    missing = to_units(terms.reset_cents)
    for source in (NEXT, RESERVE, HOUSE):
        there = missing if source == HOUSE else min(missing, level.balances[source])
        state.move(level, source, DISPLAY, there, "seed", award=awards[0].award)
        setattr(reset, source, there)
        missing -= there
    over = level.balances[DISPLAY] - level.limit
    if over > 0:  # what was below a cent, or could not be shared out
        state.move_parts(level, DISPLAY, level.over(over), "overflow")
        level.state.overflow_units += over
    awards[0].seed_units = to_units(terms.reset_cents)
    for held in awards:
        held.reset = level.generation
        state.touch_award(held)
    level.state.resets.append(reset)
    level.keep_resets({a for a, h in state.awards.items() if h.state in HELD})
    key = (level.pool, level.name)
    state.resets[key] = state.resets.get(key, 0) + 1
    disarm(state, level)
    state.pools[level.pool].arrange()


def disarm(state: State, level: Level) -> None:
    """A mystery level has no trigger until the next is drawn."""
    if level.terms.must_hit is not None:
        level.trigger_units = NEVER
        level.set_brink()
        if level not in state.undrawn:
            state.undrawn.append(level)


def lock_mystery(
    state: State, journal: TableJournal, book: RoundBook, level: Level, seat: int
) -> Held:
    """The contribution of this seat reached the trigger."""
    held = _new(state, level, journal, book, Claim(seat, MYSTERY, 100))
    held.percent, held.policy, held.rule = 0, level.terms.ties, level.terms.meter_rule
    held.jackpot_cents, held.reset_cents = level.shown_cents, level.coming.reset_cents
    book.awards.append(held)
    fund(state, level, held, level.shown_cents)
    begin_generation(state, level, [held], [held.award])
    return held
