"""Every request of the API: path, parameters, who may ask, what it answers."""

from __future__ import annotations

from typing import Any, Final

from web import messages as m
from web.api import AWARD, FROM, ROUND, TABLE, TO, Api
from web.config import NOTHING
from web.evidence import KIND as ZIP
from web.openapi import document
from web.operations import Operation, Param
from web.runner import Runner
from web.sessions import Sessions
from web.streams import Streams

V1: Final = "/api/v1"
AT: Final = "{pool}/{generation}/{number}"
FEEDS: Final = Param("feeds", "names of feeds, with commas", "[A-Za-z0-9._:,-]{1,4000}")
AFTER: Final = Param(
    "after", "what was seen, as in the id of an event", "[A-Za-z0-9._:;=-]{0,8000}"
)
KIND: Final = Param("kind", "pool, hits, table or day", choices=("pool", "hits", "table", "day"))
TIMES: Final = (
    Param("from_ms", "a time"),
    Param("to_ms", "a time"),
    Param("after", "next of the page before"),
)
SEAT: Final = Param("seat", "1 to 7", least=1, most=7)
MOST: Final = Param("most", "1 to 1000", least=1, most=1_000)
CLAUSE: Final = Param("clause", "a clause's id", "[A-Z0-9]{1,8}-[A-Za-z0-9.()-]{1,20}")
CODE: Final = Param("code", "a code, such as E-TBL-003", "E-[A-Z]{2,5}-[0-9]{3}")
ALARM: Final = Param("alarm", "its number", least=1)
POOL: Final = Param("pool", "a pool's name", "[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
ASKS: Final = (404, 503)
RUNS: Final = (404, 502, 503, 504)
ORDERS: Final = (404, 409, 429, 502, 503)
PLAYS: Final = (404, 409, 429, 502, 503)


def api_document() -> dict[str, Any]:
    """The OpenAPI document; it is the same for every configuration."""
    api = Api(NOTHING, {}, Streams(1), Sessions(), Runner())
    return document(operations(api))


def operations(api: Api) -> tuple[Operation, ...]:
    return (*_sessions(api), *_looks(api), *_runs(api), *_acts(api), *_about(api))


def _sessions(api: Api) -> tuple[Operation, ...]:
    at = f"{V1}/session"
    return (
        Operation(
            "GET",
            at,
            "session",
            "who is signed in",
            api.session,
            m.SessionNow,
            query=(Param("here", "yes: a person is there", choices=("yes",)),),
            open=True,
        ),
        Operation(
            "POST",
            at,
            "signIn",
            "begin a session, which can only look",
            api.sign_in,
            m.SessionNow,
            body=m.Login,
            open=True,
            problems=ORDERS,
        ),
        Operation("DELETE", at, "signOut", "end it", api.sign_out, m.SessionNow, open=True),
        Operation(
            "POST",
            f"{at}/challenge",
            "askFloor",
            "where to sign in, at a table's machine",
            api.ask_floor,
            m.At,
            body=m.Ask,
            open=True,
            problems=(404,),
        ),
        Operation(
            "POST",
            f"{at}/ticket",
            "enter",
            "begin a session with a ticket of the floor",
            api.enter,
            m.SessionNow,
            body=m.Ticket,
            open=True,
            problems=(404, 503),
        ),
        Operation(
            "POST",
            f"{V1}/tickets",
            "ticket",
            "a ticket for a table's machine",
            api.ticket,
            m.At,
            body=m.TicketFor,
            problems=(404,),
        ),
    )


def _looks(api: Api) -> tuple[Operation, ...]:
    def look(path: str, name: str, text: str, handler: Any, answer: Any, **more: Any) -> Operation:
        return Operation("GET", f"{V1}/{path}", name, text, handler, answer, problems=ASKS, **more)

    return (
        look("feeds", "feeds", "the followed processes", api.feeds, m.Feeds),
        look("tables", "tables", "every known table", api.tables, m.Tables),
        look(
            "tables/{table}",
            "table",
            "the latest parts of a table",
            api.table,
            m.Parts,
            path_params=(TABLE,),
        ),
        look("pools", "pools", "meters, terms and sums of the pools", api.pools, m.Parts),
        look("awards", "awards", "open and recent awards", api.awards, m.Parts),
        look("alarms", "alarms", "open alarms", api.alarms, m.Parts),
        look("sums", "sums", "sums by hour and gaming day", api.sums, m.Parts),
        look("audit", "audit", "orders of people", api.audit, m.Audit, query=TIMES),
        look(
            "clauses/{clause}",
            "clause",
            "what a clause says",
            api.clause,
            m.Clause,
            path_params=(CLAUSE,),
        ),
        look(
            "codes/{code}",
            "code",
            "what a code means and what to do",
            api.code,
            m.Code,
            path_params=(CODE,),
            open=True,
        ),
        Operation(
            "GET",
            f"{V1}/events",
            "events",
            "changes of feeds as server-sent events",
            api.events,
            kind="text/event-stream",
            query=(FEEDS, AFTER),
            open=True,
            problems=(401, *ASKS),
        ),
    )


def _runs(api: Api) -> tuple[Operation, ...]:
    def runs(path: str, name: str, text: str, handler: Any, answer: Any, **more: Any) -> Operation:
        return Operation("GET", f"{V1}/{path}", name, text, handler, answer, problems=RUNS, **more)

    return (
        runs(
            f"awards/{AT}",
            "award",
            "steps and derivation of an award",
            api.award,
            m.Award,
            path_params=AWARD,
        ),
        runs(
            f"awards/{AT}/evidence",
            "evidence",
            "the evidence pack of an award",
            api.evidence,
            None,
            kind=ZIP,
            path_params=AWARD,
        ),
        runs(
            "reports/{kind}",
            "report",
            "a report by gaming day",
            api.report,
            m.Report,
            path_params=(KIND,),
            query=(FROM, TO, POOL),
        ),
        runs(
            "tables/{table}/rounds",
            "rounds",
            "the last rounds of a table",
            api.rounds,
            m.Rounds,
            path_params=(TABLE,),
            query=(MOST,),
        ),
        runs(
            "tables/{table}/rounds/{round}",
            "round",
            "a past round, moment by moment",
            api.round,
            m.Moments,
            path_params=(TABLE, ROUND),
            query=(SEAT,),
        ),
    )


def _acts(api: Api) -> tuple[Operation, ...]:
    def acts(path: str, name: str, text: str, handler: Any, body: Any, **more: Any) -> Operation:
        return Operation("POST", f"{V1}/{path}", name, text, handler, m.Done, body=body, **more)

    return (
        acts("orders", "order", "an order of people", api.order, m.Order, problems=ORDERS),
        acts(
            "alarms/{alarm}/acknowledge",
            "acknowledge",
            "silence an alarm until it clears",
            api.acknowledge,
            m.Acknowledge,
            path_params=(ALARM,),
            problems=ORDERS,
        ),
        acts(
            "tables/{table}/do",
            "do",
            "a step by hand at a simulated table",
            api.do,
            m.Step,
            path_params=(TABLE,),
            problems=PLAYS,
        ),
        acts(
            "tables/{table}/fault",
            "fault",
            "trouble at a simulated table",
            api.fault,
            m.Step,
            path_params=(TABLE,),
            problems=PLAYS,
        ),
        Operation(
            "GET",
            f"{V1}/tables/{{table}}/verbs",
            "verbs",
            "what can be done at a simulated table",
            api.verbs,
            dict[str, Any],
            path_params=(TABLE,),
            problems=PLAYS,
        ),
    )


def _about(api: Api) -> tuple[Operation, ...]:
    return (
        Operation("GET", f"{V1}/openapi.json", "openapi", "this document", api.openapi, open=True),
        Operation("GET", "/healthz", "healthz", "it runs", api.healthz, m.Health, open=True),
        Operation(
            "GET",
            "/readyz",
            "readyz",
            "200 if every source answers, else 503",
            api.readyz,
            m.Health,
            open=True,
            problems=(503,),
        ),
    )
