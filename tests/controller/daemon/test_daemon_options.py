"""Display and policy of a running table: taken between two rounds, on the record, and seen."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from controller.daemon.house_options import FOLDER
from controller.daemon.metrics import Process, metrics
from controller.daemon.writer import Released, Tick, Told
from controller.faults.status import Status
from controller.faults.troubles import SAFE_MODE, troubles
from controller.rules.engine import facts as f
from drivers.base import DeviceState, Fault, StateReported
from drivers.orders import ShowMeter, ShowPrompt, ShowSign
from drivers.readings import Shown
from tests.controller.daemon.test_daemon_wiring_config import END, SUPERVISOR, Running
from tests.e2e.table import ROOT, configure

GERMAN = (FOLDER / "de.toml").read_text("utf-8")
LINK = f.Measured("link")
SETTINGS: dict[str, Any] = {
    "seats": 7, "deal_pattern": "passes", "meter_rule": "sequential",
    "progressive_stake_returned": True, "shuffle_required": False,
}  # fmt: skip


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("house")
    shutil.copy(ROOT / "hw_sim" / "tables" / "mbs3.toml", folder / "layout.toml")
    rows = "uid,value,class,series\nE00400000000A001,500,cash,sim\n"
    (folder / "chips.csv").write_text(rows, "utf-8")
    configure(folder, "MBS3", SETTINGS)
    return folder


@pytest.fixture
def table(house: Path, tmp_path: Path) -> Iterator[Running]:
    folder = tmp_path / "run"
    shutil.copytree(house, folder)
    running = Running(folder)
    running.start()
    running.work(Told(f.MeterReported(12_345_678), LINK))
    yield running
    running.stop()


def last(released: Released, kind: type[Any]) -> Any:
    return next((o for o in reversed(released.orders) if isinstance(o, kind)), None)


def taken(table: Running, text: str) -> Released:
    """A drop-in, and what the table orders when it has heard of it."""
    table.write(text)
    return table.work(table.reloader.reload(str(table.status["configuration"])))


def test_another_currency_is_shown_at_once_between_rounds(table: Running) -> None:
    before = table.status["configuration"]
    released = taken(table, '[display]\ncurrency = "EUR"\ndecimal_point = ","\nthousands = "."\n')
    assert last(released, ShowMeter).text == "EUR 123.456,78"
    assert last(released, ShowSign).text == "EUR 123.456,78"
    waiting, applied = table.bodies("configuration")
    assert (waiting["verdict"], applied["verdict"]) == ("apply", "applied")
    assert applied["before"] == before != applied["in_force"] == table.status["configuration"]
    assert applied["changes"][0] == {"key": "display.currency", "old": "$", "new": "EUR"}


def test_inside_a_round_the_prompt_keeps_its_language_until_the_end(table: Running) -> None:
    table.work(Told(f.BetsOpened(), f.Declared("D1", f.Role.DEALER)))
    before = table.status["configuration"]
    taken(table, '[display]\nlanguage = "de"\n')
    assert table.status["configuration_change"]["verdict"] == "wait"
    assert table.status["prompt"][0].startswith("BETS OPEN")
    *void, cleared = END
    table.work(*void, Told(f.SupervisorRuled("void"), SUPERVISOR), cleared)
    assert table.status["prompt"][0].startswith("BEREIT")
    assert table.status["configuration"] != before
    assert table.bodies("configuration")[-1]["verdict"] == "applied"


def test_a_language_file_is_taken_and_taken_again_when_its_words_change(table: Running) -> None:
    file = table.site.parent / "house.toml"
    file.write_text(GERMAN, "utf-8")
    taken(table, '[display]\nlanguage = "house.toml"\n')
    assert table.status["prompt"][0].startswith("BEREIT")
    file.write_text(GERMAN.replace('"BEREIT"', '"FERTIG"'), "utf-8")
    table.hang_up()
    assert table.status["prompt"][0].startswith("FERTIG")
    changes = table.bodies("configuration")[-1]["changes"]
    assert [change["key"] for change in changes] == ["display.language (content)"]


def test_a_language_file_with_a_flaw_is_refused_and_the_table_keeps_its_words(
    table: Running,
) -> None:
    file = table.site.parent / "house.toml"
    file.write_text(GERMAN.replace('"BEREIT"', '"ZWISCHEN DEN SPIELEN"'), "utf-8")
    drop_in = table.site.parent / "conf.d" / "10.toml"
    drop_in.parent.mkdir()
    drop_in.write_text('[display]\nlanguage = "house.toml"\n', "utf-8")
    change = table.hang_up()
    assert change["verdict"] == "refused"
    assert 'house.toml: state.between rounds: "ZWISCHEN DEN SPIELEN": 20 columns' in change["why"]
    assert table.status["prompt"][0].startswith("READY")


def test_policy_is_taken_between_rounds(table: Running) -> None:
    taken(
        table,
        "[policy]\nsettle_ms = 400\nlate_grace_ms = 900\ntake_back_limit_ms = 7000\n",
    )
    options = table.writer.core.options
    assert (options.settle_us, options.late_grace_us, options.take_back_us) == (
        400_000, 900_000, 7_000_000,
    )  # fmt: skip
    assert table.status["configuration_change"]["verdict"] == "nothing"


def test_settings_and_display_change_together_or_not_at_all(table: Running) -> None:
    taken(table, '[settings]\nidle_rounds = 99\n[display]\ncurrency = "E"\n')
    assert (table.rate, table.writer.core.options.amounts.currency) == (99, "E")
    taken(table, '[settings]\nidle_rounds = 98\n[display]\ncurrency = "F"\n[service]\nport = 9\n')
    assert table.status["configuration_change"]["verdict"] == "restart"
    assert (table.rate, table.writer.core.options.amounts.currency) == (99, "E")


# --- safe mode ---------------------------------------------------------------------------------

SAFE = "[policy]\nsafe_mode = true\n"


def facts(table: Running) -> list[str]:
    return [body["what"] for body in table.bodies("fact")]


def page(table: Running) -> str:
    """The metrics as the socket gives them; the command adds what the writer does not know."""
    beside: Status = {"table": "t", "overflows": 0, "frames_lost": 0, "disk": {"free_bytes": 0}}
    return metrics({**table.status, **beside}, Process())


def test_safe_mode_is_journalled_shown_and_told(table: Running) -> None:
    assert not table.status.get("safe_mode")
    assert "underfelt_safe_mode 0" in page(table)
    released = taken(table, SAFE)
    assert facts(table)[-1] == "progressive closed"
    assert last(released, ShowMeter).text == "CLOSED"
    assert table.status.get("safe_mode")
    assert "underfelt_safe_mode 1" in page(table)
    assert [one.code for one in troubles(table.status) if "safe mode" in one.line] == [SAFE_MODE]
    taken(table, "")
    assert facts(table)[-1] == "progressive opened"
    assert not table.status.get("safe_mode")


def test_safe_mode_holds_over_a_start_and_the_whole_journal_replays(table: Running) -> None:
    taken(table, SAFE)
    table.stop()
    table.start()
    assert facts(table).count("progressive closed") == 1, "it is closed already"
    assert table.writer.core.state.progressive_closed == "safe mode"
    table.stop()
    table.write("")
    released = table.start()
    assert facts(table)[-1] == "progressive opened"
    assert last(released, ShowPrompt).lines[2] != "OPEN, NO PROGRESSIVE"
    assert table.whole().state == table.writer.core.state


def test_a_start_in_safe_mode_closes_it_before_anything_is_shown(table: Running) -> None:
    table.stop()
    table.write(SAFE)
    released = table.start()
    assert facts(table)[-1] == "progressive closed"
    assert last(released, ShowMeter).text == "CLOSED"
    shown = [o.text for o in released.orders if isinstance(o, ShowMeter)]
    assert shown == ["CLOSED"]


# --- the odometer ------------------------------------------------------------------------------


def frame(table: Running, at_us: int, **contents: str) -> Released:
    """Time passes to ``at_us`` and the modules say what they showed since."""
    shown = [Shown(name.replace("_", "-"), text, at_us - 1) for name, text in contents.items()]
    table.now_us = at_us - 1_000_000  # ``work`` adds a second
    return table.work(*shown, Tick())


def test_a_count_up_is_one_record_whose_steps_are_not_journalled(table: Running) -> None:
    start_us = table.now_us + 1_000_000
    released = table.work(Told(f.MeterReported(12_350_678), LINK))
    assert last(released, ShowMeter) is None, "nothing changes before the first step"
    assert released.wake_us == start_us + 100_000
    (record,) = table.bodies("odometer")
    assert record == {
        "v": 1, "from": 12_345_678, "to": 12_350_678, "at_us": start_us, "over_ms": 2000,
    }  # fmt: skip
    before = table.kinds()
    for step in range(1, 20):
        released = frame(table, start_us + 100_000 * step, meter_3=f"{step:02}.00")
        assert isinstance(last(released, ShowMeter), ShowMeter)
    assert table.kinds() == before, "nineteen steps, no record"
    released = frame(table, start_us + 2_000_000, meter_2="1235", meter_3="19.50")
    assert last(released, ShowMeter).text.strip() == "$123,506.78"
    assert released.wake_us is None
    shown = [(b["device"], b["content"]) for b in table.bodies("shown")]
    assert shown == [("meter-3", "19.50"), ("meter-2", "1235")]
    frame(table, start_us + 2_100_000, meter_3="06.78")
    assert table.bodies("shown")[-1]["content"] == "06.78", "what the last order changed"
    assert len(table.bodies("odometer")) == 1
    assert table.whole().state == table.writer.core.state


def test_other_displays_and_faults_are_journalled_in_a_count_up_as_ever(table: Running) -> None:
    table.work(Told(f.MeterReported(12_350_678), LINK))
    fault = Fault("E-DSP-002", "read back wrong; dark")
    table.work(
        Shown("magic", "7h", 5), StateReported("meter-3", DeviceState.DEGRADED, fault, 6), Tick()
    )
    assert table.bodies("shown")[-1]["device"] == "magic"
    assert table.bodies("device")[-1]["code"] == "E-DSP-002"
