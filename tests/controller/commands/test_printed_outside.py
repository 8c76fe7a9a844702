"""Text from outside moves no cursor, whichever command prints it: devices, files, peers, names."""

from __future__ import annotations

import io
import json
import re
import socket
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.cli import COMMANDS, main
from controller.demo.screen import _Paint
from record import verify_draws, verify_journal
from record.journal import Journal
from record.kit.outside import text_fault
from record.kit.terminal import Guarded, draw

ROOT = Path(__file__).parents[3]
EVIL = "e\x1b[2J\x1b]0;owned\x07\x9b31m\u202ev\u2066\x7f\r\x08l"
HARMLESS = 1 << 30


def assert_harmless(shown: str) -> None:
    for line in shown.split("\n"):
        assert text_fault(line.removesuffix("\r"), HARMLESS) is None, line


@given(st.lists(st.text(st.sampled_from(f"ab\r\n{EVIL}"))))
def test_whatever_a_command_writes_has_no_control_character(pieces: list[str]) -> None:
    below = io.StringIO(newline="")
    Guarded(below).writelines(pieces)
    assert_harmless(below.getvalue())


@given(st.dictionaries(st.text(), st.text()))
def test_json_that_a_command_writes_means_the_same(value: dict[str, str]) -> None:
    below = io.StringIO(newline="")
    print(json.dumps(value, indent=2, ensure_ascii=False), file=Guarded(below))
    assert json.loads(below.getvalue()) == value


def test_what_a_command_draws_is_as_it_was() -> None:
    below = io.StringIO(newline="")
    draw("\x1b[31m10\u2665\x1b[0m", Guarded(below))
    assert below.getvalue() == "\x1b[31m10\u2665\x1b[0m"


BESIDE = r"(?<![.\w])draw( if|\()|std(out|err)\.buffer|__std|os\.write\([12]\b|/dev/tty"


def test_whatever_passes_the_guard_by_is_listed_here() -> None:
    """A new line must be looked at: is all text from outside in it made printable before?"""
    found = {
        f"{path.relative_to(ROOT)}: {line.strip()[:40]}"
        for package in ("controller", "hw_sim", "link", "web")
        for path in (ROOT / package).rglob("*.py")
        for line in path.read_text("utf-8").splitlines()
        if re.search(BESIDE, line) and "def draw" not in line
    }
    assert sorted(found) == [
        "controller/commands/bundle.py: told = send(Path(options.config), sys.st",
        "controller/commands/demo.py: narrator = Narrator(draw if colour else ",
        "controller/commands/replay.py: draw(said, sys.stderr)",
        'controller/commands/replay_terminal.py: draw(CLEAR + "\\n".join((f"{REVERSE}{head',
        'controller/commands/replay_terminal.py: draw(f"\\r\\x1b[K{printable(question)}")',
        "controller/commands/settle.py: sys.stdout.buffer.write(_encoded(result)",
        "controller/commands/settle.py: write = sys.stdout.buffer.write",
        "controller/daemon/crash_policy.py: os.write(2, _NO_MEMORY)  # made beforeha",
        "controller/demo/screen.py: draw(ENTER)",
        "controller/demo/screen.py: draw(LEAVE)",
        'controller/demo/screen.py: draw(f"\\x1b[H{rows}\\x1b[J")',
        "controller/math/terminal.py: yield from draw(plot)",
        'hw_sim/scenario.py: "draw": r"draw(?: (\\d+))?",',
    ]


def test_a_row_of_the_floor_has_no_sequence_but_its_own() -> None:
    shown = _Paint(200, colour=True).row(EVIL, "31")
    assert_harmless(shown.removeprefix("\x1b[31m").removesuffix("\x1b[0m"))


@pytest.fixture(autouse=True)
def _elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Some commands write a file where they are."""
    monkeypatch.chdir(tmp_path)


# --- every command --------------------------------------------------------------------------------


def printed(capsys: pytest.CaptureFixture[str], *arguments: str) -> str:
    with suppress(SystemExit):
        main(list(arguments))
    shown = capsys.readouterr()
    return shown.out + shown.err


@pytest.mark.parametrize("command", COMMANDS)
def test_no_command_prints_what_a_name_or_a_file_brings_as_it_is(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / EVIL
    file.write_text(f'{{"{EVIL}": "{EVIL}"}}\n["{EVIL}"]\nname = "{EVIL}"\n', "utf-8")
    shown = ""
    for words in (
        (EVIL,),
        ("check", EVIL),
        ("list", "--config", str(file)),
        ("verify", str(file)),
        ("--config", str(file)),
        ("--socket", str(file)),
        (str(file),),
        (EVIL, "--output", str(file), "--config", str(file)),
    ):
        for more in ((), ("--json",)):
            shown += printed(capsys, command, *words, *more)
    assert_harmless(shown)
    assert "u001b" in shown or "x1b" in shown  # it was named


def test_no_command_prints_what_a_journal_brings_as_it_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "journal"
    with_evil = json.dumps({"text": EVIL, EVIL: [EVIL]}, ensure_ascii=False).encode()
    journal = Journal.open(folder, table=EVIL, now_ms=1_000)
    for kind in ("note", "opened", "status", "round", "fact"):
        journal.append(kind, with_evil, 2_000)
        journal.append(kind, b'{"raw":"\x9b31m\x1b[2J"}', 2_000)
    journal.sync()
    journal.close()
    shown = ""
    for words in (
        ("journal", "verify", str(folder)),
        ("journal", "tail", str(folder)),
        ("journal", "export-round", str(folder), "1"),
        ("journal", "day", str(folder)),
        ("draws", str(folder)),
        ("replay", "last", "--journal", str(folder)),
        ("bundle", "--config", str(folder)),
    ):
        for more in ((), ("--json",)):
            shown += printed(capsys, *words, *more)
    assert_harmless(shown)
    assert "of table e" in shown
    for program in (verify_journal, verify_draws):  # as auditors run them, without the command
        program.main([str(folder)])
    said = capsys.readouterr()
    assert_harmless(said.out + said.err)


@contextmanager
def answering(path: Path, answer: dict[str, object]) -> Iterator[None]:
    """A peer at the socket that answers everything with this."""
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(path))
        listening.listen()

        def serve() -> None:
            while True:
                try:
                    connection, _ = listening.accept()
                except OSError:
                    return
                with connection, connection.makefile("rwb") as stream:
                    while stream.readline():
                        stream.write(json.dumps(answer).encode() + b"\n")
                        stream.flush()

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()
        yield
        listening.shutdown(socket.SHUT_RDWR)


@pytest.mark.parametrize(
    "answer",
    [
        {"mode": "locked", "table": EVIL, "why": EVIL, "degraded": [{"code": EVIL, "text": EVIL}]},
        {"error": f"E-SVC-001 {EVIL}", "text": EVIL, "do": EVIL},
    ],
)
def test_no_command_prints_what_a_peer_answers_as_it_is(
    answer: dict[str, object],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = tmp_path / "peer.sock"
    shown = ""
    with answering(path, answer):
        for words in (
            ("status", "--socket", str(path)),
            ("shell", "--socket", str(path), "status"),
            ("link", "status", "--socket", str(path)),
            ("jackpot", "list", "--socket", str(path)),
        ):
            for more in ((), ("--json",)):
                monkeypatch.setattr(sys, "stdin", io.StringIO(""))
                try:
                    shown += printed(capsys, *words, *more)
                except (KeyError, TypeError):  # an answer that no server gives
                    continue
    assert_harmless(shown)
    assert "u001b" in shown or "x1b" in shown
