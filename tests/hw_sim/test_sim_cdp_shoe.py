"""The simulated shoe: what a pull brings, on the felt and on the wire."""

from __future__ import annotations

import random

import pytest

from hw_sim.devices import cdp
from hw_sim.devices.shoe import Shoe
from tests.hw_sim.cdp_host import Host, fields_of

CARDS = [0x01, 0x1D, 0x3A, 0x29, 0x2C, 0x15]


@pytest.fixture
def shoe() -> Shoe:
    return Shoe("SH-000001", random.Random(7))


@pytest.fixture
def host(shoe: Shoe) -> Host:
    shoe.load(CARDS)
    host = Host(shoe)
    host.start()
    host.told()
    return host


def pull(host: Host, shoe: Shoe) -> tuple[int | None, int, dict[str, int]]:
    """The card in the hand, and the event with its fields."""
    card = shoe.draw()
    host.run(100)
    event = host.events[-1]
    return card, event.kind, fields_of(event)


def test_cards_come_in_order_and_the_last_empties_the_shoe(host: Host, shoe: Shoe) -> None:
    for number, card in enumerate(CARDS, 1):
        assert shoe.remaining[0] == card
        assert shoe.draw() == card
        assert shoe.draw() is None  # the gate is shut behind it
        host.run(100)
        fields = fields_of(next(e for e in reversed(host.events) if e.kind == cdp.CARD))
        assert (fields["draw_no"], fields["card"], fields["read_err"]) == (number, card, 0)
        assert 60 <= fields["confidence"] <= 100
    assert host.told() == [cdp.CARD] * 6 + [cdp.SHOE_EMPTY]
    assert host.status()["state"] == 0
    assert shoe.draw() is None


def test_the_event_goes_out_within_50_ms(host: Host, shoe: Shoe) -> None:
    shoe.draw()
    assert [f.kind for f in host.run(50)] == [cdp.CARD]


def test_loading_counts_for_ever(host: Host, shoe: Shoe) -> None:
    pull(host, shoe)
    host.told()
    shoe.load(CARDS, decks=6)
    host.run(300)
    loaded = host.events[-1]
    assert host.told() == [cdp.DOOR, cdp.DOOR, cdp.SHOE_LOADED]
    assert fields_of(loaded) == {"shoe_id": 2, "decks": 6}
    status = host.status()
    assert (status["load_id"], status["number"]) == (2, 0)
    assert pull(host, shoe)[2]["draw_no"] == 1


def test_burn_tells_no_card(host: Host, shoe: Shoe) -> None:
    assert shoe.burn() == CARDS[0]
    host.run(100)
    assert host.events[-1].kind == cdp.BURN
    assert host.events[-1].payload == b"\1\0\0\0"
    assert pull(host, shoe)[2]["draw_no"] == 2


def test_cut_card(host: Host, shoe: Shoe) -> None:
    shoe.remaining.insert(0, 0xF1)
    assert host.status()["cut_card"] == 0
    card, kind, fields = pull(host, shoe)
    assert (card, kind, fields) == (0xF1, cdp.CUT_CARD, {"draw_no": 1, "cards_left": 6})
    assert host.status()["cut_card"] == 1


def test_push_back(host: Host, shoe: Shoe) -> None:
    assert not shoe.push_back()
    shoe.draw()
    assert shoe.push_back()  # held against the gate until the card is acknowledged
    assert shoe.remaining == CARDS[1:]
    host.run(400)
    assert host.told() == [cdp.CARD, cdp.RETURNED]
    assert shoe.remaining == CARDS
    card, kind, fields = pull(host, shoe)
    assert (card, kind, fields["draw_no"]) == (CARDS[0], cdp.CARD, 2)


def test_nobody_pushes_a_card_back_for_ever(host: Host, shoe: Shoe) -> None:
    pull(host, shoe)
    host.ask(cdp.LOCK, b"\0")
    shoe.push_back()
    host.run(5_000)
    host.ask(cdp.UNLOCK, b"\0")
    host.run(500)
    assert host.told() == [cdp.CARD]


def test_misread_never_says_a_card_for_sure(host: Host, shoe: Shoe) -> None:
    kinds = set()
    for _ in range(20):
        shoe.load(CARDS)
        host.run(400)
        shoe.next_read = "misread"
        card, kind, fields = pull(host, shoe)
        assert card == CARDS[0]
        assert fields["read_err"] != 0
        assert fields["confidence"] < 60
        assert fields["draw_no"] == 1
        kinds.add((kind, fields.get("card")))
        assert pull(host, shoe)[2]["read_err"] == 0
    assert kinds == {(cdp.MISREAD, None), (cdp.CARD, 0xFF), (cdp.CARD, CARDS[0])}


def test_double_feed(host: Host, shoe: Shoe) -> None:
    shoe.next_read = "double feed"
    card, kind, fields = pull(host, shoe)
    assert (card, kind, fields) == (CARDS[0], cdp.DOUBLE_FEED, {"draw_no": 1, "cards": 2})
    assert shoe.came_out == CARDS[:2]
    card, kind, fields = pull(host, shoe)
    assert (card, fields["draw_no"]) == (CARDS[2], 2)


def test_foreign_and_duplicate(host: Host, shoe: Shoe) -> None:
    shoe.next_read = "duplicate"
    assert pull(host, shoe)[0] == CARDS[0]  # nothing to double yet
    card, _, fields = pull(host, shoe)
    assert card == fields["card"] == CARDS[0]
    shoe.next_read = "foreign"
    card, _, fields = pull(host, shoe)
    assert card == fields["card"] == 0xF0
    assert pull(host, shoe)[0] == CARDS[3]


def test_counter_back(host: Host, shoe: Shoe) -> None:
    for _ in range(4):
        pull(host, shoe)
    shoe.counter_back(3)
    assert host.status()["number"] == 1
    assert pull(host, shoe)[2]["draw_no"] == 2


def test_power_lost_with_a_card_in_the_gate_is_a_jam(host: Host, shoe: Shoe) -> None:
    shoe.draw()
    shoe.reboot()
    host.run(600)
    host.greet()
    assert host.told() == [cdp.JAM]
    assert host.status()["number"] == 0
    assert host.last_beat()["err"] == 1


def test_what_a_person_sees_names_no_card(shoe: Shoe) -> None:
    shoe.load(CARDS)
    seen = shoe.state()
    assert seen["cards left"] == 6
    assert not any(isinstance(value, list) for value in seen.values())
