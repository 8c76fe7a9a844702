"""Does a replay say what the table did? Literal comparison with the witness, field by field."""

from __future__ import annotations

from typing import Any

from controller.replay.compare import compare, figures
from controller.replay.displays import UNREAD, lamps, meter
from controller.replay.timeline import Timeline, build
from tests.replays.playing import Journalled, Witness
from tests.replays.telling import faces_of, untold


def all_differences(made: Journalled) -> list[str]:
    """Of every round of a table; of one that is under way, whether it is stepped to its end."""
    found = [one for number in made.witness.results for one in differences(made, number)]
    if made.under_way is not None:
        timeline = build(made.records, made.under_way)
        if timeline.diverged is not None or not timeline.under_way:
            found.append(f"{made.name}, under way: {timeline.status}, {timeline.diverged}")
    return found


def differences(made: Journalled, number: int) -> list[str]:
    """Of one round, replayed without and with the key; empty if all is as the table did it."""
    without, with_key = build(made.records, number), build(made.records, number, made.sealer)
    found = [f"without key: {one}" for one in _against(without, made.witness)]
    found += [f"with key: {one}" for one in _against(with_key, made.witness)]
    if without.moments != with_key.moments:
        found.append("with and without the key it is told differently")
    deeds = made.witness.deeds
    if deeds:
        found += untold(without, deeds, faces_of(made.records, made.sealer, deeds))
    return [f"{made.name}, round {number}: {one}" for one in found]


def _against(timeline: Timeline, witness: Witness) -> list[str]:
    number = timeline.round_no
    found = [f"diverged: {timeline.diverged}"] if timeline.diverged is not None else []
    found += compare(timeline).differences
    found += [f"record {m.seq}: {m.trouble}" for m in timeline.moments if m.trouble]
    if timeline.again is None:
        return [*found, "never closed"]
    found += _amounts(witness.results[number], timeline.again.result)
    found += _amounts(witness.standing[number], timeline.again.current[1])
    if timeline.final_digest != witness.digests[number]:
        found.append(f"state {timeline.final_digest}, it was {witness.digests[number]}")
    return found + _displays(timeline, witness)


def _amounts(told: Any, again: Any) -> list[str]:
    """Per seat and wager, as the table published it."""
    ours, theirs = figures(told), figures(again)
    return [
        f"{name}: {theirs.get(name)}, the table {ours.get(name)}"
        for name in dict.fromkeys((*ours, *theirs))
        if ours.get(name) != theirs.get(name)
    ]


def _displays(timeline: Timeline, witness: Witness) -> list[str]:
    """Every change that is told was on the glass at that time, what was seen there in between is
    told, and the last one still stands."""
    glass = {(at_ms, device): seen for at_ms, device, seen in witness.shown}
    found = []
    changes = [shown for moment in timeline.moments for shown in moment.shown]
    witness.compared[timeline.round_no] = len(changes)
    for shown in changes:
        seen = glass.get((shown.at_ms, shown.device))
        if seen is None or not _same(shown.device, shown.content, seen):
            found.append(f"record {shown.seq}: {shown.device} {shown.content!r}, saw {seen!r}")
    return found + _unheard(timeline, witness) + _last(timeline, witness)


def _unheard(timeline: Timeline, witness: Witness) -> list[str]:
    """What somebody saw during the round and the replay does not show then. Meter and sign count up
    in steps that are told as one run."""
    first, last = timeline.moments[0], timeline.moments[-1]
    changes = [shown for moment in timeline.moments[1:] for shown in moment.shown]
    told, found = dict(first.displays), list[str]()
    since_ms = max((shown.at_ms for shown in first.shown), default=first.at_ms)
    for at_ms, device, seen in witness.shown:
        if not since_ms < at_ms <= last.at_ms or device.startswith(("meter", "sign")):
            continue
        while changes and changes[0].at_ms <= at_ms:
            change = changes.pop(0)
            told[change.device] = change.content
        sure = (at_ms, device) not in witness.unsure
        if sure and not _same(device, told.get(device, ""), seen):
            found.append(f"{device} showed {seen!r} at {at_ms}, told {told.get(device)!r}")
    return found


def _same(device: str, content: str, seen: str) -> bool:
    """``seen`` is the glass; a sign shows the amount in its own sentence."""
    if device.startswith("lamps"):
        lit = lamps({"lamps-1": content})
        every = dict(enumerate(seen.split("|"), 1))
        return all(every[int(n)] == lamp for n, lamp in lit.items() if n.isdecimal())
    if device.startswith("meter") or device == "sign":
        return content.strip() in seen
    return (content.strip() or DARK[device == "magic"]) == (seen.strip() or DARK[False])


DARK = {True: "dark", False: ""}


def _last(timeline: Timeline, witness: Witness) -> list[str]:
    if not witness.shown:
        return []
    last = timeline.moments[-1]
    shown = dict(last.displays)
    until = max((one.at_ms for one in last.shown), default=last.at_ms)
    since = max((at_ms for at_ms in witness.starts if at_ms <= until), default=0)
    seen = {"prompt": UNREAD if since else "", "lamps": "", "meter": UNREAD if since else ""}
    seen |= {n.split("-")[0]: text for at_ms, n, text in witness.shown if since <= at_ms <= until}
    told = {"prompt": shown.get("prompt", ""), "lamps": "|".join(_lit(shown))}
    if any(name.startswith("meter") for _, name, _ in witness.shown):
        told["meter"] = meter(shown)
    return [
        f"in the end the {name} {text!r}, saw {seen[name]!r}"
        for name, text in told.items()
        if text.strip() != seen[name].strip()
    ]


def _lit(shown: dict[str, str]) -> list[str]:
    lit = lamps(shown)
    return [lit[n] for n in sorted(lit) if n.isdecimal()]
