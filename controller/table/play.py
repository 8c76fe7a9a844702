"""A table in play: its one state, what was said that is no fact yet, and the one path of a fact.

A fact is stepped, journalled and adopted by the table's log before anything here follows from it.
"""

from __future__ import annotations

from typing import Final

from controller.history.memory import Undo
from controller.history.table_log import TableLog
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.betting import base_is_valid
from controller.rules.engine.common import spot_of
from controller.rules.engine.deal import must_cut, uses_packets
from controller.rules.engine.entries import CreditDropped, Key, SignedOn, TableCall
from controller.rules.engine.state import Phase, TableState
from controller.table.asks import Around, Ask
from controller.table.chips import Chips, Find
from controller.table.closing import Closing
from controller.table.credits import Credits
from controller.table.guide import guide, live_spots, playing
from controller.table.health import Health
from controller.table.lamps import Lamps
from controller.table.lineage import Lineage, forbidden_by
from controller.table.meter import Meter
from controller.table.notices import Notices
from controller.table.odometer import CountUp
from controller.table.options import Options
from controller.table.prompt import Notice, Prompter
from controller.table.spots import SeatMap, Spot
from controller.table.takebacks import TakeBacks
from controller.table.texts import Texts
from drivers.orders import Order, ReleaseCredit, RequestDeckCheck
from drivers.readings import Uid

ForCaller = fx.Effect | SignedOn | TableCall | CountUp
"""What leaves the core besides orders."""

SELECT_US: Final = 3_000_000
"""Longest wait for a selector; a card after that means no magic card in this round."""

SAFE_MODE: Final = "safe mode"
ORDERED: Final = "safe mode, ordered by "
"""By a person at the shell: only a person takes it back."""
LINEAGE: Final = "lineage"

_KEPT: Final = (fx.SetLamp, fx.Prompt, fx.ArmAcceptor)


