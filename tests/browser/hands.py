"""A person at the table's page: chips, keys and cards by mouse, or by keyboard alone.

Every act ends in the page's own sentence. After each one, what is drawn in the displays must equal
the memory of the boards.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

from playwright.sync_api import Locator, Page, expect

from hw_sim.scenario import Scenario, cents
from tests.browser.drawn import Displays
from tests.browser.table import Table
from tests.sim.table import differences
from tests.web.browser import until

CHIPS: Final = (100_000, 50_000, 10_000, 2_500, 1_000, 500, 100)
LETTERS: Final = {
    "ENTER": "Enter", "CLEAR": "x", "MENU": "m", "UNDO": "u", "OPEN": "o", "CLOSE": "c",
    "COMM1": "q", "COMM2": "w", "RIDE": "r", "BACK": "b", "FOLD": "f", "PLAY": "p",
    "HANDLED": "h", "SHOW": "s", "PAID": "d", "END": "e", "VOID": "v", "CALL": "a",
}  # fmt: skip
SPOTS: Final = {
    "ANTE": "ante", "PLAY": "play", "RF": "rapid_fire", "HB": "hedge", "PP": "pair_plus",
    "6CB": "six_card",
}  # fmt: skip
PLAIN_KEYS: Final = ("CLOSE", "COMM1", "COMM2", "SHOW", "END", "HANDLED", "PLAY")
AMOUNT: Final = r"[\d,]+\.\d\d"
MOST: Final = 150
"""Acts of one round."""
TRIES: Final = 3
LOOKS: Final = 60
"""Six seconds: a key that the table did not take is pressed again."""


class Hands:
    """By mouse."""

    def __init__(self, table: Table, page: Page) -> None:
        self.table, self.page = table, page
        self.displays = Displays()
        self.answers: dict[int, list[str]] = {}
        self.acts: list[str] = []
        self._handled = False
        self._chip = 2_500
        expect(page.locator("#felt svg")).to_be_visible()
        until(lambda: bool(self.lines()[3].strip()))

    # --- what a person sees ----------------------------------------------------------------------

    def lines(self) -> list[str]:
        """The prompt as it is drawn."""
        text = self.page.locator("#prompt").get_attribute("data-text") or "\n\n\n"
        return text.split("\n")

    def asked(self) -> list[str]:
        return self.lines()[3].split()

    def seat(self) -> int:
        found = re.match(r"SEAT (\d)", self.lines()[1])
        if found:
            return int(found[1])
        turn = self.page.locator(".seat.lamp-your-turn")
        return int(turn.get_attribute("data-seat") or 0) if turn.count() else 0

    def compare(self) -> None:
        """What is drawn becomes what the boards hold."""
        wrong: list[str] = []

        def same() -> bool:
            nonlocal wrong
            wrong = self.displays.differences(self.page, self.table.displays())
            return not wrong

        try:
            until(same)
        except AssertionError:
            raise AssertionError(wrong) from None

    # --- one act ---------------------------------------------------------------------------------

    def _act(self, what: str, move: Callable[[], object], end: str = "done") -> None:
        line = self.page.locator("#outcome")
        self.acts.append(what)
        move()
        expect(line).to_have_class(re.compile("^(ok|bad)$"))
        expect(line).to_contain_text(end)
        self.compare()

    def _at(self, where: str) -> Locator:
        return self.page.locator(f'#felt [data-at="{where}"]')

    def _choose(self, chip: int) -> None:
        if chip != self._chip:
            self.page.locator(f'#chips input[value="{chip}"]').check(force=True)
            self._chip = chip

    def _use(self, where: str) -> None:
        self._at(where).click()

    def _take(self, where: str) -> None:
        self._at(where).click(button="right")

    def _press(self, key: str) -> None:
        self.page.locator(f'#console [data-key="{key}"]').click()

    def _hand(self, name: str) -> None:
        self.page.locator(f"#{name}").click()

    # --- what a person does ----------------------------------------------------------------------

    def place(self, seat: int, spot: str, amount: int) -> None:
        for chip in CHIPS:
            while amount >= chip:
                self._choose(chip)
                where = "pot" if seat == 0 else f"{seat}/{spot}"
                self._act(f"{chip} on {where}", lambda where=where: self._use(where))  # type: ignore[misc]
                amount -= chip

    def take(self, seat: int, spot: str) -> None:
        where = "pot" if seat == 0 else f"{seat}/{spot}"
        self._act(f"take {where}", lambda: self._take(where))

    def credit(self, seat: int) -> None:
        self._act(f"credit {seat}", lambda: self._use(f"{seat}/credit"))

    def press(self, key: str) -> None:
        """Pressed again if the table did not take it, as people do."""
        before = self.lines()
        for _ in range(TRIES):
            self._act(f"key {key}", lambda: self._press(key))
            if self._changed(before):
                break

    def deal(self) -> None:
        """Back when the card lies on the table's felt and the prompt had time to follow."""
        before, lay = self.lines(), self._cards()
        self._act("deal", lambda: self._use("device"))
        until(lambda: self._cards() > lay or self.lines() != before)
        self._changed(before, looks=8)

    def trouble(self, title: str) -> None:
        """A button of the usual troubles."""
        button = self.page.get_by_role("button", name=title)
        self._act(title, lambda: self._click(button))

    def _click(self, button: Locator) -> None:
        button.click()

    def step(self) -> None:
        """The button for what has no key: shuffle, cut and load."""
        self._act("one step of the dealer", lambda: self._hand("next"))

    def clear(self, seat: int) -> None:
        """Every stack of a seat leaves; one that waits for the middle card stays."""
        waits = "six_card" if self.lines()[2].startswith("TURN") else ""
        for where, stack in self.table.simulator("/state")["chips"].items():
            number, _, spot = where.partition("/")
            if number == str(seat) and stack and spot != waits:
                self.take(seat, spot)

    def _cards(self) -> int:
        """Cards on the felt: those the table knows of."""
        return self.page.locator("#felt .hand .card, #felt .dealer [role=img] .card").count()

    # --- a round ---------------------------------------------------------------------------------

    def play(self, scenario: Scenario, first_card: Callable[[], object] = lambda: None) -> None:
        """The scenario's bets and answers, everything else as the prompt asks for it.

        ``first_card`` is called when the first card is out.
        """
        self._until(lambda: self.asked()[0] == "OPEN")
        self.table.do(f"deck {' '.join(_names(scenario))}")
        self.step()  # the deck goes into the shoe before the opening call
        until(lambda: self.lines()[0].startswith("BETS OPEN"))
        for step in scenario.steps:
            match step.verb, step.words:
                case "bets", (seat, amount, spots):
                    for spot in spots.split():
                        self.place(int(seat), spot, cents(amount))
                case "credits", (seat, count):
                    for _ in range(int(count)):
                        self.credit(int(seat))
                case "will", (seat, answers):
                    self.answers[int(seat)] = answers.split()
        self._settled_chips()
        self._until(lambda: self.asked()[0] == "CLOSE")
        self.press("CLOSE")
        self._until(lambda: self.acts[-1] == "deal")
        first_card()
        self._until(lambda: self.acts[-1] == "key END" and self.asked()[0] != "END")

    def _settled_chips(self) -> None:
        """Every seat with chips shows it has been read."""
        seats = {where[0] for where in self.table.simulator("/state")["chips"] if where[0] != "0"}
        for seat in seats:
            expect(self.page.locator(f'.seat[data-seat="{seat}"]')).not_to_have_class(
                re.compile("lamp-(open|off)")
            )

    def _until(self, there: Callable[[], bool]) -> None:
        """Do what line 4 says until we are there."""
        for _ in range(MOST):
            until(self._something_to_do, lambda: (self.lines(), self.acts[-20:]))
            if there():
                return
            self._answer(self.asked())
        raise AssertionError(f"{MOST} acts: {self.acts[-20:]}, {self.lines()}")

    def _something_to_do(self) -> bool:
        asked = self.asked()
        return bool(asked) and (asked[0] != "WAIT" or self.lines()[2].startswith("LOAD"))

    def _changed(self, before: list[str], looks: int = LOOKS) -> bool:
        """Whether the prompt reacts within the time that a person gives it."""
        for _ in range(looks):
            if self.lines() != before:
                return True
            self.page.wait_for_timeout(100)
        return False

    def _answer(self, asked: list[str]) -> None:
        match asked:
            case ["DEAL", *_]:
                self.deal()
            case ["RIDE" | "BACK", *_] if "HANDLED" in asked and not self._handled:
                self._handled = True
                self.press("HANDLED")
            case ["RIDE" | "BACK", *_]:
                waiting = self.answers.get(self.seat(), [])
                self.press((waiting.pop(0) if waiting else "ride").upper())
            case ["PAID", *_]:
                seat = self.seat()
                self.press("PAID")
                self.clear(seat)
            case ["MENU", code, *_]:
                for key in ("MENU", *code, *(("1", "ENTER") if code in ("31", "36") else ())):
                    self.press(key)
            case ["CHIPS", *more]:
                self._chips(more)
            case ["SHUFFLE" | "OPEN" | "WAIT", *_]:
                self.step()
            case ["ENTER", *_]:  # a key came late or twice, and the entry is not what was meant
                self.press("CLEAR")
            case [key, *_] if key in PLAIN_KEYS:
                self.press(key)
            case _:
                raise AssertionError(f"nothing to do: {self.lines()}")

    def _chips(self, more: list[str]) -> None:
        """Chips as lines 2 and 3 say."""
        before = self.lines()
        words, third = before[1].split(), before[2]
        found = re.search(AMOUNT, before[1])
        amount = cents(found[0].replace(",", "")) if found else 0
        if words[:1] == ["SEAT"] and third.startswith(("GIVE BACK", "COLLECT")):
            self._bring(int(words[1]), SPOTS.get(words[2], words[2]), 0)
        elif words[:1] == ["SEAT"] and words[2:3] == ["PLAY"]:
            self._play_wager(int(words[1]), amount)
        elif words[:1] == ["POT"]:
            self._pot(amount, third)
        elif more and more[0] in PLAIN_KEYS:
            self.press(more[0])
        self._changed(before)

    def _play_wager(self, seat: int, amount: int) -> None:
        """Ricochet: down with the chips, or fold."""
        if self.answers.get(seat, [""])[:1] == ["fold"]:
            self.press("FOLD")
        else:
            self._bring(seat, "play", amount)

    def _pot(self, amount: int, third: str) -> None:
        """Ricochet: the pot gets the chips of dead hands and becomes what the prompt says."""
        for dead in self.page.locator(".seat.lamp-collect, .seat.lamp-void").all():
            self.clear(int(dead.get_attribute("data-seat") or 0))
        self._bring(0, "pot", 0 if re.match(r"POT TO \w", third) else amount)

    def _bring(self, seat: int, spot: str, amount: int) -> None:
        """The spot holds this amount; where it does, the table is still reading it."""
        lies = self.table.simulator("/state")["chips"].get(f"{seat}/{spot}", 0)
        if lies != amount:
            if lies:
                self.take(seat, spot)
            self.place(seat, spot, amount)


