"""The deal pattern as a pure machine: each draw has its place, and what does not fit is said."""

from __future__ import annotations

import pytest

from controller.shell.testing.cards import DeckTest, PatternTest
from controller.shell.testing.steps import SECOND
from drivers.orders import LockCards
from drivers.readings import CardEvent, CardRead, PacketRead, SealedCard

PACKETS = ((1, 2, 0), (3, 3, 2))
"""Two seats and the dealer; his packet has two cards."""


def packet(number: int, *codes: int) -> PacketRead:
    return PacketRead("shuffler", number, "red", tuple(SealedCard(c) for c in codes), 0)


def card(number: int, code: int) -> CardRead:
    return CardRead("shoe", number, SealedCard(code), 0)


def told(test: PatternTest | DeckTest, *kinds: str) -> list[str]:
    return [step["text"] for step in test.steps if step["kind"] in kinds]


@pytest.fixture
def packets() -> PatternTest:
    made = PatternTest("shuffler", *PACKETS)
    assert made.begin(0) == [LockCards(False)]
    assert told(made, "ask") == ["deal 8 cards as in a round, and look where each one lands"]
    return made


def test_every_packet_goes_to_its_place_and_the_device_is_shut(packets: PatternTest) -> None:
    assert packets.take(packet(1, 0x01, 0x02, 0x03), 1) == []
    assert packets.take(packet(2, 0x11, 0x12, 0x13), 2) == []
    assert packets.take(packet(3, 0x21, 0x22), 3) == [LockCards(True)]
    assert told(packets, "seen") == [
        "card 1: Ac to seat 1, card 1",
        "card 2: 2c to seat 1, card 2",
        "card 3: 3c to seat 1, card 3",
        "card 4: Ad to seat 2, card 1",
        "card 5: 2d to seat 2, card 2",
        "card 6: 3d to seat 2, card 3",
        "card 7: Ah to dealer, card 1",
        "card 8: 2h to dealer, card 2",
    ]
    assert packets.question == "did every card land where the list says? (yes or no)"
    assert packets.answer("yes", 4) == [LockCards(True)]
    assert packets.passed


def test_a_packet_of_another_size_is_named_and_the_next_keeps_its_place(
    packets: PatternTest,
) -> None:
    packets.take(packet(1, 0x01, 0x02), 1)
    packets.take(packet(2, 0x11, 0x12, 0x13), 2)
    packets.take(packet(3, 0x21, 0x22, 0x23), 3)
    assert told(packets, "fail") == [
        "draw 1 to seat 1: 2 cards, 3 expected",
        "draw 3 to dealer: 3 cards, 2 expected",
    ]
    assert told(packets, "seen")[2] == "card 3: Ad to seat 2, card 1"
    packets.answer("yes", 4)
    assert packets.done
    assert not packets.passed


def test_a_card_too_many_is_said(packets: PatternTest) -> None:
    for number in (1, 2):
        packets.take(packet(number, 0x01, 0x02, 0x03), number)
    packets.take(packet(3, 0x21, 0x22), 3)
    packets.take(packet(4, 0x31, 0x32, 0x33), 4)
    assert told(packets, "fail") == ["a card came after the last of the 3 draws"]
    packets.answer("yes", 5)
    assert not packets.passed


def test_a_packet_that_cannot_be_read_has_its_place(packets: PatternTest) -> None:
    packets.take(CardEvent("shuffler", "misread", 1, count=3), 1)
    packets.take(packet(2, 0x11, 0x12, 0x13), 2)
    assert told(packets, "fail") == ["draw 1 to seat 1: not read"]
    assert told(packets, "seen")[0] == "card 4: Ad to seat 2, card 1"


def test_nobody_looks_and_nobody_deals(packets: PatternTest) -> None:
    for number in (1, 2):
        packets.take(packet(number, 0x01, 0x02, 0x03), number)
    packets.take(packet(3, 0x21, 0x22), 3)
    packets.take(CardEvent("shuffler", "empty", 3), 4)
    assert not packets.done, "somebody may still look"
    packets.advance(121 * SECOND)
    assert told(packets, "fail") == ["nobody has looked"]
    other = PatternTest("shuffler", *PACKETS)
    other.begin(0)
    other.advance(121 * SECOND)
    assert told(other, "fail") == ["3 draws of the pattern did not come"]


def test_a_joker_from_a_shuffler_did_not_come_before() -> None:
    deck = DeckTest("shuffler", in_order=False)
    deck.begin(0)
    deck.take(packet(1, 0x01, 0x51, 0x01), 1)
    assert told(deck, "fail") == ["card 2: no card of a deck", "card 3: Ac came before"]
    deck.take(CardEvent("shuffler", "misread", 2, count=3), 2)
    assert told(deck, "fail")[2:] == ["card 4: not read"]


def test_an_unread_card_of_a_shoe_keeps_the_order_of_the_others() -> None:
    deck = DeckTest("shoe", in_order=True)
    deck.begin(0)
    deck.take(card(1, 0x01), 1)
    deck.take(CardEvent("shoe", "misread", 2), 2)
    deck.take(card(3, 0x03), 3)
    deck.take(CardEvent("shoe", "double feed", 4, count=2), 4)
    deck.take(card(5, 0x06), 5)
    assert told(deck, "fail") == [
        "card 2: not read, 2c expected",
        "card 4: two cards at once, 4c 5c expected",
    ]
    assert told(deck, "seen") == ["card 1: Ac", "card 3: 3c", "card 6: 6c"]
