"""The messages of the link, strictly decoded: one JSON object in one ZeroMQ frame.

A table connects with a DEALER, the server listens with a ROUTER; both prove their CURVE keys. The
server knows the table by its key, never by what a message says. Version 4 is spoken; tables of the
versions before it are served.
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal

import msgspec

from record.link.events import AnyBody, Cents, Count, Round, Row, Seat, Word

VERSION: Final = 4
VERSIONS: Final = (1, 2, 3, 4)
LONGEST: Final = 65_536
"""Bytes of a message; a longer one is refused before it is read."""

# Python's ``$`` also stands before a line feed at the end; ``(?!\n)`` takes that away.
Hash = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}$(?!\n)")]
JournalId = Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{32}$(?!\n)")]
Code = Annotated[str, msgspec.Meta(pattern=r"^E-[A-Z]{3,4}-[0-9]{3}$(?!\n)")]
RecordHash = Annotated[
    str,
    msgspec.Meta(
        min_length=64, max_length=64, extra_json_schema={"pattern": "^[0-9a-f]{64}$(?!\\n)"}
    ),
]
"""A ``Hash`` in a message that comes often: its ``__post_init__`` takes half the time of a
pattern."""
Text = Annotated[str, msgspec.Meta(max_length=500)]
Version = Annotated[int, msgspec.Meta(ge=0, le=65_535)]
AwardId = Annotated[str, msgspec.Meta(min_length=1, max_length=80)]
AwardState = Literal["claimed", "locked", "verified", "approved", "paid", "rejected", "withdrawn"]


class Message(
    msgspec.Struct,
    frozen=True,
    forbid_unknown_fields=True,
    omit_defaults=True,
    tag_field="t",
    gc=False,
):
    """The kind of a message is its ``t``."""


class MeterValue(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """One level of a pool as players may see it."""

    pool: Word
    level: Word
    cents: Cents
    """Whole cents of what the ledger has committed, never more."""
    generation: Count
    pending: Count = 0
    """Hits that are locked and not yet paid or rejected (since version 2)."""


NO_HASH: Final = "0" * 64


class Receipt(Row, frozen=True):
    """What the server's store held when it said so: ``[epoch, event, chain, staff, staff_head, key,
    mac]``. Only the server can make one, and only the server can check it (since version 3)."""

    epoch: Count
    event: Count
    """Number of the last event of the store, of all tables and people."""
    chain: Hash
    """The chain value of that event."""
    staff: Count
    staff_head: Hash
    """Number and head of the chain of staff orders; zeros if there are none."""
    key: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{16}$(?!\n)")]
    mac: Hash


_fromhex: Final = bytes.fromhex
_NOT_HEXADECIMAL: Final = "Expected 64 hexadecimal digits, a-f in lower case, as `$.hash`"


# --- from a table -----------------------------------------------------------------------------


class Hello(Message, frozen=True, tag="hello"):
    """First on every connection, and again whenever the server asks for it."""

    versions: Annotated[tuple[Version, ...], msgspec.Meta(max_length=16)]
    table: Word
    journal: JournalId
    sent: Count
    """Number of the last event in the table's journal; 0 if there is none."""
    seq: Count
    head: Hash
    """Number and hash of the journal's last record."""
    game: Word
    program: Word
    configuration: Hash
    meter_rule: Literal["sequential", "snapshot"] = "sequential"


class Event(Message, frozen=True, tag="event"):
    n: Annotated[int, msgspec.Meta(ge=1, lt=1 << 53)]
    """Its number among the events of this journal."""
    seq: Count
    hash: RecordHash
    """Number and hash of the journal record that it stands in."""
    at_ms: Count
    body: AnyBody

    def __post_init__(self) -> None:
        text = self.hash
        try:
            if _fromhex(text).hex() == text:
                return
        except ValueError:
            pass
        raise ValueError(_NOT_HEXADECIMAL)


class Checkpoint(Message, frozen=True, tag="checkpoint"):
    """Where the journal ends now, so that nobody can rewrite it unseen; at least every 60 s."""

    seq: Count
    hash: RecordHash
    at_ms: Count

    def __post_init__(self) -> None:
        text = self.hash
        try:
            if _fromhex(text).hex() == text:
                return
        except ValueError:
            pass
        raise ValueError(_NOT_HEXADECIMAL)


