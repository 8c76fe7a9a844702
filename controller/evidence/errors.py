"""Why there is no pack: what was asked for, what is there, what to do."""

from __future__ import annotations

from controller.rules.errors import UnderfeltError


class EvidenceError(UnderfeltError):
    """``exit_code`` after sysexits."""

    def __init__(self, code: str, text: str, exit_code: int) -> None:
        super().__init__(f"{text} ({code})")
        self.code, self.text, self.exit_code = code, text, exit_code
