"""The client's side alone: a table that was started again, a prompt that is true, slips."""

from __future__ import annotations

import builtins
import json
import socket
import sys
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import pytest

from controller.shell import repl
from controller.shell.client import Client, NoTable
from controller.shell.session import RECONNECTED, ShellSession

AT = {
    "table": "t1",
    "game": "MBS3",
    "round": 4,
    "phase": "dealing",
    "in_round": True,
    "troubles": 0,
    "test_mode": False,
}
DEALING = AT
TESTED = {**AT, "phase": "between rounds", "in_round": False, "test_mode": True}


class Table:
    """Answers whoever connects, so many commands a connection, and hangs up."""

    def __init__(self, path: Path, commands: Sequence[int]) -> None:
        self.asked: list[Any] = []
        self.gone = threading.Semaphore(0)
        self._listening = socket.socket(socket.AF_UNIX)
        self._listening.bind(str(path))
        self._listening.listen()
        self._thread = threading.Thread(target=self._serve, args=(commands,), daemon=True)
        self._thread.start()

    def _serve(self, commands: Sequence[int]) -> None:
        for number in commands:
            end, _ = self._listening.accept()
            with end, end.makefile("rwb") as stream:
                for _ in range(number):
                    request = json.loads(stream.readline())
                    self.asked.append(request["words"])
                    live = {"device": [f"shoe-{len(self.asked)}"]}
                    told = {"id": request["id"], "ok": True, "data": {"live": live}, "at": DEALING}
                    stream.write(json.dumps(told).encode() + b"\n")
                    stream.flush()
            self.gone.release()
        self._listening.close()


def test_a_table_that_was_started_again_is_found_with_the_next_command(tmp_path: Path) -> None:
    """Nobody is told that no table answers, and Tab knows the devices of the new one."""
    table = Table(tmp_path / "s.sock", (1, 2))
    said: list[str] = []
    session = ShellSession(Client(tmp_path / "s.sock"), said.extend, said.extend, as_json=True)
    session.hello()
    assert session.live["device"] == ["shoe-1"]
    table.gone.acquire()
    assert session.line("devices") == 0
    assert said[0] == RECONNECTED
    assert table.asked == [["hello"], ["devices"], ["hello"]]
    assert session.live["device"] == ["shoe-3"]
    table.gone.acquire()
    with pytest.raises(NoTable):
        session.line("why")
    assert session.prompt() == "t1 does not answer> "


class Told:
    """A client with its answers laid out beforehand."""

    opened = 1

    def __init__(self, *answers: Mapping[str, Any]) -> None:
        self._answers, self.asked = iter(answers), list[tuple[list[str], int | None]]()

    def ask(self, words: Sequence[str], cursor: int | None = None) -> Mapping[str, Any]:
        self.asked.append((list(words), cursor))
        return next(self._answers)


def session_of(told: Told, **more: Any) -> tuple[ShellSession, list[list[str]]]:
    shown: list[list[str]] = []
    made = ShellSession(cast(Any, told), shown.append, shown.append, **more)  # type: ignore[arg-type]
    made._connection = made._greeted = 1
    return made, shown


def test_a_refusal_says_where_the_table_is_as_well() -> None:
    """Test mode that has ended is not at the prompt any more."""
    refused = {"error": "E-SHL-004", "text": "keys needs test mode", "at": DEALING}
    told = Told({"ok": True, "data": {"devices": []}, "at": TESTED}, refused)
    session, _ = session_of(told)
    session.line("devices")
    assert session.prompt() == "TEST MODE t1 round 4 between rounds> "
    assert session.live["round"][-1] == "4"
    assert session.line("keys") == 75
    assert session.prompt() == "t1 round 4 dealing> "
    assert session.live["round"][-1] == "3", "the round under way is none to look up"


def steps(*rows: tuple[str, str], question: str = "", done: bool = False) -> dict[str, Any]:
    told = [{"step": n, "kind": kind, "text": text} for n, (kind, text) in enumerate(rows, 1)]
    data = {"steps": told, "cursor": len(rows), "question": question, "done": done, "passed": done}
    return {"ok": True, "data": data, "at": TESTED}


def test_an_answer_names_its_question_which_is_shown_once() -> None:
    told = Told(
        steps(("note", "lamp 1: shown"), ("ask", "is it lit?"), question="is it lit?"),
        steps(),
        steps(("pass", "lamp 1: seen"), done=True),
    )
    asked: list[str] = []

    def confirm(question: str) -> str:
        asked.append(question)
        return "yes"

    session, shown = session_of(told, listen=lambda _s: "", confirm=confirm)
    assert session.line("lamp walk") == 0
    assert told.asked[1] == (["answer", "yes"], 2)
    assert asked == ["-> is it lit?"]
    assert shown == [[" - lamp 1: shown"], ["ok lamp 1: seen"]]


def test_what_is_live_does_not_stop_at_each_screen() -> None:
    rows = [{"device": "shoe", "reading": "CardRead", "at_us": n} for n in range(60)]
    data = {"readings": rows, "missed": 0, "cursor": 60, "now": {"us": 0, "wall_ms": 0}}

    def rest(_seconds: float) -> None:
        raise KeyboardInterrupt

    session, shown = session_of(Told({"ok": True, "data": data, "at": DEALING}), rest=rest)
    assert session.line("watch") == 0
    assert len(shown) == 61
    assert max(map(len, shown)) == 1


@pytest.fixture
def typed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    lines: list[str] = []
    monkeypatch.setattr(sys.stdin, "isatty", lambda: True, raising=False)
    monkeypatch.setattr(builtins, "input", lambda _prompt: lines.pop(0))
    return lines


def test_a_slip_at_a_terminal_is_no_verdict(typed: list[str]) -> None:
    typed += ["ys", "", "Yes", "no"]
    assert repl.confirm("-> is it lit?") == "Yes"
    assert typed == ["no"]


def test_from_a_pipe_whatever_is_not_yes_is_taken_as_it_is(
    typed: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdin, "isatty", lambda: False, raising=False)
    typed += ["ys", "yes"]
    assert repl.confirm("-> is it lit?") == "ys"
