"""PURE: JSON schemas that are the same with every Python."""

from __future__ import annotations

from inspect import cleandoc
from typing import Any


def unindented(schema: Any) -> Any:
    """Docstrings without their indentation, which Python strips by itself from 3.13 on."""
    if isinstance(schema, dict):
        return {
            key: cleandoc(part)
            if key == "description" and isinstance(part, str)
            else unindented(part)
            for key, part in schema.items()
        }
    return [unindented(part) for part in schema] if isinstance(schema, list) else schema
