"""The prompt: every text fits, every question and refusal has one, lines as they are shown."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import controller.rules.engine
import controller.table
from controller.rules import events as ev
from controller.rules.engine import doubts
from controller.rules.engine.effects import Refused
from controller.rules.engine.facts import What
from controller.rules.engine.state import Phase
from controller.rules.hands import HAND_NAMES
from controller.table.amounts import DOLLARS
from controller.table.menu import ARGUMENTS
from controller.table.prompt import money_line, spread
from controller.table.refusals import text_key
from controller.table.texts import SECTIONS, widest_of
from drivers.base import DeviceState, Fault, StateReported
from tests.clauses.tables import base, table
from tests.controller.table.console_player import ENGLISH, console_player


@pytest.mark.parametrize("section", SECTIONS)
def test_every_text_fits_twenty_columns(section: str) -> None:
    for key in ENGLISH[section]:
        shown = widest_of(ENGLISH, section, key)
        assert len(shown) <= 20, (key, shown)
        assert shown.isascii()


def test_the_state_word_leaves_room_for_the_round() -> None:
    assert set(ENGLISH["state"]) == {*(phase.value for phase in Phase), "test mode"}
    assert all(len(word) <= 12 for word in ENGLISH["state"].values())
    assert spread("BETS OPEN", "R 1841") == "BETS OPEN     R 1841"


def calls(path: Path, name: str) -> list[ast.Call]:
    tree = ast.parse(path.read_text("utf-8"))
    found = [n for n in ast.walk(tree) if isinstance(n, ast.Call)]
    return [n for n in found if isinstance(n.func, ast.Name) and n.func.id == name]


OURS = Path(controller.table.__file__).parent
ENGINE = Path(controller.rules.engine.__file__).parent


def texts_in(node: ast.expr) -> list[str]:
    if isinstance(node, ast.IfExp):
        return texts_in(node.body) + texts_in(node.orelse)
    if isinstance(node, ast.Subscript):
        return []
    return [
        n.value for n in ast.walk(node) if isinstance(n, ast.Constant) and isinstance(n.value, str)
    ]


def test_every_question_notice_and_wrong_entry_has_a_text() -> None:
    for path in OURS.glob("*.py"):
        for section, name in (("ask", "Ask"), ("notice", "Notice"), ("wrong", "Wrong")):
            for call in calls(path, name):
                for text in texts_in(call.args[0]) if call.args else []:
                    known = any(k.startswith(text) for k in ENGLISH[section])
                    assert known, f"{path.name}: {name}({text!r})"
        tree = ast.parse(path.read_text("utf-8"))
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
                continue
            if node.func.attr == "_refuse":
                assert set(texts_in(node.args[0])) <= set(ENGLISH["wrong"])
    assert set(ARGUMENTS) | {"code"} == set(ENGLISH["arg"])
    assert set(HAND_NAMES) == set(ENGLISH["hand"])


def test_every_reason_not_to_open_has_a_text() -> None:
    """What holds the cards is asked as a question and told when OPEN is pressed all the same."""
    functions = {
        node.name: node
        for name in ("keying.py", "health.py")
        for node in ast.walk(ast.parse((OURS / name).read_text("utf-8")))
        if isinstance(node, ast.FunctionDef) and node.name in ("_no_opening", "card_hold")
    }
    assert set(functions) == {"_no_opening", "card_hold"}
    returned = [
        text
        for function in functions.values()
        for node in ast.walk(function)
        if isinstance(node, ast.Return) and node.value is not None
        for text in texts_in(node.value)
        if text
    ]
    assert "deck out" in returned
    assert set(returned) <= set(ENGLISH["wrong"])


def test_opening_with_a_wrong_deck_in_the_device_is_refused_in_words() -> None:
    made = console_player(table("MBS3"), {1: base(500)}).table
    made.core.health.card_devices = frozenset({"shoe"})
    made.feed(StateReported("shoe", DeviceState.DEGRADED, Fault("E-CDP-036", "51 cards"), 0))
    made.press("OPEN")
    assert made.lines[2] == "TAKE THE DECK OUT"
    assert made.core.state.phase is Phase.IDLE


def test_every_frozen_question_has_a_text() -> None:
    asks = {k.removeprefix("frozen ") for k in ENGLISH["ask"] if k.startswith("frozen ")}
    never = {"cards_shown", "late_wager", "late_withdrawal", "over_max_previous_round",
             "supervisor_confirmed"}  # fmt: skip
    others = {"stop", "jackpot", "excess card", "card in doubt", "count", "second",
              "reported count", "closed round", "pay more", "take back"}  # fmt: skip
    assert others | doubts.TOLD | set(ev.EVENTS) - never == asks


def reason_of(call: ast.Call) -> str | None:
    """The words of a refusal with X for what is filled in; None if it is built elsewhere."""
    first = call.args[0]
    if isinstance(first, ast.Constant):
        return str(first.value)
    if isinstance(first, ast.JoinedStr):
        parts = (v.value if isinstance(v, ast.Constant) else "X" for v in first.values)
        return "".join(str(p) for p in parts)
    return None


def test_every_refusal_of_the_engine_has_a_text_of_its_own() -> None:
    found = 0
    for path in ENGINE.glob("*.py"):
        for call in calls(path, "Refusal"):
            reason = reason_of(call)
            if reason is not None:
                found += 1
                key = text_key(Refused(reason, ""))
                assert key != "other", f"{path.name}: {reason}"
                assert key in ENGLISH["refused"]
    assert found > 60
    kinds = [k.__name__ for k in What.__subclasses__()]
    assert len(kinds) > 50
    for reason in ("bets closed: not while dealing", "hand voided needs a casino supervisor",
                   "x needs a casino supervisor or games supervisor"):  # fmt: skip
        assert text_key(Refused(reason, "")) in ("not while", "authority")


@pytest.mark.parametrize(
    ("who", "about", "cents", "line"),
    [
        ("SEAT 3", "PAY", 17500, "SEAT 3  PAY   175.00"),
        ("SEAT 3", "PAY", 12345678, "SEAT 3 PAY 123456.78"),
        ("SEAT 3", "PAY", 1_234_567_890, "SEAT 3 12,345,678.90"),
        ("SEAT 3", "COLLECT", 7500, "SEAT 3  COLLECT75.00"),
        ("POT", "", 2500, "POT            25.00"),
    ],
)
def test_the_amount_of_line_two_is_never_cut(who: str, about: str, cents: int, line: str) -> None:
    if about == "COLLECT":
        line = "SEAT 3 COLLECT 75.00"
    assert money_line(who, about, cents, DOLLARS) == line
    assert len(line) == 20
