"""The server's half: events in server order with their chain, the award, its steps, its terms.

The only place of the table's package that reads the link server's rows; through the server that
runs, its store, or a backup of it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from msgspec.structs import asdict

from controller.evidence.errors import EvidenceError
from link.commands.io import load_config
from link.commands.report_source import opened
from link.reports.source import Source
from link.rows import AwardRow, EventRow
from link.store.errors import StoreError
from record.kit.verbs import Stop
from record.verify_evidence import AWARD_FIELDS, Derivation, Pools, drawn_seeds

MOST_EVENTS: Final = 200_000
"""With more than this a pack begins at the jackpot's generation, unless all are asked for."""
OVER: Final = frozenset(("round", "claimed", "withdrawn"))
"""What a table tells of a round whose selection everybody at it has seen."""

Row = dict[str, Any]


@dataclass
class ServerHalf:
    award: Row
    events: list[Row]
    stated: Row
    """``server.json``."""
    opening: Row | None
    lines: list[Row]
    """What the jackpot was made of, for the page."""
    wrong: list[str] = field(default_factory=list)
    """Where the server's statement and its events disagree."""
    staff: list[Row] = field(default_factory=list)
    """The chain of staff orders, from its first."""
    left_out: list[str] = field(default_factory=list)
    """Which events are not there, and what to do about it."""


@contextmanager
def source_of(
    config: str | None, socket: str | None, backup: str | None
) -> Iterator[tuple[Source, tuple[str, str, str]]]:
    """The rows; and time zone, start of the gaming day and currency of the house."""
    try:
        loaded = load_config(config) if config else None
        names = ("UTC", "06:00", "")
        if loaded is not None:
            reports = loaded.reports
            names = (reports.time_zone, reports.day_start, reports.currency)
        with opened(loaded, socket, backup) as source:
            yield source, names
    except Stop as stop:
        raise EvidenceError("E-EVD-002", str(stop), stop.code) from None
    except StoreError as error:
        raise EvidenceError("E-EVD-002", str(error), error.exit_code) from None


def server_half(source: Source, award: str, *, whole: bool | None = None) -> ServerHalf:
    """``whole``: from the pool's first event on (True), from the generation's (False), or whichever
    is reasonable."""
    mark = source.mark()
    row = next((one for one in mark.awards if one.award == award), None)
    if row is None:
        known = ", ".join(one.award for one in mark.awards[-5:]) or "none at all"
        said = f'no award "{award}" at {source.place}; the last ones are {known}'
        raise EvidenceError("E-EVD-001", said, os.EX_NOINPUT)
    steps = list(source.steps())
    with_it = _together(row, mark.awards, {s.award: s.event for s in steps if s.state == "locked"})
    names = {one.award for one in with_it}
    last = max(step.event for step in steps if step.award in names)
    if whole is None:
        whole = last <= MOST_EVENTS
    orders = [plain(one) for one in source.events(journal="")]
    events, opening, left_out = _events(source, row, last, drawn_seeds(orders), whole=whole)
    stated: Row = {
        "place": source.place,
        "awards": [{k: getattr(one, k) for k in AWARD_FIELDS} for one in with_it],
        "steps": [asdict(step) for step in steps if step.award in names],
    }
    half = ServerHalf(stated["awards"][0], events, stated, opening, [], left_out=left_out)
    half.staff = staff_chain(orders)
    _derive(half, drawn_seeds(events))
    return half


def staff_chain(orders: Iterable[Row]) -> list[Row]:
    """Among all orders those that people gave, and the making of accounts."""
    found: list[Row] = []
    for row in orders:
        if row["seq"] == len(found) + 1:
            found.append({"number": row["seq"], "event": row["id"], "at_ms": row["received_ms"],
                          "head": row["hash"], "body": row["body"]})  # fmt: skip
    return found


