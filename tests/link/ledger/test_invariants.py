"""Every invariant can fail: each row of a sound history is damaged in turn."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from msgspec.structs import replace

from link.ledger.errors import LedgerBroken
from link.ledger.history import History, check_history
from link.ledger.ledger import Ledger
from link.ledger.level import DISPLAY, HOUSE
from link.ledger.orders import Approve, Pay, Verify
from link.ledger.rounds import read_memory
from link.rows import Saved, chain_of
from record.link.codec import encode_body
from record.link.events import Contributed, Wager
from tests.link.ledger.support import ANNA, BEN, Floor, MemoryStore, mystery, pool, terms

ROYAL = "royal flush"


def played() -> Floor:
    floor = Floor(pool(terms(hidden_ppm=500), mystery()))
    for number in range(1, 4):
        floor.bet("T1", number, 1, 2)
        floor.bet("T2", number, 3)
    floor.claim("T1", 3, (1, ROYAL))
    for order, by in (
        (Verify("pool/1/1"), ANNA), (Approve("pool/1/1"), ANNA), (Approve("pool/1/1"), BEN),
        (Pay("pool/1/1"), BEN),
    ):  # fmt: skip
        floor.order(order, by)
    floor.hit("T2", 4)
    floor.back("T1", 3, 2)
    return floor


@pytest.fixture(scope="module")
def sound() -> History:
    history = played().store.history()
    check_history(history)
    return history


def chained(events: list[Any]) -> list[Any]:
    """The chain computed anew, as somebody would who edits the database."""
    before, found = "", []
    for row in events:
        fields = {n: getattr(row, n) for n in row.__struct_fields__ if n != "chain"}
        before = chain_of(before, **fields)
        found.append(replace(row, chain=before))
    return found


def swapped(rows: Any, index: int, **changes: Any) -> list[Any]:
    made = list(rows)
    made[index] = replace(made[index], **changes)
    return made


def wager_index(history: History) -> int:
    return next(i for i, row in enumerate(history.events) if row.table)


def last_main(history: History) -> int:
    return max(i for i, entry in enumerate(history.entries) if entry.level == "main")


def other_wager(history: History) -> list[Any]:
    """Somebody makes a wager larger, and the chain fit."""
    body = encode_body(Contributed(1, (Wager(1, 100, 1), Wager(2, 100, 1), Wager(3, 100, 1))))
    return chained(swapped(history.events, wager_index(history), body=body))


def without_wagers(history: History) -> list[Any]:
    """T1's third round has no wager of seat 1 any more, and the chain fits."""
    index = [i for i, row in enumerate(history.events) if row.table == "T1"][2]
    body = encode_body(Contributed(3, (Wager(2, 100, 1),)))
    return chained(swapped(history.events, index, body=body))


