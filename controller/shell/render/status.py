"""``status``, ``why``, ``devices``, ``faults``, ``help``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from controller.shell.answers import CodeMeaning, Devices, Help, TroubleRow, Troubles, WhyWaits
from controller.shell.render.text import cents, pairs, table, wrapped
from record.kit.words import counted

MARKS: Final = {"stopped": "!!", "degraded": "!", "note": "-"}
NO_KEY: Final = ["WAIT"]
"""The prompt's word where nothing is to be pressed."""


def status(data: Mapping[str, Any], columns: int) -> Iterator[str]:
    if data.get("test_mode"):
        yield "TEST MODE"
    ready = sum(one["state"] == "ready" for one in data["devices"].values())
    day, link = data["gaming_day"], data.get("link")
    rows = [
        ("table", f"{data['table']}, {data['game']}"),
        ("round", f"{data['round']}: {data['phase']}"),
        ("gaming day", f"{day['number']}, {counted(day['rounds'], 'round')} closed"),
        ("devices", f"{ready} of {len(data['devices'])} ready"),
        ("journal", f"next record {data['journal']['next_seq']}"),
        (
            "link",
            "none"
            if link is None
            else f"{link['state']}, {counted(link['waiting'], 'event')} waiting",
        ),
    ]
    if data["progressive"]:
        rows.append(("jackpot", cents(data["jackpot_cents"])))
    if data["safe_mode"]:
        rows.append(("safe mode", "on: nothing is contributed"))
    if data["locked"]:
        rows.append(("LOCKED", data["locked"]))
    yield from pairs(rows, columns)
    yield from (f"  | {line:20} |" for line in data["prompt"])
    yield from troubles(data["troubles"], columns)


def why(data: WhyWaits, columns: int) -> Iterator[str]:
    behind = f" ({data['clause']})" if data["clause"] else ""
    yield from wrapped(f"{data['sentence'].removesuffix('.')}{behind}.", columns)
    if data["keys"] not in ([], NO_KEY):
        yield from wrapped(f"keys: {' '.join(data['keys'])}", columns)


def troubles(found: Sequence[TroubleRow], columns: int) -> Iterator[str]:
    if not found:
        yield "nothing is degraded"
    for one in found:
        head = f"{MARKS[one['level']]:>2} {one['code']:10} "
        indent = " " * len(head)
        yield from wrapped(f"{one['about']}: {one['what']}", columns, head, indent)
        yield from wrapped(f"-> {one['do']}", columns, indent, indent + "   ")


def faults(data: Troubles | CodeMeaning, columns: int) -> Iterator[str]:
    if "troubles" in data:
        yield from troubles(data["troubles"], columns)
        return
    yield from pairs((("code", data["code"]), ("meaning", data["meaning"])), columns)
    yield from pairs((("what to do", data["do"]),), columns)


def devices(data: Devices, columns: int) -> Iterator[str]:
    rows = []
    for one in data["devices"]:
        counters = one["counters"]
        wrong = sum(number for name, number in counters.items() if name.startswith("E-"))
        why = " ".join(text for text in (one["code"], one["detail"]) if text)
        rows.append((one["device"], one["kind"], one["state"] or "-", wrong, why))
    yield from table(("device", "kind", "state", "faults", "why"), rows, columns)


def help_(data: Help, columns: int) -> Iterator[str]:
    verbs = data["verbs"]
    if data.get("about"):
        for number, one in enumerate(verbs):
            yield from [""] if number else []
            rows = [("usage", one["usage"]), ("what", one["help"]), ("role", one["role"])]
            rows += [("test mode", "needed")] if one["test_mode"] else []
            rows += [("when", one["when"])] if one["when"] else []
            yield from pairs(rows, columns)
        return
    for one in verbs:
        mark = " " if one["allowed"] else "*"
        yield from wrapped(one["help"], columns, f"{mark}{one['usage']:22} ", " " * 24)
    if not all(one["allowed"] for one in verbs):
        yield f"* needs another role than {data['role']}"
    yield "Tab completes, Ctrl-C ends a command, Ctrl-D leaves"
