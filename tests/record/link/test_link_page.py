"""docs/protocols/link.md and its schema: the examples are messages, the codes are all there."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any, Final

import jsonschema
import pytest

from tests.record.link.test_link_vectors import READERS, VECTORS

ROOT: Final = Path(__file__).parents[3]
PAGE: Final = (ROOT / "docs" / "protocols" / "link.md").read_text("utf-8")
SCHEMA: Final = json.loads((ROOT / "docs" / "protocols" / "link.schema.json").read_text("utf-8"))
EXAMPLES: Final = [line for line in PAGE.splitlines() if line.startswith('{"t":')]
NAMES: Final = {"table": "FromTable", "server": "FromServer", "meters": "Meters", "hits": "Hit"}


def test_every_example_of_the_page_is_a_vector() -> None:
    frames = {row["frame"] for row in VECTORS["message"]}
    assert [line for line in EXAMPLES if line not in frames] == []


def test_every_kind_of_message_and_event_has_an_example() -> None:
    def kinds(frames: list[str]) -> set[tuple[str, str]]:
        read = map(json.loads, frames)
        return {(found["t"], found.get("body", {}).get("what", "")) for found in read}

    assert kinds(EXAMPLES) == kinds([row["frame"] for row in VECTORS["message"]])


def codes_in(*folders: str) -> set[str]:
    found: set[str] = set()
    for folder in folders:
        for path in (ROOT / folder).rglob("*.py"):
            found |= set(re.findall(r"E-(?:LNK|SVC|ACT|KEY)-\d{3}", path.read_text("utf-8")))
    return found


def explained_in(text: str) -> set[str]:
    return set(re.findall(r"^\| `(E-[A-Z]+-\d{3})` \|", text, flags=re.MULTILINE))


def test_every_code_of_server_and_wire_is_explained() -> None:
    """Those of the server on this page, those that a table makes for itself on its own."""
    assert sorted(codes_in("link") - explained_in(PAGE)) == []
    pages = "\n".join(path.read_text("utf-8") for path in (ROOT / "docs").rglob("*.md"))
    assert sorted(codes_in("record/link") - explained_in(pages)) == []


# --- the schema ---------------------------------------------------------------------------------


def validator(name: str) -> Any:
    return jsonschema.Draft202012Validator({**SCHEMA, "$ref": f"#/$defs/{name}", "anyOf": [{}]})


def test_the_schema_is_one() -> None:
    jsonschema.Draft202012Validator.check_schema(SCHEMA)


@pytest.mark.parametrize("row", VECTORS["message"], ids=lambda row: str(row["is"])[:40])
def test_the_schema_accepts_what_the_code_accepts(row: dict[str, Any]) -> None:
    validator(NAMES[row["from"]]).validate(json.loads(row["frame"]))
    others = [name for side, name in NAMES.items() if side != row["from"]]
    if not row["is"].startswith(("Beat", "Bye")):
        assert not any(validator(name).is_valid(json.loads(row["frame"])) for name in others)


@pytest.mark.parametrize("row", VECTORS["refused"], ids=lambda row: str(row["frame"])[:40])
def test_the_schema_refuses_what_the_code_refuses(row: dict[str, Any]) -> None:
    try:
        document = json.loads(row["frame"])
    except ValueError:
        return  # not even JSON
    if "1.0" in row["frame"] or "\\ud800" in row["frame"]:
        return  # an integer to JSON Schema, half a character to nobody
    assert row.get("beyond_schema", False) == validator("FromTable").is_valid(document)
    with pytest.raises(ValueError, match="E-LNK"):
        READERS["table"](row["frame"].encode())
