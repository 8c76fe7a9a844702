"""A configuration that changes under a running table: never inside a round, and said plainly."""

from __future__ import annotations

import json
import shutil
import signal
import time
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import pytest

from controller.commands.status import told
from controller.config.live import load_live
from controller.daemon import compose as starting
from controller.daemon.changing import Changing, Reloaded, Reloader
from controller.daemon.inputs import Input
from controller.daemon.setup import SystemClock, opening_of, setup_of
from controller.daemon.writer import Released, Told
from controller.faults.status import Status
from controller.history.replay import replay
from controller.history.sealing import CardSealer
from controller.rules.engine import facts as f
from controller.rules.engine.entries import TableCall
from controller.rules.engine.state import Phase
from controller.table.staff import DEALER_1
from record.kit.lines import ask
from tests.e2e.table import ROOT, configure, start, wait_for
from tests.paper import Noise
from tests.patience import PATIENCE_S

TODAY = date(2026, 1, 1)
SETTINGS = {"card_device": "shoe", "max_wager": 10_000, "max_payout": 15_000}
SHOE = f.Measured("shoe")
SUPERVISOR = f.Declared("S1", f.Role.CASINO_SUPERVISOR)
OPEN = (
    Told(f.DeckChecked("red", passed=True, seal=None), SUPERVISOR),
    Told(f.DeckShuffled("red"), SHOE),
    Told(f.DeckCut(), DEALER_1),
    Told(f.BetsOpened(), DEALER_1),
)
END = (
    *(Told(f.WagerRead(1, spot, 1_000), f.Measured("chips")) for spot in ("1", "2", "$")),
    Told(f.BetsClosed(), DEALER_1),
    Told(f.OutcomeInvalidated("disruption"), SUPERVISOR),
    Told(f.VoidCleared(), DEALER_1),
)


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table's folder as the simulator leaves it, configured."""
    folder = tmp_path_factory.mktemp("house")
    shutil.copy(ROOT / "hw_sim" / "tables" / "nsw.toml", folder / "layout.toml")
    rows = "uid,value,class,series\nE00400000000A001,500,cash,sim\n"
    (folder / "chips.csv").write_text(rows, "utf-8")
    configure(folder, "NSW", SETTINGS)
    return folder


class OneDay(SystemClock):
    def today(self) -> date:
        return TODAY


class Running:
    """A table that is started and stopped, without its devices."""

    def __init__(self, folder: Path) -> None:
        self.site = folder / "table.toml"
        self.now_us = 0

    def start(self) -> Released:
        config = load_live(self.site, starting.KINDS)
        setup = setup_of(config, clock=OneDay())
        self.table = starting.compose(setup, clock=OneDay())
        self.writer, self.journal = self.table.writer, self.table.journal
        self.reloader = Reloader(
            config,
            lambda: load_live(self.site, starting.KINDS),
            lambda loaded: opening_of(loaded, TODAY),
        )
        released = self.writer.start(0)
        self.status = released.status
        return released

    def write(self, text: str) -> str:
        """A drop-in; the answer is the hash it leads to."""
        drop_in = self.site.parent / "conf.d" / "10.toml"
        drop_in.parent.mkdir(exist_ok=True)
        drop_in.write_text(text, "utf-8")
        return load_live(self.site, starting.KINDS).effective_hash

    def work(self, *inputs: Input) -> Released:
        self.now_us += 1_000_000
        released = self.writer.work(inputs, self.now_us)
        self.status = released.status
        return released

    def hang_up(self) -> dict[str, Any]:
        """What SIGHUP does; the answer is what the status says of it."""
        self.work(self.reloader.reload(str(self.status["configuration"])))
        return dict(self.status["configuration_change"])

    def open(self) -> None:
        self.work(*OPEN)
        assert self.writer.core.state.phase is Phase.BETTING

    def end(self) -> None:
        """Void before the first card."""
        self.work(*END)
        assert self.writer.core.state.phase is Phase.IDLE

    def kinds(self) -> list[str]:
        return [r.kind for r in self.journal.records()]

    def bodies(self, kind: str) -> list[dict[str, Any]]:
        return [json.loads(r.body) for r in self.journal.records() if r.kind == kind]

    @property
    def rate(self) -> int:
        return self.writer.core.state.rules.table.idle_rounds

    def limit(self) -> int | None:
        return self.writer.core.state.min_wager

    def whole(self) -> Any:
        """Every record stepped from the first one on."""
        setup = self.table.setup
        cards = CardSealer(setup.key, self.journal.journal_id, Noise())
        return replay(self.journal.records(), cards, setup.opening, whole=True)

    def stop(self) -> None:
        self.journal.close()


