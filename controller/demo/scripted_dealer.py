"""A dealer for the engine: plays whole rounds through ``step`` from a deck and a few choices.

The demo and the tests share it. It moves the chips as people would, so that the engine sees what
sensors would see. It holds no rule: what to do next it learns from the state.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

from controller.rules.cards import DECK, Card, HiddenCard
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.common import POT, POT_SEAT, spot_of, undecided
from controller.rules.engine.deal import DEALER, next_place, packet_size, uses_packets
from controller.rules.engine.ricochet_play import left_in_pot
from controller.rules.engine.settlement import to_open, to_settle
from controller.rules.engine.state import Phase, TableState
from controller.rules.engine.step import step

DEALER_AT_TABLE = f.Declared("D1", f.Role.DEALER)
SUPERVISOR = f.Declared("S1", f.Role.CASINO_SUPERVISOR)
SHOE = f.Measured("shoe")
CHIPS = f.Measured("chips")

Choice = Literal["ride", "withdraw"]
Told = Callable[[f.Fact, tuple[fx.Effect, ...]], None]


class RefusedFact(AssertionError):
    """The engine refused what a plain round does: a bug in engine or dealer."""


@dataclass
class ScriptedDealer:
    state: TableState
    deck: list[Card]
    """Cards to come, the next one last."""
    ride: Callable[[int, str], Choice] = lambda _seat, _spot: "ride"
    plays: Callable[[int], bool] = lambda _seat: True
    told: Told | None = None
    facts: list[f.Fact] = field(default_factory=list)
    clock_ms: int = 0

    def try_(self, what: f.What, by: f.Source = DEALER_AT_TABLE) -> tuple[fx.Effect, ...]:
        """One fact through the engine, accepted or not."""
        self.clock_ms += 1000
        fact = f.Fact(what, by, self.clock_ms)
        self.state, effects = step(self.state, fact)
        self.facts.append(fact)
        if self.told is not None:
            self.told(fact, effects)
        return effects

    def do(self, what: f.What, by: f.Source = DEALER_AT_TABLE) -> tuple[fx.Effect, ...]:
        effects = self.try_(what, by)
        for effect in effects:
            if isinstance(effect, fx.Refused):
                raise RefusedFact(f"{what}: {effect.reason} ({effect.clause})")
        return effects

    # --- before the deal -----------------------------------------------------------------------

    def prepare(self, deck: str = "red") -> None:
        """Check, shuffle and cut as far as the book asks for it."""
        rules = self.state.rules
        if deck not in self.state.deck.seals:
            self.do(f.DeckChecked(deck, passed=True), SUPERVISOR)
        self.do(f.DeckShuffled(deck), SHOE)
        if not uses_packets(rules):
            self.do(f.DeckCut())

    def place(self, number: int, spot: str, cents: int) -> None:
        if spot == "progressive":
            count = cents // self.state.rules.table.credit_cents
            self.do(f.CreditsRead(number, count), f.Measured("acceptor"))
        else:
            self.do(f.WagerRead(number, spot, cents), CHIPS)

    def take(self, number: int, spot: str) -> None:
        if spot != "progressive" and self.state.spots.get((number, spot)):
            self.do(f.WagerRead(number, spot, 0), CHIPS)

    def bets(self, wagers: Mapping[int, Mapping[str, int]]) -> None:
        """From the opening call to the lock."""
        self.do(f.BetsOpened())
        for number, placed in wagers.items():
            for spot, cents in placed.items():
                self.place(number, spot, cents)
        if self.state.rules.book.family == "ricochet":
            due = (self.state.rules.money.ante or 0) + self.state.carried
            self.do(f.WagerRead(POT_SEAT, POT, due), CHIPS)
        self.do(f.BetsClosed())

    def select(self, magic_card: Card | None, lucky_seat: int | None) -> None:
        self.do(f.SelectionCommitted("digest"), f.Measured("selector"))
        self.do(f.SelectionRevealed(magic_card, lucky_seat), f.Measured("selector"))

    # --- the deal ------------------------------------------------------------------------------

    def is_in(self, *phases: Phase) -> bool:
        return self.state.phase in phases

    def draw(self) -> HiddenCard:
        return HiddenCard(self.deck.pop())

    def deal_one(self) -> None:
        if uses_packets(self.state.rules):
            place = next_place(self.state)
            size = packet_size(self.state.rules, DEALER if place is None else place)
            self.do(f.PacketDispensed(tuple(self.draw() for _ in range(size))), SHOE)
        else:
            self.do(f.CardDrawn(self.draw()), SHOE)

    def deal(self) -> None:
        while self.is_in(Phase.LOCKED, Phase.DEALING):
            self.deal_one()

    # --- decisions -----------------------------------------------------------------------------

    def decide(self) -> None:
        """Every seat that is asked answers; the dealer pushes withdrawn chips back."""
        spot = spot_of(self.state.phase)
        while (waiting := undecided(self.state)) and spot is not None:
            choice = self.ride(waiting[0], spot)
            self.do(f.Decided(waiting[0], spot, choice))
            if choice == "withdraw":
                self.take(waiting[0], spot)

    def turn(self, number: Literal[1, 2]) -> None:
        self.do(f.CommunityTurned(number))

    def settle(self) -> None:
        """Open, pay and collect from the dealer's right."""
        while self.is_in(Phase.SETTLEMENT):
            if due := to_settle(self.state):
                waits = self.state.claims and self.state.jackpot is None
                if waits and due[0] in [seat for seat, _, _ in self.state.claims]:
                    if to_open(self.state):
                        self.do(f.HandOpened(to_open(self.state)[0]))
                    else:
                        self.do(f.JackpotLocked(self.state.meter), f.Measured("link"))
                    continue
                owes = self.state.seats[due[0]].lifted
                self.do(f.SeatSettled(due[0]), SUPERVISOR if owes else DEALER_AT_TABLE)
                self._clear(due[0])
            elif self.state.bonus is None and to_open(self.state):
                self.do(f.HandOpened(to_open(self.state)[0]))
            elif self.state.result is None:
                self.do(f.BonusCardTurned())
            else:
                self.do(f.RoundEnded())

    def _clear(self, number: int) -> None:
        for spot in self.state.rules.book.wagers:
            if spot != "six_card" or self.state.bonus is not None:
                self.take(number, spot)

    def let_it_ride(self) -> None:
        """The rest of a Let It Ride round after the lock."""
        self.deal()
        self.do(f.CardsHandled())
        self.decide()
        self.turn(1)
        self.decide()
        self.turn(2)
        self.settle()

    def clear_table(self) -> None:
        for number, spot in list(self.state.spots):
            self.take(number, spot)

    # --- Ricochet ------------------------------------------------------------------------------

    def fill_pot(self) -> None:
        """Chips of dead hands are moved until the pot is what the ledger says."""
        table = self.state.showdown
        if table is None:
            return
        if self.state.spots.get((POT_SEAT, POT)) != table.pot:
            self.do(f.WagerRead(POT_SEAT, POT, table.pot), CHIPS)
        for number, final in table.final.items():
            if final != "live":
                self.take(number, "ante")
                self.take(number, "play")

    def ricochet(self) -> None:
        self.deal()
        self.do(f.DealConfirmed())
        ante = self.state.rules.money.ante or 0
        while self.is_in(Phase.ACTION):
            self.fill_pot()
            assert self.state.showdown is not None
            number = self.state.showdown.to_act
            assert number is not None
            if self.plays(number):
                self.do(f.WagerRead(number, "play", ante), CHIPS)
                self.do(f.Played(number))
                while self.is_in(Phase.DRAW):
                    self.deal_one()
            else:
                self.do(f.Folded(number))
        self.end_ricochet()

    def end_ricochet(self) -> None:
        self.fill_pot()
        for number in self.state.seats:
            for spot in ("ante", "play", "rapid_fire", "hedge"):
                self.take(number, spot)
        self.do(f.WagerRead(POT_SEAT, POT, left_in_pot(self.state)), CHIPS)
        self.do(f.RoundEnded())

    # --- whole rounds --------------------------------------------------------------------------

    def round(self, wagers: Mapping[int, Mapping[str, int]]) -> None:
        self.prepare()
        self.bets(wagers)
        if self.state.rules.book.family == "ricochet":
            self.ricochet()
        else:
            self.let_it_ride()


def stacked(first: Sequence[Card], rng: random.Random) -> list[Card]:
    """A deck that deals ``first`` in order and the rest shuffled, next card last."""
    rest = [c for c in DECK if c not in set(first)]
    rng.shuffle(rest)
    return [*rest, *reversed(first)]
