"""The application: sources, streams, pages and requests joined."""

from __future__ import annotations

import asyncio
import ipaddress
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from functools import partial
from typing import Any, Final

import msgspec
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route
from starlette.types import ASGIApp

from web.api import Api
from web.config import WebConfig
from web.connections import MAY_LOOK
from web.guard import Guard
from web.openapi import document
from web.operations import Call, Operation
from web.pages import PAGES, Pages
from web.problems import NO_SESSION, NOT_HERE, OURS, WRONG_METHOD, Problem
from web.routes import operations
from web.runner import Runner
from web.sessions import COOKIE, Login, Sessions
from web.sources import Lines, Simulator, Source, read_answer
from web.streams import Stream, Streams
from web.views import ACCOUNTS

EVENTS: Final = "text/event-stream"
READS: Final = ("GET", "HEAD")
"""A page may do so by itself: it is not a person's use of the session."""


class App:
    """``asgi`` serves; the sources run inside its lifespan."""

    def __init__(
        self, config: WebConfig, port: int, beat: Callable[[], object] = lambda: None
    ) -> None:
        self._config, self._beat = config, beat
        self.streams = Streams(config.most_streams)
        self.sessions = Sessions()
        self.sources = sources_of(config, self._changed)
        self._accounts = b""
        """The part of the link's feed, as it came last."""
        self.api = Api(config, self.sources, self.streams, self.sessions, Runner())
        all_of_them = operations(self.api)
        self.api.document = msgspec.json.encode(document(all_of_them, login=config.login))
        self._pages = Pages(config.first)
        routes = [
            *_routes(self._operation, all_of_them),
            Route("/", self._pages.first),
            Route("/static/{path:path}", self._pages.static),
            *(Route(path, partial(self._page, name=name)) for path, name in PAGES.items()),
        ]
        inner = Starlette(
            routes=routes,
            lifespan=self._lifespan,
            exception_handlers={
                Problem: _problem,
                404: _not_here,
                405: _wrong_method,
                Exception: _ours,
            },
        )
        inner.router.redirect_slashes = False
        self.asgi: ASGIApp = Guard(inner, config, port)

    @asynccontextmanager
    async def _lifespan(self, _app: Starlette) -> AsyncIterator[None]:
        tasks = [asyncio.create_task(source.run()) for source in self.sources.values()]
        tasks.append(asyncio.create_task(self.streams.run(self._beat)))
        try:
            yield
        finally:
            for task in tasks:
                task.cancel()
            for task in tasks:
                with suppress(asyncio.CancelledError):
                    await task
            self.api.close()

    def _changed(self, source: Source) -> None:
        self.streams.changed(source)
        _, raw = source.mirror.parts.get(ACCOUNTS, (0, b""))
        if source.name == "link" and raw and bytes(raw) != self._accounts:
            self._accounts = bytes(raw)
            self.sessions.accounts(read_answer(self._accounts, dict[str, int]))

    async def _operation(self, operation: Operation, request: Request) -> Response | Stream:
        session = self._session(request, use=request.method not in READS)
        if session is None and self._config.login and not operation.open:
            raise Problem(401, NO_SESSION, "sign in first")
        values = await operation.values(request)
        body = await operation.read(request)
        call = Call(request, session, values, body, self._address(request))
        return operation.encoded(await operation.handler(call))

    async def _page(self, request: Request, name: str) -> Response:
        """Opened by a person: no page of ours opens one by itself while a session lasts."""
        self._session(request, use=True)
        return await self._pages.page(request, name)

    def _session(self, request: Request, *, use: bool) -> Login | None:
        cookie = request.cookies.get(COOKIE)
        found = None if cookie is None else self.sessions.find(cookie, use=use)
        if found is not None or not self._config.login:
            request.scope.get("state", {}).get(MAY_LOOK, bool)()
        return found

    def _address(self, request: Request) -> str:
        """The browser's. Only a proxy of ours on this machine is believed about it."""
        direct = request.client.host if request.client else ""
        if not self._config.behind_proxy:
            return direct
        # A browser can send lines of its own; the proxy adds its value, or its line, at the end.
        lines = request.headers.getlist("x-forwarded-for")
        said = lines[-1].rpartition(",")[2].strip() if lines else ""
        try:
            return str(ipaddress.ip_address(said))
        except ValueError:
            return direct


def _routes(answer: Any, all_of_them: tuple[Operation, ...]) -> list[Route]:
    """One route per path, so that a wrong method names the right ones."""
    by_path: dict[str, dict[str, Operation]] = {}
    for one in all_of_them:
        by_path.setdefault(one.path, {})[one.method] = one

    def endpoint(methods: dict[str, Operation]) -> Any:
        async def answered(request: Request) -> Response | Stream:
            one = methods["GET" if request.method == "HEAD" else request.method]
            if request.method == "HEAD" and one.kind == EVENTS:
                raise Problem(405, WRONG_METHOD, "a stream has no end", {"Allow": "GET"})
            response: Response | Stream = await answer(one, request)
            return response

        return answered

    return [Route(path, endpoint(known), methods=[*known]) for path, known in by_path.items()]


async def _problem(_request: Request, error: Exception) -> Response:
    assert isinstance(error, Problem)
    return error.response()


async def _ours(_request: Request, _error: Exception) -> Response:
    """The guard logs it."""
    return Problem(500, OURS, "the server could not do it; its log says more").response()


async def _not_here(_request: Request, _error: Exception) -> Response:
    return Problem(404, NOT_HERE, "there is nothing at this address").response()


async def _wrong_method(_request: Request, error: Exception) -> Response:
    allow = getattr(error, "headers", None) or {}
    return Problem(405, WRONG_METHOD, "this address takes another method", allow).response()


def sources_of(config: WebConfig, changed: Callable[[Source], None]) -> dict[str, Source]:
    made: dict[str, Source] = {}
    if config.control is not None:
        made["link"] = Source("link", partial(Lines, config.control), changed)
    for table in config.tables:
        if table.socket is not None:
            name = f"table:{table.name}"
            made[name] = Source(name, partial(Lines, table.socket), changed)
        if table.simulator is not None:
            name = f"sim:{table.name}"
            made[name] = Source(name, partial(Simulator, table.simulator), changed)
    return made
