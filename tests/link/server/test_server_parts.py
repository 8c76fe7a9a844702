"""Parts of the server by themselves: the gate's answers, outcomes of leading, alarms, a flood."""

from __future__ import annotations

import pytest
import zmq

from link.commands.link_store import history_of
from link.config import Limits
from link.ledger.history import check_history
from link.ledger.orders import Verify
from link.rows import Group, KeyRow
from link.server.gate import NEVER, SIGNS, TABLES, AlarmLimiter, Gate
from link.server.leadership import Leadership, StepDown
from link.server.log import Log
from link.server.staff_orders import RevokeKey
from link.store.errors import Conflict, Failed, Fenced, StoreError, Unknown
from record.link.keys import encode_z85
from tests.link.server.house import House

# --- the gate ------------------------------------------------------------------------------------

RAW = bytes(range(32))
KEY = encode_z85(RAW)


def gate(**changes: object) -> Gate:
    row = {"public": KEY, "table": "table-1", "role": "table", "from_ms": 100, "until_ms": 0,
           "revoked_ms": 0, "by": "", "at_ms": 0, **changes}  # fmt: skip
    made = Gate()
    made.load([KeyRow(**row)])  # type: ignore[arg-type]
    made.refresh(500)
    return made


def request(
    *credentials: bytes, mechanism: bytes = b"CURVE", domain: bytes = TABLES
) -> list[bytes]:
    return [b"1.0", b"7", domain, b"10.0.0.9", b"", mechanism, *credentials]


def test_a_known_key_is_admitted_under_its_own_name() -> None:
    answer, denied = gate().answer(request(RAW))
    assert answer == [b"1.0", b"7", b"200", b"OK", KEY.encode(), b""]
    assert denied is None


@pytest.mark.parametrize(
    ("changes", "asked", "why"),
    [
        ({}, request(b"x" * 32), "unknown key"),
        ({}, request(), "no key"),
        ({}, request(RAW, RAW), "no key"),
        ({}, request(b"short"), "no key"),
        ({}, request(mechanism=b"NULL"), "mechanism 'NULL'"),
        ({}, request(b"a", b"b", mechanism=b"PLAIN"), "mechanism 'PLAIN'"),
        ({}, request(RAW, domain=b""), "door"),
        ({"role": "sign"}, request(RAW), "of sign table-1 at the door for tables"),
        ({"from_ms": 501}, request(RAW), "not valid now"),
        ({"until_ms": 500}, request(RAW), "not valid now"),
        ({"revoked_ms": 400}, request(RAW), "revoked"),
    ],
)
def test_everybody_else_is_denied_and_named(
    changes: dict[str, object], asked: list[bytes], why: str
) -> None:
    answer, denied = gate(**changes).answer(asked)
    assert answer[2:] == [b"400", b"not admitted", b"", b""]
    assert denied is not None
    assert (denied.address, why in denied.why) == ("10.0.0.9", True), denied


def test_signs_and_tables_may_hear_meters() -> None:
    for role in ("sign", "table", "server"):
        assert gate(role=role).answer(request(RAW, domain=SIGNS))[1] is None


@pytest.mark.parametrize("broken", [[], [b"1.0"], [b"2.0", b"1", b"", b"", b"", b"CURVE", RAW]])
def test_what_is_no_request_of_zap_gets_an_error(broken: list[bytes]) -> None:
    answer, denied = gate().answer(broken)
    assert (answer[2], denied) == (b"500", None)


def test_a_key_ends_at_its_time_and_is_told_once() -> None:
    made = gate(until_ms=1_000)
    assert made.holder(KEY) is not None
    assert made.refresh(999) == []
    (ended,) = made.refresh(1_000)
    assert ended.public == KEY
    assert made.holder(KEY) is None
    assert made.refresh(NEVER - 1) == []


# --- alarms --------------------------------------------------------------------------------------


def test_an_alarm_is_told_at_once_and_then_once_a_period_with_a_count() -> None:
    alarms = AlarmLimiter(1_000)
    assert alarms.raised(("x",), "first", 0) == "first"
    assert alarms.raised(("x",), "second", 1) is None
    assert alarms.raised(("y",), "another", 1) == "another"
    assert alarms.raised(("x",), "third", 999) is None
    assert alarms.due(999) == []
    assert alarms.due(1_000) == [(("x",), "third; 2 of this kind since the last report")]
    assert alarms.due(9_000) == []
    assert alarms.raised(("x",), "fourth", 9_000) == "fourth"
    assert alarms.due(10_000) == []
    assert not alarms._next_ms, "kinds are forgotten"


# --- leading -------------------------------------------------------------------------------------


class Script:
    """A store that answers by a script: each call takes the next of its answers."""

    def __init__(self, **answers: list[object]) -> None:
        self.answers = answers
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> object:
        def call(*_given: object) -> object:
            self.calls.append(name)
            answer = self.answers[name].pop(0)
            if isinstance(answer, Exception):
                raise answer
            return answer

        return call


def made(kind: type[StoreError]) -> StoreError:
    return kind("here", "something")


def leading(**answers: list[object]) -> tuple[Leadership, Script]:
    store = Script(lead=[7], **answers)
    kept = Leadership(store, "me", 900, pause=lambda _s: None)  # type: ignore[arg-type]
    assert kept.lead(0)
    store.calls.clear()
    return kept, store


GROUP = Group(7)


