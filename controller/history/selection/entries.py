"""The bodies of journal records of kind "selection". Pure; bytes in docs/rules/selections.md."""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Final

import msgspec

from controller.rules.cards import BY_NAME, NAMES
from controller.rules.errors import UnderfeltError
from record.draw import SALT_BYTES, SEED_BYTES, Chances, Picks
from record.link.events import Rate
from record.shape import why

MOST_SEATS: Final = 7
VERSION: Final = 1

RoundNo = Annotated[int, msgspec.Meta(ge=1, le=2**63 - 1)]
Digest = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{64}$")]
Salt = Annotated[str, msgspec.Meta(pattern=f"^[0-9a-f]{{{2 * SALT_BYTES}}}$")]
Seed = Annotated[str, msgspec.Meta(pattern=f"^[0-9a-f]{{{2 * SEED_BYTES}}}$")]
Sealed = Annotated[str, msgspec.Meta(pattern="^([0-9a-f]{2}){1,512}$")]
Seat = Annotated[int, msgspec.Meta(ge=1, le=MOST_SEATS)]
Text = Annotated[str, msgspec.Meta(min_length=1, max_length=200)]


class Body(msgspec.Struct, frozen=True, forbid_unknown_fields=True, tag_field="what", kw_only=True):
    v: Annotated[int, msgspec.Meta(ge=VERSION, le=VERSION)] = VERSION
    round: RoundNo


class CommittedEntry(Body, frozen=True, kw_only=True, tag="committed"):
    committed: Digest
    salt: Salt
    seats: Annotated[tuple[Seat, ...], msgspec.Meta(max_length=MOST_SEATS)]
    magic_rate: Rate
    lucky_rate: Rate
    sealed: Sealed

    @property
    def chances(self) -> Chances:
        return Chances(self.seats, Fraction(self.magic_rate), Fraction(self.lucky_rate))


class RevealedEntry(Body, frozen=True, kw_only=True, tag="revealed"):
    """At the public moment: the seed, and what it drew."""

    seed: Seed
    magic_card: str | None
    lucky_seat: Seat | None

    @property
    def picks(self) -> Picks:
        magic = None if self.magic_card is None else BY_NAME[self.magic_card]
        return Picks(magic, self.lucky_seat)


class WithdrawnEntry(Body, frozen=True, kw_only=True, tag="withdrawn"):
    """The round ended before the public moment: the seed, and that nothing was drawn from it."""

    seed: Seed
    why: Text


class LostEntry(Body, frozen=True, kw_only=True, tag="lost"):
    """The sealed seed cannot be opened: the round has no selections and none are drawn again."""

    why: Text


Entry = CommittedEntry | RevealedEntry | WithdrawnEntry | LostEntry

_encode: Final = msgspec.json.Encoder().encode
_decoder: Final[msgspec.json.Decoder[Entry]] = msgspec.json.Decoder(Entry)


class SelectionError(UnderfeltError, ValueError):
    """A record of kind "selection" that cannot be, or a call that does not fit what was drawn."""

    def __init__(self, code: str, text: str) -> None:
        super().__init__(f"{text} ({code})")
        self.code = code


def encode(entry: Entry) -> bytes:
    return _encode(entry)


def decode(body: bytes) -> Entry:
    try:
        entry = _decoder.decode(body)
    except (msgspec.DecodeError, ValueError, RecursionError) as error:
        raise SelectionError("E-SEL-001", f"selection record: {why(error, body, Entry)}") from None
    if isinstance(entry, CommittedEntry):
        _check(entry)
    if isinstance(entry, RevealedEntry) and entry.magic_card not in (None, *NAMES):
        raise SelectionError("E-SEL-001", f"selection record: {entry.magic_card!r} is no card")
    return entry


def _check(entry: CommittedEntry) -> None:
    if list(entry.seats) != sorted(set(entry.seats)):
        raise SelectionError("E-SEL-001", f"selection record: seats {entry.seats} not ascending")
    for key in ("magic_rate", "lucky_rate"):
        if Fraction(getattr(entry, key)) > 1:
            raise SelectionError("E-SEL-001", f"selection record: {key} is above 1")
