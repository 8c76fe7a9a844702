"""No input stops the server: poison halts its own journal, a bad request gets an answer."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import pytest

from link.commands.link_store import history_of
from link.ledger import fixed
from link.ledger.history import check_history
from link.server.control import Control
from record.kit.lines import line_of
from record.link.codec import body_of
from tests.fuzzlink.staff import FIELDS
from tests.link.people import PASSWORD
from tests.link.server.house import House, Live
from tests.link.stranger import Stranger

HASH: Final = "ab" * 32


def served(house: House, live: Live, name: str = "table-2") -> None:
    """Another table still gets its acks."""
    good = house.stranger(name, live)
    good.join()
    good.wager(1, 500)
    good.deliver()
    good.close()


def whole(house: House, live: Live) -> None:
    """The loop never ended, and what it stored holds together and can be read."""
    live.stop()
    assert live.failed == []
    store = house.store()
    store.check()
    history = history_of(store)
    store.close()
    check_history(history)
    for row in history.events:
        if row.table:
            body_of(row.body)
        else:
            json.loads(row.body)


def event(n: int, body: str) -> bytes:
    head = f'{{"t":"event","n":{n},"seq":{10 * n},"hash":"{HASH}","at_ms":1,"body":'
    return (head + body + "}").encode()


def joined(house: House, live: Live) -> Stranger:
    table = house.stranger("table-1", live)
    table.join()
    return table


POISON: Final = {
    "zero bytes": b"\0" * 20_000,
    "high bytes": b"\xff" * 65_536,
    "escapes": b'"' + b"\\u0000" * 10_900 + b'"',
    "float": event(
        1, '{"what":"round","round":1,"record":{"x":' + "1e15," * 0 + '1e15},"result":{}}'
    ),
    "floats": event(
        1, '{"what":"round","round":1,"record":{"x":[' + "1e15," * 12_000 + '1]},"result":{}}'
    ),
    "NUL in a hand": event(1, r'{"what":"claimed","round":1,"claims":[[1,"royal\u0000",100]]}'),
    "NUL in a kind": event(
        1, r'{"what":"round","round":1,"record":{},"result":{},"awards":[[1,"a\u0000",5]]}'
    ),
    "a huge number": event(
        1, '{"what":"round","round":1,"record":{"x":' + "9" * 5_000 + '},"result":{}}'
    ),
    "deep": event(
        1, '{"what":"round","round":1,"record":' + '{"a":' * 900 + "1" + "}" * 900 + ',"result":{}}'
    ),
    "versions of thousands of digits": b'{"t":"hello","versions":[' + b"9" * 6_000 + b"]}",
}


@pytest.mark.parametrize("frame", POISON.values(), ids=POISON)
def test_frames_that_are_no_messages_stop_their_sender_alone(house: House, frame: bytes) -> None:
    live = house.start()
    table = joined(house, live)
    for _ in range(3):
        table.send(frame)
    told = table.until(lambda m: m.get("code") == "E-LNK-017")
    assert told["text"].isprintable()
    served(house, live)
    assert [a["code"] for a in live.alarms()] == ["E-LNK-017"]
    whole(house, live)


def test_a_body_is_stored_as_it_came(house: House) -> None:
    live = house.start()
    table = joined(house, live)
    body = '{ "wagers":[[1,100]],  "round": 1, "what":"contributed" }'
    table.send(event(1, body))
    table.until(lambda m: m["t"] == "ack")
    live.stop()
    store = house.store()
    row = store.event(table.journal, 1)
    store.close()
    assert row is not None
    assert row.body == body.encode()


def test_what_breaks_the_ledger_halts_its_journal_and_is_undone(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A defect planted in the ledger: half of an event is booked, then it fails."""
    played = fixed.played

    def broken(state: Any, journal: Any, body: Any) -> Any:
        if body.round == 7:
            level = next(iter(state.levels()))
            level.balances["display"] += 1
            raise KeyError("planted")
        return played(state, journal, body)

    monkeypatch.setattr(fixed, "played", broken)
    live = house.start()
    bad, good = joined(house, live), house.stranger("table-2", live)
    good.join()
    bad.write({"what": "round", "round": 7, "record": {}, "result": {}})
    bad.send(bad.events[0])
    refused = bad.until(lambda m: m["t"] == "refused")
    assert (refused["code"], refused["halted"]) == ("E-LNK-022", True)
    good.wager(1, 500)
    good.deliver()
    assert live.meter() == 100_005
    assert {a["code"] for a in live.alarms()} == {"E-LNK-022"}
    bad.send(bad.events[0])
    assert bad.until(lambda m: m["t"] == "refused")["code"] == "E-LNK-015"
    whole(house, live)


