"""The table stepped again, record by record, as its daemon does after a start.

Pure. A difference is reported with its record's number; what came before it stays valid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Final, NamedTuple

from controller.history.entries import FACT
from controller.history.errors import ReplayError
from controller.history.memory import Ahead
from controller.history.replay import DIVERGED, REFUSED, Replay
from controller.history.revealing import REVEALED
from controller.history.sealing import OpensCards
from controller.history.snapshot import SNAPSHOT, Snapshot
from controller.replay.cards import NOT_TOLD, Place, PublicCard, ToldCards
from controller.replay.finding import OPENED
from controller.rules.cards import Card
from controller.rules.engine import facts as f
from controller.rules.engine.state import TableState
from record.journal.format import Record

MOST_GUESSES: Final = 400
"""Tries to explain one record by a card that was read twice: more than a deck has pairs in a
round."""


TELL_EVERY: Final = 500
"""Records between two words about the progress."""
Progress = Callable[[int, int], None]
"""Told now and then how many records are done, and of how many."""
_OPENS: Final = tuple(
    f'{{"v":1,"what":"{words}",'.encode()
    for words in ("hand opened", "community turned", "bonus card turned", "card drawn")
)


def quietly(_done: int, _of: int) -> None:
    """Nobody waits for it."""


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

    def leads_to(self, snapshot: Snapshot) -> bool:
        """Without the key closed cards are others than those written down: the digest counts."""
        if self._exact:
            return super().leads_to(snapshot)
        memory = self._memory()
        own = replace(memory.snapshot(), state=snapshot.state)
        if memory.sent is None:
            return replace(own, sent=None) == replace(snapshot, sent=None)
        return own == snapshot


def step_again(
    records: Sequence[Record],
    start: int,
    cards: OpensCards,
    *,
    exact: bool = True,
    progress: Progress = quietly,
) -> Run:
    """``records[start]`` is a snapshot; those before it give the closed rounds."""
    assert records[start].kind == SNAPSHOT
    stepping = _Stepping(cards, exact=exact)
    try:
        for record in records[:start]:
            stepping.keep(record)
        for done, record in enumerate(records[start:]):
            if not done % TELL_EVERY:
                progress(done, len(records) - start)
            stepping.take(record)
    except ReplayError as error:
        stepping.run.diverged = error
    return stepping.run


def step_without_key(
    records: Sequence[Record],
    start: int,
    told: Mapping[Place, PublicCard],
    progress: Progress = quietly,
) -> tuple[Run, Mapping[Place, Card]]:
    """The same from what the journal tells by itself, and what stood in for closed cards.

    Whether the device read a card twice is the one thing closed cards decide: where the digest says
    so, some closed card was the same as another one, and one that explains it is looked for. Only
    what follows the last snapshot before it is stepped again.
    """
    openings = [record.seq for record in records if record.body.startswith(OPENED)]
    cards = ToldCards(told, openings)
    run = step_again(records, start, cards, exact=False, progress=progress)
    while (at := _may_be_twice(records, run)) is not None:
        stands = (n for n in range(at, start, -1) if records[n].kind == SNAPSHOT)
        begin = next(stands, start)
        first = records[begin].seq
        for guess in _explanations(first, records[at].seq, told, cards.stood_in):
            tried = cards.again(first, guess)
            if step_again(records[: at + 1], begin, tried, exact=False).diverged is None:
                cards = cards.again(first, guess)
                break
        else:
            break
        kept = {seq: step for seq, step in run.steps.items() if seq < first}
        more = step_again(records, begin, cards, exact=False, progress=progress)
        run = Run({**kept, **more.steps}, more.diverged)
    if run.diverged is not None and _untold(records, run.diverged.seq):
        said = "it opens cards, and no record tells which yet: look again"
        run.diverged = ReplayError(NOT_TOLD, run.diverged.seq, said)
    return run, cards.stood_in


def _may_be_twice(records: Sequence[Record], run: Run) -> int | None:
    """The place at which it went another way, if a card came in that record."""
    error = run.diverged
    if error is None or error.code not in (DIVERGED, REFUSED) or _untold(records, error.seq):
        return None
    places = (n for n, r in enumerate(records) if r.seq == error.seq and b'"commit":' in r.body)
    return next(places, None)


def _untold(records: Sequence[Record], seq: int) -> bool:
    """Is this the last entry of all, one that opens cards, without the record that tells them?

    Beside a table that plays half a group may be seen.
    """
    after = [record for record in records if record.seq >= seq]
    alone = not any(record.kind in (FACT, REVEALED) for record in after[1:])
    return alone and after[0].body.startswith(_OPENS)


def _explanations(
    first: int, at: int, told: Mapping[Place, PublicCard], stood_in: Mapping[Place, Card]
) -> Iterator[dict[Place, Card]]:
    """A closed card from record ``first`` to ``at`` that is the same as another one near it, latest
    first."""
    closed = sorted((place for place in stood_in if first <= place[0] <= at), reverse=True)
    near = sorted((place for place in (*told, *stood_in) if place[0] <= at), reverse=True)
    count = 0
    for place in closed:
        for other in near[:52]:
            card = told[other].card if other in told else stood_in[other]
            if other != place and stood_in[place] != card:
                count += 1
                if count > MOST_GUESSES:
                    return
                yield {place: card}
