"""The text of the kernel's ``get_throttled`` to flags. No I/O. Source: docs/protocols/gpio.md."""

from __future__ import annotations

import re
from typing import Final

from drivers.base import Fault

LONGEST: Final = 64
_TEXT: Final = re.compile(r"[ \t\r\n]*(?:throttled=)?(?:0[xX])?([0-9A-Fa-f]{1,8})[ \t\r\n]*")


def parse_throttled(text: str) -> int | Fault:
    """Always hexadecimal, with or without its prefix; the kernel's file has none."""
    match = _TEXT.fullmatch(text) if len(text) <= LONGEST else None
    if match is None:
        return Fault("E-SUP-001", f"not supply flags: {text[:32]!r}")
    return int(match[1], 16)
