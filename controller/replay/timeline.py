"""A past round as an ordered list of moments, built from the records of its journal.

Pure. Every fact is stepped again by the engine, and the state's digest must be the one that was
written then. If it is not, the moment says so, and what follows comes from the records alone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from controller.history.codec import no_hidden_card
from controller.history.entries import ENTRY_KINDS, cards_in, decode_entry
from controller.history.errors import BodyError, ReplayError
from controller.history.sealing import OpensCards
from controller.history.snapshot import ROUND, take_round
from controller.replay import record_words, telling, words
from controller.replay.cards import Place, PublicCard, told_cards
from controller.replay.displays import DisplayChange, Displays
from controller.replay.felt import Felt, felt
from controller.replay.finding import RoundSpan, find_round
from controller.replay.starts import ComputerStart, starts_of
from controller.replay.stepping import Progress, Run, Stepped, quietly, step_again, step_without_key
from controller.replay.words import Sentence
from controller.rules.cards import NAMES, Card
from controller.rules.engine import facts as f
from controller.rules.engine.names import NAME_OF
from controller.rules.engine.state import Archive, Phase, TableState
from record.journal.format import Record
from record.rounds import ending

PRELUDE_MS: Final = 60_000
"""This long before the opening and after the end everything is shown; beyond, only what matters."""
AWARD: Final = b'{"v":1,"what":"award changed",'
NOISE: Final = (f.MeterReported, f.WagerRead, f.CreditsRead)
LOUD: Final = frozenset(("opened", "closed", "lock", "unlock", "repair", "configuration", "test"))

KNOWN: Final = (
    LOUD | ENTRY_KINDS | record_words.BESIDE | {"device", "alarm", "attempt", "selection"}
)
"""Other kinds are what a later program writes. They are always told."""


class DealtCard(NamedTuple):
    """A card of a moment: whose, and which as far as anybody may know."""

    where: str
    card: str | None
    public: str
    """When and why it became public; empty if it never did."""


class FrameLine(NamedTuple):
    """Bytes of a line beside a moment; ``data`` is hex, or says why it is masked."""

    at_ms: int
    device: str
    direction: str
    data: str
    masked: bool = False
    label: str = ""


@dataclass(slots=True)
class Moment:
    number: int
    seq: int
    at_ms: int
    kind: str
    what: str
    by: str
    clause: str = ""
    followed: tuple[Sentence, ...] = ()
    cards: tuple[DealtCard, ...] = ()
    seats: frozenset[int] = frozenset()
    marks: frozenset[str] = frozenset()
    """Names to jump to: ``cards``, ``settlement``, ``decision 3``."""
    phase: str = ""
    felt: Felt = field(default_factory=Felt)
    digest: str = ""
    """Of the state it led to, equal to the one in the record; empty if it was not stepped."""
    trouble: str = ""
    shown: tuple[DisplayChange, ...] = ()
    """Displays that changed from here to the next moment."""
    displays: Mapping[str, str] = field(default_factory=dict)
    """What each shows from then on."""
    device: str = ""
    place: tuple[int, str] | None = None
    """Seat and spot, where chips were read."""
    seen_ms: int | None = None
    """The time of the fact on the table's own clock, which frames carry too."""
    frames: tuple[FrameLine, ...] = ()
    frames_more: int = 0


@dataclass(slots=True)
class Timeline:
    round_no: int
    game: str
    moments: list[Moment]
    archive: Archive | None
    """The round as it was closed or last corrected; None while it is under way."""
    again: Archive | None
    """The same from the engine, stepped again."""
    final_digest: str
    diverged: ReplayError | None
    utc_offset_min: int
    told: Mapping[Place, PublicCard]
    drawn: Mapping[tuple[str, int], tuple[Place, ...]]
    """Readings of card devices, by device and key, and where their cards lie."""
    starts: list[ComputerStart]

    @property
    def under_way(self) -> bool:
        return self.archive is None

    @property
    def status(self) -> str:
        if self.archive is None:
            return "under way"
        return ending(*self.archive.current)


class _Group(NamedTuple):
    head: Record
    beside: list[Record]


