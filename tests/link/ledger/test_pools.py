"""Orders about whole levels: opened, changed, linked, moved, closed; and the configuration."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from link.ledger.errors import PoolError
from link.ledger.ledger import Ledger
from link.ledger.orders import Change, Close, Given, LinkTables, Open, Order, Pay, Reject, Transfer
from link.ledger.terms import Pool, PoolTerms
from link.rows import Saved
from record.link.messages import Ack
from tests.link.ledger.support import ANNA, BOTH, SHARES, Floor, mystery, pool, refused, terms

CENT = 1_000_000


def refusal(floor: Floor, order: Order, by: object = BOTH) -> PoolError:
    before = (len(floor.store.events), floor.ledger.state.chain)
    with pytest.raises(PoolError) as refused:
        floor.order(order, by)  # type: ignore[arg-type]
    assert not floor.ledger.group(1)
    assert (len(floor.store.events), floor.ledger.state.chain) == before
    return refused.value


def orders(floor: Floor) -> list[str]:
    """The kinds of the orders so far, and who gave them."""
    given = [msgspec.json.decode(e.body, type=Given) for e in floor.store.events if not e.table]
    return [f"{type(g.order).__name__} {g.by[0].account}" for g in given]


def restart(floor: Floor, *pools: Pool) -> None:
    floor.pools = pools
    floor.start()


def test_the_first_start_opens_and_links() -> None:
    floor = Floor(pool(terms(), mystery()), tables=("T1",))
    assert orders(floor) == [
        "Open configuration",
        "Open configuration",
        "LinkTables configuration",
        "Draw server",
        "Propose server",
    ]
    assert floor.balances("mystery") == {"display": 1_000 * CENT, "house": -1_000 * CENT}
    floor.start()
    assert len(orders(floor)) == 5  # the same configuration gives no order
    floor.check()


def test_changed_terms_wait_for_the_next_generation() -> None:
    floor = Floor()
    new = terms(rate_ppm=10_000, reset_cents=70_000)
    floor.order(Change("pool", new), BOTH)
    floor.bet("T1", 1, 1)
    assert floor.balances()["wagers"] == -370_000
    row = floor.store.levels["pool", "main"]
    assert msgspec.json.decode(row.parameters)["rate_ppm"] == 3_700
    assert msgspec.json.decode(row.next_parameters)["rate_ppm"] == 10_000
    floor.pools = (pool(new),)
    floor.start()
    lock = floor.hit("T1", 2)
    assert lock.reset_cents == 70_000
    assert floor.shown() == 70_000
    floor.bet("T1", 3, 1)
    assert floor.balances()["wagers"] == -2 * 370_000 - CENT
    row = floor.store.levels["pool", "main"]
    assert (row.generation, row.next_parameters) == (2, b"")
    floor.check()


def test_a_planned_change_can_be_taken_back() -> None:
    floor = Floor()
    floor.order(Change("pool", terms(rate_ppm=1)), BOTH)
    floor.order(Change("pool", terms()), BOTH)
    assert floor.store.levels["pool", "main"].next_parameters == b""
    floor.check()


def test_the_configuration_changes_terms_the_same_way() -> None:
    floor = Floor()
    restart(floor, pool(terms(reset_cents=60_000)))
    assert orders(floor)[-1] == "Change configuration"
    assert floor.hit("T1", 1).reset_cents == 60_000
    floor.check()


@pytest.mark.parametrize(
    ("order", "code"),
    [
        (Change("pool", terms(level="other")), "E-POOL-020"),
        (Change("nowhere", terms()), "E-POOL-020"),
        (Change("pool", terms(ceiling_cents=1)), "E-POOL-008"),
        (Change("pool", mystery(level="main")), "E-POOL-027"),
        (Change("pool", terms(shares={"royal flush": 100, "straight flush": 20})), "E-POOL-034"),
        (Change("pool", terms(shares={"royal flush": 100})), "E-POOL-034"),
        (Change("pool", terms(shares={**SHARES, "straigth flush": 10})), "E-POOL-034"),
        (Open("pool", terms(level="other")), "E-POOL-029"),
        (LinkTables("pool", PoolTerms(tables={})), "E-POOL-029"),
        (Transfer("pool", "main", "pool", "main", "why"), "E-POOL-027"),
        (Transfer("pool", "main", "two", "main", "why", 100_001), "E-POOL-027"),
        (Transfer("pool", "main", "two", "mystery", "why"), "E-POOL-027"),
        (Transfer("pool", "main", "two", "third", "why"), "E-POOL-020"),
        (Close("two", "why"), "E-POOL-028"),
        (Close("pool", "why"), "E-POOL-028"),
    ],
)
def test_orders_that_cannot_be(order: Order, code: str) -> None:
    floor = Floor(pool(), pool(terms(), mystery(), name="two", tables=()))
    error = refusal(floor, order)
    assert error.code == code


def test_one_person_is_not_enough() -> None:
    floor = Floor(pool(), pool(name="two", tables=()))
    for order in (
        Change("pool", terms()),
        Close("two", "x"),
        Transfer("pool", "main", "two", "main", "x"),
    ):
        assert refusal(floor, order, ANNA).code == "E-POOL-023"
        assert refusal(floor, order, (ANNA, ANNA)).code == "E-POOL-023"


# --- who plays for it -----------------------------------------------------------------------------


def test_a_table_moves_to_another_pool_and_its_open_round_stays_where_it_was() -> None:
    floor = Floor(pool(tables=("T1", "T2")), pool(name="two", tables=("T3",)))
    floor.bet("T1", 1, 1, 2)
    restart(floor, pool(tables=("T2",)), pool(name="two", tables=("T1", "T3")))
    floor.bet("T1", 2, 1)
    assert floor.balances(pool="two")["wagers"] == -370_000
    floor.back("T1", 1, 2)
    floor.claim("T1", 1, (1, "royal flush"))
    assert floor.store.awards["pool/1/1"].cents == 100_000
    assert floor.balances()["wagers"] == -370_000
    assert [m.pool for m in floor.ledger.meters("T1")] == ["two"]
    floor.check()


def test_two_tables_change_places() -> None:
    floor = Floor(pool(tables=("T1",)), pool(name="two", tables=("T2",)), tables=("T1", "T2"))
    restart(floor, pool(tables=("T2",)), pool(name="two", tables=("T1",)))
    floor.bet("T1", 1, 1)
    assert "wagers" not in floor.balances()
    assert floor.balances(pool="two")["wagers"] == -370_000
    floor.check()


def test_read_again_while_running() -> None:
    floor = Floor(pool(tables=("T1",)), tables=("T1", "T2"))
    assert refused(floor.bet("T2", 1, 1)).code == "E-LNK-017"
    floor.ledger.open(floor.now_ms, (pool(tables=("T1", "T2", "T3")),))
    floor.commit()
    floor.pools = (pool(tables=("T1", "T2", "T3")),)
    assert [m.level for m in floor.ledger.meters("T3")] == ["main"]
    floor.start()
    assert [m.level for m in floor.ledger.meters("T3")] == ["main"]
    floor.check()


def test_a_pool_that_is_no_longer_stated_keeps_its_money_and_loses_its_tables() -> None:
    floor = Floor(pool(), pool(name="two", tables=()))
    restart(floor, pool(name="two", tables=()))
    assert floor.shown() == 100_000
    assert floor.ledger.meters("T1") == ()
    floor.check()


@pytest.mark.parametrize(
    ("levels", "code"),
    [
        ((terms(),), "E-POOL-019"),
        ((terms(), terms(level="mystery", shares={"x": 1})), "E-POOL-027"),
    ],
)
def test_what_cannot_follow_is_refused_before_anything_is_done(levels: Any, code: str) -> None:
    floor = Floor(pool(terms(), mystery()))
    with pytest.raises(PoolError) as refused:
        floor.ledger.open(0, (pool(name="new", tables=()), pool(*levels)))
    assert refused.value.code == code
    assert not floor.ledger.group(1)
    floor.check()


def test_an_order_that_could_not_be_read_again_is_not_recorded() -> None:
    floor = Floor(pool(), pool(name="two", tables=()))
    assert refusal(floor, Close("two", "")).code == "E-POOL-002"
    assert refusal(floor, Close("two", "x" * 501)).code == "E-POOL-002"


def test_pools_are_checked_before_anything_is_done() -> None:
    both = (pool(), pool(name="two"))
    with pytest.raises(PoolError, match="T1 plays for pool already"):
        Ledger(both, Saved())


# --- moved and closed -----------------------------------------------------------------------------


def test_part_of_a_jackpot_moves_by_order() -> None:
    floor = Floor(pool(), pool(name="two", tables=()))
    floor.order(Transfer("pool", "main", "two", "main", "house rule 4", 30_000), BOTH)
    assert floor.balances() == {
        "display": 70_000 * CENT, "house": -100_000 * CENT, "transfer": 30_000 * CENT,
    }  # fmt: skip
    assert floor.balances(pool="two") == {
        "display": 130_000 * CENT, "house": -100_000 * CENT, "transfer": -30_000 * CENT,
    }  # fmt: skip
    floor.check()


def test_a_pool_ends_without_a_fraction_lost() -> None:
    """All of it moves, reserve and next base too, at the other's ceiling by its route."""
    old = terms(hidden_ppm=1_000, envy_ppm=100, ceiling_cents=100_001)
    new = terms(ceiling_cents=150_000, hidden_ppm=1, reserve_max_cents=0)
    stated: tuple[Any, ...] = (pool(old, tables=("T1",)), pool(new, name="two", tables=("T2",)))
    floor = Floor(*stated)
    floor.bet("T1", 1, 1, 2, 3, 4)
    floor.hit("T1", 2, "straight flush")
    held = floor.balances()
    assert refusal(floor, Close("pool", "end of contract")).text.startswith("pool pool: 1 tables")
    restart(floor, pool(old, tables=()), stated[1])
    assert "in display" in refusal(floor, Close("pool", "end of contract")).text
    floor.order(Transfer("pool", "main", "two", "main", "end of contract"), BOTH)
    moved = held["display"] + held["reserve"] + held["next"] + held["envy"]
    assert floor.balances()["transfer"] == moved
    there = floor.balances(pool="two")
    assert there["transfer"] == -moved
    assert there["display"] == 150_000 * CENT
    assert there["next"] == held["next"] + (100_000 * CENT + held["display"] - 150_000 * CENT)
    assert there["revenue"] == held["reserve"]  # its reserve takes nothing
    assert there["envy"] == held["envy"]
    assert "in pending" in refusal(floor, Close("pool", "end of contract")).text
    floor.order(Reject("pool/1/1", "no"), BOTH)
    floor.order(Transfer("pool", "main", "two", "main", "end of contract"), BOTH)
    floor.order(Close("pool", "end of contract"), BOTH)
    assert [m.pool for m in floor.ledger.meters()] == ["two"]
    floor.start()
    assert refusal(floor, Close("pool", "again")).code == "E-POOL-026"
    assert refusal(floor, Transfer("two", "main", "pool", "main", "back")).code == "E-POOL-027"
    floor.check()
    floor.pools = stated
    with pytest.raises(PoolError, match="pool pool is closed; take its tables out"):
        floor.start()


