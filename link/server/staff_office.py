"""Keys and accounts as they stand, and what people order: into the same group as everything else.

Nothing here takes effect before the group is committed: the gate admits a new key, and refuses a
revoked one, once the row is durable.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from nacl.signing import SigningKey

from link import accounts, registry
from link.accounts import AccountRefused, Credential, Source, Sources
from link.ledger.ledger import Ledger
from link.ledger.orders import SERVER, Person
from link.ledger.state import Sign
from link.registry import Stamp, Wanted
from link.rows import AccountRow, EventRow, Group, KeyRow, Saved
from link.server import staff_orders as orders
from link.server.floor import Floor
from link.server.gate import Gate
from link.server.requests import Signers
from link.server.staff_chain import StaffChain, upgrade

WRONG: Final = "wrong name or password, or the account is disabled"


class StaffOffice:
    def __init__(self, gate: Gate) -> None:
        self.gate = gate
        self.accounts: dict[str, AccountRow] = {}
        self.chain = StaffChain()
        self._sources = Sources()
        self._keys: dict[str, KeyRow] = {}
        self._new_keys: dict[str, KeyRow] = {}
        self._new_accounts: dict[str, AccountRow] = {}

    def load(self, saved: Saved) -> None:
        """What is stored; whatever was not committed is forgotten."""
        self.gate.load(saved.keys)
        self._keys = {row.public: row for row in saved.keys}
        self.accounts = {row.name: row for row in saved.accounts}
        self._new_keys, self._new_accounts = {}, {}

    def begin(self, ledger: Ledger, saved: Saved, staff: Iterable[EventRow], now_ms: int) -> None:
        """This server leads. Who is authorised says the chain of staff orders; a store from before
        it gets its first order now."""
        self.load(saved)
        self.chain = StaffChain().read(staff)
        if saved.accounts and not saved.staff:
            order = upgrade(saved.accounts)
            ledger.found(order, SERVER, now_ms)
            self.chain.founded(order, ledger.state.staff)
        for text in self.chain.compare(saved.accounts).findings:
            ledger.alarm("E-ACT-013", "", text[:500], now_ms)

    def into(self, group: Group) -> None:
        group.keys.update(self._new_keys)
        group.accounts.update(self._new_accounts)

    def committed(self) -> None:
        """The gate knows now."""
        if self._new_keys:
            self.gate.put(self._new_keys.values())
        self._new_keys, self._new_accounts = {}, {}

    # --- who asks --------------------------------------------------------------------------------

    def waiting_ms(self, name: str, source: Source, floor: Floor) -> int:
        """How long no password is tried for this account from this source."""
        account = self.accounts.get(name)
        mine = 0 if account is None else accounts.waiting_ms(account, floor.now_ms)
        return max(mine, self._sources.waiting_ms(source, floor.mono_ms))

    def failed(self, name: str, source: Source, floor: Floor) -> None:
        """A wrong password: this account and this source wait longer each time."""
        account = self.accounts.get(name)
        many = self._sources.failed(source, name if account else "", floor.mono_ms)
        if accounts.is_alarming(many):
            said = f"{many} wrong passwords, last for {name!r}"
            floor.alarm("E-ACT-002", "", said, _place(source))
        if account is None:
            return
        changed = accounts.after_failure(account, floor.now_ms)
        self._put(changed)
        if accounts.is_alarming(changed.failures):
            said = f"{changed.failures} wrong passwords, last from {_place(source)}"
            floor.alarm("E-ACT-002", "", said, f"account {name}")

    def people(
        self, signers: Signers, source: Source, refused: str = "no order is taken"
    ) -> tuple[AccountRow, ...]:
        """Who have just proved their passwords; is each key still the account's? ``refused`` says
        what they cannot do while the chain does not hold."""
        if self.chain.findings:
            look = "look at the server's machine with underfelt link check"
            raise AccountRefused("E-ACT-013", f"{refused}: {self.chain.findings[0]}; {look}")
        people = []
        for name, secret in signers:
            account = self.accounts.get(name)
            key = bytes(secret.verify_key).hex()
            if account is None or accounts.is_disabled(account) or accounts.key_of(account) != key:
                raise AccountRefused("E-ACT-001", WRONG)
            people.append(account)
        for account in people:
            self._sources.succeeded(source, account.name)
            if account.failures:
                self._put(accounts.after_success(account))
        return tuple(people)

    # --- what they order -------------------------------------------------------------------------

    def give(
        self, order: orders.StaffOrder, signers: Signers, floor: Floor, source: Source = 0
    ) -> tuple[str, ...]:
        """``AccountRefused``, ``KeyRefused`` or ``PoolError`` if it cannot be."""
        people = self.people(signers, source)
        subject = order.name if isinstance(order, orders.AccountOrder) else ""
        accounts.check_authority(orders.what_of(order), people, subject)
        by = tuple(Person(person.name, person.role) for person in people)
        if not isinstance(order, orders.OfficeOrder):
            floor.order(order, by, _sign_with(signers))
        else:
            stamp = Stamp(" and ".join(person.name for person in people), floor.now_ms)
            keys, changed = self._worked_out(order, stamp)
            self._record(order, by, signers, floor)
            for row in keys:
                self._keys[row.public] = self._new_keys[row.public] = row
            for account in changed:
                self._put(account)
            if isinstance(order, orders.UnlockAccount):
                self._sources.clear()
        return tuple(person.name for person in people)

    def adopt(self, order: orders.AdoptKey, secret: SigningKey, floor: Floor) -> None:
        """The owner of an account from before keys has typed the old password."""
        account = accounts.known(self.accounts, order.name)
        if accounts.is_disabled(account) or accounts.key_of(account):
            raise AccountRefused("E-ACT-001", WRONG)
        stamp = Stamp(account.name, floor.now_ms)
        self._record(order, (Person(account.name, account.role),), ((account.name, secret),), floor)
        self._put(accounts.with_key(account, Credential(order.salt, order.key), stamp))

    def _record(
        self, order: orders.Recorded, by: tuple[Person, ...], signers: Signers, floor: Floor
    ) -> None:
        for text in orders.for_the_record(order):
            floor.ledger.office(text, by, floor.now_ms, _sign_with(signers))
        self.chain.ordered(order, floor.ledger.state.staff)

    def _worked_out(
        self, order: orders.OfficeOrder, stamp: Stamp
    ) -> tuple[list[KeyRow], list[AccountRow]]:
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
            case orders.AcknowledgeAccounts():
                waits = self.chain.unacknowledged
                if not waits or order.number != waits:
                    said = f"number {order.number}: {waits or 'none'} waits"
                    raise AccountRefused("E-ACT-007", f"acknowledge accounts: {said}")
                return [], []
            case _:
                return [], [self._account(order, stamp)]

    def _account(self, order: orders.AccountOrder, stamp: Stamp) -> AccountRow:
        people: Mapping[str, AccountRow] = self.accounts
        if isinstance(order, orders.KeyOrder):
            accounts.check_owned(order.name, order.key, order.proof)
            if not order.salt:
                raise AccountRefused("E-ACT-007", "salt: expected 32 hexadecimal digits")
            credential = Credential(order.salt, order.key)
            if isinstance(order, orders.AddAccount):
                accounts.check_new(people, order.name, order.role)
                return accounts.added(order.name, order.role, credential, stamp)
            return accounts.with_key(accounts.known(people, order.name), credential, stamp)
        account = accounts.known(people, order.name)
        match order:
            case orders.SetRole():
                accounts.check_role(order.role)
                changed = accounts.with_role(account, order.role, stamp)
            case orders.DisableAccount():
                changed = accounts.disabled(account, stamp)
            case orders.EnableAccount():
                changed = accounts.enabled(account, stamp)
            case _:
                changed = accounts.unlocked(account, stamp)
        accounts.check_enough({**people, changed.name: changed})
        return changed

    def _put(self, account: AccountRow) -> None:
        self.accounts[account.name] = self._new_accounts[account.name] = account


def _place(source: Source) -> str:
    return f"user {source} of this machine" if isinstance(source, int) else f"address {source}"


def _sign_with(signers: Signers) -> Sign:
    def sign(text: bytes) -> tuple[str, ...]:
        return tuple(secret.sign(text).signature.hex() for _, secret in signers)

    return sign
