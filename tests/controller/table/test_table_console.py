"""The key grammar of docs/protocols/console.md: every code literally, and what is refused."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from controller.rules.cards import HiddenCard, card
from controller.rules.engine import facts as f
from controller.rules.engine.entries import SignedOn, TableCall
from controller.rules.engine.facts import Role
from controller.rules.engine.opening import open_table
from controller.rules.hands import Hand
from controller.table.console import Console, Outcome, Wrong, needs_key
from controller.table.menu import MENU, Call, SignOn
from drivers.orders import ShowLamps
from tests.clauses.tables import SETTINGS, TODAY, base, table
from tests.controller.table.console_player import ConsolePlayer, Table, console_player

PAGE = Path(__file__).parents[3] / "docs" / "protocols" / "console.md"

CODES: list[tuple[str, object]] = [
    ("11 2", f.CardExposed(2)),
    ("12 1", f.CardExposed(1, community=True)),
    ("13", f.DealtWrong()),
    ("14 2 5", f.HandsRemapped(2, 5)),
    ("15 4", f.StrayHandFound(4)),
    ("16 0 3", f.CountFound(None, 3)),
    ("16 5 2", f.CountFound(5, 2)),
    ("17 3 1", f.HandVoided(3, "sanction")),
    ("17 3 2", f.HandVoided(3, "other")),
    ("18 1 52", f.CardFaultReported("foreign", 52)),
    ("18 2 51", f.CardFaultReported("short", 51)),
    ("18 3 53", f.CardFaultReported("excess", 53)),
    ("19 6 1", f.PlayerAbsent(6, viewed=True)),
    ("19 6 0", f.PlayerAbsent(6, viewed=False)),
    ("21 7", f.RideAllSignalled(7)),
    ("22 1 2500", f.WagersCorrected(1, 2500)),
    ("23 1", f.CorrectionRefused(1)),
    ("24 2", f.SeatLeftOut(2)),
    ("25", f.BonusCardTurned()),
    ("26", f.DealConfirmed()),
    ("27 3 1 1", f.DecisionCorrected(3, "1", "ride")),
    ("27 3 2 2", f.DecisionCorrected(3, "2", "withdraw")),
    ("28 4 1", f.SeatSettled(4, Hand.ROYAL_FLUSH)),
    ("28 4 10", f.SeatSettled(4, Hand.HIGH_CARD)),
    ("31 1", f.DeckChecked("red", passed=True)),
    ("32 2", f.DeckChecked("blue", passed=False)),
    ("33", f.DeckCut()),
    ("34 2 4711", f.DeckChanged("blue", "4711")),
    ("34 2 0", f.DeckChanged("blue")),
    ("35", f.CountOrdered()),
    ("36 1", f.DeckShuffled("red")),
    ("37 52", f.DeckCounted(52)),
    ("51 1", f.SupervisorRuled("resume", "console")),
    ("51 2", f.SupervisorRuled("play on", "console")),
    ("51 3", f.SupervisorRuled("void", "console")),
    ("51 4", f.SupervisorRuled("confirmed", "console")),
    ("51 5 073", f.SupervisorRuled("misread", "console", HiddenCard(card("7h")))),
    ("52 3 1", f.SeatRuled(3, "hand void", "console")),
    ("52 3 4", f.SeatRuled(3, "stays live", "console")),
    ("53 3 3 2500", f.WagerDeclared(3, "$", 2500)),
    ("54 3", f.WagerRefused(3, "console")),
    ("55 3", f.SeatExcluded(3, "console")),
    ("56 3", f.SeatReadmitted(3)),
    ("57 53", f.OrderDirected((5, 3), "console")),
    ("58 1 0", f.OutcomeInvalidated("disruption")),
    ("58 2 26", f.OutcomeInvalidated("fraud", (2, 6))),
    ("59", f.RulingSeconded()),
    ("61 3", f.DisputeRaised(3, "console")),
    ("62 3", f.DisputeDecided(3, "console")),
    ("63 1841 3 17500", f.PayCorrected(1841, 3, 17500, "console")),
    ("64 3 2 014", f.CardCorrected(3, 2, card("As"))),
    ("65 3", f.PlayerWarned(3, "console")),
    ("66 135", f.BreachNoted((1, 3, 5), "console")),
    ("71 500 20000", f.LimitsChanged(500, 20000)),
    ("72 1", f.SignShown("higher minimum")),
    ("72 2", f.SignShown("closing")),
    ("81 12 3456", SignOn("12", "3456", relief=False)),
    ("82 12 3456", SignOn("12", "3456", relief=True)),
    ("83", Call("table open")),
    ("84", Call("table close")),
    ("85", Call("day close")),
]


def typed(entry: str, turned: bool = True) -> Outcome:
    code, *arguments = entry.split()
    keys = ["MENU", *code]
    for argument in arguments:
        keys += [*argument, "ENTER"]
    console, state = Console(), open_table("MBS3", SETTINGS["MBS3"], TODAY)
    found: Outcome = None
    for key in keys:
        assert found is None
        found = console.press(key, state, None, turned)
    assert not console.busy
    return found


@pytest.mark.parametrize(("entry", "meant"), CODES)
def test_a_code_with_its_arguments_declares_this(entry: str, meant: object) -> None:
    assert typed(entry) == meant


def test_every_code_of_the_page_is_there_and_no_other() -> None:
    rows = re.findall(r"^\| ([0-9/ ]+) \|", PAGE.read_text("utf-8"), re.MULTILINE)
    on_page = {code for row in rows for code in re.findall(r"\b[1-8][0-9]\b", row)}
    assert on_page == set(MENU) == {entry.split()[0] for entry, _ in CODES}


def test_codes_marked_supervisor_on_the_page_need_the_key() -> None:
    marked = set()
    for line in PAGE.read_text("utf-8").splitlines():
        found = re.match(r"\| ([0-9/ ]+) \| .*supervisor", line)
        if found and "or as supervisor" not in line:
            marked |= set(re.findall(r"[1-8][0-9]", found[1]))
    marked -= {"61"}  # the page marks 62 alone in that row
    assert {code for code in MENU if needs_key(code)} == marked
    for entry, _ in CODES:
        if entry.split()[0] in marked:
            console, state = Console(), open_table("MBS3", SETTINGS["MBS3"], TODAY)
            outcomes = [console.press(k, state, None, False) for k in ("MENU", *entry[:2])]
            assert outcomes[-1] == Wrong("turn the key")


@pytest.mark.parametrize(
    ("keys", "wrong"),
    [
        ("MENU 9 9", "no such code"),
        ("MENU 2 4 8 ENTER", "no such seat"),
        ("MENU 2 4 ENTER", "type digits"),
        ("MENU 2 ENTER", "two digits"),
        ("MENU RIDE", "finish or clear"),
        ("MENU 3 1 3 ENTER", "no such deck"),
        ("MENU 2 7 1 ENTER 9 ENTER", "no such spot"),
        ("MENU 1 9 1 ENTER 2 ENTER", "no such choice"),
        ("MENU 6 6 1 1 ENTER", "seat twice"),
        ("MENU 3 7 1 2 3 4 5 6 7 8 9 0 1 2 3", "too long"),
        ("VOID 1 1 ENTER", "no such code"),
        ("VOID 1 3 1", "press enter"),
        ("8", "no such seat"),
        ("3 4", "one seat digit"),
        ("3 OPEN", "no seat here"),
        ("ENTER", "no menu entry"),
        ("RIDE", "not now"),
        ("3 RIDE", "not now"),
    ],
)
def test_a_wrong_entry_says_what_is_wrong(keys: str, wrong: str) -> None:
    console, state = Console(), open_table("MBS3", SETTINGS["MBS3"], TODAY)
    outcomes = [console.press(key, state, None, False) for key in keys.split()]
    assert outcomes[-1] == Wrong(wrong)
    assert outcomes[:-1] == [None] * (len(outcomes) - 1)


def test_void_takes_four_reasons_and_their_arguments() -> None:
    state = open_table("MBS3", SETTINGS["MBS3"], TODAY)
    for keys, meant in (
        ("VOID 1 3 ENTER", f.DealtWrong()),
        ("VOID 1 6 ENTER 0 ENTER 3 ENTER", f.CountFound(None, 3)),
        ("VOID 1 8 ENTER 2 ENTER 5 1 ENTER", f.CardFaultReported("short", 51)),
        ("VOID 5 8 ENTER 1 ENTER 0 ENTER", f.OutcomeInvalidated("disruption")),
    ):
        console = Console()
        assert [console.press(k, state, None, True) for k in keys.split()][-1] == meant


# --- at the table ------------------------------------------------------------------------------


def deciding(game: str = "MBS3") -> ConsolePlayer:
    """Seats 2 and 5 have their cards and seat 2 is asked."""
    croupier = table(game, {2: "TcTd7h", 5: "2c3d9h"}, "4s5s")
    hand = console_player(croupier, {2: base(1000), 5: base(500)})
    while not hand.table.lines[0].startswith("DECISION"):
        hand.do(hand.words[0])
    return hand


def test_a_key_is_for_the_prompted_seat_unless_a_seat_was_typed() -> None:
    table_ = deciding().table
    assert table_.lines == (
        "DECISION 1       R 1", "SEAT 2  1      10.00", "1: BACK OR RIDE?", "RIDE BACK HANDLED",
    )  # fmt: skip
    table_.press("5", "RIDE")
    assert table_.lines[2] == "ANOTHER SEAT FIRST"
    assert not [w for w in table_.facts if isinstance(w, f.Decided)]
    table_.press("RIDE")
    table_.press("5", "BACK")
    decided = [w for w in table_.facts if isinstance(w, f.Decided)]
    assert decided == [f.Decided(2, "1", "ride"), f.Decided(5, "1", "withdraw")]
    assert table_.said_by[-1][1] == f.Declared("D1", Role.DEALER)


def test_undo_takes_back_the_last_decision_until_the_next_seat_is_confirmed() -> None:
    table_ = deciding().table
    table_.press("BACK", "UNDO")
    assert table_.told() == f.DecisionCorrected(2, "1", "ride")
    table_.press("RIDE", "COMM1", "UNDO")
    assert table_.lines[2] == "TOO LATE TO UNDO"
    assert table_.told() == f.CommunityTurned(1)


def test_undo_before_any_decision_changes_nothing() -> None:
    table_ = deciding().table
    count = len(table_.facts)
    table_.press("UNDO")
    assert (table_.lines[2], len(table_.facts)) == ("NOTHING TO UNDO", count)


def test_handled_is_for_all_or_for_the_seat_typed() -> None:
    table_ = deciding().table
    table_.press("5", "HANDLED", "HANDLED")
    assert table_.facts[-2:] == [f.CardsHandled(5), f.CardsHandled(None)]


def test_the_turned_key_makes_the_supervisor_declare() -> None:
    table_ = deciding().table
    table_.menu("17")
    assert table_.lines[2] == "TURN THE KEY"
    table_.as_supervisor("17", 5, 1)
    assert table_.said_by[-1][:2] == (
        f.HandVoided(5, "sanction"), f.Declared("S1", Role.CASINO_SUPERVISOR),
    )  # fmt: skip
    assert table_.lamps[4] == "void"


def test_clear_forgets_and_call_lights_the_beacon() -> None:
    table_ = deciding().table
    table_.press("MENU", "2", "4", "5")
    assert table_.lines[2:] == ("MENU 24 SEAT?5_", "ENTER CLEAR")
    table_.press("CLEAR")
    assert table_.lines[3] == "RIDE BACK HANDLED"
    table_.press("CALL")
    assert table_.last(ShowLamps).beacon
    table_.press("CALL")
    assert not table_.last(ShowLamps).beacon


def test_a_pin_and_a_hidden_card_are_stars() -> None:
    table_ = deciding().table
    table_.press("MENU", "8", "1", "7", "ENTER", "1", "2")
    assert table_.lines[2] == "MENU 81 PIN?**_"
    table_.press("CLEAR")
    table_.turn_key(True)
    table_.press("MENU", "5", "1", "5", "ENTER", "0", "7")
    assert table_.lines[2] == "MENU 51 CARD?**_"


def test_an_amount_is_shown_as_money_while_it_is_typed() -> None:
    table_ = deciding("NSW").table
    table_.press("MENU", "2", "2", "5", "ENTER", "2", "5", "0", "0")
    assert table_.lines[2] == "MENU 22 AMT?25.00_"


class Register:
    def check(self, staff_id: str, pin: str) -> tuple[str, frozenset[Role]] | None:
        known = {
            ("12", "3456"): ("D7", frozenset((Role.DEALER,))),
            ("90", "1111"): ("S9", frozenset((Role.GAMES_SUPERVISOR, Role.DEALER))),
        }
        return known.get((staff_id, pin))


def signing(**options: object) -> Table:
    return Table(open_table("PP6", SETTINGS["PP6"], TODAY), Register(), dict(options))


def test_nobody_declares_before_signing_on() -> None:
    table_ = signing(dealer=None, supervisor=None)
    table_.menu("36", 1)
    assert (table_.lines[2], table_.facts) == ("SIGN ON: MENU 81", [])
    table_.menu("81", 12, 9999)
    assert table_.lines[2] == "ID OR PIN WRONG"
    table_.menu("81", 12, 3456)
    table_.menu("36", 1)
    assert table_.said_by[0][1] == f.Declared("D7", Role.DEALER)
    signed = SignedOn("D7", Role.DEALER, None, table_.core.outbox[0].at_ms)  # type: ignore[union-attr]
    assert table_.core.outbox[0] == signed
    assert table_.entries[0] == (signed, None)


def test_relief_names_who_left_and_a_supervisor_leaves_with_the_key() -> None:
    table_ = signing()
    table_.menu("82", 12, 3456)
    (relief,) = table_.core.outbox
    assert isinstance(relief, SignedOn)
    assert (relief.person, relief.relieved) == ("D7", "D1")
    table_.turn_key(True)
    table_.menu("81", 90, 1111)
    table_.menu("55", 3)
    assert table_.said_by[-1][1] == f.Declared("S9", Role.GAMES_SUPERVISOR)
    table_.turn_key(False)
    table_.turn_key(True)
    table_.menu("56", 3)
    assert table_.said_by[-1][1] == f.Declared("S1", Role.CASINO_SUPERVISOR)


def test_a_closed_table_does_not_open_bets_until_it_is_opened() -> None:
    table_ = signing()
    table_.menu("36", 1)
    table_.as_supervisor("84")
    assert isinstance(table_.core.outbox[-1], TableCall)
    assert table_.lines[2:] == ("TABLE IS CLOSED", "KEY MENU 83")
    table_.press("OPEN")
    assert not [w for w in table_.facts if isinstance(w, f.BetsOpened)]
    table_.as_supervisor("83")
    table_.press("OPEN")
    assert table_.told() == f.BetsOpened()
    table_.as_supervisor("84")
    assert table_.lines[2] == "END THE ROUND FIRST"
