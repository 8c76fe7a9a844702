"""A table for breaking: devices, drivers and a stand-in for the core that only acknowledges.

It keeps what every test of faults asks for: the state of each device over virtual time, counters
before and after, cards that really left the gate, and what the spots were said to hold.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Final, TypeVar

from controller.daemon.inputs import Released
from controller.rules.engine.state import Phase
from controller.table.core import TableCore
from drivers.base import DeviceIdentified, DeviceState, StateReported
from drivers.orders import (
    AcknowledgeCredit,
    AcknowledgeReading,
    EnableAcceptors,
    LockCards,
    Order,
    ReleaseCredit,
    ShowLamps,
    ShowMagicCard,
    ShowMeter,
    ShowPrompt,
    ShowSign,
    WatchAntennas,
)
from drivers.readings import (
    Antenna,
    AntennaRead,
    CardEvent,
    CardRead,
    CreditOffered,
    CreditReturned,
    CreditTaken,
    KeyPressed,
    PacketRead,
    Reading,
    SpotLost,
    SpotMoving,
    SpotSettled,
)
from hw_sim.clock import MS, SECOND
from hw_sim.devices.cdp import FULL_DECK
from hw_sim.scenario import HERE, card_byte, find, load, parse_step
from tests.sim.devices import VirtualDevices
from tests.sim.table import VirtualTable

UNKNOWN, READY = DeviceState.UNKNOWN, DeviceState.READY
DEGRADED, LOCKED = DeviceState.DEGRADED, DeviceState.LOCKED
DISK_US: Final = 20 * MS
"""How long the stand-in's disk takes before it acknowledges."""
START_US: Final = 3 * SECOND
"""Longest start: the sign's set-up."""
SIGN: Final = "$1,234,567.89"
CHIPS: Final = (
    "keys-1", "keys-2", "sensors", "acceptors", "lamps-1", "lamps-2",
    "prompt", "meter-1", "meter-2", "meter-3", "magic",
)  # fmt: skip
Spot = tuple[int, str]
T = TypeVar("T")


