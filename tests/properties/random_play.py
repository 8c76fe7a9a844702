"""Random rounds through the engine: a croupier who makes mistakes, players who misbehave.

Everything comes from one seed. Mischief is any fact at all; most of it is refused.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from controller.demo.scripted_dealer import CHIPS, SHOE, SUPERVISOR, ScriptedDealer
from controller.rules.cards import DECK, Card, HiddenCard
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.authority import MEASURED_ONLY
from controller.rules.engine.common import POT, POT_SEAT, spot_of, undecided, unresolved
from controller.rules.engine.deal import uses_packets
from controller.rules.engine.ricochet_play import left_in_pot
from controller.rules.engine.settlement import to_open, to_settle
from controller.rules.engine.state import Phase
from controller.rules.hands import Hand

STAKES = (500, 1000, 2500)

OTHER = f.Declared("S2", f.Role.CASINO_SUPERVISOR)


@dataclass
class Chaos(ScriptedDealer):
    rng: random.Random = field(default_factory=random.Random)
    mischief: float = 0.0
    wagers: dict[int, dict[str, int]] = field(default_factory=dict)

    def play_round(self, most_steps: int = 600) -> bool:
        """Until a round is closed; False if it got stuck (a dispute nobody decides, say)."""
        closed = len(self.state.history)
        self.wagers = random_wagers(self)
        for _ in range(most_steps):
            if len(self.state.history) > closed:
                return True
            self.step_once()
        return len(self.state.history) > closed

    def step_once(self) -> None:
        if self.rng.random() < self.mischief:
            self.try_(*random_fact(self))
        else:
            self.natural()

    def natural(self) -> None:
        {
            Phase.IDLE: self._idle,
            Phase.BETTING: self._betting,
            Phase.LOCKED: self._locked,
            Phase.DEALING: self._deal,
            Phase.DECISION_1: self._deciding,
            Phase.DECISION_2: self._deciding,
            Phase.DEALT: lambda: self.try_(f.DealConfirmed()),
            Phase.ACTION: self._acting,
            Phase.DRAW: self._deal,
            Phase.SETTLEMENT: self._settling,
            Phase.VOIDING: self._voiding,
            Phase.FROZEN: self._frozen,
        }[self.state.phase]()

    def _deal(self) -> None:
        size = 3 if uses_packets(self.state.rules) else 1
        if len(self.deck) < size:
            self.deck = [c for c in DECK if HiddenCard(c) not in self.state.drawn] or list(DECK)
            self.rng.shuffle(self.deck)
            if len(self.deck) < size:
                self.deck = list(DECK)
        if uses_packets(self.state.rules):
            self.try_(f.PacketDispensed(tuple(self.draw() for _ in range(size))), SHOE)
        else:
            self.try_(f.CardDrawn(self.draw()), SHOE)

    def _idle(self) -> None:
        self.deck = list(DECK)
        self.rng.shuffle(self.deck)
        for number, spot in list(self.state.spots):
            self.take(number, spot)
        deck = self.state.deck.name or "red"
        self.try_(f.DeckChecked(deck, passed=True), SUPERVISOR)
        self.try_(f.DeckShuffled(deck), SHOE)
        self.try_(f.DeckCut())
        self.try_(f.DecksLoaded("red", "blue"), SHOE)
        self.try_(f.ShufflerReady(), SHOE)
        self.try_(f.LinkRestored(), f.Measured("link"))
        self.try_(f.BetsOpened())

    def _betting(self) -> None:
        for number, placed in self.wagers.items():
            for spot, cents in placed.items():
                if spot == "progressive":
                    self.try_(f.CreditsRead(number, cents // 100), f.Measured("acceptor"))
                elif self.state.spots.get((number, spot)) != cents:
                    self.try_(f.WagerRead(number, spot, cents), CHIPS)
        if self.state.rules.book.family == "ricochet":
            due = (self.state.rules.money.ante or 0) + self.state.carried
            self.try_(f.WagerRead(POT_SEAT, POT, due), CHIPS)
        effects = self.try_(f.BetsClosed())
        if any(isinstance(e, fx.Refused) for e in effects):
            self.try_(f.SeatLeftOut(self.rng.randint(1, 7)))
            if self.rng.random() < 0.3:
                self.try_(f.SeatReadmitted(self.rng.randint(1, 7)), SUPERVISOR)

    def _locked(self) -> None:
        if self.state.rules.book.magic_card is not None and self.state.commitment is None:
            self.try_(f.SelectionCommitted("digest"), f.Measured("selector"))
            magic = Card(self.rng.randrange(52))
            self.try_(f.SelectionRevealed(magic, self.rng.randint(1, 7)), f.Measured("selector"))
        before = len(self.state.drawn)
        self._deal()
        if len(self.state.drawn) == before:
            deck = self.state.deck.name or "red"
            self.try_(f.DeckChecked(deck, passed=True), SUPERVISOR)
            self.try_(f.DeckShuffled(deck), SHOE)
            self.try_(f.DeckCut())
            self.try_(f.ShufflerReady(), SHOE)

    def _deciding(self) -> None:
        spot = spot_of(self.state.phase)
        assert spot is not None
        if waiting := undecided(self.state):
            choice = self.rng.choice(("ride", "withdraw"))
            self.try_(f.Decided(waiting[0], spot, choice))  # type: ignore[arg-type]
            if choice == "withdraw":
                self.take(waiting[0], spot)
        elif apart := unresolved(self.state):
            self.try_(f.SeatRuled(apart[0], "stays live"), SUPERVISOR)
            if self.state.seats[apart[0]].decisions.get(spot) == "withdraw":
                self.take(apart[0], spot)
        else:
            number: Any = 1 if self.is_in(Phase.DECISION_1) else 2
            if any(isinstance(e, fx.Refused) for e in self.try_(f.CommunityTurned(number))):
                self.try_(f.CountFound(None, number - 1))

    def _acting(self) -> None:
        table = self.state.showdown
        assert table is not None
        number = table.to_act
        assert number is not None
        due = table.pot
        if self.state.spots.get((POT_SEAT, POT)) != due:
            self.try_(f.WagerRead(POT_SEAT, POT, due), CHIPS)
        elif self.rng.random() < 0.6:
            self.try_(f.WagerRead(number, "play", self.state.rules.money.ante or 0), CHIPS)
            self.try_(f.Played(number))
        else:
            self.try_(f.Folded(number))

    def _settling(self) -> None:
        state = self.state
        for by in (SUPERVISOR, OTHER):
            self.try_(f.DisputeDecided(min(state.disputes, default=1), "stands"), by)
        if state.rules.book.family == "ricochet":
            self.clear_table()
            self.try_(f.WagerRead(POT_SEAT, POT, left_in_pot(state)), CHIPS)
            self.try_(f.RoundEnded())
            return
        due, closed = to_settle(state), to_open(state)
        claimed = {n for n, _, _ in state.claims} if state.jackpot is None else set()
        ready = [n for n in due if n not in claimed]
        if held := [n for n in state.live if state.seats[n].held is not None]:
            ruling: Any = self.rng.choice(("hand void", "ride", "play on"))
            self.try_(f.SeatRuled(held[0], ruling), SUPERVISOR)
        elif ready:
            self.try_(f.SeatSettled(ready[0]), SUPERVISOR)
            self._clear(ready[0])
        elif closed and state.bonus is None:
            if any(isinstance(e, fx.Refused) for e in self.try_(f.HandOpened(closed[0]))):
                self.try_(f.CountFound(closed[0], 2))
        elif claimed:
            self.try_(f.JackpotLocked(self.rng.randrange(10**7)), f.Measured("link"))
        elif state.result is None:
            self.try_(f.BonusCardTurned())
        else:
            for number in state.seats:
                self._clear(number)
            self.try_(f.RoundEnded())

    def _voiding(self) -> None:
        self.clear_table()
        self.try_(f.VoidCleared())

    def _frozen(self) -> None:
        frozen = self.state.frozen
        assert frozen is not None
        ruling: Any = self.rng.choice(frozen.answers)
        left = [c for c in DECK if HiddenCard(c) not in self.state.drawn]
        card = HiddenCard(self.rng.choice(left)) if left else None
        self.try_(f.SupervisorRuled(ruling, card=card), SUPERVISOR)
        self.try_(f.RulingSeconded())


def random_wagers(croupier: Chaos) -> dict[int, dict[str, int]]:
    rng, rules = croupier.rng, croupier.state.rules
    seats = sorted(rng.sample(range(1, rules.table.seats + 1), rng.randint(1, rules.table.seats)))
    placed: dict[int, dict[str, int]] = {}
    for number in seats:
        unit = rng.choice(STAKES)
        if rules.book.family == "ricochet":
            wager = {"ante": rules.money.ante or 0}
            wager |= {"rapid_fire": 200} if rng.random() < 0.5 else {}
            wager |= {"hedge": 100} if rng.random() < 0.5 else {}
        elif rules.book.circles_optional:
            unit = rng.choice((200, 500, 1000))
            wager = {"1": unit * rng.randint(0, 1), "2": unit * rng.randint(0, 1), "$": unit}
            wager |= {"pair_plus": 100 * rng.randint(0, 2), "six_card": 100 * rng.randint(0, 2)}
        else:
            wager = {"1": unit, "2": unit, "$": unit}
            if rng.random() < croupier.mischief:
                wager["2"] += 500
            if rules.book.progressive is not None and rng.random() < 0.7:
                wager["progressive"] = 100 * rng.randint(1, rules.table.max_credits)
        placed[number] = {s: c for s, c in wager.items() if c}
    return placed


def _of_the_table(croupier: Chaos, seat: int, cents: int) -> tuple[Callable[[], f.What], ...]:
    rng, yes = croupier.rng, croupier.rng.random() < 0.5
    return (
        f.CountOrdered,
        lambda: f.BreachNoted((seat,), "x"),
        lambda: f.SignShown("higher minimum"),
        lambda: f.LimitsChanged(None, cents or None),
        f.ProgressiveOpened,
        lambda: f.DeckChecked(rng.choice(("red", "blue")), yes),
        lambda: f.DeckShuffled(rng.choice(("red", "blue"))),
        f.DeckCut,
        lambda: f.DecksLoaded("red", "red" if yes else "blue"),
        f.ShufflerReady,
        f.LinkRestored,
        lambda: f.SeatReadmitted(seat),
        lambda: f.SelectionCommitted("x"),
        lambda: f.SelectionRevealed(Card(rng.randrange(52)), seat),
        lambda: f.CardCorrected(seat, rng.randint(1, 3), Card(rng.randrange(52))),
        lambda: f.DisputeDecided(seat, "x"),
        lambda: f.AwardChanged("a", "rejected", cents),
        lambda: f.MysteryWon(croupier.state.round_no, seat, "m", "mini", cents),
    )


def random_fact(croupier: Chaos) -> tuple[f.What, f.Source]:
    """Any fact, mostly nonsense; the person is often one who may declare it."""
    rng = croupier.rng
    seat, other = rng.randint(1, 7), rng.randint(1, 7)
    spot = rng.choice((*croupier.state.rules.book.wagers, "play", "$"))
    cents = rng.choice((0, 100, 500, 1000, 1500, 2500, 3000))
    yes = rng.random() < 0.5
    hidden = HiddenCard(Card(rng.randrange(52)))
    makers: tuple[Callable[[], f.What], ...] = (
        lambda: f.WagerRead(seat, spot, cents),
        lambda: f.WagerRead(seat, spot, cents),
        lambda: f.CreditsRead(seat, rng.randint(0, 3)),
        lambda: f.WagerDeclared(seat, spot, cents),
        f.BetsOpened,
        f.BetsClosed,
        lambda: f.SeatLeftOut(seat),
        lambda: f.WagerRefused(seat, "x"),
        lambda: f.CardDrawn(hidden),
        lambda: f.PacketDispensed((hidden,) * rng.randint(1, 3)),
        f.CutCardSeen,
        f.UnknownCardSeen,
        lambda: f.CardFaultReported("short", 51),
        f.ShufflerFailed,
        lambda: f.CardsHandled(seat if yes else None),
        lambda: f.Decided(seat, spot, "ride"),
        lambda: f.DecisionCorrected(seat, "1" if yes else "2", "withdraw"),
        lambda: f.RideAllSignalled(seat),
        lambda: f.CommunityTurned(1 if yes else 2),
        lambda: f.PlayerAbsent(seat, yes),
        lambda: f.WagersCorrected(seat, cents),
        lambda: f.CorrectionRefused(seat),
        lambda: f.Folded(seat),
        lambda: f.Played(seat),
        lambda: f.OrderDirected((seat, other), "x"),
        lambda: f.CardExposed(1, yes),
        f.DealtWrong,
        lambda: f.HandsRemapped(seat, other),
        lambda: f.StrayHandFound(seat),
        lambda: f.CountFound(seat if yes else None, rng.randint(1, 4)),
        lambda: f.HandVoided(seat, "x"),
        lambda: f.OutcomeInvalidated("fraud", (seat,) if yes else ()),
        lambda: f.SupervisorRuled("play on"),
        lambda: f.SeatRuled(seat, "stays live" if yes else "hand void"),
        f.BonusCardTurned,
        lambda: f.HandOpened(seat),
        lambda: f.JackpotLocked(cents),
        lambda: f.SeatSettled(seat, Hand.FLUSH if yes else None),
        f.VoidCleared,
        f.RoundEnded,
        lambda: f.DeckCounted(52 if yes else 51),
        lambda: f.MeterReported(rng.randrange(10**8)),
        f.LinkLost,
        lambda: f.ProgressiveClosed("x") if yes else f.ProgressiveOpened(),
        lambda: f.PlayerWarned(seat, "x"),
        lambda: f.DisputeRaised(seat, "x"),
        lambda: f.PayCorrected(croupier.state.round_no - 1, seat, cents, "x"),
        lambda: f.SeatExcluded(seat, "x"),
        f.RulingSeconded,
        f.RoundCalledOff,
        lambda: f.SignRemoved("closing"),
        lambda: f.TimerFired("vacancy"),
        lambda: f.DeckChanged(rng.choice(("red", "blue"))),
        f.DealConfirmed,
        *_of_the_table(croupier, seat, cents),
    )
    what = rng.choice(makers)()
    by: f.Source
    if isinstance(what, MEASURED_ONLY):
        by = f.Measured("sensor")
    else:
        by = SUPERVISOR if rng.random() < 0.7 else f.Declared("D1", f.Role.DEALER)
    return what, by
