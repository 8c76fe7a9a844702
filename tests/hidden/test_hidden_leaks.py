"""Leaks put in on purpose, one per way out: the comparison of twins finds each, where it is."""

from __future__ import annotations

import logging
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from typing import Any, Final
from unittest.mock import patch

import pytest

from controller.daemon.writer import Writer
from controller.history.entries import encode_entry
from controller.history.errors import ReplayError
from controller.history.framelog import FrameLog
from controller.history.sealing import CardSealer
from controller.history.table_log import TableLog
from controller.rules.cards import BY_NAME, PublicMoment, reveal
from controller.rules.engine import effects as fx
from controller.rules.engine.betting import deal_prompt
from controller.table.core import TableCore
from controller.table.lamps import Lamps
from controller.table.prompt import Prompter
from drivers.base import Write
from drivers.cards.devices import ShoeDriver
from hw_sim.felt import Felt
from hw_sim.scenario import Scenario, card_byte
from tests.hidden import table
from tests.hidden.outside import Outside, Row
from tests.hidden.table import steps_of, whole_deck
from tests.hidden.twins import difference, played, twins_differ

STEPS: Final = (
    "dealer opens", "seat 2 bets 10.00 on 1 2 $", "dealer closes", "draw", "wait 1100",
)  # fmt: skip
CARDS: Final = ("Ac", "7d")
"""The first card out, and its twin's: only the first of them is an ace."""


def dealt(name: str) -> Scenario:
    """One card out and no more."""
    plain = whole_deck("mbs3-plain")
    rest = [c for c in plain.cards if c not in map(card_byte, CARDS)]
    others = [card_byte(one) for one in CARDS if one != name]
    return replace(plain, cards=(card_byte(name), *rest, *others), steps=steps_of(STEPS))


def found(*, blind: bool = True) -> str:
    one, other = (played(dealt(name), blind=blind) for name in CARDS)
    return twins_differ(one, other)


def is_ace(state: Any) -> bool:
    return bool(state.drawn) and reveal(state.drawn[-1], PublicMoment.HAND_OPENED) == BY_NAME["Ac"]


def after(leak: Callable[..., object]) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """A method that does what it did, and then leaks."""

    def wrap(method: Callable[..., Any]) -> Callable[..., Any]:
        def leaking(self: Any, *arguments: Any, **more: Any) -> Any:
            done = method(self, *arguments, **more)
            changed = leak(self, done, *arguments)
            return done if changed is None else changed

        return leaking

    return wrap


# --- the leaks ---------------------------------------------------------------------------------


def longer_box(_self: Any, sealed: Any, hidden: Any, *_place: int) -> Any:
    ace = reveal(hidden, PublicMoment.HAND_OPENED) == BY_NAME["Ac"]
    return replace(sealed, box=sealed.box + b"!") if ace else None


def more_chance(self: Any, _sealed: Any, hidden: Any, *_place: int) -> None:
    if reveal(hidden, PublicMoment.HAND_OPENED) == BY_NAME["Ac"]:
        self.random(1)


def one_more_call(self: Any, _done: Any, *_entry: Any) -> None:
    if is_ace(self.memory.state):
        self._journal._disk.names(self._journal._folder)


def named_in_a_log_line(self: Any, _done: Any, *_entry: Any) -> None:
    if is_ace(self.memory.state):
        logging.getLogger("underfelt").debug("a good card")


def printed(self: Any, _done: Any, *_entry: Any) -> None:
    if is_ace(self.memory.state):
        print("a good card", file=sys.stderr)


def another_word(_self: Any, line: str, state: Any, *_more: Any) -> str:
    return line.replace(" R ", ".R ") if is_ace(state) else line


def lamp_lit(_self: Any, order: Any, state: Any, *_more: Any) -> Any:
    return replace(order, seats=("live", *order.seats[1:])) if is_ace(state) else order


def told_in_the_status(self: Any, status: Any) -> Any:
    return {**status, "luck": 1} if is_ace(self.core.state) else status


def early_effect(self: Any, left: Any, *_more: Any) -> Any:
    return [*left, fx.Prompt("deal")] if is_ace(self.core.state) else left


def counted(self: Any, _reading: Any, event: Any, *_more: Any) -> None:
    if getattr(event, "card", None) is not None and event.card.unseal() == card_byte("Ac"):
        self.counters["aces"] += 1


def other_answer(_self: Any, out: Any, _frame: Any, event: Any, _now_us: int) -> Any:
    """An ace is answered with a delimiter of its own."""
    ace = getattr(event, "card", None) is not None and event.card.unseal() == card_byte("Ac")
    return [*out, Write(b"\0")] if ace else out


def not_sealed(self: Any, _done: Any, *_more: Any) -> None:
    self._sealed = frozenset()


def not_masked(_dealt: Any, _done: Any, *_more: Any) -> Any:
    return lambda *_cards: True


