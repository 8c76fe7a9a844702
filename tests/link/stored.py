"""Everything a real store holds, as the checker of whole histories wants it."""

from __future__ import annotations

from link.ledger.history import History
from link.store.contract import Store


def history_of(store: Store) -> History:
    saved = store.load()
    return History(
        events=list(store.events()),
        entries=list(store.entries()),
        balances=saved.balances,
        levels=saved.levels,
        journals=list(store.journals()),
        awards=list(store.awards()),
        steps=list(store.steps()),
        alarms=list(store.alarms()),
    )
