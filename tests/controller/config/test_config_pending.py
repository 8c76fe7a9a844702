"""The hash, and when a change may take effect: never inside a round."""

from __future__ import annotations

import pytest

from controller.config.options import OPTIONS, when_of
from controller.config.pending import PendingConfig
from controller.rules.settings import MONEY_SPEC, TABLE_SPEC
from tests.controller.config.conftest import LINK, Folder

HASH = "d47ea1db5c0e7683841f9fb73bd2a1f669016427892c511fdb13f5695fe58bc8"
"""Literal: it changes only when a key is added or a default changes, which is a change indeed."""


def test_the_hash_is_the_one_that_was_written_down(folder: Folder) -> None:
    assert folder.load().effective_hash == HASH


def test_stating_a_default_or_moving_a_line_changes_no_hash(folder: Folder) -> None:
    folder.write("[journal]\nsegment_mib = 4\n[settings]\nseats = 7\n", "conf.d/10.toml")
    folder.change("seats = 7\n", "")
    assert folder.load().effective_hash == HASH


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("conf.d/10.toml", "[settings]\nseats = 6\n"),
        ("conf.d/10.toml", "[policy]\nsettle_ms = 301\n"),
        ("conf.d/10.toml", '[keys]\nsealing = "credential:other"\n'),
        ("conf.d/10.toml", LINK),
    ],
)
def test_every_effective_value_is_in_the_hash(folder: Folder, name: str, text: str) -> None:
    folder.write(text, name)
    assert folder.load().effective_hash != HASH


def test_the_layouts_bytes_are_in_the_hash(folder: Folder) -> None:
    text = (folder.path / "layout.toml").read_text()
    running = folder.load()
    folder.write(text.replace('serial = "SH-000001"', 'serial = "SH-000002"'), "layout.toml")
    loaded = folder.load()
    assert loaded.effective_hash != running.effective_hash
    pending = PendingConfig.between(running, loaded)
    assert [change.key for change in pending.changes] == ["layout (content)"]
    assert pending.needs == "restart"


def test_nothing_changed(folder: Folder) -> None:
    pending = PendingConfig.between(folder.load(), folder.load())
    assert (pending.changes, pending.needs) == ((), None)
    assert pending.verdict(in_round=True, table_open=True) == "nothing"


@pytest.mark.parametrize(
    ("text", "needs", "verdicts"),
    [
        ("[policy]\nsettle_ms = 301\n", "round", ("wait", "apply", "apply")),
        ("[settings]\ncredit_cents = 200\n", "closed", ("wait", "wait", "apply")),
        ("[settings]\nseats = 6\n", "restart", ("restart",) * 3),
        ("[policy]\nsettle_ms = 301\n[service]\nport = 9\n", "restart", ("restart",) * 3),
        (
            "[policy]\nsettle_ms = 301\n[settings]\nmax_credits = 3\n",
            "closed",
            ("wait", "wait", "apply"),
        ),
        (LINK, "restart", ("restart",) * 3),
    ],
)
def test_the_strictest_change_decides_for_all(
    folder: Folder, text: str, needs: str, verdicts: tuple[str, ...]
) -> None:
    """In a round, between rounds of an open table, at a closed table."""
    running = folder.load()
    folder.write(text, "conf.d/10.toml")
    pending = PendingConfig.between(running, folder.load())
    assert pending.needs == needs
    moments = ((True, True), (False, True), (False, False))
    given = (pending.verdict(in_round=r, table_open=t) for r, t in moments)
    assert tuple(given) == verdicts


def test_no_verdict_applies_inside_a_round(folder: Folder) -> None:
    """Whatever key changes: a configuration with another value of it never applies in a round."""
    running = folder.load()
    other = {"settings.seats": 6, "display.decimals": 3, "settings.idle_rounds": 4}
    for key, value in other.items():
        section, name = key.split(".")
        folder.write(f"[{section}]\n{name} = {value}\n", "conf.d/10.toml")
        pending = PendingConfig.between(running, folder.load())
        assert [change.key for change in pending.changes] == [key]
        assert pending.changes[0].new == value
        assert pending.changes[0].origin.endswith(f"conf.d/10.toml:{key}")
        for table_open in (True, False):
            assert pending.verdict(in_round=True, table_open=table_open) in ("wait", "restart")


def test_every_key_has_its_moment() -> None:
    for key in (*OPTIONS, *(f"settings.{name}" for name in (*MONEY_SPEC, *TABLE_SPEC))):
        assert when_of(key) in ("round", "closed", "restart")
    assert when_of("game") == when_of("layout") == "restart"
    assert when_of("settings.min_wager") == "closed"
