"""What every table played, staked, paid and contributed over some gaming days."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

from link.reports.model import UNREADABLE, Finding, Line, Report, Section, columns
from link.reports.past import ReportInputs
from link.rows import EventRow
from record.kit.words import counted
from record.link.events import AnyBody, Contributed, FixedAward, Reversed, RoundPlayed
from record.rounds import ending, returned

PROGRESSIVE: Final = "progressive"
KEPT_ROUNDS: Final = 256
"""A round reported again takes the place of its first report if that is among so many."""
MOST_GAPS: Final = 1_000
"""Kept of a journal: a table that reports rounds at random uses no more memory than that."""


@dataclass(slots=True)
class Figures:
    """What rounds add up to."""

    placed: Counter[str] = field(default_factory=Counter)
    """Wager to cents."""
    squares: Counter[str] = field(default_factory=Counter)
    """Wager to the sum of the squares of single wagers, for the spread to expect."""
    paid: Counter[str] = field(default_factory=Counter)
    """Wager to cents to the player, stakes back included."""
    times: Counter[str] = field(default_factory=Counter)
    awards: Counter[str] = field(default_factory=Counter)
    """Cents of awards beside the wagers: envy, magic card, lucky player, less what a cap took."""
    classes: Counter[str] = field(default_factory=Counter)
    """Class of a hand to how many seats with a progressive wager had it."""
    jackpot_stake: int = 0
    """Progressive cents times the jackpot they were wagered at."""

    def add(self, other: Figures, sign: int = 1) -> None:
        for mine, its in (
            (self.placed, other.placed),
            (self.squares, other.squares),
            (self.paid, other.paid),
            (self.times, other.times),
            (self.classes, other.classes),
            (self.awards, other.awards),
        ):
            for name, value in its.items():
                mine[name] += sign * value
        self.jackpot_stake += sign * other.jackpot_stake

    @property
    def staked(self) -> int:
        return sum(self.placed.values())

    @property
    def to_players(self) -> int:
        """With awards beside the wagers."""
        return sum(self.paid.values()) + sum(self.awards.values())


@dataclass(slots=True)
class Played(Figures):
    """One round as a table reported it last."""

    status: str = ""


@dataclass(slots=True)
class Sums(Figures):
    """One table of one game."""

    rounds: int = 0
    void: int = 0
    held: int = 0
    corrected: int = 0
    late: int = 0
    """Corrections of rounds that are too old to be put right here."""
    earlier: int = 0
    """Rounds from before the period: corrected in it, or reported in it for the first time."""
    unreadable: list[str] = field(default_factory=list)
    """Reports of rounds that are none; they are named and not counted."""
    wagers: int = 0
    contributed: int = 0
    reversed: int = 0
    fixed: Counter[str] = field(default_factory=Counter)
    fixed_cents: Counter[str] = field(default_factory=Counter)

    def put(self, played: Played, fixed: tuple[FixedAward, ...], sign: int) -> None:
        self.rounds += sign
        self.void += sign * (played.status == "void")
        self.held += sign * (played.status == "supervisor")
        self.add(played, sign)
        for award in fixed:
            self.fixed[award.kind] += sign
            self.fixed_cents[award.kind] += sign * award.cents


def played(body: RoundPlayed) -> Played:
    """From the result of the round-record contract; what a supervisor still holds counts as 0."""
    result = body.result
    ended = ending(body.record, {"round_status": "", **result})
    found = Played(status=ended)
    jackpot = _whole(_settings(body.record).get("jackpot", 0))
    for seat in result.get("seats", ()):
        for award in seat.get("awards", ()):
            found.awards[award["kind"]] += _whole(award["amount"])
        found.awards["payout cap"] -= _whole(seat.get("payout_cap_reduction") or 0)
        for name, wager in seat.get("wagers", {}).items():
            placed = _whole(wager["placed"])
            found.placed[name] += placed
            found.squares[name] += placed * placed
            found.paid[name] += _whole(returned(wager, ended) or 0)
            found.times[name] += 1
            if name == PROGRESSIVE and seat.get("hand") and wager["status"] != "refused":
                found.classes[seat["hand"]] += 1
                found.jackpot_stake += placed * jackpot
    return found


def _whole(value: object) -> int:
    """What a table reports is data of another machine: only whole numbers are added up."""
    if type(value) is not int:
        raise TypeError(f"{value!r:.40} is no whole number")
    return value


def _settings(record: dict[str, Any]) -> dict[str, Any]:
    found = record.get("settings")
    return found if isinstance(found, dict) else {}


class Reported:
    """Which rounds of a journal were reported: all from the first to the last but the gaps."""

    def __init__(self) -> None:
        self.first = self.last = 0
        self._gaps: list[tuple[int, int]] = []

    def has(self, number: int) -> bool:
        inside = self.first <= number <= self.last
        return inside and not any(low <= number <= high for low, high in self._gaps)

    def add(self, number: int) -> None:
        if not self.first:
            self.first = self.last = number
        elif number > self.last:
            self._gap(self.last + 1, number - 1)
            self.last = number
        elif number < self.first:
            self._gap(number + 1, self.first - 1)
            self.first = number
        elif not self.has(number):
            low, high = next(gap for gap in self._gaps if gap[0] <= number <= gap[1])
            self._gaps.remove((low, high))
            self._gap(low, number - 1)
            self._gap(number + 1, high)

    def _gap(self, low: int, high: int) -> None:
        if low <= high:
            self._gaps.append((low, high))
            del self._gaps[:-MOST_GAPS]


class Fold:
    """Tables by name and game, event by event. ``from_start``: nothing was reported before."""

    def __init__(self, *, from_start: bool = True) -> None:
        self.sums: dict[tuple[str, str], Sums] = {}
        self._from_start = from_start
        self._last: dict[str, dict[int, tuple[Played, tuple[FixedAward, ...]]]] = {}
        self._reported: dict[str, Reported] = {}

    def take(self, row: EventRow, body: AnyBody, game: str) -> None:
        match body:
            case Contributed():
                sums = self._of(row, game)
                sums.wagers += len(body.wagers)
                sums.contributed += sum(wager.cents for wager in body.wagers)
            case Reversed():
                sums = self._of(row, game)
                sums.reversed += sum(wager.cents for wager in body.wagers)
            case RoundPlayed():
                self._round(self._of(row, game or str(body.record.get("game", ""))), row, body)
            case _:
                pass

    def _of(self, row: EventRow, game: str) -> Sums:
        """A table that plays for no pool names its game with its rounds."""
        return self.sums.setdefault((row.table, game), Sums())

    def _round(self, sums: Sums, row: EventRow, body: RoundPlayed) -> None:
        rounds = self._last.setdefault(row.journal, {})
        try:
            found = played(body)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            said = f"event {row.id}: {row.table}, round {body.round}: no result of a round: {error}"
            sums.unreadable.append(said)
            return
        reported = self._reported.setdefault(row.journal, Reported())
        if body.round in rounds:
            sums.put(*rounds[body.round], -1)
            sums.corrected += 1
        elif reported.has(body.round):
            sums.late += 1
            return
        elif rounds and body.round < reported.first and not self._from_start:
            sums.earlier += 1
            return
        reported.add(body.round)
        rounds[body.round] = (found, body.awards)
        sums.put(*rounds[body.round], 1)
        if len(rounds) > KEPT_ROUNDS:
            del rounds[min(rounds)]


def fold_tables(inputs: ReportInputs) -> dict[tuple[str, str], Sums]:
    fold = Fold(from_start=not inputs.period.after)
    for row, body in bodies(inputs):
        fold.take(row, body, inputs.past.game_of(row.table))
    return dict(sorted(fold.sums.items()))


def bodies(inputs: ReportInputs) -> Iterator[tuple[EventRow, AnyBody]]:
    """Of the tables, in the period."""
    inputs.past.restart()
    for row in inputs.source.events(inputs.period.after):
        if row.id > inputs.period.last:
            return
        body = inputs.past.body(row)
        if body is not None:
            yield row, body


def table_report(
    inputs: ReportInputs,
    table: str | None = None,
    folded: dict[tuple[str, str], Sums] | None = None,
) -> Report:
    report = Report("table", "Tables" if table is None else f"Table {table}", inputs.facts())
    found = fold_tables(inputs) if folded is None else folded
    found = {key: sums for key, sums in found.items() if table in (None, key[0])}
    report.sections.append(_rounds(found))
    report.sections.append(_contributions(found))
    for key, sums in found.items():
        if sums.times:
            report.sections.append(_wagers(key, sums))
        if sums.fixed:
            report.sections.append(_fixed(key, sums))
        report.findings += [Finding(UNREADABLE, said) for said in sums.unreadable]
        if sums.late:
            report.differs(
                f"table {key[0]}: {counted(sums.late, 'round')} corrected, not among its last "
                f"{KEPT_ROUNDS}; handle and payments of those are as first reported"
            )
        if sums.earlier:
            report.differs(
                f"table {key[0]}: {counted(sums.earlier, 'round')} from before this period, "
                "corrected in it or reported in it for the first time; not counted here"
            )
    return report


def _rounds(found: dict[tuple[str, str], Sums]) -> Section:
    rows: list[Line] = []
    for (table, game), sums in found.items():
        staked, paid = sums.staked, sums.to_players
        counts = (sums.rounds, sums.void, sums.held, sums.corrected)
        rows.append((table, game, *counts, staked, paid, staked - paid))
    head = columns(
        "table", "game", "rounds:count", "void:count", "held:count", "corrected:count",
        "staked:cents", "to players:cents", "house:cents",
    )  # fmt: skip
    return Section("rounds", "Rounds", head, rows)


def _contributions(found: dict[tuple[str, str], Sums]) -> Section:
    rows: list[Line] = [
        (table, s.wagers, s.contributed, s.reversed, s.contributed - s.reversed)
        for (table, _), s in found.items()
    ]
    total = [sum(int(row[place] or 0) for row in rows) for place in range(1, 5)]
    rows.append(("all tables", *total))
    head = columns("table", "wagers:count", "wagered:cents", "reversed:cents", "net:cents")
    return Section("contributions", "Progressive wagers", head, rows, sums=1)


def _wagers(key: tuple[str, str], sums: Sums) -> Section:
    rows: list[Line] = [
        (name, sums.times[name], placed, sums.paid[name], placed - sums.paid[name])
        for name, placed in sums.placed.items()
    ]
    rows += [(kind, None, None, cents, -cents) for kind, cents in sums.awards.items() if cents]
    staked, paid = sums.staked, sums.to_players
    rows.append(("all wagers", sum(sums.times.values()), staked, paid, staked - paid))
    head = columns("wager", "times:count", "handle:cents", "to players:cents", "house:cents")
    about = (("table", key[0]), ("game", key[1]))
    return Section("wagers", "Wagers", head, rows, about, sums=1)


def _fixed(key: tuple[str, str], sums: Sums) -> Section:
    rows: list[Line] = [
        (kind, times, sums.fixed_cents[kind]) for kind, times in sorted(sums.fixed.items()) if times
    ]
    rows.append(("all", sum(sums.fixed.values()), sum(sums.fixed_cents.values())))
    head = columns("award", "times:count", "paid:cents")
    about = (("table", key[0]), ("game", key[1]))
    return Section("fixed", "Paid at the table", head, rows, about, sums=1)
