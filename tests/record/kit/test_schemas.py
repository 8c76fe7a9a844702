"""Schemas that are printed from docstrings."""

from __future__ import annotations

from record.kit.schemas import unindented


def test_the_indentation_of_docstrings_is_left_out_at_every_level() -> None:
    raw = "One line\n    and the next."
    schema = {"description": raw, "anyOf": [{"description": raw, "const": raw}]}
    said = "One line\nand the next."
    assert unindented(schema) == {
        "description": said,
        "anyOf": [{"description": said, "const": raw}],
    }


def test_a_field_called_description_is_a_schema_of_its_own() -> None:
    schema = {"properties": {"description": {"type": "string"}}}
    assert unindented(schema) == schema
