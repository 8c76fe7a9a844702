"""A line becomes a verb and its words, or a refusal that names the word and the choices."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.shell.errors import EXIT, VerbRefused
from controller.shell.parse import checked, complete, parse, split
from controller.shell.verbs import ROLES, VERBS, Verb, Word

LIVE = {"device": ["chips-1", "shoe", "sign"], "seat": ["1", "2", "pot"], "round": ["6", "7"]}
TABLE = {
    verb.name: verb
    for verb in (
        Verb("device", "", words=(Word("device", "device"),)),
        Verb("chips", "", words=(Word("seat", "seat"),)),
        Verb("round", "", words=(Word("round", "round", optional=True),)),
        Verb("faults", "", words=(Word("code", "code", optional=True),)),
        Verb("test on", "", "technician"),
        Verb("test off", "", "technician"),
        Verb("reboot", "", "technician", (Word("confirm", "choice", ("yes",), optional=True),)),
        Verb("help", "", words=(Word("verb", "verb", optional=True),)),
    )
}


def said(line: str) -> str:
    with pytest.raises(VerbRefused) as refused:
        parse(split(line), LIVE, TABLE)
    return str(refused.value)


def test_a_line_is_a_verb_and_words_by_name() -> None:
    assert parse(split("device shoe"), LIVE, TABLE) == (TABLE["device"], {"device": "shoe"})
    assert parse(split(" round  007 "), LIVE, TABLE) == (TABLE["round"], {"round": "7"})
    assert parse(split("round"), LIVE, TABLE) == (TABLE["round"], {})
    assert parse(split("test on"), LIVE, TABLE) == (TABLE["test on"], {})
    assert parse(split("faults e-tbl-003"), LIVE, TABLE).words == {"code": "E-TBL-003"}
    assert parse(split("chips pot"), LIVE, TABLE).words == {"seat": "pot"}
    assert parse(split("help test on"), LIVE, TABLE).words == {"verb": "test on"}
    assert parse(split("help test"), LIVE, TABLE).words == {"verb": "test"}


@pytest.mark.parametrize(
    ("line", "text"),
    [
        ("devise shoe", "devise: no such verb; did you mean device? (E-SHL-006)"),
        ("device", "device: DEVICE is missing; one of chips-1, shoe, sign (E-SHL-006)"),
        ("device shou", "shou: no such device; one of chips-1, shoe, sign (E-SHL-008)"),
        ("chips 8", "8: no such seat; one of 1, 2, pot (E-SHL-006)"),
        ("round -1", "-1: expected a number for [ROUND] (E-SHL-006)"),
        ("round 1234567890", "1234567890: expected a number for [ROUND] (E-SHL-006)"),
        ("round 1 2", "2: one word too many; expected: round [ROUND] (E-SHL-006)"),
        ("faults TBL", "TBL: expected a code, as E-TBL-003 (E-SHL-006)"),
        ("test", "test: a word is missing; one of on, off (E-SHL-006)"),
        ("test up", "test up: no such verb; one of on, off (E-SHL-006)"),
        ("help test up", (
            "test up: no such verb; one of device, chips, round, faults, test on, test off, "
            "reboot, help (E-SHL-006)"
        )),
        ("reboot no", "no: no such confirm; one of yes (E-SHL-006)"),
        ("rou\x1bnd", "word 1: expected 1 to 64 letters, digits and signs of ASCII (E-SHL-006)"),
        ("rounds;ls", "rounds;ls: no such verb; did you mean round? (E-SHL-006)"),
        ("a " * 9, "9 words; expected at most 8 (E-SHL-006)"),
        ("a" * 513, "a line of 513 characters; expected at most 512 (E-SHL-006)"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named_with_the_choices(line: str, text: str) -> None:
    assert said(line) == text


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("", ["chips", "device", "faults", "help", "reboot", "round", "test"]),
        ("d", ["device"]),
        ("device ", ["chips-1", "shoe", "sign"]),
        ("device s", ["shoe", "sign"]),
        ("device shoe ", []),
        ("test ", ["off", "on"]),
        ("chips ", ["1", "2", "pot"]),
        ("reboot ", ["yes"]),
        ("round ", ["6", "7"]),
        ("help te", ["test"]),
        ("help test ", ["off", "on"]),
        ("help test on ", []),
        ("xyz ", []),
    ],
)
def test_tab_offers_what_may_stand_there(line: str, offered: list[str]) -> None:
    assert complete(line, LIVE, TABLE) == offered


@given(st.text(max_size=600))
def test_any_line_is_words_or_refused(line: str) -> None:
    why: VerbRefused | None = None
    try:
        parse(split(line), LIVE, TABLE)
    except VerbRefused as refused:
        why = refused
    assert why is None or (why.code in EXIT and why.text.isprintable())
    complete(line, LIVE, TABLE)


@given(st.recursive(st.none() | st.integers() | st.text(), st.lists))
def test_any_json_is_words_or_refused(value: object) -> None:
    code = ""
    try:
        assert checked(value) is value
    except VerbRefused as refused:
        code = refused.code
    assert code in ("", "E-SHL-006")


def test_the_table_of_verbs_is_in_order() -> None:
    for name, verb in VERBS.items():
        assert verb.name == name
        assert verb.role in ROLES
        assert verb.help
        assert len(name.split()) <= 2
        seen = False
        for word in verb.words:
            assert word.optional or not seen, "what must be given comes first"
            seen = word.optional
