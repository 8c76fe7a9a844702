"""How long a test waits for what must come: only so that a hang ends; nothing is measured.

Long enough for a machine that is twenty times slower than a quiet one.
"""

from __future__ import annotations

from typing import Final

PATIENCE_S: Final = 400.0