def build(
    records: Sequence[Record],
    number: int,
    cards: OpensCards | None = None,
    closed: Mapping[Place, Card] | None = None,
    progress: Progress = quietly,
) -> Timeline:
    """``cards`` opens with the table's key; without it the journal's own tellings do.

    ``closed`` names cards that never became public, for an investigation.
    """
    span = find_round(records, number)
    stepped = records[: span.stop]
    told = told_cards(stepped)
    if cards is None:
        run, _ = step_without_key(stepped, span.start, told, progress)
    else:
        run = step_again(stepped, span.start, cards, progress=progress)
    # Later than that only the way of an award to its player concerns the round.
    later = [record for record in records[span.stop :] if record.body.startswith(AWARD)]
    teller = _Teller([*stepped, *later], number, span, run)
    teller.starts = starts_of(records)
    teller.told, teller.closed = told, closed or {}
    return teller.timeline()


class _Teller:
    def __init__(self, records: Sequence[Record], number: int, span: RoundSpan, run: Run) -> None:
        self.records, self.number, self.span, self.run = records, number, span, run
        self.told: Mapping[Place, PublicCard] = {}
        self.closed: Mapping[Place, Card] = {}
        self.awards: set[str] = set()
        self.drawn: dict[tuple[str, int], tuple[Place, ...]] = {}
        self.offset_min = 0
        self.starts: list[ComputerStart] = []

    def timeline(self) -> Timeline:
        moments: list[Moment] = []
        displays = Displays()
        opened_ms = self.records[self.span.opened].at_ms
        for place, group in self._groups():
            displays.take(group.head)
            if group.head.kind == "opened" and place < self.span.following:
                self.offset_min = int(record_words.body_of(group.head).get("utc_offset_min", 0))
            wanted = place >= self.span.before and self._wanted(place, group, opened_ms)
            if wanted and group.head.kind == "alarm" and moments:
                wanted = not record_words.same_alarm(group.head, moments[-1].followed)
            shown = [one for record in group.beside if (one := displays.take(record))]
            if wanted:
                moment = self._moment(len(moments) + 1, group)
                moment.shown, moment.displays = tuple(shown), displays.at(group.head.at_ms)
                if not moment.phase and moments:  # nothing of the round changed
                    moment.phase, moment.felt = moments[-1].phase, moments[-1].felt
                moments.append(moment)
            elif moments and place < self.span.following:
                moments[-1].shown += tuple(shown)
                moments[-1].displays = displays.at(group.head.at_ms)
        final = self._last_state()
        return Timeline(
            self.number,
            self._game(),
            moments,
            self._archive(),
            self._again(),
            final[1],
            self.run.diverged,
            self.offset_min,
            self.told,
            self.drawn,
            self.starts,
        )

    # --- which records -------------------------------------------------------------------------

    def _groups(self) -> list[tuple[int, _Group]]:
        """Every record that makes a moment, with those that belong to it."""
        found: list[tuple[int, _Group]] = []
        for place, record in enumerate(self.records):
            if record.kind in record_words.QUIET:
                continue
            if record.kind in record_words.BESIDE and found:
                found[-1][1].beside.append(record)
            else:
                found.append((place, _Group(record, [])))
        return found

    def _wanted(self, place: int, group: _Group, opened_ms: int) -> bool:
        head, span = group.head, self.span
        if head.kind in record_words.BESIDE:  # the first of all records: what it belongs to is gone
            return False
        if self._names_us(group):
            return True
        if span.opened <= place <= (span.closed if span.closed is not None else span.following - 1):
            return True
        if place >= span.following:
            return False
        if head.kind in LOUD or head.kind not in KNOWN:
            return True
        if place < span.opened:
            return head.kind != "device" and head.at_ms >= opened_ms - PRELUDE_MS
        step = self.run.steps.get(head.seq)
        if step is None:
            closed = self.records[span.closed if span.closed is not None else place]
            return head.at_ms <= closed.at_ms + PRELUDE_MS
        return not isinstance(step.fact.what, NOISE)

    def _names_us(self, group: _Group) -> bool:
        if any(record_words.round_of(record) == self.number for record in group.beside):
            return True
        if group.head.kind != "fact":
            return False
        match self._fact(group.head):
            case f.Fact(f.PayCorrected(round_no=number)):
                return number == self.number
            case f.Fact(f.MysteryWon(round_no=number, award=award)):
                if number == self.number:
                    self.awards.add(award)
                return number == self.number
            case f.Fact(f.AwardChanged(award)):
                return award in self.awards
            case f.Fact(f.JackpotLocked(awards=awards)) if self._of_round(group.head):
                self.awards |= {name for _, name, _ in awards}
            case _:
                pass
        return False

    def _of_round(self, record: Record) -> bool:
        step = self.run.steps.get(record.seq)
        return step is not None and step.before.round_no == self.number

    def _fact(self, record: Record) -> f.Fact | None:
        """A fact, from the engine or, where it was not stepped, from its record alone."""
        step = self.run.steps.get(record.seq)
        if step is not None:
            return step.fact
        try:
            found = decode_entry(record.kind, record.body, telling.unseen).entry
        except BodyError:
            return None
        return found if isinstance(found, f.Fact) else None

    # --- one moment ----------------------------------------------------------------------------

    def _moment(self, number: int, group: _Group) -> Moment:
        head = group.head
        moment = Moment(number, head.seq, head.at_ms, head.kind, "", "")
        if head.kind == "fact":
            self._tell_fact(moment, head)
        elif head.kind in ENTRY_KINDS:
            _tell_entry(moment, head)
        else:
            moment.what, moment.by = record_words.told(head), record_words.by(head)
            moment.digest = self._agreed(head)
            moment.clause = str(record_words.body_of(head).get("clause") or "")
            moment.device = str(record_words.body_of(head).get("device", ""))
            moment.marks = frozenset({head.kind})
        more = [said for record in group.beside for said in record_words.beside(record)]
        moment.followed = (*moment.followed, *more)
        error = self.run.diverged
        if error is not None and error.seq in (head.seq, *(r.seq for r in group.beside)):
            moment.trouble = f"THE REPLAY DIVERGES HERE: {error}"
        return moment

    def _agreed(self, head: Record) -> str:
        """The state that a test mode began or ended with, where stepping came to the same one."""
        first, last = self.records[self.span.start].seq, self.records[self.span.stop - 1].seq
        if self.run.diverged is not None:
            last = self.run.diverged.seq - 1
        return record_words.test_state(head) if first <= head.seq <= last else ""

    def _tell_fact(self, moment: Moment, record: Record) -> None:
        fact, step = self._fact(record), self.run.steps.get(record.seq)
        if fact is None:
            moment.what, moment.trouble = "a fact that cannot be read", "not readable"
            return
        moment.by, moment.seen_ms = words.who(fact.by), fact.at_ms
        moment.device = fact.by.device if isinstance(fact.by, f.Measured) else ""
        if isinstance(fact.what, f.WagerRead):
            moment.place = (fact.what.seat, fact.what.spot)
        moment.cards = self._cards(fact, record, step)
        moment.seats = _seats(fact.what) | _dealt_to(fact, step)
        if telling.brings_cards(fact):
            where = moment.cards[0].where if moment.cards else "?"
            moment.what = telling.drawn(fact.what, where, [one.card for one in moment.cards])
        else:
            moment.what = words.fact(fact.what)
        moment.marks = _marks(fact.what, step)
        if step is None:
            # Before the snapshot and long after the round nothing is stepped.
            if self.run.diverged is not None and record.seq > self.run.diverged.seq:
                moment.trouble = "not stepped: told from the record alone"
            return
        after = step.ahead.state
        moment.clause = words.clause_of(fact.what, step.before)
        moment.followed = (
            *words.rulings(step.before, after),
            *words.effects(step.ahead.effects),
            *words.phases(step.before, after),
        )
        if after.round_no == self.number or step.before.round_no < self.number:
            moment.phase, moment.felt = after.phase.value, felt(after)
        moment.digest = step.ahead.digest

    def _cards(self, fact: f.Fact, record: Record, step: Stepped | None) -> tuple[DealtCard, ...]:
        count = len(cards_in(fact))
        if not count:
            return ()
        key = _key(record)
        places = tuple((record.seq, index) for index in range(count))
        if key is not None:
            self.drawn[key] = places
        where = words.place(telling.goes_to(step.before)) if step is not None else "?"
        return tuple(self._card(place, where) for place in places)

    def _card(self, place: Place, where: str) -> DealtCard:
        told = self.told.get(place)
        if told is not None:
            return DealtCard(where, NAMES[told.card], f"{told.moment}, record {told.seq}")
        closed = self.closed.get(place)
        return DealtCard(where, None if closed is None else NAMES[closed], "")

    # --- the whole -----------------------------------------------------------------------------

    def _last_state(self) -> tuple[TableState | None, str]:
        """The state in which the round was left, as the last fact before the next opening made
        it."""
        last: Stepped | None = None
        end = self.span.closed if self.span.closed is not None else self.span.following - 1
        for record in self.records[self.span.opened : end + 1]:
            last = self.run.steps.get(record.seq, last)
        return (None, "") if last is None else (last.ahead.state, last.ahead.digest)

    def _game(self) -> str:
        step = next(iter(self.run.steps.values()), None)
        return "" if step is None else step.before.rules.book.key

    def _archive(self) -> Archive | None:
        """As the journal has it last."""
        found: Archive | None = None
        for record in self.records[self.span.opened :]:
            if record.kind == ROUND and record_words.round_of(record) == self.number:
                try:
                    found = take_round(record.body, no_hidden_card)
                except BodyError:
                    continue  # its moment says that it differs
        return found

    def _again(self) -> Archive | None:
        """As the engine has it, at the end of what was stepped."""
        for step in reversed(self.run.steps.values()):
            for archive in step.ahead.state.history:
                if archive.round_no == self.number:
                    return archive
        return None


