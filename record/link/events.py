"""What a table has to tell the link server: bodies of its journal's ``outbox`` records.

Each body stands in the table's journal before it is sent, numbered 1, 2, 3, ... without gaps over
the life of that journal. The server applies each number once. Amounts are minor units.
"""

from __future__ import annotations

from typing import Annotated, Any

import msgspec

Count = Annotated[int, msgspec.Meta(ge=0, lt=1 << 53)]
Seat = Annotated[int, msgspec.Meta(ge=1, le=12)]
Round = Annotated[int, msgspec.Meta(ge=1, lt=1 << 53)]
Cents = Annotated[int, msgspec.Meta(ge=0, le=10**13)]
Percent = Annotated[int, msgspec.Meta(ge=1, le=100)]
Word = Annotated[str, msgspec.Meta(min_length=1, max_length=64)]
Rate = Annotated[str, msgspec.Meta(pattern="^(0|[1-9][0-9]{0,70})(/[1-9][0-9]{0,70})?$")]
"""A share of one, as a fraction: ``1/500``."""


class Row(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True, gc=False):
    """A list in place of an object; texts and numbers only, so nothing for the collector."""


class EventBody(
    msgspec.Struct,
    frozen=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    tag_field="what",
    gc=False,
):
    """The kind of an event is its ``what``."""


class Wager(Row, frozen=True):
    """A progressive wager of one seat: ``[seat, cents, credits]``."""

    seat: Seat
    cents: Cents
    credits: Count = 1


class Claim(Row, frozen=True):
    """A share of the jackpot: ``[seat, hand, percent]``."""

    seat: Seat
    hand: Word
    percent: Percent


class FixedAward(Row, frozen=True):
    """Paid at the table by odds or as a fixed sum: ``[seat, kind, cents]``.

    ``kind`` is the class of hand of an odds award, or ``envy``, ``magic card``, ``lucky player``.
    """

    seat: Seat
    kind: Word
    cents: Cents


class Contributed(EventBody, frozen=True, tag="contributed"):
    """Bets locked: these progressive wagers count."""

    round: Round
    wagers: tuple[Wager, ...]


class Reversed(EventBody, frozen=True, tag="reversed"):
    """The round, or these seats' part in it, is void: their wagers went back."""

    round: Round
    wagers: tuple[Wager, ...]


class Claimed(EventBody, frozen=True, tag="claimed"):
    """All percentage claims of a round, in settlement order. A later one replaces an earlier one
    of the same round as long as that is not locked."""

    round: Round
    claims: tuple[Claim, ...]


class Withdrawn(EventBody, frozen=True, tag="withdrawn"):
    """These seats' claims are void."""

    round: Round
    seats: tuple[Seat, ...]


class RoundPlayed(EventBody, frozen=True, tag="round"):
    """A finished round: the record and result of the round-record contract, and what was paid at
    the table from the progressive's pay table. A later one of the same number corrects it."""

    round: Round
    record: dict[str, Any]
    result: dict[str, Any]
    awards: tuple[FixedAward, ...] = ()


class SelectionWanted(EventBody, frozen=True, tag="selection wanted"):
    """A table whose server draws: bets are locked, no card is out. The lucky player is one of
    ``seats``; the rates say in how many rounds there is a magic card and a lucky player."""

    round: Round
    seats: tuple[Seat, ...]
    magic_rate: Rate = "1"
    lucky_rate: Rate = "1"


AnyBody = Contributed | Reversed | Claimed | Withdrawn | RoundPlayed | SelectionWanted
