"""Leading, and committing in the leader's name: the store's errors become two outcomes.

Either the group is durable, or this server stops leading at once (``StepDown``). What it has in
memory may then differ from what is stored, so it answers nothing more and loads everything from the
store again when it leads again.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic, sleep
from typing import Final, NoReturn

from link.rows import Group
from link.store.base import Store
from link.store.errors import Conflict, Failed, Fenced, Rewound, StoreError, Unknown, Unsafe
from record.kit.words import counted
from record.link.messages import Receipt

TRIES: Final = 3
PAUSE_S: Final = 0.05
SETTLING_S: Final = 2.0


class StepDown(Exception):
    """Not the leader any more, or not able to lead; with the code of the reason. ``unknown``: the
    group may be durable all the same."""

    def __init__(self, error: StoreError, *, unknown: bool = False) -> None:
        super().__init__(str(error))
        self.code, self.unknown = error.code, unknown


LOSES_THE_LEAD: Final = (StepDown, Failed, Unknown, Fenced, Conflict, Unsafe)
"""Unsafe too: a database that lost its standby or was switched over may be right again in a minute;
until then nothing is acknowledged."""


class Leadership:
    def __init__(
        self,
        store: Store,
        holder: str,
        lease_ms: int,
        pause: Callable[[float], None] = sleep,
        alive: Callable[[], object] = lambda: None,
    ) -> None:
        """``alive`` is called before everything that may have to wait for the database: each such
        wait is bounded, so a watchdog that is fed there still finds a loop that hangs."""
        self.store = store
        self._alive = alive
        self.epoch = 0
        """0: another server leads, or nobody does."""
        self.least = 0
        """Epochs up to this one were given before, whatever the store says."""
        self._holder, self._lease_ms, self._pause = holder, lease_ms, pause
        self._renewed_ms = 0
        self.next_ms = 0
        """When ``lead`` wants to be called next; monotonic."""

    def lead(self, mono_ms: int) -> bool:
        """Take or keep the lead; True if it has just been taken. ``StepDown`` if it is lost."""
        self.next_ms = mono_ms + self._lease_ms // 3
        self._alive()
        if not self.epoch:
            try:
                epoch = self.store.lead(self._holder, self._lease_ms, self.least)
            except (Failed, Unknown) as error:
                raise StepDown(error) from None
            if epoch is None:
                return False
            self.epoch, self._renewed_ms = epoch, mono_ms
            return True
        try:
            self.store.renew(self.epoch)
            self._renewed_ms = mono_ms
        except Fenced as error:
            self._lost(error)
        except (Failed, Unknown) as error:
            if mono_ms - self._renewed_ms >= self._lease_ms:
                self._lost(error)
            self.next_ms = mono_ms + self._lease_ms // 10
        return False

    def overdue(self, mono_ms: int) -> bool:
        """The lease may be over (this process was stopped for a while): renew before a word."""
        return bool(self.epoch) and mono_ms - self._renewed_ms >= self._lease_ms

    def commit(self, group: Group) -> None:
        """Durable when it returns."""
        for _ in range(TRIES):
            self._alive()
            try:
                self.store.commit(group)
                return
            except Failed as error:
                failed: StoreError = error
            except Unknown as error:
                failed = error
                if self._settled(group, error):
                    return
            except (Fenced, Conflict) as error:
                self._lost(error)
            self._pause(PAUSE_S)
        self._lost(failed)

    def forget(self, mono_ms: int) -> None:
        """Whatever it was, it leads no more; another try comes in its time, counted from the end of
        what may have been a long wait."""
        self.epoch = 0
        self.next_ms = mono_ms + self._lease_ms // 3

    def resign(self) -> None:
        if self.epoch:
            epoch, self.epoch = self.epoch, 0
            self.store.resign(epoch)

    def compare(self, last: int, table: str, receipt: Receipt) -> None:
        """The store, which ends at event ``last``, has what a receipt of ours proves; or people
        restored a backup since and said so. Otherwise ``Rewound``, or ``Fenced`` if only the epoch
        is lost: the next one is above it."""
        store = self.store
        if receipt.epoch > self.epoch:
            self.least = receipt.epoch
        if store.chain_of(receipt.event) == receipt.chain:
            if receipt.epoch > self.epoch:
                said = f"epoch {receipt.epoch} was given before; {table} knows it"
                raise Fenced(store.place, said)
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

    def _settled(self, group: Group, unknown: Unknown) -> bool:
        """After an unknown outcome: True if it is durable, False if it may be given again."""
        waited, end = 0.0, monotonic() + SETTLING_S
        while True:
            self._alive()
            try:
                return self.store.settle(group)
            except Unknown:
                if waited >= SETTLING_S or monotonic() >= end:
                    self._lost(unknown, unknown=True)
                self._pause(PAUSE_S)
                waited += PAUSE_S
            except (Failed, Fenced, Conflict) as error:
                self._lost(error, unknown=True)

    def _lost(self, why: StoreError, *, unknown: bool = False) -> NoReturn:
        self.epoch = 0
        raise StepDown(why, unknown=unknown)