@pytest.mark.parametrize("claims", [True, False])
def test_a_round_of_a_closed_pool_neither_claims_nor_contributes(claims: bool) -> None:
    floor = Floor(pool(tables=("T1",)), pool(name="two", tables=()))
    floor.bet("T1", 1, 1)
    restart(floor, pool(tables=()), pool(name="two", tables=("T1",)))
    floor.order(Transfer("pool", "main", "two", "main", "end of contract"), BOTH)
    floor.order(Close("pool", "end of contract"), BOTH)
    told = floor.claim("T1", 1, (1, "royal flush")) if claims else floor.bet("T1", 1, 2)
    assert "pool pool is closed" in refused(told).text
    floor.check()


def test_no_transfer_while_claims_wait() -> None:
    floor = Floor(pool(terms(ties="share", tie_ms=10)), pool(name="two", tables=()))
    floor.bet("T1", 1, 1)
    assert floor.claim("T1", 1, (1, "royal flush")) == [("T1", Ack(2))]
    order = Transfer("pool", "main", "two", "main", "why")
    assert "claims wait" in refusal(floor, order).text
    floor.tick(10)
    floor.order(order, BOTH)
    assert refusal(floor, Pay("pool/1/1"), ANNA).code == "E-POOL-022"
    floor.check()
