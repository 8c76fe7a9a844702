"""Twins in Chromium: the table's page, and what its script holds, are the same until a card is
public.

A web process follows two servers that give what table and simulator answered (``served.py``); the
page's clock stands still.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from playwright.sync_api import Browser, Page, expect

from record.kit.feed import Mirror
from tests.browser.chromium import Tabs, launched
from tests.hidden.planted import OTHER, face_up, hidden_card, leaking
from tests.hidden.served import NAME, SIM, TABLE, Answer, answers_of
from tests.hidden.table import twin_of
from tests.hidden.twins import base_of, played
from tests.web.browser import Web, until
from tests.web.servers import Followed, Simulated

CONFIG: Final = f"""
[web]
listen = "127.0.0.1:0"
login = false
[[table]]
name = "{NAME}"
socket = "table.sock"
simulator = "control"
"""
NOW: Final = datetime(2026, 1, 1, tzinfo=UTC)
HELD: Final = """async (names) => {
  const { follow } = await import("/static/core.js");
  const heard = {};
  await new Promise((done) => {
    follow(names, (change) => {
      heard[change.name] = change;
      if (names.every((name) => name in heard)) done();
    });
  });
  const kept = [{ ...localStorage }, { ...sessionStorage }, document.cookie];
  return { heard, kept };
}"""
"""A reader more on the page's own stream: it gets all that the script holds of both feeds."""


class Look(NamedTuple):
    """A page at a moment."""

    content: str
    state: str


class Twins(NamedTuple):
    """``base`` and two others: every card, and every card but the first community card, differs.
    ``stops`` are rows: before the deal, all cards face down, after the first card that opens."""

    base: list[Answer]
    all_other: list[Answer]
    later_other: list[Answer]
    stops: tuple[int, int, int]
    card: str


@pytest.fixture(scope="module")
def twins() -> Twins:
    base = base_of("mbs3-plain")
    answers = answers_of(base.outside.rows)
    dealing = next(one.row for one in answers if phase(one) == "dealing")
    stops = dealing, base.moments[0][0], base.moments[1][0]

    def twin(fixed: frozenset[Any]) -> list[Answer]:
        other = played(twin_of(base.scenario, fixed), most_rows=stops[-1])
        return answers_of(other.outside.rows)

    return Twins(answers, twin(frozenset()), twin(base.moments[0][1]), stops, hidden_card(base))


def phase(answer: Answer) -> str:
    status = answer.body["parts"].get("status", (0, {}))[1]
    return str(status.get("phase", ""))


@pytest.fixture(scope="module")
def browser(twins: Twins) -> Iterator[Browser]:
    """After the tables have played: they want no event loop in this thread."""
    assert twins
    with launched() as found:
        yield found


Looks = Callable[[Sequence[Answer], Sequence[int]], list[Look]]


@pytest.fixture
def looks(browser: Browser, tmp_path: Path) -> Looks:
    def at(answers: Sequence[Answer], stops: Sequence[int]) -> list[Look]:
        folder = tmp_path / str(len(list(tmp_path.iterdir())))
        folder.mkdir()
        with floor(folder) as shown:
            return [shown.at(browser, answers, stop) for stop in stops]

    return at


class Floor:
    """``ends`` has what must end with it; a failure in one leaves none of the others running."""

    def __init__(self, folder: Path, ends: ExitStack) -> None:
        self.ends = ends
        self.sources: dict[str, Followed | Simulated] = {
            TABLE: Followed(folder / "table.sock"),
            SIM: Simulated(folder / "control"),
        }
        for source in self.sources.values():
            ends.callback(source.close)
        self.mirrors = {name: Mirror() for name in self.sources}
        for name, source in self.sources.items():
            source.feed = self.mirrors[name]
        (folder / "web.toml").write_text(CONFIG)
        self.web = Web(folder / "web.toml")
        ends.callback(self.web.process.kill)  # if it did not stop
        ends.callback(self.web.stop)
        self._given = 0
        self._tabs: Tabs | None = None
        self._following: Page | None = None

    def at(self, browser: Browser, answers: Sequence[Answer], stop: int) -> Look:
        """A page that is opened when all answers before this row were given. One that is open all
        the time holds the same, but which of its cards move in depends on how answers come
        together."""
        for answer in answers[self._given :]:
            if answer.row >= stop:
                break
            source = self.sources[answer.source]
            with source._changed:
                self.mirrors[answer.source].take(json.loads(json.dumps(answer.body)))
                source._changed.notify_all()
            self._given += 1
        if self._tabs is None:
            until(lambda: self.web.get("/readyz").status == 200)
            self._tabs = Tabs(browser)
            self.ends.callback(self._tabs.close)
            self._tabs.context.clock.install(time=NOW)
            self._tabs.context.clock.pause_at(NOW)
            self._following = self._opened(self._tabs)
        assert self._following is not None
        following = self._following
        until(lambda: self._holds(following))
        page = self._opened(self._tabs)
        until(lambda: self._holds(page))
        state = [one.evaluate(HELD, [*self.sources]) for one in (following, page)]
        content = page.content()
        page.close()
        return Look(content, json.dumps(state, sort_keys=True))

    def _opened(self, tabs: Tabs) -> Page:
        page = tabs.open(self.web.netloc, f"/table/{NAME}")
        expect(page.locator("#title")).to_have_text("Let It Ride (MBS)")
        expect(page.locator("#faults button")).to_have_count(1)  # asked for by itself, so later
        return page

    def _holds(self, page: Page) -> bool:
        """Everything that was given has come to the page."""
        heard = page.evaluate(HELD, [*self.sources])["heard"]
        return all(
            heard[name]["parts"] == {part: value for part, (_, value) in mirror.parts.items()}
            and heard[name]["log"] == mirror.since("", 0)["log"]
            for name, mirror in self.mirrors.items()
        )


@contextmanager
def floor(folder: Path) -> Iterator[Floor]:
    with ExitStack() as ends:
        yield Floor(folder, ends)


def test_the_page_of_twins_is_the_same_until_a_card_is_public(twins: Twins, looks: Looks) -> None:
    base = looks(twins.base, twins.stops)
    assert looks(twins.all_other, twins.stops[:2]) == base[:2]
    assert looks(twins.later_other, twins.stops) == base
    before, closed, opened = base
    assert "face down" not in before.content
    assert "face down" in closed.content
    assert '"??"' in closed.state
    assert f'"{twins.card}"' not in closed.state
    assert f'"{twins.card}"' in opened.state
    (other,) = looks(twins.all_other, twins.stops[2:])
    assert (other.content, other.state) != opened
    assert other.content != opened.content, "the page shows the card that is public"


def test_a_card_that_is_face_up_on_the_felt_is_found_on_the_page(
    twins: Twins, looks: Looks
) -> None:
    one, other = (
        looks(face_up(twins.base, card), twins.stops[1:2])[0] for card in (twins.card, OTHER)
    )
    assert one.content != other.content
    assert one.state != other.state


def test_a_card_that_only_the_script_holds_is_found(twins: Twins, looks: Looks) -> None:
    one, other = (
        looks(leaking(twins.base, SIM, "people", card), twins.stops[1:2])[0]
        for card in (twins.card, OTHER)
    )
    assert one.content == other.content
    assert one.state != other.state


def test_a_page_that_fails_leaves_no_web_process(tmp_path: Path) -> None:
    def failed() -> None:
        raise AssertionError("console error")

    with pytest.raises(AssertionError, match="console error"), floor(tmp_path) as shown:
        shown.ends.callback(failed)  # as tabs end that saw what no page may do
    assert shown.web.process.poll() is not None
