"""Bytes to messages and back. What is not exactly a message is a ``WireError``, nothing else."""

from __future__ import annotations

from typing import Final, TypeVar

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


class WireError(ValueError):
    """Not a message; ``code`` says of which kind."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(f"{text} ({code})")
        self.code, self.text = code, text


def from_table(frame: bytes) -> FromTable:
    return _decode(_from_table, frame)


def from_server(frame: bytes) -> FromServer:
    return _decode(_from_server, frame)


def from_meters(frame: bytes) -> Meters:
    return _decode(_meters, frame)


def body_of(text: bytes) -> AnyBody:
    """The body of an ``outbox`` record."""
    return _decode(_body, text)


def encode(message: Message) -> bytes:
    return _encoder.encode(message)


def encode_body(body: AnyBody) -> bytes:
    return _encoder.encode(body)


def for_version(message: M, version: int) -> M:
    """As a table of this version knows it: what came later is left out."""
    if version >= 2 or not isinstance(message, Welcome | Ack | Beat) or not message.meters:
        return message
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
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise WireError(NOT_A_MESSAGE, f"not JSON: {error}") from None
