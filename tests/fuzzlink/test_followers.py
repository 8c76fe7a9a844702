"""What goes wrong with the feed alone: found, wherever it is planted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from link.server import feed_parts, feed_words, teller
from link.server.feed import LinkFeed
from link.server.sums_window import SumsWindow
from record.kit.feed import Feed
from tests.fuzzlink.followers import Follower, compare, read_all
from tests.fuzzlink.history import places, play
from tests.fuzzlink.steps import contributed, pools
from tests.fuzzlink.world import START_MS, World

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
