"""One member of staff against the house: every order, every combination of names and passwords that
one credential allows, in any sequence. Real control socket's parser, office, ledger and chain.
"""

from __future__ import annotations

import io
import json
from types import SimpleNamespace
from typing import Any

import zmq
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule
from msgspec import to_builtins

from link import accounts
from link.accounts import AccountRefused
from link.ledger.errors import PoolError
from link.ledger.orders import MACHINE, Found, Founded
from link.receipts import Receipts
from link.registry import KeyRefused, Stamp, Wanted, enrol
from link.rows import AccountRow
from link.server.control import Control
from link.server.feed import LinkFeed
from link.server.floor import Floor as ServerFloor
from link.server.gate import Gate
from link.server.log import Log
from link.server.replies import Refusal
from link.server.requests import Immediate
from link.server.service import LoopService
from link.server.staff_chain import StaffChain
from link.server.staff_office import StaffOffice
from link.server.teller import Teller
from tests.link.ledger.support import Floor, terms

STAFF = {
    "m.ng": "manager",
    "k.lee": "supervisor",
    "a.kim": "engineer",
    "r.roy": "auditor",
    "ex.one": "supervisor",
    "old.one": "manager",
}
"""``ex.one`` is disabled, ``old.one`` is from before keys."""
AWARD = "pool/1/1"
EVIL = "a password he made up"
WRONG = "a wrong guess of his"
ALONE = ("verify", "approve", "accept", "note", "set password", "acknowledge alarm")
"""What one person may be answered "done" to."""
MAY = dict(accounts.MAY)
OTHER_TERMS = to_builtins(terms(rate_ppm=5_000))
KEYS = [zmq.curve_keypair()[0].decode() for _ in range(3)]
names = st.sampled_from((*STAFF, "new.one", "new.one"))
roles = st.sampled_from(accounts.ROLES)
by = st.sampled_from(
    (*("alone",) * 8, *("twice",) * 2, "with", "after", "evil with", "evil after", "evil other")
)
WHY = {"why": "x"}
AWARDS = ("verify", "approve", "approve", "pay", "reject")
ACCOUNTS = ("disable account", "enable account", "unlock account", "set role")
NEW_KEY = ("add account", "reset account", "set password")
ALARM = ("acknowledge alarm",)
TRANSFER = {"pool": "pool", "level": "grand", "to_pool": "pool", "to_level": "x", "cents": 1}
MONEY = ("accept", "resume", "retire", "restore", "change", "change", "transfer", "close")
OFFICE: tuple[dict[str, Any], ...] = (
    {"what": "enrol keys", "keys": [["T1", KEYS[0], "table"]]},
    {"what": "rotate key", "key": ["T1", KEYS[1], "table"]},
    {"what": "revoke key", "which": "T1", "why": "x"},
    {"what": "acknowledge accounts", "number": 1},
    {"what": "note", "topic": "add account", "text": '{"name":"new.one"}'},
    {"what": "office", "text": "{}"},
    {"what": "found", "accounts": [["new.one", "manager", ""]], "why": "x"},
    {"what": "adopt key", "name": "old.one"},
)

GIVEN = frozenset((*AWARDS, *MONEY, *NEW_KEY, *ACCOUNTS, *ALARM, *(one["what"] for one in OFFICE)))
"""Every kind of order that the search gives."""


def password_of(name: str) -> str:
    return f"secret word of number {sorted(STAFF).index(name)}"


class Inline:
    """The bridge, with the loop on the other side of a call."""

    def __init__(self, service: LoopService) -> None:
        self._service = service

    def ask(self, asked: Immediate, timeout_s: float = 0) -> Any:  # noqa: ARG002
        try:
            return self._service.answer(asked)
        except (AccountRefused, KeyRefused, PoolError) as error:
            return Refusal(error.code, error.text)


