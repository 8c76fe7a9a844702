"""The register's history: who did what, when and why, one JSON line a version.

Pure; docs/protocols/chip-register.md, section 2.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, Final

from controller.registers.chips.layout import HOUSE_NAME, STATUSES, Status, uid_bytes
from controller.registers.errors import BatchError, Problem, RegisterError

MAX_WHO: Final = 64
MAX_WHY: Final = 200
MAX_FILE_NAME: Final = 255
MAX_TIME: Final = 253_402_300_799
"""The last second of the year 9999, four digits."""
_TIME: Final = "%Y-%m-%dT%H:%M:%SZ"
_MARKS: Final[dict[str, Status]] = {f"mark {status}": status for status in STATUSES}


@dataclass(frozen=True, slots=True)
class ChipStamp:
    """Who, why, and the time in seconds since 1970, given by the caller."""

    by: str
    why: str
    at: int


@dataclass(frozen=True, slots=True)
class Imported:
    """Version ``version`` added ``count`` chips of ``house`` from a file."""

    version: int
    stamp: ChipStamp
    house: str
    count: int
    file: str
    sha256: str

    @property
    def did(self) -> str:
        return "import"


@dataclass(frozen=True, slots=True)
class Marked:
    """Version ``version`` gave these chips this status."""

    version: int
    stamp: ChipStamp
    status: Status
    uids: tuple[str, ...]

    @property
    def did(self) -> str:
        return f"mark {self.status}"


ChipEntry = Imported | Marked


def check_stamp(stamp: ChipStamp, *, why_needed: bool) -> None:
    problems = []
    if not _printable(stamp.by, 1, MAX_WHO):
        said = f"expected who, 1 to {MAX_WHO} printable characters"
        problems.append(Problem("E-CHIP-029", said, field="by", value=stamp.by))
    if not _printable(stamp.why, 1 if why_needed else 0, MAX_WHY):
        said = f"expected why, {'1' if why_needed else '0'} to {MAX_WHY} printable characters"
        problems.append(Problem("E-CHIP-029", said, field="reason", value=stamp.why))
    if problems:
        raise BatchError(*problems)


def _printable(text: str, shortest: int, longest: int) -> bool:
    return shortest <= len(text.strip()) and len(text) <= longest and text.isprintable()


def time_text(at: int) -> str:
    return datetime.fromtimestamp(at, UTC).strftime(_TIME)


def line_of(entry: ChipEntry) -> bytes:
    row = as_json(entry)
    return json.dumps(row, ensure_ascii=False).encode("utf-8") + b"\n"


def as_json(entry: ChipEntry) -> dict[str, Any]:
    stamp = entry.stamp
    row: dict[str, Any] = {"version": entry.version, "at": time_text(stamp.at), "by": stamp.by}
    row["did"] = entry.did
    if isinstance(entry, Imported):
        row |= {"house": entry.house, "chips": entry.count}
        row |= {"file": entry.file, "sha256": entry.sha256}
    else:
        row["chips"] = list(entry.uids)
    return row | {"why": stamp.why}


def entries(history: bytes, where: str = "") -> Iterator[ChipEntry]:
    """Every line, checked; raises ``RegisterError`` (E-CHIP-008) at the first bad one."""
    if history and not history.endswith(b"\n"):
        raise _bad(where, history.count(b"\n") + 1, "the last line has no end")
    before = 0
    for number, line in enumerate(history.split(b"\n")[:-1], 1):
        try:
            entry = _entry(json.loads(line.decode("utf-8")))
            if line_of(entry) != line + b"\n":
                raise _bad(where, number, "not written as the page says")
        except RegisterError:
            raise
        except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
            raise _bad(where, number, "not a line of history") from None
        if entry.version != number:
            raise _bad(where, number, f"says version {entry.version}")
        if entry.stamp.at < before:
            raise _bad(where, number, "earlier than the line before")
        before = entry.stamp.at
        yield entry


def _bad(where: str, number: int, text: str) -> RegisterError:
    return RegisterError(Problem("E-CHIP-008", f"signed, but history line {number}: {text}", where))


def _entry(row: dict[str, Any]) -> ChipEntry:
    """A row that is not one raises one of the exceptions that ``entries`` knows."""
    did = row["did"]
    status = _MARKS.get(did)
    moment = datetime.strptime(row["at"], _TIME).replace(tzinfo=UTC)
    stamp = ChipStamp(row["by"], row["why"], int(moment.timestamp()))
    check_stamp(stamp, why_needed=status is not None)
    made: ChipEntry
    if status is None:
        made = Imported(
            row["version"], stamp, row["house"], row["chips"], row["file"], row["sha256"]
        )
        sound = (
            did == "import"
            and HOUSE_NAME.fullmatch(made.house) is not None
            and type(made.count) is int
            and made.count > 0
            and _printable(made.file, 1, MAX_FILE_NAME)
            and len(bytes.fromhex(made.sha256)) == 32
        )
    else:
        made = Marked(row["version"], stamp, status, tuple(row["chips"]))
        sound = bool(made.uids) and all(uid_bytes(uid) is not None for uid in made.uids)
    if not sound or type(made.version) is not int:
        raise ValueError
    return made
