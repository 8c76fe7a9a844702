"""The table's talk with its servers: nothing lost, nothing twice, whatever the network does."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from controller.link.outbox import RECENT, RESEND_MS, WINDOW
from controller.link.session import CHECKPOINT_MS, REFUSED_MS, Fetch, Send
from record.link.events import Reversed, Wager
from record.link.messages import (
    Ack,
    Beat,
    Bye,
    Checkpoint,
    Event,
    Hello,
    Noted,
    ServerRefused,
    Welcome,
)
from tests.controller.link.model import Committed, Lies, ModelServer, World, contributed

MINUTE = 60_000


def opened(world: World, within_ms: int = 10_000) -> World:
    world.run(within_ms)
    assert world.session.stage == "open", world.session.status(world.now)
    return world


def events_sent(world: World) -> list[int]:
    return [message.n for message in world.sent if isinstance(message, Event)]


def test_hello_says_who_and_where_the_journal_ends() -> None:
    world = World([ModelServer()])
    world.write(contributed(1))
    opened(world)
    hello = next(m for m in world.sent if isinstance(m, Hello))
    assert (hello.table, hello.game, hello.meter_rule) == ("table-1", "MBS3", "sequential")
    assert (hello.sent, hello.seq, hello.head) == (1, 3, world.paper.events[0].hash)
    assert hello.versions == (1, 2, 3, 4)


def test_events_go_out_once_each_in_order() -> None:
    server = ModelServer()
    world = opened(World([server]))
    for number in range(1, 101):
        world.write(contributed(number, number))
    world.run(1_000)
    assert events_sent(world) == list(range(1, 101))
    assert server.committed.pool_cents == 5050
    assert (world.session.outbox.acked, world.session.outbox.depth) == (100, 0)


def test_a_released_event_is_handed_over_once_and_goes_out_at_once() -> None:
    world = opened(World([ModelServer()]))
    handed = []
    for number in range(1, 101):
        world.paper.write(contributed(number))
        done = world.session.grown(world.paper.head, world.paper.events[-1:], world.now)
        handed += [one.message for one in done if isinstance(one, Send)]
        world.do(done)
        world.run(10)
    assert handed == world.paper.events
    assert all(sent is event for sent, event in zip(handed, world.paper.events, strict=True))
    assert events_sent(world) == list(range(1, 101))
    assert world.fetches == []


def test_only_what_is_no_longer_held_is_read_from_the_journal() -> None:
    """A long outage: the latest events are held, those before them stand in the journal alone."""
    server = ModelServer(leads=False)
    world = World([server])
    for number in range(1, RECENT + 41):
        world.write(contributed(number))
        assert len(world.session.outbox.recent) <= RECENT
    server.leads = True
    opened(world, MINUTE)
    assert server.n == RECENT + 40
    assert events_sent(world) == list(range(1, RECENT + 41))
    asked = [n for fetch in world.fetches for n in range(fetch.first, fetch.last + 1)]
    assert asked == list(range(1, 41))


def test_after_a_start_everything_comes_from_the_journal_until_something_is_released() -> None:
    world = World([ModelServer()])
    for number in range(1, 4):
        world.paper.write(contributed(number))
    world.start_table()
    world.write(contributed(4))
    opened(world)
    assert world.fetches == [Fetch(1, 3)]
    assert events_sent(world) == [1, 2, 3, 4]


def test_no_more_than_a_window_is_on_its_way() -> None:
    server = ModelServer()
    world = opened(World([server]))
    server.mute = True
    for number in range(1, 101):
        world.write(contributed(number))
    world.run(RESEND_MS - 1)
    assert events_sent(world) == list(range(1, WINDOW + 1))


def test_a_lost_ack_is_answered_by_sending_again_and_nothing_counts_twice() -> None:
    """Fault row 33."""
    server = ModelServer()
    world = opened(World([server]))
    take = server.take
    lost: list[object] = []

    def without_acks(peer: object, message: object) -> list[object]:
        replies = take(peer, message)
        lost.extend(r for r in replies if isinstance(r, Ack))
        return [r for r in replies if not isinstance(r, Ack)]

    server.take = without_acks  # type: ignore[method-assign]
    world.write(contributed(1, 500))
    world.run(RESEND_MS + 100)
    server.take = take  # type: ignore[method-assign]
    world.run(RESEND_MS + 100)
    assert len(lost) >= 2
    assert events_sent(world)[:3] == [1, 1, 1]
    assert (server.committed.pool_cents, server.n) == (500, 1)
    assert world.session.outbox.depth == 0


def test_an_acknowledged_event_is_not_forgotten() -> None:
    """Fault row 47: the server comes back from an old backup and gets all of it again."""
    server = ModelServer()
    world = opened(World([server]))
    for number in range(1, 11):
        world.write(contributed(number))
    world.run(1_000)
    backup = server.committed.copy()
    for number in range(11, 31):
        world.write(contributed(number))
    world.run(1_000)
    assert server.n == 30
    server.committed = backup
    server.greeted.clear()
    world.run(10_000)
    assert server.committed.pool_cents == world.paper.cents == 3000
    assert [t.code for t in world.troubles] == ["E-LNK-062"]
    assert "from event 30 to 10" in world.troubles[0].text


@pytest.mark.parametrize("restored", [0, 7])
def test_a_restore_that_happens_while_the_table_is_away_is_seen_too(restored: int) -> None:
    server = ModelServer()
    world = opened(World([server]))
    for number in range(1, 11):
        world.write(contributed(number))
    world.run(1_000)
    events = server.committed.events[:restored]
    server.committed = Committed(events, 100 * restored)
    world.start_table()
    opened(world)
    world.run(1_000)
    assert server.committed.pool_cents == 1000


def test_a_gap_is_filled_from_where_the_server_stands() -> None:
    server = ModelServer()
    world = opened(World([server]))
    for number in range(1, 6):
        world.write(contributed(number))
    world.run(500)
    server.committed = Committed(server.committed.events[:2], 200)
    world.write(contributed(6))
    world.run(500)
    assert server.committed.pool_cents == 600
    assert events_sent(world) == [1, 2, 3, 4, 5, 6, 3, 4, 5, 6]


def test_a_server_that_has_more_than_the_journal_gets_nothing() -> None:
    """The card was restored from an old image: going on would give old numbers to new events."""
    server = ModelServer()
    world = World([server])
    for number in range(1, 4):
        world.paper.write(contributed(number))
    server.committed = Committed(list(world.paper.events), 300)
    world.paper.events.pop()
    world.start_table()
    world.run(MINUTE)
    assert world.session.stage != "open"
    assert "(E-LNK-060)" in world.session.halted
    assert events_sent(world) == []
    assert [(t.code, t.closed) for t in world.troubles] == [("E-LNK-060", True)]


def test_events_that_are_gone_from_the_journal_stop_the_link() -> None:
    world = World([ModelServer()])
    for number in range(1, 4):
        world.paper.write(contributed(number))
    world.start_table()
    events, world.paper.events = world.paper.events, []
    world.run(5_000)
    assert "event 1, which this journal no longer has (E-LNK-061)" in world.session.halted
    world.paper.events = events
    opened(world, 2 * REFUSED_MS)
    assert world.session.halted == ""


def test_what_was_read_for_a_connection_that_is_over_is_not_missed() -> None:
    world = opened(World([ModelServer()]))
    world.paper.write(contributed(1))
    (stale,) = world.session.grown(world.paper.head, [], world.now)
    assert isinstance(stale, Fetch)
    world.break_line()
    world.paper.write(contributed(2))
    world.session.grown(world.paper.head, [], world.now)
    fresh = None
    while fresh is None:
        world.run(1)
        fresh = world.session._fetch
    assert world.session.fetched(stale, [], world.now) == []
    assert world.session.halted == ""
    opened(world)
    assert world.session.outbox.depth == 0


# --- heartbeats and dead lines -------------------------------------------------------------------


def test_heartbeats_count_from_the_moment_they_were_asked_for() -> None:
    world = opened(World([ModelServer(beat_ms=1_000)]))
    world.pulses.clear()
    world.lies = Lies(delay_ms=700)
    world.run(20_000)
    assert len(world.pulses) >= 15
    assert all(0 <= heard - asked <= 1_400 for heard, asked in world.pulses)
    asked = [asked for _, asked in world.pulses]
    assert asked == sorted(asked)
    assert max(b - a for a, b in pairwise(asked)) <= 2_000


def test_a_clock_that_is_put_back_makes_no_old_answer_new() -> None:
    world = opened(World([ModelServer(beat_ms=1_000)]))
    for _ in range(20):
        world.skew_ms -= 1_000  # the wall clock stands still
        world.run(1_000)
    beats = [m.at_ms for m in world.sent if isinstance(m, Beat)]
    assert len(set(beats)) == len(beats)
    assert world.pulses[-1][0] - world.pulses[-1][1] <= 10


def test_test_mode_is_told_at_once_and_with_every_beat_to_a_server_that_knows_it() -> None:
    world = opened(World([ModelServer(beat_ms=1_000)]))
    world.sent.clear()
    (told,) = world.session.tests(True, world.now)
    assert isinstance(told, Send)
    assert isinstance(told.message, Beat)
    assert told.message.test
    assert world.session.tests(True, world.now) == []
    world.run(3_000)
    assert {m.test for m in world.sent if isinstance(m, Beat)} == {True}
    world.session.version = 1
    world.session.tests(False, world.now)
    (older,) = world.session.tests(True, world.now)
    assert isinstance(older, Send)
    assert isinstance(older.message, Beat)
    assert not older.message.test


def test_a_half_open_line_is_dead_within_three_beats() -> None:
    """Fault row 34: nothing comes, and nobody says so."""
    server = ModelServer(beat_ms=1_000)
    world = opened(World([server]))
    server.mute = True
    world.run(1_900)
    assert world.session.stage == "open"
    world.run(1_101)
    assert world.session.stage != "open"


def test_a_server_that_is_not_the_leader_sends_us_to_the_next() -> None:
    standby, leader = ModelServer(leads=False), ModelServer(epoch=7)
    world = opened(World([standby, leader]), 2_000)
    assert (world.session.endpoint, world.session.epoch) == ("tcp://model-1:1", 7)
    assert world.troubles == []


def test_failover_when_the_leader_dies() -> None:
    first, second = ModelServer(), ModelServer(leads=False)
    world = opened(World([first, second]))
    world.write(contributed(1))
    world.run(100)
    second.committed, second.leads, first.leads = first.committed, True, False
    world.break_line()
    world.write(contributed(2))
    opened(world, 3_000)
    assert second.committed.pool_cents == 200


def test_waits_grow_and_are_never_the_same() -> None:
    """Fault row 37: 500 tables that lost the server at once do not come back at once."""
    server = ModelServer()
    first, dials = set(), []
    for seed in range(500):
        world = World([server], seed)
        first.add(world.session.wake_ms)
    assert len(first) > 250
    assert all(0 <= at < 500 for at in first if at is not None)
    world = World([ModelServer(leads=False)], 3)
    while world.now_ms < 5 * MINUTE:
        world.run(50)
        dials.append(len([m for m in world.sent if isinstance(m, Hello)]))
    assert dials[2 * 20] >= 3  # three tries in the first two seconds
    assert 20 <= dials[-1] <= 50  # and then every seven to fifteen


def test_a_checkpoint_reaches_the_server_at_least_every_minute() -> None:
    server = ModelServer()
    world = opened(World([server]))
    server.committed.heads.clear()
    for minute in range(1, 11):
        world.write(contributed(minute))
        world.run(MINUTE)
        assert len(server.committed.heads) >= minute
        assert server.committed.heads[-1][0] <= world.paper.seq
    assert len(server.committed.heads) <= 10 * MINUTE // CHECKPOINT_MS + 1


def test_a_checkpoint_that_is_not_noted_is_said_again() -> None:
    world = opened(World([ModelServer()]))
    before = len([m for m in world.sent if isinstance(m, Checkpoint)])
    world.do(world.session.heard(Noted(0), world.now))
    world.lies = Lies(lose=1.0)
    world.run(2_000)
    world.lies = Lies()
    world.run(2 * MINUTE)
    assert len([m for m in world.sent if isinstance(m, Checkpoint)]) - before >= 2


# --- what people must look into ------------------------------------------------------------------


def test_a_journal_that_was_halted_sends_nothing_and_says_so_once() -> None:
    server = ModelServer(halted="two hashes for event 7")
    world = World([server])
    world.write(contributed(1))
    world.run(5 * MINUTE)
    assert events_sent(world) == []
    assert [(t.code, t.closed) for t in world.troubles] == [("E-LNK-015", True)]
    assert world.session.status(world.now)["state"] == "halted"
    server.halted = ""
    opened(world, 2 * REFUSED_MS)
    world.run(1_000)
    assert (world.session.halted, server.n) == ("", 1)


def test_a_fork_found_in_mid_stream_stops_it_at_once() -> None:
    world = opened(World([ModelServer()]))
    world.write(contributed(1))
    fork = ServerRefused("E-LNK-030", "event 1 has two hashes", n=1, halted=True)
    world.do(world.session.heard(fork, world.now))
    assert world.session.halted == "event 1 has two hashes (E-LNK-030)"
    assert [(t.code, t.closed) for t in world.troubles] == [("E-LNK-030", True)]
    sent = len(events_sent(world))
    world.write(contributed(2))
    world.run(REFUSED_MS // 2 - 1)
    assert len(events_sent(world)) == sent


def test_no_pulse_before_the_server_has_all_there_was() -> None:
    server = ModelServer(refuse={3: "E-LNK-016"})
    world = World([server])
    for number in range(1, 6):
        world.paper.write(contributed(number))
    world.start_table()
    opened(world)
    assert world.pulses == []
    server.refuse.clear()
    world.run(5_000)
    assert world.pulses


@pytest.mark.parametrize(
    "message",
    [
        Welcome(7, "x", 1, 0, 1_000, ()),
        ServerRefused("E-LNK-010", "versions 1, 2; this server speaks 9"),
    ],
)
def test_another_version_is_refused_with_words(message: Welcome | ServerRefused) -> None:
    server = ModelServer()
    server.take = lambda _peer, _message: [message]  # type: ignore[method-assign, assignment]
    world = World([server])
    world.run(MINUTE)
    assert world.session.stage != "open"
    assert [t.code for t in world.troubles] == ["E-LNK-010"]


def test_nonsense_of_the_server_is_not_believed() -> None:
    for nonsense in (Ack(99), ServerRefused("E-LNK-014", "gap", expected=99)):
        world = opened(World([ModelServer()]))
        world.write(contributed(1))
        world.do(world.session.heard(nonsense, world.now))
        assert [t.code for t in world.troubles] == ["E-LNK-063"]
        assert world.session.stage == "waiting"


def test_hello_again_when_the_server_asks_for_it() -> None:
    server = ModelServer()
    world = opened(World([server]))
    server.greeted.clear()  # it was restarted behind a proxy that kept the connection
    world.write(contributed(1))
    world.run(2_000)
    assert server.n == 1
    assert world.session.stage == "open"


def test_bye_ends_it_and_the_next_server_is_tried_soon() -> None:
    world = opened(World([ModelServer(), ModelServer()]))
    first = world.session.endpoint
    world.do(world.session.heard(Bye("restart"), world.now))
    world.run(1_000)
    assert world.session.endpoint != first
    assert world.session.stage == "open"
    assert [type(do).__name__ for do in world.session.close("the table stops")] == [
        "Send", "HangUp",
    ]  # fmt: skip
    assert world.session.wake_ms is None


# --- any interleaving ----------------------------------------------------------------------------

ROUND = st.sampled_from(["post", "post", "post", "void", "wait"])
FAULT = st.sampled_from(["line", "table", "server", "restore", "standby"])


@settings(max_examples=60)
@given(
    st.lists(st.one_of(ROUND, ROUND, FAULT), max_size=60),
    st.integers(0, 2**32),
    st.sampled_from([0.0, 0.05, 0.3]),
    st.sampled_from([0.0, 0.3]),
    st.sampled_from([1, 50, 3_000]),
)
def test_the_pool_is_exact_after_any_faults(
    steps: list[str], seed: int, lose: float, double: float, delay_ms: int
) -> None:
    """Fault rows 31 to 33 and 47, with both sides going down at any moment."""
    servers = [ModelServer(), ModelServer(leads=False)]
    servers[1].committed = servers[0].committed
    world = World(servers, seed)
    world.lies = Lies(lose, double, delay_ms)
    backups = [servers[0].committed.copy()]
    number = 0
    for step in steps:
        match step:
            case "post":
                number += 1
                world.write(contributed(number, world.random.randrange(1, 500)))
            case "void" if number:
                world.write(Reversed(number, (Wager(1, 1, 1),)))
            case "line":
                world.break_line()
            case "table":
                world.start_table()
            case "server":
                for server in servers:
                    server.greeted.clear()
                world.break_line()
            case "restore":
                committed = world.random.choice(backups).copy()
                for server in servers:
                    server.committed = committed
                    server.greeted.clear()
            case "standby":
                for server in servers:
                    server.leads = not server.leads
                    server.greeted.clear()
        backups.append(servers[0].committed.copy())
        world.run(world.random.choice([0, 1, 300, 4_000]))
        applied = servers[0].committed.events
        assert applied == world.paper.events[: len(applied)]
    world.lies = Lies()
    world.run(2 * MINUTE)
    assert servers[0].committed.events == world.paper.events
    assert servers[0].committed.pool_cents == world.paper.cents
    assert world.session.outbox.depth == 0
    assert not any(server.halted for server in servers)
