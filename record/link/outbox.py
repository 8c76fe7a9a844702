"""The table's outbox: journal records of kind ``outbox``, each one event for the link server.

``{"v":1,"n":7,"event":{"what":"contributed",...}}``: its number among the journal's events, and the
body exactly as it is sent. Number, record and time never change, so a repeat is the same message.
"""

from __future__ import annotations

from typing import Annotated, Final, Literal

import msgspec

from record.journal.format import Record
from record.link.codec import WireError, body_of, encode_body
from record.link.events import AnyBody
from record.link.messages import Event

OUTBOX: Final = "outbox"
VERSION: Final = 1
NOT_OURS: Final = "E-LNK-064"


class _Entry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    v: Literal[1]
    n: Annotated[int, msgspec.Meta(ge=1, lt=1 << 53)]
    event: msgspec.Raw


_encoder: Final = msgspec.json.Encoder()
_decoder: Final[msgspec.json.Decoder[_Entry]] = msgspec.json.Decoder(_Entry)


def outbox_body(n: int, body: AnyBody) -> bytes:
    return _encoder.encode(_Entry(VERSION, n, msgspec.Raw(encode_body(body))))


def outbox_number(body: bytes) -> int:
    """The number alone, without reading the event."""
    return _entry(body).n


def event_of(record: Record) -> Event:
    """The message that this record is sent as."""
    entry = _entry(record.body)
    event = body_of(bytes(entry.event))
    return Event(entry.n, record.seq, record.hash.hex(), record.at_ms, event)


def _entry(body: bytes) -> _Entry:
    try:
        return _decoder.decode(body)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise WireError(NOT_OURS, f"no outbox record: {error}") from None
