"""What a receipt that this server made says about its store."""

from __future__ import annotations

from link.server.keeper import Keeper
from link.store.contract import Store
from link.store.errors import Fenced, Rewound
from record.kit.words import counted
from record.link.messages import Receipt


def compare(store: Store, keeper: Keeper, last: int, table: str, receipt: Receipt) -> None:
    """The store, which ends at event ``last``, has what the receipt proves; or people put a backup
    back since and said so. Otherwise ``Rewound``, and ``Fenced`` if only the epoch is lost: the
    next one is above it."""
    if receipt.epoch > keeper.epoch:
        keeper.least = receipt.epoch
    if store.chain_of(receipt.event) == receipt.chain:
        if receipt.epoch > keeper.epoch:
            raise Fenced(store.place, f"epoch {receipt.epoch} was given before; {table} knows it")
        return
    restored = store.restored_since(receipt.epoch)
    if restored is not None and restored < receipt.event:
        return
    held = f"{table} holds a receipt of epoch {receipt.epoch} for event {receipt.event}"
    if receipt.event > last:
        what = f"ends at event {last}: missing {counted(receipt.event - last, 'event')}"
    else:
        what = f"has another event {receipt.event}: it went back and continued differently"
    said = f"{held}, chain {receipt.chain[:16]}; the store {what}"
    raise Rewound(store.place, f"{said}; restore the newest backup with underfelt link restore")
