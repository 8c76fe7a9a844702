"""The one exit code that sysexits has no word for; the others are ``os.EX_*``."""

from __future__ import annotations

from typing import Final

TROUBLE: Final = 1
"""The command was done, and what it looked at is not as it should be."""