@pytest.fixture
def table(house: Path, tmp_path: Path) -> Iterator[Running]:
    folder = tmp_path / "run"
    shutil.copytree(house, folder)
    running = Running(folder)
    running.start()
    yield running
    running.stop()


def test_a_table_says_which_configuration_it_plays_under(table: Running) -> None:
    in_files = table.table.setup.configuration
    assert table.status["configuration"] == in_files
    assert table.status["configuration_change"]["verdict"] == "nothing"
    assert table.bodies("opened")[0]["configuration"] == in_files
    assert table.hang_up()["verdict"] == "nothing"
    assert [b["verdict"] for b in table.bodies("configuration")] == ["nothing"]


def test_a_setting_is_taken_between_rounds_at_once(table: Running) -> None:
    before, old = table.status["configuration"], table.rate
    new = table.write(f"[settings]\nidle_rounds = {old + 1}\n")
    table.hang_up()
    assert table.rate == old + 1
    assert table.status["configuration"] == new != before
    waiting, applied = table.bodies("configuration")
    changes = [{"key": "settings.idle_rounds", "old": old, "new": old + 1}]
    assert (waiting["verdict"], waiting["in_force"], waiting["hash"]) == ("apply", before, new)
    assert applied == {
        "v": 1, "verdict": "applied", "before": before, "in_force": new, "changes": changes,
    }  # fmt: skip
    assert table.kinds()[-2:] == ["configuration", "standing"]


def test_inside_a_round_it_waits_for_the_end(table: Running) -> None:
    before, old = table.status["configuration"], table.rate
    table.open()
    new = table.write(f"[settings]\nidle_rounds = {old + 1}\n")
    assert table.hang_up()["verdict"] == "wait"
    table.work(Told(f.LinkLost(), f.Measured("link")))
    assert (table.rate, table.status["configuration"]) == (old, before)
    assert table.status.get("in_round")
    table.end()
    assert not table.status.get("in_round")
    assert (table.rate, table.status["configuration"]) == (old + 1, new)
    assert table.bodies("configuration")[-1]["verdict"] == "applied"


def test_what_stands_on_the_sign_waits_until_the_table_is_closed(table: Running) -> None:
    table.write("[settings]\nmin_wager = 1000\n")
    assert table.hang_up()["verdict"] == "wait"
    assert table.limit() is None
    # The call to close comes over the console; the table log and the core hear the same.
    call = TableCall("table close", DEALER_1, 5)
    table.writer.table_log.note(call)
    table.work()
    assert table.limit() == 1000
    assert table.status["configuration_change"]["verdict"] == "nothing"


@pytest.mark.parametrize(
    "text",
    [
        "[service]\nport = 9632",
        "[journal]\nsegment_mib = 5",
        "[settings]\nseats = 6",
        '[display]\ncurrency = "E"\n[service]\nport = 9632',
    ],
)
def test_what_is_built_at_a_start_needs_one_and_the_status_says_so(
    table: Running, text: str
) -> None:
    before, rules = table.status["configuration"], table.writer.core.state.rules
    table.write(text + "\n")
    change = table.hang_up()
    assert change["verdict"] == "restart"
    assert "start the daemon again" in change["what_to_do"]
    assert table.writer.core.state.rules is rules
    assert table.status["configuration"] == before
    status: Status = {**table.status, "table": "t"}
    lines = told(status).splitlines()
    (said,) = [line for line in lines if line.startswith(" ! E-TBL-008  configuration: ")]
    assert said.endswith("-> End the round and restart the daemon.")


def test_a_file_that_cannot_be_used_changes_nothing(table: Running) -> None:
    before, old = table.status["configuration"], table.rate
    drop_in = table.site.parent / "conf.d" / "10.toml"
    drop_in.parent.mkdir()
    drop_in.write_text("[settings]\nidle_round = 3\n", "utf-8")
    change = table.hang_up()
    assert change["verdict"] == "refused"
    assert "settings.idle_round" in change["why"]
    assert (table.rate, table.status["configuration"]) == (old, before)
    drop_in.unlink()
    assert table.hang_up()["verdict"] == "nothing"


def test_a_change_that_is_taken_back_in_time_never_happens(table: Running) -> None:
    old = table.rate
    table.open()
    table.write("[settings]\nidle_rounds = 99\n")
    assert table.hang_up()["verdict"] == "wait"
    table.write("")
    assert table.hang_up()["verdict"] == "nothing"
    table.end()
    assert table.rate == old


