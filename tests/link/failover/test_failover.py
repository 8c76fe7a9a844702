"""Rows 56 and 59 of the fault table on two machines: the primary dies, its standby takes over.

What was acknowledged is on the standby, because the commit waited for it. The twin without that
wait loses acknowledged events, and the same judge says so.
"""

from __future__ import annotations

import signal
from collections.abc import Callable
from contextlib import closing, suppress

import pytest

from link.store.errors import Unknown
from link.store.postgres import PostgresStore
from tests.link.failover.casino import BASE_CENTS, Floor, Link, missing, until
from tests.postgres import Instance

HOW: dict[str, Callable[[Instance], None]] = {
    "SIGKILL": Instance.kill,
    "immediate": Instance.crash,
    "frozen": lambda instance: instance.tell(signal.SIGSTOP),
}
LONG = [pytest.param(how, marks=pytest.mark.slow) for how in ("immediate", "frozen")]


@pytest.mark.parametrize("how", ["SIGKILL", *LONG])
def test_row_59_the_primary_dies_and_its_synchronous_standby_takes_over(
    opened: Callable[[bool], Floor], how: str
) -> None:
    floor = opened(True)
    pair = floor.pair
    floor.play(40)
    before = floor.epoch()
    HOW[how](pair.a)
    pair.b.promote()
    # Alone it acknowledges nothing, so what it has is what was replicated.
    told = floor.told()
    assert missing(pair.b, floor) == []
    until(
        lambda: any("it waits for a synchronous standby: a" in link.log() for link in floor.links),
        floor.logs,
    )
    assert floor.told() == told
    pair.follower(pair.b, "a", "'b'")
    floor.play(40)
    # Whoever could settle its last group in time still leads; else the lead was taken anew.
    assert floor.epoch() >= before > 0
    events = floor.finish()
    assert missing(pair.b, floor) == []
    assert floor.told() == events
    leader = floor.leader()
    assert leader is not None
    assert leader.status()["meters"][0]["cents"] == BASE_CENTS + events
    assert all(link.process is not None and link.process.poll() is None for link in floor.links)
    if how == "frozen":
        _the_old_primary_thaws(floor)
    else:
        _the_old_primary_comes_back(floor)
    assert missing(pair.b, floor) == []


def _a_server_of_the_old_primary(floor: Floor) -> Link:
    """Nobody told it that there is another primary now, and it does not give up."""
    old, new = str(floor.pair.a.folder), str(floor.pair.b.folder)
    text = floor.links[1].config.read_text("utf-8").replace(new, old).replace("link-2", "link-3")
    link = floor.copy("link-3", text, 0)
    floor.links.append(link)
    link.start()
    until(lambda: "waiting for the store" in link.log(), link.log)
    return link


def _the_old_primary_comes_back(floor: Floor) -> None:
    """It takes writes, and no commit of it counts."""
    pair = floor.pair
    link = _a_server_of_the_old_primary(floor)
    pair.a.start()
    until(lambda: "it waits for a synchronous standby: b" in link.log(), link.log)
    assert "FAULT_CODE=E-STO-003" in link.log()
    status = link.status()
    assert (status["leading"], "E-STO-003" in status["trouble"]) == (False, True)
    table = floor.tables[0].stranger
    table.endpoint = status["endpoints"][0]["tables"]
    assert table.join()["code"] == "E-LNK-020"
    table.close()
    # Found first, it is left for the one that can commit.
    with closing(PostgresStore(pair.url(pair.a, pair.b), statement_ms=1_500)) as store:
        tries = 0
        while store.query("SHOW data_directory") != [(str(pair.b.data),)]:
            tries += 1
            assert tries < 5
            with suppress(Unknown):
                assert store.lead("somebody", 60_000) is None


def _the_old_primary_thaws(floor: Floor) -> None:
    """A commit of the former leader waits in it for ever: nobody else comes to any."""
    link = _a_server_of_the_old_primary(floor)
    floor.pair.a.tell(signal.SIGCONT)
    until(lambda: "lock timeout" in link.log() or "standby: b" in link.log(), link.log)
    assert "<6>leading" not in link.log()


def test_row_59_without_its_standby_a_primary_acknowledges_nothing(
    opened: Callable[[bool], Floor],
) -> None:
    floor = opened(True)
    pair = floor.pair
    floor.play(20)
    pair.b.stop()
    until(lambda: any("FAULT_CODE=E-STO-003" in link.log() for link in floor.links), floor.logs)
    told = floor.told()
    until(lambda: floor.leader() is None, floor.logs)
    troubled = [link for link in floor.links if "E-STO-003" in link.status().get("trouble", "")]
    assert troubled
    until(lambda: all(_sent_on(table.stranger.heard[-20:]) for table in floor.tables), floor.logs)
    # To do without the standby is no way out: the servers are told to require one.
    pair.set_names(pair.a, "")
    until(lambda: all("E-STO-008" in link.log() for link in floor.links), floor.logs)
    assert floor.leader() is None
    assert floor.told() == told
    pair.set_names(pair.a, "b")
    pair.b.start()
    floor.play(20)
    events = floor.finish()
    assert missing(pair.a, floor) == []
    assert floor.told() == events


def _sent_on(heard: list[dict[str, object]]) -> bool:
    return any(message.get("code") == "E-LNK-020" for message in heard)


def test_the_twin_without_a_synchronous_standby_loses_what_was_acknowledged(
    opened: Callable[[bool], Floor],
) -> None:
    floor = opened(False)
    pair = floor.pair
    floor.play(20)
    assert any("E-STO-014" in link.log() for link in floor.links), "and it was said"
    with pair.b.connect() as db:
        db.execute("ALTER SYSTEM SET primary_conninfo = ''")
        db.execute("SELECT pg_reload_conf()")
    until(lambda: pair.following(pair.a) == "")
    floor.play(20)
    pair.a.kill()
    for link in floor.links:
        _freeze(link, signal.SIGSTOP)
    pair.b.promote()
    lost = missing(pair.b, floor)
    for link in floor.links:
        _freeze(link, signal.SIGCONT)
    assert len(lost) >= 20, lost
    assert all("was acknowledged and is not stored" in line for line in lost)
    # Tables keep what was acknowledged and send it again from the server's watermark: the money
    # comes back as long as they are there. What people ordered would not.
    floor.finish()
    assert missing(pair.b, floor) == []


def _freeze(link: Link, how: signal.Signals) -> None:
    assert link.process is not None
    link.process.send_signal(how)
