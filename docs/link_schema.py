"""The JSON Schema of the link's messages, from the code that reads them."""

from __future__ import annotations

import json
from typing import Any

import msgspec

from record.kit.schemas import unindented
from record.link.messages import VERSION, FromServer, FromTable, Hit, Meters

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def link_schema() -> str:
    unions: tuple[Any, ...] = (FromTable, FromServer, Meters, Hit)
    (table, server, meters, hit), parts = msgspec.json.schema_components(
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
            {"$ref": "#/$defs/Hit"},
        ],
        "$defs": {"FromTable": table, "FromServer": server, **parts},
    }
    assert (meters, hit) == ({"$ref": "#/$defs/Meters"}, {"$ref": "#/$defs/Hit"})
    return json.dumps(unindented(schema), indent=2) + "\n"
