"""A command with verbs: one mechanism for the table's commands and the server's."""

from __future__ import annotations

import json
import os
from argparse import ArgumentParser, Namespace
from importlib import import_module

import pytest

from controller.cli import COMMANDS
from record.kit.verbs import Answer, Command, Misuse, Stop, Verb, add_json

WITH_VERBS = [
    name for name in ("chips", "config", "journal", "staff", "link", "keys", "accounts", "jackpot",
                      "report") if name in COMMANDS
]  # fmt: skip


class Torn(Exception):
    pass


def declare(parser: ArgumentParser) -> None:
    parser.add_argument("how", nargs="?", default="well")


def act(options: Namespace) -> Answer | int:
    if options.how == "torn":
        raise Torn("torn")
    if options.how == "stop":
        raise Stop("one\ntwo\x1b[2J", os.EX_NOINPUT)
    if options.how == "together":
        raise Misuse("not together")
    return (os.EX_OK, {"how": options.how}, f"it goes {options.how}")


COMMAND = Command(
    "try",
    "Tries.",
    {"it": Verb(declare, act, "try it", "it"), "longer": Verb(declare, act, "more", "longer")},
    common=add_json,
    stops={Torn: lambda _: Stop("f: torn", os.EX_DATAERR, [{"code": "E-TRY-001"}], bare=True)},
)


@pytest.mark.parametrize("name", WITH_VERBS)
def test_every_command_with_verbs_declares_them_alike(name: str) -> None:
    verbs = import_module(COMMANDS[name][0]).VERBS
    assert all(isinstance(verb, Verb) for verb in verbs.values())


def test_help_lists_the_verbs_in_one_column(capsys: pytest.CaptureFixture[str]) -> None:
    assert COMMAND.run(["--help"]) == os.EX_OK
    assert "  it      try it\n  longer  more\n" in capsys.readouterr().out
    assert COMMAND.run([]) == os.EX_USAGE
    assert capsys.readouterr().err.startswith("usage: underfelt try VERB")


def test_an_unknown_verb_is_a_wrong_use_that_names_a_near_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert COMMAND.run(["longest"]) == os.EX_USAGE
    said = capsys.readouterr().err
    assert said == "underfelt try: no verb 'longest'; did you mean longer?\n"


def test_an_answer_is_for_people_or_for_machines(capsys: pytest.CaptureFixture[str]) -> None:
    assert COMMAND.run(["it"]) == os.EX_OK
    assert capsys.readouterr().out == "it goes well\n"
    assert COMMAND.run(["it", "--json"]) == os.EX_OK
    assert json.loads(capsys.readouterr().out) == {"ok": True, "how": "well"}


def test_every_line_of_a_stop_names_the_command_and_moves_no_cursor(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert COMMAND.run(["it", "stop"]) == os.EX_NOINPUT
    told = capsys.readouterr()
    assert told.err == "underfelt try it: one\nunderfelt try it: two\\x1b[2J\n"
    assert told.out == ""


def test_an_error_of_the_commands_own_is_told_as_it_says(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert COMMAND.run(["it", "torn", "--json"]) == os.EX_DATAERR
    told = capsys.readouterr()
    assert told.err == "f: torn\n"
    assert json.loads(told.out) == {"ok": False, "problems": [{"code": "E-TRY-001"}]}


def test_arguments_that_are_wrong_together_end_like_wrong_ones(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with pytest.raises(SystemExit) as end:
        COMMAND.run(["it", "together"])
    assert end.value.code == os.EX_USAGE
    assert "usage: underfelt try it" in capsys.readouterr().err
