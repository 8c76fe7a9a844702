"""The worked example of docs/protocols/vendor-drivers.md, tested like a driver of our own.

The shoe here is written from the description at the head of the example alone. Whatever happens to
shoe, line, driver and table, every card that leaves is told once, in order, or its loss is.
"""

from __future__ import annotations

import random
import sys
import tomllib
from collections import deque
from collections.abc import Iterator, Sequence
from importlib import import_module, invalidate_caches
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers.base import MS, DeviceState, Reopen, StateReported, Write
from drivers.build import GROUP, build, vendor_kinds
from drivers.contained import Contained
from drivers.layout import OUR_KINDS, LineLayout, load
from drivers.orders import AcknowledgeReading, LockCards
from drivers.readings import CardEvent, CardRead, SealedCard
from drivers.rig import ToLine

EXAMPLE = Path(__file__).resolve().parents[2] / "docs" / "examples" / "acme-shoe"
LAYOUT = """
[table]
name = "vendor"
[[line]]
name = "shoe"
kind = "acme-shoe"
port = "/dev/underfelt/shoe"
serial = "A-1007"
"""
LINE = LineLayout("shoe", "acme-shoe", "/dev/underfelt/shoe", "A-1007")
ID = b"ID A-1007 2.1 00000 000*4A\n"


