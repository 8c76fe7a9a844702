"""When there is no test mode: whatever waits comes first, and the refusal says what it is."""

from __future__ import annotations

from controller.daemon.inputs import Blocked
from controller.daemon.writer import CaughtUp, Overrun, Told
from controller.rules.engine import facts as f
from controller.rules.engine.state import Phase
from hw_sim.clock import SECOND
from hw_sim.scenario import find, load
from tests.controller.daemon.test_daemon_testmode import Trial, quiet_table, table_after
from tests.crash.proofs import SMALL

LINK = f.Measured("link")


def refused(table: Trial, why: str) -> None:
    """And nothing of it is written or shown."""
    table.run_for(SECOND)
    assert table.writer.core.state.phase is Phase.IDLE
    records, prompt = table.journal.next_seq, table.look()["prompt"]
    assert table.begin_test() == Blocked(why)
    assert table.journal.next_seq == records
    table.run_for(SECOND)
    assert table.look()["prompt"] == prompt
    assert table.writer.status()["test_mode"] is None


def taken(table: Trial) -> None:
    """The way is free."""
    assert table.begin_test() is None
    table.end_test()


def test_a_jackpot_that_waits_for_people() -> None:
    table = table_after("mega-plain")
    table._put(Told(f.MysteryWon(1, 1, "main/1/2", "mini", 50_000), LINK))
    refused(table, "1 jackpot waits for people")
    table._put(Told(f.MysteryWon(1, 2, "main/1/3", "mini", 70_000), LINK))
    refused(table, "2 jackpots wait for people")
    for award, cents in (("main/1/2", 50_000), ("main/1/3", 70_000)):
        table._put(Told(f.AwardChanged(award, "paid", cents), LINK))
    taken(table)


def after_a_credit_was_hit_by(fault: str) -> Trial:
    """A fault strikes while an acknowledged chip falls into the box; the round goes to its end."""
    table = Trial(load(find("mega-plain")))
    table.play(until=lambda: table.starts > 0 and bool(table.writer.core.credits.untaken))
    table.bench.faults.do(fault)
    ending, clock = table.director.ending, table.bench.clock
    while not (ending.done or ending.failed):
        assert clock.next_us is not None
        clock.run_until(clock.next_us)
    assert not ending.failed, ending.failed
    return table


def test_a_credit_in_doubt() -> None:
    table = after_a_credit_was_hit_by("brownout acceptors")
    refused(table, "the credit of seat 1 is in doubt: a supervisor rules on it")


def test_a_credit_that_has_not_fallen_yet() -> None:
    table = after_a_credit_was_hit_by("absent acceptors")
    refused(table, "a credit is still on its way into an acceptor")
    table.bench.faults.do("absent acceptors off")
    table.run_for(10 * SECOND)
    taken(table)


def test_a_full_disk() -> None:
    table = Trial(load(find("mbs3-plain")), segment=SMALL)
    table._boot()
    table.bench.begin()
    table.run_for(5 * SECOND)
    table.disk.room = sum(len(one.seen) for one in table.disk.names_seen.values())
    number = 0
    while not table.journal.full:
        number += 1
        table._put(Told(f.MeterReported(1_000_000 + number), LINK))
        assert number < 1_000
    refused(table, "the disk is full: what is done could not be written down")
    table.disk.room = 1 << 40
    table.run_for(20 * SECOND)
    taken(table)


def test_a_table_that_is_locked_out() -> None:
    table = quiet_table()
    table._release(table.writer.lock("journal damaged", "S1"))
    table.run_for(SECOND)
    refused(table, "the table is locked out: journal damaged")
    table._release(table.writer.unlock(["S1", "S2"]))
    taken(table)


WAIT = "the power fails, or readings were lost: wait until all is read again"


def test_a_failing_power() -> None:
    table = quiet_table()
    table.bench.faults.do("powerfail")
    table.run_for(2 * SECOND)
    refused(table, WAIT)


def test_readings_that_were_lost() -> None:
    table = quiet_table()
    table._put(Overrun(7))
    refused(table, WAIT)
    table._put(CaughtUp(7))
    taken(table)
