"""Every fault verb of the simulator page has a test, and nonsense is refused with what would do."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from hw_sim.faults import VERBS, FaultError
from tests.sim.faults_bench import Bench

HERE = Path(__file__).resolve().parent
PAGE = HERE.parents[1] / "docs" / "protocols" / "simulator.md"


def test_the_page_and_the_table_of_verbs_name_the_same_verbs() -> None:
    section = PAGE.read_text("utf-8").split("## 3. Fault verbs")[1].split("## 4.")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    assert {verb for row in rows for verb in re.findall(r"`(\w+)`", row)} == set(VERBS)


def test_the_page_and_the_table_of_verbs_name_the_same_arguments() -> None:
    section = PAGE.read_text("utf-8").split("## 3. Fault verbs")[1].split("## 4.")[0]
    rows = [line.split("|") for line in section.splitlines() if line.startswith("| `")]
    page = {v: row[2].strip() for row in rows for v in re.findall(r"`(\w+)`", row[1])}
    assert page == {verb: arguments for verb, (arguments, _) in VERBS.items()}


@pytest.mark.parametrize("verb", VERBS)
def test_the_verb_is_used_in_a_test_of_faults(verb: str) -> None:
    texts = [p.read_text("utf-8") for p in HERE.glob("test_faults_*.py") if p != Path(__file__)]
    used = re.compile(rf"[\"'](?:fault )?{verb}(?=[ \"'])")
    assert any(used.search(text) for text in texts)


@pytest.mark.parametrize(
    ("sentence", "names"),
    [
        ("", "unplug"),
        ("explode shoe", "unplug"),
        ("unplug", "1 argument"),
        ("unplug keys-1", "chips-1, chips-2, shoe, sign"),
        ("nak shoe", "keys-1"),
        ("pin window 1", "door"),
        ("flip shoe 2", "from 0 to 1"),
        ("flip shoe often", "from 0 to 1"),
        ("split shoe long", "whole number"),
        ("dead keys-1", "not a display"),
        ("backwards sign 1", "card device"),
        ("flap 9 $", "from 0 to 7"),
        ("flap 3 nowhere", "no antenna"),
        ("unplug shoe now", "1 argument"),
        ("swap shoe shoe", "another line"),
        ("crossed 1 1 1 1", "another spot"),
        ("bounce door 1 100000000", "from 1 to 1000"),
        ("repeat shoe -1", "from 1 to 100"),
        ("mistake 7c 9x", "a card such as"),
        ("lid ajar", "open or expected closed"),
        ("nak keys-1 often", "from 0 to 1000000 or expected off"),
        ("heldkey ANY", "OPEN"),
    ],
)
def test_a_sentence_that_makes_no_sense_is_refused_and_says_what_would(
    sentence: str, names: str
) -> None:
    with pytest.raises(FaultError, match=re.escape(names)):
        Bench().fault(sentence)
