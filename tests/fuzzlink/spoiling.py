"""Values that nobody expects, and how one of them gets into something sound."""

from __future__ import annotations

import json
from random import Random
from typing import Any, Final

from tests.fuzz.link import VALUES as WIRE_VALUES

NUMBERS: Final = (0, 1, 2, 7, 12, 13, 99, 100, 101, 500, 10**6, 10**13, 10**13 + 1, 2**53 - 1,
                  2**53, 2**63, -1)  # fmt: skip
TEXTS: Final = ("", "x", "royal flush", "é" * 40, "a" * 65, "a" * 600, "\0", "\x1b[2J", "\u202e",
                "\u2028", "{", '"', "<script>", "%s", "../../x")  # fmt: skip


def spoiled(value: Any, rng: Random) -> Any:
    """The same shape with one value another."""
    copy = json.loads(json.dumps(value))
    places: list[tuple[Any, Any]] = []

    def walk(node: Any) -> None:
        items = node.items() if isinstance(node, dict) else enumerate(node)
        for key, inner in list(items):
            places.append((node, key))
            if isinstance(inner, dict | list):
                walk(inner)

    walk(copy)
    if places:
        node, key = rng.choice(places)
        node[key] = rng.choice(rng.choice((NUMBERS, TEXTS, WIRE_VALUES)))
    return copy