def _together(row: AwardRow, awards: Iterable[AwardRow], locks: dict[str, int]) -> list[AwardRow]:
    """The award, and those of its round or its lock: their amounts hang together."""
    lock = locks.get(row.award)
    others = [
        one for one in awards
        if one.award != row.award
        and one.pool == row.pool
        and ((one.journal, one.round) == (row.journal, row.round)
             or (lock is not None and locks.get(one.award) == lock))
    ]  # fmt: skip
    return [row, *others]


def plain(row: EventRow) -> Row:
    return {**asdict(row), "body": row.body.decode()}


def _events(
    source: Source, award: AwardRow, last: int, seeds: dict[str, str], *, whole: bool
) -> tuple[list[Row], Row | None, list[str]]:
    """Up to the last step, and the draws right behind it, which open what was hit."""
    pools, opening, generation = Pools(seeds), None, 1
    rows: list[Row] = []
    secret = _Secrets()
    going = True
    for event in source.events():
        row = plain(event)
        body = json.loads(row["body"])
        if row["id"] > last:
            going = going and not row["table"] and body["order"]["what"] == "draw"
            if not going and not secret.draws:
                break
        secret.take(row, body, taken=going)
        if not going:
            continue
        rows.append(row)
        if whole or row["id"] >= award.event:
            continue
        pools.take(row)
        level = pools.pools.get(award.pool, {"levels": {}})["levels"].get(award.level)
        if level is not None and level["generation"] != generation:
            generation = level["generation"]
            state = json.loads(json.dumps(pools.state))
            opening = {"after": row["id"], "chain": row["chain"], "state": state}
            rows = []
    return rows, opening, secret.leave_out(rows)


@dataclass
class _Secrets:
    """Draws of the server whose round is still played: their seed is still secret."""

    draws: dict[str, tuple[int, str, list[int]]] = field(default_factory=dict)
    """Journal to round, table and events."""

    def take(self, row: Row, body: Row, *, taken: bool) -> None:
        if not row["table"]:
            order = body["order"]
            if taken and order["what"] == "select":
                number, _, events = self.draws.get(order["journal"], (0, "", []))
                same = events if number == order["round"] else []
                name = f"with journal {order['journal'][:8]}"
                self.draws[order["journal"]] = (order["round"], name, [*same, row["id"]])
        elif row["journal"] in self.draws:
            number, _, events = self.draws[row["journal"]]
            if body["round"] > number or (body["round"] == number and body["what"] in OVER):
                del self.draws[row["journal"]]
            else:
                self.draws[row["journal"]] = (number, row["table"], events)

    def leave_out(self, rows: Iterable[Row]) -> list[str]:
        """The chain value stays, and says nothing of the seed. Such a draw moves no money."""
        where = {
            event: (number, table)
            for number, table, events in self.draws.values()
            for event in events
        }
        said = []
        for row in rows:
            if row["id"] in where:
                row["body"] = None
                number, table = where[row["id"]]
                said.append(
                    f"event {row['id']}: the draw for round {number} at table {table}, which is "
                    "not over. Its chain value is stated; make the pack again when that round is "
                    "over, for a chain without a gap"
                )
        return said


def _derive(half: ServerHalf, seeds: dict[str, str]) -> None:
    """Lines, terms and par sheets as the events make them; and where the server says otherwise."""
    state = None if half.opening is None else json.loads(json.dumps(half.opening["state"]))
    pools = Pools(seeds, state)
    name = half.award["award"]
    derived = Derivation(pools, name)
    for row in half.events:
        pools.take(row)
    half.lines = derived.found or []
    half.stated["terms"] = derived.terms
    half.stated["games"] = pools.pools[half.award["pool"]]["games"]
    for row in half.stated["awards"]:
        made = pools.final.get(row["award"], pools.awards.get(row["award"], {}))
        half.wrong += [
            f"award {row['award']}: {field} {row[field]!r}, its events make {made.get(field)!r}"
            for field in AWARD_FIELDS
            if made.get(field) != row[field]
        ]
