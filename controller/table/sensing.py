"""Readings of devices become facts: cards, chips, credits, switches, and the closing sweep."""

from __future__ import annotations

from typing import Final

from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.entries import ACCEPTORS, CreditDropped, CreditGivenBack, Key
from controller.rules.engine.state import Phase
from controller.table import cards, credits
from controller.table.closing import Closing
from controller.table.lineage import forbidden_by
from controller.table.play import Play
from controller.table.prompt import Notice
from controller.table.refusals import text_key
from controller.table.spots import Spot
from controller.table.staff import Positions
from controller.table.watch import all_spots
from drivers.base import DeviceState, StateReported
from drivers.orders import AcknowledgeCredit, AcknowledgeReading, ReleaseCredit, SweepAntennas
from drivers.readings import (
    CardEvent,
    CardRead,
    CreditOffered,
    CreditReturned,
    CreditTaken,
    PacketRead,
    Reading,
    SpotLost,
    SpotMoving,
    SpotSettled,
    SupplyRead,
    SweepAgreed,
    SwitchRead,
    TagOnTwoSpots,
)

IN_DOUBT: Final = ("E-ACC-002", "E-ACC-003")
"""Nobody can say whether a chip fell: in operation, and after a start with lost registers."""
_LEFT: Final = (f.CardDrawn, f.PacketDispensed, f.UnknownCardSeen)
"""A card of the deck left its device."""
HELD_CARDS: Final = 12
"""Most cards held back while a sweep is under way."""


