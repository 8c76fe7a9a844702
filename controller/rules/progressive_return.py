"""What a progressive wager returns, exactly, as a function of its meter.

A table may not open by mistake with a progressive that pays out more than it takes in at its reset
value; this is the arithmetic behind that gate and behind the par sheets. Pure, standard library
only: the counts of hands are constants here, and an exhaustive test deals every hand to prove them.

The unit is the stake: a return of 1 gives back, on average, exactly what was wagered.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import ceil, comb
from typing import Final

from controller.rules.book import Book
from controller.rules.books import BOOKS
from controller.rules.hands import Hand
from controller.rules.money import percent_of
from controller.rules.paytables import JackpotShare, Odds
from controller.rules.settings import Settings, TableSettings

FIVE_CARD_HANDS: Final = 2_598_960

FIVE_CARD_COUNTS: Final[Mapping[Hand, int]] = {
    Hand.ROYAL_FLUSH: 4,
    Hand.STRAIGHT_FLUSH: 36,
    Hand.FOUR_OF_A_KIND: 624,
    Hand.FULL_HOUSE: 3_744,
    Hand.FLUSH: 5_108,
    Hand.STRAIGHT: 10_200,
    Hand.THREE_OF_A_KIND: 54_912,
    Hand.TWO_PAIR: 123_552,
    Hand.ONE_PAIR: 1_098_240,
    Hand.HIGH_CARD: 1_302_540,
}

TWO_SEAT_DEALS: Final = comb(52, 2) * comb(50, 3) * comb(47, 3)
"""Two community cards, one seat's three cards, another seat's three."""

SHARED_JACKPOT_DEALS: Final[Mapping[tuple[Hand, Hand], int]] = {
    (Hand.STRAIGHT_FLUSH, Hand.STRAIGHT_FLUSH): 48,
    (Hand.STRAIGHT_FLUSH, Hand.ROYAL_FLUSH): 4,
    (Hand.ROYAL_FLUSH, Hand.STRAIGHT_FLUSH): 4,
}
"""Of those deals, the ones that give both seats a hand that takes a share of the jackpot.

Two such hands meet in the two community cards alone, so one starts three ranks above the other:
seven pairs a suit, the royal flush in one of them. A third cannot meet both (a test deals them).
"""

MAGIC_CHANCE: Final = Fraction(5, 52)
"""A card drawn at random from the deck lies in a seat's five cards, whatever those are."""

STRAIGHT_FLUSHES: Final = (Hand.ROYAL_FLUSH, Hand.STRAIGHT_FLUSH)


@dataclass(frozen=True, slots=True)
class ReturnLine:
    """The return of a progressive wager: a constant, and a part that grows with the meter."""

    constant: Fraction
    shares: tuple[tuple[int, Fraction], ...]
    """(percent of the meter, chance) of each percentage award."""
    stake_cents: int

    @property
    def slope(self) -> Fraction:
        """Return per cent of meter, before percentages are rounded down to the cent."""
        each = (percent * chance for percent, chance in self.shares)
        return sum(each, Fraction(0)) / (100 * self.stake_cents)

    def at(self, meter_cents: int) -> Fraction:
        """The return at a meter, its percentages rounded down to the cent as they are paid."""
        paid = (chance * percent_of(meter_cents, percent) for percent, chance in self.shares)
        return self.constant + sum(paid, Fraction(0)) / self.stake_cents

    @property
    def break_even_cents(self) -> Fraction | None:
        """The meter at which the line reaches 1; None if it is above 1 with an empty meter."""
        return (1 - self.constant) / self.slope if self.constant <= 1 else None

    @property
    def break_even_as_paid_cents(self) -> int | None:
        """The least meter in whole cents at which the wager, as it is paid, returns 1 or more."""
        exact = self.break_even_cents
        if exact is None:
            return None
        meter = ceil(exact)
        while self.at(meter) < 1:  # a cent or ten, where a share of the meter was rounded down
            meter += 1
        return meter


def chance(hand: Hand) -> Fraction:
    return Fraction(FIVE_CARD_COUNTS[hand], FIVE_CARD_HANDS)


def hand_award_chance(book: Book) -> Fraction:
    """How often the five cards win the progressive wager something."""
    if book.progressive is None:
        return Fraction(0)
    return sum((chance(hand) for hand in Hand if book.progressive.pay(hand)), Fraction(0))


def magic_chance(book: Book, table: TableSettings) -> Fraction:
    return table.magic_rate * MAGIC_CHANCE if book.magic_card else Fraction(0)


def lucky_chance(book: Book, table: TableSettings, seats: int) -> Fraction:
    """A progressive seat's chance to be the lucky player among ``seats`` progressive seats."""
    if not book.lucky_player:
        return Fraction(0)
    return table.lucky_rate / (seats if table.lucky_pool == "progressive_seats" else table.seats)


