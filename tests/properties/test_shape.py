"""A message about a value that does not fit names the key and the value, not ``[...]``."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated, Any

import msgspec
import pytest

from link.ledger.errors import PoolError
from link.ledger.parameters import read_pools
from record.shape import why

ROOT = Path(__file__).parents[2]
Percent = Annotated[int, msgspec.Meta(ge=1, le=100)]
Word = Annotated[str, msgspec.Meta(max_length=5)]


class Inner(msgspec.Struct, forbid_unknown_fields=True):
    shares: dict[Word, Percent] = {}


class Outer(msgspec.Struct):
    pools: dict[str, tuple[Inner, ...]]


GOOD = {"shares": {"a": 1, "b": 100}}


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"shares": {"a": 1, "b c": 101}}, '`$.pools["x.y"][1].shares["b c"]`: 101'),
        ({"shares": {"a": 0, "b": 101}}, '`$.pools["x.y"][1].shares["a"]`: 0'),
        ({"shares": {'q"`': "1"}}, '`$.pools["x.y"][1].shares["q\\"`"]`: "1"'),
        ({"shares": {"too long": 1}}, '`key` in `$.pools["x.y"][1].shares`: "too long"'),
        ({"parts": 1}, '`$.pools["x.y"][1]`'),
        ({"shares": {"a": "\x1b[2J" * 50}}, '`$.pools["x.y"][1].shares["a"]`: "\\u001b[2J'),
    ],
)
def test_the_key_and_the_value_are_named(wrong: dict[str, Any], said: str) -> None:
    value = {"pools": {"first": [GOOD], "x.y": [GOOD, wrong, GOOD]}}
    for given in (value, msgspec.json.encode(value)):
        with pytest.raises(msgspec.ValidationError) as caught:
            msgspec.convert(value, Outer)
        assert "[...]" in str(caught.value)
        text = why(caught.value, given, Outer)
        assert said in text
        assert "[...]" not in text
        assert text.isprintable()


def test_a_share_that_is_wrong_is_named_with_pool_level_hand_and_value() -> None:
    text = b"""
[pools.main]
meter_rule = "sequential"
tables = { "table-1" = "MBS3" }
[[pools.main.levels]]
level = "grand"
base_cents = 1000
reset_cents = 1000
rate = "1 %"
shares = { "royal flush" = 100, "straight flush" = 101 }
"""
    with pytest.raises(PoolError) as caught:
        read_pools(text, "pools.toml", lambda _: b"")
    said = '`$.pools["main"].levels[0].shares["straight flush"]`: 101'
    assert said in str(caught.value)


def test_no_message_of_the_decoder_is_passed_on_as_it_is() -> None:
    """Code that reports what msgspec said asks ``record.shape.why``. Listed are those that
    read any JSON, or a type without a mapping."""
    loose = [
        str(path.relative_to(ROOT))
        for package in ("controller", "link", "record", "hw_sim", "drivers")
        for path in (ROOT / package).rglob("*.py")
        for found in re.finditer(
            r"except [^\n]*msgspec\.(?:Validation|Decode)Error[^\n]* as error:\n(?:[^\n]*\n){1,3}",
            path.read_text("utf-8"),
        )
        if re.search(r"str\(error\)|\{error\}", found[0]) and "why(error" not in found[0]
    ]
    assert sorted(loose) == [
        "controller/commands/journal.py",
        "controller/commands/journal_day.py",
        "controller/history/entries.py",
        "controller/history/snapshot.py",
        "controller/history/snapshot.py",
        "link/ledger/equal_cost.py",
        "link/ledger/parameters.py",
        "link/reports/par.py",
        "link/server/staff_chain.py",
        "link/store/backup.py",
        "record/link/outbox.py",
        "record/shape.py",
    ]


def test_bytes_that_are_no_text_get_the_plain_message() -> None:
    data = b'{"shares":{"\xe5":1}}'
    with pytest.raises(UnicodeDecodeError) as refused:
        msgspec.json.decode(data)
    assert why(refused.value, data, dict[str, int]).startswith("'utf-8' codec can't decode")
