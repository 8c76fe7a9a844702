"""The OpenAPI document, from the operations and their structs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, Final

import msgspec

from record import __version__
from record.kit.schemas import unindented
from web.operations import Operation
from web.problems import KIND, ProblemDetails, title
from web.sessions import COOKIE

REFERENCE: Final = "#/components/schemas/{name}"
EVERY: Final = (400, 403, 405, 421, 500)
WITH_BODY: Final = (408, 413, 415, 422)


def document(operations: Sequence[Operation], *, login: bool = True) -> dict[str, Any]:
    """``login``: looking needs a session."""
    types = [kind for one in operations for kind in (one.answer, one.body) if kind is not None]
    unique = list(dict.fromkeys([ProblemDetails, *types]))
    schemas, components = msgspec.json.schema_components(unique, ref_template=REFERENCE)
    by_type = dict(zip(unique, schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for one in operations:
        paths.setdefault(one.path, {})[one.method.lower()] = _operation(
            one, by_type, login=login and not one.open
        )
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Underfelt",
            "version": __version__,
            "description": "Floor, tables and jackpots. docs/protocols/web.md",
        },
        "paths": paths,
        "components": {
            "schemas": unindented(components),
            "securitySchemes": {"session": {"type": "apiKey", "in": "cookie", "name": COOKIE}},
        },
    }


def _operation(one: Operation, by_type: dict[Any, Any], *, login: bool) -> dict[str, Any]:
    made: dict[str, Any] = {
        "operationId": one.name,
        "summary": one.text,
        "responses": _responses(one, by_type, login=login),
        "security": [{"session": []}] if login else [],
    }
    params = [
        {
            "name": p.name,
            "in": "path",
            "required": True,
            "description": p.text,
            "schema": p.schema(),
        }
        for p in one.path_params
    ] + [
        {"name": p.name, "in": "query", "description": p.text, "schema": p.schema()}
        for p in one.query
    ]
    if params:
        made["parameters"] = params
    if one.body is not None:
        content = {"application/json": {"schema": by_type[one.body]}}
        made["requestBody"] = {"required": True, "content": content}
    return made


def _responses(one: Operation, by_type: dict[Any, Any], *, login: bool) -> dict[str, Any]:
    schema = by_type[one.answer] if one.answer is not None else {}
    made = {"200": {"description": "OK", "content": {one.kind: {"schema": schema}}}}
    statuses = {*EVERY, *one.problems}
    if login:
        statuses |= {401}
    if one.body is not None:
        statuses |= set(WITH_BODY)
    if re.search(r"\{", one.path):
        statuses |= {404}
    problem = {KIND: {"schema": by_type[ProblemDetails]}}
    for status in sorted(statuses):
        made[str(status)] = {"description": title(status), "content": problem}
    return made
