"""A reader that polls at any moments, breaks and resumes sees each log entry exactly once and ends
with the parts of the source; or it gets ``reloaded`` and everything. So does one behind mirrors."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from record.kit.feed import Changes, Feed, Mirror

RING = 4


class Reader:
    """What a page keeps. It knows nothing of ``Mirror``, which is also under test."""

    def __init__(self) -> None:
        self.feed, self.n = "", 0
        self.parts: dict[str, Any] = {}
        self.log: list[int] = []
        self.reloads = 0

    def read(self, source: Feed, *, lost: bool = False) -> None:
        if not source.newer(self.feed, self.n):
            quiet = source.since(self.feed, self.n)
            assert (quiet["parts"], quiet["log"], quiet["reloaded"]) == ({}, [], False)
            return
        answer: Changes = json.loads(json.dumps(source.since(self.feed, self.n)))
        if lost:  # the connection broke before the answer arrived
            return
        if answer["reloaded"]:
            self.parts, self.log = {}, []
            self.reloads += 1
        for name, (n, value) in answer["parts"].items():
            assert answer["reloaded"] or n > self.n
            self.parts[name] = (n, value)
        self.log += [entry["said"] for entry in answer["log"]]
        self.feed, self.n = answer["feed"], answer["n"]


steps = st.lists(
    st.one_of(
        st.tuples(st.just("update"), st.sampled_from("abc"), st.integers(0, 2)),
        st.tuples(st.just("note"), st.just(""), st.just(0)),
        st.tuples(st.just("read"), st.just(""), st.integers(0, 2)),
        st.tuples(st.just("lost"), st.just(""), st.integers(0, 2)),
        st.tuples(st.just("restart"), st.just(""), st.just(0)),
        st.tuples(st.just("sync"), st.just(""), st.just(0)),
        st.tuples(st.just("new mirror"), st.just(""), st.just(0)),
    ),
    max_size=60,
)


class World:
    """A source, a mirror of it and three readers: two at the source, the third at the mirror."""

    def __init__(self) -> None:
        self.starts = 0
        self.said = 0
        self.source = Feed("f0", RING)
        self.mirror = Mirror(RING)
        self.readers = [Reader() for _ in range(3)]
        self.noted: list[int] = []
        """What this feed has noted, from its start."""

    def act(self, what: str, name: str, value: int) -> None:
        if what == "update":
            before = dict(self.source.parts)
            assert self.source.update({name: value}) == (before != self.source.parts)
        elif what == "note":
            self.said += 1
            self.source.note({"said": self.said})
            self.noted.append(self.said)
        elif what in ("read", "lost"):
            self.read(value, lost=what == "lost")
        elif what == "restart":
            self.starts += 1
            self.source = Feed(f"f{self.starts}", RING)
            self.noted = []
        elif what == "new mirror":
            self.mirror = Mirror(RING)
            self.sync()
        else:
            self.sync()

    def sync(self) -> None:
        self.mirror.take(json.loads(json.dumps(self.source.since(**self.mirror.request()))))

    def read(self, which: int, *, lost: bool = False) -> None:
        reader = self.readers[which]
        if which == 2:
            if self.mirror.feed:
                reader.read(self.mirror, lost=lost)
            return
        last = reader.log[-1] if reader.log else 0
        behind = [said for said in self.noted if said > last]
        exact = reader.feed == self.source.feed and len(behind) <= RING
        reloads = reader.reloads
        reader.read(self.source, lost=lost)
        if not lost:
            assert (reader.reloads > reloads) == (not exact)

    def check(self, reader: Reader) -> None:
        assert reader.parts == self.source.parts
        assert len(set(reader.log)) == len(reader.log)
        kept = self.noted[len(self.noted) - len(reader.log) :]
        assert reader.log == kept, "in order, without a gap"
        if reader.reloads <= 1 and len(self.noted) <= RING:
            assert reader.log == self.noted


@settings(max_examples=400)
@given(steps)
def test_a_reader_gets_every_entry_once_and_the_latest_parts(acts: list[Any]) -> None:
    world = World()
    for act in acts:
        world.act(*act)
    world.sync()
    for which, reader in enumerate(world.readers):
        world.read(which)
        world.check(reader)


@settings(max_examples=200)
@given(steps)
def test_a_mirror_answers_as_its_source(acts: list[Any]) -> None:
    """A resume at the mirror is exact wherever it is at the source, and nowhere else."""
    world = World()
    for act in acts:
        world.act(*act)
    world.sync()
    for feed in (world.source.feed, "", "other"):
        for after in range(-1, world.source.n + 2):
            assert world.mirror.since(feed, after) == json.loads(
                json.dumps(world.source.since(feed, after))
            )


def test_values_that_do_not_differ_are_no_change() -> None:
    feed = Feed("a")
    assert feed.update({"x": {"y": [1]}, "z": 1})
    assert not feed.update({"x": {"y": [1]}})
    assert feed.update({"x": {"y": [2]}, "z": 1})
    assert feed.since("a", 1)["parts"] == {"x": (2, {"y": [2]})}


def test_a_source_that_does_not_tell_what_it_dropped_is_taken_to_have_dropped_the_rest() -> None:
    mirror = Mirror()
    mirror.take(
        {"feed": "s", "n": 9, "reloaded": True, "parts": {}, "log": [{"n": 5}, {"n": 8}]},
    )
    assert not mirror.since("s", 4)["reloaded"]
    assert mirror.since("s", 3)["reloaded"]


@pytest.mark.parametrize(
    "answer",
    [
        {"feed": "t", "n": 3, "reloaded": False, "parts": {}, "log": []},
        {"feed": "s", "n": 1, "reloaded": False, "parts": {}, "log": []},
        {"feed": "s", "n": 3, "reloaded": False, "parts": {}, "log": [{"n": 2}]},
    ],
)
def test_an_answer_that_does_not_fit_is_refused(answer: Changes) -> None:
    source, mirror = Feed("s"), Mirror()
    source.update({"a": 1})
    source.note({})
    mirror.take(source.since("", 0))
    with pytest.raises(ValueError, match=r"without reloaded|second time"):
        mirror.take(answer)


@pytest.mark.parametrize(("name", "longest"), [("", 5), ("a", 0)])
def test_a_feed_has_an_id_and_room(name: str, longest: int) -> None:
    with pytest.raises(ValueError, match="id and room"):
        Feed(name, longest)
