"""A whole table in virtual time that tells everything that leaves it, and its twins.

Chance, keys and clock are fixed. Two seals: the real one, whose payloads differ with the card; and
a blind one, whose payloads are chance alone and the same in every twin. With the blind seal nothing
at all may differ, not even a hash over what is sealed: whatever is outside depends on a hidden card
through the seal or not at all.
"""

from __future__ import annotations

import gc
import hashlib
import random
import re
import secrets
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import _lru_cache_wrapper
from typing import Any, BinaryIO, Final, cast, get_args
from unittest.mock import patch

from nacl.secret import SecretBox

from controller.daemon.following import Following
from controller.daemon.frames import Frames
from controller.daemon.logbook import LogKeeper
from controller.daemon.metrics import Process, metrics
from controller.daemon.pulse import status_line
from controller.daemon.setup import TableSetup
from controller.daemon.writer import Input, Released
from controller.deckwatch import statistics
from controller.faults.catalogue import said
from controller.faults.status import Status
from controller.history.codec import codec
from controller.history.framelog import FrameLog
from controller.history.sealing import (
    BOX_BYTES,
    BOX_NONCE_BYTES,
    COMMIT_BYTES,
    NONCE_BYTES,
    CardSealer,
    Sealed,
    TableKey,
    seal_frame,
)
from controller.history.sealing import Random as RandomBytes
from controller.rules import events as ev
from controller.rules import outcome
from controller.rules.cards import Card, HiddenCard
from controller.rules.engine import facts as f
from controller.rules.engine.entries import NoFact
from controller.rules.engine.state import TableState
from controller.shell.desk.decoding import decoded
from controller.shell.desk.recent import Direction, Recent
from controller.shell.desk.table_views import lying, public_in, waits
from drivers.base import BusOp
from drivers.readings import AntennaFailed, AntennaRead
from hw_sim.clock import SECOND
from hw_sim.following import Following as SimFollowing
from hw_sim.people.bots import Bots
from hw_sim.people.dealer import FULL_DECK
from hw_sim.scenario import Scenario, Step, card_byte, card_name, find, load, parse_step
from record.kit.feed import Feed
from tests.hidden.outside import Outside, WatchedDisk, WatchedFile, told, watched_process
from tests.sim.devices import VirtualDevices
from tests.sim.table import KEY, VirtualTable

SEATS: Final = 7
SIM_FEED: Final = "51" * 8
RESIDENT_BYTES: Final = 50_000_000
BESIDE: Final[Status] = {"table": "t", "overflows": 0, "frames_lost": 0, "disk": {"free_bytes": 0}}
"""What the command adds to a status."""
LOG_BYTES: Final = 64 << 10
"""Small files, so that the frame log turns over within a round."""
ENTRIES: Final = (
    *f.What.__subclasses__(), *get_args(ev.Event), *get_args(NoFact),
)  # fmt: skip
CACHED: Final = tuple(
    one
    for module in (outcome, statistics)
    for one in vars(module).values()
    if isinstance(one, _lru_cache_wrapper)
)
MISREAD: Final = re.compile(r"(supervisor menu 51 5 )(\d\d)(\d)")


class Noise:
    """Chance from a seed; how much of it is asked for is seen outside."""

    def __init__(self, seed: str, outside: Outside) -> None:
        self._seed, self._outside, self._asked = seed, outside, 0

    def __call__(self, size: int | None = None) -> bytes:
        size = 32 if size is None else size
        self._asked += 1
        self._outside.note("chance", self._seed, size)
        return hashlib.shake_256(f"{self._seed} {self._asked}".encode()).digest(size)


