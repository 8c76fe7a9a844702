"""The literal frames of tests/vectors/link.toml, read and written exactly, in both versions."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from record.link import codec
from record.link.events import AnyBody
from record.link.messages import LONGEST, Event, FromServer, FromTable, Hit, Message, Meters

VECTORS: Final = tomllib.loads(
    (Path(__file__).parents[2] / "vectors" / "link.toml").read_text("utf-8")
)
READERS: Final[dict[str, Callable[[bytes], Message]]] = {
    "table": codec.from_table,
    "server": codec.from_server,
    "meters": codec.from_meters,
    "hits": codec.from_hits,
}


def named(row: dict[str, Any]) -> str:
    return str(row.get("is", row["frame"]))[:40]


@pytest.mark.parametrize("row", VECTORS["message"], ids=named)
def test_a_message_is_read_and_written_exactly(row: dict[str, Any]) -> None:
    read = READERS[row["from"]](row["frame"].encode())
    assert repr(read) == row["is"]
    assert codec.encode(read) == row["frame"].encode()


def test_every_kind_of_message_and_event_has_a_vector() -> None:
    shown = " ".join(row["is"] for row in VECTORS["message"])
    kinds = [kind.__name__ for kind in (*FromTable.__args__, *FromServer.__args__, Meters, Hit)]
    kinds += [kind.__name__ for kind in AnyBody.__args__]
    assert [kind for kind in kinds if f"{kind}(" not in shown] == []


@pytest.mark.parametrize("row", VECTORS["message"], ids=named)
def test_a_message_of_one_side_is_none_of_the_other(row: dict[str, Any]) -> None:
    """What both may say (beat, bye) apart, nobody can play the server or echo a table."""
    if row["is"].startswith(("Beat", "Bye")):
        return
    for side, reader in READERS.items():
        if side != row["from"]:
            with pytest.raises(codec.WireError, match="E-LNK-002"):
                reader(row["frame"].encode())


@pytest.mark.parametrize("row", VECTORS["older"], ids=named)
def test_a_table_one_version_behind_gets_what_it_knows(row: dict[str, Any]) -> None:
    message = codec.from_server(row["frame"].encode())
    assert codec.encode(codec.for_version(message, 1)) == row["first"].encode()
    second = row.get("second", row["frame"])
    assert codec.encode(codec.for_version(message, 2)) == second.encode()
    assert codec.encode(codec.for_version(message, 3)) == row["frame"].encode()


@pytest.mark.parametrize("row", VECTORS["taken"], ids=named)
def test_spaces_order_and_stated_defaults_do_not_matter(row: dict[str, Any]) -> None:
    assert repr(codec.from_table(row["frame"].encode())) == row["is"]


@pytest.mark.parametrize("row", VECTORS["refused"], ids=named)
def test_what_is_no_message_is_refused_and_named(row: dict[str, Any]) -> None:
    with pytest.raises(codec.WireError) as refused:
        codec.from_table(row["frame"].encode())
    assert refused.value.code == row["code"]
    assert row["says"] in refused.value.text


def test_a_frame_is_measured_before_it_is_read() -> None:
    fits = b'{"t":"beat","at_ms":1}'.ljust(LONGEST)
    assert repr(codec.from_table(fits)) == "Beat(at_ms=1, meters=(), test=False, now=None)"
    for reader in READERS.values():
        with pytest.raises(codec.WireError) as refused:
            reader(fits + b" ")
        assert refused.value.code == "E-LNK-001"
        assert "65537" in refused.value.text


def test_the_body_of_an_outbox_record_is_the_body_of_its_event() -> None:
    for row in VECTORS["message"]:
        message = READERS[row["from"]](row["frame"].encode())
        if isinstance(message, Event):
            assert codec.body_of(codec.encode_body(message.body)) == message.body


# --- versions ----------------------------------------------------------------------------------


def test_a_table_from_the_future_still_says_which_versions_it_offers() -> None:
    frame = b'{"t":"hello","versions":[7,8],"name":"table-7","shape":{"of":["things","to","come"]}}'
    with pytest.raises(codec.WireError):
        codec.from_table(frame)
    assert codec.offered(frame) == (7, 8)


@pytest.mark.parametrize(
    "frame",
    [b"", b"{}", b'{"t":"beat","versions":[1]}', b'{"t":"hello"}', b'{"versions":[2]}'],
)
def test_nothing_else_offers_a_version(frame: bytes) -> None:
    assert codec.offered(frame) == ()