class Play:
    """What the parts of the table core share. ``outbox`` collects what is for the caller: link,
    selector, evidence; ``out`` collects orders to devices."""

    def __init__(
        self,
        log: TableLog,
        seat_map: SeatMap,
        find: Find,
        texts: Texts,
        *,
        house: str,
        card_devices: frozenset[str],
        options: Options,
        now_us: int,
    ) -> None:
        self.log, self.memory = log, log.memory
        state = log.state
        self.now_us = now_us
        self.outbox: list[ForCaller] = []
        self.out: list[Order] = []
        self.seat_map = seat_map
        self.chips = Chips(seat_map, find, house, promo=state.rules.book.key == "NSW")
        self.credits = Credits(self.memory.untaken, at_start=set(self.memory.untaken))
        self.health = Health(card_devices)
        self.notices = Notices()
        self.lamps = Lamps(state)
        self.meter = Meter(state.meter, now_us)
        self.configure(texts, options)
        self.take_backs = TakeBacks()
        self.lineage = Lineage()
        self.closing: Closing | None = None
        """The closing call under way."""
        self.uncertain: frozenset[int] = frozenset()
        """Seats whose chips moved at the closing call."""
        self.wrong: tuple[str, str, int | None] | None = None
        """What was wrong with the last key."""
        self.released: frozenset[Spot] = frozenset()
        """Spots that nobody can read, on which a supervisor has ruled."""
        self._press_close = False
        self._select_us: int | None = None
        self._arm_from_state()
        self.take_backs.follow(state, now_us, options.take_back_us)

    def configure(self, texts: Texts, options: Options) -> None:
        """What the house chooses besides the rules: at a start, and between two rounds."""
        self.options = options
        self.prompter = Prompter(texts, options.amounts)
        self.meter.amounts, self.meter.odometer_us = options.amounts, options.odometer_us

    def set_mode(self) -> None:
        """Tell the engine whether the house takes progressive wagers: a fact like any other."""
        state, safe = self.state, self.options.safe_mode
        if state.rules.book.progressive is None or bool(state.progressive_closed) == safe:
            return
        if state.progressive_closed.startswith(ORDERED):
            return
        what = f.ProgressiveClosed(SAFE_MODE) if safe else f.ProgressiveOpened()
        self.measured(what, "configuration", self.now_us // 1000)

    @property
    def state(self) -> TableState:
        return self.memory.state

    @property
    def table_closed(self) -> bool:
        return self.memory.table_closed

    @property
    def undo(self) -> Undo | None:
        """The decision that ``UNDO`` would turn, while its phase lasts."""
        found = self.memory.undo
        return found if found and found.spot == spot_of(self.state.phase) else None

    def _arm_from_state(self) -> None:
        """After a restart: sensors as the journal has them, acceptors as the wagers allow."""
        rules = self.state.rules
        if rules.book.progressive is not None and not rules.book.acceptor_after_base:
            locked = (n for n, seat in self.state.seats.items() if seat.locked.get("progressive"))
            told = {n for n, count in self.state.credits.items() if count} | set(locked)
            self.credits.levels = dict.fromkeys(told, True)
        if self.state.phase is Phase.BETTING and rules.book.progressive is not None:
            for number in range(1, rules.table.seats + 1):
                if not rules.book.acceptor_after_base or base_is_valid(self.state, number):
                    self.credits.armed.add(number)

    # --- facts ---------------------------------------------------------------------------------

    def apply(self, fact: f.Fact, key: Key | None = None) -> fx.Refused | None:
        """Step, journal, adopt, effects: the one way through. Returns the refusal, if any."""
        before = self.state
        effects = self.log.apply(fact, key)
        if isinstance(effects, fx.Refused):
            self.outbox.append(effects)
            return effects
        state = self.state
        self.take_backs.follow(state, self.now_us, self.options.take_back_us)
        if isinstance(fact.what, f.WagerRead):
            self.notices.forget(("chips", fact.what.seat))
            self.notices.forget(("chips", fact.what.seat, fact.what.spot))
        if state.seats and not before.seats and forbidden_by(state.rules):
            self.lineage.locked(self._lying())
        for effect in effects:
            self._effect(effect)
        self.notices.take(effects, state)
        self._after(fact)
        return None

    def _effect(self, effect: fx.Effect) -> None:
        self.lamps.take(effect)
        if isinstance(effect, fx.ShowJackpot):
            run = self.meter.take(effect, self.now_us, self.meter_word())
            self.outbox += [run] if run is not None else []
        elif isinstance(effect, fx.ArmAcceptor):
            (self.credits.armed.add if effect.armed else self.credits.armed.discard)(effect.seat)
        elif isinstance(effect, fx.PublishRound) and forbidden_by(self.state.rules):
            self.lineage.ended(effect.result)
        elif isinstance(effect, fx.RequestSelection):
            self._select_us = self.now_us + SELECT_US
        elif isinstance(effect, fx.Prompt):
            self._press_close |= effect.code == "press close"
            between = self.state.phase is Phase.IDLE and uses_packets(self.state.rules)
            if effect.code == "check deck" and between and self.state.deck.name is not None:
                self.out.append(RequestDeckCheck(self.state.deck.name))
        if not isinstance(effect, _KEPT):
            self.outbox.append(effect)

    def meter_word(self) -> str:
        return self.meter.word(self.state, self.now_us, closed=self.table_closed)

    def _after(self, fact: f.Fact) -> None:
        match fact.what:
            case f.BetsOpened():
                self.uncertain, self.released, self._press_close = frozenset(), frozenset(), False
                self.notices.new_round()
                for pair in self.lineage.opened():
                    self.notices.forget((LINEAGE, *pair))
                for read in self.credits.at_opening():
                    self.progressive(read, "sensors", fact.at_ms)
                self.hint_lineage()
            case f.BetsClosed():
                self._press_close = False
            case f.SeatLeftOut(seat):
                self.uncertain -= {seat}
            case f.SeatRuled(seat, "stays live"):
                self.release(seat)
            case f.WagerRead(seat):
                self.credits.given_back.discard(seat)
            case _:
                pass

    def measured(
        self, what: f.What, device: str, at_ms: int, key: Key | None = None
    ) -> fx.Refused | None:
        return self.apply(f.Fact(what, f.Measured(device), at_ms), key)

    def progressive(self, what: f.CreditsRead, device: str, at_ms: int) -> bool:
        """A progressive wager as a sensor or acceptor tells it; False if it is not taken, and then
        the prompt asks the dealer to have it taken back."""
        seat = what.seat
        self.notices.forget((SAFE_MODE, seat))
        if self.measured(what, device, at_ms) is None:
            return True
        closed = self.state.progressive_closed if self.state.phase is Phase.BETTING else ""
        if what.credits and closed:
            self.notices.add(Notice("progressive closed", seat, cause=(SAFE_MODE, seat)))
            clause = self.state.rules.book.clauses.side_needs_base
            self.outbox.append(fx.RaiseAlarm("progressive closed", seat, closed, clause))
        elif what.credits:
            self.notices.add(Notice("late credit", seat))
        return False

    # --- whose chips they were -----------------------------------------------------------------

    def _lying(self) -> dict[Spot, frozenset[Uid]]:
        tags = self.chips.tags.items()
        return {s: found for a, found in tags if (s := self.seat_map.spot(a)) is not None and s[0]}

    def hint_lineage(self) -> None:
        """While bets are open: chips of the last round at another seat, which bets as well."""
        clause = forbidden_by(self.state.rules)
        if not clause or self.state.phase is not Phase.BETTING:
            return
        for first, second, chips in self.lineage.hints(self._lying(), playing(self.state)):
            cause = (LINEAGE, first, second)
            self.notices.add(Notice(LINEAGE, second, other=first, cause=cause))
            detail = f"{chips} of seat {first}"
            self.outbox.append(fx.RaiseAlarm("chip lineage", second, detail, clause))

    def confirmed(self, what: f.What) -> f.What:
        """A breach noted about the two seats of a hint says what it was."""
        if not isinstance(what, f.BreachNoted) or not (pair := self.lineage.confirms(what.seats)):
            return what
        self.notices.forget((LINEAGE, *pair))
        return f.BreachNoted(what.seats, "one player at both seats: chip lineage")

    # --- what the engine does not know ----------------------------------------------------------

    @property
    def selecting_until_us(self) -> int | None:
        """Until when a selector is waited for."""
        waits = self.state.phase is Phase.LOCKED and self.state.commitment is None
        due_us = self._select_us if waits else None
        return due_us if due_us is not None and self.now_us < due_us else None

    def ask(self, *, key_turned: bool) -> Ask:
        """What is asked of the dealer now."""
        return guide(self.state, self._around(key_turned))

    def _around(self, key_turned: bool) -> Around:
        return Around(
            key_turned=key_turned,
            closing=self.closing is not None,
            uncertain=tuple(sorted(self.uncertain - self.state.left_out)),
            lost=self.lost(),
            card_hold=self.card_hold(),
            low_supply=self.health.low_supply,
            disk_full=self.health.disk_full,
            overrun=bool(self.health.overrun),
            power_fail=self.health.power_fail,
            table_closed=self.table_closed,
            selecting=self.selecting_until_us is not None,
            undo=None if (undo := self.undo) is None else undo.seat,
            overdue=self.take_backs.seats,
            press_close=self._press_close,
        )

    def card_hold(self) -> str:
        """Why no card may be dealt. A deck that a person shuffled (MENU 36) must be loaded again:
        what is left in the shoe is the end of the last one."""
        state, deck = self.state, self.state.deck
        due = deck.shuffled and (deck.cut or not must_cut(state.rules)) and not state.in_play
        by_hand = state.rules.table.shuffle_required and not uses_packets(state.rules)
        return self.health.card_hold or ("load" if due and by_hand and self.health.spent else "")

    def lost(self) -> tuple[Spot, ...]:
        """Spots with a live wager that nobody can read and no supervisor has ruled on."""
        unread = self.chips.lost_spots(self.health.down) - self.released
        if self.state.phase is Phase.BETTING:
            known, out = self.state.spots, self.state.left_out | self.state.excluded
            live = {s for s, c in known.items() if c and s[0] not in out}
            return tuple(sorted(unread & (live - self.state.declared)))
        return tuple(sorted(unread & live_spots(self.state)))

    def release(self, seat: int) -> None:
        unread = self.chips.lost_spots(self.health.down)
        self.released |= {spot for spot in unread if spot[0] == seat}
        if seat in self.credits.doubt:
            number = self.credits.closed(seat)
            self.notices.forget(("credit", seat))
            dropped = CreditDropped(seat, number, self.now_us // 1000)
            self.log.note(dropped)
            self.out.append(ReleaseCredit(seat, number))
