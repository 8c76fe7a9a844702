"""Test mode at the writer, over the simulator's devices in virtual time: nothing of it counts."""

from __future__ import annotations

import json
from dataclasses import replace
from itertools import product
from typing import Any

import pytest

from controller.daemon.writer import Told
from controller.faults.status import AuthorRow
from controller.history.errors import ReplayError
from controller.history.replay import TEST, replay
from controller.history.sealing import CardSealer
from controller.history.snapshot import Opening
from controller.rules.engine import facts as f
from controller.rules.engine.state import Phase
from drivers.orders import LockCards
from hw_sim.clock import SECOND
from hw_sim.scenario import find, load
from record.journal import Record
from tests.sim.table import KEY, TODAY, VirtualTable

BY: AuthorRow = {"uid": 1000, "user": "mia", "role": "technician"}
SESSION_US = 30 * SECOND


class Trial(VirtualTable):
    """A technician at a table, between scenarios."""

    def begin_test(self) -> Any:
        released, blocked = self.writer.begin_test(BY)
        self._release(released)
        return blocked

    def end_test(self, why: str = "test off") -> None:
        self._release(self.writer.end_test(why, self.bench.now_us))

    def again(self, name: str) -> None:
        self.play_next(load(find(name)))

    def rows(self, *kinds: str) -> list[Record]:
        return [row for row in self.journal.records() if not kinds or row.kind in kinds]

    def tests(self) -> list[dict[str, Any]]:
        return [json.loads(row.body) for row in self.rows(TEST)]

    def look(self) -> dict[str, object]:
        """What everybody sees."""
        seen = self.bench.sim.look()
        return {name: seen[name] for name in ("prompt", "lamps", "meter", "magic", "sign")}

    @property
    def digest(self) -> str:
        return self.writer.table_log.memory.digest


def table_after(name: str) -> Trial:
    table = Trial(load(find(name)))
    table.play()
    table.run_for(5 * SECOND)
    return table


def quiet_table(name: str = "mbs3-plain", cut_at: int = 0, seed: int = 1) -> Trial:
    """Nobody plays."""
    table = Trial(load(find(name)), cut_at=cut_at, seed=seed)
    table.begin()
    table.run_for(5 * SECOND)
    return table


def meddle(table: Trial) -> None:
    """Everything that a technician might do at the table."""
    sim = table.bench.sim
    chips = sim.felt.rack.pay(500)
    sim.felt.place(2, "1", chips)
    table.run_for(3 * SECOND)
    for key in ("OPEN", "CALL", "MENU", "1", "ENTER"):
        sim.keyboard.press(key)
        table.run_for(SECOND)
    if sim.acceptors is not None:
        sim.acceptors.insert(3)
    table.run_for(2 * SECOND)
    sim.felt.rack.put(sim.felt.take(2, "1"))
    table._put(Told(f.MeterReported(99_999_900), f.Measured("link")))
    table.run_for(2 * SECOND)


def draw_cards(table: Trial, count: int) -> None:
    sim = table.bench.sim
    assert sim.shoe is not None
    table.run_for(SECOND)
    table._release(table.writer.test_cards(True))
    sim.shoe.load(list(range(0x01, 0x0E)))
    table.bench.order(LockCards(False))
    table.run_for(SECOND)
    for _ in range(count):
        if not table._up or table.cuts:
            break
        assert sim.shoe.draw() is not None
        table.run_for(SECOND)
    table.bench.order(LockCards(True))
    table.run_for(SECOND)


@pytest.mark.parametrize("name", ["mbs3-plain", "mega-plain"])
def test_a_table_with_a_test_in_the_middle_is_the_table_without(name: str) -> None:
    plain, tested = table_after(name), table_after(name)
    assert plain.digest == tested.digest
    shown = tested.look()
    began = tested.journal.next_seq
    assert tested.begin_test() is None
    tested.run_for(SECOND)
    assert [line.strip() for line in tested.bench.sim.prompt()][1:3] == [
        "MIA", "NO PLAY: TECHNICIAN",
    ]  # fmt: skip
    assert tested.look()["prompt"] != shown["prompt"]
    begun_us = tested.bench.now_us
    meddle(tested)
    draw_cards(tested, 3)
    assert tested.bench.sim.shoe is not None
    tested.bench.sim.shoe.load(list(range(0x01, 0x0E)))
    tested.run_for(SECOND)
    written = [row.kind for row in tested.rows() if row.seq >= began]
    assert "fact" not in written
    assert plain.digest == tested.digest
    tested.end_test()
    tested.run_for(10 * SECOND)
    plain.run_for(tested.bench.now_us - begun_us)
    plain._put(Told(f.MeterReported(99_999_900), f.Measured("link")))
    plain.run_for(6 * SECOND)
    tested.run_for(6 * SECOND)
    assert tested.digest == plain.digest
    for table in (plain, tested):
        table.again(name)
    assert tested.results == plain.results
    assert tested.digest == plain.digest
    for kind in ("round", "outbox", "day"):
        assert [r.body for r in tested.rows(kind)] == [r.body for r in plain.rows(kind)]
    begin, *readings, end = tested.tests()
    assert (begin["event"], begin["by"]) == ("begin", BY)
    assert (end["event"], end["why"], end["state"]) == ("end", "test off", begin["state"])
    assert {row["device"] for row in readings} == {"shoe"}
    whole = replay(
        tested.rows(), CardSealer(KEY, tested.journal.journal_id), opening(tested), whole=True
    )
    assert whole.memory.digest == plain.digest


