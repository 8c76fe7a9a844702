"""Tells a round in the terminal as it happens: one line for each thing a guest would see."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from controller.rules.cards import NAMES, Card
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from record.kit.money import cents_text
from record.rounds import ending

PIPS = {"c": "♣", "d": "♦", "h": "♥", "s": "♠"}
RED = "\x1b[31m"
BOLD = "\x1b[1m"
DIM = "\x1b[2m"
PLAIN = "\x1b[0m"


class Narrator:
    def __init__(self, write: Callable[[str], object], *, colour: bool) -> None:
        self.write = write
        self.colour = colour
        self.dealt: dict[int, list[Card]] = {}
        self.shown: dict[int, Any] = {}
        self.wagers: Mapping[int, Mapping[str, int]] = {}

    def start(self, wagers: Mapping[int, Mapping[str, int]]) -> None:
        """A new round: forget the cards of the last one."""
        self.dealt, self.shown, self.wagers = {}, {}, wagers

    # --- words ---------------------------------------------------------------------------------

    def style(self, text: str, code: str) -> str:
        return f"{code}{text}{PLAIN}" if self.colour else text

    def card(self, card: Card) -> str:
        name = NAMES[card].replace("T", "10")
        shown = name[:-1] + PIPS[name[-1]]
        return self.style(shown, RED) if name[-1] in "dh" else shown

    def cards(self, cards: Any) -> str:
        return " ".join(self.card(c) for c in cards)

    def line(self, text: str) -> None:
        self.write(f"  {text}\n")

    def title(self, text: str) -> None:
        self.write("\n" + self.style(text, BOLD) + "\n" + "─" * min(len(text), 78) + "\n")

    # --- what happens --------------------------------------------------------------------------

    def tell(self, fact: f.Fact, effects: tuple[fx.Effect, ...]) -> None:
        self._fact(fact)
        for effect in effects:
            self._effect(effect)

    def _fact(self, fact: f.Fact) -> None:
        what = fact.what
        if isinstance(what, f.BetsOpened):
            self.line("“Place your bets, please.”")
        elif isinstance(what, f.BetsClosed):
            for seat, placed in self.wagers.items():
                told = "   ".join(f"{spot} {cents_text(c)}" for spot, c in placed.items())
                self.line(f"Seat {seat} bets {told}")
            self.line("“No more bets.”")
        elif isinstance(what, f.Decided):
            chosen = "lets it ride" if what.choice == "ride" else "takes it back"
            self.line(f"Seat {what.seat} on {what.spot}: {chosen}")
        elif isinstance(what, f.PlayerAbsent):
            seen = "has seen the cards" if what.viewed else "has not seen the cards"
            self.line(f"Seat {what.seat} is not there to decide ({seen})")
        elif isinstance(what, f.Folded):
            self.line(f"Seat {what.seat} folds")
        elif isinstance(what, f.Played):
            self.line(f"Seat {what.seat} plays")
        elif isinstance(what, f.DealConfirmed):
            self._table()
        elif isinstance(what, f.JackpotLocked):
            self.line(f"The link locks the jackpot at {cents_text(what.jackpot_cents)}")

    def _table(self) -> None:
        for seat, cards in sorted(self.dealt.items()):
            self.line(f"{'Dealer' if seat == 0 else f'Seat {seat}'}: {self.cards(cards)}")

    def _effect(self, effect: fx.Effect) -> None:
        match effect:
            case fx.Refused(reason, clause):
                self.line(self.style(f"Refused: {reason} ({clause})", DIM))
            case fx.ShowSelection(magic, lucky):
                magic_card = "none" if magic is None else self.card(magic)
                self.line(f"Magic card {magic_card}, lucky player: seat {lucky}")
            case fx.ShowCommunity(number, card):
                self.line(f"Community card {number}: {self.card(card)}")
            case fx.ShowBonusCard(card):
                self.line(f"Middle card: {self.card(card)}")
            case fx.ShowMagicHit(seats):
                self.line(f"Magic card! Seats {', '.join(map(str, seats)) or 'none'}")
            case fx.ShowHand():
                self._hand(effect)
            case fx.ShowAward(seat, kind, cents):
                self.line(f"Seat {seat}: {kind.replace('_', ' ')} {cents_text(cents)}")
            case fx.ClaimJackpot(_, claims):
                for seat, hand, percent in claims:
                    self.line(f"Seat {seat} claims {percent}% of the jackpot: {hand}")
            case fx.ShowDealtCard(seat, card):
                self.dealt.setdefault(seat, []).append(card)
                if len(self.dealt[seat]) == 5 and seat:
                    self.line(f"Seat {seat} has {self.cards(self.dealt[seat])}")
            case fx.ShowKickout(out):
                self.line("Kickout: the dealer folds" if out else "The dealer's hand plays")
            case fx.ShowPot(cents, winners) if winners:
                named = ", ".join(f"seat {w}" if isinstance(w, int) else str(w) for w in winners)
                self.line(f"The pot of {cents_text(cents)} goes to {named}")
            case fx.RaiseAlarm(code, alarm_seat, detail, clause):
                self.line(f"Alarm: {code}, seat {alarm_seat}, {detail} ({clause})")
            case fx.PublishRound(_, record, result):
                self.summary(record, result)
            case _:
                pass

    def _hand(self, effect: fx.ShowHand) -> None:
        before = self.shown.get(effect.seat)
        wagers = effect.pays["wagers"]
        if before is None:
            self.line(f"Seat {effect.seat} opens {self.cards(effect.cards)}: {effect.hand}")
        else:
            self.line(f"Seat {effect.seat}, what was open:")
            wagers = {s: w for s, w in wagers.items() if before.get(s) != w}
        self.shown[effect.seat] = {**(before or {}), **wagers}
        for spot, wager in wagers.items():
            if wager is None:
                self.line(f"    {spot:12} waits for the jackpot")
                continue
            odds = f" at {wager['odds']}" if wager["odds"] else ""
            amount = cents_text(wager["to_player"])
            self.line(f"    {spot:12} {wager['status']:10}{odds:24} {amount:>12}")
        for award in effect.pays["awards"]:
            self.line(f"    {award['kind']:47} {cents_text(award['amount']):>12}")

    def summary(self, record: Any, result: Any) -> None:
        nets = "   ".join(f"seat {row['seat']} {_signed(row['net'])}" for row in result["seats"])
        clauses = f"   {', '.join(result['clauses'])}" if result["clauses"] else ""
        self.line(self.style(f"{ending(record, result)}: {nets}{clauses}", BOLD))
        self.line(self.style(f"house {_signed(result['house_net'])}", BOLD))


def _signed(cents: int | None) -> str:
    if cents is None:
        return "held"
    return ("+" if cents > 0 else "") + cents_text(cents)
