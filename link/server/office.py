"""Keys and accounts as they stand, and what people order: into the same group as everything else.

Nothing here takes effect before the group is committed: the gate admits a new key, and refuses a
revoked one, once the row is durable.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from link import accounts, registry
from link.accounts import AccountRefused
from link.ledger.orders import Person
from link.registry import Stamp, Wanted
from link.rows import AccountRow, Group, KeyRow, Saved
from link.server import orders
from link.server.floor import Floor
from link.server.gate import Gate

WRONG: Final = "wrong name or password, or the account is locked"


class Office:
    def __init__(self, gate: Gate) -> None:
        self.gate = gate
        self.accounts: dict[str, AccountRow] = {}
        self._keys: dict[str, KeyRow] = {}
        self._new_keys: dict[str, KeyRow] = {}
        self._new_accounts: dict[str, AccountRow] = {}

    def load(self, saved: Saved) -> None:
        """What is stored; whatever was not committed is forgotten."""
        self.gate.load(saved.keys)
        self._keys = {row.public: row for row in saved.keys}
        self.accounts = {row.name: row for row in saved.accounts}
        self._new_keys, self._new_accounts = {}, {}

    def into(self, group: Group) -> None:
        group.keys.update(self._new_keys)
        group.accounts.update(self._new_accounts)

    def committed(self) -> None:
        """The gate knows now."""
        if self._new_keys:
            self.gate.put(self._new_keys.values())
        self._new_keys, self._new_accounts = {}, {}

    # --- who asks --------------------------------------------------------------------------------

    def failed(self, name: str, floor: Floor) -> None:
        """A wrong password: counted, and with the fifth the account is locked."""
        account = self.accounts.get(name)
        if account is None or account.locked:
            return
        changed = accounts.after_failure(account, floor.now_ms)
        self._put(changed)
        if changed.locked:
            said = f"account {name} is locked after {changed.failures} wrong passwords"
            floor.alarm("E-ACT-002", "", said)

    def people(self, names: tuple[str, ...]) -> tuple[AccountRow, ...]:
        """Who have just proved their passwords; still allowed to sign?"""
        found = [self.accounts.get(name) for name in names]
        people = tuple(one for one in found if one is not None and accounts.may_sign(one))
        if len(people) != len(names):
            raise AccountRefused("E-ACT-001", WRONG)
        for account in people:
            if account.failures:
                self._put(accounts.after_success(account))
        return people

    # --- what they order -------------------------------------------------------------------------

    def give(self, order: orders.PersonOrder, people: tuple[AccountRow, ...], floor: Floor) -> None:
        """``AccountRefused``, ``KeyRefused`` or ``PoolError`` if it cannot be."""
        what = orders.what_of(order)
        own = isinstance(order, orders.SetPassword) and [order.name] == [p.name for p in people]
        if not own:
            accounts.check_authority(what, people, self.accounts)
        by = tuple(Person(person.name, person.role) for person in people)
        if not isinstance(order, orders.OfficeOrder):
            floor.order(order, by)
            return
        stamp = Stamp(" and ".join(person.name for person in people), floor.now_ms)
        keys, changed = self._worked_out(order, stamp)
        for text in orders.for_the_record(order):
            floor.ledger.note(what, text, by, floor.now_ms)
        for row in keys:
            self._keys[row.public] = self._new_keys[row.public] = row
        for account in changed:
            self._put(account)

    def _worked_out(
        self, order: orders.OfficeOrder, stamp: Stamp
    ) -> tuple[list[KeyRow], list[AccountRow]]:
        people: Mapping[str, AccountRow] = self.accounts
        match order:
            case orders.EnrolKeys():
                wanted = [
                    Wanted(new.key, new.name, new.role, order.from_ms, order.until_ms)
                    for new in order.keys
                ]
                return registry.enrol(self._keys, wanted, stamp), []
            case orders.RotateKey():
                new = Wanted(order.key.key, order.key.name, order.key.role)
                return registry.rotate(self._keys, new, order.overlap_ms, stamp), []
            case orders.RevokeKey():
                return registry.revoke(self._keys, order.which, stamp), []
            case orders.AddAccount():
                made = accounts.added(people, order.name, order.role, order.scrypt, stamp)
                return [], [made]
            case orders.SetPassword():
                known = accounts.known(people, order.name)
                return [], [accounts.with_password(known, order.scrypt, stamp)]
            case orders.UnlockAccount():
                return [], [accounts.unlocked(accounts.known(people, order.name), stamp)]
            case orders.DisableAccount():
                return [], [accounts.disabled(accounts.known(people, order.name), stamp)]

    def _put(self, account: AccountRow) -> None:
        self.accounts[account.name] = self._new_accounts[account.name] = account
