"""Bytes to messages and back. What is not exactly a message is a ``WireError``, nothing else."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Annotated, Final, Literal, TypeVar, cast

import msgspec

from record.kit.outside import NotStrict, check, printable, read_json
from record.link.events import AnyBody, Count, RoundPlayed
from record.link.messages import (
    LONGEST,
    Ack,
    Beat,
    Bye,
    Checkpoint,
    Event,
    FromServer,
    FromTable,
    Hello,
    Hit,
    Message,
    Meters,
    MeterValue,
    Noted,
    ReceiptShown,
    RecordHash,
    SelectionRevealed,
    Version,
    Welcome,
)
from record.shape import why

TOO_LONG: Final = "E-LNK-001"
NOT_A_MESSAGE: Final = "E-LNK-002"

T = TypeVar("T")
M = TypeVar("M", bound=Message)

_encoder: Final = msgspec.json.Encoder()
_from_table: Final[msgspec.json.Decoder[FromTable]] = msgspec.json.Decoder(FromTable)
"""Says what is wrong, with its place; ``received`` reads."""
_from_server: Final[msgspec.json.Decoder[FromServer]] = msgspec.json.Decoder(FromServer)
_meters: Final[msgspec.json.Decoder[Meters]] = msgspec.json.Decoder(Meters)
_hits: Final[msgspec.json.Decoder[Hit]] = msgspec.json.Decoder(Hit)
_body: Final[msgspec.json.Decoder[AnyBody]] = msgspec.json.Decoder(AnyBody)


_read_body: Final = _body.decode
_WRONG: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)
_ODD: Final = re.compile(rb"[^\x20-\x5b\x5d-\x7e]").search
"""A byte behind which a control character may hide: a backslash, or one that is not plain ASCII."""


class _Sent(Message, frozen=True, tag="event"):
    """An ``Event`` whose body stays as it came."""

    n: Annotated[int, msgspec.Meta(ge=1, lt=1 << 53)]
    seq: Count
    hash: RecordHash
    at_ms: Count
    body: msgspec.Raw


_Frame = Hello | _Sent | Checkpoint | ReceiptShown | Beat | Bye
_read_frame: Final = msgspec.json.Decoder[_Frame](_Frame).decode


class _Offer(msgspec.Struct, frozen=True):
    t: Literal["hello"]
    versions: Annotated[tuple[Version, ...], msgspec.Meta(max_length=16)]


_offer: Final[msgspec.json.Decoder[_Offer]] = msgspec.json.Decoder(_Offer)


class WireError(ValueError):
    """Not a message; ``code`` says of which kind."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(f"{text} ({code})")
        self.code, self.text = code, text


def from_table(frame: bytes) -> FromTable:
    return received(frame)[0]


def received(frame: bytes) -> tuple[FromTable, bytes]:
    """A table's message, strictly read, and an event's body exactly as it came (else empty).

    Strictly: what ``record.kit.outside`` allows and nothing else, so that a stored body can be read
    again, kept in any column and shown on any terminal.
    """
    # Two calls for a sound event; the other way explains what is wrong.
    try:
        if len(frame) <= LONGEST:
            told = _read_frame(frame)
            if type(told) is not _Sent:
                if _ODD(frame) is not None or type(told) is Hello:
                    read_json(frame)
                return cast(FromTable, told), b""
            raw = bytes(told.body)
            body = _read_body(raw)
            if type(body) is RoundPlayed:
                check(body.record, "$.body.record")
                check(body.result, "$.body.result")
            if _ODD(frame) is not None or encode_body(body) != raw:
                read_json(frame)
            return Event(told.n, told.seq, told.hash, told.at_ms, body), raw
    except NotStrict as error:
        raise WireError(NOT_A_MESSAGE, str(error)) from None
    except (*_WRONG, ValueError):
        pass
    _decode(_from_table, frame)
    raise WireError(NOT_A_MESSAGE, "not a message")


def from_server(frame: bytes) -> FromServer:
    message = _decode(_from_server, frame)
    if _ODD(frame) is not None or type(message) is SelectionRevealed:
        _strictly(frame)
    return message


def from_meters(frame: bytes) -> Meters:
    message = _decode(_meters, frame)
    if _ODD(frame) is not None:
        _strictly(frame)
    return message


def from_hits(frame: bytes) -> Hit:
    message = _decode(_hits, frame)
    if _ODD(frame) is not None:
        _strictly(frame)
    return message


def _strictly(frame: bytes) -> None:
    try:
        read_json(frame)
    except NotStrict as error:
        raise WireError(NOT_A_MESSAGE, str(error)) from None


def body_of(text: bytes) -> AnyBody:
    """The body of an ``outbox`` record, or of a stored event. Not as strict as ``received``: what
    an older program has taken stays readable."""
    try:
        return _read_body(text)
    except _WRONG as error:
        raise WireError(NOT_A_MESSAGE, f"not a body: {printable(str(error))}") from None


def offered(frame: bytes) -> tuple[int, ...]:
    """The versions that a ``Hello`` offers, whatever else its own version has put into it; none if
    it is no ``Hello``. So a table that is too new learns that, instead of "invalid message"."""
    try:
        return _decode(_offer, frame).versions
    except WireError:
        return ()


encode: Final[Callable[[Message], bytes]] = _encoder.encode
encode_body: Final[Callable[[AnyBody], bytes]] = _encoder.encode


def for_version(message: M, version: int) -> M:
    """As a table of this version knows it: what came later is left out."""
    if version < 3 and isinstance(message, Ack | Noted) and message.receipt is not None:
        message = msgspec.structs.replace(message, receipt=None)
    if version >= 2 or not isinstance(message, Welcome | Ack | Beat):
        return message
    if isinstance(message, Welcome):
        message = msgspec.structs.replace(message, seq=0)
    return msgspec.structs.replace(message, meters=tuple(map(_first_version, message.meters)))


def _first_version(meter: MeterValue) -> MeterValue:
    return msgspec.structs.replace(meter, pending=0) if meter.pending else meter


def _decode(decoder: msgspec.json.Decoder[T], frame: bytes) -> T:
    if len(frame) > LONGEST:
        raise WireError(TOO_LONG, f"{len(frame)} bytes; expected at most {LONGEST}")
    try:
        return decoder.decode(frame)
    except msgspec.ValidationError as error:
        raise WireError(NOT_A_MESSAGE, why(error, frame, decoder.type)) from None
    except _WRONG as error:
        raise WireError(NOT_A_MESSAGE, f"not JSON: {printable(str(error))}") from None