class Bench(VirtualDevices):
    """``table`` is the name of a reference layout; mega has every kind of device but a shuffler."""

    def __init__(self, table: str = "mega", seed: int = 1) -> None:
        super().__init__(HERE / "tables" / f"{table}.toml", seed, self._heard)
        self.acknowledges = True
        self.sampling = True
        self.states: dict[str, list[StateReported]] = {}

    def _sample(self) -> None:
        if self.sampling:
            super()._sample()

    # --- the stand-in for the core --------------------------------------------------------------

    def _heard(self, reading: Reading) -> None:
        match reading:
            case StateReported(device=device):
                self.states.setdefault(device, []).append(reading)
            case CardRead() | CardEvent() | PacketRead() if reading.key and self.acknowledges:
                self._soon(AcknowledgeReading(reading.device, reading.key))
            case CreditOffered(_, seat, number) if self.acknowledges:
                self._soon(AcknowledgeCredit(seat, number))
            case CreditTaken(_, seat, number) if self.acknowledges:
                self._soon(ReleaseCredit(seat, number))
            case _:
                pass

    def _soon(self, order: Order) -> None:
        self.clock.after(DISK_US, lambda: self.order(order))

    def set_up(self, *, cards: bool = True, sensing: bool = True) -> Bench:
        """Everything ordered and READY, cards in the device and unlocked, chips on two spots.

        Without ``sensing`` the readers rest, but for their guard: it runs twice as fast.
        """
        self.start()
        spots = frozenset(self.layout.spots if sensing else ())
        orders: list[Order] = [
            WatchAntennas(spots), LockCards(locked=False), ShowLamps(("open",) * 7),
            ShowPrompt(("BETS OPEN", "", "", "CLOSE")), ShowMeter("1,234,567.89"),
            ShowMagicCard("7h"), ShowSign(SIGN), EnableAcceptors(frozenset(range(1, 8))),
        ]  # fmt: skip
        for order in orders:
            self.order(order)
        self.lay(1, "1", 2_500)
        self.lay(5, "1", 1_000)
        self.run_for(START_US)
        if cards:
            self.load_cards()
        self.run_for(SECOND)
        assert self.not_ready() == {}, self.not_ready()
        return self

    def load_cards(self) -> None:
        if self.sim.shoe is not None:
            self.sim.shoe.load(list(FULL_DECK))
        elif self.sim.shuffler is not None:
            self.sim.shuffler.insert(1, list(FULL_DECK))
            self.run_for(SECOND)
            assert self.sim.shuffler.shuffle(list(FULL_DECK))
            while not self.sim.shuffler.ready:
                self.run_for(SECOND)

    # --- people -------------------------------------------------------------------------------

    def lay(self, seat: int, spot: str, cents: int) -> None:
        self.sim.felt.place(seat, spot, self.sim.felt.rack.pay(cents))

    def draw(self, patience_us: int = 20 * SECOND) -> int:
        """A dealer pulls until a card comes: the gate opens when all before is acknowledged."""
        assert self.sim.shoe is not None
        until = self.now_us + patience_us
        while (card := self.sim.shoe.draw()) is None:
            assert self.now_us < until, "the gate never opened"
            self.run_for(50 * MS)
        self.run_for(400 * MS)
        return card

    def packet(self, patience_us: int = 20 * SECOND) -> list[int]:
        """A dealer asks for a packet of three and takes it out of the tray."""
        shuffler = self.sim.shuffler
        assert shuffler is not None
        until = self.now_us + patience_us
        while not shuffler.dispense(3):
            assert self.now_us < until, "the gate never opened"
            self.run_for(50 * MS)
        self.run_for(2 * SECOND)
        taken = shuffler.take_packet()
        assert taken is not None
        return taken

    # --- what is known ------------------------------------------------------------------------

    def fault(self, *sentences: str) -> None:
        for sentence in sentences:
            self.faults.do(sentence)

    def state(self, device: str) -> DeviceState | None:
        said = self.states.get(device)
        return said[-1].state if said else None

    def reason(self, device: str) -> str:
        last = self.states[device][-1].reason
        return "" if last is None else last.code

    @property
    def devices(self) -> list[str]:
        return [*self.rig.lines, *(chip.name for chip in self.rig.bus.boards), "pins", "supply"]

    def not_ready(self) -> dict[str, DeviceState | None]:
        states = {device: self.state(device) for device in self.devices}
        return {device: state for device, state in states.items() if state is not READY}

    def cards(self) -> list[int]:
        """Every card reported, in order."""
        found: list[int] = []
        for reading in self.readings:
            if isinstance(reading, CardRead):
                found.append(reading.card.unseal())
            elif isinstance(reading, PacketRead):
                found += [card.unseal() for card in reading.cards]
        return found

    def keys(self) -> list[str]:
        return [r.key for r in self.readings if isinstance(r, KeyPressed)]

    def events(self, *kinds: str) -> list[CardEvent]:
        return [r for r in self.readings if isinstance(r, CardEvent) and r.kind in kinds]

    def identified(self, device: str) -> int:
        known = (r for r in self.readings if isinstance(r, DeviceIdentified))
        return sum(r.device == device for r in known)

    def credits(self) -> tuple[int, int, int]:
        """How many were offered, taken and returned."""
        kinds = Counter(type(r) for r in self.readings)
        return kinds[CreditOffered], kinds[CreditTaken], kinds[CreditReturned]

    def antenna(self, seat: int, spot: str) -> Antenna:
        return next(a for a, place in self.layout.spots.items() if place == (seat, spot))