class Typing(Hands):
    """By keyboard alone: arrows walk over the felt, letters are the keys of the console."""

    def _choose(self, chip: int) -> None:
        values = sorted(CHIPS)
        by = values.index(chip) - values.index(self._chip)
        for _ in range(abs(by)):
            self.page.keyboard.press("]" if by > 0 else "[")
        self._chip = chip

    def _walk(self, where: str) -> None:
        """Tab until the thing is focused; a person would not need more than one turn."""
        for _ in range(200):
            if self.page.evaluate("document.activeElement?.dataset?.at") == where:
                return
            self.page.keyboard.press("Tab")
        raise AssertionError(f"{where} is not reached by the Tab key")

    def _use(self, where: str) -> None:
        if where == "device":
            self.page.keyboard.press("g")
        else:
            self._walk(where)
            self.page.keyboard.press("Enter")

    def _take(self, where: str) -> None:
        self._walk(where)
        self.page.keyboard.press("Delete")

    def _press(self, key: str) -> None:
        self.page.keyboard.press(LETTERS.get(key, key))

    def _click(self, button: Locator) -> None:
        button.focus()
        self.page.keyboard.press("Space")

    def _hand(self, name: str) -> None:
        self.page.keyboard.press({"next": "n", "deal": "g", "supervisor": "k"}[name])


def played(
    table: Table,
    page: Page,
    scenario: Scenario,
    kind: type[Hands] = Hands,
    first_card: Callable[[Hands], object] = lambda _hands: None,
) -> Hands:
    """The first round of a table, which its own journal has as the scenario expects it."""
    hands = kind(table, page)
    hands.play(scenario, lambda: first_card(hands))
    found = table.round(1)
    assert not differences(scenario.rounds[0], found["result"]), found["result"]
    assert hands.displays.compared >= len(hands.acts)
    return hands


def _names(scenario: Scenario) -> list[str]:
    return ["A23456789TJQK"[(card & 15) - 1] + "cdhs"[card >> 4] for card in scenario.cards]
