"""A process of the floor: one of our commands that ends with the one that started it.

``python -m controller.floor.child PARENT ARGUMENT ...``. The kernel sends SIGTERM when the parent
is gone, however it went.
"""

from __future__ import annotations

import ctypes
import os
import signal
import sys
from typing import Final

from controller.cli import main

PR_SET_PDEATHSIG: Final = 1


def follow(parent: int) -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        sys.exit(0)  # gone before we asked


if __name__ == "__main__":
    follow(int(sys.argv[1]))
    sys.exit(main(sys.argv[2:]))
