"""The selector: commit before the first card, reveal at the public moment, never draw again.

A pure machine: the source of seeds and the seal are passed in, and what it decides comes back as
bodies for the journal. Its memory is what those bodies say and nothing else, so a selector that has
replayed the journal is the selector that wrote it. The seed itself lives in the sealed field of the
commitment alone, also in memory: before and after a crash it is opened the same way.

The caller's part of the bargain: append the bodies in order, make them durable, and only then tell
the engine and the displays.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from controller.history.selection.entries import (
    CommittedEntry,
    Entry,
    LostEntry,
    RevealedEntry,
    SelectionError,
    WithdrawnEntry,
    decode,
    encode,
)
from controller.rules.cards import NAMES
from record.draw import (
    SALT_BYTES,
    SEED_BYTES,
    Picks,
    commitment,
    picks,
)

Source = Callable[[int], bytes]
"""So many fresh random bytes: ``secrets.token_bytes`` outside the tests."""
Seal = Callable[[bytes], bytes]
NOTHING = Picks(None, None)
FEWEST_VALUES = 8
"""Different bytes in 32 random ones: fewer than this has a probability below 1e-34."""
LOST = "the sealed seed cannot be opened with this table's key"


@dataclass(frozen=True, slots=True)
class Committed:
    """Answer to a request: tell the engine this digest after the bodies are durable."""

    round_no: int
    digest: str
    bodies: tuple[bytes, ...]
    """To be journalled, in order; empty if the round was committed before (a repeated request)."""


@dataclass(frozen=True, slots=True)
class Revealed:
    """What the round has, after the bodies are durable."""

    round_no: int
    picks: Picks
    bodies: tuple[bytes, ...]
    lost: bool = False
    """The seed could not be opened: the round has no selections, and somebody must be told."""


class Selector:
    """One table's selector. ``replay`` its records before anything else."""

    def __init__(self, journal_id: str, source: Source, seal: Seal, unseal: Seal) -> None:
        self._journal_id = journal_id
        self._source, self._seal, self._unseal = source, seal, unseal
        self._commit: CommittedEntry | None = None
        self._end: Entry | None = None

    # --- what it knows --------------------------------------------------------------------------

    @property
    def open_round(self) -> int | None:
        """The round that is committed and neither revealed nor withdrawn."""
        if self._commit is None or self._end is not None:
            return None
        return self._commit.round

    @property
    def last_round(self) -> int:
        return 0 if self._commit is None else self._commit.round

    # --- the journal ----------------------------------------------------------------------------

    def replay(self, body: bytes) -> None:
        """One "selection" record of the journal, oldest first."""
        entry = decode(body)
        if isinstance(entry, CommittedEntry):
            if self.open_round is not None or entry.round <= self.last_round:
                raise SelectionError(
                    "E-SEL-002",
                    f"round {entry.round} committed while the last one is {self.last_round}"
                    f"{' and open' if self.open_round else ''}",
                )
            self._commit, self._end = entry, None
        elif entry.round != self.open_round:
            raise SelectionError(
                "E-SEL-003", f"round {entry.round} ended, but open is {self.open_round}"
            )
        else:
            self._end = entry

    def _write(self, entry: Entry) -> bytes:
        """Adopt through the same door as a replay, so that nothing unreadable is ever written."""
        body = encode(entry)
        self.replay(body)
        return body

    # --- requests -------------------------------------------------------------------------------

    def commit(
        self, round_no: int, seats: tuple[int, ...], magic_rate: Fraction, lucky_rate: Fraction
    ) -> Committed:
        """Bets are closed: fix this round's draw. A repeated request gets the first answer."""
        if self._commit is not None and round_no == self._commit.round:
            return Committed(round_no, self._commit.committed, ())
        bodies = []
        if self.open_round is not None:
            bodies.append(self._withdraw(self._commit_of(self.open_round), "the next round began"))
        seed, salt = self._fresh()
        digest = commitment(seed, salt, self._journal_id, round_no)
        entry = CommittedEntry(
            round=round_no,
            committed=digest,
            salt=salt.hex(),
            seats=tuple(sorted(seats)),
            magic_rate=str(magic_rate),
            lucky_rate=str(lucky_rate),
            sealed=self._seal(seed).hex(),
        )
        bodies.append(self._write(entry))
        return Committed(round_no, digest, tuple(bodies))

    def reveal(self, round_no: int) -> Revealed:
        """The public moment. A repeated request gets the first answer."""
        entry = self._commit_of(round_no)
        if self._end is not None:
            return self._again(round_no, self._end)
        seed = self._seed(entry)
        if seed is None:
            body = self._write(LostEntry(round=round_no, why=LOST))
            return Revealed(round_no, NOTHING, (body,), lost=True)
        drawn = picks(seed, self._journal_id, round_no, entry.chances)
        card = None if drawn.magic_card is None else NAMES[drawn.magic_card]
        revealed = RevealedEntry(
            round=round_no, seed=seed.hex(), magic_card=card, lucky_seat=drawn.lucky_seat
        )
        return Revealed(round_no, drawn, (self._write(revealed),))

    def withdraw(self, round_no: int, why: str) -> Revealed:
        """The round is void, or a card came first: the seed is published and draws nothing."""
        entry = self._commit_of(round_no)
        if self._end is not None:
            return self._again(round_no, self._end)
        body = self._withdraw(entry, why)
        return Revealed(round_no, NOTHING, (body,), lost=isinstance(self._end, LostEntry))

    def opens(self) -> bool:
        """Does this table's key open the round that is open? Ask at start, before play."""
        return self.open_round is None or self._seed(self._commit_of(self.open_round)) is not None

    # --- inside ---------------------------------------------------------------------------------

    def _fresh(self) -> tuple[bytes, bytes]:
        """A seed and a salt; a source that is stuck must not draw, and fair bytes never look so."""
        seed, salt = self._source(SEED_BYTES), self._source(SALT_BYTES)
        if seed[:SALT_BYTES] == salt or len(set(seed)) < FEWEST_VALUES:
            raise SelectionError("E-SEL-005", "the source of randomness repeats itself")
        return seed, salt

    def _commit_of(self, round_no: int) -> CommittedEntry:
        if self._commit is None or self._commit.round != round_no:
            raise SelectionError(
                "E-SEL-004", f"round {round_no} was never committed; last is {self.last_round}"
            )
        return self._commit

    def _again(self, round_no: int, end: Entry) -> Revealed:
        drawn = end.picks if isinstance(end, RevealedEntry) else NOTHING
        return Revealed(round_no, drawn, (), lost=isinstance(end, LostEntry))

    def _withdraw(self, entry: CommittedEntry, why: str) -> bytes:
        seed = self._seed(entry)
        if seed is None:
            return self._write(LostEntry(round=entry.round, why=LOST))
        return self._write(WithdrawnEntry(round=entry.round, seed=seed.hex(), why=why))

    def _seed(self, entry: CommittedEntry) -> bytes | None:
        """The seed, if the seal opens and it is the one that was committed to."""
        try:
            seed = self._unseal(bytes.fromhex(entry.sealed))
        except Exception:  # whatever the seal raises, the seed is out of reach
            return None
        if len(seed) != SEED_BYTES:
            return None
        again = commitment(seed, bytes.fromhex(entry.salt), self._journal_id, entry.round)
        return seed if again == entry.committed else None
