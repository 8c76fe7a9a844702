"""A table without devices, and somebody who plays it: he reads prompt and lamps, nothing else.

``Table`` feeds readings and keys in virtual time and keeps what was ordered. ``ConsolePlayer`` is a
dealer who only follows line 4; what players do and what a supervisor rules is given by the test.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import controller.table
from controller.demo.scripted_dealer import ScriptedDealer
from controller.rules.books import BOOKS
from controller.rules.cards import Card
from controller.rules.engine import facts as f
from controller.rules.engine.deal import uses_packets
from controller.rules.engine.entries import Entry, Key
from controller.rules.engine.state import Phase, TableState
from controller.table.core import TableCore
from controller.table.spots import SeatMap
from controller.table.staff import NoRegister, Staff
from controller.table.texts import parse_texts
from drivers.orders import (
    AcknowledgeCredit,
    EnableAcceptors,
    LockCards,
    Order,
    ShowLamps,
    ShowMagicCard,
    ShowMeter,
    ShowPrompt,
    SweepAntennas,
    WatchAntennas,
)
from drivers.readings import (
    Antenna,
    CardEvent,
    CardRead,
    CreditOffered,
    CreditTaken,
    KeyPressed,
    PacketRead,
    Reading,
    SealedCard,
    SpotSettled,
    SweepAgreed,
    SwitchRead,
    Uid,
)
from tests.paper import KeptLog, log_of

ENGLISH = parse_texts(
    (Path(controller.table.__file__).parent / "texts" / "en.toml").read_text("utf-8")
)
STEP_US = 500_000
OTHER = f.Declared("S2", f.Role.CASINO_SUPERVISOR)
"""Who is called when the supervisor at the table may not decide."""
SPOTS = {"ANTE": "ante", "PLAY": "play", "RF": "rapid_fire", "HB": "hedge", "6CB": "six_card"}


@dataclass(frozen=True)
class FakeChip:
    cents: int
    kind: str = "cash"
    house: str = "OURS"
    status: str = "in play"


def byte_of(card: Card) -> int:
    """A card's byte on the wire: suit and rank, the ace is 1."""
    rank, suit = divmod(card, 4)
    return suit << 4 | (1 if rank == 12 else rank + 2)


def seat_map(game: str) -> SeatMap:
    """Every seat's spots on its own multiplexer, the pot on mux 8, as the layout page has it."""
    spots = list(BOOKS[game].wagers) + (["play"] if game == "RICO" else [])
    chips: dict[str, dict[str, str]] = {"chips-1": {}, "chips-2": {}}
    for seat in range(1, 8):
        for output, spot in enumerate(spots, 1):
            reader = "chips-1" if seat <= 4 else "chips-2"
            chips[reader][f"{seat}/{output}"] = f"{seat}/{spot}"
    if game == "RICO":
        chips["chips-2"]["8/1"] = "0/pot"
    return SeatMap.from_layout(chips)


