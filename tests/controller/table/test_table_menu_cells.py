"""Every cell of the printed menu table, in every game, is what the engine does.

Prefixes of played rounds bring each game into each of its phases; every code is then typed there
with every sensible argument, by the dealer, by a supervisor with the key, and by two people.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache
from itertools import product

import pytest

from controller.demo.scripted_dealer import CHIPS, DEALER_AT_TABLE, SHOE, SUPERVISOR
from controller.rules.books import BOOKS
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.common import POT, POT_SEAT, walk
from controller.rules.engine.deal import assign
from controller.rules.engine.phases import TABLE
from controller.rules.engine.state import Phase, TableState
from controller.rules.engine.step import step
from controller.table.console import Console, Wrong, needs_key
from controller.table.menu import MENU, BadEntry, meaning, spots_of
from docs import menu_page
from tests.clauses.tables import base, table
from tests.controller.rules.test_owed import SEATS, changes, harms
from tests.controller.rules.test_owed import SECOND as OTHER
from tests.controller.table.console_player import Table

GAMES = tuple(BOOKS)
AT_MS = 5_000_000
"""Signs of the prefixes have stood for more than their twenty minutes."""
FACTS = [code for code in MENU if menu_page.kind_of(code) is not None]
ARGUMENTS = {
    "seat": ("2", "5", "3"), "seat or 0": ("0", "2", "5"), "seats": ("2", "52"),
    "seats or 0": ("0", "2"), "count": ("1", "2", "3"), "amount": ("0", "500"), "round": ("1", "2"),
    "card": ("022",), "deck": ("1", "2"), "seal": ("0",), "fault": ("1", "2"),
    "reason": ("1",), "viewed": ("0", "1"), "choice": ("1", "2"),
    "class": ("1", "10"), "ruling": ("1", "2", "3", "4"), "seat ruling": ("1", "2", "3", "4"),
    "place": ("1", "2", "3"), "sign": ("1", "2"), "cause": ("1", "2"),
}  # fmt: skip
DECK_COUNTS = ("51", "52")


def entries(code: str, state: TableState) -> Iterator[f.What]:
    """What a code declares, with every sensible argument."""
    choices: list[tuple[str, ...]] = []
    for name in MENU[code].arguments:
        if name == "spot":
            choices.append(tuple(str(n + 1) for n in range(len(spots_of(state)))))
        else:
            choices.append(DECK_COUNTS if (code, name) in ON_DECKS else ARGUMENTS[name])
    for given in product(*choices):
        try:
            what = meaning(code, given, state)
        except BadEntry:
            continue
        assert isinstance(what, f.What)
        yield what


ON_DECKS = (("18", "count"), ("37", "count"))


# --- prefixes ----------------------------------------------------------------------------------

WAGERS = {
    "MBS3": base(500, progressive=100), "MEGA": base(500, progressive=100), "NSW": base(500),
    "PP6": base(500, pair_plus=500, six_card=500),
    "RICO": {"ante": 500, "rapid_fire": 500, "hedge": 500},
}  # fmt: skip
UNKNOWN = f.UnknownCardSeen()
CONFIRMED, VOID = f.SupervisorRuled("confirmed"), f.SupervisorRuled("void")
AGREED, HAND_VOID = f.RulingSeconded(), f.SeatRuled(2, "hand void")


class Prefixes:
    """Two rounds of a game, with a snapshot of the state at each place the second comes to."""

    def __init__(self, game: str) -> None:
        ricochet, six = game == "RICO", game == "PP6"
        hands = {2: "AsKs", 5: "3c5d"} if ricochet else {2: "AsKsQs", 5: "3c5d8h"}
        dealer = "AhKd9c7s3d" if ricochet else "Js2dTs" if six else "JsTs"
        self.game = game
        self.croupier = table(game, hands, dealer)
        self.found: dict[str, TableState] = {}
        self.keep("fresh")
        deck = list(self.croupier.deck)
        for _ in range(2):  # the second round has a closed one behind it
            self.croupier.deck = list(deck)
            self.betting()
            (self.ricochet if ricochet else self.let_it_ride)()
            self.keep("closed")
        self.asides()

    def keep(self, name: str) -> None:
        self.found[name] = self.croupier.state

    def betting(self) -> None:
        croupier = self.croupier
        croupier.prepare()
        croupier.do(f.SignShown("higher minimum"))
        croupier.do(f.BetsOpened())
        self.keep("nobody bets")
        for number, (spot, cents) in product(SEATS, WAGERS[self.game].items()):
            croupier.place(number, spot, cents)
        if self.game == "RICO":
            croupier.do(f.WagerRead(POT_SEAT, POT, 500), CHIPS)
        self.keep("betting")
        croupier.do(f.BetsClosed())
        self.keep("locked")
        croupier.deal_one()
        self.keep("dealing")
        croupier.deal()

    def let_it_ride(self) -> None:
        croupier = self.croupier
        self.keep("dealt")
        croupier.do(f.CardsHandled())
        self.keep("handled")
        for number in (1, 2):
            croupier.do(f.Decided(2, str(number), "ride"))
            self.keep(f"seat 2 has decided {number}")
            croupier.decide()
            croupier.turn(number)
            self.keep(f"turned {number}")
        croupier.do(f.HandOpened(5))
        self.keep("seat 5 open")
        croupier.do(f.SeatSettled(5))
        for spot in ("1", "2", "$", "pair_plus"):
            croupier.take(5, spot)
        self.keep("seat 5 paid")
        croupier.do(f.HandOpened(2))
        self.keep("seat 2 open")
        if croupier.state.claims:
            croupier.do(f.JackpotLocked(croupier.state.meter), f.Measured("link"))
            self.keep("jackpot locked")
        croupier.do(f.SeatSettled(2))
        self.keep("all paid")
        croupier.settle()

    def ricochet(self) -> None:
        croupier = self.croupier
        self.keep("dealt")
        croupier.do(f.DealConfirmed())
        for number, spot in product(SEATS, ("rapid_fire", "hedge")):
            croupier.take(number, spot)
        self.keep("acting")
        number = self.to_act()
        croupier.do(f.WagerRead(number, "play", 500), CHIPS)
        croupier.do(f.Played(number))
        self.keep("drawing")
        while croupier.is_in(Phase.DRAW):
            croupier.deal_one()
        croupier.fill_pot()
        croupier.do(f.Folded(self.to_act()))
        self.keep("pot due")
        croupier.end_ricochet()

    def to_act(self) -> int:
        showdown = self.croupier.state.showdown
        assert showdown is not None
        assert showdown.to_act is not None
        return showdown.to_act

    def asides(self) -> None:
        """Beside the plain round: stopped, void, held, excluded, disputed, with unequal wagers."""
        plain = dict(self.found)
        for name, state in plain.items():
            self.aside(f"{name}, disputed", state, f.DisputeRaised(2, "x"))
            self.aside(f"{name}, stopped", state, UNKNOWN, f.DisputeRaised(2, "x"), by=SHOE)
            self.aside(f"{name}, void", state, UNKNOWN, CONFIRMED, VOID, AGREED,
                       f.DisputeRaised(3, "x"), by=SHOE)  # fmt: skip
            self.aside(f"{name}, held", state, f.PlayerAbsent(2, viewed=True))
            self.aside(f"{name}, counted", state, f.CountFound(2, 2), CONFIRMED)
        extra = f.CardDrawn(self.croupier.draw())
        self.aside("extra card", plain["dealt"], extra, extra, extra, by=SHOE)
        self.aside("two must agree", plain["closed"], f.PayCorrected(1, 2, 1, "x"), by=SUPERVISOR)
        if self.game == "NSW":
            self.unequal()
        elif self.game != "RICO":
            self.unequal_and_dealt()

    def aside(self, name: str, state: TableState, *facts: f.What, by: f.Source | None = None
              ) -> None:  # fmt: skip
        """What a few facts lead to; those that do not fit are left out."""
        for what in facts:
            told = by if by is not None and what is facts[0] else DEALER_AT_TABLE
            ruling = isinstance(what, f.SupervisorRuled)
            state, _ = step(state, f.Fact(what, SUPERVISOR if ruling else told, AT_MS))
        self.found[name] = state

    def unequal(self) -> None:
        """Seat 2 has more on circle 2, and evens its wagers out."""
        croupier = table("NSW", {2: "AsKsQs", 5: "3c5d8h"}, "JsTs")
        croupier.prepare()
        croupier.bets({2: {**base(500), "2": 1000}, 5: base(500)})
        croupier.do(f.WagerRead(2, "2", 500), CHIPS)
        self.found["unequal"] = croupier.state
        croupier.deal_one()
        self.found["unequal, dealing"] = croupier.state
        croupier.deal()
        self.found["unequal, dealt"] = croupier.state
        for number in (1, 2):
            croupier.decide()
            if number == 2:
                croupier.do(f.SeatRuled(2, "stays live"), SUPERVISOR)
            croupier.turn(number)
            self.found[f"unequal, turned {number}"] = croupier.state
        for number in reversed(SEATS):
            croupier.do(f.HandOpened(number))
            croupier.do(f.SeatSettled(number), SUPERVISOR)
        self.found["unequal, paid"] = croupier.state

    def unequal_and_dealt(self) -> None:
        """A card came before the closing call, and seat 2 is held for its wagers."""
        croupier = table(self.game, {2: "AsKsQs", 5: "3c5d8h"}, "JsTs")
        croupier.prepare()
        croupier.do(f.BetsOpened())
        for spot, cents in {**base(500), "2": 1000}.items():
            croupier.place(2, spot, cents)
        croupier.deal_one()
        self.found["unequal, dealing"] = croupier.state


@cache
def prefixes(game: str) -> dict[str, TableState]:
    return Prefixes(game).found


def family(game: str) -> str:
    return BOOKS[game].family


@pytest.mark.parametrize("game", GAMES)
def test_the_prefixes_bring_a_game_into_every_one_of_its_phases(game: str) -> None:
    reached = {state.phase for state in prefixes(game).values()}
    assert reached == set(TABLE[family(game)])  # type: ignore[index]


# --- who, and when -----------------------------------------------------------------------------


def said(state: TableState, what: f.What, by: f.Declared) -> tuple[TableState, str]:
    """The state after a declaration, and why it was refused."""
    after, effects = step(state, f.Fact(what, by, AT_MS))
    refusal = effects[0] if effects and isinstance(effects[0], fx.Refused) else None
    assert (refusal is None) or (after is state and len(effects) == 1)
    return after, "" if refusal is None else refusal.reason


@pytest.mark.parametrize("game", GAMES)
def test_a_code_is_taken_in_exactly_the_phases_of_its_cell(game: str) -> None:
    wrong = []
    for code in FACTS:
        by = OTHER if needs_key(code) else DEALER_AT_TABLE
        taken = set()
        for state in prefixes(game).values():
            for what in entries(code, state):
                if not said(state, what, by)[1]:
                    taken.add(state.phase)
        printed = set(menu_page.phases_of(code, game))
        if taken != printed:
            wrong += [f"{code} is taken in {p.name}" for p in taken - printed]
            wrong += [f"{code} is never taken in {p.name}" for p in printed - taken]
    assert wrong == []


@pytest.mark.parametrize("code", FACTS)
def test_a_code_is_refused_to_everybody_whom_its_cell_does_not_name(code: str) -> None:
    printed = menu_page.who(code)
    console = Console()
    keyed = [console.press(k, prefixes("NSW")["closed"], None, False) for k in ("MENU", *code)][-1]
    assert (keyed == Wrong("turn the key")) is (printed != "dealer")
    if printed == "dealer":
        return
    for game, role in product(GAMES, f.Role):
        if role.value in printed.split(", "):
            continue
        for state in prefixes(game).values():
            reason = said(state, next(entries(code, state)), f.Declared("P1", role))[1]
            assert " needs a " in reason


# --- once the result is known ------------------------------------------------------------------

KNOWN = ("turned 2", "seat 5 open", "unequal, turned 2")
PAID = ("seat 5 paid", "seat 2 open", "jackpot locked", "all paid", "closed", "acting", "drawing",
        "pot due", "unequal, paid")  # fmt: skip
SAYS: dict[str, tuple[f.Declared, tuple[tuple[f.What, ...], ...]]] = {
    "dealer": (DEALER_AT_TABLE, ((), (AGREED,))),
    "supervisor": (
        SUPERVISOR,
        ((), (CONFIRMED,), (VOID,), (CONFIRMED, VOID), (HAND_VOID,), (AGREED,)),
    ),
}
"""What one person may add to his own report."""
RULED: tuple[tuple[f.What, ...], ...] = (
    (), (CONFIRMED,), (VOID,), (CONFIRMED, VOID), (CONFIRMED, HAND_VOID),
)  # fmt: skip
"""What a supervisor may rule before another person agrees."""


def taken_back(
    plain: TableState, state: TableState, *said_by: tuple[f.What, f.Declared], paid: bool
) -> bool:
    """Do these declarations, one after another, take something that a player has in ``plain``?"""
    now = state
    if said(state, *said_by[0])[1]:
        return False
    for what, by in said_by:
        now, effects = step(now, f.Fact(what, by, AT_MS))
        if changes(plain, now) if paid else (harms(state, now, effects) or _cut(state, now)):
            return True
    return False


def _cut(before: TableState, after: TableState) -> bool:
    return any(seat.locked != before.seats[n].locked for n, seat in after.seats.items())


def fewest(plain: TableState, state: TableState, what: f.What, *, paid: bool) -> str:
    """Whose word is enough to take something from a player with this report."""
    for person, (by, more) in SAYS.items():
        for then in more:
            if taken_back(plain, state, (what, by), *((w, by) for w in then), paid=paid):
                return person
    for first, then in product((DEALER_AT_TABLE, SUPERVISOR), RULED):
        order = ((what, first), *((ruling, SUPERVISOR) for ruling in then))
        if taken_back(plain, state, *order, (AGREED, DEALER_AT_TABLE), paid=paid):
            return "two people"
    return "nobody"


ASIDE = {"51": ", stopped", "52": ", counted"}
"""Codes that answer a question are tried where one is open."""


def words(code: str, places: tuple[str, ...], *, paid: bool) -> set[str]:
    """Whose word is enough, over all games, places and arguments."""
    return {
        fewest(prefixes(game)[place], state, what, paid=paid)
        for game in GAMES
        for place in places
        if (state := prefixes(game).get(place + ASIDE.get(code, ""))) is not None
        if not changes(prefixes(game)[place], state)
        for what in entries(code, state)
    }


@pytest.mark.parametrize("code", FACTS)
def test_whose_word_takes_something_from_a_player_is_as_printed(code: str) -> None:
    for cell, places, paid in zip(menu_page.later(code), (KNOWN, PAID), (False, True), strict=True):
        whose = {"as before": set(), "two people": {"two people"}}.get(cell, {"supervisor"})
        assert words(code, places, paid=paid) - {"nobody"} == whose, (code, cell)


# --- undo --------------------------------------------------------------------------------------

Shown = Callable[[TableState], object]
DECK: Shown = lambda s: s.deck  # noqa: E731
Undone = tuple[str, str, str, str, tuple[str, ...], Shown]
UNDONE: list[Undone] = [
    *((code, "MBS3", "turned 2", code + more, ("51",), lambda s: (s.phase, s.seats, s.result))
      for code, more in (("11", " 1"), ("12", " 1"), ("13", ""), ("16", " 0 3"))),
    ("14", "MBS3", "dealt", "14 2 5", ("14 2 5",), lambda s: assign(s).seats),
    ("18", "NSW", "locked", "18 1 52", ("51 1",), lambda s: (s.phase, s.seats)),
    ("19", "MEGA", "handled", "19 2 1", ("52 2 3",), lambda s: s.seats),
    ("21", "NSW", "handled", "21 2", ("27 2 1 2", "27 2 1 1"),
     lambda s: s.seats[5]),
    ("24", "NSW", "betting", "24 2", ("56 2",), lambda s: s.left_out),
    ("27", "NSW", "seat 2 has decided 1", "27 2 1 2", ("27 2 1 1",), lambda s: s.seats),
    ("28", "NSW", "seat 5 open", "28 5 1", (), lambda s: s.history),
    ("31", "NSW", "closed", "31 2", ("32 2",), lambda s: "blue" in s.deck.seals),
    ("32", "NSW", "closed", "32 1", ("31 1",), DECK),
    ("33", "NSW", "closed", "33", ("36 1",), lambda s: s.deck.cut),
    ("34", "NSW", "closed", "34 2 0", ("34 1 0",), lambda s: s.deck.name),
    ("35", "NSW", "dealing", "35", ("51 1",), lambda s: (s.phase, s.seats)),
    ("36", "NSW", "locked", "36 1", ("36 1", "33"), lambda s: (s.deck.shuffled, s.deck.cut)),
    ("37", "NSW", "locked", "37 51", ("51 1",), lambda s: (s.phase, s.seats)),
    ("53", "NSW", "betting", "53 2 1 0", ("53 2 1 500",), lambda s: s.spots),
    ("54", "NSW", "betting", "54 2", ("56 2",), lambda s: s.left_out),
    ("55", "NSW", "betting", "55 2", ("56 2",), lambda s: s.excluded),
    ("56", "NSW", "betting", "56 2", ("55 2", "56 2"), lambda s: s.excluded),
    ("57", "NSW", "handled", "57 52", ("57 25",), walk),
    ("61", "NSW", "turned 2", "61 2", ("62 2",), lambda s: s.disputes),
    ("63", "NSW", "closed", "63 2 2 0; 51 4", ("63 2 2 DUE; 51 4",),
     lambda s: sum(cents for _, cents, _ in s.history[-1].corrections)),
    ("64", "NSW", "seat 5 open", "64 5 1 022", ("64 5 1 031",), lambda s: s.seats),
    ("71", "NSW", "closed", "71 0 500", ("71 0 0",), lambda s: (s.min_wager, s.max_wager)),
]  # fmt: skip
"""A code, where it is typed by mistake, what is typed to put it right, and what is as before."""
AT_THE_CORE = ("62", "72", "81", "82", "83", "84")
"""Undone by who signs on or calls, shown below."""


def entered(state: TableState, entry: str) -> TableState:
    """One entry at the console: of a supervisor where it needs the key, else of the dealer."""
    code, *given = entry.split()
    if entry == "51":
        assert state.frozen is not None
        given = ["1" if "resume" in state.frozen.answers else "2"]
    if given[-1:] == ["DUE"]:
        due = state.history[-1].result["seats"][0]
        given[-1] = str(sum(w["to_player"] for w in due["wagers"].values()))
    what = meaning(code, tuple(given), state)
    assert isinstance(what, f.What)
    keyed = needs_key(code) or code == "28"
    after, why = said(state, what, SUPERVISOR if keyed else DEALER_AT_TABLE)
    assert not why, (entry, why)
    return after


@pytest.mark.parametrize("row", UNDONE, ids=lambda row: row[0])
def test_a_mistaken_entry_is_put_right_as_printed(row: Undone) -> None:
    code, game, place, entry, undo, shown = row
    before = prefixes(game)[place]
    state = before
    for one in "; ".join((entry, *undo)).split("; "):
        state = entered(state, one)
    assert shown(state) == shown(before)
    printed = menu_page.UNDO[code]
    assert all(one.split()[0] in printed for one in undo[:1]), printed


def test_every_code_with_an_undo_has_been_put_right() -> None:
    printed = {code for code, how in menu_page.UNDO.items() if how != "none"}
    assert printed == {row[0] for row in UNDONE} | set(AT_THE_CORE)


def test_nobody_reviews_a_dispute_decided_by_mistake_but_a_casino_supervisor() -> None:
    """MENU 62 is undone with MENU 61, and the review is above who decided."""
    state = prefixes("NSW")["turned 2"]
    for entry in ("61 2", "62 2", "61 2"):
        state = entered(state, entry)
    review = f.DisputeDecided(2, "console")
    games = f.Declared("G1", f.Role.GAMES_SUPERVISOR)
    assert said(state, review, SUPERVISOR)[1] == "S1 decided this: somebody else reviews it"
    assert said(state, review, games)[1] == "a decided dispute goes to a casino supervisor"
    assert said(state, review, OTHER)[0].disputes == {}


class Register:
    """Two dealers and a supervisor."""

    def check(self, staff_id: str, pin: str) -> tuple[str, frozenset[f.Role]] | None:
        roles = {"7": f.Role.DEALER, "8": f.Role.DEALER, "9": f.Role.GAMES_SUPERVISOR}
        return (f"P{staff_id}", frozenset((roles[staff_id],))) if pin == "1" else None


@pytest.mark.parametrize("game", GAMES)
def test_signing_on_is_possible_anywhere_and_undone_by_relief(game: str) -> None:
    for place, state in prefixes(game).items():
        core = Table(state, staff=Register())
        for code, person in (("81", 7), ("82", 8), ("82", 7)):
            core.menu(code, person, 1)
            assert core.core.positions.dealer == f.Declared(f"P{person}", f.Role.DEALER), place
        core.menu("82", 9, 1)
        assert core.lines[2] == "ID OR PIN WRONG"


@pytest.mark.parametrize("game", GAMES)
def test_the_table_is_called_open_and_closed_between_rounds_only(game: str) -> None:
    for place, state in prefixes(game).items():
        for code in menu_page.BETWEEN_ROUNDS:
            idle = state.phase is Phase.IDLE
            core = Table(replace(state, seats={}, spots={}) if idle else state)  # nobody is left
            core.menu(code)
            assert core.lines[2] == "TURN THE KEY"
            core.turn_key(True)
            core.menu(code)
            assert core.core.table_closed is (idle and code != "83"), place
            assert idle or core.lines[2] == "END THE ROUND FIRST", place
        if state.phase is Phase.IDLE:
            core.menu("83")
            assert core.core.table_closed is False
            core.menu("84")
            assert core.core.table_closed is True
