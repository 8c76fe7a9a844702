"""What every award was taken from: the jackpot at its lock, added up twice in one walk each.

Contributions come from the tables' events by day and table, everything else from the entries. Each
level keeps running sums; a lock takes a copy of them. The work grows with the rows, not with rows
times awards.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Final

from link.ledger.level import DISPLAY, PENDING, WAGERS
from link.ledger.units import to_cents
from link.reports.past import Key, ReportInputs
from link.rows import AwardRow, Entry
from record.link.events import Claimed, Contributed

OVERFLOW: Final = "overflow"

Put = Counter[tuple[str, str, int]]
"""Gaming day, table and rate to cents wagered."""


@dataclass(slots=True)
class Jackpot:
    """What awards that were settled together were taken from."""

    lock: int
    """The event that locked them."""
    generation: int
    awards: frozenset[str]
    takers: int
    """Rounds that shared it."""
    carried: int = 0
    moved: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Why and the other account to units of this generation."""
    earlier: Counter[str] = field(default_factory=Counter)
    """Award to units that it took from the same generation before."""
    over: int = 0
    """Contributions that did not fit under the ceiling."""
    put: Put = field(default_factory=Counter)

    @property
    def wagered_units(self) -> int:
        return sum(cents * rate for (_, _, rate), cents in self.put.items())

    @property
    def contributed(self) -> int:
        """By the entries."""
        return self.moved["contribution", WAGERS]

    @property
    def held(self) -> int:
        """Units in the jackpot at the lock, contributions as the tables' wagers make them."""
        rest = sum(u for (why, _), u in self.moved.items() if why != "contribution")
        return self.carried + rest + sum(self.earlier.values()) + self.wagered_units - self.over

    @property
    def cents(self) -> int:
        return to_cents(self.held) // self.takers


@dataclass(slots=True)
class Derivation:
    """One award that was locked."""

    award: AwardRow
    jackpot: Jackpot
    message: list[AwardRow]
    """All awards of the round on this level that were locked with it, in settlement order."""
    rule: str
    """Of the meter, in that generation."""
    from_jackpot: int = 0
    top_up: int = 0
    """Units set aside at the lock, by source."""


def derive(inputs: ReportInputs, awards: Iterable[AwardRow]) -> list[Derivation]:
    """Of every award that was locked, in the order given."""
    wanted = [award for award in awards if award.award in inputs.past.locks]
    if not wanted:
        return []
    walk = _Walk(inputs, wanted)
    found = walk.derivations({award.award for award in wanted})
    walk.events()
    walk.entries(found)
    return [found[award.award] for award in wanted]


@dataclass(slots=True)
class _Running:
    """A level while its entries go by."""

    waiting: list[Jackpot]
    """Its jackpots in the order of their settlement, the next one last."""
    generation: int = 1
    carried: int = 0
    total: int = 0
    moved: Counter[tuple[str, str]] = field(default_factory=Counter)
    earlier: Counter[str] = field(default_factory=Counter)
    over: int = 0
    lock: int = 0
    settled: set[str] = field(default_factory=set)
    """Awards of ``lock`` whose jackpot is known."""

    def take(self, entry: Entry) -> None:
        while self.waiting and self._is_behind(entry, self.waiting[-1]):
            self.copy(self.waiting.pop())
        if not self.waiting:
            return
        if entry.generation > self.generation:
            self._begin(entry.generation)
        if DISPLAY not in (entry.debit, entry.credit):
            if entry.debit == WAGERS and entry.why == OVERFLOW:
                self.over += entry.units
            return
        units = entry.units if entry.credit == DISPLAY else -entry.units
        other = entry.debit if entry.credit == DISPLAY else entry.credit
        self.total += units
        if entry.why == "award":
            self.earlier[entry.award] += units
        else:
            self.moved[entry.why, other] += units

    def _is_behind(self, entry: Entry, jackpot: Jackpot) -> bool:
        """Did the entry come after the awards of this jackpot were settled? An award of nothing has
        no entry of its own."""
        if entry.through != jackpot.lock:
            return entry.through > jackpot.lock
        if entry.generation > jackpot.generation:
            return True
        known = self.settled if self.lock == jackpot.lock else set()
        return bool(entry.award) and entry.award not in known

    def _begin(self, generation: int) -> None:
        self.generation, self.carried, self.over = generation, self.total, 0
        self.moved, self.earlier = Counter(), Counter()

    def copy(self, jackpot: Jackpot) -> None:
        if jackpot.generation > self.generation:  # it began with nothing
            self._begin(jackpot.generation)
        jackpot.carried, jackpot.over = self.carried, self.over
        jackpot.moved, jackpot.earlier = Counter(self.moved), Counter(self.earlier)
        if self.lock != jackpot.lock:
            self.lock, self.settled = jackpot.lock, set()
        self.settled |= jackpot.awards


