"""``config check`` starts the table on a disk that writes nothing: both refuse the same."""

from __future__ import annotations

import errno
import json
import os
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from controller.commands import config as config_command
from controller.commands import table as table_command
from controller.config.keys import key_line
from controller.config.live import load_live
from controller.daemon import compose as starting
from controller.daemon.retiring import seal
from controller.daemon.setup import setup_of
from controller.daemon.writer import Told
from controller.history.errors import BodyError, ReplayError, SealError
from controller.rules.cards import HiddenCard, card
from controller.rules.engine import facts as f
from controller.table.staff import DEALER_1
from hw_sim.scenario import find, load
from record.journal import Journal, JournalCorrupt
from record.journal.disk import RealDisk
from record.journal.walk import ChainWalk
from tests.controller.link.files import with_link
from tests.e2e.table import configure

TABLES = Path(__file__).parents[3] / "hw_sim" / "tables"
ROOT = TABLES.parent.parent
Capture = pytest.CaptureFixture[str]
Patch = pytest.MonkeyPatch
AT_MS = 1_700_000_000_000
CODE = re.compile(r"\((E-[A-Z]+-\d{3})\)$")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table that was started once, with a link."""
    run = tmp_path_factory.mktemp("made")
    shutil.copy(TABLES / "mbs3.toml", run / "layout.toml")
    chips = "uid,value,class,series\nE004010100000001,100,cash,sim\n"
    (run / "chips.csv").write_text(chips, "utf-8")
    with_link(configure(run, "MBS3", load(find("mbs3-plain")).settings), ["tcp://127.0.0.1:5701"])
    played(run, deal=False)
    return run


def started(run: Path) -> starting.Table:
    return starting.compose(setup_of(load_live(run / "table.toml", starting.KINDS)))


def played(run: Path, *, deal: bool) -> None:
    """Bets are opened; or there is a card on the table that nobody may know yet."""
    table = started(run)
    table.writer.start(0)
    facts: list[Told] = []
    if deal:
        shoe = f.Measured("shoe")
        facts += [Told(f.DeckShuffled("red"), shoe), Told(f.DeckCut(), DEALER_1)]
        facts.append(Told(f.BetsOpened(), DEALER_1))
        wagers = [f.WagerRead(2, spot, 1000) for spot in ("1", "2", "$")]
        facts += [Told(one, f.Measured("chips")) for one in wagers]
        facts += [Told(f.BetsClosed(), DEALER_1), Told(f.CardDrawn(HiddenCard(card("5h"))), shoe)]
    table.writer.work(facts, 1_000)
    table.journal.close()


@pytest.fixture
def run(made: Path, tmp_path: Path, monkeypatch: Patch) -> Path:
    monkeypatch.setattr(table_command, "keep_memory_private", lambda: None)
    return Path(shutil.copytree(made, tmp_path / "run"))


def refused(capsys: Capture, command: Callable[[list[str]], int], *words: str) -> tuple[int, str]:
    """Exit code, and the code of the first line."""
    exit_code = command(list(words))
    lines = capsys.readouterr().err.splitlines()
    found = CODE.search(lines[0]) if lines else None
    return exit_code, found[1] if found else ""


def both(capsys: Capture, run: Path) -> tuple[tuple[int, str], tuple[int, str]]:
    site = str(run / "table.toml")
    checked = refused(capsys, config_command.run, "check", site)
    return checked, refused(capsys, table_command.run, "--config", site)


# --- by what is on the disk ----------------------------------------------------------------------


def change(run: Path, old: str, new: str) -> None:
    text = (run / "table.toml").read_text("utf-8")
    assert old in text
    (run / "table.toml").write_text(text.replace(old, new), "utf-8")


def rewrite(path: Path, data: bytes) -> None:
    path.chmod(0o600)
    path.write_bytes(data)
    path.chmod(0o400)


def flip(run: Path, offset: int) -> None:
    file = run / "journal" / "00000001.ufj"
    data = bytearray(file.read_bytes())
    data[offset] ^= 0xFF
    file.write_bytes(bytes(data))


def journal_of(run: Path, table: str) -> None:
    shutil.rmtree(run / "journal")
    Journal.open(run / "journal", table=table, now_ms=AT_MS).close()


def appended(run: Path, kind: str, body: bytes) -> None:
    with_it = Journal.open(run / "journal", table="mbs3", now_ms=AT_MS)
    with_it.append(kind, body, AT_MS)
    with_it.sync()
    with_it.close()


def a_folder_in_its_place(run: Path) -> None:
    (run / "journal" / "00000001.ufj").unlink()
    (run / "journal" / "00000001.ufj").mkdir()


def a_file_in_its_place(run: Path) -> None:
    shutil.rmtree(run / "journal")
    (run / "journal").write_bytes(b"")


def another_game(run: Path) -> None:
    """The layout keeps its name, the game changes: the journal remains."""
    layout = (TABLES / "nsw.toml").read_text("utf-8")
    (run / "layout.toml").write_text(re.sub(r'name = "nsw"', 'name = "mbs3"', layout), "utf-8")
    settings = {"card_device": "shoe", "max_wager": 10_000, "max_payout": 15_000}
    text = (run / "table.toml").read_text("utf-8")
    rows = "".join(f"{k} = {json.dumps(v)}\n" for k, v in settings.items())
    text = re.sub(r"\[settings\].*?(?=\[journal\])", f"[settings]\n{rows}", text, flags=re.DOTALL)
    (run / "table.toml").write_text(text.replace("MBS3", "NSW"), "utf-8")


def retired(run: Path) -> None:
    table = started(run)
    seal(table, AT_MS)
    table.journal.sync()
    table.journal.close()


def another_key(run: Path) -> None:
    played(run, deal=True)
    rewrite(run / "sealing.key", key_line().encode())


Break = Callable[[Path], Any]
ON_DISK: dict[str, tuple[str, Break]] = {
    "the file is missing": ("E-CFG-011", lambda r: (r / "table.toml").unlink()),
    "no TOML": ("E-CFG-009", lambda r: (r / "table.toml").write_text("game = [")),
    "no such key": ("E-CFG-001", lambda r: change(r, "[journal]\n", "[journal]\nx = 1\n")),
    "no layout": ("E-CFG-012", lambda r: (r / "layout.toml").unlink()),
    "no language": (
        "E-CFG-017",
        lambda r: change(r, "[link]", '[display]\nlanguage = "none.toml"\n[link]'),
    ),
    "no sealing key": ("E-SEAL-001", lambda r: (r / "sealing.key").unlink()),
    "a sealing key that others can read": (
        "E-SEAL-002",
        lambda r: (r / "sealing.key").chmod(0o644),
    ),
    "not a sealing key": ("E-SEAL-003", lambda r: rewrite(r / "sealing.key", b"x\n")),
    "another sealing key": ("E-SEAL-004", another_key),
    "no chip register": ("E-CHIP-050", lambda r: (r / "house.chips").unlink()),
    "a damaged chip register": ("E-CHIP-001", lambda r: rewrite(r / "house.chips", b"x")),
    "no link key": ("E-KEY-101", lambda r: (r / "link.key").unlink()),
    "a damaged segment header": ("E-JRN-001", lambda r: flip(r, 40)),
    "a journal of a later program": ("E-JRN-002", lambda r: flip(r, 7)),
    "a damaged record": ("E-JRN-004", lambda r: flip(r, 700)),
    "a file in place of the journal": ("E-JRN-021", a_file_in_its_place),
    "a journal of another table": ("E-JRN-022", lambda r: journal_of(r, "other")),
    "a disk that fails": ("E-JRN-030", a_folder_in_its_place),
    "a journal of another game": ("E-RUN-003", another_game),
    "a journal closed for good": ("E-RUN-006", retired),
    "a record of a later program": ("E-RPL-007", lambda r: appended(r, "novelty", b'{"v":1}')),
    "a receipt that is none": ("E-RPL-005", lambda r: appended(r, "witness", b'{"v":1,"mac":1}')),
}


@pytest.mark.parametrize("what", ON_DISK)
def test_check_and_table_refuse_the_same_files_with_the_same_code_and_exit(
    run: Path, capsys: Capture, what: str
) -> None:
    code, break_it = ON_DISK[what]
    break_it(run)
    checked, told = both(capsys, run)
    assert checked == told
    assert told[1] == code


def test_check_and_table_refuse_a_staff_register_that_is_missing(
    run: Path, capsys: Capture
) -> None:
    change(run, 'register = "none"\npublic_key = "none"', 'register = "s"\npublic_key = "s.pub"')
    checked, told = both(capsys, run)
    assert checked == told
    assert told[1].startswith("E-STAF-")


def test_check_and_table_refuse_a_disk_without_room(
    run: Path, capsys: Capture, monkeypatch: Patch
) -> None:
    """For a new journal; one that is there has its reserve."""
    shutil.rmtree(run / "journal")
    room = os.statvfs(run)
    none = os.statvfs_result((*room[:4], 0, *room[5:]))

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "statvfs", lambda _: none)
    monkeypatch.setattr(RealDisk, "create", full)
    checked, told = both(capsys, run)
    assert checked == told == (74, "E-JRN-031")


# --- by what the start raises --------------------------------------------------------------------


def raised(code: str) -> tuple[object, str, Exception]:
    """Where an error with this code comes from, and the error."""
    if code.startswith("E-JRN-"):
        return ChainWalk, "records", JournalCorrupt(code, "journal", 0, "injected")
    if code.startswith("E-RPL-"):
        return starting, "replay", ReplayError(code, 7, "injected")
    if code.startswith("E-SEAL-"):
        return starting, "replay", SealError(code, "injected")
    if code.startswith("E-ENT-"):
        return starting, "replay", BodyError(code, "", "injected")
    assert code == "E-RUN-002"
    return starting, "_selector", starting.WrongKey(f"injected ({code})")


START = ("E-JRN-", "E-RPL-", "E-SEAL-", "E-ENT-", "E-RUN-")
SOURCES = (
    *("record/journal/journal.py", "record/journal/walk.py", "record/journal/scan.py"),
    *("record/journal/segments.py", "record/journal/format.py"),
    *(f"controller/history/{name}.py" for name in ("replay", "entries", "codec", "sealing")),
    *("controller/daemon/compose.py", "controller/daemon/selfaudit.py"),
    "controller/config/keys.py",
    *("controller/faults/refusals.py", "controller/config/live.py"),
)
NOT_THE_SAME = {
    "E-JRN-020": "another process has the journal: a table that runs, and the check does not lock",
    "E-JRN-032": "a journal that failed before; never at a start",
    "E-JRN-040": "a record that cannot be written; a start writes none before it has started",
    "E-JRN-041": "sizes that the configuration does not allow: E-CFG-002 before it",
    "E-RUN-001": "of the layout: tests/controller/config/test_config_check.py",
    "E-RUN-004": "memory and descriptors at that moment",
    "E-RUN-005": "the environment and descriptors of the daemon's own process",
}
"""Codes in these files that a check does not share with a start, and why."""


def codes_of_a_start() -> list[str]:
    text = "".join((ROOT / path).read_text("utf-8") for path in SOURCES)
    found = {code for code in re.findall(r"E-[A-Z]+-\d{3}", text) if code.startswith(START)}
    return sorted(found - set(NOT_THE_SAME))


def injected() -> list[str]:
    shown = {code for code, _ in ON_DISK.values()} | {"E-JRN-031"}
    return [code for code in codes_of_a_start() if code not in shown]


@pytest.mark.parametrize("code", injected())
def test_check_and_table_say_the_same_of_every_other_refusal_of_a_start(
    run: Path, capsys: Capture, monkeypatch: Patch, code: str
) -> None:
    where, name, error = raised(code)

    def fails(*_: object, **__: object) -> Any:
        raise error

    monkeypatch.setattr(where, name, fails)
    checked, told = both(capsys, run)
    assert checked == told
    assert told[1] == code


def test_no_explanation_is_left_of_a_code_that_is_gone() -> None:
    text = "".join((ROOT / path).read_text("utf-8") for path in SOURCES)
    assert all(code in text for code in NOT_THE_SAME)


# --- what a check leaves alone -------------------------------------------------------------------


def contents(run: Path) -> dict[str, tuple[bytes, int]]:
    files = (one for one in sorted(run.rglob("*")) if one.is_file() and not one.is_socket())
    return {str(one.relative_to(run)): (one.read_bytes(), one.stat().st_mtime_ns) for one in files}


@pytest.mark.parametrize("journal", ["whole", "torn", "none", "leftovers"])
def test_a_check_changes_nothing(run: Path, capsys: Capture, journal: str) -> None:
    folder = run / "journal"
    if journal == "torn":
        played(run, deal=True)
        file = sorted(folder.glob("*.ufj"))[-1]
        whole = file.read_bytes().rstrip(b"\0")
        file.write_bytes(whole[:-3] + bytes(file.stat().st_size - len(whole) + 3))
    elif journal == "none":
        shutil.rmtree(folder)
    elif journal == "leftovers":
        (folder / "spare.tmp").write_bytes(b"half")
        (folder / "reserve").unlink()
    before = contents(run)
    assert config_command.run(["check", str(run / "table.toml")]) == 0, capsys.readouterr().err
    assert contents(run) == before
    assert folder.exists() == (journal != "none")


def test_a_check_beside_a_table_that_runs_is_no_trouble(run: Path, capsys: Capture) -> None:
    table = started(run)
    try:
        table.writer.start(0)
        checked = refused(capsys, config_command.run, "check", str(run / "table.toml"))
        assert checked == (0, "")
    finally:
        table.journal.close()


def test_what_belongs_to_another_user_is_named_and_not_judged(
    run: Path, capsys: Capture, monkeypatch: Patch
) -> None:
    """The journal is read as far as it can be without the sealing key."""
    played(run, deal=True)
    monkeypatch.setattr(os, "geteuid", lambda: 12_345)
    assert config_command.run(["check", "--json", str(run / "table.toml")]) == 0
    assert json.loads(capsys.readouterr().out)["unchecked"] == ["keys.sealing", "link"]
    assert config_command.run(["check", str(run / "table.toml")]) == 0
    assert "only the service can read it: keys.sealing, link" in capsys.readouterr().out
    journal_of(run, "other")
    found = refused(capsys, config_command.run, "check", str(run / "table.toml"))
    assert found == (78, "E-JRN-022")


def test_every_missing_file_is_named_at_once(run: Path, capsys: Capture) -> None:
    for name in ("sealing.key", "house.chips", "chips.pub", "link.key"):
        (run / name).unlink()
    assert config_command.run(["check", str(run / "table.toml")]) == 66
    lines = capsys.readouterr().err.splitlines()
    for name in ("sealing.key", "house.chips", "chips.pub", "link.key"):
        assert any(name in line for line in lines), name
