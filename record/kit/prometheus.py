"""PURE: metrics as Prometheus reads them (text format 0.0.4)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Literal

Kind = Literal["counter", "gauge", "histogram"]
Sample = tuple[Mapping[str, str], int]
"""Labels and value."""
Family = tuple[str, Kind, str, Iterable[Sample]]
"""Name, kind, what it means, samples."""


def one(value: int) -> list[Sample]:
    """A family without labels."""
    return [({}, value)]


def rows(prefix: str, families: Iterable[Family]) -> Iterator[str]:
    for name, kind, text, samples in families:
        yield from head(f"{prefix}{name}", kind, text)
        yield from (f"{prefix}{name}{_labels(labels)} {value}" for labels, value in samples)


def head(name: str, kind: Kind, text: str) -> tuple[str, str]:
    return f"# HELP {name} {text}", f"# TYPE {name} {kind}"


def _labels(labels: Mapping[str, str]) -> str:
    if not labels:
        return ""
    return "{" + ",".join(f'{name}="{_escaped(value)}"' for name, value in labels.items()) + "}"


def _escaped(value: str) -> str:
    return value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
