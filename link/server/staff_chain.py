"""PURE: who was authorised, by the chain of staff orders alone, and whether each order is theirs.

Anyone who can write to the store can write any row. Nobody can make the signature of a person whose
password he does not know, and each signature names the place of its order in the chain.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable
from typing import Final, NamedTuple

import msgspec
from nacl.exceptions import BadSignatureError
from nacl.signing import SigningKey, VerifyKey

from link import accounts
from link.accounts import AccountRefused
from link.ledger import orders as money
from link.ledger.orders import MACHINE, SERVER, TWO_PEOPLE, Given, Person
from link.rows import AccountRow, AwardStep, EventRow, staff_head, staff_text
from link.server import staff_orders as orders
from link.server.alarm_board import Attended, attended

MOST_FINDINGS: Final = 100
MOST_ATTENDED: Final = 1_000
STEPS: Final = {
    money.Verify: ("verified",),
    money.Approve: ("verified", "approved"),
    money.Pay: ("paid",),
    money.Reject: ("rejected",),
}
"""What an order of people makes of an award."""


class Member(NamedTuple):
    role: str
    key: str
    """Empty: from before keys, and its owner has not typed the password since."""
    disabled: bool = False


class Forged(ValueError):
    """This order is not what it says."""


class StaffChain:
    """``findings`` say what does not hold; an empty list is the only good."""

    def __init__(self) -> None:
        self.members: dict[str, Member] = {}
        self.changed: dict[str, int] = {}
        """The number of the last order that changed an account's role, key or use."""
        self.number, self.head = 0, ""
        self.unacknowledged = 0
        """The number of the last order that made accounts without proof; 0: none waits."""
        self.why = ""
        self.findings: list[str] = []
        self._awards: dict[int, Given] = {}
        self.attended: deque[Attended] = deque(maxlen=MOST_ATTENDED)
        """What people did about alarms: the last of it."""

    # --- the chain --------------------------------------------------------------------------------

    def read(self, rows: Iterable[EventRow]) -> StaffChain:
        """The whole chain, from its first order."""
        for row in rows:
            try:
                self._take(row)
            except (Forged, AccountRefused, msgspec.DecodeError) as error:
                self._found(f"staff order {self.number + 1}, event {row.id}: {error}")
            self.number, self.head = row.seq, row.hash
        return self

    def _take(self, row: EventRow) -> None:
        number = self.number + 1
        head = staff_head(self.head, number, row.received_ms, row.body)
        if (row.seq, row.hash) != (number, head):
            raise Forged(f"number {row.seq} and head {row.hash} do not follow the one before")
        given = money.read_given(row.body)
        if isinstance(given.order, money.Found):
            self._take_found(given, number)
            return
        order: object = given.order
        if isinstance(order, money.Office):
            order = orders.read_record(order.text)
        self._check_proofs(row, given, order)
        self._check_authority(given, order)
        if isinstance(order, orders.Recorded):
            self.ordered(order, number)
        elif isinstance(order, tuple(STEPS)):
            self._awards[row.id] = given
        elif (act := attended(row, given)) is not None:
            self.attended.append(act)

    def _take_found(self, given: Given, number: int) -> None:
        assert isinstance(given.order, money.Found)
        if given.proofs or given.by != ((SERVER,) if given.order.upgrade else (MACHINE,)):
            raise Forged("accounts without proof, by people")
        if given.order.upgrade and number != 1:
            raise Forged("the upgrade of a store that has keys already")
        self.founded(given.order, number)

    def _check_proofs(self, row: EventRow, given: Given, order: object) -> None:
        if not given.by or len(given.proofs) != len(given.by):
            raise Forged(f"{len(given.proofs)} proofs of {len(given.by)} people")
        end = b',"proofs":%b}' % msgspec.json.encode(given.proofs)
        if not row.body.endswith(end):
            raise Forged("the proofs are not at its end")
        unsigned = row.body[: -len(end)] + b"}"
        text = staff_text(self.head, self.number + 1, row.received_ms, unsigned)
        for person, proof in zip(given.by, given.proofs, strict=True):
            member = self.members.get(person.account)
            if member is None or member.disabled or member.role != person.role:
                raise Forged(f"{person.account} was not {person.role or 'anybody'} then")
            key = member.key
            if isinstance(order, orders.AdoptKey) and not key and order.name == person.account:
                key = order.key
            try:
                VerifyKey(bytes.fromhex(key)).verify(text, bytes.fromhex(proof))
            except (BadSignatureError, ValueError):
                raise Forged(f"the proof of {person.account} is wrong") from None

    def _check_authority(self, given: Given, order: object) -> None:
        if isinstance(order, orders.AdoptKey):
            if len(given.by) != 1 or self.members[order.name].key:
                raise Forged(f"{order.name} has a key already")
            return
        people = tuple(AccountRow(p.account, p.role, "", 0, 0, "", 0) for p in given.by)
        subject = order.name if isinstance(order, orders.AccountOrder) else ""
        assert isinstance(order, orders.StaffOrder)
        accounts.check_authority(orders.what_of(order), people, subject)
        if isinstance(order, TWO_PEOPLE) and len({p.role for p in given.by}) != 2:
            raise Forged("expected two people with different roles")

    # --- what an order means ----------------------------------------------------------------------

    def founded(self, order: money.Found, number: int) -> None:
        for name, role, key in ((a.name, a.role, a.key) for a in order.accounts):
            self._change(name, Member(role, key), number)
        self.unacknowledged, self.why = number, order.why

    def ordered(self, order: orders.Recorded, number: int) -> None:
        if isinstance(order, orders.AcknowledgeAccounts):
            self.unacknowledged, self.why = 0, ""
        if not isinstance(order, orders.AccountOrder):
            return
        if isinstance(order, orders.AddAccount):
            self._change(order.name, Member(order.role, order.key), number)
            return
        member = self.members[order.name]
        match order:
            case orders.KeyOrder():
                member = member._replace(key=order.key)
            case orders.SetRole():
                member = member._replace(role=order.role)
            case orders.DisableAccount():
                member = member._replace(disabled=True)
            case orders.EnableAccount():
                member = member._replace(disabled=False)
        self._change(order.name, member, number)

    def _change(self, name: str, member: Member, number: int) -> None:
        if self.members.get(name) != member:
            self.members[name], self.changed[name] = member, number

    # --- what else is stored ----------------------------------------------------------------------

    def compare(self, stored: Iterable[AccountRow]) -> StaffChain:
        """The accounts of the store are those of the chain."""
        found = {
            row.name: Member(row.role, accounts.key_of(row), accounts.is_disabled(row))
            for row in stored
        }
        for name in sorted(found.keys() | self.members.keys()):
            if found.get(name) != self.members.get(name):
                self._found(f"account {name}: it is not what people ordered")
        return self

    def search(self, events: Iterable[EventRow], steps: Iterable[AwardStep]) -> StaffChain:
        """No order of people outside the chain, no step of an award without its order."""
        before, began = 0, 0
        for row in events:
            given = money.read_given(row.body)
            if row.seq and not began:
                began = row.id
            if row.seq == before and began and any(person.role for person in given.by):
                names = " and ".join(person.account for person in given.by)
                self._found(f"event {row.id}: an order of {names} without proof")
            before = row.seq
        for step in steps:
            if began and step.event > began and step.role in accounts.ROLES:
                self._check_step(step)
        return self

    def _check_step(self, step: AwardStep) -> None:
        given = self._awards.get(step.event)
        order = None if given is None else given.order
        if (
            given is None
            or not isinstance(order, money.Verify | money.Approve | money.Pay | money.Reject)
            or order.award != step.award
            or step.state not in STEPS[type(order)]
            or Person(step.by, step.role) not in given.by
        ):
            said = f"{step.state} by {step.by}, and no order of his says so"
            self._found(f"award {step.award}, step {step.step}: {said}")

    def standing(self) -> list[str]:
        """Alarms that stay until people have dealt with them."""
        found = [f"{text} (E-ACT-013)" for text in self.findings]
        if self.unacknowledged:
            said = f"accounts were made without proof: {self.why}"
            found.append(f"{said}; two people acknowledge it (E-ACT-011)")
        return found

    def _found(self, text: str) -> None:
        if len(self.findings) < MOST_FINDINGS:
            self.findings.append(text)


def adoption(account: AccountRow, password: str, salt: bytes) -> tuple[orders.AdoptKey, SigningKey]:
    """The first key of an account from before keys, from the password that its owner typed."""
    credential, secret = accounts.made(password, salt)
    proof = accounts.ownership(account.name, secret)
    return orders.AdoptKey(account.name, credential.key, proof, credential.salt), secret


def upgrade(stored: Iterable[AccountRow]) -> money.Found:
    """The first order of the chain in a store from before it: its accounts as they were."""
    listed = tuple(money.Founded(row.name, row.role, accounts.key_of(row)) for row in stored)
    return money.Found(listed, "upgrade: the accounts that the store had", upgrade=True)