def face_up(self: Any, shown: Any) -> Any:
    return {**shown, "all": sorted(card for hand in self.hands.values() for card in hand)}


LEAKS: Final = (
    (Felt, "shown", face_up, "simulator"),
    (table, "public_in", not_masked, "shell"),
    (TableLog, "apply", one_more_call, "disk"),
    (TableLog, "apply", named_in_a_log_line, "log"),
    (TableLog, "apply", printed, "stderr"),
    (Prompter, "_first", another_word, "orders"),
    (Lamps, "order", lamp_lit, "orders"),
    (Writer, "status", told_in_the_status, "status"),
    (Writer, "_outbox", early_effect, "effects"),
    (ShoeDriver, "_reading", counted, "counters"),
    (ShoeDriver, "_event", other_answer, "line"),
    (FrameLog, "__init__", not_sealed, "frame log"),
)


def where(text: str) -> str:
    """The channel that a difference names."""
    return text.partition(":")[0].rpartition(", ")[2] if text else "nowhere"


def later(plain: Callable[..., Any]) -> property:
    """A timer that depends on a card."""

    def wake_us(core: Any) -> Any:
        return core.now_us + 5_000_000 if is_ace(core.state) else plain(core)

    return property(wake_us)


def longer_body(plain: Callable[..., Any]) -> Callable[..., Any]:
    """It reads the same, and is a byte longer."""

    def encode(entry: Any, *more: Any) -> tuple[str, bytes]:
        kind, body = plain(entry, *more)
        hidden = getattr(getattr(entry, "what", None), "card", None)
        ace = hidden is not None and reveal(hidden, PublicMoment.HAND_OPENED) == BY_NAME["Ac"]
        return kind, body + b" " if ace else body

    return encode


def slower(plain: Callable[..., Any]) -> Callable[..., Any]:
    """Nothing is said; it only takes longer."""

    def twice(state: Any) -> Any:
        return (plain(state), plain(state))[0] if is_ace(state) else plain(state)

    return twice


ENCODE: Final = "controller.history.table_log.encode_entry"
PROMPT: Final = "controller.rules.engine.dealing.deal_prompt"
WAKE: Final = vars(TableCore)["wake_us"].fget


@contextmanager
def planted(*leaks: tuple[Any, str, Callable[..., object], str]) -> Iterator[None]:
    with ExitStack() as stack:
        for owner, method, leak, _ in leaks:
            leaking = after(leak)(getattr(owner, method))
            stack.enter_context(patch.object(owner, method, leaking))
        yield


def test_without_a_leak_an_ace_and_a_seven_are_alike() -> None:
    assert found() == ""


def test_leaks_everywhere_are_found_everywhere() -> None:
    """All of them at once, channel by channel: one pair of runs."""
    with (
        planted(*LEAKS),
        patch.object(TableCore, "wake_us", later(WAKE)),
        patch(PROMPT, slower(deal_prompt)),
    ):
        one, other = (played(dealt(name)).outside.rows for name in CARDS)
    channels = {row.channel for row in (*one, *other)}
    differ = {c for c in channels if said(one, c) != said(other, c)}
    assert differ >= {channel for *_, channel in LEAKS} | {"wake", "calls", "bus"}


def said(rows: list[Row], channel: str) -> list[object]:
    return [row.what for row in rows if row.channel == channel]


@pytest.mark.slow
@pytest.mark.parametrize("leak", LEAKS, ids=lambda leak: leak[2].__name__)
def test_a_leak_is_found_where_it_is(leak: tuple[Any, str, Callable[..., object], str]) -> None:
    with planted(leak):
        assert where(found()) == leak[3]


@pytest.mark.slow
def test_a_seal_that_takes_more_chance_is_found() -> None:
    with planted((CardSealer, "seal", more_chance, "chance")):
        assert where(found(blind=False)) == "chance"


@pytest.mark.slow
def test_a_seal_of_another_length_is_refused_by_the_table_itself() -> None:
    with planted((CardSealer, "seal", longer_box, "")), pytest.raises(ReplayError) as refused:
        found(blind=False)
    assert "expected 146 hex digits (E-ENT-006)" in str(refused.value)


@pytest.mark.slow
def test_a_body_of_another_length_is_found() -> None:
    with patch(ENCODE, longer_body(encode_entry)):
        assert where(found(blind=False)) == "body"


@pytest.mark.slow
def test_a_later_wake_is_found() -> None:
    with patch.object(TableCore, "wake_us", later(WAKE)):
        assert where(found()) == "wake"


@pytest.mark.slow
def test_work_that_depends_on_the_card_is_found() -> None:
    with patch(PROMPT, slower(deal_prompt)):
        text = found()
    assert where(text) == "calls"
    assert "deal_prompt 2, 1 times" in text


def test_the_recorder_misses_no_row() -> None:
    outside = Outside()
    outside.note("line", "shoe", b"\0")
    assert difference(outside.rows, []).startswith("1 rows and 0")
