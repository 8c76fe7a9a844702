"""Magic card and lucky player, drawn by the server: committed first, never drawn a second time.

The auditor's program (``record/verify_draws.py``), which shares no code with the draw, says what
each seed gives.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from fractions import Fraction

import pytest

from controller.rules.cards import NAMES
from link.ledger.errors import PoolError
from link.ledger.orders import Select
from link.ledger.state import Reply
from record import draw, verify_draws
from record.link.events import SelectionWanted
from record.link.messages import Ack, SelectionCommitted, SelectionRevealed, ServerRefused
from tests.link.ledger.support import ANNA, Floor

WANTED = SelectionWanted(7, (1, 4, 6), "1", "1/2")


def selected(replies: Sequence[Reply]) -> tuple[SelectionCommitted, SelectionRevealed]:
    table, (ack, committed, revealed) = replies[0][0], [message for _, message in replies]
    assert {name for name, _ in replies} == {table}
    assert isinstance(ack, Ack)
    assert isinstance(committed, SelectionCommitted)
    assert isinstance(revealed, SelectionRevealed)
    return committed, revealed


def test_the_deck_is_that_of_the_rules() -> None:
    assert draw.CARDS == NAMES


def test_the_commitment_comes_before_the_draw_and_fits_it() -> None:
    floor = Floor()
    committed, revealed = selected(floor.tell("T1", WANTED))
    told, journal = revealed.draw, floor.tables["T1"].journal
    seed, salt = bytes.fromhex(told["seed"]), bytes.fromhex(told["salt"])
    assert committed == SelectionCommitted(7, verify_draws.commitment(seed, salt, journal, 7))
    expected = verify_draws.picks(seed, journal, 7, (1, 4, 6), (Fraction(1), Fraction(1, 2)))
    assert (told["magic_card"], told["lucky_seat"]) == expected
    assert (told["seats"], told["magic_rate"], told["lucky_rate"]) == ([1, 4, 6], "1", "1/2")
    floor.check()


def test_seed_and_salt_are_fresh_for_every_round() -> None:
    floor = Floor()
    draws = [selected(floor.tell("T1", SelectionWanted(n, (1, 2))))[1].draw for n in (1, 2, 3)]
    assert len({told["seed"] for told in draws}) == len({told["salt"] for told in draws}) == 3
    assert all(told["salt"] not in told["seed"] for told in draws)


@pytest.mark.parametrize("restart", [False, True])
def test_asking_again_gives_the_same_draw(restart: bool) -> None:
    """The same event resent, a second event after the table's restart, and a new connection."""
    floor = Floor()
    event = floor.tables["T1"].event(WANTED)
    first = selected(floor.send("T1", event))
    given = floor.chance.given
    if restart:
        floor.start()
    assert selected(floor.send("T1", event)) == first
    assert selected(floor.tell("T1", WANTED)) == first
    assert [m for _, m in floor.hello("T1").replies] == list(first)
    assert floor.chance.given == given
    floor.check()


def test_every_draw_is_of_record_with_its_seed() -> None:
    floor = Floor()
    _, revealed = selected(floor.tell("T1", WANTED))
    orders = [
        json.loads(row.body)["order"] for row in floor.store.history().events if not row.table
    ]
    (kept,) = [order for order in orders if order["what"] == "select"]
    assert (kept["seed"], kept["round"]) == (revealed.draw["seed"], 7)


def test_other_tables_hear_nothing_of_it() -> None:
    floor = Floor()
    floor.tell("T1", WANTED)
    assert floor.hello("T2").replies == []


@pytest.mark.parametrize(
    "wanted",
    [
        SelectionWanted(8, (4, 1)),
        SelectionWanted(8, (1, 1)),
        SelectionWanted(8, (1, 2, 3, 4, 5, 6, 7, 8)),
        SelectionWanted(8, (1,), "3/2"),
        SelectionWanted(8, (1,), "1", "2"),
        SelectionWanted(6, (1,)),
    ],
)
def test_a_wish_that_cannot_be_halts_the_journal(wanted: SelectionWanted) -> None:
    floor = Floor()
    floor.tell("T1", WANTED)
    given = floor.chance.given
    (_, message), *more = floor.tell("T1", wanted)
    assert isinstance(message, ServerRefused)
    assert (message.code, message.halted, more) == ("E-LNK-017", True, [])
    assert floor.chance.given == given
    floor.check()


def test_people_cannot_give_a_draw() -> None:
    floor = Floor()
    journal = floor.tables["T1"].journal
    with pytest.raises(PoolError, match="not an order of people"):
        floor.order(Select(journal, 7, "0" * 64, "0" * 64, "0" * 32, "As", 1), ANNA)
