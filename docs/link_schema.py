"""The JSON Schema of the link's messages, from the code that reads them."""

from __future__ import annotations

import json
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
    return json.dumps(schema, indent=2) + "\n"
