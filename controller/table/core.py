"""The table core: reading or key -> fact -> step -> journal -> adopt -> effects -> orders.

Pure: it opens nothing, reads no clock and draws nothing. Time is passed in.
"""

from __future__ import annotations

from typing import Final

from controller.history.table_log import TableLog
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.common import reading as lying
from controller.rules.engine.state import Phase, TableState
from controller.table.asks import Ask
from controller.table.chips import Find
from controller.table.closing import Closing
from controller.table.keying import Keying
from controller.table.meter import magic_card
from controller.table.options import DEFAULTS, Options
from controller.table.play import Play
from controller.table.prompt import Prompter, Said
from controller.table.sensing import Sensing
from controller.table.spots import SeatMap
from controller.table.staff import DEALER_1, SUPERVISOR_1, Positions, Staff
from controller.table.texts import Texts
from controller.table.watch import lock_cards, watch
from drivers.base import DeviceIdentified
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
    KeyPressed,
    MetersRead,
    Reading,
    Shown,
    SwitchRead,
)

NOT_FOR_THE_TABLE: Final = (AntennaRead, AntennaFailed, Shown, MetersRead, DeviceIdentified)
"""Single inventories, read-backs, identities: for the policies below and the health above."""
LATER: Final = 1_000
"""Most readings kept while the power fails."""

_OFF: Final[Lamp] = "off"
DARK: Final = ShowLamps((_OFF,) * SEATS)