@pytest.fixture(scope="module")
def acme(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The example as pip would install it: the module, and metadata with its entry points."""
    site = tmp_path_factory.mktemp("site")
    project = tomllib.loads((EXAMPLE / "pyproject.toml").read_text("utf-8"))["project"]
    metadata = site / "acme_shoe-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-shoe\nVersion: 1.0\n")
    points = project["entry-points"][GROUP]
    lines = [f"[{GROUP}]", *(f"{name} = {where}" for name, where in points.items())]
    (metadata / "entry_points.txt").write_text("\n".join(lines))
    (site / "acme_shoe.py").write_bytes((EXAMPLE / "acme_shoe.py").read_bytes())
    sys.path.insert(0, str(site))
    invalidate_caches()
    yield import_module("acme_shoe")
    sys.path.remove(str(site))


def line_of(text: str) -> bytes:
    check = 0
    for byte in text.encode():
        check ^= byte
    return f"{text}*{check:02X}\n".encode()


def ready(acme: Any) -> Any:
    shoe = acme.AcmeShoeDriver("shoe", "A-1007")
    assert shoe.opened(0) == [Write(b"ID?*32\n")]
    told = shoe.received(ID, 10 * MS)
    assert StateReported("shoe", DeviceState.READY, None, 10 * MS) in told
    return shoe


def test_the_entry_point_makes_a_rig(acme: Any, tmp_path: Path) -> None:
    (tmp_path / "layout.toml").write_text(LAYOUT)
    vendors = vendor_kinds()
    layout = load(tmp_path / "layout.toml", OUR_KINDS | vendors.keys())
    rig = build(layout, vendors)
    assert rig.lines["shoe"].settings == acme.AcmeShoeDriver.settings
    assert rig.line_opened("shoe", 0) == [ToLine("shoe", b"ID?*32\n")]


def test_a_card_is_reported_once_and_acknowledged_when_it_is_on_disk(acme: Any) -> None:
    shoe = ready(acme)
    shoe.received(line_of("LOAD 00001"), 15 * MS)
    card = CardRead("shoe", 1, SealedCard(0x2A), 20 * MS, key=1002)
    assert shoe.received(b"CARD 00001 001 TH*28\n", 20 * MS) == [card]
    assert shoe.received(b"CARD 00001 001 TH*28\n", 30 * MS) == []
    durable = AcknowledgeReading("shoe", 1002)
    assert shoe.order(durable, 40 * MS) == [Write(b"OK 00001 001*04\n")]
    assert shoe.received(b"CARD 00001 001 TH*28\n", 50 * MS) == [Write(b"OK 00001 001*04\n")]


def test_another_shoe_is_locked_and_its_cards_do_not_count(acme: Any) -> None:
    shoe = acme.AcmeShoeDriver("shoe", "B-2")
    shoe.opened(0)
    (told,) = shoe.received(ID, 10 * MS)
    assert told.state is DeviceState.LOCKED
    assert shoe.received(line_of("CARD 00001 001 TH"), 20 * MS) == []


def test_silence_is_unknown_within_a_second_and_then_the_line_is_reopened(acme: Any) -> None:
    shoe = ready(acme)
    told: list[tuple[int, object]] = []
    while shoe.wake_us < 4_000 * MS:
        now_us = shoe.wake_us
        told += [(now_us, action) for action in shoe.advance(now_us)]
    unknown = [at for at, a in told if isinstance(a, StateReported)]
    assert len(unknown) == 1
    assert unknown[0] - 10 * MS <= 1_000 * MS
    assert any(isinstance(action, Reopen) for _, action in told)


@given(st.lists(st.binary(max_size=100), max_size=10))
def test_no_bytes_raise_or_grow_the_buffer(acme: Any, pieces: list[bytes]) -> None:
    shoe = ready(acme)
    for piece in pieces:
        for action in shoe.received(piece, 20 * MS):
            assert isinstance(action, StateReported | CardRead | CardEvent | Write)
    assert len(shoe._buffer) <= acme.LONGEST_LINE


# --- a whole shoe ------------------------------------------------------------------------------


class Shoe:
    """The device. ``load`` and the last acknowledged card survive a loss of power."""

    def __init__(self) -> None:
        self.load_no = self.card_no = 0
        self.heard = (0, 0)
        self.waiting: deque[str] = deque()
        self.locked = True
        self.left: list[str] = []
        """Every card that came out, in order."""

    def loads(self) -> None:
        self.load_no, self.card_no = self.load_no + 1, 0
        self.waiting.append(f"LOAD {self.load_no:05d}")

    def draws(self, card: str) -> None:
        if self.locked or self.waiting or not self.load_no:
            return
        self.card_no += 1
        self.left.append(card)
        self.waiting.append(f"CARD {self.load_no:05d} {self.card_no:03d} {card}")

    def loses_power(self) -> None:
        self.locked = True

    def forgets(self, count: int) -> None:
        """Cards go out and nothing is said of them: a broken shoe."""
        self.card_no += count
        self.heard = (self.load_no, self.card_no)

    def hears(self, text: str) -> list[str]:
        match text.split():
            case ["ID?"]:
                return [f"ID A-1007 2.1 {self.heard[0]:05d} {self.heard[1]:03d}"]
            case ["LOCK", on]:
                self.locked = on == "1"
            case ["OK", load, number] if self.waiting:
                first = self.waiting[0].split()
                card = first[2] if first[0] == "CARD" else "000"
                if (first[1], card) == (load, number):
                    self.waiting.popleft()
                    self.heard = (int(load), int(number))
        return []

    def says(self) -> list[str]:
        return list(self.waiting)[:1]


class Table:
    """Driver and core around a shoe, on a line that can lose lines; virtual time."""

    def __init__(self, acme: Any) -> None:
        self.acme = acme
        self.shoe = Shoe()
        self.now_us = 0
        self.lossy = random.Random(1)
        self.loss = 0.0
        self.last_key = 0
        self.told: list[object] = []
        """As the table takes it: what has the last key again is only acknowledged."""
        self.restart()

    def restart(self) -> None:
        """The daemon starts again: a driver that knows nothing."""
        self.driver = Contained(LINE, lambda: self.acme.make)
        self._do(self.driver.opened(self.now_us))
        self._do(self.driver.order(LockCards(locked=False), self.now_us))

    def lock(self, *, locked: bool) -> None:
        self._do(self.driver.order(LockCards(locked=locked), self.now_us))

    def run(self, steps: int = 12) -> None:
        for _ in range(steps):
            self.now_us += 100 * MS
            for text in self.shoe.says():
                self._to_host(text)
            if self.driver.wake_us is not None and self.driver.wake_us <= self.now_us:
                self._do(self.driver.advance(self.now_us))

    def draw(self, *cards: str) -> None:
        for card in cards:
            self.shoe.draws(card)
            self.run()

    def _to_host(self, text: str) -> None:
        if self.lossy.random() >= self.loss:
            self._do(self.driver.received(line_of(text), self.now_us))

    def _do(self, actions: Sequence[object]) -> None:
        for action in actions:
            match action:
                case Write(data):
                    text = data.decode().rpartition("*")[0]
                    if self.lossy.random() >= self.loss:
                        for answer in self.shoe.hears(text):
                            self._to_host(answer)
                case CardRead(key=key) | CardEvent(key=key) if key:
                    if key != self.last_key:
                        self.told.append(action)
                    self.last_key = key
                    self._do(self.driver.order(AcknowledgeReading("shoe", key), self.now_us))
                case CardRead() | CardEvent():
                    self.told.append(action)
                case _:
                    pass

    @property
    def cards(self) -> list[str]:
        codes = [r.card.unseal() for r in self.told if isinstance(r, CardRead)]
        return ["A23456789TJQK"[(c & 15) - 1] + "CDHS"[c >> 4] for c in codes]

    def events(self) -> list[tuple[str, int, int]]:
        found = [r for r in self.told if isinstance(r, CardEvent)]
        return [(r.kind, r.number, r.count) for r in found]


@pytest.fixture
def table(acme: Any) -> Table:
    made = Table(acme)
    made.run()
    made.shoe.loads()
    made.run()
    return made


FIVE = ("2C", "3C", "4C", "5C", "6C")


def test_no_card_is_lost_after_a_reload(table: Table) -> None:
    table.draw(*FIVE)
    table.shoe.loads()
    table.run()
    table.draw("7H", "8H", "9H", "TH", "JH", "QH")
    assert table.cards == table.shoe.left == [*FIVE, "7H", "8H", "9H", "TH", "JH", "QH"]
    assert table.events() == [("loaded", 1, 0), ("loaded", 2, 0)]


def test_the_table_restarts_in_the_middle_of_a_deck(table: Table) -> None:
    table.draw(*FIVE)
    table.restart()
    table.run()
    table.draw("7H", "8H")
    assert table.cards == [*FIVE, "7H", "8H"]
    assert table.events() == [("loaded", 1, 0)]


def test_a_card_that_left_while_the_table_was_off_is_told_after_its_start(table: Table) -> None:
    table.draw("2C")
    table.shoe.draws("3C")
    table.restart()
    table.run()
    assert table.cards == ["2C", "3C"]


def test_a_gap_is_told_with_its_place_and_size(table: Table) -> None:
    table.draw("2C", "3C")
    table.shoe.forgets(2)
    table.run()
    table.draw("6C")
    assert table.events()[1:] == [("gap", 3, 2)]
    assert table.cards == ["2C", "3C", "6C"]


def test_a_shoe_that_counts_anew_is_told(table: Table) -> None:
    table.draw(*FIVE)
    table.shoe.heard, table.shoe.card_no = (1, 1), 1
    table.run()
    assert table.events()[1:] == [("new epoch", 1, 0)]


def test_a_cut_card_and_a_card_that_cannot_be_read(table: Table) -> None:
    table.draw("CC", "??", "2C")
    assert table.events()[1:] == [("cut card", 1, 0), ("misread", 2, 0)]
    assert table.cards == ["2C"]


def test_a_locked_shoe_gives_no_card_and_obeys_again_after_a_loss_of_power(table: Table) -> None:
    table.lock(locked=True)
    table.draw("2C")
    assert table.shoe.left == []
    table.lock(locked=False)
    table.draw("2C")
    table.shoe.loses_power()
    table.shoe.draws("3C")
    table.run()
    table.shoe.draws("4C")
    table.run()
    assert table.cards == table.shoe.left == ["2C", "4C"]


STEPS = ("draw", "draw", "draw", "load", "restart", "power", "lock", "unlock", "wait", "close")


@given(st.lists(st.sampled_from(STEPS), max_size=25), st.integers(0, 1_000), st.booleans())
def test_whatever_happens_every_card_is_told_once_and_in_order(
    acme: Any, steps: list[str], seed: int, lossy: bool
) -> None:
    table = Table(acme)
    table.lossy, table.loss = random.Random(seed), 0.4 if lossy else 0.0
    deck = [rank + suit for suit in "CDHS" for rank in "A23456789TJQK"]
    table.run()
    table.shoe.loads()
    for number, step in enumerate(steps):
        match step:
            case "draw":
                table.shoe.draws(deck[number])
            case "load":
                table.shoe.loads()
            case "restart":
                table.restart()
            case "power":
                table.shoe.loses_power()
            case "lock" | "unlock":
                table.lock(locked=step == "lock")
            case "close":
                table._do(table.driver.closed("unplugged", table.now_us))
                table._do(table.driver.opened(table.now_us))
            case _:
                table.run(40)
        table.run(number % 3)
    table.loss = 0.0
    table.run(60)
    assert table.cards == table.shoe.left
    assert {kind for kind, *_ in table.events()} <= {"loaded"}
    assert len([e for e in table.events() if e[0] == "loaded"]) == table.shoe.load_no
