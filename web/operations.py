"""One description of each request: the router and the OpenAPI document both follow it."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from record.kit.outside import NotStrict, read_json
from record.shape import why
from web.places import source_of
from web.problems import (
    NOT_HERE,
    NOT_JSON,
    TOO_LARGE,
    TOO_SLOW,
    WRONG_KIND,
    WRONG_SHAPE,
    Problem,
)
from web.sessions import Login
from web.streams import Stream

LONGEST_BODY: Final = 1 << 16
BODY_S: Final = 10.0


@dataclass(frozen=True, slots=True)
class Param:
    """A part of the path or of the query: a pattern, or a whole number."""

    name: str
    text: str
    pattern: str = ""
    least: int = 0
    most: int = (1 << 53) - 1
    choices: tuple[str, ...] = ()

    def schema(self) -> dict[str, Any]:
        if self.choices:
            return {"type": "string", "enum": list(self.choices)}
        if self.pattern:
            return {"type": "string", "pattern": f"^(?:{self.pattern})$"}
        return {"type": "integer", "minimum": self.least, "maximum": self.most}

    def allows(self, value: str) -> bool:
        if self.choices:
            return value in self.choices
        if self.pattern:
            return re.fullmatch(self.pattern, value) is not None
        whole = re.fullmatch(r"0|[1-9][0-9]{0,15}", value) is not None
        return whole and self.least <= int(value) <= self.most


@dataclass(slots=True)
class Call:
    """A request whose session, parameters and body have been checked."""

    request: Request
    session: Login | None
    values: dict[str, str]
    """Of path and query; what was not given is not there."""
    body: Any
    address: str

    @property
    def key(self) -> str:
        """Who shares a bound: an account with all its sessions; without one, an address."""
        if self.session is not None:
            return f"account {self.session.name}"
        return f"address {self.source}"

    @property
    def source(self) -> str:
        """The address, as far as it tells one browser from another."""
        return source_of(self.address)

    def number(self, name: str, default: int = 0) -> int:
        return int(self.values.get(name, default))


Handler = Callable[[Call], Awaitable[Any]]


@dataclass(frozen=True, slots=True)
class Operation:
    method: str
    path: str
    name: str
    text: str
    handler: Handler
    answer: Any = None
    """A struct; None for an answer of another kind."""
    kind: str = "application/json"
    body: Any = None
    path_params: tuple[Param, ...] = ()
    query: tuple[Param, ...] = ()
    open: bool = False
    """Anyone may ask: no session."""
    problems: tuple[int, ...] = ()
    """Statuses besides those that every request can get."""

    async def values(self, request: Request) -> dict[str, str]:
        found: dict[str, str] = {}
        for param in self.path_params:
            value = request.path_params[param.name]
            if not param.allows(value):
                raise Problem(404, NOT_HERE, f"{param.name}: there is none like this")
            found[param.name] = value
        known = {param.name: param for param in self.query}
        for name, value in request.query_params.multi_items():
            if name not in known or name in found:
                said = f"expected each of {', '.join(known) or 'no parameters'} once"
                raise Problem(400, WRONG_SHAPE, said)
            if not known[name].allows(value):
                raise Problem(400, WRONG_SHAPE, f"{name}: expected {known[name].text}")
            found[name] = value
        return found

    async def read(self, request: Request) -> Any:
        """The body as its struct."""
        if self.body is None:
            return None
        kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if kind != "application/json":  # which a page of another site cannot send unasked
            raise Problem(415, WRONG_KIND, "Content-Type: expected application/json")
        try:
            async with asyncio.timeout(BODY_S):
                data = await _bytes(request)
        except TimeoutError:
            raise Problem(408, TOO_SLOW, f"the body did not come within {BODY_S:.0f} s") from None
        try:
            value = read_json(data)
        except NotStrict as error:
            raise Problem(400, NOT_JSON, str(error)) from None
        try:
            return msgspec.convert(value, self.body)
        except msgspec.ValidationError as error:
            raise Problem(422, WRONG_SHAPE, why(error, value, self.body)) from None

    def encoded(self, answer: Any) -> Response | Stream:
        if isinstance(answer, Response | Stream):
            return answer
        return Response(msgspec.json.encode(answer), media_type="application/json")


async def _bytes(request: Request) -> bytes:
    found = bytearray()
    async for part in request.stream():
        found += part
        if len(found) > LONGEST_BODY:
            raise Problem(413, TOO_LARGE, f"a body of more than {LONGEST_BODY:,} bytes")
    return bytes(found)
