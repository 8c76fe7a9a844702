"""The dealer: reads the prompt's fourth line and the lamps, moves cards and chips, presses keys.

The dealer knows no rule. What a dealer does know: which cards have been turned, whose chips are
whose, and what the players answered. Every routine is a generator that yields how long the hands
take, so the same dealer works in virtual and in real time.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass, field
from typing import Final

from hw_sim.clock import MS, SECOND
from hw_sim.devices.card_device import E_DECK
from hw_sim.table import SimTable

Pause = Iterator[int]
"""Yields microseconds to wait."""
Call = Callable[[str], Pause]
"""Somebody is called, with the reason; then the dealer looks again."""

LOOK_US: Final = 100 * MS
KEY_US: Final = 320 * MS
"""From one key to the next; the finger stays down for half of it."""
QUICKEST_KEY_US: Final = 240 * MS
"""No hand is so quick that a table under load misses its keys."""
CARD_US: Final = 500 * MS
CHIPS_US: Final = 1_200 * MS
"""Chips that were just moved settle by themselves."""
CHANGE_US: Final = 4 * SECOND
"""How long a dealer waits for the prompt to react before trying again."""
PATIENCE_US: Final = 120 * SECOND
CALLS: Final = 3
WITNESSED: Final = 500
SPOT_WORDS: Final = {
    "ANTE": "ante", "PLAY": "play", "RF": "rapid_fire", "HB": "hedge", "PP": "pair_plus",
    "6CB": "six_card",
}  # fmt: skip
"""Spots as the prompt writes them."""
FULL_DECK: Final = tuple(suit << 4 | rank for suit in range(4) for rank in range(1, 14))


class Stuck(Exception):
    """The dealer does not know what to do next; the text says what the prompt shows."""


@dataclass
class Plans:
    """What the players will answer, by seat."""

    answers: dict[int, list[str]] = field(default_factory=dict)
    asked: tuple[int, str] = (0, "")
    """The question answered last: asked again, it gets the same answer."""

    def over(self) -> None:
        """Nobody asks the last question again: its answer is used up."""
        waiting = self.answers.get(self.asked[0])
        if waiting:
            waiting.pop(0)
        self.asked = (0, "")

    def answer(self, seat: int, question: str, default: str) -> str:
        if self.asked != (seat, question):
            self.over()
        self.asked = (seat, question)
        waiting = self.answers.get(seat)
        return waiting[0] if waiting else default


class Dealer:
    def __init__(self, table: SimTable, plans: Plans, pace: int = 1) -> None:
        self.table = table
        self.key_us = max(KEY_US // pace, QUICKEST_KEY_US) * pace
        """As the director's pauses are: to be divided by the pace."""
        self.held_us = max(KEY_US // pace, QUICKEST_KEY_US) // 2
        self.plans = plans
        self.next_cards: list[int] = []
        """Cards that must come out next, in order; the rest of the deck from the table's seed."""
        self.lost: list[int] = []
        """Cards that are missing from the deck until somebody checks it."""
        self.dealer_packet = 3
        """Cards in the dealer's packet, as this shuffler is set up."""
        self.loaded = self.handled = self.middle_turned = False
        self.opened = False
        """The table was taken over with its bets open: that call is made already."""
        self.seen: deque[list[str]] = deque(maxlen=WITNESSED)
        """The last prompts on which something was done: what a witness could tell."""
        self.paid: deque[tuple[int, str, str]] = deque(maxlen=WITNESSED)
        """(seat, line 2, line 3) at the last payments."""
        self.deck = 1
        self.call: Call | None = None
        """Whom to call when nothing happens; without anybody the dealer gives up."""

    # --- looking -------------------------------------------------------------------------------

    def words(self) -> list[str]:
        """Line 4 as words."""
        return self.table.prompt()[3].split()

    def seat(self) -> int:
        """The seat on line 2, else the lamp that blinks yellow; 0 if there is none."""
        found = re.match(r"SEAT (\d)", self.table.prompt()[1])
        if found:
            return int(found[1])
        lamps = self.table.lamps()
        return lamps.index("your turn") + 1 if "your turn" in lamps else 0

    def view(self) -> tuple[object, ...]:
        return (*self.table.prompt(), *self.table.lamps())

    def entry(self) -> list[str]:
        """Lines 3 and 4; lamps and line 1 also change for other reasons."""
        return self.table.prompt()[2:]

    def wait_for(self, ready: Callable[[], bool], limit_us: int, what: str) -> Pause:
        deadline = self.table.clock.now_us + limit_us
        while not ready():
            if self.table.clock.now_us >= deadline:
                shown = " / ".join(line.strip() for line in self.table.prompt())
                yield from self.stuck(f"expected {what}; the prompt shows: {shown}")
            yield LOOK_US

    def stuck(self, why: str) -> Pause:
        if self.call is None:
            raise Stuck(why)
        yield from self.call(why)

    # --- fingers -------------------------------------------------------------------------------

    def press(self, *keys: str) -> Pause:
        for key in keys:
            self.table.keyboard.press(key, self.held_us)
            yield self.key_us

    def menu(self, code: str, *arguments: str) -> Pause:
        """Every key is looked for in the entry before the next one, as a person does."""
        typed = ["MENU", *code]
        for argument in arguments:
            typed += [*argument, "ENTER"]
        for key in typed:
            before = self.entry()
            for _ in range(2):
                yield from self.press_and_see(key, look=self.entry)
                if self.entry() != before:
                    break

    def supervisor_menu(self, code: str, *arguments: str) -> Pause:
        """The supervisor turns the key, declares, and takes the key away again."""
        self.table.drive_pin("supervisor_key", False)
        yield 300 * MS
        yield from self.menu(code, *arguments)
        yield 300 * MS
        self.table.drive_pin("supervisor_key", True)
        yield 300 * MS

    def press_and_see(self, *keys: str, look: Callable[[], object] | None = None) -> Pause:
        """Press, then wait until the table reacts."""
        before = (look := look or self.view)()
        yield from self.press(*keys)
        yield from self._see(lambda: look() != before)

    def _see(self, there: Callable[[], bool]) -> Pause:
        """Look for so long as a table may need to react."""
        deadline = self.table.clock.now_us + CHANGE_US
        while not there() and self.table.clock.now_us < deadline:
            yield LOOK_US

    def press_until_taken(self, key: str) -> Pause:
        """A key that the prompt offers, pressed again if it did not take."""
        for _ in range(4):
            yield from self.press_and_see(key)
            yield from self.see_line_4()
            if self.words()[:1] != [key]:
                return

    def see_line_4(self) -> Pause:
        """It is written last, and blank while a table starts again."""
        yield from self._see(lambda: bool(self.words()))

    # --- following the prompt ------------------------------------------------------------------

    def follow(self, stop: Callable[[list[str]], bool], actions: int = 10_000) -> Pause:
        """Do what line 4 says until ``stop`` says that its words are where we want to be."""
        idle_since = self.table.clock.now_us
        while actions > 0:
            words = self.words()
            if words and stop(words):
                return
            if not words or words[0] == "WAIT":
                if self.table.prompt()[2].startswith("LOAD THE SHOE"):
                    yield from self.load()
                elif self.table.clock.now_us - idle_since > PATIENCE_US:
                    yield from self.stuck(f"waited {PATIENCE_US // SECOND} s: {self.view()[:4]}")
                yield LOOK_US
                continue
            self.seen.append([line.strip() for line in self.table.prompt()])
            before = self.view()
            yield from self.act(words)
            actions -= 1
            if self.view() != before:
                idle_since = self.table.clock.now_us
            elif self.table.clock.now_us - idle_since > PATIENCE_US:
                yield from self.stuck(f"nothing changes: {self.table.prompt()}")

    def act(self, words: list[str]) -> Pause:
        """One action for the first word of line 4."""
        match words[0]:
            case "DEAL":
                yield from self.deal()
            case "RIDE" | "BACK":
                yield from self.decide()
            case "PLAY" | "FOLD":
                yield from self.play_or_fold()
            case "COMM1" | "COMM2":
                yield from self.press_and_see(words[0])
            case "PAID":
                yield from self.pay()
            case "CHIPS":
                yield from self.put_chips_right()
            case "SHUFFLE":
                yield from self.shuffle()
            case "END":
                yield from self.end()
            case "MENU" if len(words) > 1 and words[1] in ("25", "26", "31", "33", "36", "59"):
                yield from self.menu_asked(words[1])
            case "OPEN":
                yield from self.open()
            case "CLOSE" | "HANDLED" | "SHOW":
                yield from self.press_and_see(words[0])
            case "ENTER" | "CLEAR":  # a key did not take and the entry is half typed
                yield from self.press_and_see("CLEAR")
            case "KEY" if words[1:2] == ["PAID"]:
                self.table.drive_pin("supervisor_key", False)
                yield 400 * MS
                yield from self.pay()
                self.table.drive_pin("supervisor_key", True)
                yield 400 * MS
            case _:  # perhaps the display was being written: a person looks again
                yield from self.look_again("no idea what to do")

    def open(self) -> Pause:
        """Cards shuffled and loaded, then the opening call."""
        self.middle_turned = self.handled = False
        self.plans.over()
        self.table.felt.clear_cards()
        if not self.loaded:
            yield from self.load()
        yield from self.press_until_taken("OPEN")
        self.loaded = False
        self.next_cards = []  # the round has them now; before, another load would bring them back

    def close(self) -> Pause:
        """The closing call; once more if chips moved at it, as line 4 then says, and again if the
        table, which died over it, offers it again."""
        moved = False
        for _ in range(CALLS):
            yield from self.press_until_taken("CLOSE")
            yield from self.wait_for(self._answers, 30 * SECOND, "the bets locked")
            if not moved and self.words()[:2] == ["CHIPS", "CLOSE"]:
                moved = True
                yield CHIPS_US
            elif self.words()[0] != "CLOSE":
                return

    def _answers(self) -> bool:
        """Line 4 says something to do: the table is at work no more, and the display is written."""
        return bool(self.words()) and self.words()[0] != "WAIT"

    def menu_asked(self, code: str) -> Pause:
        """What the prompt asks to be declared: checked, shuffled, cut, turned, compared."""
        self.look_at_deck()
        if code == "31":
            self.lost = []  # the person who checks a deck completes it
        if code == "36":
            yield from self.load()
        self.middle_turned = self.middle_turned or code == "25"
        deck = (str(self.deck),) if code in ("31", "36") else ()
        yield from self.see_menu(code, *deck)

    def see_menu(self, code: str, *arguments: str) -> Pause:
        before = self.view()
        yield from self.menu(code, *arguments)
        yield from self._see(lambda: self.view() != before)

    # --- cards ---------------------------------------------------------------------------------

    def deal(self) -> Pause:
        """The next card or packet, laid where the prompt says."""
        seat = self.seat()
        if self.table.shoe is not None:
            card = self.table.shoe.draw()
            cards = [] if card is None else [card]
        else:
            cards = yield from self.packet()
        self.table.felt.hands.setdefault(seat, []).extend(cards)
        yield CARD_US if cards else LOOK_US

    def packet(self) -> Generator[int, None, list[int]]:
        """Ask the shuffler for a packet and take it out when it lies in the tray."""
        shuffler = self.table.shuffler
        count = 3 if self.seat() else self.dealer_packet
        if shuffler is None or not shuffler.dispense(count):
            return []
        for _ in range(50):
            yield LOOK_US
            cards = shuffler.take_packet()
            if cards is not None:
                return cards
        return []

    def load(self) -> Pause:
        """Gather, shuffle and load; the shoe takes a deck by hand, the shuffler mixes its own."""
        order = self.fresh_order()
        self.loaded = True
        if self.table.shoe is not None:
            self.table.shoe.load(order)
            yield SECOND
        elif self.table.shuffler is not None:
            self.table.shuffler.insert(self.deck, [c for c in FULL_DECK if c not in self.lost])
            yield SECOND
            self.table.shuffler.shuffle(order)
            yield from self.wait_for(self._shuffle_over, PATIENCE_US, "the shuffle finished")
            if self.table.shuffler.err & E_DECK:  # the machine says: wrong deck, take it out
                self.loaded = False
                self.table.shuffler.lid(True)
                yield SECOND
                self.table.shuffler.lid(False)

    def _shuffle_over(self) -> bool:
        """The lamp on the machine: green when it is ready, red when it needs a person."""
        shuffler = self.table.shuffler
        return shuffler is None or shuffler.ready or bool(shuffler.err)

    def shuffle(self) -> Pause:
        """The prompt asks for a shuffle: start it and wait until the table has seen it."""
        self.look_at_deck()
        yield from self.load()
        deadline = self.table.clock.now_us + PATIENCE_US
        # Not the first change: the display is written line by line, and line 4 comes last.
        while self.words()[:1] == ["SHUFFLE"] and self.table.clock.now_us < deadline:
            yield LOOK_US

    def shuffle_deck(self, deck: int) -> Pause:
        """Unasked: this deck goes into the device while the other one is played."""
        self.deck = deck
        yield from self.load()

    def look_at_deck(self) -> None:
        """Which deck the prompt means, by its back."""
        if "BLUE" in self.table.prompt()[2]:
            self.deck = 2
        elif "RED" in self.table.prompt()[2]:
            self.deck = 1

    def fresh_order(self) -> list[int]:
        first = self.next_cards
        rest = [card for card in FULL_DECK if card not in (*first, *self.lost)]
        self.table.rng.shuffle(rest)
        return [*first, *rest]

    # --- decisions -----------------------------------------------------------------------------

    def decide(self) -> Pause:
        """Ask the player; a wager taken back is pushed over when the prompt says so."""
        if "HANDLED" in self.words() and not self.handled:
            self.handled = True
            yield from self.press_and_see("HANDLED")
            return
        asked = self.table.prompt()[2].strip()
        back = self.plans.answer(self.seat(), asked, "ride") == "back"
        yield from self.press_and_see("BACK" if back else "RIDE")

    def play_or_fold(self) -> Pause:
        """The play wager is down, so the player plays; the answer was given with the chips."""
        yield from self.press_and_see("PLAY")

    # --- chips ---------------------------------------------------------------------------------

    def pay(self) -> Pause:
        """Pay or collect as line 2 says: the chips leave the seat's spots either way."""
        prompt = self.table.prompt()
        seat = self.seat()
        self.paid.append((seat, prompt[1].strip(), prompt[2].strip()))
        yield from self.press_and_see("PAID")
        self.clear(seat)
        yield 800 * MS

    def clear(self, seat: int, *, everything: bool = False) -> None:
        """The seat's chips leave; a bonus on the middle card waits until that card is turned."""
        felt = self.table.felt
        for number, spot in list(felt.spots):
            stays = spot == "six_card" and not self.middle_turned and not everything
            if number == seat and not stays:
                felt.rack.put(felt.take(number, spot))

    def put_chips_right(self) -> Pause:
        """Do with the chips what lines 2 and 3 say."""
        yield CHIPS_US
        if self.words()[:1] != ["CHIPS"]:
            return
        yield from self.clear_notices()
        prompt = self.table.prompt()
        words = prompt[1].split()
        if self.words()[:1] != ["CHIPS"]:
            return
        if words[:1] == ["POT"] and re.match(r"[\d.,]+$", words[-1]):
            self.fill_pot(prompt)
        elif words[:1] == ["SEAT"] and prompt[2].startswith(("GIVE BACK", "COLLECT", "RETURN")):
            if prompt[2].startswith("RETURN"):
                self.clear(int(words[1]), everything=True)
            else:
                self.lift(int(words[1]), SPOT_WORDS.get(words[2], words[2]))
        elif words[:1] == ["SEAT"] and words[2:3] == ["PLAY"]:
            yield from self.play_wager(int(words[1]), _cents(words[-1]))
            return
        elif self.words()[1:3] == ["KEY", "MENU"]:  # a refusal covers what is to be done
            yield from self.press_and_see("CLEAR")
            if self.table.prompt() == prompt:
                yield from self.look_again("chips to be put right")
            return
        elif len(self.words()) > 1 and self.words()[1] != "MENU":
            yield from self.act(self.words()[1:])
            return
        else:  # nothing a dealer can do here: sensors may still be reading
            yield from self.look_again("chips to be put right")
            return
        yield 1_500 * MS

    def let_chips_settle(self) -> Pause:
        """Before the closing call: every seat with chips has its lamp, or had time to get it."""
        for _ in range(40):
            lamps = self.table.lamps()
            betting = {n for (n, _), stack in self.table.felt.spots.items() if stack and n}
            if all(lamps[n - 1] != "open" for n in betting):
                return
            yield 200 * MS

    def look_again(self, what: str) -> Pause:
        """Wait for the prompt to change; if it does not, say what nobody could do."""
        prompt = self.table.prompt()
        for _ in range(30):
            yield SECOND
            if self.table.prompt() != prompt:
                return
        yield from self.stuck(f"{what}: {' / '.join(line.strip() for line in prompt)}")

    def clear_notices(self) -> Pause:
        """The notices were read: CLEAR removes them."""
        for _ in range(4):
            before = self.view()
            yield from self.press("CLEAR")
            yield LOOK_US
            if self.view() == before:
                return

    def fill_pot(self, prompt: list[str]) -> None:
        """Bring the pot to the amount shown; chips of dead hands first, the rest from the tray."""
        felt = self.table.felt
        if re.match(r"POT TO \w", prompt[2]):  # with nobody named the amount stays there
            felt.rack.put(felt.take(0, "pot"))
            return
        wanted = _cents(prompt[1].split()[-1])
        for seat, lamp in enumerate(self.table.lamps(), 1):
            if lamp in ("collect", "void"):
                for spot in ("ante", "play"):
                    felt.rack.put(felt.take(seat, spot))
        felt.rack.put(felt.take(0, "pot"))
        felt.place(0, "pot", felt.rack.pay(wanted))

    def play_wager(self, seat: int, wanted: int) -> Pause:
        """Ricochet: the player puts the play wager down, or folds."""
        if self.plans.answer(seat, "play or fold", "play") == "fold":
            yield from self.press_and_see("FOLD")
            return
        felt = self.table.felt
        felt.rack.put(felt.take(seat, "play"))
        felt.place(seat, "play", felt.rack.pay(wanted))
        yield 1_500 * MS

    def lift(self, seat: int, spot: str) -> None:
        self.table.felt.rack.put(self.table.felt.take(seat, spot))

    def end(self) -> Pause:
        """All cards and chips off the felt, then END; a pot still there by then is carried over."""
        felt = self.table.felt
        carried = not self.table.prompt()[2].startswith("RETURN")
        for seat, spot in list(felt.spots):
            if not (carried and spot == "pot"):
                felt.rack.put(felt.take(seat, spot))
        felt.clear_cards()
        yield 1_500 * MS
        yield from self.press_and_see("END")


def _cents(amount: str) -> int:
    """``1,250.00`` as minor units."""
    return int(re.sub(r"[.,]", "", amount))
