"""What people and monitors see of the link."""

from __future__ import annotations

from controller.commands.status import _link
from controller.daemon.metrics import Process
from controller.daemon.metrics import _link as _figures
from controller.faults.status import LinkStatus
from controller.faults.troubles import troubles
from controller.link.session import Trouble
from tests.controller.link.model import ModelServer, World, contributed


def gauges(link: LinkStatus | None) -> dict[str, int]:
    families = _figures({"link": link}, Process())
    return {name: value for name, _, _, samples in families for _, value in samples}


def link_of(world: World) -> LinkStatus:
    return world.session.status(world.now)


def test_an_open_link_is_told_in_a_line_and_in_figures() -> None:
    server = ModelServer(epoch=3)
    world = World([server])
    world.run(5_000)
    world.write(contributed(1))
    world.run(1_000)
    server.mute = True
    world.write(contributed(2))
    world.run(500)
    link = link_of(world)
    assert _link(link) == ["link open: model at tcp://model-0:1, epoch 3; 1 of 2 events waiting"]
    assert gauges(link) == {
        "link_connected": 1, "link_halted": 0, "link_server_epoch": 3, "link_events": 2,
        "link_acknowledged": 1, "link_outbox_depth": 1, "link_last_ack_ms": link["last_ack_ms"],
        "link_heard_ms": link["heard_ms"],
    }  # fmt: skip
    assert 1_400 <= (link["last_ack_ms"] or 0) <= 1_500
    assert gauges(None) == {}


def test_a_link_that_waits_says_why() -> None:
    world = World([ModelServer(leads=False)])
    world.write(contributed(1))
    world.run(2_000)
    (line,) = _link(link_of(world))
    assert line.endswith("1 event waiting: tcp://model-0:1: not the leader (E-LNK-020)")
    assert gauges(link_of(world))["link_heard_ms"] == -1


def test_a_halted_journal_is_the_first_trouble() -> None:
    world = World([ModelServer(halted="event 7 has two hashes")])
    world.run(2_000)
    link = link_of(world)
    assert link["state"] == "halted"
    found = troubles({"progressive": True, "link_up": False, "link_configured": True, "link": link})
    assert [(one.code, one.level) for one in found] == [
        ("E-TBL-018", "stopped"),
        ("E-TBL-003", "degraded"),
    ]
    assert "event 7 has two hashes (E-LNK-015)" in found[0].line
    assert world.troubles == [Trouble("E-LNK-015", "event 7 has two hashes (E-LNK-015)", True)]
