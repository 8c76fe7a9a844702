"""An order reaches the devices that it concerns and no other."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from drivers.build import build
from drivers.layout import OUR_KINDS, LineLayout, load
from drivers.machines import LineDriver
from drivers.orders import (
    EVERY,
    SEATS,
    AcknowledgeCredit,
    AcknowledgeReading,
    EnableAcceptors,
    Lamp,
    LockCards,
    Order,
    ReleaseCredit,
    RequestDeckCheck,
    ShowLamps,
    ShowMagicCard,
    ShowMeter,
    ShowPrompt,
    ShowSign,
    SweepAntennas,
    WatchAntennas,
)
from drivers.readings import Antenna
from drivers.rig import Rig
from hw_sim.scenario import HERE

ONE = frozenset((Antenna("chips-1", 1, 1),))
OFF: Lamp = "off"
CONCERNED: list[tuple[Order, str]] = [
    (LockCards(locked=True), "shuffler"),
    (RequestDeckCheck("red"), "shuffler"),
    (AcknowledgeReading("shuffler", 7), "shuffler"),
    (ShowSign("1,000.00"), "sign"),
    (ShowPrompt(("", "", "", "")), "prompt"),
    (ShowMagicCard("7h"), "magic"),
    (EnableAcceptors(frozenset((1,))), "acceptors"),
    (AcknowledgeCredit(1, 1), "acceptors"),
    (ReleaseCredit(1, 1), "acceptors"),
    # A reader that none of these antennas belongs to must rest, so each reader hears the whole; the
    # field settles what they read.
    (WatchAntennas(ONE), "field chips-1 chips-2"),
    (SweepAntennas(1, ONE), "field chips-1 chips-2"),
    # One picture on several boards.
    (ShowLamps((OFF,) * SEATS), "lamps-1 lamps-2"),
    (ShowMeter("1,000.00"), "meter-1 meter-2 meter-3"),
]


def listening(rig: Rig) -> list[str]:
    """The names of the devices that an order has reached, as it reaches them."""
    reached: list[str] = []

    def listen(name: str, device: Any) -> None:
        plain: Callable[[Order, int], list[Any]] = device.order

        def order(order: Order, now_us: int) -> list[Any]:
            reached.append(name)
            return plain(order, now_us)

        device.order = order

    listen("field", rig.field)
    for line in rig.lines.values():
        listen(line.name, line)
    for board in rig.bus.boards:
        if hasattr(board, "order"):
            listen(board.name, board)
    return reached


def give(rig: Rig, order: Order) -> None:
    """As the hub does."""
    rig.order(order, 0)
    if rig.bus.takes(order):
        rig.bus.order(order, 0)


@pytest.fixture
def rig() -> Rig:
    return build(load(HERE / "tables" / "mega-shuffler.toml"))


@pytest.mark.parametrize(("order", "names"), CONCERNED, ids=lambda one: type(one).__name__)
def test_an_order_reaches_whom_it_concerns_and_no_other(rig: Rig, order: Order, names: str) -> None:
    reached = listening(rig)
    give(rig, order)
    assert reached == names.split()


def test_every_kind_of_order_is_asked_about_here() -> None:
    assert {type(order) for order, _ in CONCERNED} == EVERY


def test_a_deck_check_is_for_a_shuffler_alone() -> None:
    rig = build(load(HERE / "tables" / "mbs3.toml"))
    reached = listening(rig)
    give(rig, RequestDeckCheck("red"))
    assert reached == []


def test_an_acknowledgement_for_a_device_that_is_not_there_reaches_nobody(rig: Rig) -> None:
    reached = listening(rig)
    give(rig, AcknowledgeReading("another", 7))
    assert reached == []


def test_a_vendors_device_hears_all_but_acknowledgements_for_others(tmp_path: Path) -> None:
    """Only it knows what it takes."""
    text = (HERE / "tables" / "mbs3.toml").read_text("utf-8").replace("cdp-shoe", "acme")
    (tmp_path / "layout.toml").write_text(text, "utf-8")

    def never() -> Callable[[LineLayout], LineDriver]:
        raise ImportError

    layout = load(tmp_path / "layout.toml", OUR_KINDS | {"acme"})
    rig = build(layout, {"acme": never})
    reached = listening(rig)
    for kind in (order for order, _ in CONCERNED if not isinstance(order, AcknowledgeReading)):
        reached.clear()
        give(rig, kind)
        assert "shoe" in reached
    reached.clear()
    give(rig, AcknowledgeReading("another", 7))
    give(rig, AcknowledgeReading("shoe", 7))
    assert reached == ["shoe"]
