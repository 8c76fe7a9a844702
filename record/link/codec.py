"""Bytes to messages and back. What is not exactly a message is a ``WireError``, nothing else."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, Literal, TypeVar

import msgspec

from record.link.events import AnyBody
from record.link.messages import (
    LONGEST,
    Ack,
    Beat,
    FromServer,
    FromTable,
    Message,
    Meters,
    MeterValue,
    Welcome,
)

TOO_LONG: Final = "E-LNK-001"
NOT_A_MESSAGE: Final = "E-LNK-002"

T = TypeVar("T")
M = TypeVar("M", bound=Message)

_encoder: Final = msgspec.json.Encoder()
_from_table: Final[msgspec.json.Decoder[FromTable]] = msgspec.json.Decoder(FromTable)
_from_server: Final[msgspec.json.Decoder[FromServer]] = msgspec.json.Decoder(FromServer)
_meters: Final[msgspec.json.Decoder[Meters]] = msgspec.json.Decoder(Meters)
_body: Final[msgspec.json.Decoder[AnyBody]] = msgspec.json.Decoder(AnyBody)


_read_table: Final = _from_table.decode
_read_server: Final = _from_server.decode
_WRONG: Final = (msgspec.DecodeError, UnicodeDecodeError, RecursionError)


class _Offer(msgspec.Struct, frozen=True):
    t: Literal["hello"]
    versions: tuple[int, ...]


_offer: Final[msgspec.json.Decoder[_Offer]] = msgspec.json.Decoder(_Offer)


class WireError(ValueError):
    """Not a message; ``code`` says of which kind."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(f"{text} ({code})")
        self.code, self.text = code, text


def from_table(frame: bytes) -> FromTable:
    # One call for a sound message; the other way explains what is wrong.
    if len(frame) <= LONGEST:
        try:
            return _read_table(frame)
        except _WRONG:
            pass
    return _decode(_from_table, frame)


def from_server(frame: bytes) -> FromServer:
    if len(frame) <= LONGEST:
        try:
            return _read_server(frame)
        except _WRONG:
            pass
    return _decode(_from_server, frame)


def from_meters(frame: bytes) -> Meters:
    return _decode(_meters, frame)


def body_of(text: bytes) -> AnyBody:
    """The body of an ``outbox`` record."""
    return _decode(_body, text)


def offered(frame: bytes) -> tuple[int, ...]:
    """The versions that a ``Hello`` offers, whatever else its own version has put into it; none if
    it is no ``Hello``. So a table that is too new is told so, and not that it talks nonsense."""
    try:
        return _decode(_offer, frame).versions
    except WireError:
        return ()


encode: Final[Callable[[Message], bytes]] = _encoder.encode
encode_body: Final[Callable[[AnyBody], bytes]] = _encoder.encode


def for_version(message: M, version: int) -> M:
    """As a table of this version knows it: what came later is left out."""
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
        raise WireError(NOT_A_MESSAGE, str(error)) from None
    except _WRONG as error:
        raise WireError(NOT_A_MESSAGE, f"not JSON: {error}") from None
