"""Steps of a guided test, its certificate, and test mode itself."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from controller.shell.render.text import pairs, wrapped
from record.kit.words import counted

MARKS: Final = {"ask": "->", "seen": "  ", "pass": "ok", "fail": "!!", "note": " -"}


def guided(data: Mapping[str, Any], columns: int) -> Iterator[str]:
    for step in data["steps"]:
        head = f"{MARKS[step['kind']]} "
        yield from wrapped(step["text"], columns, head, "   ")
    if data.get("certificate"):
        yield from certificate(data["certificate"], columns)


def certificate(data: Mapping[str, Any], columns: int) -> Iterator[str]:
    """What somebody prints and signs."""
    by = data["by"]
    failed = [step["text"] for step in data["results"] if step["kind"] == "fail"]
    yield ""
    yield f"{'PASSED' if data['passed'] else 'FAILED'}: {data['test']}"
    rows = [
        ("table", data["table"]),
        ("date", data["at"]),
        ("by", f"{by.get('user') or by.get('uid')}, {by.get('role')}"),
        ("passed", len(data["results"]) - len(failed)),
        ("failed", len(failed)),
    ]
    rows += [("", text) for text in failed]
    rows += [
        (name, f"{one['model']} {one['serial']} {one['firmware']}")
        for name, one in data["devices"].items()
    ]
    yield from pairs(rows, columns)


def mode(data: Mapping[str, Any], columns: int) -> Iterator[str]:
    if not data["test_mode"]:
        yield "test mode is off; the table is as it was"
        return
    minutes = data["idle_s"] // 60
    said = f"TEST MODE: out of play until test off, or {counted(minutes, 'minute')} without a"
    yield from wrapped(f"{said} command", columns)