class TableCore:
    """One table: a play, and the parts that move it. ``outbox`` collects what is for the caller."""

    def __init__(
        self,
        log: TableLog,
        seat_map: SeatMap,
        find: Find,
        staff: Staff,
        texts: Texts,
        *,
        house: str = "",
        card_devices: frozenset[str] = frozenset(),
        dealer: f.Declared | None = DEALER_1,
        supervisor: f.Declared | None = SUPERVISOR_1,
        options: Options = DEFAULTS,
        now_us: int = 0,
    ) -> None:
        play = self._play = Play(
            log,
            seat_map,
            find,
            texts,
            house=house,
            card_devices=card_devices,
            options=options,
            now_us=now_us,
        )
        self.log, self.seat_map, self.outbox = log, seat_map, play.outbox
        self.chips, self.credits, self.health = play.chips, play.credits, play.health
        self.notices, self.meter = play.notices, play.meter
        self.positions = Positions(dealer, supervisor)
        self._sensing = Sensing(play, self.positions)
        self._keying = Keying(play, self._sensing, self.positions, staff)
        self._later: list[Reading] = []
        """What devices said while the power failed."""
        self._shown: dict[type[Order], Order] = {}
        self._asked: Ask | None = None
        """The question that the last orders were made for."""
        self._wrong_at: tuple[object, Ask | None] = (None, None)
        """What was wrong last, and the question that was asked then."""

    @property
    def state(self) -> TableState:
        return self._play.state

    @property
    def table_closed(self) -> bool:
        return self._play.table_closed

    @property
    def closing(self) -> Closing | None:
        """The closing call under way."""
        return self._play.closing

    @property
    def uncertain(self) -> frozenset[int]:
        """Seats whose chips moved at the closing call."""
        return self._play.uncertain

    @property
    def options(self) -> Options:
        return self._play.options

    @property
    def prompter(self) -> Prompter:
        return self._play.prompter

    @property
    def now_us(self) -> int:
        """When it was last given something."""
        return self._play.now_us

    @property
    def ask(self) -> Ask:
        """What is asked of the dealer now."""
        return self._play.ask(key_turned=self.positions.key_turned)

    # --- from outside --------------------------------------------------------------------------

    def configure(self, texts: Texts, options: Options) -> None:
        self._play.configure(texts, options)

    def set_mode(self, now_us: int) -> None:
        self._play.now_us = now_us
        self._play.set_mode()

    def take(self, reading: Reading, now_us: int) -> list[Order]:
        """One reading of a device, or a key."""
        if isinstance(reading, NOT_FOR_THE_TABLE):
            return []
        self._play.now_us = now_us
        fails = isinstance(reading, SwitchRead) and reading.name == "power_fail"
        if self.health.power_fail and not fails:
            # The rail is going: no new fact. Nothing is acknowledged either, so what happens now
            # is reported again after a restart, or taken from here if the power comes back.
            if not isinstance(reading, KeyPressed) and len(self._later) < LATER:
                self._later.append(reading)
            return []
        self._take(reading)
        if fails and not self.health.power_fail:
            later, self._later = self._later, []
            for kept in later:
                self._take(kept)
        return self._orders()

    def _take(self, reading: Reading) -> None:
        if isinstance(reading, KeyPressed):
            self._keying.press(reading)
        else:
            self._sensing.take(reading)

    def fact(self, fact: f.Fact, now_us: int) -> list[Order]:
        """A fact from a part that is no device of the table: link, selector, timer."""
        self._play.now_us = now_us
        self._play.apply(fact)
        return self._orders()

    def advance(self, now_us: int) -> list[Order]:
        """Time has passed: the cut of a call, a sweep or a selector that never answered, chips that
        should be gone, an age that is shown."""
        self._play.now_us = now_us
        self._sensing.advance()
        for seat, spot in self._play.take_backs.expire(now_us):
            self._overdue(seat, spot)
        return self._orders()

    def _overdue(self, seat: int, spot: str) -> None:
        clauses = self.state.rules.book.round_clauses
        clause = clauses.decide_1 if self.state.phase is Phase.DECISION_1 else clauses.decide_2
        lies = lying(self.state, seat, spot)
        self.outbox.append(fx.RaiseAlarm("take back overdue", seat, f"{spot}: {lies}", clause))

    @property
    def wake_us(self) -> int | None:
        """When ``advance`` wants to be called next."""
        play = self._play
        due = [
            None if play.closing is None else play.closing.due_us,
            play.selecting_until_us,
            play.take_backs.wake_us,
            play.meter.wake_us(play.state, play.now_us),
        ]
        return min((t for t in due if t is not None), default=None)

    # --- orders --------------------------------------------------------------------------------

    def orders_now(self) -> list[Order]:
        """Everything the devices should show and do now: after a start or a reconnect."""
        self._shown = {}
        closing = self._play.closing
        if closing is not None and closing.sweeps:
            self._play.out.append(SweepAntennas(closing.number, closing.asked))
        return self._orders()

    def prompt_now(self) -> tuple[str, ...]:
        """The four lines as they were last ordered."""
        shown = self._shown.get(ShowPrompt)
        return shown.lines if isinstance(shown, ShowPrompt) else ()

    def ask_now(self) -> Ask:
        """What was asked when orders were last made, as the prompt has it."""
        return self.ask if self._asked is None else self._asked

    def lamps_now(self) -> ShowLamps:
        """The lamps and the beacon as they were last ordered."""
        shown = self._shown.get(ShowLamps)
        return shown if isinstance(shown, ShowLamps) else DARK

    def _orders(self) -> list[Order]:
        """Acknowledgements and requests, then every whole that is not what was last ordered."""
        out, self._play.out = self._play.out, []
        for order in self._wholes():
            if self._shown.get(type(order)) != order:
                self._shown[type(order)] = order
                out.append(order)
        return out

    def _wholes(self) -> list[Order]:
        play, ask = self._play, self.ask
        self._asked = ask
        state, now_us, keying = play.state, play.now_us, self._keying
        if play.wrong is not None and self._wrong_at[0] is not play.wrong:
            self._wrong_at = (play.wrong, ask)
        elif self._wrong_at[1] != ask:
            # The question has changed: what was wrong with an answer to the old one is over.
            play.wrong = None
        said = Said(play.wrong, keying.console.shown(), play.notices.newest)
        beacon = keying.beacon or "KEY" in ask.keys
        faults = self._wrong_seats() | play.take_backs.seats
        lit = not play.health.power_fail
        idle = play.health.power_fail or self._sensing.after_the_cut(now_us)
        wholes: list[Order] = [
            lock_cards(state, ask),
            WatchAntennas(watch(state, play.seat_map).antennas),
            play.lamps.order(state, ask, faults=faults, beacon=beacon) if lit else DARK,
            ShowPrompt(play.prompter.lines(state, ask, said)),
        ]
        if state.rules.book.progressive is not None:
            word = play.meter_word()
            play.meter.follow(now_us, seen=lit and not word)
            wholes += [
                EnableAcceptors(play.credits.enabled(state, closing=idle)),
                play.meter.order(now_us, word) if lit else ShowMeter(""),
                play.meter.sign(now_us, word),
            ]
        if state.rules.book.magic_card is not None:
            wholes.append(magic_card(state) if lit else ShowMagicCard(None))
        return wholes

    def _wrong_seats(self) -> frozenset[int]:
        """Seats with a tag that never counts, while bets are open."""
        if self.state.phase is not Phase.BETTING:
            return frozenset()
        spots = ((a, self.seat_map.spot(a)) for a in self.chips.tags)
        return frozenset(s[0] for a, s in spots if s is not None and self.chips.wrong(a))
