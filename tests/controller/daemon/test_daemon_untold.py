"""A fault in what pages show ends no round: it is a trouble, and the table plays on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pytest

from controller.daemon import picture
from controller.daemon.inputs import Released
from controller.faults.troubles import troubles
from controller.replay import telling
from hw_sim.scenario import find, load
from tests.sim.table import VirtualTable

CARD = "Ah"


class Broken(Mapping[Any, str]):
    """Like a table of words that lacks one."""

    def __getitem__(self, _key: Any) -> str:
        raise KeyError(CARD)

    def __iter__(self) -> Iterator[Any]:
        return iter(())

    def __len__(self) -> int:
        return 0


def no_sentence(_ask: object) -> str:
    raise KeyError(CARD)


def played() -> tuple[VirtualTable, list[Released]]:
    released: list[Released] = []
    table = VirtualTable(load(find("mbs3-plain")), on_released=released.append)
    table.play()
    assert table.director.ending.done
    assert (table.director.ending.failed, table.failed) == ("", "")
    return table, released


@pytest.mark.parametrize(
    ("module", "name", "planted"),
    [(telling, "NAME_OF", Broken()), (picture, "sentence", no_sentence)],
    ids=["an entry", "the parts"],
)
def test_the_round_is_played_to_its_end(
    monkeypatch: pytest.MonkeyPatch, module: Any, name: str, planted: Any
) -> None:
    expected, _ = played()
    assert expected.results
    assert not expected.writer.status().get("untold")
    monkeypatch.setattr(module, name, planted)
    table, released = played()
    assert table.results == expected.results
    status = table.writer.status()
    assert status["untold"] == "KeyError"
    (told,) = (one for one in troubles(status) if one.code == "E-TBL-022")
    assert (told.level, told.detail) == ("degraded", "KeyError"), "never its text"
    if module is picture:
        assert all(not one.parts for one in released)
        assert "felt" not in status
        assert any(one.news for one in released), "the log is told all the same"
    else:
        assert released[-1].parts["felt"], "the parts are told all the same"


def test_after_a_fault_the_parts_are_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also if nothing has changed since: a state that failed is not the one that was shown."""
    table, _ = played()
    writer, kept = table.writer, table.writer.picture.now
    with monkeypatch.context() as planted:
        planted.setattr(picture, "sentence", no_sentence)
        writer.locked = "a test"
        planted.setattr(picture, "_why", lambda *_: no_sentence(None))
        assert writer.picture.parts(writer) is kept
    assert writer.picture.parts(writer)["why"]["text"] == "The table is locked out: a test."
