"""The worked example of docs/protocols/vendor-drivers.md runs, through its entry point."""

from __future__ import annotations

import sys
import tomllib
from importlib import import_module, invalidate_caches
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from drivers.base import MS, DeviceState, Reopen, StateReported, Write
from drivers.build import GROUP, build, vendor_kinds
from drivers.layout import OUR_KINDS, load
from drivers.orders import AcknowledgeReading
from drivers.readings import CardRead, SealedCard
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


@pytest.fixture(scope="module")
def acme(tmp_path_factory: pytest.TempPathFactory) -> Any:
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


def ready(acme: Any) -> Any:
    shoe = acme.AcmeShoeDriver("shoe", "A-1007")
    assert shoe.opened(0) == [Write(b"ID?*32\n")]
    told = shoe.received(b"ID A-1007 2.1*4A\n", 10 * MS)
    assert told[-1] == StateReported("shoe", DeviceState.READY, None, 10 * MS)
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
    card = CardRead("shoe", 7, SealedCard(0x2A), 20 * MS, key=7)
    assert shoe.received(b"CARD 00007 TH*3F\n", 20 * MS) == [card]
    assert shoe.received(b"CARD 00007 TH*3F\n", 30 * MS) == []
    durable = AcknowledgeReading("shoe", 7)
    assert shoe.order(durable, 40 * MS) == [Write(b"OK 00007*13\n")]
    assert shoe.received(b"CARD 00007 TH*3F\n", 50 * MS) == [Write(b"OK 00007*13\n")]


def test_another_shoe_is_locked_and_its_cards_do_not_count(acme: Any) -> None:
    shoe = acme.AcmeShoeDriver("shoe", "B-2")
    shoe.opened(0)
    (told,) = shoe.received(b"ID A-1007 2.1*4A\n", 10 * MS)
    assert told.state is DeviceState.LOCKED
    assert shoe.received(b"CARD 00007 TH*3F\n", 20 * MS) == []


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
            assert isinstance(action, StateReported | CardRead | Write)
    assert len(shoe._buffer) <= acme.LONGEST_LINE
