"""The hand-typed vectors of tests/vectors/feig.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from drivers.base import Fault
from drivers.feig.codec import GAP_US, Decoder, Frame

FILE = Path(__file__).resolve().parents[2] / "vectors" / "feig.toml"
VECTORS: dict[str, list[dict[str, Any]]] = tomllib.loads(FILE.read_text("utf-8"))


def octets(text: str) -> bytes:
    return bytes.fromhex(text)


def frame(name: str) -> bytes:
    (found,) = [row for row in VECTORS["frame"] if row["name"] == name]
    return octets(found["bytes"])


def heard(
    data: bytes, decoder: Decoder | None = None, at_us: int = 1_000_000
) -> list[Frame | Fault]:
    """All that a decoder makes of one burst with silence around it."""
    decoder = decoder if decoder is not None else Decoder()
    out = decoder.feed(data, at_us)
    return out + decoder.quiet(at_us + GAP_US + 1)


def frames(items: list[Frame | Fault]) -> list[Frame]:
    return [item for item in items if isinstance(item, Frame)]
