"""Errors a person can act on: a stable code, where it is, what was found, what is expected."""

from __future__ import annotations


class UnderfeltError(Exception):
    """The root of every error that is not our bug."""

    code = "E-GEN-000"


class RecordError(UnderfeltError, ValueError):
    """A malformed record or wager set: exit 65.

    The path grows from the inside out (``under``), so that a sound record pays nothing for it.
    """

    def __init__(self, code: str, path: str, problem: str) -> None:
        super().__init__(code, path, problem)
        self.code = code
        # A key or text may hold half a character; the message must be printable all the same.
        self.path = path.encode("utf-8", "backslashreplace").decode()
        self.problem = problem.encode("utf-8", "backslashreplace").decode()

    def under(self, outer: str) -> RecordError:
        return RecordError(self.code, outer + self.path, self.problem)

    def __str__(self) -> str:
        return f"{self.path}: {self.problem} ({self.code})"


class SettingsError(UnderfeltError, ValueError):
    """Settings that cannot open a table: exit 78. Each problem is (code, key, text)."""

    exit_code = 78

    def __init__(self, problems: list[tuple[str, str, str]]) -> None:
        super().__init__("\n".join(f"{key}: {text} ({code})" for code, key, text in problems))
        self.code = problems[0][0]
        self.problems = problems
