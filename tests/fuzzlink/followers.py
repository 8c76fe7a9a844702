"""Those who follow the server's feed, and what each answer must hold.

What was noted is kept here a second time, by counting alone, so that an entry that is lost or
doubled, and a reload that is missing or needless, is seen without the numbers of the feed.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from link.server.feed import LinkFeed
from link.server.staff_chain import StaffChain
from link.server.teller import ALL, Teller
from record.kit.feed import Changes, Mirror
from record.kit.lines import line_of
from web.sources import read_changes

if TYPE_CHECKING:
    from tests.fuzzlink.world import World

QUIET_MS: Final = 1_500
"""More than any pace of the feed."""
MOST_READS: Final = 20


class WatchedFeed(LinkFeed):
    """The server's own, by the clock of the world; it keeps a list of all that was noted."""

    def __init__(self, now_s: Callable[[], float], longest: int) -> None:
        super().__init__(now_s, longest)
        self.begun = 0
        """How often it began again."""
        self.noted: list[Any] = []
        self.longest = longest
        self.durable: Callable[[], int] = lambda: 0
        """The last event of the store."""

    def restart(self) -> None:
        super().restart()
        self.begun += 1
        self.noted = []

    def set(self, parts: Mapping[str, Any]) -> None:
        if "conservation" in parts:
            event, durable = parts["conservation"]["event"], self.durable()
            assert event <= durable, f"event {event} is told; only {durable} are committed"
        super().set(parts)

    def note(self, entries: Iterable[Mapping[str, Any]]) -> None:
        told = list(entries)
        super().note(told)
        self.noted += json.loads(json.dumps(told))


class Follower:
    """As the web process: its reader of answers, its mirror."""

    def __init__(self) -> None:
        self.mirror = Mirror()
        self._feed: tuple[WatchedFeed, int] | None = None
        self._seen = 0
        """Entries of this feed that it had, or knows it missed."""

    def read(self, world: World) -> Changes:
        asked = self.mirror.request()
        told = world.answer({"verb": "changes", "wait_ms": 0, **asked})
        assert "error" not in told, told
        changes = read_changes(line_of(told))
        self._check(world.feed, asked["after"], changes)
        self.mirror.take(changes)  # ValueError if a number goes back, or an entry comes twice
        return changes

    def _check(self, feed: WatchedFeed, after: int, changes: Changes) -> None:
        here = feed, feed.begun
        noted, oldest = feed.noted, max(0, len(feed.noted) - feed.longest)
        reload = self._feed != here or self._seen < oldest
        assert changes["reloaded"] == reload, f"reloaded: {changes['reloaded']}, not {reload}"
        if not reload:
            assert all(n > after for n, _ in changes["parts"].values()), (
                "a part for the second time"
            )
        assert all(n <= changes["n"] for n, _ in changes["parts"].values())
        told = [{name: one[name] for name in one if name != "n"} for one in changes["log"]]
        assert told == noted[oldest if reload else self._seen :], "entries lost or doubled"
        self._feed, self._seen = here, len(noted)

    def parts(self) -> dict[str, Any]:
        return {name: json.loads(bytes(value)) for name, (_, value) in self.mirror.parts.items()}


def read_all(world: World, follower: Follower) -> None:
    """Until nothing more is to be told."""
    for _ in range(MOST_READS):
        world.clock.go(QUIET_MS)
        world.turn()
        if not follower.read(world)["parts"] and not world.network.more:
            return
    raise AssertionError("the feed never comes to rest")


def compare(world: World) -> None:
    """A follower has what a newcomer gets, and what the server makes from its store."""
    slow_ms, world.clock.slow_ms = world.clock.slow_ms, 0
    newcomer = Follower()
    for follower in (*world.followers, newcomer):
        read_all(world, follower)
    wanted = made_again(world)
    for follower in world.followers:
        follower.read(world)
        found = follower.parts()
        assert found == newcomer.parts()
        _same(found, wanted)
    world.clock.slow_ms = slow_ms


def _same(found: Mapping[str, Any], wanted: Mapping[str, Any]) -> None:
    # Made when money moved; what came after did not move any.
    now = wanted["conservation"]["event"]
    assert found["conservation"]["event"] <= now
    found = {**found, "conservation": {**found["conservation"], "event": now}}
    for part, value in wanted.items():
        if part != "alarms":
            assert found[part] == value, _difference(part, found[part], value)
    # A restart may not know that an alarm is over, and then it is louder, but it forgets none and
    # does not take one for acknowledged that nobody acknowledged.
    again = {(one["code"], one["table"], one["about"]): one for one in wanted["alarms"]}
    for one in found["alarms"]:
        other = again.get((one["code"], one["table"], one["about"]))
        assert other is not None, f"{one} is not open after a restart"
        known = (None, one["acknowledged"]) if one["table"] else (one["acknowledged"],)
        assert other["acknowledged"] in known, f"{one} is {other} after a restart"


def _difference(where: str, found: Any, wanted: Any) -> str:
    """The first one inside."""
    if isinstance(found, dict) and isinstance(wanted, dict) and found.keys() == wanted.keys():
        pairs = [(f"{where}.{key}", found[key], wanted[key]) for key in found]
    elif isinstance(found, list) and isinstance(wanted, list) and len(found) == len(wanted):
        pairs = [(f"{where}[{at}]", *two) for at, two in enumerate(zip(found, wanted, strict=True))]
    else:
        return f"part {where}: {str(found)[:300]}, not {str(wanted)[:300]}"
    return next(_difference(*pair) for pair in pairs if pair[1] != pair[2])


def made_again(world: World) -> dict[str, Any]:
    """Every part, by a teller that knows nothing but the store, its orders and the ledger."""
    feed = LinkFeed(lambda: world.clock.ticks_ms / 1_000)
    office = world.server.office
    chain, office.chain = office.chain, StaffChain().read(world.store.staff())
    teller = Teller(world.server, world.store, feed)
    teller.begin()
    assert office.chain.changed == chain.changed, "changes of accounts are not those on record"
    office.chain = chain
    feed.is_fresh()  # somebody asks
    teller.turn(world.clock.ticks_ms, asked=True)
    teller.turn(world.clock.ticks_ms + QUIET_MS)  # the rest of the sums
    changes = feed.wait("", 0, 0)
    assert {*changes["parts"]} == {*ALL}
    return {name: json.loads(json.dumps(value)) for name, (_, value) in changes["parts"].items()}


def forged(world: World, follower: Follower) -> None:
    """A number that the feed never gave: everything is sent again."""
    asked = {**follower.mirror.request(), "after": 2**50}
    told = world.answer({"verb": "changes", "wait_ms": 0, **asked})
    assert told["reloaded"], told