class _Walk:
    """Every jackpot of the locks that these awards were part of."""

    def __init__(self, inputs: ReportInputs, wanted: Sequence[AwardRow]) -> None:
        self.inputs = inputs
        self.messages: dict[tuple[str, int], list[tuple[int, list[AwardRow]]]] = {}
        """Journal and round to lock and the awards that were claimed together."""
        self.jackpots: dict[Key, list[Jackpot]] = {}
        self.of: dict[str, tuple[Jackpot, list[AwardRow]]] = {}
        past = inputs.past
        locks: dict[tuple[int, Key], list[AwardRow]] = {
            (past.locks[award.award], (award.pool, award.level)): [] for award in wanted
        }
        for award in sorted(inputs.mark.awards, key=lambda award: award.order):
            found = locks.get((past.locks.get(award.award, 0), (award.pool, award.level)))
            if found is not None:
                found.append(award)
        for (lock, key), awards in sorted(locks.items()):
            self._locked(key, lock, awards)

    def _locked(self, key: Key, lock: int, awards: list[AwardRow]) -> None:
        """Mysteries one by one; claims of one round together, rounds by the policy for ties."""
        rounds: dict[tuple[str, int], list[AwardRow]] = {}
        for award in awards:
            if award.percent:
                rounds.setdefault((award.journal, award.round), []).append(award)
            else:
                self._add(key, lock, [[award]])
        for place, message in rounds.items():
            self.messages.setdefault(place, []).append((lock, message))
        alone, together = list(rounds.values()), list[list[AwardRow]]()
        policy = alone[0][0].policy if len(alone) > 1 else "strict_order"
        if policy == "same_cycle_full":
            alone, together = [], alone
        elif policy == "share":
            together = [m for m in alone if any(award.percent == 100 for award in m)]
            alone = [m for m in alone if all(award.percent != 100 for award in m)]
        for message in alone:
            self._add(key, lock, [message])
        if together:
            self._add(key, lock, together, len(together) if policy == "share" else 1)

    def _add(self, key: Key, lock: int, messages: list[list[AwardRow]], takers: int = 1) -> None:
        awards = [award for message in messages for award in message]
        generation = min(award.generation for award in awards)
        made = Jackpot(lock, generation, frozenset(a.award for a in awards), takers)
        self.jackpots.setdefault(key, []).append(made)
        for message in messages:
            self.of |= {award.award: (made, message) for award in message}

    def derivations(self, names: set[str]) -> dict[str, Derivation]:
        found = {}
        for award in self.inputs.mark.awards:
            if award.award in names:
                jackpot, message = self.of[award.award]
                level = self.inputs.past.levels[award.pool, award.level]
                rule = level.terms[jackpot.generation - 1].meter_rule
                found[award.award] = Derivation(award, jackpot, message, rule)
        return found

    def entries(self, found: dict[str, Derivation]) -> None:
        running = {key: _Running(jackpots[::-1]) for key, jackpots in self.jackpots.items()}
        for entry in self.inputs.source.entries():
            one = running.get((entry.pool, entry.level))
            if one is None:
                continue
            one.take(entry)
            mine = found.get(entry.award)
            if mine is not None and entry.through == mine.jackpot.lock and entry.credit == PENDING:
                mine.from_jackpot += entry.units if entry.why == "award" else 0
                mine.top_up += entry.units if entry.why == "top-up" else 0
        for one in running.values():
            while one.waiting:
                one.copy(one.waiting.pop())

    def events(self) -> None:
        """What was wagered for each generation, day by day; and the order of settlement."""
        past, days = self.inputs.past, self.inputs.period.days
        pools = {pool for pool, _ in self.jackpots}
        put: dict[Key, defaultdict[int, Put]] = {key: defaultdict(Counter) for key in self.jackpots}
        waiting = sorted(
            ((jackpot.lock, key, jackpot) for key, all_of in self.jackpots.items()
             for jackpot in all_of),
            key=lambda found: found[0], reverse=True,
        )  # fmt: skip
        past.restart()
        for row in self.inputs.source.events(self._first() - 1):
            while waiting and waiting[-1][0] < row.id:
                _, key, jackpot = waiting.pop()
                jackpot.put = Counter(put[key][jackpot.generation])
            if not waiting:
                return
            body = past.body(row)
            if isinstance(body, Claimed):
                self._order_of(row.id, row.journal, body)
            if not isinstance(body, Contributed):
                continue
            pool = past.pool_of(row, body)
            if pool not in pools:
                continue
            day = days.day_of(row.received_ms).isoformat()
            for level in past.levels_of(pool):
                if (pool, level.level) not in put:
                    continue
                for generation, terms, cents in level.spread(row.id, body.wagers):
                    put[pool, level.level][generation][day, row.table, terms.rate_ppm] += cents
        for _, key, jackpot in waiting:
            jackpot.put = Counter(put[key][jackpot.generation])

    def _first(self) -> int:
        """The first event that any of these jackpots may have money of."""
        starts = []
        for key, jackpots in self.jackpots.items():
            level = self.inputs.past.levels[key]
            for jackpot in jackpots[:1]:
                begun = jackpot.generation
                starts.append(level.opened if begun == 1 else level.ends[begun - 2][0])
        return min(starts)

    def _order_of(self, event: int, journal: str, body: Claimed) -> None:
        """Settlement order is that of the round's last claim before the lock."""
        seats = {claim.seat: place for place, claim in enumerate(body.claims)}
        for lock, message in self.messages.get((journal, body.round), ()):
            if event <= lock:
                message.sort(key=lambda award: seats.get(award.seat, -1))
