"""Readings, orders and inputs are closed unions: a type checker knows what goes where."""

from __future__ import annotations

from dataclasses import is_dataclass
from pathlib import Path
from types import ModuleType
from typing import get_args

import pytest

from controller.daemon.inputs import Input
from drivers import orders, readings
from drivers.base import DeviceIdentified, StateReported
from tests.test_house_rules import ROOT, python_files


def declared(module: ModuleType) -> set[type]:
    kinds = {value for value in vars(module).values() if isinstance(value, type)}
    return {kind for kind in kinds if is_dataclass(kind) and kind.__module__ == module.__name__}


def test_every_reading_is_in_the_union_of_readings() -> None:
    assert set(get_args(readings.Reading)) == {
        *declared(readings), StateReported, DeviceIdentified
    }  # fmt: skip


def test_every_order_is_in_the_union_of_orders() -> None:
    assert set(get_args(orders.Order)) == declared(orders)


def test_the_writer_takes_readings_and_no_other_object() -> None:
    assert set(get_args(readings.Reading)) < set(get_args(Input))
    assert object not in get_args(Input)


@pytest.mark.parametrize(
    "path", list(python_files("drivers")), ids=lambda p: str(p.relative_to(ROOT))
)
def test_no_driver_returns_just_any_object(path: Path) -> None:
    assert "list[object]" not in path.read_text("utf-8")
