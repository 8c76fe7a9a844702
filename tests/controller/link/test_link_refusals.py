"""What the server refuses is not sent again and again: a pause, and one answer to many refusals."""

from __future__ import annotations

from controller.link.outbox import RESEND_MS
from record.link.messages import Event, Hello, ServerRefused
from tests.controller.link.model import ModelServer, World, contributed
from tests.controller.link.test_link_session import MINUTE, events_sent, opened


def test_a_refused_event_is_told_once_and_closes_the_progressive() -> None:
    """It is sent again until the server takes it or halts the journal; no pulse meanwhile."""
    server = ModelServer(refuse={2: "E-LNK-016"})
    world = opened(World([server], limit_ms=5_000))
    for number in (1, 2, 3):
        world.write(contributed(number))
    world.run(6_000)
    world.pulses.clear()
    world.run(20_000)
    assert world.pulses == []
    assert [(t.code, t.closed) for t in world.troubles] == [("E-LNK-016", False)]
    server.refuse.clear()
    world.run(5_000)
    assert (server.n, world.session.outbox.depth) == (3, 0)
    assert world.pulses


def test_a_refused_event_is_offered_again_alone_and_after_a_pause() -> None:
    """Events behind it would only be answered with a gap, as fast as the wire allows."""
    server = ModelServer(refuse={2: "E-POOL-001"})
    world = opened(World([server]))
    for number in range(1, 41):
        world.write(contributed(number))
    world.run(100)
    world.sent.clear()
    world.run(MINUTE)
    assert set(events_sent(world)) == {2}
    assert 10 <= len(events_sent(world)) <= MINUTE // RESEND_MS
    world.sent.clear()
    server.refuse.clear()
    world.run(2 * RESEND_MS)
    assert events_sent(world) == list(range(2, 41))
    assert (server.n, world.session.outbox.depth) == (40, 0)


def test_the_same_gap_is_filled_once_however_often_it_is_told() -> None:
    """One event is lost, and all that were on their way behind it tell the same gap."""
    server = ModelServer()
    world = opened(World([server]))
    server.mute = True
    for number in range(1, 21):
        world.write(contributed(number))
    world.run(10)
    for number in range(2, 21):
        gap = ServerRefused("E-LNK-014", "a gap", n=number, expected=1)
        world.do(world.session.heard(gap, world.now))
        world.run(10)
    assert events_sent(world) == [*range(1, 21), *range(1, 21)]
    server.mute = False
    world.run(2 * RESEND_MS)
    assert server.n == 20


def test_a_server_that_asks_for_the_same_event_for_ever_makes_no_loop() -> None:
    server = ModelServer()
    world = opened(World([server]))
    take = server.take

    def gap(peer: object, message: object) -> list[object]:
        if isinstance(message, Event):
            return [ServerRefused("E-LNK-014", "a gap", n=message.n, expected=1)]
        return take(peer, message)

    server.take = gap  # type: ignore[method-assign]
    for number in (1, 2, 3):
        world.write(contributed(number))
    world.run(MINUTE)
    assert len(events_sent(world)) <= 3 * (MINUTE // RESEND_MS + 2)
    assert world.pulses[-1][0] < world.now_ms - MINUTE // 2


def test_hello_is_said_once_for_all_that_was_on_its_way() -> None:
    server = ModelServer()
    world = opened(World([server]))
    for number in range(1, 21):
        world.write(contributed(number))
    server.greeted.clear()
    world.sent.clear()
    world.run(1_000)
    assert len([m for m in world.sent if isinstance(m, Hello)]) == 1
    assert server.n == 20
