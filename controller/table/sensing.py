"""Readings of devices become facts: cards, chips, credits, switches, and the closing sweep."""

from __future__ import annotations

from typing import Final

from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.entries import ACCEPTORS, CreditDropped, CreditGivenBack, Key
from controller.rules.engine.state import Phase
from controller.table import cards, credits
from controller.table.lineage import forbidden_by
from controller.table.prompt import Notice
from controller.table.refusals import text_key
from controller.table.spots import Spot
from controller.table.stepping import Stepping
from drivers.base import DeviceState, StateReported
from drivers.orders import AcknowledgeCredit, AcknowledgeReading, ReleaseCredit
from drivers.readings import (
    CardEvent,
    CreditOffered,
    CreditReturned,
    CreditTaken,
    SpotLost,
    SpotMoving,
    SpotSettled,
    SwitchRead,
    TagOnTwoSpots,
)

IN_DOUBT: Final = ("E-ACC-002", "E-ACC-003")
"""Nobody can say whether a chip fell: in operation, and after a start with lost registers."""
_LEFT: Final = (f.CardDrawn, f.PacketDispensed, f.UnknownCardSeen)
"""A card of the deck left its device."""
HELD_CARDS: Final = 12
"""Most cards held back while a sweep is under way."""


class Sensing(Stepping):
    """What devices say, told to the engine as facts."""

    # --- devices -------------------------------------------------------------------------------

    def _card(self, reading: cards.CardReading) -> None:
        if self.closing is not None and cards.moves_a_card(reading):
            # The dealer drew before the sweep was over: wagers first, then the card.
            self._held.append(reading)
            if len(self._held) > HELD_CARDS:
                self.closing = None
                self._release_held()
            return
        number = reading.key
        key = (reading.device, number) if number else None
        if key is None or not self.log.is_answered(key):
            self._card_facts(reading, key)
        if key is not None:
            self.log.answer(key)
            self._out.append(AcknowledgeReading(reading.device, number))

    def _card_facts(self, reading: cards.CardReading, key: Key | None) -> None:
        if isinstance(reading, CardEvent):
            self.health.take(reading)
            if reading.kind == "empty":
                self.notices.add(Notice("deck empty", cause="deck"))
            elif reading.kind in ("loaded", "shuffle ended"):
                self.notices.forget("deck")
        for what in cards.facts_of(reading, self.state):
            if isinstance(what, _LEFT):
                self.health.spent.add(reading.device)
            refused = self._measured(what, reading.device, reading.at_us // 1000, key)
            if refused and isinstance(what, _LEFT):
                self.notices.add(Notice("card refused"))

    def _release_held(self) -> None:
        """The call is over, whatever became of it: what came after its cut is told now."""
        switches, self._held_switches = self._held_switches, {}
        for switch in switches.values():
            self._switch(switch)
        held, self._held = self._held, []
        for reading in held:
            self._card(reading)

    def _after_the_cut(self, at_us: int) -> bool:
        closing = self.closing
        return closing is not None and closing.sweeps and at_us >= closing.cut_us

    def _chips(self, reading: SpotSettled | SpotMoving | SpotLost | TagOnTwoSpots) -> None:
        if self.closing is not None and isinstance(reading, SpotSettled | SpotMoving):
            self.closing.moved(reading)
        again = self.chips.take(reading)
        if isinstance(reading, SpotMoving):
            return
        for antenna in sorted(again):
            spot = self.seat_map.spot(antenna)
            if spot is None:
                continue
            self._released -= {spot}
            moving = {s[0] for a in self.chips.moving if (s := self.seat_map.spot(a))}
            self.uncertain -= {spot[0]} - moving
            self._tell_wrong(spot)
            if self.state.seats and forbidden_by(self.state.rules):
                self.lineage.saw(spot, self.chips.tags.get(antenna, frozenset()))
        for what in self.chips.facts(again, self.state):
            self._measured(what, "chips", reading.at_us // 1000)
        self._hint_lineage()

    def _tell_wrong(self, spot: Spot) -> None:
        """A tag that never counts: a notice while it lies there, and an alarm when it came."""
        antenna = self.seat_map.antenna(spot)
        wrong = None if antenna is None else self.chips.wrong(antenna)
        cause = ("tag", spot)
        before = self.notices.newest
        self.notices.forget(cause)
        if wrong is None:
            return
        code = "pot tag" if spot[0] == 0 else f"tag {wrong}"
        notice = Notice(code, spot[0], spot=spot[1], cause=cause)
        self.notices.add(notice)
        if notice != before:
            self.outbox.append(fx.RaiseAlarm(f"tag {wrong}", spot[0], spot[1], "house rule"))

    def _credit(self, reading: CreditOffered) -> None:
        what = self.credits.offered(reading, self.state)
        if what is not None:
            late = self._after_the_cut(reading.at_us)
            at_ms = reading.at_us // 1000
            if late:
                self.notices.add(Notice("late credit", reading.seat))
            if late or not self._progressive(what, reading.device, at_ms):
                # Not acknowledged and disabled: the acceptor gives the chip back.
                self.credits.given_back.add(reading.seat)
                return
        self._out.append(AcknowledgeCredit(reading.seat, reading.number))

    def _credit_gone(self, reading: CreditTaken | CreditReturned) -> None:
        """The acceptor has let go: the chip is in its box, or back with the player."""
        seat, at_ms = reading.seat, reading.at_us // 1000
        counted = seat in self.credits.untaken
        self.credits.closed(seat)
        if isinstance(reading, CreditTaken):
            self.log.note(CreditDropped(seat, reading.number, at_ms))
            self._out.append(ReleaseCredit(seat, reading.number))
        elif counted:
            self._given_back(seat, reading.device, at_ms)

    def _given_back(self, seat: int, device: str, at_ms: int) -> None:
        """A credit that was counted never fell into the box: the player has the chip."""
        less = f.CreditsRead(seat, max(0, self.state.credits.get(seat, 0) - 1))
        if self._measured(less, device, at_ms) is not None:
            alarm = fx.RaiseAlarm("credit given back", seat, "after the lock", "house rule")
            self.outbox.append(alarm)
            self.log.note(CreditGivenBack(seat, self.credits.numbers.get(seat, 0), at_ms))

    def _device(self, report: StateReported) -> None:
        """A device's state. The acceptors have told all they know when they are ready again."""
        self.health.take(report)
        if report.device != ACCEPTORS:
            return
        code = "" if report.reason is None else report.reason.code
        if code in IN_DOUBT:
            seats = self.credits.untaken if code == IN_DOUBT[0] else self.credits.at_start
            for seat in sorted(seats - self.credits.doubt):
                self.credits.doubt.add(seat)
                self.notices.add(Notice("credit doubt", seat, cause=("credit", seat)))
                self.outbox.append(fx.RaiseAlarm("credit in doubt", seat, code, "house rule"))
        elif report.state is DeviceState.READY:
            for seat in sorted(self.credits.at_start):
                self.credits.closed(seat)
                self._given_back(seat, report.device, report.at_us // 1000)

    def _switch(self, reading: SwitchRead) -> None:
        seat = credits.sensor_seat(reading)
        if seat is not None and self._after_the_cut(reading.at_us):
            self._held_switches[reading.name] = reading
        elif seat is not None:
            what = self.credits.sensed(seat, reading.on, self.state)
            if what is not None:
                self._progressive(what, reading.device, reading.at_us // 1000)
        elif reading.name == "supervisor_key":
            self.positions.turn_key(reading.on)
        else:
            self.health.take(reading)
            self.notices.forget("door")
            if self.health.door:
                self.notices.add(Notice("door", cause="door"))
                if reading.name == "door":
                    self.outbox.append(fx.RaiseAlarm("door", None, "", "house rule"))

    def _close(self, at_us: int) -> None:
        """The sweep is complete: first what it read, then the call as of its press."""
        closing, self.closing = self.closing, None
        assert closing is not None
        certain, uncertain = closing.result()
        for antenna, tags in sorted(certain.items()):
            self._chips(SpotSettled(antenna, tags, at_us))
        out = self.state.left_out | self.state.excluded
        places = (self.seat_map.spot(a) for a in uncertain)
        self.uncertain = frozenset(s[0] for s in places if s is not None and s[0] not in out)
        if not self.uncertain and self.state.phase is Phase.BETTING:
            refused = self._apply(f.Fact(f.BetsClosed(), closing.by, closing.at_ms))
            self._wrong = ("refused", text_key(refused), None) if refused else None
        self._release_held()