@dataclass
class Watch:
    """What happens between two moments: who changed its state, who went on working."""

    bench: Bench
    from_us: int = 0
    _counters: dict[str, Counter[str]] = field(default_factory=dict)
    _first: int = 0

    def __post_init__(self) -> None:
        self.from_us = self.bench.now_us
        self._counters = {d: Counter(c) for d, c in self.bench.rig.counters().items()}
        self._first = len(self.bench.readings)

    @property
    def readings(self) -> list[Reading]:
        return self.bench.readings[self._first :]

    def states(self, device: str) -> list[StateReported]:
        reports = (r for r in self.readings if isinstance(r, StateReported))
        return [r for r in reports if r.device == device]

    def left_ready_after_us(self, device: str) -> int | None:
        """How long until the device was first said to be anything but READY."""
        gone = [r.at_us for r in self.states(device) if r.state is not READY]
        return gone[0] - self.from_us if gone else None

    def more(self, device: str) -> Counter[str]:
        """Counters that rose, and by how much."""
        return self.bench.rig.counters()[device] - self._counters.get(device, Counter())

    def codes(self, device: str) -> set[str]:
        return {name for name in self.more(device) if name.startswith("E-")}

    def disturbed(self, but: Iterable[str]) -> dict[str, list[StateReported]]:
        """Devices other than these that said anything of their state."""
        others = [d for d in self.bench.devices if d not in set(but)]
        return {d: said for d in others if (said := self.states(d))}

    def idle(self, but: Iterable[str]) -> list[str]:
        """Devices other than these whose counters stand still; the sign is read every 10 s only."""
        others = [d for d in self.bench.devices if d not in {*but, "sign"}]
        return [d for d in others if not self.more(d)]


def settled_wrongly(watch: Watch, truth: dict[Spot, frozenset[str]]) -> list[SpotSettled]:
    """Every settled report that shows a tag which is not there, or misses one that is."""
    places = watch.bench.layout.spots
    return [
        r
        for r in watch.readings
        if isinstance(r, SpotSettled) and r.tags != truth.get(places[r.antenna], frozenset())
    ]


def truth_of(bench: Bench) -> dict[Spot, frozenset[str]]:
    return {
        place: frozenset(chip.uid.hex().upper() for chip in stack)
        for place, stack in bench.sim.felt.spots.items()
    }


def standing(bench: Bench) -> dict[Spot, frozenset[str] | None]:
    """What each spot was last said to hold; None where it moves or is lost."""
    found: dict[Spot, frozenset[str] | None] = {}
    for reading in bench.readings:
        match reading:
            case SpotSettled(antenna, tags):
                found[bench.layout.spots[antenna]] = frozenset(tags)
            case SpotMoving(antenna) | SpotLost(antenna):
                found[bench.layout.spots[antenna]] = None
            case _:
                pass
    return found


def inventories(bench: Bench, reader: str) -> int:
    return sum(isinstance(r, AntennaRead) and r.device == reader for r in bench.readings)


# --- a table with its core -----------------------------------------------------------------------


class Played(VirtualTable):
    """A table with core and people, played line by line so that a test can look in between."""

    def __init__(self, scenario: str = "mbs3-plain", cards: str | None = None) -> None:
        self.effects: list[object] = []
        """For the link and others, and the alarms."""
        base = load(find(scenario))
        if cards is not None:
            base = replace(base, cards=tuple(card_byte(name) for name in cards.split()))
        super().__init__(base)
        self.begin()
        self.run_for(3 * SECOND)

    def do(self, *sentences: str) -> Played:
        for number, sentence in enumerate(sentences, 1):
            step = parse_step(number, sentence)
            assert step is not None, sentence
            for pause_us in self.director.do(step):
                self.run_for(pause_us)
        return self

    def _release(self, released: Released) -> None:
        self.effects += released.effects
        super()._release(released)

    @property
    def core(self) -> TableCore:
        return self.writer.core

    def facts(self) -> int:
        return self.writer.table_log.written["fact"]

    def some(self, kind: type[T]) -> list[T]:
        return [effect for effect in self.effects if isinstance(effect, kind)]

    def is_in(self, phase: Phase) -> bool:
        return self.core.state.phase is phase

    @property
    def prompt(self) -> str:
        return " / ".join(line.strip() for line in self.bench.sim.prompt())

    def nets(self) -> list[dict[int, int]]:
        return [{row["seat"]: row["net"] for row in r["seats"]} for r in self.results.values()]