@dataclass
class Table:
    """One core with everything around it that a test needs to see."""

    state: TableState
    staff: Staff = field(default_factory=NoRegister)
    options: dict[str, Any] = field(default_factory=dict)
    register: dict[Uid, FakeChip] = field(default_factory=dict)
    table_log: KeptLog | None = None
    log: list[Order] = field(default_factory=list)
    now_us: int = 0
    sweeps: bool = True
    """The chip readers answer a sweep at once."""

    def __post_init__(self) -> None:
        game = self.state.rules.book.key
        self.map = seat_map(game)
        self.kept_log = self.table_log or log_of(self.state)
        self.core = TableCore(
            self.kept_log, self.map, self.register.get, self.staff, ENGLISH,
            house="OURS", **self.options,
        )  # fmt: skip
        self.begin()
        self._heard(self.core.orders_now())

    def begin(self) -> None:
        """Nothing lies anywhere, and no card was drawn."""
        self.lies: dict[Antenna, frozenset[Uid]] = {}
        self.key_turned = False
        self.draws = 0

    @property
    def entries(self) -> list[tuple[Entry, Key | None]]:
        return self.kept_log.entries

    @property
    def facts(self) -> list[f.What]:
        return [e.what for e, _ in self.entries if isinstance(e, f.Fact)]

    def told(self, place: int = -1) -> f.What:
        """One fact, the last one unless said otherwise."""
        return self.facts[place]

    def phase(self) -> Phase:
        return self.core.state.phase

    @property
    def said_by(self) -> list[tuple[f.What, f.Source, int]]:
        return [(e.what, e.by, e.at_ms) for e, _ in self.entries if isinstance(e, f.Fact)]

    # --- what was ordered ----------------------------------------------------------------------

    def last(self, kind: type[Any]) -> Any:
        return next(o for o in reversed(self.log) if isinstance(o, kind))

    @property
    def lines(self) -> tuple[str, str, str, str]:
        shown: ShowPrompt = self.last(ShowPrompt)
        return shown.lines

    @property
    def lamps(self) -> tuple[str, ...]:
        shown: ShowLamps = self.last(ShowLamps)
        return shown.seats

    def locked(self) -> bool:
        shown: LockCards = self.last(LockCards)
        return shown.locked

    @property
    def meter(self) -> str:
        shown: ShowMeter = self.last(ShowMeter)
        return shown.text

    def magic(self) -> str | None:
        shown: ShowMagicCard = self.last(ShowMagicCard)
        return shown.card

    @property
    def enabled(self) -> frozenset[int]:
        shown: EnableAcceptors = self.last(EnableAcceptors)
        return shown.seats

    @property
    def watched(self) -> set[tuple[int, str]]:
        shown: WatchAntennas = self.last(WatchAntennas)
        return {spot for a in shown.antennas if (spot := self.map.spot(a)) is not None}

    # --- readings ------------------------------------------------------------------------------

    def feed(self, reading: Reading) -> list[Order]:
        return self._heard(self.core.take(reading, self.now_us))

    def wait(self, us: int = STEP_US) -> list[Order]:
        self.now_us += us
        return self._heard(self.core.advance(self.now_us))

    def fact(self, what: f.What, device: str = "link") -> list[Order]:
        fact = f.Fact(what, f.Measured(device), self.now_us // 1000)
        return self._heard(self.core.fact(fact, self.now_us))

    def _heard(self, orders: list[Order]) -> list[Order]:
        self.log += orders
        for order in orders:
            if isinstance(order, SweepAntennas) and self.sweeps:
                self.answer(order)
            elif isinstance(order, AcknowledgeCredit):
                self.feed(CreditTaken("sensors", order.seat, order.number, self.now_us))
        return orders

    def answer(self, order: SweepAntennas, uncertain: tuple[Antenna, ...] = ()) -> None:
        """Each reader answers for its own antennas."""
        for reader in sorted({a.reader for a in order.antennas}):
            mine = [a for a in sorted(order.antennas) if a.reader == reader]
            tags = tuple((a, self.lies.get(a, frozenset())) for a in mine if a not in uncertain)
            doubt = tuple(a for a in mine if a in uncertain)
            self.feed(SweepAgreed(order.number, tags, doubt, self.now_us))

    def press(self, *keys: str) -> list[Order]:
        found: list[Order] = []
        for key in keys:
            self.now_us += STEP_US
            found += self.feed(KeyPressed("keys", key, self.now_us))
        return found

    def menu(self, code: str, *arguments: object) -> list[Order]:
        keys = ["MENU", *code]
        for argument in arguments:
            keys += [*str(argument), "ENTER"]
        return self.press(*keys)

    def turn_key(self, turned: bool) -> None:
        self.key_turned = turned
        self.feed(SwitchRead("pins", "supervisor_key", turned, self.now_us))

    def as_supervisor(self, code: str, *arguments: object) -> None:
        self.turn_key(True)
        self.menu(code, *arguments)
        self.turn_key(False)

    def antenna(self, seat: int, spot: str) -> Antenna:
        found = self.map.antenna((seat, spot))
        assert found is not None
        return found

    def tag(self, chip: FakeChip) -> Uid:
        uid = Uid(f"E0040100{len(self.register):08X}")
        self.register[uid] = chip
        return uid

    def put(self, seat: int, spot: str, cents: int) -> None:
        """One chip of this value lies there, or none."""
        tags = frozenset((self.tag(FakeChip(cents)),) if cents else ())
        self.lay(seat, spot, tags)

    def lay(self, seat: int, spot: str, tags: frozenset[Uid]) -> None:
        antenna = self.antenna(seat, spot)
        if self.lies.get(antenna, frozenset()) != tags:
            self.lies[antenna] = tags
            self.feed(SpotSettled(antenna, tags, self.now_us))

    def cents(self, seat: int, spot: str) -> int:
        return sum(self.register[t].cents for t in self.lies.get(self.antenna(seat, spot), ()))

    def card(self, card: Card, key: int = 0) -> list[Order]:
        self.draws += 1
        sealed = SealedCard(byte_of(card))
        return self.feed(CardRead("shoe", self.draws, sealed, self.now_us, key))

    def packet(self, cards: list[Card], deck: str = "red") -> list[Order]:
        self.draws += 1
        sealed = tuple(SealedCard(byte_of(c)) for c in cards)
        return self.feed(PacketRead("shuffler", self.draws, deck, sealed, self.now_us))

    def event(self, kind: Any, **more: Any) -> list[Order]:
        return self.feed(CardEvent("shuffler", kind, 1, at_us=self.now_us, **more))

    def credit(self, seat: int, number: int) -> list[Order]:
        return self.feed(CreditOffered("sensors", seat, number, self.now_us))


Wagers = Mapping[int, Mapping[str, int]]
Rules = Mapping[str, Callable[[int], tuple[object, ...]]]


@dataclass
class ConsolePlayer:
    """A dealer who does what line 4 says, the first word that can be done."""

    table: Table
    deck: list[Card]
    """Cards to come, the next one last."""
    wagers: Wagers
    back: Callable[[int, int], bool] = lambda _seat, _decision: False
    plays: Callable[[int], bool] = lambda _seat: True
    rules: Mapping[str, Callable[[int], tuple[object, ...]]] = field(default_factory=dict)
    """What people type after a menu code, by the seat whose lamp or prompt asks."""
    packet: int = 3
    last_packet: int = 3
    seen: list[tuple[str, str, str, str]] = field(default_factory=list)
    placed: bool = False
    middle_open: bool = False

    @property
    def words(self) -> list[str]:
        """Line 4 as its words, a menu code with its ``MENU``."""
        words = self.table.lines[3].split()
        found: list[str] = []
        while words:
            word = words.pop(0)
            found.append(f"{word} {words.pop(0)}" if word == "MENU" else word)
        return found

    @property
    def seat(self) -> int:
        """The seat that line 2 names, and its lamp must not be dark then."""
        words = self.table.lines[1].split()
        if words[:1] != ["SEAT"]:
            return 0
        return int(words[1])

    @property
    def amount(self) -> int:
        return int(self.table.lines[1].split()[-1].replace(",", "").replace(".", ""))

    def play(self, most: int = 400) -> None:
        """Follow line 4 until the bets could be opened again."""
        opened = self.placed
        for _ in range(most):
            self.seen.append(self.table.lines)
            word = self.words[0]
            if opened and self.table.phase() is Phase.IDLE:
                return
            opened = opened or self.placed
            self.do(word)
        raise AssertionError(f"no end after {most} steps: {self.seen[-6:]}")

    def do(self, word: str) -> None:
        table = self.table
        match word:
            case "RIDE":
                decision = int(table.lines[2][0])
                assert table.lamps[self.seat - 1] == "your turn"
                table.press("BACK" if self.back(self.seat, decision) else "RIDE")
            case "PLAY":
                table.press("PLAY" if self.plays(self.seat) else "FOLD")
            case "DEAL":
                self.deal()
            case "CHIPS":
                self.chips()
            case "WAIT":
                self.bet() if not self.placed else table.wait()
            case "KEY":
                table.turn_key(True)
                self.do(self.words[0])
                table.turn_key(False)
            case "SHUFFLE":
                table.event("shuffle ended", count=52, expected=52, result="ok", deck="red")
            case "PAID":
                seat = self.seat
                table.press("PAID")
                self.clear(seat)
            case _ if word.startswith("MENU"):
                self.menu(word.split()[1])
            case _:
                table.press(word)

    def menu(self, code: str) -> None:
        if code == "36" and not uses_packets(self.table.state.rules):
            self.table.feed(CardEvent("shoe", "loaded", 1))
        plain: dict[str, tuple[object, ...]] = {"31": (1,), "36": (1,), "62": (self.seat,)}
        arguments = self.rules[code](self.seat) if code in self.rules else plain.get(code, ())
        self.table.menu(code, *arguments)
        if self.table.lines[2] == "OTHER SUPERVISOR":
            home, self.table.core.positions.supervisor = self.table.core.positions.supervisor, OTHER
            self.table.menu(code, *arguments)
            self.table.core.positions.supervisor = home
        self.middle_open |= code == "25"

    def bet(self) -> None:
        self.placed = True
        for seat, placed in self.wagers.items():
            for spot, cents in placed.items():
                if spot == "progressive":
                    self.progressive(seat, cents)
                else:
                    self.table.put(seat, spot, cents)

    def progressive(self, seat: int, cents: int) -> None:
        if self.table.state.rules.book.acceptor_after_base:
            for number in range(1, cents // 100 + 1):
                assert seat in self.table.enabled
                self.table.credit(seat, number)
        else:
            name = f"progressive seat {seat}"
            self.table.feed(SwitchRead("sensors", name, True, self.table.now_us))

    def deal(self) -> None:
        assert not self.table.locked()
        self.table.now_us += STEP_US
        if self.table.state.rules.table.card_device == "shoe":
            self.table.card(self.deck.pop())
            return
        size = self.last_packet if self.table.lines[2] == "NEXT: DEALER" else self.packet
        self.table.packet([self.deck.pop() for _ in range(size)])

    def chips(self) -> None:
        """Put chips right as line 2 and 3 say."""
        table, seat = self.table, self.seat
        words, question = table.lines[1].split(), table.lines[2]
        if table.lines[1].startswith("POT"):
            table.put(0, "pot", 0 if question.startswith("POT TO") else self.amount)
            return
        if question.startswith(("GIVE BACK", "COLLECT")):
            table.put(seat, SPOTS.get(words[2], words[2]), 0)
            return
        if words[2:3] == ["PLAY"]:
            if self.plays(seat):
                table.put(seat, "play", self.amount)
            else:
                table.press("FOLD")
            return
        self.do(self.words[1])

    def clear(self, seat: int) -> None:
        """Paid and collected: the seat's chips leave, but the 6 Card Bonus waits for its card."""
        stays = ("progressive",) if self.middle_open else ("progressive", "six_card")
        for spot in self.table.state.rules.book.wagers:
            if spot not in stays:
                self.table.put(seat, spot, 0)


def console_player(croupier: ScriptedDealer, wagers: Wagers, **more: Any) -> ConsolePlayer:
    """The croupier's table and deck in a finger's hands."""
    return ConsolePlayer(Table(croupier.state), list(croupier.deck), wagers, **more)


def nets(table: Table) -> dict[int, int]:
    """What the seats won or lost in the round just closed."""
    result = table.core.state.history[-1].result
    return {row["seat"]: row["net"] for row in result["seats"]}
