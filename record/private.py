"""A process that holds keys and closed cards: no core dump, and nobody looks into its memory."""

from __future__ import annotations

import ctypes
import resource
from typing import Final

PR_SET_DUMPABLE: Final = 4


def keep_memory_private() -> None:
    """Whatever the service manager was told. What a kernel does not know it does not do."""
    _, most = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, most))
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is not None:
        prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)
