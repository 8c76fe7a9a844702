"""Mutated records: decoding and settling either answers or raises ``RecordError``, nothing else.

``UNDERFELT_FUZZ`` raises the number of examples.
"""

from __future__ import annotations

import copy
import json
import os
from random import Random
from typing import Any

import msgspec
from hypothesis import given, settings
from hypothesis import strategies as st

from controller.commands.io import parse_json
from controller.rules.decode import decode_record
from controller.rules.errors import RecordError
from controller.rules.settle import settle
from controller.rules.wagers import check_wagers
from tests.oracle.generator import GAMES, make

EXAMPLES = int(os.environ.get("UNDERFELT_FUZZ", "400"))
WORDS = (
    "",
    "1",
    "2",
    "$",
    "seat",
    "cards",
    "type",
    "ride",
    "withdraw",
    "play",
    "fold",
    "progressive",
    "Ah",
    "foreign_card",
    "late_wager",
    "NSW",
    "RICO",
    "\ud800",
    "\x00",
    "é",
)
scalars = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 8),
    st.sampled_from((-(10**30), 10**12, 10**30, 2**63, 2**64)),
    st.floats(allow_nan=True, allow_infinity=True),
    st.sampled_from(WORDS),
)
values = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=3)
    ),
    max_leaves=6,
)


def places(node: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every path into a JSON value, the root left out."""
    found = []
    if isinstance(node, dict | list):
        for key in node if isinstance(node, dict) else range(len(node)):
            found += [(*path, key), *places(node[key], (*path, key))]
    return found


@st.composite
def mutated(draw: st.DrawFn) -> Any:
    record = make(Random(draw(st.integers(0, 2**32))), draw(st.sampled_from(GAMES)))
    for _ in range(draw(st.integers(1, 4))):
        paths = places(record)
        if not paths:
            break
        *steps, last = draw(st.sampled_from(paths))
        node: Any = record
        for step in steps:
            node = node[step]
        match draw(st.sampled_from(("replace", "remove", "copy", "rename"))):
            case "replace":
                node[last] = draw(values)
            case "remove":
                del node[last]
            case "copy":
                other: Any = record
                for step in draw(st.sampled_from(paths)):
                    other = other[step] if _reaches(other, step) else None
                node[last] = copy.deepcopy(other)
            case _ if isinstance(node, dict):
                node[draw(st.sampled_from(WORDS))] = node.pop(last)
            case _:
                node.append(draw(values))
    return record


def _reaches(node: Any, step: Any) -> bool:
    return (isinstance(node, dict) and step in node) or (
        isinstance(node, list) and isinstance(step, int) and step < len(node)
    )


def answered(record: Any) -> dict[str, Any] | RecordError:
    try:
        return settle(decode_record(record))
    except RecordError as error:
        return error


@settings(max_examples=EXAMPLES)
@given(record=mutated())
def test_a_mutated_record_is_settled_or_refused(record: Any) -> None:
    before = copy.deepcopy(record)
    answer = answered(record)
    if isinstance(answer, RecordError):
        assert answer.path.startswith("$")
        assert answer.problem
        assert str(answer)
    else:
        assert json.loads(msgspec.json.encode(answer)) == answer
        assert answer["round_status"] in ("settled", "void", "supervisor")
    assert repr(record) == repr(before)


@settings(max_examples=EXAMPLES)
@given(request=st.one_of(values, st.fixed_dictionaries({"game": values, "wagers": values})))
def test_any_value_is_checked_or_refused(request: Any) -> None:
    try:
        answer = check_wagers(request)
    except RecordError:
        return
    assert answer["accept"] is (answer["broken"] == [])


@settings(max_examples=EXAMPLES)
@given(
    game=st.sampled_from(GAMES),
    spots=st.dictionaries(
        st.sampled_from(
            ("1", "2", "$", "progressive", "pair_plus", "six_card", "ante", "rapid_fire", "hedge")
        ),
        st.one_of(st.integers(0, 1100), st.none(), scalars),
    ),
)
def test_any_wagers_are_checked_or_refused(game: str, spots: Any) -> None:
    try:
        answer = check_wagers({"game": game, "wagers": spots})
    except RecordError:
        return
    assert answer["accept"] is (answer["broken"] == [])


@settings(max_examples=EXAMPLES)
@given(
    seed=st.integers(0, 2**32),
    game=st.sampled_from(GAMES),
    cuts=st.lists(st.tuples(st.integers(0, 5000), st.binary(max_size=3)), min_size=1, max_size=3),
)
def test_damaged_bytes_are_settled_or_refused(
    seed: int, game: str, cuts: list[tuple[int, bytes]]
) -> None:
    text = json.dumps(make(Random(seed), game)).encode()
    for place, piece in cuts:
        start = place % len(text)
        text = text[:start] + piece + text[start + 1 :]
    try:
        record = parse_json(text)
    except RecordError:
        return
    answer = answered(record)
    assert isinstance(answer, dict) or answer.path.startswith("$")
