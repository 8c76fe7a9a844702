"""The table stepped again, record by record, as its daemon does after a start.

Pure. What differs is told with its record's number, and what came before it stands.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from controller.daemon.entries import FACT
from controller.daemon.errors import ReplayError
from controller.daemon.memory import Ahead
from controller.daemon.replay import DIVERGED, REFUSED, Record, Replay
from controller.daemon.revealing import REVEALED
from controller.daemon.sealing import OpensCards
from controller.daemon.standing import STANDING, Standing
from controller.replay.cards import NOT_TOLD, Place, Told, ToldCards
from controller.rules.cards import Card
from controller.rules.engine import facts as f
from controller.rules.engine.state import TableState

MOST_GUESSES: Final = 400
"""Tries to explain one record by a card that was read twice: more than a deck has pairs in a
round."""


_OPENS: Final = tuple(
    f'{{"v":1,"what":"{words}",'.encode()
    for words in ("hand opened", "community turned", "bonus card turned", "card drawn")
)


class Stepped(NamedTuple):
    """A fact of the journal and what it did, as the engine does it again."""

    fact: f.Fact
    before: TableState
    ahead: Ahead


@dataclass
class Run:
    """What came of stepping: every fact by its record, and where it went another way."""

    steps: dict[int, Stepped] = field(default_factory=dict)
    diverged: ReplayError | None = None


class _Stepping(Replay):
    def __init__(self, cards: OpensCards, *, exact: bool) -> None:
        super().__init__(cards, None)
        self.run = Run()
        self._exact = exact

    def stepped(self, record: Record, fact: f.Fact, before: TableState, ahead: Ahead) -> None:
        self.run.steps[record.seq] = Stepped(fact, before, ahead)

    def leads_to(self, standing: Standing) -> bool:
        """Without the key closed cards are others than those written down: the digest counts."""
        if self._exact:
            return super().leads_to(standing)
        memory = self._memory()
        own = replace(memory.standing(), state=standing.state)
        if memory.sent is None:
            return replace(own, sent=None) == replace(standing, sent=None)
        return own == standing


def step_again(
    records: Sequence[Record], start: int, cards: OpensCards, *, exact: bool = True
) -> Run:
    """``records[start]`` is a standing record; those before it give the closed rounds."""
    assert records[start].kind == STANDING
    stepping = _Stepping(cards, exact=exact)
    try:
        for record in records[:start]:
            stepping.keep(record)
        for record in records[start:]:
            stepping.take(record)
    except ReplayError as error:
        stepping.run.diverged = error
    return stepping.run


def step_without_key(
    records: Sequence[Record], start: int, told: Mapping[Place, Told]
) -> tuple[Run, Mapping[Place, Card]]:
    """The same from what the journal tells by itself, and what stood in for closed cards.

    Whether the device read a card twice is the one thing closed cards decide: where the digest says
    so, some closed card was the same as another one, and one that explains it is looked for.
    """
    guessed: dict[Place, Card] = {}
    run, stood_in = _tried(records, start, told, guessed)
    while (at := _may_be_twice(records, run)) is not None:
        near = [record for record in records if record.seq <= at]
        for place, card in _explanations(at, told, stood_in):
            guess = {**guessed, place: card}
            again, _ = _tried(near, start, told, guess)
            if again.diverged is None:
                guessed = guess
                break
        else:
            break
        run, stood_in = _tried(records, start, told, guessed)
    if run.diverged is not None and _untold(records, run.diverged.seq):
        said = "it opens cards, and no record tells which yet: look again"
        run.diverged = ReplayError(NOT_TOLD, run.diverged.seq, said)
    return run, stood_in


def _tried(
    records: Sequence[Record], start: int, told: Mapping[Place, Told], guessed: dict[Place, Card]
) -> tuple[Run, dict[Place, Card]]:
    cards = ToldCards(told, guessed)
    return step_again(records, start, cards, exact=False), cards.stood_in


def _may_be_twice(records: Sequence[Record], run: Run) -> int | None:
    """The record at which it went another way, if a card came in it."""
    error = run.diverged
    if error is None or error.code not in (DIVERGED, REFUSED) or _untold(records, error.seq):
        return None
    brings = any(r.seq == error.seq and b'"commit":' in r.body for r in records)
    return error.seq if brings else None


def _untold(records: Sequence[Record], seq: int) -> bool:
    """Is this the last entry of all, one that opens cards, without the record that tells them?

    Beside a table that plays half a group may be seen.
    """
    after = [record for record in records if record.seq >= seq]
    alone = not any(record.kind in (FACT, REVEALED) for record in after[1:])
    return alone and after[0].body.startswith(_OPENS)


def _explanations(
    at: int, told: Mapping[Place, Told], stood_in: Mapping[Place, Card]
) -> Iterator[tuple[Place, Card]]:
    """A closed card up to record ``at`` that is the same as another one near it, latest first."""
    closed = sorted((place for place in stood_in if place[0] <= at), reverse=True)
    near = sorted((place for place in (*told, *stood_in) if place[0] <= at), reverse=True)
    count = 0
    for place in closed:
        for other in near[:52]:
            card = told[other].card if other in told else stood_in[other]
            if other != place and stood_in[place] != card:
                count += 1
                if count > MOST_GUESSES:
                    return
                yield place, card