@dataclass(frozen=True, slots=True)
class BlindSealer(CardSealer):
    """Seals nothing: payloads of the right size from chance, cards kept in the test's memory."""

    kept: dict[bytes, tuple[Card, bytes]] = field(default_factory=dict)

    def seal(self, hidden: HiddenCard, seq: int, index: int) -> Sealed:
        nonce = self.random(NONCE_BYTES)
        box_nonce = self.random(BOX_NONCE_BYTES)
        place = b"%d %d" % (seq, index)
        more = hashlib.shake_256(nonce + box_nonce + place).digest(COMMIT_BYTES + BOX_BYTES)
        sealed = Sealed(more[:COMMIT_BYTES], more[COMMIT_BYTES:])
        self.kept[sealed.box] = (hidden._card, nonce)
        return sealed

    def open(self, sealed: Sealed, seq: int, index: int) -> tuple[HiddenCard, bytes]:  # noqa: ARG002
        card, nonce = self.kept[sealed.box]
        return HiddenCard(card), nonce


def blind_frame(key: bytes, data: bytes, random: Callable[[int], bytes]) -> bytes:
    size = BOX_NONCE_BYTES + SecretBox.MACBYTES + len(data)
    return hashlib.shake_256(key + random(BOX_NONCE_BYTES)).digest(size)


class WatchedDevices(VirtualDevices):
    """Everything that leaves the computer towards the devices is noted."""

    outside: Outside
    card_lines: frozenset[str]

    def received(self, port: str, data: bytes) -> None:
        if port in self.card_lines:
            with self.outside.counted(f"{port} heard"):
                super().received(port, data)
        else:
            super().received(port, data)

    def _write(self, port: str, data: bytes) -> None:
        self.outside.note("line", port, data)
        super()._write(port, data)

    def batch(self, address: int, ops: tuple[BusOp, ...]) -> None:
        self.outside.note("bus", address, repr(ops))
        super().batch(address, ops)

    def _open(self, port: str) -> None:
        self.outside.note("port", "open", port)
        super()._open(port)

    def _close(self, port: str) -> None:
        self.outside.note("port", "close", port)
        super()._close(port)


def seen(state: TableState) -> frozenset[Card]:
    """The cards of this round that anybody at the table has seen."""
    cards = [c for seat in state.seats.values() for c in seat.opened or ()]
    cards += [c for held in state.face_up.values() for c in held]
    cards += [*state.turned, *(() if state.bonus is None else (state.bonus,))]
    return frozenset(cards)


