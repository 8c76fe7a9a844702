"""Text from outside is printed so that it moves no cursor: in tables, answers, JSON and reports."""

from __future__ import annotations

import json
import re
from argparse import Namespace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from link.commands.io import print_answer, table_text
from link.commands.report import _write
from link.reports.model import Report
from record.kit.outside import printable, printable_json, printable_lines, text_fault

EVIL = "a\x1b[2J\x9b31m\u202eb\x07\x7f"
COMMANDS = Path(__file__).parents[3] / "link" / "commands"


@given(st.text())
def test_what_is_printed_has_no_control_character(text: str) -> None:
    assert text_fault(printable(text), 1 << 30) is None
    for line in printable_lines(text).split("\n"):
        assert text_fault(line.removesuffix("\r"), 1 << 30) is None


@given(st.dictionaries(st.text(), st.text()))
def test_json_that_is_printed_means_the_same(value: dict[str, str]) -> None:
    shown = printable_json(json.dumps(value, indent=2, ensure_ascii=False))
    assert json.loads(shown) == value
    for line in shown.split("\n"):
        assert text_fault(line, 1 << 30) is None


def test_a_cell_stays_in_its_row() -> None:
    shown = table_text(("table", "why"), [("t1", f"x\nt2  paid {EVIL}")])
    assert len(shown.split("\n")) == 2
    assert text_fault(shown.split("\n")[1], 1_000) is None


@pytest.mark.parametrize("as_json", [False, True])
def test_an_answer_is_shown_escaped(as_json: bool, capsys: pytest.CaptureFixture[str]) -> None:
    print_answer(Namespace(json=as_json), {"why": EVIL}, f"why: {EVIL}")
    shown = capsys.readouterr().out
    assert text_fault(shown.replace("\n", ""), 1_000) is None
    assert "1b[2J" in shown


@pytest.mark.parametrize("form", ["text", "html", "csv", "json"])
def test_a_report_is_shown_escaped(form: str, capsys: pytest.CaptureFixture[str]) -> None:
    report = Report("day", f"Title {EVIL}", [("place", EVIL)])
    report.differs(EVIL)
    forms = {name: name == form for name in ("html", "csv", "json")}
    options = Namespace(section=None, output=None, **forms)
    _write(options, report)
    shown = capsys.readouterr()
    for line in (shown.out + shown.err).split("\n"):
        assert text_fault(line.removesuffix("\r"), 10_000) is None


def test_commands_print_in_one_way() -> None:
    """Whatever prints in another way must be looked at, and added here."""
    found = {
        f"{path.name}: {line.strip()}"
        for path in COMMANDS.glob("*.py")
        for line in path.read_text("utf-8").splitlines()
        if re.search(r"\bprint\(|std(out|err)\.write\(", line)
    }
    assert [line for line in sorted(found) if "printable" not in line] == [
        "report.py: print(said, file=sys.stderr)",
        "report.py: sys.stdout.write(text)",
    ]