def opening(table: Trial) -> Opening:
    return Opening(table.scenario.game, table.scenario.settings, TODAY.isoformat())


def test_displays_show_again_what_they_showed() -> None:
    table = quiet_table("mega-plain")
    before, digest = table.look(), table.digest
    assert table.begin_test() is None
    table.run_for(2 * SECOND)
    status = table.writer.status()
    assert status["test_mode"] == {**BY, "cards": False}
    assert status["prompt"][0].startswith("TEST MODE")
    lamps = [json.loads(r.body) for r in table.rows("shown") if b"lamps-2" in r.body]
    assert "beacon on" in lamps[-1]["content"]
    table.end_test()
    table.run_for(5 * SECOND)
    assert table.look() == before
    assert table.digest == digest
    assert table.writer.status()["test_mode"] is None


def test_a_chip_left_on_the_felt_counts_after_the_test_and_not_before() -> None:
    table = quiet_table()
    assert table.begin_test() is None
    felt = table.bench.sim.felt
    felt.place(2, "1", felt.rack.pay(500))
    table.run_for(5 * SECOND)
    assert table.writer.core.state.spots.get((2, "1"), 0) == 0
    table.end_test()
    table.run_for(10 * SECOND)
    assert table.writer.core.state.spots[2, "1"] == 500


def test_cards_that_were_drawn_ask_for_a_deck() -> None:
    table = quiet_table()
    assert table.begin_test() is None
    draw_cards(table, 2)
    table.end_test()
    table.run_for(2 * SECOND)
    assert any("NO CARDS LEFT" in line for line in table.bench.sim.prompt())


def test_not_in_a_round_and_one_at_a_time() -> None:
    table = Trial(load(find("mbs3-plain")))
    table.play(until=lambda: table.starts > 0 and table.writer.core.state.phase is Phase.BETTING)
    before = table.journal.next_seq
    blocked = table.begin_test()
    assert (blocked.why, blocked.taken) == ("round 1: bets are open", False)
    assert table.journal.next_seq == before
    quiet = quiet_table()
    assert quiet.begin_test() is None
    again = quiet.begin_test()
    assert (again.why, again.taken) == ("mia has test mode", True)


def test_a_failing_power_ends_it() -> None:
    table = quiet_table()
    assert table.begin_test() is None
    table.bench.faults.do("powerfail")
    table.run_for(2 * SECOND)
    assert not table.writer.test.is_on
    assert table.tests()[-1]["why"] == "the power fails"


def in_test(table: Trial) -> None:
    table.begin_test()
    table.run_for(SECOND)
    draw_cards(table, 2)


def cut_in_test(call: int, seed: int) -> tuple[Trial, bool]:
    """The power goes at a call to the disk. Is the table that starts then the one before?"""
    table = quiet_table(cut_at=call, seed=seed)
    digest = table.digest
    table._guarded(lambda: in_test(table))
    table.run_for(10 * SECOND)
    assert table.cuts == 1
    assert table.writer.status()["test_mode"] is None
    return table, table.digest == digest


def test_a_power_cut_anywhere_in_test_mode_starts_a_normal_table() -> None:
    table = quiet_table()
    first = table.disk.calls
    in_test(table)
    seen = set()
    calls = range(first + 1, table.disk.calls + 1)
    for call, seed in product(calls, (1, 2)):  # the seed says what of the last write survives
        cut, same = cut_in_test(call, seed)
        tests = cut.tests()
        if tests:
            assert (tests[-1]["event"], tests[-1]["why"]) == ("end", "the table started again")
        drawn = [row["drawn"] for row in tests if row["event"] == "reading"][-1:] > [0]
        state, _, question, _ = cut.bench.sim.prompt()
        assert state.startswith("NO CARDS LEFT" if drawn else "READY")
        # A drawn card whose record the cut took is sent again: nobody knows that a test drew it.
        facts = [json.loads(row.body)["of"] for row in cut.rows("fact")]
        assert [fact["kind"] for fact in facts if "kind" in fact] == ([] if same else ["unasked"])
        assert question.strip() == ("SHUFFLE RED" if same else "CHECK RED DECK")
        seen.add((drawn, same))
    assert {same for _, same in seen} == {True, False}
    assert {drawn for drawn, _ in seen} == {True, False}


def test_a_record_that_says_another_state_is_refused() -> None:
    table = quiet_table()
    table.begin_test()
    table.end_test()
    rows = table.rows()
    at = next(n for n, row in enumerate(rows) if row.kind == TEST)
    forged = {**json.loads(rows[at].body), "state": "0" * 16}
    rows[at] = replace(rows[at], body=json.dumps(forged).encode())
    with pytest.raises(ReplayError) as refused:
        replay(rows, CardSealer(KEY, table.journal.journal_id), opening(table), whole=True)
    assert refused.value.code == "E-RPL-001"
