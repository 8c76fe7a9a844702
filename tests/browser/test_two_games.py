"""Two games: of one a whole round by mouse and the same by keyboard alone, of the other a round by
mouse, and the proof that a display which lies would be found.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Page

from hw_sim.scenario import find, load
from tests.browser.chromium import Tabs
from tests.browser.hands import Hands, Typing, played
from tests.browser.table import Table, running

MBS3, MEGA = load(find("mbs3-plain")), load(find("mega-plain"))


@pytest.fixture(scope="module")
def mega(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Table]:
    with running(tmp_path_factory.mktemp("mega"), MEGA) as table:
        yield table


def at(table: Table, tabs: Tabs) -> Page:
    return tabs.open(table.web.netloc, f"/table/{table.name}")


@pytest.mark.parametrize("kind", [Hands, Typing], ids=["mouse", "keyboard alone"])
def test_a_whole_round(kind: type[Hands], tmp_path: Path, tabs: Tabs) -> None:
    with running(tmp_path, MBS3) as mbs3:
        played(mbs3, at(mbs3, tabs), MBS3, kind)


def test_a_whole_round_by_mouse(mega: Table, tabs: Tabs) -> None:
    played(mega, at(mega, tabs), MEGA)


def test_a_display_that_lies_is_found(mega: Table, tabs: Tabs) -> None:
    """The comparison can fail: one segment, one dot, one character, one stale line."""
    page = at(mega, tabs)
    hands = Hands(mega, page)
    hands.compare()
    boards = mega.displays()
    wrong = {
        "meter": {**boards, "meter": ["01" + boards["meter"][0][2:], *boards["meter"][1:]]},
        "magic": {**boards, "magic": "80" + boards["magic"][2:]},
        "prompt": {**boards, "prompt": {**boards["prompt"], "ddram": ["45" * 20] * 4}},
    }
    for name, memory in wrong.items():
        found = hands.displays.differences(page, memory)
        assert [one.split(":")[0].split()[0] for one in found] == [name], (name, found)
    page.evaluate(
        "document.querySelector('#prompt path.lit').setAttribute('d', 'M0 0h2.6v2.6h-2.6Z')"
    )
    assert any("character 0" in one for one in hands.displays.differences(page, boards))
