"""The round as the table closed it, beside what the rule book says again: ``underfelt settle``."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from controller.replay.timeline import Timeline
from controller.replay.words import cents, corrector
from controller.rules.decode import decode_record
from controller.rules.errors import RecordError
from controller.rules.settle import settle
from record.rounds import ending


@dataclass(frozen=True, slots=True)
class Compared:
    """``differences`` is empty if table, engine and ``settle`` agree to the cent."""

    lines: tuple[str, ...]
    differences: tuple[str, ...]

    @property
    def verdict(self) -> str:
        if not self.lines:
            return "the round is not closed: there is nothing to compare yet"
        if self.differences:
            return "DIFFERENT: keep the disk, pay nothing, call the casino supervisor"
        return "EQUAL: table, replay and settle agree to the cent"


def compare(timeline: Timeline) -> Compared:
    if timeline.archive is None:
        return Compared((), ())
    record, result = timeline.archive.current
    lines = [f"round {timeline.round_no}: {ending(record, result)}", *_table(result)]
    if clauses := ", ".join(result["clauses"]):
        lines.append(f"clauses: {clauses}")
    if log := result.get("log"):
        lines.append("how the pot went (amounts in cents):")
        lines += [f"  {line}" for line in log]
    for seat, amount, who in timeline.archive.corrections:
        lines.append(f"corrected at seat {seat}: {cents(amount)} by {corrector(who)}")
    differences = _against("settle", result, _settled(record))
    if timeline.again is None:
        differences.append("the replay did not get to the end of the round")
    else:
        differences += _against("replay", result, timeline.again.current[1])
        if timeline.again != timeline.archive and not differences:
            differences.append("replay: the record or its corrections are others")
    if timeline.diverged is not None:
        differences.append(f"the replay diverges: {timeline.diverged}")
    return Compared(tuple(lines), tuple(differences))


def _settled(record: Any) -> Any:
    """As ``underfelt settle`` does it, from the record alone."""
    try:
        return settle(decode_record(json.loads(json.dumps(record))))
    except RecordError as error:
        return {"error": str(error)}


def _table(result: Any) -> list[str]:
    lines = [f"{'':6}{'wager':14}{'placed':>11} {'':11}{'odds':20}{'to player':>13}"]
    for row in result["seats"]:
        lines.append(f"seat {row['seat']}  {row.get('hand') or ''}  net {cents(row['net'])}")
        for name, wager in row["wagers"].items():
            odds = wager["odds"] or ""
            placed, back = cents(wager["placed"]), cents(wager["to_player"])
            lines.append(f"{'':6}{name:14}{placed:>11} {wager['status']:11}{odds:20}{back:>13}")
        for award in row["awards"]:
            lines.append(f"{'':6}{award['kind']:57}{cents(award['amount']):>13}")
    lines.append(f"house {cents(result['house_net'])}")
    return lines


def figures(result: Any) -> dict[str, Any]:
    """Every figure of a settlement by its name."""
    found: dict[str, Any] = {"house": result.get("house_net"), "status": result.get("round_status")}
    found["clauses"] = result.get("clauses")
    for row in result.get("seats", ()):
        found[f"seat {row['seat']} net"] = row["net"]
        for name, wager in row["wagers"].items():
            for field in ("placed", "status", "win", "stake_back", "to_player"):
                found[f"seat {row['seat']} {name} {field}"] = wager[field]
        for n, award in enumerate(row["awards"], 1):
            found[f"seat {row['seat']} award {n} {award['kind']}"] = award["amount"]
    return found


def _against(who: str, told: Any, other: Any) -> list[str]:
    if "error" in other:
        return [f"{who}: {other['error']}"]
    ours, theirs = figures(told), figures(other)
    found = [
        f"{name}: the table {ours.get(name)}, {who} {theirs.get(name)}"
        for name in dict.fromkeys((*ours, *theirs))
        if ours.get(name) != theirs.get(name)
    ]
    return found if found or told == other else [f"{who}: another result in other fields"]
