"""Values as TOML, for what the commands print. The standard library only reads it."""

from __future__ import annotations

import json
import re
from typing import Any


def toml_value(value: Any) -> str:
    """One value in one line; of the kinds a configuration has."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, list | tuple):
        return f"[{', '.join(map(toml_value, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{_key(k)} = {toml_value(v)}" for k, v in value.items()) + "}"
    # A basic string of TOML takes JSON's escapes; DEL is the one character JSON leaves bare.
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007f")


def _key(key: str) -> str:
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else toml_value(key)
