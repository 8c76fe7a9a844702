"""Pages for people at the table name the menu codes that do what the page says."""

from __future__ import annotations

import re
from pathlib import Path

from controller.rules.engine import facts as f
from controller.rules.engine.opening import open_table
from controller.table.menu import MENU, meaning
from tests.clauses.tables import SETTINGS, TODAY

OPERATIONS = Path(__file__).parents[3] / "docs" / "operations"
SAID = {
    "declares the wager by hand": (f.WagerDeclared, ("3", "1", "500")),
    "leaves the seat out": (f.SeatLeftOut, ("3",)),
    "rules that the credit counts": (f.SeatRuled, ("3", "4")),
}


def test_a_menu_code_on_an_operations_page_exists() -> None:
    text = "".join(page.read_text("utf-8") for page in sorted(OPERATIONS.glob("*.md")))
    assert set(re.findall(r"MENU (\d\d)", text)) <= set(MENU)


def test_the_night_shift_names_the_code_that_does_what_it_says() -> None:
    text = (OPERATIONS / "night-shift.md").read_text("utf-8")
    state = open_table("MBS3", SETTINGS["MBS3"], TODAY)
    for phrase, (fact, given) in SAID.items():
        found = re.search(rf"{phrase}[^()]*\((?:KEY, )?MENU (\d\d)", text)
        assert found is not None, phrase
        assert isinstance(meaning(found[1], given, state), fact), phrase
