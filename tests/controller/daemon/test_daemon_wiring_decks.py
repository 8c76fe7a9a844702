"""Deck watch at the table: fed with public cards only, in dealt order, and kept in the journal."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from controller.daemon import decks as module
from controller.daemon.decks import SAVE_AFTER, Decks, dealt_of
from controller.deckwatch.state import save
from controller.deckwatch.watch import DeckWatch
from controller.rules.cards import BY_NAME, NAMES, HiddenCard
from controller.rules.engine.state import TableState
from hw_sim.scenario import find, load
from tests.controller.history.desk import GAMES, Desk, random_desk
from tests.sim.table import VirtualTable

MBS3 = "5h Kc 6h Kd 8h 2s 7h 9h"
"""The cards of the scenario mbs3-plain in dealt order; all of them become public."""


def names(cards: tuple[int | None, ...]) -> str:
    return " ".join("?" if card is None else NAMES[card] for card in cards)


def revealed(live: Desk) -> list[str]:
    """The cards that the journal told since the bets of the last round were opened."""
    told: list[str] = []
    for row in live.paper.rows:
        if row.kind == "fact" and json.loads(row.body)["what"] == "bets opened":
            told = []
        elif row.kind == "revealed":
            told += [one["card"] for one in json.loads(row.body)["cards"]]
    return sorted(told)


@pytest.mark.parametrize(("game", "device"), GAMES)
@pytest.mark.parametrize("seed", range(6))
def test_it_is_told_what_the_journal_told_and_where_it_lay(
    game: str, device: str, seed: int
) -> None:
    live = random_desk(game, device, seed)
    state = live.state
    dealt = dealt_of(state)
    if dealt is None:
        assert not state.drawn
        return
    known = [(i, card) for i, card in enumerate(dealt.cards) if card is not None]
    assert len(dealt.cards) == len(state.drawn)
    assert all(HiddenCard(card) == state.drawn[i] for i, card in known)  # type: ignore[arg-type]
    assert {NAMES[card] for _, card in known} == set(revealed(live))
    assert dealt.packets == (state.packets if device == "shuffler" else ())


def test_a_hidden_card_makes_no_difference() -> None:
    """Another burnt card, another card in a void hand: the watch cannot tell."""
    live = random_desk("NSW", "shuffler", 0)
    first = dealt_of(live.state)
    assert first is not None
    hidden = [i for i, card in enumerate(first.cards) if card is None]
    assert hidden
    unused = next(c for c in BY_NAME.values() if HiddenCard(c) not in live.state.drawn)
    drawn = list(live.state.drawn)
    drawn[hidden[0]] = HiddenCard(unused)
    assert dealt_of(replace(live.state, drawn=tuple(drawn))) == first


def test_of_a_card_twice_the_one_that_was_opened_is_told() -> None:
    """Were the open one left out, the watch would tell that its like lies closed."""
    state = played("mbs3-plain").writer.core.state
    twice = replace(state, drawn=(*state.drawn, state.drawn[0]))
    dealt = dealt_of(twice)
    assert dealt is not None
    assert names(dealt.cards) == MBS3 + " ?"
    # Dealt face up and opened again at the end is one card, not two.
    opened = state.seats[2].opened
    assert opened is not None
    assert dealt_of(replace(twice, face_up={2: opened})) == dealt


# --- what is a sample --------------------------------------------------------------------------


def played(name: str, prepare: Callable[[VirtualTable], None] | None = None) -> VirtualTable:
    """A scenario in virtual time; ``prepare`` is called after every start of the writer."""

    class Prepared(VirtualTable):
        def _boot(self) -> None:
            super()._boot()
            if prepare is not None:
                prepare(self)

    table = Prepared(load(find(name)))
    table.play()
    return table


def sure(state: TableState) -> list[int]:
    dealt = dealt_of(state)
    assert dealt is not None
    assert dealt.sure is not None
    return sorted(dealt.sure)


def test_only_what_no_choice_makes_public_is_a_sample() -> None:
    state = played("mbs3-plain").writer.core.state
    assert sure(state) == list(range(8))
    assert sure(replace(state, voided_by="supervisor")) == []
    seats = {**state.seats, 2: replace(state.seats[2], unequal=True)}
    # Seat 2 has the first, third and fifth card and might have folded them.
    assert sure(replace(state, seats=seats)) == [1, 3, 5, 6, 7]


def test_in_ricochet_cards_drawn_later_are_no_sample() -> None:
    state = played("rico-plain").writer.core.state
    dealt = dealt_of(state)
    assert dealt is not None
    first = 2 * len(state.seats) + 5
    assert len(dealt.cards) > first
    assert None not in dealt.cards
    assert sure(state) == list(range(first))


# --- in the writer -----------------------------------------------------------------------------


def records(table: VirtualTable, kind: str) -> list[bytes]:
    return [r.body for r in table.journal.records() if r.kind == kind]


def test_a_closed_round_is_watched() -> None:
    table = played("mbs3-plain")
    (order,) = table.writer.decks.watch.recent
    assert names(order.cards) == MBS3
    assert (table.writer.decks.watch.last_round, order.shuffle) == (1, 1)
    assert records(table, "deckwatch") == []


def seen_before(table: VirtualTable) -> None:
    """A watch that remembers a round with the cards of mbs3-plain, in another game so to say."""
    cards = [BY_NAME[name] for name in MBS3.split()]
    watch = DeckWatch()
    start = 0
    for card in cards:
        start = start * 52 + card
    watch.starts.append(start)
    table.writer.decks = Decks(watch)


def test_an_alarm_stands_in_journal_and_status_with_probability_and_what_to_do() -> None:
    table = played("mbs3-plain", seen_before)
    (body,) = [b for b in records(table, "alarm") if b"E-DCK" in b]
    told: dict[str, Any] = json.loads(body)
    assert told.pop("v") == 1
    assert told.pop("probability") == pytest.approx(1 / (52 * 51 * 50 * 49 * 48 * 47 * 46 * 45))
    assert told == {
        "code": "E-DCK-006",
        "seat": None,
        "detail": "the first 8 cards are those of an earlier shuffle, in the same order",
        "clause": "",
        "what_to_do": "call the supervisor; take the device out of play: it says again what it "
        "said before",
        "how": "bound",
        "round": 1,
        "deck": table.writer.core.state.deck.name or "",
    }
    alarms = table.writer.status()["alarms"]
    assert [a["code"] for a in alarms if a["code"].startswith("E-DCK")] == ["E-DCK-006"]


def test_its_state_is_in_the_journal_at_round_ends_and_comes_back(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(module, "SAVE_AFTER", 1)
    table = played("mbs3-plain")
    (body,) = records(table, "deckwatch")
    again = Decks.restored(body)
    assert (again.watch.last_round, again.trouble) == (1, "")
    assert save(again.watch) == save(table.writer.decks.watch)
    assert not again.changed


def test_a_clean_stop_forgets_nothing_and_a_restart_reads_it() -> None:
    table = played("mbs3-plain")
    table.writer.stop("SIGTERM")
    (body,) = records(table, "deckwatch")
    assert Decks.restored(body).watch.last_round == 1
    table.journal.close()
    table._boot()  # the replay takes it as evidence and goes on
    table.writer.stop("SIGTERM")
    assert records(table, "deckwatch") == [body]


def test_it_is_written_every_twenty_rounds() -> None:
    state = played("mbs3-plain").writer.core.state
    decks, due = Decks(), []
    for number in range(1, 2 * SAVE_AFTER + 1):
        decks.closed(replace(state, round_no=number))
        if decks.due:
            due.append(number)
            assert json.loads(decks.body())["last_round"] == number
    assert due == [20, 40]


def test_a_state_that_cannot_be_read_is_told_and_stops_nothing() -> None:
    def broken(table: VirtualTable) -> None:
        table.writer.decks = Decks.restored(b'{"v":9}')
        table.writer.start(0)

    table = played("mbs3-plain", broken)
    (alarm,) = [a for a in table.writer.status()["alarms"] if a["code"] == "E-DCK-020"]
    assert "deck watch" in alarm["detail"]
    assert table.writer.decks.watch.last_round == 1


def test_a_fault_of_the_watch_is_an_alarm_and_not_the_end_of_the_table() -> None:
    class Faulty(DeckWatch):
        def take(self, dealt: Any) -> list[Any]:
            raise ZeroDivisionError(dealt)

    def faulty(table: VirtualTable) -> None:
        table.writer.decks = Decks(Faulty())

    table = played("mbs3-plain", faulty)
    assert [a["code"] for a in table.writer.status()["alarms"]] == ["E-DCK-021"]
    assert type(table.writer.decks.watch) is DeckWatch
