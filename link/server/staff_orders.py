"""Orders about keys and accounts, and how every order of a person is read: strict JSON.

``{"what": "revoke key", "which": "table-7", "why": "stolen"}``. Orders about money are the ledger's
(``link.ledger.orders``); only those that people may give are known here.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Final

import msgspec

from link.ledger import orders as money
from link.ledger.orders import OrderBody, Why
from link.rows import KeyRole
from record.link.events import Count, Word
from record.shape import why

DAY_MS: Final = 86_400_000
MOST_KEYS: Final = 2_000
KeyText = Annotated[str, msgspec.Meta(min_length=40, max_length=40)]
Hex64 = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]


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


class AccountOrder(OrderBody, frozen=True):
    """``name`` is the account that the order is about."""

    name: Word


class KeyOrder(AccountOrder, frozen=True):
    """What the owner made of the new password, and nobody else can: ``proof`` is his signature."""

    key: Hex64
    proof: Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{128}$")]
    salt: Annotated[str, msgspec.Meta(pattern="^([0-9a-f]{32})?$")] = ""
    """Left out of the record: with it a password could be guessed from a copy."""


class AddAccount(KeyOrder, frozen=True, tag="add account", kw_only=True):
    role: Word


class ResetAccount(KeyOrder, frozen=True, tag="reset account"):
    """Another key for an account whose owner forgot the password."""


class SetPassword(KeyOrder, frozen=True, tag="set password"):
    """Another key, by the owner alone, proved with the old one."""


class AdoptKey(KeyOrder, frozen=True, tag="adopt key"):
    """The first key of an account from before keys: given by the server when its owner has typed
    the old password."""


class SetRole(AccountOrder, frozen=True, tag="set role"):
    role: Word


class UnlockAccount(AccountOrder, frozen=True, tag="unlock account"):
    """Takes back the delays after wrong passwords."""


class DisableAccount(AccountOrder, frozen=True, tag="disable account"):
    pass


class EnableAccount(AccountOrder, frozen=True, tag="enable account"):
    """With the password that it had."""


class AcknowledgeAccounts(OrderBody, frozen=True, tag="acknowledge accounts"):
    """Two people know that accounts were made without proof, up to this number of the chain."""

    number: Count


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
    | money.AcknowledgeAlarm
)
OfficeOrder = (
    EnrolKeys
    | RotateKey
    | RevokeKey
    | AddAccount
    | ResetAccount
    | SetPassword
    | SetRole
    | UnlockAccount
    | DisableAccount
    | EnableAccount
    | AcknowledgeAccounts
)
StaffOrder = MoneyOrder | OfficeOrder
Recorded = OfficeOrder | AdoptKey

_recorded: Final[msgspec.json.Decoder[Recorded]] = msgspec.json.Decoder(Recorded)
_encoder: Final = msgspec.json.Encoder()


def read_order(given: Mapping[str, Any]) -> StaffOrder:
    """Of strict JSON (``record.outside``); ``ValueError`` with the field and what is expected."""
    try:
        order: StaffOrder = msgspec.convert(given, StaffOrder)
    except msgspec.ValidationError as error:
        raise ValueError(why(error, given, StaffOrder)) from None
    return order


def what_of(order: StaffOrder) -> str:
    return str(order.__struct_config__.tag)


def read_record(text: str) -> Recorded:
    """An order about accounts or keys as the record has it; ``ValueError`` if it is none."""
    return _recorded.decode(text)


def for_the_record(order: Recorded) -> list[str]:
    """JSON for the events, in pieces that fit."""
    if isinstance(order, KeyOrder):
        order = msgspec.structs.replace(order, salt="")
    if isinstance(order, EnrolKeys):
        pieces = [order.keys[at : at + 500] for at in range(0, len(order.keys), 500)]
        return [
            _encoder.encode(msgspec.structs.replace(order, keys=piece)).decode() for piece in pieces
        ]
    return [_encoder.encode(order).decode()]
