"""Dialogues that earlier versions had, with the halves of today: link, control socket, shell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Final

import pytest

from controller.shell.render.render import RENDERS, rendered
from link.server.staff_orders import read_order
from record.link.codec import encode, from_meters, from_server, from_table
from tests.golden import desks
from tests.golden.files import GENERATIONS, HERE, text, told
from tests.golden.server import TABLES, Said, dialogue, link_at

each_generation = pytest.mark.parametrize("generation", GENERATIONS, ids=lambda p: p.name)
WORDS: Final = ("text", "why", "detail", "do", "sentence", "help", "meaning")
"""Fields for people: what they say may change."""
CHANGED: Final = told(HERE / "changed.json")["answers"]
"""Answers of the control socket that lack something on purpose."""
SCRIPTED: Final = "T3"
"""Its messages are written by hand, some of them wrong."""


def said_in(generation: Path) -> list[Said]:
    return dialogue(text(generation / "link.tsv.xz"))


@each_generation
def test_every_old_frame_is_read_and_written_the_same(generation: Path) -> None:
    kinds = set()
    for row in said_in(generation):
        frame = row.text.encode()
        if row.who == "sign":
            assert encode(from_meters(frame)) == frame
        elif row.who in TABLES and row.way == "<":
            assert encode(from_server(frame)) == frame
        elif row.who in TABLES and row.who != SCRIPTED:
            assert encode(from_table(frame)) == frame
        if row.who != "control":
            kinds.add((row.way, json.loads(row.text)["t"]))
    assert {kind for way, kind in kinds if way == "<"} == {
        "welcome", "ack", "noted", "refused", "locked", "award", "mystery", "committed",
        "revealed", "beat", "bye", "meters",
    }  # fmt: skip
    assert {kind for way, kind in kinds if way == ">"} >= {
        "hello", "event", "checkpoint", "beat", "receipt", "bye",
    }  # fmt: skip


@each_generation
def test_a_server_answers_the_old_half_of_a_dialogue_as_it_did(
    generation: Path, tmp_path: Path
) -> None:
    """Frames to the byte but for words; of an answer to people nothing is missing or changed."""
    old = said_in(generation)
    with link_at(tmp_path) as link:
        link.again(old)
        new = link.rows
    assert [row[:3] for row in new] == [row[:3] for row in old]
    asked = ""
    for then, now in zip(old, new, strict=True):
        asked = then.text if then.way == ">" else asked
        if then.who == "control":
            changed = CHANGED.get(f"{generation.name} {asked}") if then.way == "<" else None
            expected = changed["lacks"] if changed else ""
            assert lacks(without_words(then), without_words(now)) == expected, asked
        else:
            assert without_words(now) == without_words(then)


def without_words(row: Said) -> Any:
    if row.way == ">":
        return row.text
    told = json.loads(row.text)
    return _masked(told) if isinstance(told, dict) else told


def _masked(told: Any) -> Any:
    if isinstance(told, dict):
        return {k: "..." if k in WORDS else _masked(v) for k, v in told.items()}
    return [_masked(one) for one in told] if isinstance(told, list) else told


def lacks(old: Any, new: Any, path: str = "$") -> str:
    """Where the new answer does not say what the old one did; it may say more."""
    if isinstance(old, dict) and isinstance(new, dict):
        for name, value in old.items():
            if name not in new:
                return f"{path}.{name} is missing"
            if found := lacks(value, new[name], f"{path}.{name}"):
                return found
        return ""
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        pairs = enumerate(zip(old, new, strict=True))
        return next((t for n, (a, b) in pairs if (t := lacks(a, b, f"{path}[{n}]"))), "")
    return "" if old == new else f"{path}: {new!r} was {old!r}"


@each_generation
def test_every_old_order_of_people_is_read(generation: Path) -> None:
    read = set()
    for row in said_in(generation):
        if row.who != "control" or row.way != ">" or not row.text.startswith("{"):
            continue
        given = json.loads(row.text).get("order", {})
        if given.get("what") not in (None, "note", "lock") and "unknown" not in given:
            read_order(given)
            read.add(given["what"])
    assert len(read) >= 10


# --- the shell ------------------------------------------------------------------------------------


@each_generation
@pytest.mark.parametrize("moment", desks.MOMENTS)
def test_a_desk_answers_old_lines_with_the_same_names(generation: Path, moment: str) -> None:
    """Times and hashes are other ones; every name that was there is there."""
    rows = [
        row for row in json.loads(text(generation / "shell.json.xz")) if row["moment"] == moment
    ]
    lines = [(row["uid"], row["line"]) for row in rows]
    for row, answer in zip(rows, desks.asked(moment, lines), strict=True):
        old, new = json.loads(row["answer"]), json.loads(answer)
        assert old.get("error") == new.get("error"), row["line"]
        assert names_in(old) <= names_in(new), row["line"]


def names_in(told: Any, path: str = "$") -> set[str]:
    """Paths of all fields, and kinds of readings."""
    if isinstance(told, dict):
        found = {f"{path}.{name}" for name in told}
        if "reading" in told:
            found.add(f"{path}.reading={told['reading']}")
        return found.union(*(names_in(v, f"{path}.{k}") for k, v in told.items()))
    if isinstance(told, list):
        return set().union(*(names_in(one, f"{path}[]") for one in told))
    return set()


@each_generation
def test_an_old_answer_is_shown_by_the_shell_of_today(generation: Path) -> None:
    shown = 0
    for row in json.loads(text(generation / "shell.json.xz")):
        answer = json.loads(row["answer"])
        words = json.loads(row["line"])["words"]
        verb = " ".join(words) if " ".join(words) in RENDERS else "".join(words[:1])
        if answer.get("ok") and verb in RENDERS:
            shown += bool(rendered(verb, answer["data"], 80))
    assert shown > 20
