"""The table core: reading or key -> fact -> step -> journal -> adopt -> effects -> orders.

Pure: it opens nothing, reads no clock and draws nothing. Time is passed in.
"""

from __future__ import annotations

from typing import Any, Final

from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.authority import AUTHORITY
from controller.rules.engine.common import reading
from controller.rules.engine.entries import TableCall
from controller.rules.engine.phases import TABLE
from controller.rules.engine.ruling import is_lifted
from controller.rules.engine.state import Phase
from controller.rules.engine.table_handlers import may_close
from controller.table.closing import Closing
from controller.table.console import Wrong
from controller.table.menu import Call, SignOn
from controller.table.meter import magic_card
from controller.table.prompt import Notice, Said
from controller.table.refusals import text_key
from controller.table.sensing import Sensing
from controller.table.spots import Spot
from controller.table.staff import SUPERVISORS
from controller.table.watch import all_spots, lock_cards, watch
from drivers.base import DeviceIdentified, StateReported
from drivers.orders import (
    SEATS,
    EnableAcceptors,
    Lamp,
    Order,
    ShowLamps,
    ShowMagicCard,
    ShowMeter,
    ShowPrompt,
    SweepAntennas,
    WatchAntennas,
)
from drivers.readings import (
    AntennaFailed,
    AntennaRead,
    CardEvent,
    CardRead,
    CreditOffered,
    CreditReturned,
    CreditTaken,
    KeyPressed,
    MetersRead,
    PacketRead,
    Shown,
    SpotLost,
    SpotMoving,
    SpotSettled,
    SupplyRead,
    SweepAgreed,
    SwitchRead,
    TagOnTwoSpots,
)

NOT_FOR_THE_TABLE: Final = (AntennaRead, AntennaFailed, Shown, MetersRead, DeviceIdentified)
"""Single inventories, read-backs, identities: for the policies below and the health above."""
LATER: Final = 1_000
"""Most readings kept while the power fails."""

_OFF: Final[Lamp] = "off"
DARK: Final = ShowLamps((_OFF,) * SEATS)
_DAY: Final = "day"
_MOVES_ON: Final = (f.CommunityTurned, f.HandOpened, f.DealConfirmed)
"""What a live wager that cannot be read holds up."""


