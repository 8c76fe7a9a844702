"""``underfelt replay`` as it is run: what it prints, refuses, and does on a real terminal."""

from __future__ import annotations

import json
import os
import pty
import select
import shutil
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from controller.commands import replay as command
from hw_sim.scenario import find, load
from record.journal import Journal
from tests.patience import PATIENCE_S
from tests.replays.playing import LoggedPeople

Capture = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def shuffler(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A round whose shuffler burns a card."""
    people = LoggedPeople(load(find("nsw-shuffler-plain")))
    people.play()
    folder = tmp_path_factory.mktemp("table")
    people.save(folder)
    return folder


def asked(capsys: Capture, folder: Path, *more: str) -> tuple[int, str, str]:
    code = command.run([*more, "--journal", str(folder / "journal")])
    out, err = capsys.readouterr()
    return code, out, err


def test_the_whole_round_as_text(shuffler: Path, capsys: Capture) -> None:
    code, out, err = asked(capsys, shuffler, "1", "--plain")
    assert (code, err) == (0, "")
    lines = out.splitlines()
    assert lines[0] == "crash  NSW  round 1  settled  2023-11-14 UTC+0000"
    assert "  Packet of 3 to seat 1: Ac Ad 7h  [NSW-7.2.2]" in lines
    assert "EQUAL: table, replay and settle agree to the cent" in lines
    assert max(map(len, lines)) <= 80


def test_without_the_key_the_bytes_of_cards_are_sealed(shuffler: Path, capsys: Capture) -> None:
    _, out, _ = asked(capsys, shuffler, "1", "--plain")
    sealed = [line for line in out.splitlines() if "sealed" in line]
    assert any(line.endswith(" frames, sealed; the table's key opens them") for line in sealed)
    assert len(sealed) == len({line.split()[0] for line in sealed}), "one line for all of a moment"
    assert "shuffler <- PACKET" not in out


def moments(out: str) -> list[dict[str, Any]]:
    """The last line is no moment: it compares."""
    return [json.loads(line) for line in out.splitlines()[:-1]]


def frames_of(out: str, label: str) -> list[dict[str, object]]:
    return [f for row in moments(out) for f in row["frames"] if f["label"].startswith(label)]


def test_with_the_key_bytes_of_public_cards_are_shown_and_others_masked(
    shuffler: Path, capsys: Capture
) -> None:
    key = str(shuffler / "sealing.key")
    code, out, _ = asked(capsys, shuffler, "1", "--json", "--key", key)
    assert code == 0
    packets = frames_of(out, "PACKET")
    shown = " ".join(str(f["data"]) for f in packets if not f["masked"])
    assert "01 11 27" in shown, "Ac Ad 7h as CDP writes them"
    hidden = [f for f in packets if f["masked"]]
    assert hidden, "the dealer's: its bottom card was burnt"
    assert all(str(f["data"]).endswith("bytes masked: not public") for f in hidden)
    _, opened, _ = asked(capsys, shuffler, "1", "--json", "--key", key, "--closed-cards")
    (closed,) = [f for f in frames_of(opened, "PACKET") if "NEVER PUBLIC" in str(f["label"])]
    octets = str(closed["data"]).split()
    parts = [" ".join(octets[n : n + 7]) for n in range(len(octets) - 6)]
    assert not [part for part in parts if part in out]
    assert "NEVER PUBLIC" not in out
    cards = [c["card"] for row in moments(out) for c in row["cards"]]
    assert cards.count(None) == 1


def test_closed_cards_only_when_asked_for_by_name_and_marked(
    shuffler: Path, capsys: Capture
) -> None:
    key = str(shuffler / "sealing.key")
    code, out, _ = asked(capsys, shuffler, "1", "--plain", "--key", key, "--closed-cards")
    assert code == 0
    assert out.count("for the dealer: NEVER PUBLIC") == 1
    assert "PACKET NEVER PUBLIC" in out
    code, _, err = asked(capsys, shuffler, "1", "--plain", "--closed-cards")
    assert (code, "--closed-cards needs --key" in err) == (64, True)


def test_closed_cards_of_a_round_under_way_are_refused(tmp_path: Path, capsys: Capture) -> None:
    people = LoggedPeople(load(find("pp6-plain")))
    people.play(until=lambda: len(people.writer.core.state.drawn) == 4)
    people.save(tmp_path)
    key = str(tmp_path / "sealing.key")
    code, out, err = asked(capsys, tmp_path, "last", "--plain", "--key", key, "--closed-cards")
    assert (code, out) == (77, "")
    assert "round 1 is under way: closed cards stay closed (E-RPY-004)" in err
    code, out, _ = asked(capsys, tmp_path, "last", "--json", "--key", key)
    assert code == 0
    assert {c["card"] for row in moments(out) for c in row["cards"]} == {None}
    cards = frames_of(out, "CARD")
    assert cards
    assert all(frame["masked"] for frame in cards)


def test_another_tables_key_is_refused(shuffler: Path, tmp_path: Path, capsys: Capture) -> None:
    other = tmp_path / "other.key"
    other.write_text(f"underfelt-table-key-1 {'ab' * 32}\n", "ascii")
    other.chmod(0o400)
    code, _, err = asked(capsys, shuffler, "1", "--plain", "--key", str(other))
    assert code == 65
    assert "E-SEAL-004" in err
    other.chmod(0o644)
    assert asked(capsys, shuffler, "1", "--plain", "--key", str(other))[0] == 77


def test_without_a_frame_log_it_says_so_and_goes_on(
    shuffler: Path, tmp_path: Path, capsys: Capture
) -> None:
    shutil.copytree(shuffler / "journal", tmp_path / "journal")
    code, out, _ = asked(capsys, tmp_path, "1", "--plain")
    assert code == 0
    assert out.splitlines()[1] == (
        "note: no frame log beside this journal: what devices sent is not shown"
    )
    assert "EQUAL" in out


def test_a_damaged_frame_log_is_said_and_the_round_is_told(
    shuffler: Path, tmp_path: Path, capsys: Capture
) -> None:
    shutil.copytree(shuffler, tmp_path, dirs_exist_ok=True)
    (log,) = (tmp_path / "frames").iterdir()
    data = bytearray(log.read_bytes())
    data[len(data) // 2] ^= 1
    log.write_bytes(data)
    code, out, _ = asked(capsys, tmp_path, "1", "--plain")
    assert code == 0
    assert "E-FLOG-003" in out.splitlines()[1]


def test_one_seat_and_one_moment(shuffler: Path, capsys: Capture) -> None:
    _, out, _ = asked(capsys, shuffler, "1", "--json", "--seat", "3")
    rows = moments(out)
    assert {tuple(row["seats"]) for row in rows} <= {(), (3,)}
    assert any(row["what"].startswith("Seat 3") for row in rows)
    _, out, _ = asked(capsys, shuffler, "1", "--json", "--at", "settlement")
    (row,) = moments(out)
    assert "settlement" in row["marks"]
    assert row["displays"]["prompt"].startswith("SETTLEMENT")
    code, _, err = asked(capsys, shuffler, "1", "--plain", "--at", "christmas")
    assert (code, "E-RPY-003" in err) == (66, True)


def test_json_has_what_lies_on_the_felt_and_the_comparison(shuffler: Path, capsys: Capture) -> None:
    _, out, _ = asked(capsys, shuffler, "1", "--json", "--at", "settlement seat 1")
    (row,) = moments(out)
    seat = next(one for one in row["felt"] if one["seat"] == 1)
    assert seat["cards"] == ["Ac", "Ad", "7h"]
    assert {"spot": "$", "cents": 1000, "decided": None} in seat["wagers"]
    last = json.loads(out.splitlines()[-1])
    assert (last["equal"], last["status"], last["differences"]) == (True, "settled", [])
    assert last["compared"] == "EQUAL: table, replay and settle agree to the cent"


def test_plain_says_what_lies_on_the_felt_where_it_changed(shuffler: Path, capsys: Capture) -> None:
    _, out, _ = asked(capsys, shuffler, "1", "--plain")
    lines = out.splitlines()
    at = lines.index("  Seat 1: the hand is opened  [NSW-9.2]")
    page = lines[at : lines.index("", at)]
    assert any(line.startswith("    seat 1: Ac Ad 7h  ") for line in page)


@pytest.mark.parametrize(
    ("arguments", "code", "said"),
    [
        (("1", "--seat", "9"), 66, "seat 9 is not in round 1 (E-RPY-003)"),
        (("9",), 66, "no round 9 in this journal; it has 1 (E-RPY-001)"),
        (("0",), 64, "expected a round's number, or last"),
    ],
)
def test_a_round_that_is_not_there(
    arguments: tuple[str, ...], code: int, said: str, shuffler: Path, capsys: Capture
) -> None:
    try:
        found = asked(capsys, shuffler, *arguments)[0::2]
    except SystemExit as error:
        found = (int(str(error.code)), capsys.readouterr().err)
    assert found[0] == code
    assert said in found[1]


def test_no_journal_and_no_place(tmp_path: Path, capsys: Capture) -> None:
    assert asked(capsys, tmp_path, "1")[0] == 66
    with pytest.raises(SystemExit) as wrong:
        command.run(["1"])
    assert wrong.value.code == 64


def test_the_journal_of_a_running_table_is_read(
    shuffler: Path, tmp_path: Path, capsys: Capture
) -> None:
    shutil.copytree(shuffler, tmp_path, dirs_exist_ok=True)
    held = Journal.open(tmp_path / "journal", table="crash", create=False, now_ms=1)
    try:
        assert asked(capsys, tmp_path, "last", "--plain")[0] == 0
    finally:
        held.close()


def test_an_altered_disk_is_found(shuffler: Path, tmp_path: Path, capsys: Capture) -> None:
    shutil.copytree(shuffler, tmp_path, dirs_exist_ok=True)
    segment = tmp_path / "journal" / "00000001.ufj"
    data = segment.read_bytes()
    segment.write_bytes(data.replace(b'"cents":1000', b'"cents":9000', 1))
    code, out, err = asked(capsys, tmp_path, "1", "--plain")
    assert (code, out) == (65, "")
    assert "E-JRN-00" in err


# --- a real terminal ------------------------------------------------------------------------------


class Terminal:
    """The command in a process of its own, on a pty of 80x24."""

    def __init__(self, *arguments: str, term: str = "vt100", ignored: bool = False) -> None:
        self.pid, self.line = pty.fork()
        if self.pid == 0:
            os.environ["TERM"] = term
            handler = signal.SIG_IGN if ignored else signal.SIG_DFL
            signal.signal(signal.SIGINT, handler)
            os.execv(sys.executable, [sys.executable, "-m", "controller.cli", *arguments])
        termios.tcsetwinsize(self.line, (24, 80))
        self.seen = ""

    def see(self, text: str) -> str:
        """Wait until the text is on the screen; the deadline only ends a hang."""
        deadline = time.monotonic() + PATIENCE_S
        while text not in self.seen:
            assert time.monotonic() < deadline, f"no {text!r} in {self.seen!r}"
            if select.select([self.line], [], [], 1)[0]:
                self.seen += os.read(self.line, 65536).decode()
        shown, self.seen = self.seen, ""
        return shown

    def press(self, keys: str) -> None:
        os.write(self.line, keys.encode())

    def rest(self) -> str:
        """What was still said, until the line is closed from the other side."""
        try:
            while more := os.read(self.line, 65536):
                self.seen += more.decode()
        except OSError:
            pass
        return self.seen

    def ended(self) -> int:
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


@pytest.fixture(params=["heard", "ignored"])
def terminal(shuffler: Path, request: pytest.FixtureRequest) -> Iterator[Terminal]:
    """Started in the foreground, and by a parent in the background, which ignores interrupts."""
    ignored = request.param == "ignored"
    terminal = Terminal("replay", "1", "--journal", str(shuffler / "journal"), ignored=ignored)
    yield terminal
    os.close(terminal.line)


def test_it_is_driven_by_keys_on_a_real_terminal(terminal: Terminal) -> None:
    assert "Bets are opened" in terminal.see("q quit")
    terminal.press("\x1b[C")
    assert "Seat 1: 10.00 is on" in terminal.see("q quit")
    terminal.press("\x1b[D")
    assert "Bets are opened" in terminal.see("q quit")
    terminal.press("j")
    terminal.see("jump to")
    terminal.press("decision of seat 3\r")
    shown = terminal.see("q quit")
    assert "Seat 3 " in shown
    terminal.press("s")
    assert "EQUAL: table, replay and settle agree to the cent" in terminal.see("SPACE: back")
    terminal.press(" q")
    assert terminal.ended() == 0


def test_an_interrupt_takes_back_the_question_and_then_ends_the_replay(terminal: Terminal) -> None:
    terminal.see("q quit")
    terminal.press("j")
    terminal.see("jump to")
    terminal.press("\x03")
    assert "Bets are opened" in terminal.see("q quit")
    terminal.press("\x03")
    assert terminal.ended() == 0
    assert "Traceback" not in terminal.rest()


def test_nothing_is_drawn_upon_a_dumb_terminal(shuffler: Path) -> None:
    journal = str(shuffler / "journal")
    dumb = Terminal("replay", "1", "--at", "settlement", "--journal", journal, term="dumb")
    shown = dumb.see("house ")
    assert "EQUAL: table, replay and settle" in shown
    assert "\x1b" not in shown
    assert dumb.ended() == 0
    os.close(dumb.line)


def test_a_reader_who_goes_away_is_no_missing_file(shuffler: Path) -> None:
    """``underfelt replay 1 --plain | head``."""
    told = [sys.executable, "-m", "controller.cli", "replay", "1", "--plain", "--journal"]
    with subprocess.Popen(
        [*told, str(shuffler / "journal")], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        said = process.stderr.read()
    assert (process.returncode, said) == (74, b"")
