"""What goes wrong with the feed alone: found, wherever it is planted."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from random import Random
from typing import Any

import pytest

from link.ledger.ledger import Ledger
from link.rows import Group
from link.server import feed_parts, feed_words, teller
from link.server.feed import LinkFeed
from link.server.leadership import Leadership, StepDown
from link.server.staff_office import StaffOffice
from link.server.sums_window import SumsWindow
from link.server.teller import ALL, MONEY, SUMS
from link.store.errors import Broken, Failed, Fenced, StoreError, Unknown
from record.kit.feed import Feed
from tests.fuzzlink.followers import QUIET_MS, Follower, compare, read_all
from tests.fuzzlink.history import places, play
from tests.fuzzlink.steps import contributed, pools
from tests.fuzzlink.world import LEASE_MS, START_MS, World

HOUR_MS = 3_600_000
Patch = pytest.MonkeyPatch


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    rng = Random(1)
    with places("sqlite", tmp_path) as new:
        made = World(new(), pools(rng), rng)
        made.clock.slow_ms = 0
        yield made
        made.store.close()


def plays(world: World, rounds: int = 20) -> None:
    """Wagers alone: nothing halts."""
    for _ in range(rounds):
        for table in world.tables:
            world.send(table, table.hello())
            for event in table.events[table.acked.get(table.journal, 0) :]:
                world.send(table, event)
            world.send(table, table.event(contributed(table, world.rng)))
        world.turn()


def test_who_came_back_after_an_hour_has_the_hour_that_is_over(world: World) -> None:
    """Nobody followed, and the hour ended since the server last looked."""
    follower, over = world.followers[0], (START_MS // HOUR_MS + 1) * HOUR_MS
    world.clock.go(over - 60_000 - world.clock.wall_ms)
    plays(world)
    read_all(world, follower)
    world.clock.go(over - 200 - world.clock.wall_ms)
    plays(world, 5)
    world.clock.go(400)
    follower.read(world)
    compare(world)


def test_a_break_of_the_lead_is_told_and_nothing_is_lost(world: World) -> None:
    plays(world)
    read_all(world, world.followers[0])
    world.lose()
    plays(world)
    compare(world)


# --- nothing that is not committed ----------------------------------------------------------------


def stored(world: World) -> dict[tuple[str, str], int]:
    meters = Ledger(world.pools, world.store.load()).meters()
    return {(one.pool, one.level): one.cents for one in meters}


def shown(meters: Any) -> dict[tuple[str, str], int]:
    return {(one["pool"], one["level"]): one["cents"] for one in meters}


def broken(_group: Any) -> None:
    raise RuntimeError("planted")


def failed(_group: Any) -> None:
    raise Failed("here", "planted")


def unknown(_group: Any) -> None:
    raise StepDown(Unknown("here", "planted"), unknown=True)


@pytest.mark.parametrize("spoil", [None, broken, failed, unknown])
def test_the_first_who_follows_is_told_what_is_committed(
    world: World, spoil: Callable[[Any], None] | None
) -> None:
    """He asks in the turn that takes wagers; with some of them the group never is committed."""
    plays(world)
    before = stored(world)
    commit, leadership = world.server._leadership.commit, world.server._leadership
    seen: list[Mapping[str, Any]] = []

    def looked(group: Group) -> None:
        seen.append(world.feed.wait("", 0, 0)["parts"])
        if spoil is not None and group.sums:
            spoil(group)
        commit(group)

    leadership.commit = looked  # type: ignore[method-assign]
    for table in world.tables:
        world.send(table, table.event(contributed(table, world.rng)))
    asked = b'{"verb": "changes", "wait_ms": 0}'
    first = world.control.answer(asked, os.geteuid())
    for _ in range(4):
        world.server.turn(0)
        world.clock.go(100)
    leadership.commit = commit  # type: ignore[method-assign]
    assert seen[0] == {}, "told before it was committed"
    assert ("error" in first) == (spoil is not None)
    world.clock.go(LEASE_MS if spoil in (failed, unknown) else 1_000)
    world.server.turn(0)
    told = world.control.answer(asked, os.geteuid())["parts"]
    assert (stored(world) == before) == (spoil is not None)
    assert shown(told["meters"][1]) == stored(world)
    assert told["conservation"][1]["event"] <= world.store.standing().last_event


def test_what_the_server_says_to_itself_is_told_once_it_is_committed(world: World) -> None:
    """An alarm about the clock is raised after the commit of its turn."""
    plays(world)
    follower = world.followers[0]
    read_all(world, follower)
    world.clock.wall_ms -= 3_600_000
    plays(world, 3)  # the feed looks at each part that it is given
    read_all(world, follower)
    assert "E-LNK-043" in [one["code"] for one in follower.parts()["alarms"]]


def test_what_is_recorded_when_an_input_is_undone_is_on_the_board(
    world: World, monkeypatch: Patch
) -> None:
    plays(world)
    follower = world.followers[0]
    read_all(world, follower)
    begin, commit = StaffOffice.begin, Leadership.commit

    def finds(office: StaffOffice, ledger: Ledger, *given: Any) -> None:
        begin(office, ledger, *given)
        ledger.alarm("E-STO-014", "", "planted", world.clock.wall_ms)

    def breaks(leadership: Leadership, group: Group) -> None:
        if group.sums:
            raise RuntimeError("planted")
        commit(leadership, group)

    monkeypatch.setattr(StaffOffice, "begin", finds)
    monkeypatch.setattr(Leadership, "commit", breaks)
    for table in world.tables[:2]:
        world.send(table, table.event(contributed(table, world.rng)))
    world.server.turn(0)
    assert world.server.counts["undone"] == 1
    world.clock.go(QUIET_MS)
    world.server.turn(0)
    follower.read(world)
    assert "E-STO-014" in [one["code"] for one in follower.parts()["alarms"]]
    assert shown(follower.parts()["meters"]) == stored(world)


# --- one part that cannot be made -----------------------------------------------------------------


@pytest.mark.parametrize("part", [part for part in ALL if part not in ("server", "accounts")])
def test_a_part_that_cannot_be_made_keeps_no_other_back(
    part: str, world: World, monkeypatch: Patch
) -> None:
    def fails(*_given: Any) -> Any:
        raise Broken("here", "planted")

    with monkeypatch.context() as patch:
        if part in SUMS:
            patch.setattr(SumsWindow, "past" if part == "sums" else "present", fails)
        else:
            patch.setattr(feed_parts, part, fails)
        plays(world, 3)
        asked = b'{"verb": "changes", "wait_ms": 0}'
        told = world.control.answer(asked, os.geteuid())["parts"]
        assert {*told} == {*ALL} - {part}
        assert f"feed: part {part}: Broken" in world.log.getvalue()
        for table in world.tables:
            world.send(table, table.event(contributed(table, world.rng)))
        for _ in range(20):
            world.server.turn(0)
            world.clock.go(100)
        last = world.control.answer(asked, os.geteuid())["parts"]
        assert all(last[one][0] > told[one][0] for one in {*MONEY, "sums_now"} - {part})
        assert world.log.getvalue().count("planted") <= 4, "once a second"
        world.clock.go(QUIET_MS)
    world.server.turn(0)
    assert {*world.control.answer(asked, os.geteuid())["parts"]} == {*ALL}


@pytest.mark.parametrize("error", [Failed, Fenced])
def test_a_store_that_it_may_lead_no_longer_ends_its_lead(
    error: type[StoreError], world: World, monkeypatch: Patch
) -> None:
    def fails(*_given: Any, **_more: Any) -> Any:
        raise error("here", "planted")

    plays(world, 3)
    with monkeypatch.context() as patch:
        patch.setattr(type(world.store), "sums", fails)
        told = world.control.answer(b'{"verb": "changes", "wait_ms": 0}', os.geteuid())
    assert told["error"] == "E-LNK-020"
    assert world.server.floor is None


# --- planted --------------------------------------------------------------------------------------


def failing_part(patch: Patch) -> None:
    real = feed_parts.meters

    def meters(ledger: Any) -> Any:
        if ledger.state.event > 60:
            raise KeyError("planted")
        return real(ledger)

    patch.setattr(feed_parts, "meters", meters)


def failing_words(patch: Patch) -> None:
    def steps(_group: Any) -> Any:
        raise KeyError("planted")

    patch.setattr(feed_words, "steps", steps)


def stale_part(patch: Patch) -> None:
    patch.setattr(teller, "MONEY", ("meters", "conservation"))


def sums_not_added(patch: Patch) -> None:
    patch.setattr(SumsWindow, "add", lambda *_given: None)


def same_feed_again(patch: Patch) -> None:
    patch.setattr(LinkFeed, "restart", lambda _feed: None)


def dropped_unseen(patch: Patch) -> None:
    """Entries that left the log are not missed."""
    real = Feed._keep

    def keep(feed: Feed, entry: Any) -> None:
        real(feed, entry)
        feed.dropped = 0

    patch.setattr(Feed, "_keep", keep)


def half_of_the_entries(patch: Patch) -> None:
    real = LinkFeed.note
    patch.setattr(LinkFeed, "note", lambda feed, entries: real(feed, list(entries)[:1]))


HOLES: dict[str, tuple[Callable[[Patch], None], str]] = {
    "a part that cannot be made": (failing_part, "planted"),
    "a group without words": (failing_words, "planted"),
    "a part that is not made again": (stale_part, "part pools"),
    "sums that are not added": (sums_not_added, "part sums"),
    "the same feed after a restart": (same_feed_again, "reloaded|second time|entries"),
    "entries dropped unseen": (dropped_unseen, "reloaded"),
    "half of the entries": (half_of_the_entries, "entries"),
}


@pytest.mark.parametrize("name", HOLES)
def test_a_fault_of_the_feed_is_found(name: str, tmp_path: Path, monkeypatch: Patch) -> None:
    plant, said = HOLES[name]
    plant(monkeypatch)
    with pytest.raises((AssertionError, ValueError), match=said):
        play_some(tmp_path)


def play_some(folder: Path) -> None:
    with places("sqlite", folder) as new:
        for seed in range(20):
            play(seed, new(), 200)


def test_a_follower_asks_as_the_web_process_does(world: World) -> None:
    follower = Follower()
    assert follower.read(world)["reloaded"]
    assert not follower.read(world)["reloaded"]