class TableCore(Sensing):
    """One table. ``outbox`` collects what is for the caller: link, selector, timers, evidence."""

    # --- from outside --------------------------------------------------------------------------

    def take(self, reading: object, now_us: int) -> list[Order]:
        """One reading of a device, or a key."""
        if isinstance(reading, NOT_FOR_THE_TABLE):
            return []
        self._now_us = now_us
        fails = isinstance(reading, SwitchRead) and reading.name == "power_fail"
        if self.health.power_fail and not fails:
            # The rail is going: no new fact. Nothing is acknowledged either, so what happens now
            # is told again after a restart, or taken from here if the power comes back.
            if not isinstance(reading, KeyPressed) and len(self._later) < LATER:
                self._later.append(reading)
            return []
        self._take(reading)
        if fails and not self.health.power_fail:
            later, self._later = self._later, []
            for kept in later:
                self._take(kept)
        return self._orders()

    def _take(self, reading: object) -> None:
        match reading:
            case KeyPressed():
                self._key(reading)
            case CardRead() | PacketRead() | CardEvent():
                self._card(reading)
            case SpotSettled() | SpotMoving() | SpotLost() | TagOnTwoSpots():
                self._chips(reading)
            case SweepAgreed():
                if self.closing is not None and self.closing.take(reading):
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
                self.health.take(reading)
            case _:
                pass

    def fact(self, fact: f.Fact, now_us: int) -> list[Order]:
        """A fact from a part that is no device of the table: link, selector, timer."""
        self._now_us = now_us
        self._apply(fact)
        return self._orders()

    def advance(self, now_us: int) -> list[Order]:
        """Time has passed: the cut of a call, a sweep or a selector that never answered, chips that
        should be gone, an age that is shown."""
        self._now_us = now_us
        if self.closing is not None and now_us >= self.closing.due_us:
            if not self.closing.sweeps:
                self._sweep()
            else:
                self.closing = None
                self.notices.add(Notice("sweep silent", cause="sweep"))
                self._release_held()
        for seat, spot in self.take_backs.expire(now_us):
            self._overdue(seat, spot)
        return self._orders()

    def _overdue(self, seat: int, spot: str) -> None:
        clauses = self.state.rules.book.round_clauses
        clause = clauses.decide_1 if self.state.phase is Phase.DECISION_1 else clauses.decide_2
        lies = reading(self.state, seat, spot)
        self.outbox.append(fx.RaiseAlarm("take back overdue", seat, f"{spot}: {lies}", clause))

    @property
    def wake_us(self) -> int | None:
        """When ``advance`` wants to be called next."""
        selecting = self._select_us if self._around().selecting else None
        due = [
            None if self.closing is None else self.closing.due_us,
            selecting,
            self.take_backs.wake_us,
            self.meter.wake_us(self.state, self._now_us),
        ]
        return min((t for t in due if t is not None), default=None)

    def orders_now(self) -> list[Order]:
        """Everything the devices should show and do now: after a start or a reconnect."""
        self._shown = {}
        if self.closing is not None and self.closing.sweeps:
            self._out.append(SweepAntennas(self.closing.number, self.closing.asked))
        return self._orders()

    def prompt_now(self) -> tuple[str, ...]:
        """The four lines as they were last ordered."""
        shown = self._shown.get(ShowPrompt)
        return shown.lines if isinstance(shown, ShowPrompt) else ()

    # --- keys ----------------------------------------------------------------------------------

    def _key(self, reading: KeyPressed) -> None:
        self._wrong, at_ms = None, reading.at_us // 1000
        turned, busy = self.positions.key_turned, self.console.busy
        match self.console.press(reading.key, self.state, self.ask.seat, turned):
            case None:
                pass
            case Wrong(key):
                self._wrong = ("wrong", key, None)
            case "call":
                self._beacon = not self._beacon
            case "clear":
                if not busy:
                    self.notices.clear_newest(self.prompter.notice)
            case "undo":
                self._take_back(at_ms)
            case SignOn() as entry:
                self._sign_on(entry, at_ms)
            case Call(kind):
                self._call(kind, at_ms)
            case f.What() as what:
                self._declare(what, reading.at_us)

    def _refuse(self, key: str, seat: int | None = None) -> None:
        self._wrong = ("wrong", key, seat)

    def _declare(self, what: f.What, at_us: int) -> None:
        by, at_ms = self.positions.declares, at_us // 1000
        if by is None:
            return self._refuse("sign on first")
        lost = self._lost()
        match what:
            case f.BetsOpened() | f.BetsClosed() if self.health.overrun:
                return self._refuse("overrun")
            case f.BetsOpened() if self.state.phase is Phase.IDLE and (why := self._no_opening()):
                return self._refuse(why)
            case f.BetsClosed() if self.state.phase is Phase.BETTING:
                return self._call_close(by, at_us)
            case f.SeatRuled(seat, "stays live") if self._not_for_the_engine(what):
                return self._stays_live(seat, by, at_ms)
            case f.DecisionCorrected(seat) if self._needs_supervisor(seat, by):
                return self._refuse("turn the key")
            case _ if isinstance(what, _MOVES_ON) and self.health.overrun:
                return self._refuse("overrun")
            case _ if isinstance(what, _MOVES_ON) and lost:
                return self._refuse("sensor", lost[0][0])
        if refused := self._apply(f.Fact(self._confirmed(what), by, at_ms)):
            self._wrong = ("refused", text_key(refused), None)
        return None

    def _needs_supervisor(self, seat: int, by: f.Declared) -> bool:
        """Chips and console have disagreed too long for the dealer to key it anew (AMB-C02)."""
        return seat in self.take_backs.seats and by.role not in SUPERVISORS

    def _no_opening(self) -> str:
        if self.table_closed:
            return "table closed"
        if self.health.low_supply:
            return "low supply"
        if self.health.disk_full:
            return "disk full"
        return self._card_hold()

    def _take_back(self, at_ms: int) -> None:
        if self.closing is not None:
            self.closing = None  # nothing was declared yet: the call can still be taken back
            return self._release_held()
        if self.undo is None:
            none = self.log.memory.undo is None
            return self._refuse("nothing to undo" if none else "undo too late")
        seat, spot, choice = self.undo
        other: Any = "withdraw" if choice == "ride" else "ride"
        return self._declare(f.DecisionCorrected(seat, spot, other), at_ms * 1000)

    def _sign_on(self, entry: SignOn, at_ms: int) -> None:
        found = self.staff.check(entry.staff_id, entry.pin)
        signed = None if found is None else self.positions.sign_on(*found, at_ms)
        if signed is None:
            return self._refuse("sign on refused")
        self.log.note(signed)
        return self.outbox.append(signed)

    def _call(self, kind: Any, at_ms: int) -> None:
        if self.state.phase is not Phase.IDLE:
            return self._refuse("not in a round")
        by = self.positions.declares
        if by is None:
            return self._refuse("sign on first")
        if kind != "table open" and not may_close(self.state, at_ms):
            return self._refuse("closing notice")
        call = TableCall(kind, by, at_ms)
        self.log.note(call)
        if not self.table_closed and "closing" in self.state.signs:
            self._apply(f.Fact(f.SignRemoved("closing"), by, at_ms))
        self.notices.forget(_DAY)
        if kind == "day close":
            self.notices.add(Notice("day closed", cause=_DAY))
        return self.outbox.append(call)

    # --- the closing call ----------------------------------------------------------------------

    def _call_close(self, by: f.Declared, at_us: int) -> None:
        if self.closing is not None:
            return self._refuse("sweeping")
        if lost := self._lost():
            return self._refuse("sensor", lost[0][0])
        unread = self.chips.lost_spots(self.health.down)
        asked = self.seat_map.antennas(all_spots(self.state) - unread)
        self._sweeps += 1
        cut_us = at_us + self.options.late_grace_us
        self.closing = Closing(
            self._sweeps, by, at_us // 1000, cut_us, self.options.settle_us, asked
        )
        self.notices.forget("sweep")
        return self._sweep() if self._now_us >= cut_us else None

    def _sweep(self) -> None:
        """The cut of the call has come."""
        assert self.closing is not None
        self.closing.begin(self.chips, self._now_us)
        if not self.closing.asked:
            return self._close(self._now_us)
        return self._out.append(SweepAntennas(self.closing.number, self.closing.asked))

    def _not_for_the_engine(self, what: f.SeatRuled) -> bool:
        """A wager that stays live because nobody can read it, not because chips were lifted."""
        if f.SeatRuled not in TABLE[self.state.rules.book.family].get(self.state.phase, {}):
            return True
        unread = what.seat in {number for number, _ in self._lost()} | self.credits.doubt
        seat = self.state.seats.get(what.seat)
        return unread and seat is not None and not is_lifted(self.state, what.seat)

    def _stays_live(self, seat: int, by: f.Declared, at_ms: int) -> None:
        """Where the engine has no such ruling the supervisor's word is noted, and play goes on."""
        if by.role not in AUTHORITY[f.SeatRuled][0]:
            return self._refuse("turn the key")
        if seat in self.credits.doubt:
            noted = "credit in doubt: it stands"
        elif seat in [number for number, _ in self._lost()]:
            noted = "sensor lost: wager stays live"
        else:
            return self._refuse("not now")
        self._apply(f.Fact(f.BreachNoted((seat,), noted), by, at_ms))
        return self._release(seat)

    # --- orders --------------------------------------------------------------------------------

    def _orders(self) -> list[Order]:
        """Acknowledgements and requests, then every whole that is not what was last ordered."""
        out, self._out = self._out, []
        for order in self._wholes():
            if self._shown.get(type(order)) != order:
                self._shown[type(order)] = order
                out.append(order)
        return out

    def _wholes(self) -> list[Order]:
        state, ask = self.state, self.ask
        if self._wrong is not None and self._wrong_at[0] is not self._wrong:
            self._wrong_at = (self._wrong, ask)
        elif self._wrong_at[1] != ask:
            # The question has changed: what was wrong with an answer to the old one is over.
            self._wrong = None
        said = Said(self._wrong, self.console.shown(), self.notices.newest)
        beacon = self._beacon or "KEY" in ask.keys
        faults = frozenset(s[0] for s in self._wrong_spots()) | self.take_backs.seats
        lit = not self.health.power_fail
        idle = self.health.power_fail or self._after_the_cut(self._now_us)
        wholes: list[Order] = [
            lock_cards(state, ask),
            WatchAntennas(watch(state, self.seat_map).antennas),
            self.lamps.order(state, ask, faults=faults, beacon=beacon) if lit else DARK,
            ShowPrompt(self.prompter.lines(state, ask, said)),
        ]
        if state.rules.book.progressive is not None:
            word = self._meter_word()
            self.meter.follow(self._now_us, seen=lit and not word)
            wholes += [
                EnableAcceptors(self.credits.enabled(state, closing=idle)),
                self.meter.order(self._now_us, word) if lit else ShowMeter(""),
                self.meter.sign(self._now_us, word),
            ]
        if state.rules.book.magic_card is not None:
            wholes.append(magic_card(state) if lit else ShowMagicCard(None))
        return wholes

    def _wrong_spots(self) -> list[Spot]:
        if self.state.phase is not Phase.BETTING:
            return []
        spots = ((a, self.seat_map.spot(a)) for a in self.chips.tags)
        return [s for a, s in spots if s is not None and self.chips.wrong(a) is not None]
