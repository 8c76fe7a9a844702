"""What the server says becomes facts, when their time has come: for the writer, in its thread.

Pure, and by level rather than by edge: it keeps what was said last and compares it with the state,
so that a message that came too early, twice, or while the table was locked out is neither lost nor
told twice. No wager locks later than the limit after the last heartbeat: a request for the next
fact before anything else is taken has the link closed in time.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, TypeVar

from controller.link.draws import drawn, server_committed, server_revealed
from controller.link.witness import Witness
from controller.rules.engine import facts as f
from controller.rules.engine.betting import selection_due
from controller.rules.engine.settlement import to_open
from controller.rules.engine.state import Phase, TableState
from record.draw import Chances
from record.link.messages import (
    Ack,
    AwardChanged,
    Beat,
    FromServer,
    Locked,
    MeterValue,
    MysteryWon,
    Noted,
    SelectionCommitted,
    SelectionRevealed,
    Welcome,
)

IN_PLAY_US: Final = 10_000_000
BETWEEN_US: Final = 30_000_000
"""A moving meter is reported no more often than this, in a round and between rounds: every fact is
written to the card. Shown is never more than this behind what the server has committed."""
T = TypeVar("T")
KEPT: Final = 64


@dataclass(frozen=True, slots=True)
class Heard:
    """An input of the writer: what the link has to say.

    ``asked_us``: a heartbeat that the table asked for at this time was answered. ``closed``: no
    wager may rest on the link until the next one. ``alarm`` goes to the journal.
    """

    message: FromServer | None = None
    asked_us: int | None = None
    closed: bool = False
    alarm: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Due:
    """A fact to tell now, and what stands in the journal before it."""

    what: f.What
    selections: tuple[bytes, ...] = ()


@dataclass(slots=True)
class Hearing:
    limit_us: int
    journal_id: str
    alive_us: int | None = None
    """When the last heartbeat was asked for that was answered; None: the link is down."""
    meters: tuple[MeterValue, ...] = ()
    alarms: list[dict[str, Any]] = field(default_factory=list)
    """For the writer to take."""
    witness: Witness = field(default_factory=Witness)
    _told: MeterValue | None = None
    _told_us: int = 0
    _locked: Locked | None = None
    _awards: dict[str, AwardChanged] = field(default_factory=dict)
    _mysteries: dict[str, MysteryWon] = field(default_factory=dict)
    _committed: SelectionCommitted | None = None
    _revealed: SelectionRevealed | None = None
    _doubted: int = 0
    _refused: str = ""

    def take(self, heard: Heard) -> None:
        if heard.alarm is not None:
            self.alarms.append(heard.alarm)
        if heard.closed:
            self.alive_us = None
        elif heard.asked_us is not None:
            self.alive_us = max(heard.asked_us, self.alive_us or 0)
        if isinstance(heard.message, Ack | Noted) and heard.message.receipt is not None:
            self.witness.take(heard.message.receipt)
        match heard.message:
            case Welcome(meters=meters) | Ack(meters=meters) | Beat(meters=meters) if meters:
                self.meters = meters
            case Locked():
                self._take_lock(heard.message)
            case AwardChanged(award=award):
                _keep(self._awards, award, heard.message)
            case MysteryWon(award=award):
                _keep(self._mysteries, award, heard.message)
            case SelectionCommitted():
                self._committed = heard.message
            case SelectionRevealed():
                self._revealed = heard.message
            case _:
                pass

    def _take_lock(self, locked: Locked) -> None:
        """Said again after a reconnect, with amounts that may have changed when a claim went."""
        self._locked = locked
        for one in locked.awards:
            known = self._awards.get(one.award)
            if known is None or known.state == "locked":
                told = AwardChanged(locked.round, one.seat, one.award, "locked", one.cents)
                _keep(self._awards, one.award, told)

    def is_up(self, now_us: int) -> bool:
        return self.alive_us is not None and now_us - self.alive_us <= self.limit_us

    # --- facts -----------------------------------------------------------------------------------

    def due(self, state: TableState, now_us: int) -> Due | None:
        """The next fact; ask again after each. The link itself comes first."""
        up = self.is_up(now_us)
        if up != state.link_up:
            self._told = None
            return Due(f.LinkRestored() if up else f.LinkLost())
        what = self._meter(state, now_us) or self._lock(state) or self._award(state)
        if what is not None:
            return Due(what)
        return self._selection(state)

    def _meter(self, state: TableState, now_us: int) -> f.What | None:
        meter = self._moved(state)
        if meter is None or now_us < self._meter_us(state, meter):
            return None
        self._told, self._told_us = meter, now_us
        return f.MeterReported(meter.cents)

    def _moved(self, state: TableState) -> MeterValue | None:
        """The table's own level, which is the first, if it is not what was told last."""
        if state.rules.book.progressive is None or not state.link_up or not self.meters:
            return None
        meter = self.meters[0]
        # A report while cards are out is shown and counts for no round: it is repeated.
        shown_only = state.phase in (Phase.IDLE, Phase.BETTING) and state.meter != meter.cents
        return meter if meter != self._told or shown_only else None

    def _meter_us(self, state: TableState, meter: MeterValue) -> int:
        """When it may be told: at once after a hit, after a round and when the link came back."""
        told = self._told
        if told is None or told == meter:
            return 0
        if (meter.generation, meter.pending) != (told.generation, told.pending):
            return 0
        return self._told_us + (BETWEEN_US if state.phase is Phase.IDLE else IN_PLAY_US)

    def _lock(self, state: TableState) -> f.What | None:
        locked = self._locked
        if locked is None or locked.round != state.round_no or state.phase is not Phase.SETTLEMENT:
            return None
        known = {award.award for award in state.awards}
        if not state.claims or state.jackpot is not None or to_open(state):
            return None
        if any(one.award in known for one in locked.awards):
            return None  # of a claim that was withdrawn meanwhile
        awards = tuple((one.seat, one.award, one.cents) for one in locked.awards)
        return f.JackpotLocked(locked.jackpot_cents, locked.reset_cents, awards)

    def _award(self, state: TableState) -> f.What | None:
        known = {award.award: award for award in state.awards}
        for name, won in self._mysteries.items():
            if name not in known:
                return f.MysteryWon(won.round, won.seat, name, won.level, won.cents)
        for name, told in self._awards.items():
            award, now = known.get(name), told.state
            if now == "claimed" or (award is not None and not award.pending):
                continue
            if award is None:
                self._unlocked(state, told)
            elif (now, told.cents) != (award.state, award.cents):
                return f.AwardChanged(name, now, told.cents)
        return None

    def _unlocked(self, state: TableState, told: AwardChanged) -> None:
        """A claim that people rejected before it was locked: the table would wait for ever."""
        waits = told.round == state.round_no and state.jackpot is None
        if waits and told.state == "rejected" and self._refused != told.award:
            self._refused = told.award
            alarm = {"code": "claim rejected", "seat": told.seat, "detail": f"award {told.award}"}
            self.alarms.append(alarm)

    def _selection(self, state: TableState) -> Due | None:
        """Committed before the first card and revealed as committed, or not at all."""
        committed, revealed, number = self._committed, self._revealed, state.round_no
        if state.rules.table.selector != "server" or committed is None or committed.round != number:
            return None
        if state.commitment is None and state.phase is Phase.LOCKED:
            body = server_committed(number, committed.digest)
            return Due(f.SelectionCommitted(committed.digest), (body,))
        if revealed is None or revealed.round != number or state.commitment is None:
            return None
        wanted = selection_due(state)
        if wanted is None:
            return None
        table = state.rules.table
        asked = Chances(tuple(sorted(wanted.seats)), table.magic_rate, table.lucky_rate)
        picks = drawn(self.journal_id, number, state.commitment, asked, revealed.draw)
        if picks is None:
            if self._doubted != number:
                self._doubted = number
                alarm = {"code": "selection not as committed", "round": number}
                self.alarms.append(alarm)
            return None
        body = server_revealed(number, revealed.draw)
        return Due(f.SelectionRevealed(*picks), (body,))

    def wake_us(self, state: TableState, *, full: bool) -> int | None:
        """When there may be something to tell or to write that there is not now."""
        times = [] if (due_us := self.witness.due_us(full=full)) is None else [due_us]
        if state.link_up and self.alive_us is not None:
            times.append(self.alive_us + self.limit_us + 1)
        if (meter := self._moved(state)) is not None:
            times.append(self._meter_us(state, meter))
        return min(times, default=None)


def _keep(kept: dict[str, T], name: str, message: T) -> None:
    kept.pop(name, None)
    kept[name] = message
    if len(kept) > KEPT:
        del kept[next(iter(kept))]
