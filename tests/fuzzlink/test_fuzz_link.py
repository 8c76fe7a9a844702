"""A seeded share of ``make fuzz-link``, and that it finds what is planted."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from random import Random
from typing import Any, get_args

import pytest

from link.ledger import fixed
from link.server.staff_orders import StaffOrder
from tests.fuzzlink.history import STORES, places, play
from tests.fuzzlink.run import main, rows_of, write
from tests.fuzzlink.staff import ORDERS, any_order
from tests.fuzzlink.steps import pools, step
from tests.fuzzlink.world import World


@pytest.mark.parametrize(("store", "histories"), [("sqlite", 6), ("postgresql", 2)])
def test_a_share_of_the_histories(store: str, histories: int, tmp_path: Path) -> None:
    with places(store, tmp_path) as new:
        for seed in range(histories):
            assert play(seed, new(), 200)["events"] > 30


def test_days_that_were_loaded_last_are_told(tmp_path: Path) -> None:
    """A slow clock parted the loading of the sums between the two parts that show them."""
    with places("sqlite", tmp_path) as new:
        assert play(300_000, new(), 300)["events"] > 30


def test_a_history_is_the_same_again(tmp_path: Path) -> None:
    with places("sqlite", tmp_path) as new:
        assert play(7, new(), 150) == play(7, new(), 150)


def test_every_order_of_people_is_given() -> None:
    assert {kind.__struct_config__.tag for kind in get_args(StaffOrder)} == {*ORDERS}


def test_orders_are_carried_out_and_not_only_refused(tmp_path: Path) -> None:
    found = Counter[str]()
    with places("sqlite", tmp_path) as new:
        for seed in range(3):
            rng = Random(seed)
            world = World(new(), pools(rng), rng)
            for _ in range(400):
                step(world, rng)
                for _ in range(4):
                    any_order(world, rng)
            world.store.close()
            found += world.done
    assert {*ORDERS} - {*found} == set()


def test_a_defect_in_the_ledger_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    played = fixed.played

    def broken(state: Any, journal: Any, body: Any) -> Any:
        if body.round % 7 == 0:
            raise KeyError("planted")
        return played(state, journal, body)

    monkeypatch.setattr(fixed, "played", broken)
    with places("sqlite", tmp_path) as new, pytest.raises(AssertionError, match="planted"):
        play(1, new(), 300)


def test_a_report_that_fails_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_given: Any, **_more: Any) -> Any:
        raise ValueError("planted")

    monkeypatch.setattr("tests.fuzzlink.checks.hits_report", broken)
    with places("sqlite", tmp_path) as new, pytest.raises(ValueError, match="planted"):
        play(1, new(), 30)


def test_the_report_adds_up_over_several_runs(tmp_path: Path) -> None:
    page = tmp_path / "fuzz-link.md"
    row = ["sqlite", "1", "9", "9", "2,700", "3,000", "10", "1", "2", "0.5", "0"]
    write(page, [row])
    assert rows_of(page) == [row]
    assert main(["--store", "sqlite", "--minutes", "0.001", "--report", str(page)]) == 0
    first, second = rows_of(page)
    assert (first, second[1]) == (row, "10")
    whole = 2_700 + int(second[4].replace(",", ""))
    assert f"| all of sqlite | {9 + int(second[3])} | {whole:,} |" in page.read_text("utf-8")
    assert set(STORES) == {"sqlite", "postgresql"}
