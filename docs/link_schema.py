"""The JSON Schema of the link's messages, from the code that reads them."""

from __future__ import annotations

import json
from inspect import cleandoc
from typing import Any

import msgspec

from record.link.messages import VERSION, FromServer, FromTable, Meters

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def link_schema() -> str:
    unions: tuple[Any, ...] = (FromTable, FromServer, Meters)
    (table, server, meters), parts = msgspec.json.schema_components(
        unions, ref_template="#/$defs/{name}"
    )
    schema = {
        "$schema": DIALECT,
        "title": f"Messages of the progressive link, version {VERSION}",
        "description": "Printed from the code by `make docs`; do not edit. See link.md.",
        "anyOf": [
            {"$ref": "#/$defs/FromTable"},
            {"$ref": "#/$defs/FromServer"},
            {"$ref": "#/$defs/Meters"},
        ],
        "$defs": {"FromTable": table, "FromServer": server, **parts},
    }
    assert meters == {"$ref": "#/$defs/Meters"}
    return json.dumps(_plain(schema), indent=2) + "\n"


def _plain(value: Any) -> Any:
    """Docstrings without their indentation, which Python strips by itself from 3.13 on."""
    if isinstance(value, dict):
        return {
            key: cleandoc(part) if key == "description" and isinstance(part, str) else _plain(part)
            for key, part in value.items()
        }
    return [_plain(part) for part in value] if isinstance(value, list) else value
