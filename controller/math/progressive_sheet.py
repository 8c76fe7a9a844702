"""The par sheet of the progressive wager: its return as a function of the meter.

The constants it rests on are counted again here, by dealing every hand, before a figure is given.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from math import ceil
from typing import Final

from controller.math.frequencies import five_card_counts
from controller.math.progressive import Play, largest_lucky_rate, one_in, second_award_loss
from controller.math.sheet import Column, Figure, Kind, MeterPlot, Table, Value, Wager
from controller.math.wagers import CLASS_COLUMNS, LOSES
from controller.rules import progressive_return as pr
from controller.rules.book import Book
from controller.rules.hands import HAND_NAMES, Hand
from controller.rules.settings import Settings, TableSettings

MOST_OTHERS: Final = 6
NONE: Final = "none: over 100 %"
NONE_AT_ALL: Final = "none: over 100 % at any meter"


def progressive_wager(book: Book, settings: Settings, table: TableSettings) -> Wager | None:
    if book.progressive is None:
        return None
    if five_card_counts() != tuple(pr.FIVE_CARD_COUNTS[hand] for hand in Hand):
        raise ArithmeticError("the constants of progressive_return are not what was dealt")
    play = Play(book, book.progressive, settings, table)
    tables: tuple[Table, ...] = (_class_table(play), _parts_table(play), _seats_table(play))
    if book.envy_cents:
        tables += (_envy_table(play),)
    if table.max_credits > 1:
        tables += (_credits_table(play),)
    return Wager(
        "progressive",
        "progressive wager, one credit",
        book.progressive.clause,
        _figures(play),
        tables,
        _notes(play),
        (_plot(play),),
    )


def _figures(play: Play) -> tuple[Figure, ...]:
    line = play.line(1)
    figures = [
        Figure("stake_cents", "stake", play.stake, Kind.CENTS),
        Figure("constant", "return with an empty meter", line.constant, Kind.PERCENT),
        Figure("slope", "return per cent of meter", line.slope, Kind.TEXT),
        Figure("slope_per_1000", "more per 1,000.00 of meter", line.slope * 100_000, Kind.PERCENT),
    ]
    for where, meter in _meters(play):
        at = line.at(meter)
        figures += [
            Figure(f"{where}_cents", f"meter: {where}", meter, Kind.CENTS),
            Figure(f"return_at_{where}", f"return at {where}", at, Kind.PERCENT),
            Figure(f"house_edge_at_{where}", f"house edge at {where}", 1 - at, Kind.PERCENT),
            Figure(
                f"variance_at_{where}",
                f"variance at {where}",
                play.result(1, meter).variance,
                Kind.NUMBER,
            ),
        ]
    hit = _hit_frequency(play, 1)
    exact, rounded, as_paid = _break_even(line)
    figures += [
        Figure("hit_frequency", "hit frequency", hit, Kind.PERCENT),
        Figure(
            "break_even_exact_cents", "break-even, exact, in cents", exact, Kind.TEXT, NONE_AT_ALL
        ),
        Figure("break_even_cents", "break-even, rounded up", rounded, Kind.CENTS, NONE_AT_ALL),
        Figure("break_even_as_paid_cents", "break-even as paid", as_paid, Kind.CENTS, NONE_AT_ALL),
    ]
    if play.settings.meter_rule == "sequential":
        loss = second_award_loss(play, play.table.seats - 1, _meters(play)[-1][1])
        label = "most lost to a second share"
        figures.append(Figure("second_award_loss", label, loss, Kind.PERCENT))
    if play.book.lucky_player:
        rate = largest_lucky_rate(play.book, play.settings, play.table)
        none = "none: over 100 % without it"
        figures += [
            Figure("largest_lucky_rate", "lucky_rate at most, exact", rate, Kind.PERCENT, none),
            Figure("safe_lucky_rate", "lucky_rate at most", one_in(rate), Kind.TEXT, none),
        ]
    return tuple(figures)


def _break_even(line: pr.ReturnLine) -> tuple[Fraction | None, int | None, int | None]:
    """The meter that returns 100 %: exact, up to the cent, and with shares rounded as paid."""
    exact = line.break_even_cents
    return exact, None if exact is None else ceil(exact), line.break_even_as_paid_cents


def _meters(play: Play) -> list[tuple[str, int]]:
    meters = [("reset", play.settings.jackpot_reset)]
    if play.settings.jackpot:
        meters.append(("jackpot", play.settings.jackpot))
    return meters


def _hit_frequency(play: Play, seats: int) -> Fraction:
    """How often the seat wins any award of its own; envy comes on top."""
    returned = replace(play.settings, progressive_stake_returned=True)
    return pr.stake_back_chance(play.book, returned, play.table, seats)


def _class_table(play: Play) -> Table:
    """Hand awards, and what each adds to the return; the stake is a part of its own."""
    meters = _meters(play)
    columns = list(CLASS_COLUMNS[:-1])
    columns += [Column(f"to_return_at_{where}", f"at {where}", Kind.PERCENT) for where, _ in meters]
    rows = []
    for hand in reversed(Hand):
        pay = play.awards.pay(hand)
        pays = LOSES if pay is None else pay.text.replace("the jackpot", "meter")
        row: list[Value] = [HAND_NAMES[hand], pr.FIVE_CARD_COUNTS[hand], pr.chance(hand), pays]
        for _, meter in meters:
            award = play.award(hand, meter)
            row.append(pr.chance(hand) * (award or 0))
        rows.append(tuple(row))
    return Table("classes", "hand awards, without the stake", tuple(columns), tuple(rows))


def _parts_table(play: Play) -> Table:
    """What the return of a single seat is made of; the parts add up to it."""
    book, table, stake = play.book, play.table, play.stake
    parts: list[tuple[str, Fraction, list[Fraction]]] = []
    meters = [meter for _, meter in _meters(play)]
    by_hand = [
        sum((pr.chance(hand) * (play.award(hand, meter) or 0) for hand in Hand), Fraction(0))
        for meter in meters
    ]
    parts.append(("hand awards", pr.hand_award_chance(book), by_hand))
    for name, odds, chance in (
        ("magic card", book.magic_card, pr.magic_chance(book, table)),
        ("lucky player", book.lucky_player, pr.lucky_chance(book, table, 1)),
    ):
        if odds is not None:
            parts.append((name, chance, [chance * odds.to_one for _ in meters]))
    if book.envy_cents and play.settings.envy_self:
        chance = sum((pr.chance(hand) for hand in book.envy_cents), Fraction(0))
        own = pr.envy_cents(book, play.settings, 0) / stake
        parts.append(("envy for one's own hand", chance, [own for _ in meters]))
    back = pr.stake_back_chance(book, play.settings, table, 1)
    parts.append(("stake back, once", back, [back for _ in meters]))
    columns = [Column("part", "part", Kind.TEXT), Column("probability", "comes", Kind.PERCENT)]
    columns += [Column(f"to_return_at_{w}", f"at {w}", Kind.PERCENT) for w, _ in _meters(play)]
    rows: list[tuple[Value, ...]] = [(name, chance, *values) for name, chance, values in parts]
    return Table("parts", "what the return is made of, one seat", tuple(columns), tuple(rows))


def _seats_table(play: Play) -> Table:
    """The return by the number of seats in the round that have the progressive wager."""
    meters = _meters(play)
    columns = [Column("seats", "seats", Kind.COUNT)]
    if play.book.envy_cents:
        columns.append(Column("envy_cents", "envy, cents", Kind.NUMBER))
    if play.book.lucky_player:
        columns.append(Column("lucky", "lucky player", Kind.PERCENT))
        columns.append(Column("hit_frequency", "any award", Kind.PERCENT))
    columns += [Column(f"return_at_{where}", f"at {where}", Kind.PERCENT) for where, _ in meters]
    columns += [Column(f"variance_at_{where}", "", Kind.NUMBER, shown=False) for where, _ in meters]
    columns.append(Column("break_even_exact_cents", "", Kind.NUMBER, shown=False))
    columns.append(Column("break_even_cents", "break-even", Kind.CENTS))
    columns.append(Column("break_even_as_paid_cents", "", Kind.CENTS, shown=False))
    rows = []
    for seats in range(1, play.table.seats + 1):
        line = play.line(seats)
        row: list[Fraction | int | None] = [seats]
        if play.book.envy_cents:
            row.append(pr.envy_cents(play.book, play.settings, seats - 1))
        if play.book.lucky_player:
            row.append(pr.lucky_chance(play.book, play.table, seats))
            row.append(_hit_frequency(play, seats))
        row += [line.at(meter) for _, meter in meters]
        row += [play.result(seats, meter).variance for _, meter in meters]
        row += _break_even(line)
        rows.append(tuple(row))
    title = "by progressive seats in the round"
    if play.book.envy_cents:
        title = "by hands in the round, envy included"
    return Table("seats", title, tuple(columns), tuple(rows), none=NONE)


def _envy_table(play: Play) -> Table:
    """Mean envy in cents by the number of other hands, for each of the four readings."""
    readings = (
        ("per_hand", "each hand", True, False),
        ("highest", "highest only", False, False),
        ("per_hand_own", "each, own too", True, True),
        ("highest_own", "highest, own too", False, True),
    )
    columns = [Column("others", "others", Kind.COUNT)]
    columns += [Column(key, heading, Kind.FINE) for key, heading, _, _ in readings]
    rows = []
    for others in range(MOST_OTHERS + 1):
        row: list[Fraction | int] = [others]
        for _, _, per_hand, own in readings:
            changed = replace(play.settings, envy_per_hand=per_hand, envy_self=own)
            row.append(pr.envy_cents(play.book, changed, others))
        rows.append(tuple(row))
    return Table("envy", "envy a round, in cents", tuple(columns), tuple(rows))


def _credits_table(play: Play) -> Table:
    """More credits: odds awards grow with them, percentages and envy do not (AMB-P03)."""
    columns = [Column("credits", "credits", Kind.COUNT)]
    columns += [
        Column(f"return_at_{where}", f"at {where}", Kind.PERCENT) for where, _ in _meters(play)
    ]
    columns.append(Column("break_even_cents", "break-even", Kind.CENTS))
    rows = []
    for staked in sorted({1, 2, play.table.max_credits}):
        line = pr.return_line(play.book, play.settings, play.table, 1, credits=staked)
        at = (line.at(meter) for _, meter in _meters(play))
        rows.append((staked, *at, _break_even(line)[1]))
    title = "by credits staked, one seat"
    return Table("credits", title, tuple(columns), tuple(rows), none=NONE)


def _notes(play: Play) -> tuple[str, ...]:
    notes = ["Percentages are of the meter of record, rounded down to the cent as they are paid."]
    if play.settings.meter_rule == "sequential":
        notes.append(
            "A second percentage award in one round falls on what the first left; that can only "
            "lower the return, at most by the figure given, and is not taken off."
        )
    if play.book.envy_cents:
        notes.append("Figures above the tables and the variance are without other players' envy.")
    if play.book.magic_card:
        notes.append(
            "A magic card lies in a seat's five cards once in 52/5 draws, whatever the hand; hand, "
            "magic card and lucky player awards are independent and all pay."
        )
    return tuple(notes)


def _plot(play: Play) -> MeterPlot:
    seats = sorted({1, play.table.seats})
    lines = tuple((f"{n} seat" + ("s" if n > 1 else ""), play.line(n)) for n in seats)
    return MeterPlot("return against the meter", lines, tuple(_meters(play)))