class TableNow(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True, gc=False
):
    """How a table stands, for the people who watch the floor (since version 4)."""

    phase: Word
    round: Count = 0
    waiting: Count = 0
    """Events that are not acknowledged."""
    troubles: Annotated[tuple[Code, ...], msgspec.Meta(max_length=16)] = ()
    """Codes of what is not as it should be, the worst first."""


class Beat(Message, frozen=True, tag="beat"):
    """Both ways. The answer to a table's beat carries its ``at_ms`` back."""

    at_ms: Count
    meters: tuple[MeterValue, ...] = ()
    test: bool = False
    """From a table: it is in test mode and nobody can play there (since version 2)."""
    now: TableNow | None = None
    """From a table (since version 4)."""


class ReceiptShown(Message, frozen=True, tag="receipt"):
    """From a table right after its welcome: the last receipt that it holds (since version 3)."""

    receipt: Receipt


class Bye(Message, frozen=True, tag="bye"):
    """Both ways: a clean end."""

    why: Text = ""


# --- from the server --------------------------------------------------------------------------


class Welcome(Message, frozen=True, tag="welcome"):
    version: int
    server: Word
    epoch: Count
    n: Count
    """The server has this journal's events up to here: send what follows."""
    beat_ms: Annotated[int, msgspec.Meta(ge=100, le=60_000)]
    meters: tuple[MeterValue, ...]
    seq: Count = 0
    """The journal's last record that the server knew of before this hello; 0 if there was none.
    Answer with a checkpoint of this number and what its hash is **now**: a journal that somebody
    rewrote is found by it, however long it has become since."""


class Ack(Message, frozen=True, tag="ack"):
    """Every event up to ``n`` is durable at the server. Not a permission to forget it."""

    n: Count
    meters: tuple[MeterValue, ...] = ()
    receipt: Receipt | None = None
    """Keep the last one, and show it after the next welcome (since version 3)."""


class Noted(Message, frozen=True, tag="noted"):
    """A checkpoint is durable at the server."""

    seq: Count
    receipt: Receipt | None = None
    """As with an ack: a table that plays nothing hears of it too (since version 3)."""


class ServerRefused(Message, frozen=True, tag="refused"):
    """``n``: the event it is about, 0 for the connection. ``expected``: in a gap, the next number.
    ``halted``: nothing more is taken from this journal until people have looked into it."""

    code: Code
    text: Text
    n: Count = 0
    expected: Count = 0
    halted: bool = False


class LockedAward(Row, frozen=True):
    """``[seat, award, cents]``."""

    seat: Seat
    award: AwardId
    cents: Cents


class Locked(Message, frozen=True, tag="locked"):
    """The claims of a round have their amount of record. Said again until the round is over."""

    round: Round
    jackpot_cents: Cents
    """What percentages are taken from: the ledger at the lock, this round's wagers included."""
    reset_cents: Cents
    """The meter after a 100 % award."""
    awards: tuple[LockedAward, ...]
    position: Count = 1
    """Its place among hits that were pending together."""
    policy: Word = "strict_order"


class AwardChanged(Message, frozen=True, tag="award"):
    round: Round
    seat: Seat
    award: AwardId
    state: AwardState
    cents: Cents


class MysteryWon(Message, frozen=True, tag="mystery"):
    """A wager of this table's event brought a level to its hidden trigger."""

    round: Round
    seat: Seat
    award: AwardId
    level: Word
    cents: Cents


class SelectionCommitted(Message, frozen=True, tag="committed"):
    round: Round
    digest: Hash


class SelectionRevealed(Message, frozen=True, tag="revealed"):
    """``draw`` is the body that `underfelt draws verify` reads."""

    round: Round
    draw: dict[str, Any]


class Meters(Message, frozen=True, tag="meters"):
    """On the PUB socket, topic ``meters``: absolute values; ``seq`` counts publications."""

    server: Word
    epoch: Count
    seq: Count
    meters: tuple[MeterValue, ...]


class Hit(Message, frozen=True, tag="hit"):
    """On the PUB socket, topic ``hits``: an award was locked, or two people approved it. For signs;
    it moves no money."""

    server: Word
    epoch: Count
    seq: Count
    award: AwardId
    pool: Word
    level: Word
    table: Word
    cents: Cents
    state: Literal["locked", "won"]


FromTable = Hello | Event | Checkpoint | ReceiptShown | Beat | Bye
FromServer = (
    Welcome
    | Ack
    | Noted
    | ServerRefused
    | Locked
    | AwardChanged
    | MysteryWon
    | SelectionCommitted
    | SelectionRevealed
    | Beat
    | Bye
)
