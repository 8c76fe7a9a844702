"""What each kind of order does: to awards, to journals, to pools."""

from __future__ import annotations

from link.ledger import awards, claims, journals, mystery, pools, selections
from link.ledger import orders as o
from link.ledger.mystery import Sealer
from link.ledger.orders import Order, Person
from link.ledger.state import Reply, State


def carry_out(
    state: State, order: Order, people: tuple[Person, ...], sealer: Sealer | None
) -> list[Reply]:
    """One order; ``PoolError`` before anything has changed."""
    by = people[0]
    state.settle()
    match order:
        case o.Verify():
            return awards.verify(state, order, by)
        case o.Approve():
            return awards.approve(state, order, by)
        case o.Pay():
            return awards.pay(state, order, by)
        case o.Reject():
            return awards.reject(state, order, people)
        case o.LockTies():
            return claims.lock_waiting(state, state.pool(order.pool))
        case o.Accept():
            journals.accept(state, order, by)
        case o.Resume():
            journals.resume(state, order)
        case o.Retire():
            journals.retire(state, order)
        case o.Restore():
            journals.restore(state, order)
        case o.Propose():
            journals.propose(state, order)
        case o.Halt():
            journals.halt(state, order)
        case o.Open():
            pools.open_level(state, order)
        case o.Change():
            pools.change(state, order)
        case o.LinkTables():
            pools.link(state, order)
        case o.Transfer():
            pools.transfer(state, order)
        case o.Close():
            pools.close(state, order)
        case o.Draw():
            mystery.drawn(state, order, sealer)
        case o.Select():
            return selections.drawn(state, order)
        case o.Alarm():
            state.alarm(order.code, order.table, order.text)
        case o.Found():
            names = ", ".join(account.name for account in order.accounts)
            state.alarm("E-ACT-011", "", f"accounts without proof: {names}: {order.why}"[:500])
        case o.Note() | o.Office() | o.AcknowledgeAlarm():
            pass
    return []
