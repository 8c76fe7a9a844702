"""The progressive wager under one configuration: what a round wins, and what is too much.

The arithmetic is ``controller.rules.progressive_return``, which the table's opening gate uses too.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from math import ceil

from controller.math.exact import Distribution, percent_text
from controller.rules import progressive_return as pr
from controller.rules.book import Book
from controller.rules.hands import Hand
from controller.rules.money import percent_of
from controller.rules.paytables import JackpotShare, Odds, PayTable
from controller.rules.settings import Settings, TableSettings


@dataclass(frozen=True, slots=True)
class Play:
    """A progressive wager of one credit under one configuration."""

    book: Book
    awards: PayTable
    settings: Settings
    table: TableSettings

    def line(self, seats: int) -> pr.ReturnLine:
        return pr.return_line(self.book, self.settings, self.table, seats)

    @property
    def stake(self) -> int:
        return self.table.credit_cents

    def award(self, hand: Hand, meter_cents: int) -> Fraction | None:
        """What a hand wins in stakes, or None."""
        pay = self.awards.pay(hand)
        if isinstance(pay, Odds):
            return Fraction(pay.to_one)
        if isinstance(pay, JackpotShare):
            return Fraction(percent_of(meter_cents, pay.percent), self.stake)
        return None

    def result(self, seats: int, meter_cents: int) -> Distribution:
        """Net result of a round in stakes, envy left out (it hangs on other players' hands)."""
        return Distribution.of(self._outcomes(seats, meter_cents))

    def _outcomes(self, seats: int, meter_cents: int) -> Iterator[tuple[Fraction, Fraction]]:
        magic, lucky = self.book.magic_card, self.book.lucky_player
        magic_awards = _award_or_not(
            magic.to_one if magic else 0, pr.magic_chance(self.book, self.table)
        )
        lucky_awards = _award_or_not(
            lucky.to_one if lucky else 0, pr.lucky_chance(self.book, self.table, seats)
        )
        for hand in Hand:
            by_hand = self.award(hand, meter_cents)
            for by_magic, p in magic_awards:
                for by_lucky, q in lucky_awards:
                    awards = [a for a in (by_hand, by_magic, by_lucky) if a is not None]
                    back = 1 if awards and self.settings.progressive_stake_returned else 0
                    yield sum(awards, Fraction(back - 1)), pr.chance(hand) * p * q


def _award_or_not(
    to_one: int, chance: Fraction
) -> tuple[tuple[Fraction | None, Fraction], tuple[Fraction | None, Fraction]]:
    return ((Fraction(to_one), chance), (None, 1 - chance))


def second_award_loss(play: Play, others: int, meter_cents: int) -> Fraction:
    """What the last seat to settle loses, in stakes, because others emptied the meter before it.

    Two hands at most share the jackpot in a round, so the cases of the others add up.
    """
    lost = Fraction(0)
    for (mine, theirs), deals in pr.SHARED_JACKPOT_DEALS.items():
        first, second = play.awards.pay(theirs), play.awards.pay(mine)
        if isinstance(first, JackpotShare) and isinstance(second, JackpotShare):
            left = meter_cents - percent_of(meter_cents, first.percent)
            if first.percent == 100:
                left = play.settings.jackpot_reset
            cut = percent_of(meter_cents, second.percent) - percent_of(left, second.percent)
            lost += Fraction(deals * cut, pr.TWO_SEAT_DEALS)
    return others * lost / play.stake


def largest_lucky_rate(book: Book, settings: Settings, table: TableSettings) -> Fraction | None:
    """The most frequent lucky player that leaves the return at reset at 100 % or less.

    The return is linear in the rate, and highest with a single progressive seat.
    """

    def at_reset(rate: Fraction) -> Fraction:
        changed = replace(table, lucky_rate=rate)
        return pr.return_at_reset(book.key, settings, changed, 1)

    never, always = at_reset(Fraction(0)), at_reset(Fraction(1))
    if never > 1:
        return None
    return min(Fraction(1), (1 - never) / (always - never))


def one_in(rate: Fraction | None) -> str | None:
    """The largest ``1/n`` that is not above the rate."""
    return f"1/{ceil(1 / rate)}" if rate else None


def warnings(book: Book, settings: Settings, table: TableSettings) -> tuple[str, ...]:
    """What must not be overlooked: a progressive that gives money away from its reset value on."""
    highest = pr.over_100_percent(book.key, settings, table)
    if highest is None:
        return ()
    over = [
        seats
        for seats in range(1, table.seats + 1)
        if pr.return_at_reset(book.key, settings, table, seats) > 1
    ]
    which = f"{over[0]}" if len(over) == 1 else f"{over[0]} to {over[-1]}"
    text = (
        f"the progressive wager returns up to {percent_text(highest, 2)} at its reset value; it is "
        f"over 100 % with {which} of {table.seats} seats in it"
    )
    if book.lucky_player:
        rate = largest_lucky_rate(book, settings, table)
        if rate:
            text += f"; with a lucky_rate of at most {one_in(rate)} it is not"
        else:
            text += "; no lucky_rate alone mends it"
    return (text + ".",)