@pytest.mark.parametrize(
    ("answers", "calls"),
    [
        ({"commit": [None]}, ["commit"]),
        ({"commit": [made(Failed), None]}, ["commit", "commit"]),
        ({"commit": [made(Unknown)], "settle": [True]}, ["commit", "settle"]),
        (
            {"commit": [made(Unknown), None], "settle": [made(Unknown), made(Unknown), False]},
            ["commit", "settle", "settle", "settle", "commit"],
        ),
    ],
)
def test_a_group_is_durable_or_asked_about_until_it_is(
    answers: dict[str, list[object]], calls: list[str]
) -> None:
    kept, store = leading(**answers)
    kept.commit(GROUP)
    assert store.calls == calls
    assert kept.epoch == 7


@pytest.mark.parametrize(
    "answers",
    [
        {"commit": [made(Fenced)]},
        {"commit": [made(Conflict)]},
        {"commit": [made(Failed)] * 3},
        {"commit": [made(Unknown)], "settle": [made(Unknown)] * 1_000},
        {"commit": [made(Unknown)], "settle": [made(Fenced)]},
        {"commit": [made(Unknown)], "settle": [made(Failed)]},
    ],
)
def test_whatever_else_ends_the_lead_and_nothing_is_acknowledged(
    answers: dict[str, list[object]],
) -> None:
    kept, _ = leading(**answers)
    with pytest.raises(StepDown) as down:
        kept.commit(GROUP)
    assert kept.epoch == 0
    assert down.value.code in str(down.value)


def test_the_watchdog_is_fed_before_every_wait_for_the_database() -> None:
    fed: list[str] = []
    store = Script(
        lead=[7],
        renew=[None],
        commit=[made(Failed), made(Unknown), None],
        settle=[made(Unknown), False],
    )
    kept = Leadership(
        store,  # type: ignore[arg-type]
        "me",
        900,
        pause=lambda _s: None,
        alive=lambda: fed.append(f"before {len(store.calls)}"),
    )
    kept.lead(0)
    kept.lead(300)
    kept.commit(GROUP)
    assert store.calls == ["lead", "renew", "commit", "commit", "settle", "settle", "commit"]
    assert fed == [f"before {number}" for number in range(7)]


def test_the_lease_is_renewed_in_time_and_given_up_when_it_cannot_be() -> None:
    kept, store = leading(renew=[None, made(Failed), None, made(Failed), made(Failed)])
    assert kept.next_ms == 300
    assert not kept.lead(300)
    assert not kept.overdue(1_199)
    assert kept.overdue(1_200)
    assert not kept.lead(600)  # failed once: tried again soon, still within the lease
    assert kept.next_ms == 690
    assert not kept.lead(690)
    kept.lead(990)
    with pytest.raises(StepDown):
        kept.lead(1_600)
    assert kept.epoch == 0
    assert store.calls == ["renew"] * 5


def test_a_lead_that_somebody_else_took_is_lost_at_once() -> None:
    kept, _ = leading(renew=[made(Fenced)])
    with pytest.raises(StepDown):
        kept.lead(300)
    assert not kept.overdue(10**9)


# --- the log -------------------------------------------------------------------------------------


def test_a_line_of_the_log_is_one_line_whatever_is_in_it() -> None:
    import io

    stream = io.StringIO()
    Log(stream).warning("a\nb\x1b[31m \udcff é", table_id="t\n<0>x", fault_code="")
    assert stream.getvalue() == "<4>a\\x0ab\\x1b[31m \\udcff \\xe9 [TABLE_ID=t\\x0a<0>x]\n"


# --- overload ------------------------------------------------------------------------------------


def test_a_table_that_never_reads_its_answers_is_dropped_and_costs_no_memory(
    house: House,
) -> None:
    live = house.start(limits=Limits(send_messages=10, receive_messages=10))
    good = house.stranger("table-2", live)
    good.join()
    bad = house.stranger("table-1", live)
    bad.join()
    assert bad._socket is not None
    bad._socket.rcvhwm = 1  # counts for the connections to come
    bad._socket.disconnect(live.endpoint)
    bad._socket.connect(live.endpoint)
    hello = bad.hello()
    for _ in range(200_000):
        if live.server.floor is None or live.server.floor.counts["dropped"]:
            break
        try:
            bad._socket.send(b'{"t":"beat","at_ms":1}', zmq.NOBLOCK)
        except zmq.Again:
            bad._socket.poll(5, zmq.POLLOUT)
        if live.server.floor.sessions.of("table-1") is None:
            bad.send(hello)
    assert live.counts()["dropped"] >= 1
    good.wager(1, 500)
    good.deliver()
    assert live.meter() == 100_005


# --- everything is in the record ------------------------------------------------------------------


def test_all_that_a_server_did_can_be_done_again_from_its_store(house: House) -> None:
    """Wagers, a jackpot, alarms, dead letters, orders of people: replayed, they give the same."""
    live = house.start()
    tables = [house.stranger(name, live) for name in house.tables]
    for number, table in enumerate(tables):
        table.join()
        table.wager(1, 500)
        table.write({"what": "claimed", "round": 1, "claims": [[1, "straight flush", 10]]})
        table.deliver()
        award = table.until(lambda m: m["t"] == "locked")["awards"][0][1]
        live.order(Verify(award), ("k.lee", "m.ng")[number])
    thief = house.stranger("table-2", live, table="table-1")
    assert thief.join()["code"] == "E-LNK-012"
    for _ in range(3):
        thief.send(b"garbage")
    thief.until(lambda m: m["t"] == "bye")
    live.order(RevokeKey("table-2", "noise"), "a.kim", "k.lee")
    assert {alarm["code"] for alarm in live.alarms()} == {"E-LNK-012", "E-LNK-017"}
    live.stop()
    store = house.store()
    store.check()
    history = history_of(store)
    store.close()
    check_history(history)
