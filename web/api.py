"""The requests of ``/api/v1``: what the sources say, and orders passed on."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, Final
from urllib.parse import urlencode

import msgspec
from starlette.responses import Response

from record.kit.exits import TROUBLE
from web import evidence
from web import messages as m
from web.asking import ORDER_S, Control, Hands
from web.config import WebConfig
from web.evidence import EvidencePack, Wanted
from web.operations import Call, Param
from web.places import Full, Places
from web.problems import BUSY, NO_SESSION, NO_SOURCE, NOT_HERE, Problem
from web.runner import Done, Runner, failed
from web.sessions import COOKIE, Login, Sessions, cookie_header
from web.sources import Broken, Source, read_answer
from web.streams import Streams, read_positions
from web.texts import clause_text, code_text
from web.tickets import Door, Signer, browser_header, browser_of
from web.views import SignView, View

LATE_MS: Final = 10_000
"""A source that has not answered for so long is missing."""
MOST_FEEDS: Final = 64
NAME: Final = "[A-Za-z0-9][A-Za-z0-9._-]{0,63}"
DAY: Final = "[0-9]{4}-[0-9]{2}-[0-9]{2}"
BY_WEB: Final = ("verify", "approve", "pay", "reject", "note")
"""Orders that may be given here, beside acknowledging an alarm. Accounts, keys, journals and pools
are changed at the machine."""
NOT_BY_WEB: Final = "E-WEB-013"

TABLE: Final = Param("table", "a table's name", NAME)
ROUND: Final = Param("round", "its number, or last", "last|[1-9][0-9]{0,15}")
AWARD: Final = (
    Param("pool", "a pool's name", NAME),
    Param("generation", "a whole number", least=1),
    Param("number", "a whole number", least=1),
)
FROM: Final = Param("from", "a gaming day, such as 2026-03-10", DAY)
TO: Final = Param("to", "a gaming day, such as 2026-03-10", DAY)


class Api:
    def __init__(
        self,
        config: WebConfig,
        sources: Mapping[str, Source],
        streams: Streams,
        sessions: Sessions,
        runner: Runner,
    ) -> None:
        self._config, self._sources, self._streams = config, sources, streams
        self._sessions, self._runner = sessions, runner
        self._questions = Control(config.control)
        self._orders = Control(config.control)
        self._sign_ins = Control(config.control)
        """Anyone can try to sign in."""
        self._packs = Places(evidence.MOST, evidence.MOST_EACH)
        self._hands = {t.name: Hands(t.simulator) for t in config.tables if t.simulator}
        self._views = {name: View(name, source) for name, source in sources.items()}
        self._signs: dict[str, SignView] = {}
        tickets = config.tickets
        self._signer = Signer(tickets.key, config.tables) if tickets.key else None
        self._door = Door(tickets.floor, tickets.trust) if tickets.trust else None
        self.document = b""
        """The OpenAPI document."""

    def close(self) -> None:
        for hands in self._hands.values():
            hands.close()

    # --- sessions ---------------------------------------------------------------------------------

    async def session(self, call: Call) -> m.SessionNow:
        """A page asks with ``here`` when a person has touched it."""
        if "here" in call.values and (cookie := call.request.cookies.get(COOKIE)) is not None:
            self._sessions.find(cookie)
        return self._now(call.session, call.request.cookies.get(COOKIE, ""))

    def _now(self, session: Login | None, cookie: str = "") -> m.SessionNow:
        over = self._sessions.ended(cookie) if cookie and session is None else None
        return m.SessionNow(
            login_required=self._config.login,
            signed_in=session is not None,
            name=session.name if session else "",
            role=session.role if session else "",
            left_s=int(self._sessions.left_s(session)) if session else 0,
            latest_s=int(self._sessions.latest_s(session)) if session else 0,
            ended=over.why if over else "",
            ended_s=int(over.ago_s) if over and over.ago_s is not None else None,
            notice=self._config.notice,
            floor=self._config.tickets.floor,
        )

    async def sign_in(self, call: Call) -> Response:
        """Judged by the link server, which also slows down guessing."""
        login: m.Login = call.body
        request = {"verb": "password", "name": login.name, "password": login.password}
        request["source"] = call.source
        answer = await self._sign_ins.ask(request, call.source, ORDER_S)
        change = answer.get("change")
        role = str(answer.get("role", ""))
        return self._begun(call, login.name, role, change if type(change) is int else 0)

    def _begun(self, call: Call, name: str, role: str, change: int = 0) -> Response:
        if (old := call.request.cookies.get(COOKIE)) is not None:
            self._sessions.end(old)
        made = self._sessions.begin(name, role, change)
        session = self._sessions.find(made)
        headers = {"Set-Cookie": cookie_header(made)}
        return Response(msgspec.json.encode(self._now(session)), 200, headers, "application/json")

    async def sign_out(self, call: Call) -> Response:
        if (old := call.request.cookies.get(COOKIE)) is not None:
            self._sessions.end(old)
        headers = {"Set-Cookie": cookie_header("", 0)}
        return Response(msgspec.json.encode(self._now(None)), 200, headers, "application/json")

    async def ask_floor(self, call: Call) -> Response:
        """Where this browser gets a ticket, with a challenge that only it can use."""
        if self._door is None:
            raise Problem(404, NOT_HERE, "people sign in here, not at another machine")
        asked: m.Ask = call.body
        browser = browser_of(call.request.cookies)
        at = m.At(self._door.address(_host(call), browser, asked.next))
        headers = {"Set-Cookie": browser_header(browser)}
        return Response(msgspec.json.encode(at), 200, headers, "application/json")

    async def enter(self, call: Call) -> Response:
        """A session by a ticket, which ends the one before."""
        if self._door is None:
            raise Problem(404, NOT_HERE, "this machine takes no tickets")
        given: m.Ticket = call.body
        browser = browser_of(call.request.cookies)
        return self._begun(call, *self._door.enter(given.ticket, _host(call), browser))

    async def ticket(self, call: Call) -> m.At:
        """For who is signed in here, to a table of this floor and to no other address."""
        if self._signer is None or call.session is None:
            raise Problem(404, NOT_HERE, "this machine makes no tickets")
        asked: m.TicketFor = call.body
        who = call.session
        site, ticket = self._signer.ticket(asked.host, asked.challenge, who.name, who.role)
        # Behind the # no server, log or Referer ever sees it.
        return m.At(f"{site}/login?{urlencode({'next': asked.next})}#ticket={ticket}")

    # --- following --------------------------------------------------------------------------------

    async def feeds(self, _call: Call) -> m.Feeds:
        rows = []
        for name, source in self._sources.items():
            kind: Any = name.partition(":")[0]
            feed, n = source.mirror.feed, source.mirror.n
            rows.append(m.FeedRow(name, kind, feed, n, source.age_ms(), source.error))
        return m.Feeds(rows)

    async def events(self, call: Call) -> Any:
        names = call.values.get("feeds", "").split(",")
        if len(names) > MOST_FEEDS or len(set(names)) != len(names):
            raise Problem(400, "E-WEB-003", f"feeds: expected up to {MOST_FEEDS} different names")
        views = [self._view(name) for name in names]
        session = call.session
        guest = self._config.login and session is None
        if guest and not all(view.public for view in views):
            raise Problem(401, NO_SESSION, "sign in first")
        given = call.request.headers.get("last-event-id") or call.values.get("after", "")
        try:
            stream = self._streams.make(views, read_positions(given), call.key, public=guest)
        except Full:
            raise Problem(503, BUSY, "too many pages are open", {"Retry-After": "5"}) from None
        if session is not None:
            stream.allowed = lambda: self._sessions.alive(session)
        return stream

    def _view(self, name: str) -> View:
        if name in self._views:
            return self._views[name]
        kind, _, pool = name.partition(":")
        link = self._sources.get("link")
        if kind != "sign" or link is None:
            raise Problem(404, NOT_HERE, "feeds: there is no such feed")
        if pool not in self._signs:
            known = {row.get("pool") for row in link.part("meters") or [] if isinstance(row, dict)}
            if link.known and pool not in known:
                raise Problem(404, NOT_HERE, "feeds: there is no such pool")
            if not link.known:
                raise _away(link)
            texts = self._config.signs.get(pool, self._config.signs.get("default", {}))
            self._signs[pool] = SignView(pool, link, texts)
        return self._signs[pool]

    # --- the latest values ------------------------------------------------------------------------

    def _source(self, name: str) -> Source:
        source = self._sources.get(name)
        if source is None:
            raise Problem(404, NOT_HERE, "there is no such source")
        if not source.known:
            raise _away(source)
        return source

    def _parts(self, source: Source, names: Sequence[str] = ()) -> m.Parts:
        chosen = names or tuple(source.mirror.parts)
        parts = {
            name: source.mirror.parts[name][1] for name in chosen if name in source.mirror.parts
        }
        return m.Parts(source.mirror.feed, source.mirror.n, source.age_ms(), parts)

    async def tables(self, _call: Call) -> m.Tables:
        link = self._sources.get("link")
        found = (link.part("tables") if link is not None else None) or []
        at_link = {row["table"]: row for row in found if isinstance(row, dict) and "table" in row}
        configured = {table.name: table for table in self._config.tables}
        rows = []
        for name in sorted({*at_link, *configured}):
            table = configured.get(name)
            rows.append(
                m.TableRow(
                    name=name,
                    url=table.url if table else "",
                    followed=f"table:{name}" in self._sources,
                    simulated=f"sim:{name}" in self._sources,
                    replay=table is not None and table.journal is not None,
                    link=at_link.get(name),
                )
            )
        return m.Tables(link.age_ms() if link is not None else None, rows)

    async def table(self, call: Call) -> m.Parts:
        return self._parts(self._source(f"table:{call.values['table']}"))

    async def pools(self, _call: Call) -> m.Parts:
        return self._parts(self._source("link"), ("meters", "pools", "conservation"))

    async def awards(self, _call: Call) -> m.Parts:
        return self._parts(self._source("link"), ("awards",))

    async def alarms(self, _call: Call) -> m.Parts:
        return self._parts(self._source("link"), ("alarms",))

    async def sums(self, _call: Call) -> m.Parts:
        return self._parts(self._source("link"), ("sums", "sums_now"))

    async def audit(self, call: Call) -> m.Audit:
        """Orders of people have no journal."""
        request: dict[str, Any] = {"verb": "rows", "kind": "events", "journal": ""}
        for name in ("after", "from_ms", "to_ms"):
            if name in call.values:
                request[name] = call.number(name)
        answer = await self._questions.ask(request, call.key)
        return m.Audit(answer.get("rows", []), answer.get("next", 0))

    async def clause(self, call: Call) -> m.Clause:
        found = clause_text(call.values["clause"])
        if found is None:
            raise Problem(404, NOT_HERE, "there is no such clause")
        name = call.values["clause"]
        return m.Clause(name, name.partition("-")[0], found)

    async def code(self, call: Call) -> m.Code:
        return m.Code(call.values["code"], *code_text(call.values["code"]))

    # --- commands ---------------------------------------------------------------------------------

    def _socket(self) -> str:
        if self._config.control is None:
            raise Problem(404, NO_SOURCE, "no link server is configured here")
        return str(self._config.control)

    def _journal(self, call: Call) -> str:
        table = self._config.table(call.values["table"])
        if table is None or table.journal is None:
            raise Problem(404, NOT_HERE, "this machine has no journal of such a table")
        return str(table.journal)

    async def award(self, call: Call) -> m.Award:
        done = await self._shown(call)
        return m.Award(_sound(done), _one(done))

    async def _shown(self, call: Call) -> Done:
        arguments = ["jackpot", "show", "--json", "--socket", self._socket(), award_of(call)]
        done = await self._runner.run(call.key, *arguments)
        if done.code == os.EX_DATAERR and not done.output:
            raise Problem(404, "E-POOL-021", done.said)
        return done

    async def evidence(self, call: Call) -> Response:
        """With the table's half if its journal is on this machine."""
        journal = None
        if journals := {t.name: t.journal for t in self._config.tables if t.journal}:
            done = await self._shown(call)
            _sound(done)
            journal = journals.get(str(_one(done).get("table")))
        wanted = Wanted(call.key, self._socket(), award_of(call), journal)
        return EvidencePack(self._runner, self._packs, wanted)

    async def report(self, call: Call) -> m.Report:
        values = call.values
        arguments = ["report", values["kind"], "--json", "--socket", self._socket()]
        for name in ("from", "to"):
            if name in values:
                arguments.append(f"--{name}={values[name]}")
        if "pool" in values:
            if values["kind"] != "pool":
                raise Problem(400, "E-WEB-003", "pool: only with the report pool")
            arguments.append(values["pool"])
        done = await self._runner.run(call.key, *arguments)
        return m.Report(_sound(done), _one(done))

    async def rounds(self, call: Call) -> m.Rounds:
        journal = self._journal(call)
        most = str(call.number("most", 100))
        arguments = ["journal", "rounds", journal, "-n", most, "--json"]
        done = await self._runner.run(call.key, *arguments)
        if done.code != os.EX_OK:
            raise failed(done)
        return m.Rounds(_one(done).get("rounds", []))

    async def round(self, call: Call) -> m.Moments:
        arguments = ["replay", call.values["round"], "--json", "--journal", self._journal(call)]
        if "seat" in call.values:
            arguments += ["--seat", call.values["seat"]]
        done = await self._runner.run(call.key, *arguments)
        return m.Moments(_sound(done), _lines(done))

    # --- orders -----------------------------------------------------------------------------------

    async def order(self, call: Call) -> m.Done:
        order: m.Order = call.body
        what = order.order.get("what")
        if what not in BY_WEB:
            said = f"order.what: expected one of {', '.join(BY_WEB)}; others at the machine"
            raise Problem(403, NOT_BY_WEB, said)
        return await self._ordered(call, order.by, order.order)

    async def acknowledge(self, call: Call) -> m.Done:
        given: m.Acknowledge = call.body
        alarm = call.number("alarm")
        order = {"what": "acknowledge alarm", "alarm": alarm, "why": given.why}
        return await self._ordered(call, given.by, order)

    async def _ordered(
        self, call: Call, by: Sequence[m.Person], order: Mapping[str, Any]
    ) -> m.Done:
        people = [list(person) for person in by]
        request = {"verb": "order", "by": people, "order": order, "source": call.source}
        return m.Done(True, await self._orders.ask(request, call.key, ORDER_S))

    # --- a simulated table ------------------------------------------------------------------------

    def _by_hand(self, call: Call) -> Hands:
        hands = self._hands.get(call.values["table"])
        if hands is None:
            raise Problem(404, NOT_HERE, "this table has no simulator here")
        return hands

    async def do(self, call: Call) -> m.Done:
        step: m.Step = call.body
        return m.Done(True, await self._by_hand(call).ask("POST", "/do", {"do": step.do}))

    async def fault(self, call: Call) -> m.Done:
        step: m.Step = call.body
        return m.Done(True, await self._by_hand(call).ask("POST", "/fault", {"do": step.do}))

    async def verbs(self, call: Call) -> dict[str, Any]:
        """As the simulator says it."""
        return await self._by_hand(call).ask("GET", "/verbs", {})

    # --- about this process -----------------------------------------------------------------------

    async def openapi(self, _call: Call) -> Response:
        return Response(self.document, media_type="application/json")

    async def healthz(self, _call: Call) -> m.Health:
        return m.Health(True, self._missing())

    async def readyz(self, _call: Call) -> Any:
        missing = self._missing()
        body = msgspec.json.encode(m.Health(not missing, missing))
        return Response(body, 503 if missing else 200, media_type="application/json")

    def _missing(self) -> list[str]:
        ages = {name: source.age_ms() for name, source in self._sources.items()}
        return [name for name, age in ages.items() if age is None or age > LATE_MS]


def award_of(call: Call) -> str:
    return "/".join(call.values[param.name] for param in AWARD)


def _host(call: Call) -> str:
    """As the browser wrote it; the guard has checked that it is ours."""
    return str(call.request.headers["host"]).strip().lower()


def _away(source: Source) -> Problem:
    said = f"{source.name} has not answered yet: {source.error or 'it is being asked'}"
    return Problem(503, NO_SOURCE, said, {"Retry-After": "2"})


def _sound(done: Done) -> bool:
    """False with findings; ``Problem`` if there is no answer at all."""
    if not done.output or done.code not in (os.EX_OK, TROUBLE, os.EX_DATAERR):
        raise failed(done)
    return done.code == os.EX_OK


def _one(done: Done) -> dict[str, Any]:
    try:
        return read_answer(done.output, dict[str, Any])
    except Broken:
        raise failed(done) from None


def _lines(done: Done) -> list[dict[str, Any]]:
    try:
        return [read_answer(line, dict[str, Any]) for line in done.output.splitlines()]
    except Broken:
        raise failed(done) from None