class SingleCredential(RuleBasedStateMachine):
    """``me`` is the one whose password the attacker has."""

    @initialize(me=st.sampled_from(("m.ng", "m.ng", "k.lee", "a.kim", "r.roy")))
    def begin(self, me: str) -> None:
        self.me = me, password_of(me)
        self.house = Floor()
        self.house.hit("T1", 1)
        self.proposed = self.house.tables["T1"].journal[::-1]
        self.house.hello("T1", journal=self.proposed)
        self.other_journal = self.house.tables["T2"].journal
        self.now_ms, self.source, self.looked_after = 1_000_000, 0, False
        floor = ServerFloor(
            self.house.ledger,
            server="s",
            epoch=1,
            beat_ms=1_000,
            receipts=Receipts((b"key",)),
            compare=lambda *_: None,
        )
        self.office = StaffOffice(Gate())
        self._settle(floor)
        clock = SimpleNamespace(now_ms=lambda: self.now_ms, mono_ms=lambda: self.now_ms)
        reports = SimpleNamespace(time_zone="UTC", day_start="06:00")
        config = SimpleNamespace(reports=reports)
        server = SimpleNamespace(office=self.office, floor=floor, clock=clock, config=config)
        self.teller = server.teller = Teller(server, None, LinkFeed())  # type: ignore[arg-type]
        floor.alarm("E-LNK-042", "", "handshake refused")
        self.commit()
        (self.alarm,) = (one.alarm for one in self.teller.board.shown())
        service = LoopService(server, None, None)  # type: ignore[arg-type]
        self.floor = floor
        self.control = Control(None, Inline(service), Log(io.StringIO()))  # type: ignore[arg-type]
        self.before = self.picture()

    def _settle(self, floor: ServerFloor) -> None:
        rows = [self._account(name, role) for name, role in STAFF.items()]
        listed = tuple(Founded(row.name, row.role, accounts.key_of(row)) for row in rows)
        self.house.ledger.found(Found(listed, "test"), MACHINE, 1)
        for row in rows:
            self.office.accounts[row.name] = row
        self.office.chain.founded(Found(listed, "test"), 1)
        wanted = [Wanted(KEYS[2], "T1")]
        self.office._keys = {row.public: row for row in enrol({}, wanted, Stamp("test", 1))}
        gone = accounts.disabled(self.office.accounts["ex.one"], Stamp("test", 1))
        self.office.accounts["ex.one"] = gone
        floor.at(self.now_ms, self.now_ms)
        self.house.commit()

    @staticmethod
    def _account(name: str, role: str) -> AccountRow:
        salt = b"\0" * 16
        credential, secret = accounts.made(password_of(name), salt)
        stored = credential.stored()
        if name == "old.one":
            stored = stored.replace("ed25519", "scrypt").replace(
                credential.key, bytes(secret).hex()
            )
        return AccountRow(name, role, stored, 0, 0, "test", 1)

    # --- what he does -----------------------------------------------------------------------------

    def give(self, what: dict[str, Any], by: list[tuple[str, str]]) -> dict[str, Any]:
        line = {"verb": "order", "by": [list(pair) for pair in by], "order": what}
        self.source += 1  # he has as many users of the machine as he likes
        answer: dict[str, Any] = dict(self.control.answer(json.dumps(line).encode(), self.source))
        assert answer.get("error") != "E-SVC-008", (what, by, answer)
        if "error" not in answer:
            assert what["what"] in ALONE, (what, by)
            assert STAFF[self.me[0]] in MAY[what["what"]], (what, by)
        self.commit()
        return answer

    def commit(self) -> None:
        """As the loop does."""
        group = self.house.ledger.group(1)
        self.house.store.commit(group)
        self.office.committed()
        self.teller.committed(group)

    def people(self, by: str, other: str) -> list[tuple[str, str]]:
        """Himself, alone or with others whose passwords he can only make up."""
        guess = other, (EVIL if by.startswith("evil") else WRONG)
        found = {
            "alone": [self.me],
            "twice": [self.me, self.me],
            "with": [self.me, guess],
            "after": [guess, self.me],
            "other": [guess],
        }
        return found[by.removeprefix("evil ")]

    @rule(what=st.sampled_from(AWARDS), by=by, other=names)
    def award(self, what: str, by: str, other: str) -> None:
        order = {"what": what, "award": AWARD}
        self.give(order | ({"why": "x"} if what == "reject" else {}), self.people(by, other))

    @rule(orders=st.lists(st.sampled_from(AWARDS), min_size=2, max_size=4))
    def awards(self, orders: list[str]) -> None:
        """One after the other, by himself."""
        for what in orders:
            self.award(what, "alone", "")

    @rule(
        what=st.sampled_from(NEW_KEY),
        name=names,
        role=roles,
        by=by,
        other=names,
    )
    def new_key(self, what: str, name: str, role: str, by: str, other: str) -> None:
        """A request of his own making, for any account, with a password that he knows."""
        if what == "add account" and name in ("m.ng", "k.lee", "a.kim"):
            name = "new.one"
        credential, secret = accounts.made(EVIL, b"\1" * 16)
        proof = accounts.ownership(name, secret)
        order = {"what": what, "name": name, "key": credential.key, "proof": proof}
        order["salt"] = credential.salt
        if what == "add account":
            order["role"] = role
        answer = self.give(order, self.people(by, other))
        if "ok" in answer and what == "set password" and name == self.me[0]:
            self.me = name, EVIL
            self.before["keys"][name] = credential.key

    @rule(
        what=st.sampled_from(ACCOUNTS),
        name=names,
        role=roles,
        by=by,
        other=names,
    )
    def change(self, what: str, name: str, role: str, by: str, other: str) -> None:
        order = {"what": what, "name": name} | ({"role": role} if what == "set role" else {})
        self.give(order, self.people(by, other))

    @rule(order=st.sampled_from(OFFICE), by=by, other=names)
    def office_order(self, order: dict[str, Any], by: str, other: str) -> None:
        self.give(order, self.people(by, other))

    @rule(what=st.sampled_from(MONEY), by=by, other=names)
    def money_order(self, what: str, by: str, other: str) -> None:
        journal = {"journal": self.proposed if what == "accept" else self.other_journal}
        given: dict[str, dict[str, Any]] = {
            "accept": journal,
            "resume": journal | WHY,
            "retire": journal | WHY,
            "restore": WHY,
            "change": {"pool": "pool", "terms": OTHER_TERMS},
            "close": {"pool": "pool"} | WHY,
            "transfer": TRANSFER | WHY,
        }
        self.give({"what": what, **given[what]}, self.people(by, other))

    @rule(by=by, other=names, number=st.sampled_from((0, 0, 0, 1)))
    def look_after(self, by: str, other: str, number: int) -> None:
        order = {"what": "acknowledge alarm", "alarm": self.alarm + number} | WHY
        answer = self.give(order, self.people(by, other))
        self.looked_after |= "ok" in answer

    @rule(name=names, word=st.sampled_from((WRONG, EVIL, "mine")))
    def prove(self, name: str, word: str) -> None:
        """The question whether a password fits: his own does, and a guess counts as any other."""
        password = self.me[1] if word == "mine" else word
        asked = {"verb": "password", "name": name, "password": password}
        before = self.failures(name)
        self.source += 1
        answer = dict(self.control.answer(json.dumps(asked).encode(), self.source))
        if "error" not in answer:
            assert (name, password) == self.me, answer
            assert answer == {"ok": True, "name": name, "role": STAFF[name]}
        elif answer["error"] == "E-ACT-001" and name in STAFF:
            assert self.failures(name) == before + 1, name
        self.commit()

    def failures(self, name: str) -> int:
        account = self.office.accounts.get(name)
        return 0 if account is None else account.failures

    @rule(seconds=st.sampled_from((1, 40, 700)))
    def wait(self, seconds: int) -> None:
        self.now_ms += seconds * 1_000
        self.floor.at(self.now_ms, self.now_ms)

    # --- what he may never reach ------------------------------------------------------------------

    def picture(self) -> dict[str, Any]:
        state = self.house.ledger.state
        people = self.office.accounts.values()
        return {
            "levels": [(dict(level.balances), level.terms) for level in state.levels()],
            "journals": {name: journal.state for name, journal in state.journals.items()},
            "roles": {row.name: row.role for row in people},
            "keys": {row.name: accounts.key_of(row) for row in people},
            "disabled": {row.name: accounts.is_disabled(row) for row in people},
            "tables": dict(self.office._keys),
            "acknowledged": self.office.chain.unacknowledged,
            "planned": [level.next_terms for level in state.levels()],
        }

    @invariant()
    def nothing_that_needs_two_people_has_happened(self) -> None:
        if not hasattr(self, "before"):
            return
        assert self.house.ledger.state.awards[AWARD].state in ("locked", "verified")
        assert self.picture() == self.before
        shown = self.teller.board.shown()
        assert {one.acknowledged.by for one in shown if one.acknowledged} <= {self.me[0]}
        if not self.looked_after:
            assert self.alarm in [one.alarm for one in shown if not one.acknowledged]

    def teardown(self) -> None:
        """And the record agrees: every order of his is proved, and was his to give."""
        if not hasattr(self, "before"):
            return
        chained, number = [], 0
        for row in self.house.store.events:
            if not row.table and row.seq > number:
                chained.append(row)
                number = row.seq
        assert StaffChain().read(chained).findings == []
