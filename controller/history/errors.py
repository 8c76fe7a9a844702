"""What can be wrong with journal bodies, keys, replays and frame logs: stable codes and places.

The codes are listed, with what to do, on docs/protocols/journal-entries.md, section 8.
"""

from __future__ import annotations

from controller.rules.errors import UnderfeltError


class BodyError(UnderfeltError, ValueError):
    """A body that is not what its kind says: exit 65. The path grows from the inside out."""

    def __init__(self, code: str, path: str, problem: str) -> None:
        super().__init__(code, path, problem)
        self.code = code
        self.path = path.encode("utf-8", "backslashreplace").decode()
        self.problem = problem.encode("utf-8", "backslashreplace").decode()

    def under(self, outer: str) -> BodyError:
        return BodyError(self.code, outer + self.path, self.problem)

    def __str__(self) -> str:
        return f"{self.path or 'body'}: {self.problem} ({self.code})"


class SealError(UnderfeltError, ValueError):
    """A sealed card or frame that does not open: wrong key or altered; exit 65."""

    def __init__(self, code: str, problem: str) -> None:
        super().__init__(f"{problem} ({code})")
        self.code = code


class TableKeyError(UnderfeltError, ValueError):
    """The table's key cannot be used; ``exit_code`` after sysexits."""

    def __init__(self, code: str, path: str, problem: str, exit_code: int) -> None:
        super().__init__(f"{path}: {problem} ({code})")
        self.code = code
        self.exit_code = exit_code


class ReplayError(UnderfeltError, ValueError):
    """The journal does not give back the table that wrote it: exit 65, the table stays locked."""

    def __init__(self, code: str, seq: int, problem: str) -> None:
        super().__init__(f"record {seq}: {problem} ({code})")
        self.code = code
        self.seq = seq


class FrameLogError(UnderfeltError, ValueError):
    """A frame log that cannot be read on: exit 65."""

    def __init__(self, code: str, offset: int, problem: str) -> None:
        super().__init__(f"offset {offset}: {problem} ({code})")
        self.code = code
        self.offset = offset
