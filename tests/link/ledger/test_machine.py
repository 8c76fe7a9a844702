"""Random play of a floor: whatever happens, every invariant holds and a replay gives the same."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

import msgspec
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from link.ledger.errors import PoolError
from link.ledger.history import check_history
from link.ledger.level import DISPLAY, PAID, WAGERS
from link.ledger.orders import Approve, Change, Order, Pay, Reject, Resume, Transfer, Verify
from link.ledger.rounds import HELD, OPEN
from link.ledger.state import Reply
from link.ledger.terms import MustHit, Pool, Terms
from record.link.events import (
    AnyBody,
    Claim,
    Claimed,
    Contributed,
    FixedAward,
    Reversed,
    RoundPlayed,
    Wager,
    Withdrawn,
)
from record.link.messages import Ack, Event, Locked, MysteryWon, ServerRefused
from tests.link.ledger.support import ANNA, BEN, BOTH, CARL, Floor, mystery, pool, terms

CENT = 1_000_000
TABLES = ("T1", "T2", "T3")
HANDS = {"royal flush": 100, "straight flush": 10, "four of a kind": 100, "full house": 35}

seats = st.integers(1, 4)
tables = st.sampled_from(TABLES)


class Play(RuleBasedStateMachine):
    """``standing``: by pool the cents whose contribution was not reversed, counted here alone."""

    @initialize(
        rule=st.sampled_from(("sequential", "snapshot")),
        ties=st.sampled_from(("strict_order", "same_cycle_full", "share")),
        tight=st.booleans(),
        funding=st.sampled_from(("table", "pool")),
        route=st.sampled_from(("next", "reserve", "revenue")),
    )
    def begin(self, rule: Any, ties: Any, tight: bool, funding: Any, route: Any) -> None:
        common: dict[str, Any] = {
            "meter_rule": rule, "ties": ties, "tie_ms": 0 if ties == "strict_order" else 10,
            "fixed_awards": funding, "envy": funding,
        }  # fmt: skip
        # Small amounts and large rates, so that ceilings, triggers and empty jackpots are near.
        main = terms(
            base_cents=503, reset_cents=200, rate_ppm=123_457, hidden_ppm=70_001, envy_ppm=10_003,
            reserve_max_cents=150 if tight else None, ceiling_cents=650 if tight else None,
            overflow=route, shares={"royal flush": 100, "straight flush": 10}, **common,
        )  # fmt: skip
        minor = terms(
            level="minor", base_cents=0, reset_cents=0, rate_ppm=333_331,
            shares={"four of a kind": 100, "full house": 35}, **common,
        )  # fmt: skip
        hidden = mystery(
            base_cents=100, reset_cents=50, rate_ppm=200_000, overflow=route,
            must_hit=MustHit(120, 300), **common,
        )  # fmt: skip
        self.levels: tuple[Terms, ...] = (main, minor, hidden)
        self.rates = {"main": 203_461, "minor": 333_331, "mystery": 200_000}
        self.home = {"T1": "one", "T2": "one", "T3": "one"}
        self.floor = Floor(*self.configured(), tables=TABLES)
        self.floor.grouped = False
        self.standing = {"one": 0, "two": 0}
        self.rounds: dict[str, int] = dict.fromkeys(TABLES, 0)
        self.put: dict[tuple[str, int], tuple[str, dict[int, int]]] = {}
        """(table, round) to the pool, and cents by seat that stand."""

    def configured(self) -> tuple[Pool, ...]:
        made = []
        for name in ("one", "two"):
            mine = tuple(t for t, home in self.home.items() if home == name)
            made.append(pool(*self.levels, name=name, tables=mine, max_credits=2))
        return tuple(made)

    # --- tables ---------------------------------------------------------------------------------

    def hear(self, replies: Sequence[Reply]) -> None:
        """What the tables are told, for those who count along."""

    def tell(self, name: str, body: AnyBody) -> bool:
        """True if it was taken."""
        replies = self.floor.tell(name, body)
        self.hear(replies)
        table = self.floor.tables[name]
        first = replies[0][1]
        if isinstance(first, ServerRefused):
            assert first.halted
            event = table.sent[-1]
            self.floor.order(Resume(table.journal, "looked at", event.n, event.hash), BOTH)
            assert self.floor.send(name, event) == [(name, Ack(event.n))]
            return False
        assert first == Ack(len(table.sent))
        for to, message in replies[1:]:
            assert to == name
            if isinstance(message, Locked):
                assert all(a.cents >= 0 for a in message.awards)
        return True

    @rule(name=tables, who=st.sets(seats, min_size=1), credits=st.integers(1, 2), new=st.booleans())
    def bet(self, name: str, who: set[int], credits: int, new: bool) -> None:
        self.rounds[name] += new or not self.rounds[name]
        number = self.rounds[name]
        wagers = tuple(Wager(seat, 100 * credits, credits) for seat in sorted(who))
        if self.tell(name, Contributed(number, wagers)):
            home, put = self.put.setdefault((name, number), (self.home[name], {}))
            assert not put.keys() & who
            put |= dict.fromkeys(who, 100 * credits)
            self.standing[home] += 100 * credits * len(who)

    def known(self, name: str, back: int) -> tuple[int, dict[int, int]]:
        number = max(1, self.rounds[name] - back)
        return number, self.put.get((name, number), ("", {}))[1]

    def staked(self) -> list[tuple[str, int]]:
        """Rounds in memory with wagers that stand."""
        return [
            (name, number)
            for (name, number), (_, put) in self.put.items()
            if number > self.rounds[name] - 3 and any(put.values())
        ]

    @precondition(lambda self: self.staked())
    @rule(data=st.data(), whole=st.booleans())
    def void(self, data: st.DataObject, whole: bool) -> None:
        name, number = data.draw(st.sampled_from(self.staked()))
        home, put = self.put[name, number]
        there = [seat for seat, cents in put.items() if cents]
        who = there if whole else data.draw(st.sets(st.sampled_from(there), min_size=1))
        wagers = tuple(Wager(seat, 100 if whole else put[seat], 1) for seat in sorted(who))
        assert self.tell(name, Reversed(number, wagers))
        for wager in wagers:
            put[wager.seat] -= wager.cents
            self.standing[home] -= wager.cents

    @precondition(lambda self: self.staked())
    @rule(data=st.data(), hands=st.lists(st.sampled_from(sorted(HANDS)), min_size=1, max_size=3))
    def claim(self, data: st.DataObject, hands: list[str]) -> None:
        name, number = data.draw(st.sampled_from(self.staked()))
        put = self.put[name, number][1]
        who = data.draw(st.permutations([seat for seat, cents in put.items() if cents]))
        pairs = list(zip(who, hands, strict=False))
        self.tell(name, Claimed(number, tuple(Claim(s, h, HANDS[h]) for s, h in pairs)))

    @rule(name=tables, back=st.integers(0, 5), seat=seats, hand=st.sampled_from(sorted(HANDS)))
    def claim_blindly(self, name: str, back: int, seat: int, hand: str) -> None:
        number, put = self.known(name, back)
        if self.tell(name, Claimed(number, (Claim(seat, hand, HANDS[hand]),))):
            assert put[seat] > 0

    @rule(name=tables, back=st.integers(0, 5), seat=seats, cents=st.sampled_from((0, 100, 300)))
    def void_blindly(self, name: str, back: int, seat: int, cents: int) -> None:
        number, put = self.known(name, back)
        if self.tell(name, Reversed(number, (Wager(seat, cents, 1),))):
            put[seat] -= cents
            assert put[seat] >= 0
            self.standing[self.put[name, number][0]] -= cents

    @rule(name=tables, back=st.integers(0, 2), who=st.sets(seats, min_size=1))
    def withdraw(self, name: str, back: int, who: set[int]) -> None:
        self.tell(name, Withdrawn(self.known(name, back)[0], tuple(sorted(who))))

    @rule(
        name=tables,
        back=st.integers(0, 4),
        kinds=st.dictionaries(seats, st.sampled_from(("flush", "envy")), max_size=2),
        cents=st.sampled_from((1, 50, 1_000)),
    )
    def play(self, name: str, back: int, kinds: dict[int, str], cents: int) -> None:
        awards = tuple(FixedAward(seat, kind, cents) for seat, kind in kinds.items())
        self.tell(name, RoundPlayed(self.known(name, back)[0], {}, {}, awards))

    @rule(name=tables, back=st.integers(1, 20))
    def repeat(self, name: str, back: int) -> None:
        sent = self.floor.tables[name].sent
        if back <= len(sent):
            before = self.floor.ledger.state.chain
            replies = self.floor.send(name, sent[-back])
            assert replies[0] == (name, Ack(len(sent)))
            assert all(isinstance(m, Locked | MysteryWon) for _, m in replies[1:])
            assert self.floor.ledger.state.chain == before

    @rule(name=tables)
    def gap(self, name: str) -> None:
        table = self.floor.tables[name]
        event = Event(len(table.sent) + 2, table.seq + 9, "a" * 64, 0, Contributed(1, ()))
        ((_, told),) = self.floor.send(name, event)
        assert isinstance(told, ServerRefused)
        assert (told.code, told.expected) == ("E-LNK-014", len(table.sent) + 1)

    @rule(name=tables)
    def checkpoint(self, name: str) -> None:
        table = self.floor.tables[name]
        table.record()
        self.floor.ledger.checkpoint(name, table.journal, table.checkpoint(), self.floor.now_ms)

    @rule(name=tables)
    def hello(self, name: str) -> None:
        greeting = self.floor.hello(name)
        assert greeting.refused is None
        assert greeting.n == len(self.floor.tables[name].sent)

    # --- people and time ------------------------------------------------------------------------

    def order(self, order: Order, by: Any) -> None:
        """Done, or refused and nothing has changed."""
        self.floor.commit()
        before = self.picture()
        try:
            self.hear(self.floor.order(order, by))
        except PoolError:
            assert self.picture() == before
            assert not self.floor.ledger.group(1)

    def picture(self) -> list[object]:
        state = self.floor.ledger.state
        return [state.chain, state.event, *(level.row() for level in state.levels()),
                *(journal.row() for journal in state.journals.values())]  # fmt: skip

    def awards(self) -> list[str]:
        return [n for n, held in self.floor.ledger.state.awards.items() if held.state in OPEN]

    @precondition(lambda self: self.awards())
    @rule(data=st.data(), what=st.sampled_from((Verify, Approve, Approve, Pay, Reject)))
    def decide(self, data: st.DataObject, what: Any) -> None:
        award = data.draw(st.sampled_from(self.awards()))
        by: Any = data.draw(st.sampled_from((ANNA, BEN, CARL)))
        if what is Reject:
            by = data.draw(st.sampled_from((BOTH, (ANNA, CARL))))
        self.order(what(award, "no") if what is Reject else what(award), by)

    @precondition(lambda self: self.awards())
    @rule(data=st.data())
    def pay_out(self, data: st.DataObject) -> None:
        """All the way, so that paid awards are not rare."""
        award = data.draw(st.sampled_from(self.awards()))
        for what, by in ((Verify, ANNA), (Approve, ANNA), (Approve, BEN), (Pay, BEN)):
            self.order(what(award), by)

    @rule(ms=st.sampled_from((0, 3, 10)))
    def time(self, ms: int) -> None:
        due = self.floor.ledger.due_ms()
        replies = self.floor.tick(ms)
        self.hear(replies)
        assert bool(replies) == (due is not None and due <= self.floor.now_ms)

    @rule(reset=st.sampled_from((0, 199, 300)), name=st.sampled_from(("one", "two")))
    def change(self, reset: int, name: str) -> None:
        self.order(Change(name, msgspec.structs.replace(self.levels[0], reset_cents=reset)), BOTH)

    @rule(
        cents=st.sampled_from((0, 1, 77)),
        level=st.sampled_from(("main", "minor", "mystery")),
        there=st.booleans(),
    )
    def transfer(self, cents: int, level: str, there: bool) -> None:
        a, b = ("one", "two") if there else ("two", "one")
        self.order(Transfer(a, level, b, "main", "why", cents), BOTH)

    # --- the server -----------------------------------------------------------------------------

    @rule()
    def commit(self) -> None:
        self.floor.commit()

    @rule()
    def restart(self) -> None:
        self.floor.commit()
        before = self.picture()
        self.floor.ledger.open(self.floor.now_ms, self.floor.pools)
        self.floor.commit()
        assert len(before) == len(self.picture())
        again = self.floor.store.saved()
        self.floor.start()
        assert self.floor.store.saved() == again
        self.floor.grouped = False

    @rule(name=tables)
    def move_table(self, name: str) -> None:
        self.home[name] = "two" if self.home[name] == "one" else "one"
        self.floor.pools = self.configured()
        self.floor.ledger.open(self.floor.now_ms, self.floor.pools)

    # --- always ---------------------------------------------------------------------------------

    @invariant()
    def holds(self) -> None:
        state = self.floor.ledger.state
        if state.unsettled:
            return  # asking would settle it, and then nothing else has to
        for level in state.levels():
            held = level.balances
            assert held[WAGERS] == -self.standing[level.pool] * self.rates[level.name]
            assert level.state.wagered_cents == self.standing[level.pool]
            assert sum(held.values()) == 0
            assert 0 <= held[DISPLAY] <= level.limit
            mine = [
                a for a in state.awards.values() if (a.pool, a.level) == (level.pool, level.name)
            ]
            assert level.open_awards == sum(a.state in HELD for a in mine)

    def teardown(self) -> None:
        if not hasattr(self, "floor"):
            return
        self.floor.commit()
        history = self.floor.store.history()
        for level in self.floor.ledger.state.levels():
            paid = sum(
                row.cents
                for row in history.awards
                if (row.pool, row.level, row.state) == (level.pool, level.name, "paid")
            )
            fixed = sum(
                cents for _, cents in level.state.fixed.values() if level.terms.envy == "pool"
            )
            assert level.balances[PAID] == (paid + fixed) * CENT
        check_history(history, self.floor.sealer)
        replayed = check_history(history)  # without the key
        assert replayed.state.chain == self.floor.ledger.state.chain


many = int(os.environ.get("UNDERFELT_LEDGER_RUNS", "60"))
TestPlay = Play.TestCase
TestPlay.settings = settings(max_examples=many, stateful_step_count=60)
