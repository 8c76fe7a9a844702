"""Clauses that only the felt can show: the spots under it and the chips on it."""

from __future__ import annotations

from pathlib import Path

import pytest

from controller.config.live import load_live
from controller.rules.books import BOOKS
from controller.table.spots import missing_spots
from drivers.layout import load
from drivers.readings import Uid
from hw_sim.scenario import HERE
from record.kit.config import ConfigError
from tests.controller.config.test_config_check import site
from tests.controller.table.console_player import FakeChip, Table
from tests.controller.table.test_table_chips import betting


def places(table: str) -> set[tuple[int, str]]:
    return set(load(HERE / "tables" / f"{table}.toml").spots.values())


@pytest.mark.clause("MBS3-2.2.1")
def test_mbs3_2_2_1_every_spot_of_every_seat_has_an_antenna_and_is_read_under_its_own_name(
    tmp_path: Path,
) -> None:
    file = site(tmp_path, "MBS3")
    places = load_live(file).layout.spots
    assert sorted(places.values()) == sorted((n, s) for n in range(1, 8) for s in ("1", "2", "$"))
    table = betting("MBS3", placed=False).table
    for number, spot in places.values():
        table.put(number, spot, 500)
        lies = {place: cents for place, cents in table.core.state.spots.items() if cents}
        assert lies == {(number, spot): 500}
        table.put(number, spot, 0)
    text = (tmp_path / "layout.toml").read_text("utf-8")
    for number, spot in ((1, "1"), (4, "2"), (7, "$")):
        antenna = next(x for x in text.splitlines() if x.endswith(f'= "{number}/{spot}"'))
        (tmp_path / "layout.toml").write_text(text.replace(antenna + "\n", ""), "utf-8")
        with pytest.raises(ConfigError, match=f"no antenna for seat {number}, wager [{spot}];"):
            load_live(file)


@pytest.mark.clause("MBS3-2.2")
def test_mbs3_2_2_an_antenna_missing_from_the_map_is_named() -> None:
    assert missing_spots(BOOKS["MBS3"], 7, places("mbs3")) == []
    assert missing_spots(BOOKS["MBS3"], 7, places("mbs3") - {(4, "2")}) == [(4, "2")]


@pytest.mark.clause("MEGA-2.2", "MEGA-2.2.1")
def test_mega_2_2_every_seat_has_its_spots_and_an_acceptor() -> None:
    assert missing_spots(BOOKS["MEGA"], 7, places("mega") - {(7, "$")}) == [(7, "$")]
    layout = load(HERE / "tables" / "mega.toml")
    assert {"sensors", "acceptors"} <= layout.boards.keys()


@pytest.mark.clause("NSW-2.2", "NSW-2.2.1.1", "NSW-D")
def test_nsw_2_2_a_seat_with_two_antennas_does_not_open() -> None:
    assert missing_spots(BOOKS["NSW"], 7, places("nsw") - {(3, "1")}) == [(3, "1")]
    assert missing_spots(BOOKS["NSW"], 2, places("nsw") - {(3, "1")}) == []


def chip_on(table: Table, chip: FakeChip | None) -> Table:
    """One chip on seat 1's $ spot; None is an object whose tag nobody knows."""
    tag = Uid("E004019999999999") if chip is None else table.tag(chip)
    table.lay(1, "$", frozenset({tag}))
    return table


@pytest.mark.clause("NSW-5.1", "PP6-E4")
@pytest.mark.parametrize("game", ["NSW", "PP6"])
def test_a_tag_that_no_register_knows_is_rejected_and_told(game: str) -> None:
    table = chip_on(betting(game, placed=False).table, None)
    assert table.core.state.spots.get((1, "$"), 0) == 0
    assert table.lines[0] == "SEAT 1: NO CHIP"


@pytest.mark.clause("NSW-1.1-voucher")
def test_nsw_vouchers_count_at_their_face_value_and_only_there() -> None:
    voucher = FakeChip(1000, kind="promo")
    assert chip_on(betting("NSW", placed=False).table, voucher).core.state.spots[1, "$"] == 1000
    elsewhere = chip_on(betting("PP6", placed=False).table, voucher)
    assert elsewhere.core.state.spots.get((1, "$"), 0) == 0
    assert elsewhere.lines[0] == "SEAT 1: NO PROMO"