# --- small parts ---------------------------------------------------------------------------------


def _tell_entry(moment: Moment, record: Record) -> None:
    told = telling.entry(record)
    moment.what, moment.by, moment.trouble = told.text, told.by, told.trouble
    moment.seats = frozenset() if told.seat is None else frozenset({told.seat})


def _key(record: Record) -> tuple[str, int] | None:
    key = record_words.body_of(record).get("key")
    return (str(key[0]), int(key[1])) if isinstance(key, list) and len(key) == 2 else None


def _seats(what: f.What) -> frozenset[int]:
    seat = getattr(what, "seat", None)
    more = getattr(what, "seats", ())
    return frozenset(n for n in (seat, *more) if isinstance(n, int))


def _dealt_to(fact: f.Fact, step: Stepped | None) -> frozenset[int]:
    if step is None or not isinstance(fact.what, f.CardDrawn | f.PacketDispensed):
        return frozenset()
    seat = telling.goes_to(step.before)
    return frozenset() if seat is None else frozenset({seat})


def _marks(what: f.What, step: Stepped | None) -> frozenset[str]:
    marks = {NAME_OF[type(what)]}
    match what:
        case f.BetsOpened():
            marks.add("opening")
        case f.BetsClosed():
            marks |= {"lock", "bets closed"}
        case f.CardDrawn() | f.PacketDispensed():
            marks.add("cards")
        case f.Decided(seat) | f.DecisionCorrected(seat) | f.Played(seat) | f.Folded(seat):
            marks |= {"decision", f"decision {seat}"}
        case f.RideAllSignalled(seat) | f.PlayerAbsent(seat):
            marks |= {"decision", f"decision {seat}"}
        case f.HandOpened() | f.SeatSettled():
            marks |= {"settlement", f"settlement {what.seat}"}
        case f.DisputeRaised() | f.DisputeDecided():
            marks.add("dispute")
        case f.PayCorrected() | f.CardCorrected():
            marks.add("correction")
        case f.RoundEnded() | f.VoidCleared():
            marks.add("end")
        case f.JackpotLocked() | f.AwardChanged() | f.MysteryWon():
            marks.add("jackpot")
        case _:
            pass
    if step is not None:
        before, after = step.before, step.ahead.state
        if after.phase is not before.phase:
            marks.add({Phase.SETTLEMENT: "settlement", Phase.FROZEN: "frozen"}.get(after.phase, ""))
        if after.voided_by is not None and before.voided_by is None:
            marks.add("void")
    return frozenset(mark for mark in marks if mark)
