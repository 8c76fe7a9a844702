"""What the transports' threads share: how they reach the loop, and how a layout names a class."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from importlib import import_module
from typing import Any, TypeVar

T = TypeVar("T")


def on_loop(loop: asyncio.AbstractEventLoop, act: Callable[[T], None], what: T) -> bool:
    """Call this on the loop, soon; False if the loop is closed, so that nobody listens any more."""
    try:
        loop.call_soon_threadsafe(act, what)
    except RuntimeError:
        return False
    return True


def dotted(path: str) -> Any:
    """What a dotted path of the layout file names."""
    module, _, name = path.rpartition(".")
    return getattr(import_module(module), name)