def test_of_several_messages_in_a_group_only_the_one_that_breaks_it_is_stopped(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The planted defect shows only when the group is closed: nobody knows yet whose it was."""
    played = fixed.played

    def broken(state: Any, journal: Any, body: Any) -> Any:
        if body.round == 7:
            level = next(iter(state.levels()))
            level.balances["display"] += 1
            state.touch(level)
        return played(state, journal, body)

    monkeypatch.setattr(fixed, "played", broken)
    live = house.start()
    bad, good = joined(house, live), house.stranger("table-2", live)
    good.join()
    bad.write({"what": "round", "round": 7, "record": {}, "result": {}})
    for number in range(1, 31):
        good.wager(number, 500)
        good.send(good.events[-1])
    refused = bad.until(lambda m: m["t"] == "refused", again=bad.events[0])
    assert (refused["code"], refused["halted"]) == ("E-LNK-022", True)
    good.deliver()
    assert live.meter() == 100_150
    whole(house, live)


# --- local requests -------------------------------------------------------------------------------

VALUES: Final[tuple[Any, ...]] = (
    -1, 2**63, 2**63 - 1, 10**30, 1.5, True, None, "", "x\0y", "\ud800", "\x1b[2J", "x" * 70_000,
    [], {}, [[]], {"what": "note"}, "/", "/nowhere/at/all", "/dev/null", "/tmp/\0", "/" + "a" * 900,
)  # fmt: skip
SOUND: Final[Mapping[str, dict[str, Any]]] = {
    "rows": {"kind": "events"},
    "password": {"name": "k.lee", "password": PASSWORD},
}
"""What a verb needs, so that the bad value is all that is wrong."""


@pytest.fixture
def control(house: House, tmp_path: Path) -> tuple[Live, Control]:
    live = house.start(control=tmp_path / "control.sock")
    assert live.control is not None
    return live, live.control


def test_every_verb_with_every_bad_value_gets_an_answer(
    house: House, control: tuple[Live, Control]
) -> None:
    live, socket = control
    for verb in socket.verbs:
        for name in FIELDS:
            for value in VALUES:
                request: dict[str, Any] = {"verb": verb, **SOUND.get(verb, {}), name: value}
                answer = socket.answer(json.dumps(request).encode(), os.geteuid())
                assert {*json.loads(line_of(answer))} == {*answer}
                assert answer.get("error") != "E-SVC-008", request
    served(house, live)
    whole(house, live)


def test_orders_with_bad_text_change_nothing(house: House, control: tuple[Live, Control]) -> None:
    live, socket = control
    by = [["m.ng", PASSWORD], ["k.lee", PASSWORD]]
    table = joined(house, live)
    table.send(event(2, "{}"))
    journal = table.journal
    table.close()
    for order in (
        {"what": "note", "topic": "x", "text": "a\0b"},
        {"what": "note", "topic": "x\u202e", "text": "a"},
        {"what": "note", "topic": "x", "text": "a" * 60_001},
        {"what": "restore", "why": "x", "journal": journal, "head_seq": 1, "head_hash": "zz"},
        {"what": "resume", "journal": journal, "why": "x", "skip_hash": "y" * 50_000},
        {"what": "restore", "why": "x", "head_seq": 2**63 - 1},
    ):
        answer = socket.answer(json.dumps({"verb": "order", "by": by, "order": order}).encode(), 0)
        assert "error" in answer, order
    served(house, live)
    whole(house, live)


@pytest.mark.parametrize("line", [b"", b"\n", b"[]", b"null", b'{"verb":[]}', b'{"verb":{}}',
                                  b'{"verb":"status","verb":"keys"}', b"\xff", b"[" * 100_000,
                                  b'{"verb":"' + b"x" * 50_000 + b'"}'])  # fmt: skip
def test_what_is_no_request_is_named(control: tuple[Live, Control], line: bytes) -> None:
    answer = control[1].answer(line, 0)
    assert answer["error"] in ("E-SVC-001", "E-SVC-002")
    assert len(answer["text"]) < 1_000
    assert answer["text"].isprintable()