def envy_cents(book: Book, settings: Settings, others: int) -> Fraction:
    """Mean envy a round pays to a progressive seat with ``others`` other hands at the table.

    With one payment per hand the means simply add up. If only the highest hand pays, then in the
    deals where two hands trigger the lower one is lost; three cannot.
    """
    each = sum((chance(hand) * cents for hand, cents in book.envy_cents.items()), Fraction(0))
    hands = others + 1 if settings.envy_self else others
    if settings.envy_per_hand or not book.envy_cents:
        return hands * each
    lost = sum(
        deals * min(book.envy_cents[a], book.envy_cents[b])
        for (a, b), deals in SHARED_JACKPOT_DEALS.items()
    )
    return hands * each - comb(hands, 2) * Fraction(lost, TWO_SEAT_DEALS)


def stake_back_chance(book: Book, settings: Settings, table: TableSettings, seats: int) -> Fraction:
    """The stake comes back once, with any of the awards; the three are independent."""
    if not settings.progressive_stake_returned:
        return Fraction(0)
    nothing = 1 - hand_award_chance(book)
    nothing *= 1 - magic_chance(book, table)
    nothing *= 1 - lucky_chance(book, table, seats)
    return 1 - nothing


def return_line(
    book: Book, settings: Settings, table: TableSettings, seats: int, *, credits: int = 1
) -> ReturnLine:
    """The return with ``seats`` seats in the round, all of them with the progressive wager.

    Odds scale with the credits staked; percentages of the jackpot and envy do not (AMB-P03, P07).
    """
    if book.progressive is None:
        raise ValueError(f"{book.key} has no progressive wager")
    stake = credits * table.credit_cents
    constant = Fraction(0)
    shares = []
    for hand in Hand:
        pay = book.progressive.pay(hand)
        if isinstance(pay, Odds):
            constant += chance(hand) * pay.to_one
        elif isinstance(pay, JackpotShare):
            shares.append((pay.percent, chance(hand)))
    if book.magic_card:
        constant += magic_chance(book, table) * book.magic_card.to_one
    if book.lucky_player:
        constant += lucky_chance(book, table, seats) * book.lucky_player.to_one
    constant += stake_back_chance(book, settings, table, seats)
    constant += envy_cents(book, settings, seats - 1) / stake
    return ReturnLine(constant, tuple(shares), stake)


def return_at_reset(game: str, settings: Settings, table: TableSettings, seats: int) -> Fraction:
    """The return of one credit just after the jackpot was won."""
    return return_line(BOOKS[game], settings, table, seats).at(settings.jackpot_reset)


def _returns_at_reset(game: str, settings: Settings, table: TableSettings) -> Iterator[Fraction]:
    if BOOKS[game].progressive is not None:
        for seats in range(1, table.seats + 1):
            yield return_at_reset(game, settings, table, seats)


RAPID_FIRE_DEALS: Final = FIVE_CARD_HANDS * comb(47, 2)
RAPID_FIRE_TIES: Final = 12_821_100
RAPID_FIRE_WINS: Final = 405_665_460
"""Of the dealer's five cards and the player's two, those in which Rapid Fire ties and wins."""


def ricochet_returns(settings: Settings, table: TableSettings) -> dict[str, Fraction]:
    """What each bonus wager that the table offers gives back of a stake; 0 to 1 is a push."""
    found: dict[str, Fraction] = {}
    if table.rapid_fire and (pays := settings.rapid_fire_pay) is not None:
        back = RAPID_FIRE_WINS * (pays["win"] + 1) + RAPID_FIRE_TIES * (pays["tie"] + 1)
        found["rapid_fire_pay"] = Fraction(back, RAPID_FIRE_DEALS)
    if table.hedge and settings.hedge_pay is not None:
        each = (chance(hand) * (odds + 1) for hand, odds in settings.hedge_pay.items())
        found["hedge_pay"] = sum(each, Fraction(0))
    return found


def giveaways(game: str, settings: Settings, table: TableSettings) -> list[tuple[str, str, str]]:
    """Wagers that return more than 100 %: no table opens with one by mistake."""
    problems = []
    over = over_100_percent(game, settings, table)
    if over is not None and not table.allow_over_100_percent:
        text = (
            f"the progressive wager returns {over.numerator}/{over.denominator} of its stake at "
            "the reset value, more than 100 %: change the pay-outs, the lucky_rate or the reset, "
            "or set allow_over_100_percent = true"
        )
        problems.append(("E-CFG-007", "allow_over_100_percent", text))
    if game == "RICO":
        for name, back in ricochet_returns(settings, table).items():
            if back > 1:
                text = f"returns {back.numerator}/{back.denominator} of its stake, more than "
                problems.append(("E-CFG-007", name, f"{text}100 %: lower the odds"))
    return problems


def over_100_percent(game: str, settings: Settings, table: TableSettings) -> Fraction | None:
    """The highest return at the reset value, whatever the number of seats, if it is above 1.

    One credit is the worst case for the house: more credits dilute the percentages and the envy.
    """
    highest = max(_returns_at_reset(game, settings, table), default=Fraction(0))
    return highest if highest > 1 else None