def test_a_locked_table_changes_nothing(table: Running) -> None:
    old = table.rate
    table.writer.lock("drill", "S1")
    table.write("[settings]\nidle_rounds = 99\n")
    table.hang_up()
    assert table.rate == old
    table.writer.unlock(["S1", "S2"])
    table.work()
    assert table.rate == 99


def test_a_start_takes_new_settings_and_the_whole_journal_still_replays(table: Running) -> None:
    table.open()
    table.end()
    rounds = table.writer.core.state.round_no
    table.stop()
    new = table.write("[settings]\nidle_rounds = 99\nmin_wager = 1000\n")
    table.start()
    state = table.writer.core.state
    assert (table.rate, state.min_wager, state.round_no) == (99, 1000, rounds)
    assert table.bodies("opened")[-1]["configuration"] == new
    table.open()
    assert table.whole().state == table.writer.core.state
    table.stop()
    table.start()
    assert table.rate == 99
    assert table.writer.core.state.phase is Phase.BETTING


def test_a_start_inside_a_round_plays_it_out_under_its_own_settings(table: Running) -> None:
    before, old = table.status["configuration"], table.rate
    table.open()
    table.stop()
    new = table.write("[settings]\nidle_rounds = 99\n")
    table.start()
    assert (table.rate, table.status["configuration"]) == (old, before)
    opened = table.bodies("opened")[-1]
    assert (opened["configuration"], opened["configuration_change"]) == (before, new)
    assert table.hang_up()["verdict"] == "wait"
    table.stop()
    table.start()  # again, and still in the round
    assert (table.rate, table.status["configuration"]) == (old, before)
    table.end()
    assert (table.rate, table.status["configuration"]) == (99, new)
    assert table.whole().state == table.writer.core.state


def test_limits_set_at_the_console_stay_unless_the_files_change_theirs(table: Running) -> None:
    memory = table.writer.table_log.memory
    table.work(Told(f.LimitsChanged(None, 7_700), SUPERVISOR))
    assert table.writer.core.state.max_wager == 7_700
    table.write("[settings]\nidle_rounds = 99\n")
    table.hang_up()
    assert table.rate == 99
    assert table.writer.core.state.max_wager == memory.state.max_wager == 7_700
    table.stop()
    table.write("[settings]\nidle_rounds = 99\nmax_wager = 9000\n")
    table.start()
    assert table.writer.core.state.max_wager == 9_000


def test_the_deck_watch_comes_back_at_a_start(table: Running) -> None:
    table.writer.decks.watch.last_round = 12
    table.writer.decks.closed(table.writer.core.state)
    table.writer.stop("SIGTERM")
    table.stop()
    table.start()
    assert table.writer.decks.watch.last_round == 12


def test_a_journal_of_another_game_is_refused(table: Running) -> None:
    table.stop()
    text = table.site.read_text("utf-8").replace('"NSW"', '"MBS3"')
    other = '[settings]\ndeal_pattern = "passes"\nmeter_rule = "sequential"\n'
    other += "seats = 7\nprogressive_stake_returned = true\n[journal]"
    head, tail = text.split("[settings]")[0], text.split("[journal]")[1]
    table.site.write_text(head + other + tail, "utf-8")
    with pytest.raises(starting.OtherGame, match=r"of NSW.*says MBS3.*E-RUN-003"):
        table.start()


def test_a_hangup_of_the_real_process_is_heard(
    house: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("hup") / "run"
    shutil.copytree(house, folder)
    running = Running(folder)
    process = start("table", "--config", str(running.site))
    try:
        wait_for(folder / "service.sock", process)
        before = ask(folder / "service.sock", {"verb": "identity"})["configuration"]
        assert before == load_live(running.site, starting.KINDS).effective_hash
        new = running.write("[settings]\nidle_rounds = 99\n")
        process.send_signal(signal.SIGHUP)
        deadline = time.monotonic() + PATIENCE_S
        while ask(folder / "service.sock", {"verb": "identity"})["configuration"] != new:
            assert time.monotonic() < deadline, process.communicate()
            time.sleep(0.05)
        status = ask(folder / "service.sock", {"verb": "status"})
        assert status["configuration_change"]["verdict"] == "nothing"
        assert status["frames_lost"] == 0
    finally:
        process.send_signal(signal.SIGTERM)
        out, err = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, (out, err)
    assert all(line.startswith("<") for line in err.splitlines()), "the log, and nothing else"


def test_a_refusal_is_never_taken_for_the_running_one() -> None:
    changing = Changing("")
    changing.take(Reloaded("", refused="no such file"))
    assert changing.verdict(in_round=False, table_open=False) == "refused"
