"""Plays a scenario at a table: step after step, with players, dealer and faults.

The director is a generator driven by the table's clock. It ends in an ``Ending``: everything came
true, or the step that did not, with what the prompt showed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final, Protocol

from hw_sim.clock import MS, SECOND
from hw_sim.devices.acceptor import Acceptors
from hw_sim.faults import FaultError, Faults
from hw_sim.felt import PROMO
from hw_sim.people.checks import wrong
from hw_sim.people.dealer import Dealer, Pause, Plans, Stuck
from hw_sim.people.taking_over import take_over
from hw_sim.people.technician import draw_out, load_new_deck
from hw_sim.scenario import Scenario, ScenarioError, Step, card_byte, cents

EXPECT_US: Final = 15 * SECOND
CREDIT_US: Final = 900 * MS
CREDIT_TRIES: Final = 20
PULL_US: Final = 2 * SECOND
CHIP_TRIES: Final = 3
"""A chip that comes back is offered again, so often."""


class Link(Protocol):
    """Plays the progressive link and the scripted selector for this table."""

    def meter(self, amount_cents: int) -> None: ...

    def lost(self) -> None: ...

    def back(self) -> None: ...

    def select(self, magic: str | None, lucky: int | None) -> None: ...


@dataclass
class Ending:
    done: bool = False
    failed: str = ""
    steps: int = 0
    notes: list[str] = field(default_factory=list)
    """What did not come about though the script went on."""


class Director:
    def __init__(
        self,
        scenario: Scenario,
        faults: Faults,
        link: Link | None = None,
        pace: int = 1,
        dealer: Dealer | None = None,
    ) -> None:
        """The people's hands are ``pace`` times as fast; devices and patience stay as they are.

        With a ``dealer`` the same people continue, and remember what they knew.
        """
        self.scenario = scenario
        self.pace = pace
        self.faults = faults
        self.table = faults.table
        self.ending = Ending()
        self.dealer = dealer or Dealer(self.table, Plans(), pace)
        self.plans = self.dealer.plans
        if dealer is None:
            self.dealer.next_cards = list(scenario.cards)
            self.dealer.dealer_packet = int(scenario.settings.get("dealer_packet", 3))
        self._link = link
        self._selection: tuple[str | None, int | None] = (None, None)
        self._closed = False
        self._script = self.play()

    def start(self) -> None:
        self.table.clock.after(0, self._resume)

    def stop(self, why: str) -> None:
        """The people leave the table as it is."""
        self.ending.failed = why

    def _resume(self) -> None:
        if self.ending.failed:
            return
        try:
            pause_us = next(self._script)
        except StopIteration:
            self.ending.done = True
        except (Stuck, FaultError, ScenarioError, ValueError) as error:
            self.ending.failed = str(error)
        except Exception as error:  # our own mistake ends this script, never the whole table
            self.ending.failed = f"{type(error).__name__}: {error}"
        else:
            self.table.clock.after(pause_us // self.pace, self._resume)

    def play(self) -> Pause:
        for step in self.scenario.steps:
            self.ending.steps += 1
            try:
                yield from self.do(step)
            except (Stuck, FaultError, ValueError) as error:
                where = f"{self.scenario.name}, step {step.line} ({step.text})"
                raise Stuck(f"{where}: {error}") from None

    def do(self, step: Step) -> Pause:
        """One step."""
        words = step.words
        if why := wrong(step, self.table):
            raise Stuck(why)
        if step.verb in ("opens", "closes", "until", "plays on", "plays", "takes over"):
            yield from self._dealer(step.verb, words)
        elif step.verb.startswith("expect"):
            yield from self._expect(step.verb, words)
        elif step.verb in _CHIPS:
            _CHIPS[step.verb](self, words)
            yield 400 * MS
        else:
            yield from self._other(step.verb, words)

    # --- the dealer ----------------------------------------------------------------------------

    def _dealer(self, verb: str, words: tuple[str, ...]) -> Pause:
        dealer = self.dealer
        match verb:
            case "opens" if dealer.opened:
                dealer.opened = False
            case "opens":
                yield from dealer.follow(lambda keys: keys[0] == "OPEN")
                yield from dealer.act(["OPEN"])
            case "closes":
                yield from dealer.let_chips_settle()
                yield from dealer.follow(lambda keys: keys[0] == "CLOSE")
                yield from dealer.close()
            case "until":
                seat = int(words[1]) if words[1] else None
                yield from dealer.follow(
                    lambda keys: keys[0] == words[0] and seat in (None, dealer.seat())
                )
            case "plays on":
                yield from dealer.follow(lambda keys: keys[0] in ("OPEN", "SHUFFLE"))
            case "takes over":
                yield from take_over(dealer)
            case _:
                yield from dealer.follow(lambda _keys: False, int(words[0]))

    # --- everything else -----------------------------------------------------------------------

    def _other(self, verb: str, words: tuple[str, ...]) -> Pause:
        match verb:
            case "credits":
                yield from self._credits(int(words[0]), int(words[1]))
            case "press":
                yield from self.dealer.press(*words[0].split())
            case "menu":
                yield from self.dealer.menu(words[0], *words[1].split())
            case "supervisor menu":
                yield from self.dealer.supervisor_menu(words[0], *words[1].split())
            case "key":
                self.table.drive_pin("supervisor_key", words[0] == "off")
                yield 300 * MS
            case "draw" if words[0]:
                came = yield from draw_out(self.dealer, int(words[0]))
                if came < int(words[0]):
                    self.ending.notes.append(f"{came} of {words[0]} came")
            case "draw" | "packet":
                yield from self._pull()
            case "new deck":
                yield from load_new_deck(self.dealer)
            case "shuffles":
                yield from self.dealer.shuffle_deck(1 if words[0] == "red" else 2)
            case "deck":
                self._stack([card_byte(name) for name in words[0].split()])
            case "loses":
                self.dealer.lost = [card_byte(name) for name in words[0].split()]
            case "fault":
                self.faults.do(words[0])
            case "wait":
                yield int(words[0]) * MS
            case "link":
                self._tell_link(words[0].split())
            case "magic" | "lucky":
                magic, lucky = self._selection
                self._selection = (words[0], lucky) if verb == "magic" else (magic, int(words[0]))
                if self._link is not None:
                    self._link.select(*self._selection)

    def _pull(self) -> Pause:
        """The next card or packet. People hold on for a moment, and longer while the prompt asks
        for the card: the gate opens a little after that."""
        lay, why = self._cards_out(), ""
        began_us = self.table.clock.now_us
        while True:
            device = self.table.shoe or self.table.shuffler
            why = device.shut_because if device is not None else ""
            yield from self.dealer.deal()
            if self._cards_out() != lay:
                return
            patience_us = EXPECT_US if self.dealer.words()[:1] == ["DEAL"] else PULL_US
            if self.table.clock.now_us >= began_us + patience_us:
                self.ending.notes.append(f"no card came: {why}" if why else "no card came")
                return

    def _cards_out(self) -> int:
        return sum(map(len, self.table.felt.hands.values()))

    def _stack(self, first: Iterable[int]) -> None:
        """These cards come out next: of the shoe if it is loaded, else at the next load."""
        first = list(first)
        shoe = self.table.shoe
        if shoe is not None and shoe.remaining:
            shoe.remaining[:] = [*first, *(c for c in shoe.remaining if c not in first)]
        else:
            self.dealer.next_cards = first

    def _credits(self, seat: int, count: int) -> Pause:
        acceptors = self.table.acceptors
        if acceptors is None:
            raise Stuck("this table has no acceptors")
        if self.scenario.game == "MBS3":  # a wager on the sensor, not credits
            acceptors.wager(seat, count > 0)
            yield CREDIT_US
            return
        for _ in range(count):
            before = acceptors.boxes[seat]
            for _ in range(CHIP_TRIES):
                yield from self._offer(acceptors, seat)
                if acceptors.boxes[seat] != before:
                    break
            else:
                self.ending.notes.append(f"seat {seat}: a credit was not taken")

    @staticmethod
    def _offer(acceptors: Acceptors, seat: int) -> Pause:
        """A chip into the throat, and wait until it is gone or comes back."""
        for _ in range(CREDIT_TRIES):
            if acceptors.insert(seat):
                break
            yield 200 * MS
        yield CREDIT_US
        for _ in range(CREDIT_TRIES):
            if not acceptors.holds(seat):
                break
            yield 200 * MS

    def _tell_link(self, words: list[str]) -> None:
        if self._link is None:
            raise Stuck("nobody plays the link in this run")
        if words[0] == "meter":
            self._link.meter(cents(words[1]))
        elif words[0] == "lost":
            self._link.lost()
        else:
            self._link.back()

    def _expect(self, verb: str, words: tuple[str, ...]) -> Pause:
        table = self.table
        seen: dict[str, Callable[[], bool]] = {
            "expect prompt": lambda: words[0].lower() in _flat(table.prompt()).lower(),
            "expect keys": lambda: (
                table.prompt()[3].split()[: len(words[0].split())] == words[0].split()
            ),
            "expect lamp": lambda: table.lamps()[int(words[0]) - 1] == words[1],
            "expect meter": lambda: table.meter().strip() == words[0],
            "expect magic": lambda: (table.magic() or "dark") == words[0],
            "expect sign": lambda: table.sign is not None and words[0] in table.sign.visible(),
        }
        what = " ".join((verb.removeprefix("expect "), *words))
        try:
            yield from self.dealer.wait_for(seen[verb], EXPECT_US, what)
        except Stuck as stuck:
            shown = f"{stuck}; lamps {table.lamps()}; meter {table.meter()!r}"
            raise Stuck(shown) from None


def _flat(lines: Iterable[str]) -> str:
    return " ".join(" ".join(lines).split())


# --- what players do with chips ----------------------------------------------------------------


def _bets(d: Director, w: tuple[str, ...]) -> None:
    felt, spots = d.table.felt, w[2].split()
    stacks = felt.rack.pay_each(cents(w[1]), len(spots))
    for spot, stack in zip(spots, stacks, strict=True):
        felt.place(int(w[0]), spot, stack)


def _stacks(d: Director, w: tuple[str, ...]) -> None:
    d.table.felt.place(int(w[0]), w[3], d.table.felt.rack.pay_stack(cents(w[2]), int(w[1])))


def _takes(d: Director, w: tuple[str, ...]) -> None:
    d.table.felt.rack.put(d.table.felt.take(int(w[0]), w[1]))


def _moves(d: Director, w: tuple[str, ...]) -> None:
    d.table.felt.place(int(w[0]), w[2], d.table.felt.take(int(w[0]), w[1]))


def _promo(d: Director, w: tuple[str, ...]) -> None:
    d.table.felt.place(int(w[0]), w[2], d.table.felt.rack.pay(cents(w[1]), "promo"))


def _strange(d: Director, w: tuple[str, ...]) -> None:
    d.table.felt.place(int(w[0]), w[1], d.table.felt.rack.pay(PROMO, "unknown"))


def _copies(d: Director, w: tuple[str, ...]) -> None:
    stack = d.table.felt.spots.get((int(w[0]), w[1]))
    if not stack:
        raise Stuck(f"no chip on {w[0]}/{w[1]} to copy")
    d.table.felt.copied[int(w[0]), w[2]] = stack[-1].uid


def _pot(d: Director, w: tuple[str, ...]) -> None:
    d.table.felt.place(0, "pot", d.table.felt.rack.pay(cents(w[0])))


def _takes_pot(d: Director, _w: tuple[str, ...]) -> None:
    d.table.felt.rack.put(d.table.felt.take(0, "pot"))


def _will(d: Director, w: tuple[str, ...]) -> None:
    d.plans.answers[int(w[0])] = w[1].split()
    if d.plans.asked[0] == int(w[0]):  # what was answered before is over
        d.plans.asked = (0, "")


_CHIPS: Final[dict[str, Callable[[Director, tuple[str, ...]], None]]] = {
    "bets": _bets,
    "stacks": _stacks,
    "takes": _takes,
    "moves": _moves,
    "promo": _promo,
    "strange": _strange,
    "copies": _copies,
    "pot": _pot,
    "takes pot": _takes_pot,
    "will": _will,
}
