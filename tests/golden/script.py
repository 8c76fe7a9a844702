"""What a third table and the staff say to the link server: every message and order that rounds at
whole tables leave out, and some that are refused."""

from __future__ import annotations

import hashlib
import json
from typing import Any, Final

from tests.golden.server import Link, public_of, seeded
from tests.golden.tables import order
from tests.link.people import request

JOURNAL: Final = "33" * 16
HELLO: Final[dict[str, Any]] = {
    "t": "hello", "versions": [3, 2, 1], "table": "T3", "journal": JOURNAL, "sent": 0, "seq": 0,
    "head": "0" * 64, "game": "MBS3", "program": "script", "configuration": "0" * 64,
}  # fmt: skip
RECORD: Final = {"game": "MBS3", "settings": {}, "round": {"seats": [], "events": []}}


def hash_of(seq: int) -> str:
    return hashlib.sha256(f"{JOURNAL} {seq}".encode()).hexdigest()


def event(n: int, what: str, **body: Any) -> dict[str, Any]:
    told = {"what": what, **body}
    return {"t": "event", "n": n, "seq": 10 * n, "hash": hash_of(10 * n), "at_ms": n, "body": told}


def messages() -> list[dict[str, Any]]:
    wagers = [[1, 500, 1], [2, 100, 1]]
    result = {"round_status": "settled", "seats": []}
    return [
        {"t": "nonsense"},
        event(1, "contributed", round=1, wagers=wagers),
        {**HELLO, "versions": [9]},
        {**HELLO, "versions": [1]},
        event(1, "contributed", round=1, wagers=wagers),
        {"t": "bye"},
        {**HELLO, "versions": [2, 1], "sent": 1, "seq": 10, "head": hash_of(10)},
        event(2, "reversed", round=1, wagers=[[2, 100, 1]]),
        {"t": "bye", "why": "again"},
        {**HELLO, "sent": 2, "seq": 20, "head": hash_of(20)},
        {"t": "checkpoint", "seq": 20, "hash": hash_of(20), "at_ms": 5},
        event(4, "contributed", round=2, wagers=wagers),
        event(3, "contributed", round=2, wagers=wagers),
        event(3, "contributed", round=2, wagers=wagers),
        event(4, "claimed", round=2, claims=[[1, "straight flush", 10]]),
        event(5, "withdrawn", round=2, seats=[1]),
        event(6, "round", round=2, record=RECORD, result=result, awards=[[2, "envy", 300]]),
        event(7, "selection wanted", round=3, seats=[1, 2], magic_rate="1/2"),
        event(8, "contributed", round=3, wagers=[[1, 500, 1]]),
        event(9, "claimed", round=3, claims=[[1, "royal flush", 100]]),
        {"t": "beat", "at_ms": 6, "test": True},
        {"t": "beat", "at_ms": 7},
    ]


def orders() -> list[str]:
    both = ("m.ng", "k.lee")
    wrong = {"verb": "order", "by": [["m.ng", "a wrong password"]], "order": {"what": "note"}}
    spare = ["T3", public_of("T3 again"), "table"]
    return [
        order({"what": "pay", "award": "main/1/1"}, "m.ng"),
        order({"what": "pay", "award": "main/1/1"}, "k.lee"),
        order({"what": "verify", "award": "main/1/2", "note": "looked at it"}, "k.lee"),
        order({"what": "approve", "award": "main/1/2"}, "m.ng"),
        order({"what": "reject", "award": "main/2/4", "why": "a dead hand"}, *both),
        order({"what": "resume", "journal": JOURNAL, "why": "it was a test"}, *both),
        order({"what": "resume", "journal": JOURNAL, "why": "it was a test"}, "m.ng", "a.kim"),
        order({"what": "reject", "award": "mega/1/1", "why": "one alone"}, "k.lee"),
        order({"what": "verify", "award": "mega/9/9"}, "k.lee"),
        order({"what": "verify", "award": "main/1/1", "unknown": 1}, "k.lee"),
        order({"what": "lock"}, "k.lee"),
        order({"what": "retire", "journal": JOURNAL, "why": "moved"}, *both),
        order(
            {"what": "transfer", "pool": "mega", "level": "grand", "to_pool": "main",
             "to_level": "grand", "why": "balance", "cents": 5}, "m.ng", "a.kim",
        ),
        order(request("add account", "new.one", "cards on the felt now", role="engineer"), *both),
        order({"what": "disable account", "name": "new.one"}, *both),
        order({"what": "enrol keys", "keys": [["sign-9", public_of("sign-9"), "sign"]]}, *both),
        order({"what": "rotate key", "key": spare, "overlap_ms": 1000}, *both),
        json.dumps(wrong),
        json.dumps({"verb": "order", "by": [], "order": {}}),
    ]  # fmt: skip


QUESTIONS: Final = (
    *({"verb": verb} for verb in (
        "status", "meters", "tables", "pools", "keys", "accounts", "journals", "awards", "alarms",
        "pay", "backup",
    )),
    *({"verb": "rows", "kind": kind} for kind in (
        "mark", "events", "entries", "steps", "alarms", "all",
    )),
)  # fmt: skip


def play(link: Link, at_ms: int) -> int:
    """A message every tenth of a second, from this time on; when it ended."""
    receipt: Any = None
    for message in messages():
        at_ms += 100
        for frame in link.hears(at_ms, "T3", json.dumps(message).encode()):
            receipt = json.loads(frame).get("receipt", receipt)
    for shown in (receipt, [*receipt[:-1], seeded("forged").hex()]):
        at_ms += 100
        link.hears(at_ms, "T3", json.dumps({"t": "receipt", "receipt": shown}).encode())
    link.asked(at_ms, '{"verb":"tables"}')
    for line in orders():
        at_ms += 1_000
        link.asked(at_ms, line)
    for asked in QUESTIONS:
        at_ms += 10
        link.asked(at_ms, json.dumps(asked))
    for line in ("", "status", "[]"):
        at_ms += 10
        link.asked(at_ms, line)
    return at_ms
