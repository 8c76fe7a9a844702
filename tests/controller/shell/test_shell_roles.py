"""Who may what, by uid and day; and which commands the audit writes one by one."""

from __future__ import annotations

import asyncio
import json
from datetime import date
from pathlib import Path

import pytest

from controller.config.people import ShellPerson
from controller.shell.desk.audit import COMMAND, COUNTED, Audit, Limiter, opener
from controller.shell.desk.roles import author_of, refusal
from controller.shell.errors import VerbRefused
from controller.shell.verbs import Verb
from record.journal.reader import JournalReader

PEOPLE = (
    ShellPerson("mia", "technician", date(2027, 3, 31)),
    ShellPerson("joe", "observer"),
    ShellPerson("root", "supervisor", date(2027, 3, 31)),
)
LAST, AFTER = date(2027, 3, 31), date(2027, 4, 1)


@pytest.mark.parametrize(
    ("uid", "user", "today", "role", "code"),
    [
        (1001, "mia", LAST, "technician", ""),
        (1001, "mia", AFTER, None, "E-SHL-003"),
        (1002, "joe", AFTER, "observer", ""),
        (1003, "eve", LAST, None, "E-SHL-001"),
        (1004, "", LAST, None, "E-SHL-001"),
        (999, "underfelt", LAST, "technician", ""),
        (0, "root", LAST, "supervisor", ""),
        (0, "root", AFTER, None, "E-SHL-003"),
        (0, "", AFTER, "technician", ""),
    ],
)
def test_the_role_of_a_uid(uid: int, user: str, today: date, role: str, code: str) -> None:
    author, why = author_of(uid, user, PEOPLE, own_uid=999, today=today)
    assert author.role == role
    assert ("" if why is None else why.code) == code


@pytest.mark.parametrize(
    ("uid", "least", "test", "mode", "code"),
    [
        (1002, "observer", False, False, ""),
        (1002, "technician", False, False, "E-SHL-002"),
        (1001, "technician", True, False, "E-SHL-004"),
        (1001, "technician", True, True, ""),
        (1002, "technician", True, True, "E-SHL-002"),
        (1001, "supervisor", False, False, "E-SHL-002"),
    ],
)
def test_the_least_role_of_a_verb(uid: int, least: str, test: bool, mode: bool, code: str) -> None:
    user = {1001: "mia", 1002: "joe"}[uid]
    author, _ = author_of(uid, user, PEOPLE, own_uid=999, today=LAST)
    verb = Verb("probe", "", least, test=test)  # type: ignore[arg-type]
    why = refusal(author, verb, test_mode=mode)
    assert ("" if why is None else why.code) == code


def test_more_than_sixty_a_minute_of_one_uid_are_counted() -> None:
    limiter = Limiter()
    assert limiter.turn(1_000_000) == []
    assert [limiter.writes(7) for _ in range(63)] == [True] * 60 + [False] * 3
    assert limiter.writes(8)
    assert limiter.turn(1_059_999) == []
    assert limiter.turn(1_060_000) == [{"uid": 7, "more": 3}]
    assert limiter.writes(7)
    assert limiter.turn(5) == []  # the clock was set back: a new minute, nothing owed
    assert limiter.writes(7)


def rows(folder: Path) -> list[tuple[str, dict[str, object]]]:
    return [(r.kind, json.loads(r.body)) for r in JournalReader(folder).records()]


def test_a_command_is_on_disk_before_the_note_returns_and_groups_share_a_sync(
    tmp_path: Path,
) -> None:
    async def run() -> None:
        audit = Audit(opener(tmp_path / "journal", "T1", 30), now_ms=lambda: 1_790_000_000_000)
        await audit.note(7, {"uid": 7, "words": ["status"]})
        assert rows(tmp_path / "audit") == [(COMMAND, {"v": 1, "uid": 7, "words": ["status"]})]
        await asyncio.gather(*(audit.note(7, {"n": n}) for n in range(70)))
        await audit.close()

    asyncio.run(run())
    found = rows(tmp_path / "audit")
    assert [kind for kind, _ in found] == [COMMAND] * 60 + [COUNTED]
    assert found[-1][1] == {"v": 1, "uid": 7, "more": 11}
    assert [body["n"] for kind, body in found[1:-1]] == list(range(59))


def test_what_cannot_be_written_is_refused_and_tried_anew(tmp_path: Path) -> None:
    async def run() -> None:
        audit = Audit(opener(tmp_path / "journal", "T1", 30), lambda: 1_790_000_000_000)
        (tmp_path / "audit").write_text("no folder", "utf-8")
        with pytest.raises(VerbRefused, match="E-SHL-009"):
            await audit.note(7, {"n": 1})
        (tmp_path / "audit").unlink()
        await audit.note(7, {"n": 2})
        await audit.close()

    asyncio.run(run())
    assert rows(tmp_path / "audit") == [(COMMAND, {"v": 1, "n": 2})]
