"""Keys become declarations: facts by the person who is signed on, table calls, sign-ons."""

from __future__ import annotations

from typing import Any, Final

from controller.rules.engine import facts as f
from controller.rules.engine.authority import AUTHORITY
from controller.rules.engine.entries import TableCall
from controller.rules.engine.phases import TABLE
from controller.rules.engine.ruling import is_lifted
from controller.rules.engine.state import Phase
from controller.rules.engine.table_handlers import may_close
from controller.table.console import Console, Wrong
from controller.table.menu import Call, SignOn
from controller.table.play import Play
from controller.table.prompt import Notice
from controller.table.refusals import text_key
from controller.table.sensing import Sensing
from controller.table.staff import SUPERVISORS, Positions, Staff
from drivers.readings import KeyPressed

_DAY: Final = "day"
_MOVES_ON: Final = (f.CommunityTurned, f.HandOpened, f.DealConfirmed)
"""What a live wager that cannot be read holds up."""


class Keying:
    def __init__(self, play: Play, sensing: Sensing, positions: Positions, staff: Staff) -> None:
        self._play, self._sensing = play, sensing
        self._positions, self._staff = positions, staff
        self.console = Console()
        self.beacon = False
        """Somebody was called with the key CALL."""

    def press(self, reading: KeyPressed) -> None:
        play, at_ms = self._play, reading.at_us // 1000
        play.wrong = None
        turned, busy = self._positions.key_turned, self.console.busy
        asked = play.ask(key_turned=turned).seat
        match self.console.press(reading.key, play.state, asked, turned):
            case None:
                pass
            case Wrong(key):
                self._refuse(key)
            case "call":
                self.beacon = not self.beacon
            case "clear":
                if not busy:
                    play.notices.clear_newest(play.prompter.notice)
            case "undo":
                self._take_back(at_ms)
            case SignOn() as entry:
                self._sign_on(entry, at_ms)
            case Call(kind):
                self._call(kind, at_ms)
            case f.What() as what:
                self._declare(what, reading.at_us)

    def _refuse(self, key: str, seat: int | None = None) -> None:
        self._play.wrong = ("wrong", key, seat)

    def _declare(self, what: f.What, at_us: int) -> None:
        play, by, at_ms = self._play, self._positions.declares, at_us // 1000
        if by is None:
            return self._refuse("sign on first")
        lost = play.lost()
        match what:
            case f.BetsOpened() | f.BetsClosed() if play.health.overrun:
                return self._refuse("overrun")
            case f.BetsOpened() if play.state.phase is Phase.IDLE and (why := self._no_opening()):
                return self._refuse(why)
            case f.BetsClosed() if play.state.phase is Phase.BETTING:
                return self._call_close(by, at_us)
            case f.SeatRuled(seat, "stays live") if self._not_for_the_engine(what):
                return self._stays_live(seat, by, at_ms)
            case f.DecisionCorrected(seat) if self._needs_supervisor(seat, by):
                return self._refuse("turn the key")
            case _ if isinstance(what, _MOVES_ON) and play.health.overrun:
                return self._refuse("overrun")
            case _ if isinstance(what, _MOVES_ON) and lost:
                return self._refuse("sensor", lost[0][0])
        if refused := play.apply(f.Fact(play.confirmed(what), by, at_ms)):
            play.wrong = ("refused", text_key(refused), None)
        return None

    def _needs_supervisor(self, seat: int, by: f.Declared) -> bool:
        """Chips and console have disagreed too long for the dealer to key it again (AMB-C02)."""
        return seat in self._play.take_backs.seats and by.role not in SUPERVISORS

    def _no_opening(self) -> str:
        play = self._play
        if play.table_closed:
            return "table closed"
        if play.health.low_supply:
            return "low supply"
        if play.health.disk_full:
            return "disk full"
        return play.card_hold()

    def _take_back(self, at_ms: int) -> None:
        play = self._play
        if play.closing is not None:
            return self._sensing.end_call()  # nothing was declared yet
        if play.undo is None:
            none = play.memory.undo is None
            return self._refuse("nothing to undo" if none else "undo too late")
        seat, spot, choice = play.undo
        other: Any = "withdraw" if choice == "ride" else "ride"
        return self._declare(f.DecisionCorrected(seat, spot, other), at_ms * 1000)

    def _sign_on(self, entry: SignOn, at_ms: int) -> None:
        found = self._staff.check(entry.staff_id, entry.pin)
        signed = None if found is None else self._positions.sign_on(*found, at_ms)
        if signed is None:
            return self._refuse("sign on refused")
        self._play.log.note(signed)
        return self._play.outbox.append(signed)

    def _call(self, kind: Any, at_ms: int) -> None:
        play, by = self._play, self._positions.declares
        if play.state.phase is not Phase.IDLE:
            return self._refuse("not in a round")
        if by is None:
            return self._refuse("sign on first")
        if kind != "table open" and not may_close(play.state, at_ms):
            return self._refuse("closing notice")
        call = TableCall(kind, by, at_ms)
        play.log.note(call)
        if not play.table_closed and "closing" in play.state.signs:
            play.apply(f.Fact(f.SignRemoved("closing"), by, at_ms))
        play.notices.forget(_DAY)
        if kind == "day close":
            play.notices.add(Notice("day closed", cause=_DAY))
        return play.outbox.append(call)

    def _call_close(self, by: f.Declared, at_us: int) -> None:
        if self._play.closing is not None:
            return self._refuse("sweeping")
        if lost := self._play.lost():
            return self._refuse("sensor", lost[0][0])
        return self._sensing.call(by, at_us)

    def _not_for_the_engine(self, what: f.SeatRuled) -> bool:
        """A wager that stays live because nobody can read it, not because chips were lifted."""
        play, state = self._play, self._play.state
        if f.SeatRuled not in TABLE[state.rules.book.family].get(state.phase, {}):
            return True
        unread = what.seat in {number for number, _ in play.lost()} | play.credits.doubt
        seat = state.seats.get(what.seat)
        return unread and seat is not None and not is_lifted(state, what.seat)

    def _stays_live(self, seat: int, by: f.Declared, at_ms: int) -> None:
        """If the engine has no such ruling, the supervisor's word is noted and play continues."""
        play = self._play
        if by.role not in AUTHORITY[f.SeatRuled][0]:
            return self._refuse("turn the key")
        if seat in play.credits.doubt:
            noted = "credit in doubt: it stands"
        elif seat in [number for number, _ in play.lost()]:
            noted = "sensor lost: wager stays live"
        else:
            return self._refuse("not now")
        play.apply(f.Fact(f.BreachNoted((seat,), noted), by, at_ms))
        return play.release(seat)