class Sensing:
    def __init__(self, play: Play, positions: Positions) -> None:
        self._play, self._positions = play, positions
        self._held: list[cards.CardReading] = []
        """Cards that came while a sweep was under way."""
        self._held_switches: dict[str, SwitchRead] = {}
        self._sweeps = 0

    def take(self, reading: Reading) -> None:
        match reading:
            case CardRead() | PacketRead() | CardEvent():
                self._card(reading)
            case SpotSettled() | SpotMoving() | SpotLost() | TagOnTwoSpots():
                self._chips(reading)
            case SweepAgreed():
                closing = self._play.closing
                if closing is not None and closing.take(reading):
                    self._close(reading.at_us)
            case CreditOffered():
                self._credit(reading)
            case CreditTaken() | CreditReturned():
                self._credit_gone(reading)
            case SwitchRead():
                self._switch(reading)
            case StateReported():
                self._device(reading)
            case SupplyRead():
                self._play.health.take(reading)
            case _:
                pass

    # --- cards ---------------------------------------------------------------------------------

    def _card(self, reading: cards.CardReading) -> None:
        play = self._play
        if play.closing is not None and cards.moves_a_card(reading):
            # The dealer drew before the sweep was over: wagers first, then the card.
            self._held.append(reading)
            if len(self._held) > HELD_CARDS:
                self.end_call()
            return
        number = reading.key
        key = (reading.device, number) if number else None
        if key is None or not play.log.is_answered(key):
            self._card_facts(reading, key)
        if key is not None:
            play.log.answer(key)
            play.out.append(AcknowledgeReading(reading.device, number))

    def _card_facts(self, reading: cards.CardReading, key: Key | None) -> None:
        play = self._play
        if isinstance(reading, CardEvent):
            play.health.take(reading)
            if reading.kind == "empty":
                play.notices.add(Notice("deck empty", cause="deck"))
            elif reading.kind in ("loaded", "shuffle ended"):
                play.notices.forget("deck")
        for what in cards.facts_of(reading, play.state):
            left = isinstance(what, _LEFT)
            if left:
                play.health.spent.add(reading.device)
            refused = play.measured(what, reading.device, reading.at_us // 1000, key)
            if refused and left:
                play.notices.add(Notice("card refused"))

    # --- chips ---------------------------------------------------------------------------------

    def _chips(self, reading: SpotSettled | SpotMoving | SpotLost | TagOnTwoSpots) -> None:
        play = self._play
        if play.closing is not None and isinstance(reading, SpotSettled | SpotMoving):
            play.closing.moved(reading)
        again = play.chips.take(reading)
        if isinstance(reading, SpotMoving):
            return
        for antenna in sorted(again):
            spot = play.seat_map.spot(antenna)
            if spot is None:
                continue
            play.released -= {spot}
            moving = {s[0] for a in play.chips.moving if (s := play.seat_map.spot(a))}
            play.uncertain -= {spot[0]} - moving
            self._tell_wrong(spot)
            if play.state.seats and forbidden_by(play.state.rules):
                play.lineage.saw(spot, play.chips.tags.get(antenna, frozenset()))
        for what in play.chips.facts(again, play.state):
            play.measured(what, "chips", reading.at_us // 1000)
        play.hint_lineage()

    def _tell_wrong(self, spot: Spot) -> None:
        """A tag that never counts: a notice while it lies there, and an alarm when it came."""
        play = self._play
        antenna = play.seat_map.antenna(spot)
        wrong = None if antenna is None else play.chips.wrong(antenna)
        cause = ("tag", spot)
        before = play.notices.newest
        play.notices.forget(cause)
        if wrong is None:
            return
        code = "pot tag" if spot[0] == 0 else f"tag {wrong}"
        notice = Notice(code, spot[0], spot=spot[1], cause=cause)
        play.notices.add(notice)
        if notice != before:
            play.outbox.append(fx.RaiseAlarm(f"tag {wrong}", spot[0], spot[1], "house rule"))

    # --- credits -------------------------------------------------------------------------------

    def _credit(self, reading: CreditOffered) -> None:
        play = self._play
        what = play.credits.offered(reading, play.state)
        if what is not None:
            late = self.after_the_cut(reading.at_us)
            at_ms = reading.at_us // 1000
            if late:
                play.notices.add(Notice("late credit", reading.seat))
            if late or not play.progressive(what, reading.device, at_ms):
                # Not acknowledged and disabled: the acceptor gives the chip back.
                play.credits.given_back.add(reading.seat)
                return
        play.out.append(AcknowledgeCredit(reading.seat, reading.number))

    def _credit_gone(self, reading: CreditTaken | CreditReturned) -> None:
        """The acceptor has let go: the chip is in its box, or back with the player."""
        play, seat, at_ms = self._play, reading.seat, reading.at_us // 1000
        counted = seat in play.credits.untaken
        play.credits.closed(seat)
        if isinstance(reading, CreditTaken):
            play.log.note(CreditDropped(seat, reading.number, at_ms))
            play.out.append(ReleaseCredit(seat, reading.number))
        elif counted:
            self._given_back(seat, reading.device, at_ms)

    def _given_back(self, seat: int, device: str, at_ms: int) -> None:
        """A credit that was counted never fell into the box: the player has the chip."""
        play = self._play
        less = f.CreditsRead(seat, max(0, play.state.credits.get(seat, 0) - 1))
        if play.measured(less, device, at_ms) is not None:
            alarm = fx.RaiseAlarm("credit given back", seat, "after the lock", "house rule")
            play.outbox.append(alarm)
            play.log.note(CreditGivenBack(seat, play.credits.numbers.get(seat, 0), at_ms))

    # --- devices and switches ------------------------------------------------------------------

    def _device(self, report: StateReported) -> None:
        """A device's state. The acceptors have told all they know when they are ready again."""
        play = self._play
        play.health.take(report)
        if report.device != ACCEPTORS:
            return
        code = "" if report.reason is None else report.reason.code
        if code in IN_DOUBT:
            seats = play.credits.untaken if code == IN_DOUBT[0] else play.credits.at_start
            for seat in sorted(seats - play.credits.doubt):
                play.credits.doubt.add(seat)
                play.notices.add(Notice("credit doubt", seat, cause=("credit", seat)))
                play.outbox.append(fx.RaiseAlarm("credit in doubt", seat, code, "house rule"))
        elif report.state is DeviceState.READY:
            for seat in sorted(play.credits.at_start):
                play.credits.closed(seat)
                self._given_back(seat, report.device, report.at_us // 1000)

    def _switch(self, reading: SwitchRead) -> None:
        play, seat = self._play, credits.sensor_seat(reading)
        if seat is not None and self.after_the_cut(reading.at_us):
            self._held_switches[reading.name] = reading
        elif seat is not None:
            what = play.credits.sensed(seat, reading.on, play.state)
            if what is not None:
                play.progressive(what, reading.device, reading.at_us // 1000)
        elif reading.name == "supervisor_key":
            self._positions.turn_key(reading.on)
        else:
            play.health.take(reading)
            play.notices.forget("door")
            if play.health.door:
                play.notices.add(Notice("door", cause="door"))
                if reading.name == "door":
                    play.outbox.append(fx.RaiseAlarm("door", None, "", "house rule"))

    # --- the closing call ----------------------------------------------------------------------

    def call(self, by: f.Declared, at_us: int) -> None:
        """The dealer closes the bets: the sweep proves what lay there at the cut."""
        play = self._play
        unread = play.chips.lost_spots(play.health.down)
        asked = play.seat_map.antennas(all_spots(play.state) - unread)
        self._sweeps += 1
        cut_us = at_us + play.options.late_grace_us
        play.closing = Closing(
            self._sweeps, by, at_us // 1000, cut_us, play.options.settle_us, asked
        )
        play.notices.forget("sweep")
        if play.now_us >= cut_us:
            self._sweep(play.closing)

    def advance(self) -> None:
        """Time has passed: the cut of a call has come, or its sweep was never answered."""
        play = self._play
        if play.closing is None or play.now_us < play.closing.due_us:
            return
        if not play.closing.sweeps:
            self._sweep(play.closing)
        else:
            play.notices.add(Notice("sweep silent", cause="sweep"))
            self.end_call()

    def _sweep(self, closing: Closing) -> None:
        """The cut of the call has come."""
        play = self._play
        closing.begin(play.chips, play.now_us)
        if closing.asked:
            play.out.append(SweepAntennas(closing.number, closing.asked))
        else:
            self._close(play.now_us)

    def after_the_cut(self, at_us: int) -> bool:
        closing = self._play.closing
        return closing is not None and closing.sweeps and at_us >= closing.cut_us

    def end_call(self) -> None:
        """The call is over, whatever became of it: what came after its cut is reported now."""
        self._play.closing = None
        switches, self._held_switches = self._held_switches, {}
        for switch in switches.values():
            self._switch(switch)
        held, self._held = self._held, []
        for reading in held:
            self._card(reading)

    def _close(self, at_us: int) -> None:
        """The sweep is complete: first what it read, then the call as of its press."""
        play = self._play
        closing, play.closing = play.closing, None
        assert closing is not None
        certain, uncertain = closing.result()
        for antenna, tags in sorted(certain.items()):
            self._chips(SpotSettled(antenna, tags, at_us))
        out = play.state.left_out | play.state.excluded
        places = (play.seat_map.spot(a) for a in uncertain)
        play.uncertain = frozenset(s[0] for s in places if s is not None and s[0] not in out)
        if not play.uncertain and play.state.phase is Phase.BETTING:
            refused = play.apply(f.Fact(f.BetsClosed(), closing.by, closing.at_ms))
            play.wrong = ("refused", text_key(refused), None) if refused else None
        self.end_call()
