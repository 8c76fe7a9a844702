"""Twins of a table: the same people, other hidden cards; and where two of them first differ."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from typing import Any, Final

from controller.rules.cards import Card
from hw_sim.scenario import Scenario
from record.journal.reader import JournalReader
from tests.hidden.outside import Row
from tests.hidden.table import OpenTable, twin_of, whole_deck
from tests.sim.table import FOLDER

SEALED: Final = ("commit", "box")
_HEAD: Final = re.compile(r'"head": "[0-9a-f]{64}"')
NEVER: Final = -1
"""The moment of the cards that nobody ever sees."""


def played(
    scenario: Scenario,
    *,
    blind: bool = True,
    cut_at: int = 0,
    most_rows: int = 0,
    keep_at: int = -1,
) -> OpenTable:
    table = OpenTable(scenario, cut_at, blind=blind, most_rows=most_rows, keep_at=keep_at)
    table.play_watched()
    return table


def difference(one: Sequence[Row], other: Sequence[Row]) -> str:
    """The first row in which they differ, in short; empty if they are alike."""
    for number, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return f"row {number}, {a.at_us} us, {a.channel}: {_short(a, b)}"
    if len(one) != len(other):
        longer = max(one, other, key=len)
        return f"{len(one)} rows and {len(other)}; then {longer[min(len(one), len(other))]}"[:400]
    return ""


def _short(a: Row, b: Row) -> str:
    if (a.at_us, a.channel) != (b.at_us, b.channel):
        return f"the other one is {b.channel} at {b.at_us} us"
    if a.channel == "calls":
        ours, theirs = (dict(row.what[1]) for row in (a, b))  # type: ignore[call-overload]
        names = [n for n in ours | theirs if ours.get(n) != theirs.get(n)]
        return ", ".join(f"{n} {ours.get(n, 0)}, {theirs.get(n, 0)} times" for n in names)[:400]
    ours, theirs = repr(a.what), repr(b.what)
    at = next((i for i, (x, y) in enumerate(zip(ours, theirs, strict=False)) if x != y), 0)
    return f"...{ours[max(0, at - 60) : at + 60]}... and ...{theirs[max(0, at - 60) : at + 60]}..."


def twin_differs(base: OpenTable, moment: int, seed: int = 1) -> str:
    """Play the twin whose cards differ that become public at this moment or later.

    Returns the first difference before that moment. After it there must be one: else the twin
    is none.
    """
    moments = base.moments if moment == NEVER else base.moments[:moment]
    fixed: frozenset[Card] = frozenset().union(*(cards for _, cards in moments))
    scenario = twin_of(base.scenario, fixed, seed)
    end = None if moment == NEVER else base.moments[moment][0]
    most_rows = 0 if end is None else end + 200
    twin = played(scenario, blind=base.blind, cut_at=base.cut_at, most_rows=most_rows)
    if end is not None:
        later = (table.outside.rows[end : end + 100] for table in (base, twin))
        assert difference(*later), "the twin's cards are the same"
    return twins_differ(base, twin, moment, end)


def twins_differ(
    one: OpenTable, other: OpenTable, moment: int = NEVER, end: int | None = None
) -> str:
    ours, theirs = (table.outside.rows[:end] for table in (one, other))
    if one.blind:
        return difference(ours, theirs)
    shapes = ([sizes_only(row) for row in rows] for rows in (ours, theirs))
    return difference(*shapes) or bodies_differ(one, other, moment)


# --- with the real seal ------------------------------------------------------------------------


def sizes_only(row: Row) -> Row:
    """Of what is sealed or hashed over it the place and the size, of the rest everything."""
    match row.channel, row.what:
        case ("disk", ("write", *place, _)) | ("frame log", ("write", *place, _)):
            return row._replace(what=tuple(place))
        case ("status" | "changes", (str(text),)):
            return row._replace(what=(_HEAD.sub("head", text),))
    return row


def bodies_differ(base: OpenTable, twin: OpenTable, moment: int) -> str:
    """Record by record: number, kind, time, length and body, without what is sealed in it."""
    ours, theirs = bodies(base), bodies(twin)
    if moment != NEVER:
        # The fact that opens a card stands right before the record that tells it.
        told = [i for i, row in enumerate(ours) if row[1] == "revealed"]
        ours, theirs = ours[: told[moment] - 1], theirs[: told[moment] - 1]
    for one, other in zip(ours, theirs, strict=True):
        if one != other:
            return f"record {one[0]}, body: {one} and {other}"
    return ""


def bodies(table: OpenTable) -> list[tuple[int, str, int, int, str]]:
    reader = JournalReader(FOLDER, table.disk.after_kill())
    return [
        (r.seq, r.kind, r.at_ms, len(r.body), json.dumps(blanked(json.loads(r.body))))
        for r in reader.records()
    ]


def blanked(value: Any) -> Any:
    """A body with the sealed fields blank: their lengths are left."""
    if isinstance(value, dict):
        return {k: f"<{len(v)}>" if k in SEALED else blanked(v) for k, v in value.items()}
    return [blanked(v) for v in value] if isinstance(value, list) else value


def base_of(name: str, *, blind: bool = True, cut_at: int = 0) -> OpenTable:
    return played(whole_deck(name), blind=blind, cut_at=cut_at)
