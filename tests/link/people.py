"""People with accounts, for tests: one password, and the keys it makes."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from nacl.signing import SigningKey

from link import accounts, registry
from link.accounts import Credential
from link.ledger.ledger import Ledger
from link.ledger.orders import MACHINE, Found, Founded, Person
from link.ledger.state import Sign
from link.registry import Stamp, Wanted
from link.rows import AccountRow
from link.server import staff_orders as orders
from link.store.base import Store

PASSWORD = "three cards and a river"
STAFF = {"m.ng": "manager", "k.lee": "supervisor", "a.kim": "engineer"}


def made(password: str, salt: bytes = b"\0" * 16) -> tuple[Credential, SigningKey]:
    return _made(password, salt, accounts.COST_N)


@cache
def _made(password: str, salt: bytes, cost: int) -> tuple[Credential, SigningKey]:
    """Once for each cost: some tests make it cheap."""
    assert cost == accounts.COST_N
    return accounts.made(password, salt)


def account(name: str, role: str, password: str = PASSWORD) -> AccountRow:
    return accounts.added(name, role, made(password)[0], Stamp("test", 1))


def signed_with(*passwords: str) -> Sign:
    def sign(text: bytes) -> tuple[str, ...]:
        return tuple(made(word)[1].sign(text).signature.hex() for word in passwords)

    return sign


def request(what: str, name: str, password: str, **more: str) -> dict[str, str]:
    """An order with a new key, as its owner makes it."""
    credential, secret = made(password)
    proof = accounts.ownership(name, secret)
    given = {"what": what, "name": name, "key": credential.key, "proof": proof}
    return {**given, "salt": credential.salt, **more}


def settle(ledger: Ledger, *, acknowledged: bool = True) -> dict[str, AccountRow]:
    """The first accounts, made and acknowledged; rows for the group."""
    rows = {name: account(name, role) for name, role in STAFF.items()}
    listed = tuple(Founded(row.name, row.role, accounts.key_of(row)) for row in rows.values())
    ledger.found(Found(listed, "test"), MACHINE, 1)
    if not acknowledged:
        return rows
    order = orders.AcknowledgeAccounts(ledger.state.staff)
    two = [Person(name, row.role) for name, row in rows.items()][:2]
    for text in orders.for_the_record(order):
        ledger.office(text, two, 1, signed_with(PASSWORD, PASSWORD))
    return rows


def founded(
    store: Store, wanted: Sequence[Wanted], holder: str = "test", *, acknowledged: bool = True
) -> None:
    """A new store with the first accounts and these keys."""
    store.migrate(at_ms=1)
    epoch = store.lead(holder, 1_000)
    assert epoch is not None
    ledger = Ledger((), store.load())
    people = settle(ledger, acknowledged=acknowledged)
    group = ledger.group(epoch)
    group.keys = {row.public: row for row in registry.enrol({}, wanted, Stamp("test", 1))}
    group.accounts = people
    store.commit(group)
    store.resign(epoch)
