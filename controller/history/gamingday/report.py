"""The day's report for people: 80 columns, and a table of figures for spreadsheets."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final

import msgspec

from controller.history.gamingday.fold import local, total
from controller.history.gamingday.sheet import Day, Rows, Total, Wagers
from record.kit.money import cents_text as money
from record.kit.words import counted

WIDE: Final = 78
_LABEL: Final = 18
_RULE: Final = "-" * WIDE
_SHOWN: Final = 12
"""Single cases that the page lists; JSON has all that were kept."""
WAGER_NAMES: Final[Mapping[str, str]] = {
    "progressive": "Progressive",
    "pair_plus": "Pair Plus",
    "six_card": "6 Card Bonus",
    "ante": "Ante",
    "play": "Play",
    "rapid_fire": "Rapid Fire",
    "hedge": "Hedge",
}


def page(day: Day, table: str) -> str:
    """The whole report; an open day is reported as it is."""
    rows = [
        *_head(day, table),
        "",
        *_played(day),
        "",
        *_money(day),
        *_progressive(day),
        *_afterwards(day),
        "",
        *_kinds("Irregularities", day.irregularities),
        *_kinds("Supervisor rulings", day.rulings),
        *_kinds("Decks", day.decks),
        *_kinds("Device faults", _devices(day)),
        *_kinds("Alarms", day.alarms),
        "",
        *_people(day),
        "",
        *_evidence(day),
    ]
    return "\n".join(line.rstrip() for row in rows for line in row.split("\n"))


# --- head --------------------------------------------------------------------------------------


def _spread(left: str, right: str) -> str:
    return left + right.rjust(WIDE - len(left)) if len(left) + len(right) < WIDE else left


def _when(at_ms: int | None, day: Day) -> str:
    if at_ms is None:
        return "-"
    try:
        return local(at_ms, day).strftime("%Y-%m-%d %H:%M:%S")
    except (ValueError, OverflowError, OSError):
        return f"{at_ms} ms"


def _head(day: Day, table: str) -> Iterator[str]:
    named = f"GAMING DAY {day.number}"
    yield _spread(f"{named}   {day.date}".rstrip(), f"table {table}, {day.carry.game or '?'}")
    yield _RULE
    yield f"From        {_when(day.from_ms, day)}   first bets {_when(day.bets_ms, day)}"
    if day.closing is None:
        yield "Closed      not yet: this is the day under way"
    else:
        who = f"{day.closing.person}, {day.closing.role}"
        yield f"Closed      {_when(day.closing.at_ms, day)}   by {who}"


def _played(day: Day) -> Iterator[str]:
    rounds = day.rounds
    closed = rounds.settled + rounds.void + rounds.held
    off = max(0, rounds.opened - closed)
    span = f"numbers {rounds.first} to {rounds.last}" if rounds.last else ""
    parts = f"settled {rounds.settled:,}   void {rounds.void:,}   ruled by hand {rounds.held:,}"
    yield f"Rounds {closed:>11,}   {parts}   called off {off:,}"
    yield _spread(f"Hands  {day.hands.played:>11,}   void {day.hands.void:,}", span)
    yield from _cases(day.voids, lambda r: f"void round {r[0]:<8} {_words(r[1])}  {r[2]}")


# --- money -------------------------------------------------------------------------------------


def _money(day: Day) -> Iterator[str]:
    held = any(one.held for one in day.wagers.values())
    heads = ("staked", "returned", "paid", *(("held",) if held else ()), "house")
    found = day.total or total(day)
    sums = Wagers(0, found.staked, found.returned, found.paid, found.held)
    sums.house = found.staked - found.returned - found.paid - found.held
    yield _row("", list(heads))
    for spot, one in day.wagers.items():
        named = f"{WAGER_NAMES.get(spot, spot)} ({one.count:,})"
        yield _row(named, [money(getattr(one, head)) for head in heads])
    yield _RULE
    yield _row("All wagers", [money(getattr(sums, head)) for head in heads])
    for kind, award in day.awards.items():
        yield _line(f"  {kind} ({award.count:,})", -award.cents)
    yield from _adjusted(day, found)
    yield _line("NET TO THE HOUSE", found.house_net)


def _row(label: str, cells: list[str]) -> str:
    """The amounts under each other; those that are too long for that take a line of their own."""
    wide = (WIDE - _LABEL) // len(cells)
    if any(len(cell) >= wide for cell in cells) or len(label) > _LABEL:
        return label + "\n" + "".join(cell.rjust(WIDE // len(cells)) for cell in cells)
    return label.ljust(_LABEL) + "".join(cell.rjust(wide) for cell in cells)


def _line(label: str, cents: int) -> str:
    return label + money(cents).rjust(WIDE - len(label))


def _adjusted(day: Day, found: Total) -> Iterator[str]:
    if found.capped:
        yield _line("  above the posted maximum payout, not paid", found.capped)
    if found.ruled_anew:
        yield _line("  rounds ruled again after their end", found.ruled_anew)
    if found.pot:
        yield _line("  pot put aside, or won by the house later", found.pot)
    pot = day.pot
    if pot.carried_in or pot.carried_out:
        lay, lies = money(pot.carried_in), money(pot.carried_out)
        yield f"  pot on the felt: {lay} at the beginning, {lies} at the end"


def _progressive(day: Day) -> Iterator[str]:
    sheet = day.progressive
    if not (sheet.posted.count or sheet.locks or sheet.awards or sheet.mystery.count):
        return
    yield ""
    yield "Progressive"
    for label, one in (("posted", sheet.posted), ("reversed", sheet.reversed)):
        yield _line(f"  {label} ({one.count:,})", one.cents)
    for hand, one in sheet.pays.items():
        yield _line(f"  paid for {hand} ({one.count:,})", one.cents)
    if sheet.claims.count:
        yield _line(f"  of that from the jackpot ({sheet.claims.count:,})", sheet.claimed)
    yield from _cases(
        sheet.claims,
        lambda r: f"claim round {r[0]:<7} seat {r[1]}  {r[2]}, {r[3]}: {money(r[4])}",
    )
    for state, one in sheet.awards.items():
        yield _line(f"  awards {state} by the server ({one.count:,})", one.cents)
    yield from _cases(
        sheet.mystery, lambda r: f"mystery round {r[0]:<5} seat {r[1]}  {r[2]}: {money(r[3])}"
    )


def _afterwards(day: Day) -> Iterator[str]:
    made = day.corrections
    yield ""
    if not day.unbalanced.count:
        yield "Balance: the parts of every round make its total"
    if not made.cases.count:
        yield "Mis-pays put right: none"
    else:
        sums = f"paid {money(made.paid)}, collected {money(made.collected)}"
        yield f"Mis-pays put right: {made.cases.count:,}, {sums}"
        yield from _cases(
            made.cases, lambda r: f"round {r[0]:<13} seat {r[1]}  {money(r[2])}  {r[3]}"
        )
    yield from _cases(
        day.ruled_anew.cases,
        lambda r: f"ruled again round {r[0]:<8} {r[1]}, house {money(r[2])}",
    )
    yield from _cases(
        day.unbalanced,
        lambda r: f"DOES NOT BALANCE: round {r[0]}, {money(r[1])} against {money(r[2])}",
    )
    if day.unread:
        yield f"COULD NOT BE READ: {counted(day.unread, 'record')}"


def _cases(found: Rows, say: Callable[[list[Any]], str]) -> Iterator[str]:
    for row in found.rows[:_SHOWN]:
        yield f"  {_printable(say(row))}"[:WIDE]
    if found.count > _SHOWN:
        yield f"  ... and {found.count - _SHOWN:,} more"


# --- counted -----------------------------------------------------------------------------------


def _devices(day: Day) -> dict[str, int]:
    return {f"{name} {code}": n for name, codes in day.devices.items() for code, n in codes.items()}


def _kinds(title: str, found: Mapping[str, int]) -> Iterator[str]:
    """``Irregularities   late wager 3, foreign card 1``, wrapped."""
    line = title.ljust(_LABEL + 2)
    parts = [_printable(f"{_words(kind)} {n:,}") for kind, n in found.items()] or ["none"]
    for i, part in enumerate(parts):
        end = "" if i == len(parts) - 1 else ","
        if len(line) + len(part) + 2 > WIDE:
            yield line
            line = " " * (_LABEL + 2)
        line += f"{part}{end} "
    yield line


def _printable(text: str) -> str:
    """What people typed is evidence, not a way to steer a terminal."""
    return "".join(c if c.isprintable() else "?" for c in text)


def _words(kind: str) -> str:
    return kind if kind.startswith("E-") else kind.replace("_", " ")


def _people(day: Day) -> Iterator[str]:
    columns = "{:20}{:21}{:21}{:>7}{:>9}"
    yield columns.format("Dealers", "from", "to", "turns", "rounds")
    for name, one in day.dealers.items():
        times = (_when(one.from_ms, day), _when(one.to_ms, day))
        yield columns.format(f"  {_printable(name)[:16]}", *times, f"{one.turns:,}", one.rounds)
    if not day.dealers:
        yield "  nobody dealt"
    yield from _kinds("Declared by", day.supervisors)


def _evidence(day: Day) -> Iterator[str]:
    starts = f"Starts        {day.starts.count:,}"
    if day.starts.repaired_bytes:
        starts += f", {counted(day.starts.repaired_bytes, 'byte')} of torn writes cut off"
    yield starts
    for title, hashes in (
        ("Configuration", day.configurations),
        ("Program", day.programs),
        ("Rule book", day.rule_books),
    ):
        for i, one in enumerate(hashes):
            yield f"{title if not i else '':14}{one}"
    if day.closing is not None:
        yield f"Records       {day.first_seq} to {day.closing.seq}"
        yield f"Head          {day.closing.head}"


# --- for spreadsheets --------------------------------------------------------------------------


def figures(day: Day) -> Iterator[tuple[str, str]]:
    """Every figure by its path, in the order of the sheet."""
    yield from _flat("", msgspec.to_builtins(day))


def _flat(path: str, value: Any) -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for name, inner in value.items():
            yield from _flat(f"{path}.{name}" if path else str(name), inner)
    elif isinstance(value, list | tuple):
        for i, inner in enumerate(value, 1):
            yield from _flat(f"{path}[{i}]", inner)
    elif value is not None:
        yield path, str(value)


def as_csv(day: Day) -> str:
    """``figure,value``; amounts in minor units, times in milliseconds."""
    out = io.StringIO()
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow(("figure", "value"))
    rows.writerows((name, _safe(value)) for name, value in figures(day))
    return out.getvalue()


def _safe(value: str) -> str:
    """A spreadsheet must not take a note that somebody typed for a formula."""
    number = value.removeprefix("-").isdecimal()
    return f"'{value}" if value[:1] in ("=", "+", "-", "@") and not number else value
