"""Which table or server a command means when nothing on its command line says so.

An environment variable, else the only one of this machine. A machine has one table or one link
server as a rule, so nobody should have to type a path at 3 a.m. With two tables on a machine a
guess could reach the wrong one, so none is made.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final, NamedTuple

ROOT: Final = Path("/")
CONFIGS: Final = "/etc/underfelt"


@dataclass(frozen=True, slots=True)
class Kind:
    """What is looked for, and where an installed machine keeps it (below the root)."""

    variable: str
    config: str
    socket: str
    named: str


TABLE: Final = Kind(
    "UNDERFELT_CONFIG", "etc/underfelt/*/table.toml", "run/underfelt/*/service.sock", "table"
)
LINK: Final = Kind("UNDERFELT_LINK_CONFIG", "etc/underfelt/link.toml", "", "link server")


class Found(NamedTuple):
    """One of the two; the other is empty."""

    config: str = ""
    socket: str = ""


class NotFound(Exception):
    """Nothing says which one is meant; the text says what to do."""


def find_place(
    kind: Kind,
    instead: tuple[str, ...] = (),
    *,
    root: Path = ROOT,
    environ: Mapping[str, str] = os.environ,
) -> Found:
    """``instead``: the options a command takes in place of ``--config``.

    A command that takes ``--socket`` gets the only running one first: reading a configuration
    needs rights that using a socket does not.
    """
    if given := environ.get(kind.variable):
        return Found(config=given)
    running = _below(root, kind.socket) if "socket" in instead else []
    configured = _below(root, kind.config)
    if len(running) == 1:
        return Found(socket=str(running[0]))
    if len(configured) == 1 and not running:
        return Found(config=str(configured[0]))
    ways = " or ".join(("--config FILE", *(f"--{name}" for name in instead)))
    several = running or configured
    names = ", ".join(map(str, several))
    here = (
        f"this machine has {len(several)} {kind.named}s: {names}"
        if several
        else (f"there is no {root / kind.config}")
    )
    raise NotFound(f"expected {ways}, or set {kind.variable}; {here}")


def _below(root: Path, pattern: str) -> list[Path]:
    """A folder that may not be read holds none, like one that is missing."""
    try:
        return sorted(root.glob(pattern)) if pattern else []
    except OSError:
        return []
