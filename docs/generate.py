"""Prints the pages that are made from the code: ``python -m docs.generate`` writes them.

A test fails when a page is not what the code says.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from pathlib import Path
from textwrap import fill
from typing import Final

from controller.commands.demo import play
from controller.demo.narrator import Narrator
from controller.rules import events as ev
from controller.rules.books import BOOKS
from controller.rules.engine.authority import AUTHORITY
from controller.rules.engine.phases import ANYWHERE, TABLE
from controller.rules.engine.state import Phase
from controller.rules.rulings import Ruling, rule_on
from controller.rules.settings import MONEY_SPEC, TABLE_SPEC, default_of
from docs import menu_page
from docs.faults import catalogue, faults_page
from docs.link_schema import link_schema
from docs.manual import completion, manual
from docs.package_map import picture, purposes
from docs.picture import terminal
from docs.shell_verbs import shell_page
from tests.conformance.clauses import ROOT, load_clauses, load_pending, marked_tests
from tests.trace.card import first_card
from web.routes import api_document

NOTE = "<!-- Printed from the code by `make docs`; do not edit. -->\n\n"


def _prose(text: str) -> str:
    """A paragraph, wrapped as on every page."""
    return fill(text, 100, break_long_words=False, break_on_hyphens=False) + "\n\n"


def _table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    lines = [tuple(head), *(tuple(row) for row in rows)]
    lines.insert(1, tuple("---" for _ in lines[0]))
    return "".join("| " + " | ".join(c.replace("|", "/") for c in line) + " |\n" for line in lines)


# --- conformance -------------------------------------------------------------------------------


def conformance() -> str:
    clauses, shown, pending = load_clauses(), marked_tests(), load_pending()
    roles = sorted({c.role for c in clauses})
    text = "# Conformance\n\n" + NOTE
    text += _prose(
        "Every clause of the five rule books, what the controller does about it, and the tests "
        "that show it. A test that carries an engine clause fails when that clause's rule is "
        "switched off ([mutation run](reports/mutation.md))."
    )
    counts = []
    for role in roles:
        mine = [c for c in clauses if c.role == role]
        waits = sum(c.id in pending for c in mine)
        counts.append((role, str(len(mine)), str(sum(c.id in shown for c in mine)), str(waits)))
    text += _table(("role", "clauses", "shown by tests", "pending"), counts) + "\n"
    if pending:
        text += "## Pending, by the part that will show them\n\n"
        for part in sorted(set(pending.values())):
            ids = ", ".join(c.id for c in clauses if pending.get(c.id) == part)
            text += fill(f"* **{part}**: {ids}", 100, subsequent_indent="  ") + "\n"
        text += "\n"
    for key, book in BOOKS.items():
        text += f"## {key}: {book.title}\n\n"
        rows = []
        for c in clauses:
            if c.book != key:
                continue
            tests = "<br>".join(_test_link(t) for t in shown.get(c.id, []))
            if not tests:
                tests = f"*pending: {pending[c.id]}*" if c.id in pending else "*information*"
            rows.append((c.id, c.paraphrase, c.expected, tests))
        text += _table(("clause", "it says", "the controller", "tests"), rows) + "\n"
    return text


def _test_link(test: str) -> str:
    path, name = test.split("::")
    return f"[{name.removeprefix('test_')}](../{path})"


# --- phases ------------------------------------------------------------------------------------


def phases() -> str:
    text = "# Phases and facts\n\n" + NOTE
    text += _prose(
        "`step(state, fact)` looks a fact up in the row of the phase. A fact that is not listed "
        "is refused and changes nothing. Facts in *italics* need a supervisor."
    )
    for family, table in TABLE.items():
        text += f"## {family.title()}\n\n"
        rows = []
        for phase in Phase:
            if phase in table:
                rows.append((phase.name, phase.value, ", ".join(map(_fact, table[phase]))))
        text += _table(("phase", "meaning", "facts accepted"), rows) + "\n"
    text += "## In every phase\n\n" + _prose(", ".join(map(_fact, ANYWHERE))).removesuffix("\n")
    return text


def _fact(kind: type) -> str:
    return f"*{kind.__name__}*" if kind in AUTHORITY else kind.__name__


def menu() -> str:
    text = "# The menu: who, when, and how it is undone\n\n" + NOTE
    text += _prose(
        "The codes are explained on the [console page](../protocols/console.md). The result is "
        "known once the last community card is turned. In Ricochet the confirmed deal decides the "
        "bonus wagers, which are paid at once. From then on a report that would take something "
        "from a player waits for the supervisor (MENU 51). Once a seat is paid, or the round is "
        "closed, two people must agree (MENU 51, then MENU 59)."
    )
    return text + _table(menu_page.HEAD, menu_page.rows())


# --- events ------------------------------------------------------------------------------------

_CASES: tuple[tuple[str, ev.Event], ...] = (
    ("foreign_card", ev.ForeignCard()),
    ("foreign_card, after the round", ev.ForeignCard(True)),
    ("deck_count 51", ev.DeckCount(51)),
    ("deck_count 51, after the round", ev.DeckCount(51, True)),
    ("dealt_incorrectly, not handled", ev.DealtIncorrectly(False)),
    ("dealt_incorrectly, reconstructed", ev.DealtIncorrectly(False, True)),
    ("dealt_incorrectly, handled", ev.DealtIncorrectly(True)),
    ("community_count 3", ev.CommunityCount(3)),
    ("community_count 3, after the next game began", ev.CommunityCount(3, False, False, True)),
    ("player_card_count 4, not handled", ev.PlayerCardCount(1, 4)),
    ("player_card_count 4, handled", ev.PlayerCardCount(1, 4, True)),
    ("player_card_count 4, reconstructed", ev.PlayerCardCount(1, 4, False, True)),
    ("exposed_cards 1", ev.ExposedCards(1)),
    ("exposed_cards 2", ev.ExposedCards(2)),
    ("exposed_cards, community", ev.ExposedCards(1, True)),
    ("exposed_cards, community, handled", ev.ExposedCards(1, True, True)),
    ("exposed_cards 1, handled", ev.ExposedCards(1, False, True)),
    ("late_wager", ev.LateWager(1, "$", 500)),
    ("late_withdrawal of 1", ev.LateWithdrawal(1, "1")),
    ("hand_dealt_no_wager, not handled", ev.HandDealtNoWager(2)),
    ("hand_dealt_no_wager, handled", ev.HandDealtNoWager(2, True)),
    ("absent_player, not viewed", ev.AbsentPlayer(1, False)),
    ("absent_player, viewed", ev.AbsentPlayer(1, True)),
    ("shuffler_malfunction, 4 cards out", ev.ShufflerMalfunction(4)),
    ("unequal_wagers, corrected, not handled", ev.UnequalWagers(1, False, "corrected", 500)),
    ("unequal_wagers, corrected, handled", ev.UnequalWagers(1, True, "corrected", 500)),
    ("unequal_wagers, fold, not handled", ev.UnequalWagers(1, False, "fold")),
    ("unequal_wagers, refused, handled", ev.UnequalWagers(1, True, "refused")),
    ("wagers_voided_by_supervisor", ev.WagersVoidedBySupervisor(1)),
    ("game_invalidated", ev.GameInvalidated()),
    ("game_invalidated, seat 1 forfeits", ev.GameInvalidated((1,))),
)
_WORDS = {
    "VoidRound": "round void",
    "AskSupervisor": "supervisor",
    "VoidHand": "hand void",
    "HoldSeat": "seat to the supervisor",
    "RefusePart": "that part refused",
    "KeepLive": "stays live",
    "RideFrom": "rides",
    "CorrectTo": "corrected",
    "Forfeit": "forfeit",
}


def event_clauses() -> str:
    text = "# From event to clause\n\n" + NOTE
    text += _prose(
        "What each book rules on an irregularity, and the clause that a result names for it. "
        '"-" has no effect on money.'
    )
    rows = []
    for name, event in _CASES:
        cells = [name]
        for book in BOOKS.values():
            cells.append(", ".join(map(_ruling, rule_on(book.rulings, (event,)))) or "-")
        rows.append(cells)
    return text + _table(("event", *BOOKS), rows)


def _ruling(ruling: Ruling) -> str:
    clause = getattr(ruling, "clause", None)
    return _WORDS[type(ruling).__name__] + (f" ({clause})" if clause else "")


# --- settings ----------------------------------------------------------------------------------


def settings() -> str:
    text = "# Settings\n\n" + NOTE
    text += _prose(
        "All settings of a table. Those of the first table travel in a round record and are "
        "optional there. A setting required by a game has no safe default: a table does not open "
        "without it."
    )
    for title, spec in (("What decides money", MONEY_SPEC), ("The table", TABLE_SPEC)):
        rows = []
        for name, one in spec.items():
            meta = one.metadata
            required = ", ".join(meta["required"]) or "-"
            rows.append(
                (
                    f"`{name}`",
                    _default(default_of(one)),
                    ", ".join(meta["games"]),
                    required,
                    meta["text"],
                )
            )
        text += f"## {title}\n\n"
        text += _table(("setting", "default", "games", "required by", "meaning"), rows) + "\n"
    return text


def _default(value: object) -> str:
    return "none" if value is None else f"`{str(value).lower()}`"


# --- the picture of the README -----------------------------------------------------------------


def settled_round() -> str:
    """A round as the demo tells it: straight flush, a share of the jackpot, envy."""
    told: list[str] = []
    narrator = Narrator(told.append, colour=False)
    narrator.title("MBS3  Let It Ride (MBS), version 3")
    play("MBS3", 3, narrator)
    return terminal("underfelt demo --game MBS3", "".join(told).strip("\n").split("\n"))


def architecture() -> str:
    """The page as it is, with the parts between its marks printed again."""
    text = (Path(ROOT) / "docs/architecture.md").read_text("utf-8")
    trace = first_card()
    files = "".join(f"{at}. `{file}`\n" for at, file in enumerate(trace.files, 1))
    said = (
        f"{sum(trace.calls.values())} calls of {trace.functions} functions in {len(trace.files)} "
        "files, from the bytes of the frame to the last order.\n`step`, the encoding, the append, "
        "the sync and the hand-over to the writer each happen once\n(`tests/trace/`).\n\n"
    )
    text = _between(text, "the packages", purposes())
    return _between(text, "the card's path", f"{said}{files}")


def _between(text: str, name: str, inside: str) -> str:
    """The page with ``inside`` between its marks of this name."""
    mark = f"<!-- {{}} of {name}, printed by `make docs` -->\n"
    begin, end = mark.format("begin"), mark.format("end")
    head, _, rest = text.partition(begin)
    return f"{head}{begin}\n{inside}\n{end}{rest.partition(end)[2]}"


def clauses() -> str:
    """What each clause says, for the pages in the browser."""
    text = "# Printed from docs/rules/clauses.csv by `make docs`; do not edit.\n\n[clauses]\n"
    for one in load_clauses():
        said = json.dumps(one.paraphrase, ensure_ascii=False)
        text += f"{json.dumps(one.id, ensure_ascii=False)} = {said}\n"
    return text


def web_api() -> str:
    """The OpenAPI document of the web process."""
    return json.dumps(api_document(), indent=1) + "\n"


PRINTED: Final[dict[str, Callable[[], str]]] = {
    "docs/conformance.md": conformance,
    "docs/rules/phases.md": phases,
    "docs/rules/menu.md": menu,
    "docs/rules/events.md": event_clauses,
    "docs/rules/settings.md": settings,
    "docs/settled-round.svg": settled_round,
    "docs/packages.svg": picture,
    "docs/architecture.md": architecture,
    "docs/protocols/link.schema.json": link_schema,
    "docs/operations/shell.md": shell_page,
    "docs/protocols/faults.md": faults_page,
    "controller/faults/faults.toml": catalogue,
    "web/clauses.toml": clauses,
    "web/codes.toml": catalogue,
    "docs/protocols/web.openapi.json": web_api,
    "docs/completion/underfelt.bash": completion,
}
"""Beside these there are the manual pages, one for each command."""


def manual_pages() -> dict[str, str]:
    return {f"docs/man/{name}": text for name, text in manual().items()}


def main() -> None:
    made = {path: print_page() for path, print_page in PRINTED.items()} | manual_pages()
    for path, text in made.items():
        target = Path(ROOT) / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, "utf-8")


if __name__ == "__main__":
    main()
