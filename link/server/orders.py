"""Orders about keys and accounts, and how every order of a person is read: strict JSON.

``{"what": "revoke key", "which": "table-7", "why": "stolen"}``. Orders about money are the ledger's
(``link.ledger.orders``); only those that people may give are known here.
"""

from __future__ import annotations

from typing import Annotated, Final

import msgspec

from link.ledger import orders as money
from link.ledger.orders import OrderBody, Why
from link.rows import KeyRole
from record.link.events import Count, Word

DAY_MS: Final = 86_400_000
MOST_KEYS: Final = 2_000
KeyText = Annotated[str, msgspec.Meta(min_length=40, max_length=40)]


class NewKey(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """``[name, key, role]``."""

    name: Word
    key: KeyText
    role: KeyRole = "table"


class EnrolKeys(OrderBody, frozen=True, tag="enrol keys"):
    """These public keys may speak for these tables or signs, all of them or none."""

    keys: Annotated[tuple[NewKey, ...], msgspec.Meta(min_length=1, max_length=MOST_KEYS)]
    from_ms: Count = 0
    until_ms: Count = 0


class RotateKey(OrderBody, frozen=True, tag="rotate key"):
    """A new key at once; the old one is valid for so long beside it."""

    key: NewKey
    overlap_ms: Count = DAY_MS


class RevokeKey(OrderBody, frozen=True, tag="revoke key"):
    """Never again; by key, fingerprint or name."""

    which: Word
    why: Why


class AddAccount(OrderBody, frozen=True, tag="add account"):
    name: Word
    role: Word
    scrypt: str


class SetPassword(OrderBody, frozen=True, tag="set password"):
    """Also unlocks; one's own alone, anybody else's by two people."""

    name: Word
    scrypt: str


class UnlockAccount(OrderBody, frozen=True, tag="unlock account"):
    name: Word


class DisableAccount(OrderBody, frozen=True, tag="disable account"):
    name: Word


MoneyOrder = (
    money.Verify
    | money.Approve
    | money.Pay
    | money.Reject
    | money.Accept
    | money.Resume
    | money.Retire
    | money.Restore
    | money.Change
    | money.Transfer
    | money.Close
    | money.Note
)
OfficeOrder = (
    EnrolKeys | RotateKey | RevokeKey | AddAccount | SetPassword | UnlockAccount | DisableAccount
)
PersonOrder = MoneyOrder | OfficeOrder

_decoder: Final[msgspec.json.Decoder[PersonOrder]] = msgspec.json.Decoder(PersonOrder)
_encoder: Final = msgspec.json.Encoder()


def read_order(text: bytes) -> PersonOrder:
    """``ValueError`` with the field and what is expected."""
    try:
        return _decoder.decode(text)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(str(error)) from None


def what_of(order: PersonOrder) -> str:
    return str(order.__struct_config__.tag)


def for_the_record(order: OfficeOrder) -> list[str]:
    """JSON for the events, in pieces that fit; the hash of a password is not among it."""
    if isinstance(order, AddAccount | SetPassword):
        order = msgspec.structs.replace(order, scrypt="")
    if isinstance(order, EnrolKeys):
        pieces = [order.keys[at : at + 500] for at in range(0, len(order.keys), 500)]
        return [
            _encoder.encode(msgspec.structs.replace(order, keys=piece)).decode() for piece in pieces
        ]
    return [_encoder.encode(order).decode()]