DAMAGE: dict[str, tuple[str, Callable[[History], dict[str, Any]]]] = {
    "an event is gone": ("I3", lambda h: {"events": [*h.events[:5], *h.events[6:]]}),
    "a number is left out": (
        "I14", lambda h: {"events": swapped(h.events, wager_index(h), n=2)},
    ),
    "a time was edited": ("I7", lambda h: {"events": swapped(h.events, 3, received_ms=5)}),
    "a record comes twice": ("I17", lambda h: {"events": swapped(h.events, -1, seq=1)}),
    "a table took another's journal": (
        "I16", lambda h: {"events": swapped(h.events, -1, table="T2")},
    ),
    "an amount was edited": ("I5", lambda h: {"entries": swapped(h.entries, 2, units=1)}),
    "an entry of nothing": ("I1", lambda h: {"entries": swapped(h.entries, 2, units=0)}),
    "a balance was edited": ("I5", lambda h: {"balances": swapped(h.balances, 0, units=7)}),
    "a generation went back": (
        "I8", lambda h: {"entries": swapped(h.entries, last_main(h), generation=1)},
    ),
    "two seeds": (
        "I8",
        lambda h: {"entries": swapped(
            h.entries, [e.why for e in h.entries].index("seed"), award="pool/9/9")},
    ),
    "an award skipped a step": ("I10", lambda h: {"steps": [*h.steps[:2], *h.steps[3:]]}),
    "an award is paid twice": (
        "I10", lambda h: {"steps": [*h.steps[:6], replace(h.steps[5], step=7), *h.steps[6:]]},
    ),
    "one person approved alone": (
        "I10", lambda h: {"steps": swapped(h.steps, 4, by="anna")},
    ),
    "two of one role approved": (
        "I10", lambda h: {"steps": swapped(h.steps, 4, role="supervisor")},
    ),
    "an award is not in its last state": (
        "I10", lambda h: {"awards": swapped(h.awards, 1, state="paid")},
    ),
    "two awards of one order": ("I11", lambda h: {"awards": swapped(h.awards, 1, order=1)}),
    "an award without its wager": ("I12", lambda h: {"events": without_wagers(h)}),
    "a wager was edited with its chain": ("I4", lambda h: {"events": other_wager(h)}),
    "an award's amount was edited": ("I4", lambda h: {"awards": swapped(h.awards, 1, cents=1)}),
    "parameters were edited": (
        "I4",
        lambda h: {"levels": swapped(h.levels, 0, parameters=b"{}")},
    ),
    "a watermark was edited": ("I4", lambda h: {"journals": swapped(h.journals, 0, n=99)}),
    "an alarm was invented": ("I4", lambda _: {"alarms": [object()]}),
    "why money moved was edited": (
        "I4", lambda h: {"entries": swapped(h.entries, 2, why="because")},
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", DAMAGE)
def test_damage_is_found(sound: History, what: str) -> None:
    invariant, damage = DAMAGE[what]
    with pytest.raises(LedgerBroken) as found:
        check_history(dataclasses.replace(sound, **damage(sound)))
    assert found.value.invariant == invariant


# --- the cheap form -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("account", "units", "invariant"),
    [(DISPLAY, 1, "I1"), (HOUSE, -1, "I1")],
)
def test_a_group_that_does_not_add_up_is_not_handed_over(
    account: str, units: int, invariant: str
) -> None:
    floor = Floor()
    floor.grouped = False
    floor.bet("T1", 1, 1)
    floor.ledger.state.pool("pool").level("main").balances[account] += units
    with pytest.raises(LedgerBroken) as found:
        floor.ledger.group(1)
    assert found.value.invariant == invariant


def test_a_group_with_money_out_of_bounds() -> None:
    for account, units in ((DISPLAY, -200_000_000_000), ("wagers", 200_000_000_000)):
        floor = Floor()
        floor.grouped = False
        floor.bet("T1", 1, 1)
        balances = floor.ledger.state.pool("pool").level("main").balances
        balances[account] += units
        balances[HOUSE] -= units
        with pytest.raises(LedgerBroken) as found:
            floor.ledger.group(1)
        assert found.value.invariant == "I21"


def test_a_group_over_the_ceiling() -> None:
    floor = Floor(pool(terms(ceiling_cents=200_000)))
    floor.grouped = False
    floor.bet("T1", 1, 1)
    balances = floor.ledger.state.pool("pool").level("main").balances
    balances[DISPLAY] += 100_000_000_000
    balances[HOUSE] -= 100_000_000_000
    with pytest.raises(LedgerBroken, match="above the ceiling"):
        floor.ledger.group(1)


def test_a_generation_without_a_reset() -> None:
    floor = Floor()
    floor.grouped = False
    floor.bet("T1", 1, 1)
    floor.ledger.state.pool("pool").level("main").generation += 1
    with pytest.raises(LedgerBroken) as found:
        floor.ledger.group(1)
    assert found.value.invariant == "I8"


@pytest.mark.parametrize("seed", range(5))
def test_the_wall_clock_decides_nothing(seed: int) -> None:
    """I18: whatever the server's clock shows, the same events make the same money and winners."""
    told = []
    for chance in (None, random.Random(seed)):
        floor = Floor()
        script = random.Random(seed)
        for number in range(1, 30):
            if chance is not None:
                floor.now_ms = chance.choice(
                    (1, 10**6, 10**12, 2 * 10**12 + chance.randrange(10**9))
                )
            table = script.choice(("T1", "T2"))
            floor.bet(table, number, 1, 2, 3)
            if script.random() < 0.2:
                floor.claim(table, number, (1, script.choice(("royal flush", "straight flush"))))
        awards = [(a.award, a.cents, a.order, a.state) for a in floor.ledger.state.awards.values()]
        told.append((floor.balances(), awards))
    assert told[0] == told[1]
    assert told[0][1], f"seed {seed}: no award, nothing shown"


def test_other_parameters_within_a_generation() -> None:
    """I19: whoever changes the terms of a running level by any way but a reset is stopped."""
    floor = Floor()
    floor.bet("T1", 1, 1)
    floor.grouped = False
    level = floor.ledger.state.pool("pool").level("main")
    level.adopt(msgspec.structs.replace(level.terms, rate_ppm=level.terms.rate_ppm + 1))
    floor.bet("T1", 2, 1)
    with pytest.raises(LedgerBroken) as found:
        floor.ledger.group(1)
    assert found.value.invariant == "I19"


def test_pending_money_without_an_award() -> None:
    floor = Floor()
    floor.grouped = False
    floor.hit("T1", 1)
    floor.ledger.state.awards["pool/1/1"].cents += 1
    with pytest.raises(LedgerBroken, match="are pending, open awards say"):
        floor.ledger.group(1)


def test_an_illegal_step_is_not_handed_over() -> None:
    floor = Floor()
    floor.hit("T1", 1)
    held = floor.ledger.state.awards["pool/1/1"]
    floor.ledger.state.step(held, "verified", "anna", "supervisor")
    floor.ledger.state.step(held, "paid", "anna", "supervisor")
    with pytest.raises(LedgerBroken) as found:
        floor.ledger.group(1)
    assert found.value.invariant == "I10"


def test_a_watermark_that_jumps() -> None:
    floor = Floor()
    floor.grouped = False
    floor.bet("T1", 1, 1)
    floor.ledger.state.journals[floor.tables["T1"].journal].n += 1
    with pytest.raises(LedgerBroken) as found:
        floor.ledger.group(1)
    assert found.value.invariant == "I14"


# --- at a start -----------------------------------------------------------------------------------


def saved() -> tuple[Floor, MemoryStore]:
    floor = Floor()
    floor.hit("T1", 1)
    return floor, floor.store


def test_a_balance_that_was_edited_does_not_start() -> None:
    floor, store = saved()
    key = ("pool", "main", DISPLAY)
    store.balances[key] = replace(store.balances[key], units=1)
    with pytest.raises(LedgerBroken, match="I1"):
        Ledger(floor.pools, store.saved())


def test_an_award_that_its_journal_does_not_remember_does_not_start() -> None:
    floor, store = saved()
    journal = floor.tables["T1"].journal
    memory = read_memory(store.journals[journal].rounds)
    memory.rounds[0].awards[0].cents -= 1
    store.journals[journal] = replace(store.journals[journal], rounds=msgspec.json.encode(memory))
    with pytest.raises(LedgerBroken, match="not what its journal remembers"):
        Ledger(floor.pools, store.saved())
    store.journals[journal] = replace(store.journals[journal], rounds=b"")
    with pytest.raises(LedgerBroken, match="not what its journal remembers"):
        Ledger(floor.pools, store.saved())


def test_an_empty_store_is_sound() -> None:
    check_history(MemoryStore().history())
    assert Ledger([], Saved()).meters() == ()