@dataclass
class OpenTable(VirtualTable):
    """``moments``: row number and cards, each time when cards became public."""

    blind: bool = True
    most_rows: int = 0
    """Stop when so many rows are there; 0 for never."""
    outside: Outside = field(default_factory=Outside)
    moments: list[tuple[int, frozenset[Card]]] = field(default_factory=list)
    dealt: int = 0
    """The most cards that were out in a round."""
    keep_at: int = -1
    """Keep the files as they are when this row is next and a group begins."""
    kept: dict[str, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._kept: dict[bytes, tuple[Card, bytes]] = {}
        self._known: set[Card] = set()
        self.recent = Recent()
        self._asked: tuple[object, ...] = ()
        self._followed: Feed | None = None
        self.disk = WatchedDisk(self.outside)
        super().__post_init__()
        self._simulated = SimFollowing(self.bench.sim, Bots(SEATS, on=True), SIM_FEED)
        self._sim_has = ("", 0)
        self._log = LogKeeper(self._told_status, lambda: self.bench.now_us)
        self._write_away()
        self._look_for_log()

    @property
    def never_seen(self) -> int:
        """Dealt cards that stayed closed to the end."""
        return self.dealt - len(self._known)

    def _follow(self, released: Released) -> Iterator[str]:
        """What one gets who follows from the beginning, and one who comes only now."""
        if self._followed is not self.table.feed:
            self._followed = self.table.feed
            whole: Status = {**BESIDE, "troubles": [], "link": None}
            self._following = Following(
                self._followed, {"table": "t"}, lambda: {**self.writer.status(), **whole},
                self.table.clock,
            )  # fmt: skip
            self._has = ("", 0)
        self._following.released(released)
        self._following.asked()
        news = self._following.reply(*self._has)
        if (news["feed"], news["n"]) != self._has:
            self._has = (news["feed"], news["n"])
            yield told(news)
            yield told(self._following.reply("", 0)["parts"])

    def _follow_simulator(self) -> Iterator[str]:
        """What one gets who follows the simulator from the beginning."""
        one = self._simulated
        one.look()
        if (one.feed, one.n) != self._sim_has:
            news = one.reply(*self._sim_has)
            self._sim_has = (one.feed, one.n)
            yield told(news)

    def _told_status(self) -> Status:
        return {**self.writer.status(), **BESIDE}

    def _write_away(self) -> None:
        """What the frame log's thread does once a second."""
        self._frames.write_away()
        self.bench.clock.after(SECOND, self._write_away)

    def _look_for_log(self) -> None:
        """What the log's keeper does once a second."""
        if self._up:
            self._log.look()
        self.bench.clock.after(SECOND, self._look_for_log)

    def _log_file(self, number: int) -> BinaryIO:
        return cast(BinaryIO, WatchedFile(self.outside, number))

    def _log_gone(self, number: int) -> None:
        self.outside.note("frame log", "remove", number)

    def _devices(self) -> VirtualDevices:
        scenario = self.scenario
        made = WatchedDevices(scenario.layout_path, scenario.seed, self._reading, self._frame)
        line = made.sim.layout.line_of_kind("cdp-shoe", "cdp-shuffler")
        made.outside, made.card_lines = self.outside, frozenset({line.name} if line else ())
        log = FrameLog(
            self._log_file, self._log_gone, KEY, Noise("frames", self.outside),
            sealed=made.card_lines, max_bytes=LOG_BYTES, keep=3,
        )  # fmt: skip
        self._frames = Frames(log)
        return made

    def _setup(self) -> TableSetup:
        return replace(super()._setup(), sealer=self._sealer)

    def _sealer(self, key: TableKey, journal_id: str, _random: RandomBytes) -> CardSealer:
        """Its own chance: how much of it is used is seen outside."""
        noise = Noise(f"cards {self.starts}", self.outside)
        if self.blind:
            return BlindSealer(key, journal_id, noise, self._kept)
        return CardSealer(key, journal_id, noise)

    def _frame(self, port: str, direction: Direction, data: bytes, at_us: int) -> None:
        self._frames.note(port, direction, data, at_us)
        super()._frame(port, direction, data, at_us)

    def play_watched(self) -> None:
        noise = Noise("journal", self.outside)
        seal = blind_frame if self.blind else seal_frame
        with (
            patch.object(secrets, "token_bytes", noise),
            patch("controller.history.framelog.seal_frame", seal),
            undisturbed(),
            watched_process(self.outside),
        ):
            self._play()

    def _play(self) -> None:
        self.play(until=self._has_rows)
        if not self._has_rows():
            self._stopped_and_started()

    def _has_rows(self) -> bool:
        return bool(self.most_rows) and len(self.outside.rows) >= self.most_rows

    def _step(self, due_us: int) -> None:
        self.outside.now_us = due_us
        super()._step(due_us)

    def _stopped_and_started(self) -> None:
        """The deck watch is saved, and the next start writes the whole table down."""
        if self._up:
            self.writer.stop("the end")
            self.journal.close()
            self._boot()

    def _put(self, one: Input) -> None:
        if isinstance(one, AntennaRead | AntennaFailed):
            return  # as the runtime does
        row = len(self.outside.rows)
        if row == self.keep_at:
            self.kept = {name: bytes(one.seen) for name, one in self.disk.names_seen.items()}
        self.outside.note("group", type(one).__name__)
        with self.outside.counted("group"):
            super()._put(one)
        state = self.writer.core.state
        self.dealt = max(self.dealt, len(state.drawn))
        if self._asked != (asked := (state.phase, len(state.drawn), len(state.turned))):
            self._asked = asked
            with self.outside.counted("shell"):
                self.outside.note("shell", told(shell_answers(self)))
        if news := seen(state) - self._known:
            self._known |= news
            self.moments.append((row, news))

    def _release(self, released: Released) -> None:
        note, status = self.outside.note, released.status
        note("orders", repr(released.orders))
        note("effects", repr(released.effects))
        note("wake", released.wake_us)
        note("status", told(status))
        note("metrics", metrics({**status, **BESIDE}, Process(RESIDENT_BYTES)))
        note("counters", told(self.bench.rig.counters()))
        note("notify", status_line(status))
        for name in self._follow(released):
            note("changes", name)
        for answer in self._follow_simulator():
            note("simulator", answer)
        super()._release(released)
        self._log.released(released)


def shell_answers(table: OpenTable) -> list[Any]:
    """What a technician can see at this moment: why, chips, frames of the card device, readings."""
    writer, recent = table.writer, table.recent
    assert recent is not None
    answers: list[Any] = [waits(writer), *(lying(writer, seat) for seat in range(8))]
    opened = Counter(writer.table_log.memory.opened)
    for line in table.bench.layout.lines:
        if line.kind.startswith("cdp-"):
            is_public = public_in(tuple(recent.dealt), line.name, opened)
            answers.append(decoded(line.kind, recent.pieces(line.name), is_public))
    return [*answers, recent.after(max(0, recent.last - 50))]


@contextmanager
def undisturbed() -> Iterator[None]:
    """Every run begins with the same caches, and nothing of an earlier one ends in it: else the
    counts of calls would differ without any card."""
    said("E-TBL-001")
    for kind in ENTRIES:
        codec(kind)
    for cached in CACHED:
        cached.cache_clear()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


# --- scenarios with other cards ----------------------------------------------------------------


def whole_deck(name: str) -> Scenario:
    """The scenario with every card of the deck in its place, so that a twin can change any."""
    scenario = load(find(name))
    lost = [card_byte(w) for s in scenario.steps if s.verb == "loses" for w in s.words[0].split()]
    rest = [c for c in FULL_DECK if c not in scenario.cards and c not in lost]
    random.Random(f"deck of {name}").shuffle(rest)
    return replace(scenario, cards=(*scenario.cards, *rest))


def twin_of(scenario: Scenario, fixed: frozenset[Card], seed: int = 1) -> Scenario:
    """Every card but the fixed ones is another one, wherever the people name it."""
    still = {code_of(card) for card in fixed}
    moved = [code for code in FULL_DECK if code not in still]
    random.Random(f"twin {seed}").shuffle(moved)
    other = dict(zip(moved, [*moved[1:], *moved[:1]], strict=True))
    steps = steps_of(_renamed(step.text, step.verb, other) for step in scenario.steps)
    return replace(scenario, cards=tuple(other.get(c, c) for c in scenario.cards), steps=steps)


def steps_of(lines: Iterable[str]) -> tuple[Step, ...]:
    steps = [parse_step(number, line) for number, line in enumerate(lines, 1)]
    found = tuple(step for step in steps if step is not None)
    assert len(found) == len(steps)
    return found


def _renamed(text: str, verb: str, other: dict[int, int]) -> str:
    if verb in ("deck", "loses"):
        head, *words = text.split()
        if verb == "loses":
            head, words = f"{head} {words[0]}", words[1:]
        return " ".join((head, *(_other_name(word, other) for word in words)))
    return MISREAD.sub(lambda found: found[1] + _other_digits(found[2], found[3], other), text)


def _other_name(word: str, other: dict[int, int]) -> str:
    code = card_byte(word)
    return card_name(other.get(code, code)) if code in FULL_DECK else word


def _other_digits(rank: str, suit: str, other: dict[int, int]) -> str:
    code = int(suit) - 1 << 4 | int(rank)
    code = other.get(code, code)
    return f"{code & 15:02}{(code >> 4) + 1}"


def code_of(card: Card) -> int:
    """The card byte of docs/protocols/card-devices.md."""
    rank, suit = divmod(card, 4)
    return suit << 4 | (1 if rank == 12 else rank + 2)
