"""This process: how much memory it has, and that nobody looks into it."""

from __future__ import annotations

import ctypes
import os
import resource
from pathlib import Path
from typing import Final

PR_SET_DUMPABLE: Final = 4


def keep_memory_private() -> None:
    """The process holds keys and face-down cards: no core dump and no other reader, however the
    service is configured. A kernel without one of these calls skips it."""
    _, most = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (0, most))
    prctl = getattr(ctypes.CDLL(None), "prctl", None)
    if prctl is not None:
        prctl(PR_SET_DUMPABLE, 0, 0, 0, 0)


def resident_bytes() -> int:
    """From the kernel; 0 where it does not say."""
    try:
        pages = int(Path("/proc/self/statm").read_text("ascii").split()[1])
    except (OSError, ValueError, IndexError):
        return 0
    return pages * os.sysconf("SC_PAGE_SIZE")
