"""Cards and what card devices tell: bytes, doubts, shuffles, acknowledgements, the lock."""

from __future__ import annotations

from typing import Any

import pytest

from controller.faults.troubles import troubles
from controller.replay.words import _FACTS as WORDS
from controller.rules.cards import DECK, card
from controller.rules.engine import facts as f
from controller.rules.engine.opening import open_table
from controller.rules.engine.state import Phase
from controller.table.cards import card_of, facts_of
from controller.table.why import sentence
from drivers.base import DeviceState, StateReported
from drivers.orders import AcknowledgeReading, RequestDeckCheck
from drivers.readings import CardEvent, CardRead, PacketRead, SealedCard
from tests.clauses.tables import SHUFFLER, TODAY, base, table
from tests.controller.table.console_player import ConsolePlayer, Table, byte_of, console_player


@pytest.mark.parametrize(
    ("code", "name"),
    [(0x01, "Ac"), (0x02, "2c"), (0x0D, "Kc"), (0x1A, "Td"), (0x27, "7h"), (0x31, "As")],
)
def test_a_card_byte_is_suit_and_rank(code: int, name: str) -> None:
    assert card_of(code) == card(name)


def test_52_bytes_are_cards_and_no_other() -> None:
    found = [c for code in range(256) if (c := card_of(code)) is not None]
    assert sorted(found) == list(DECK)


def locked(game: str = "MBS3", **changes: Any) -> ConsolePlayer:
    hand = console_player(table(game, {2: "TcTd7h", 5: "2c3d9h"}, "4s5s6s", **changes), {
        2: base(1000), 5: base(500),
    })  # fmt: skip
    while not hand.table.lines[0].startswith("BETS CLOSED"):
        hand.do(hand.words[0])
    return hand


@pytest.mark.parametrize("code", [0xF0, 0xFF, 0x00, 0x0E, 0x40])
def test_what_is_no_card_freezes_the_round(code: int) -> None:
    table_ = locked().table
    table_.feed(CardRead("shoe", 1, SealedCard(code), 0))
    assert table_.told() == f.UnknownCardSeen("foreign", 1)
    assert table_.lines == ("STOP             R 1", "ANSWER 5 4 1", "CARD IN DOUBT", "KEY MENU 51")
    assert table_.locked()


@pytest.mark.parametrize("kind", ["misread", "double feed", "returned", "gap", "burn"])
def test_a_card_in_doubt_is_never_guessed(kind: Any) -> None:
    hand = locked()
    hand.do("DEAL")
    hand.table.feed(CardEvent("shoe", kind, 2))
    assert hand.table.told() == f.UnknownCardSeen(kind, 2)
    assert hand.table.lines[3] == "KEY MENU 51"


@pytest.mark.parametrize(
    ("event", "line", "question"),
    [
        (CardEvent("shoe", "gap", 12, count=2), "GAP AT DRAW 12-13",
         "The card device skipped draws 12-13: 2 cards are missing."),
        (CardEvent("shoe", "gap", 12, count=1), "GAP AT DRAW 12",
         "The card device skipped draw 12: one card is missing."),
        (CardEvent("shoe", "gap", 112), "GAP AT DRAW 112-?",
         "The card device skipped cards at draw 112; how many is not known."),
        (CardEvent("shoe", "misread", 7), "DRAW 7 NOT READ", "A card could not be read at draw 7."),
        (CardEvent("shoe", "double feed", 7, count=2), "CARDS AT ONCE: 7",
         "2 cards left at once at draw 7."),
        (CardEvent("shoe", "returned", 7), "CARD PUSHED BACK",
         "A card was pushed back into the card device at draw 7."),
        (CardEvent("shoe", "burn", 7), "CARD BURNT", "A card was burnt at draw 7."),
        (CardEvent("shoe", "new epoch", 1), "CARD DEVICE RESTART",
         "The card device started to count again at draw 1."),
    ],
    ids=lambda one: getattr(one, "kind", ""),
)  # fmt: skip
def test_why_the_round_stopped_is_told_with_place_and_number(
    event: CardEvent, line: str, question: str
) -> None:
    """On the prompt, in ``why``, in the status, and as a fact of the journal."""
    hand = locked()
    hand.do("DEAL")
    hand.table.feed(event)
    assert hand.table.lines[0].startswith("STOP")
    assert hand.table.lines[2] == line
    frozen = hand.table.core.state.frozen
    assert frozen is not None
    assert frozen.question == question
    found = troubles({"stopped": frozen.question, "round": 1})
    assert [(t.code, t.about, t.level, t.detail) for t in found] == [
        ("E-TBL-021", "round 1", "stopped", question)
    ]
    (fact,) = hand.table.facts[-1:]
    assert isinstance(fact, f.UnknownCardSeen)
    assert (fact.number, fact.count) == (event.number, event.count)
    assert "The round is stopped until the supervisor rules" in sentence(hand.table.core.ask)
    assert WORDS[f.UnknownCardSeen](fact) == question.removesuffix(".")


def test_a_card_seen_twice_says_so() -> None:
    hand = locked()
    hand.do("DEAL")
    twice = next(s for s in hand.table.core.state.drawn)
    hand.table.card(twice._card)
    assert hand.table.lines[2] == "CARD SEEN TWICE"
    frozen = hand.table.core.state.frozen
    assert frozen is not None
    assert frozen.question == "The same card was read twice: a misread or a foreign card."


def test_after_menu_36_the_shoe_must_be_loaded_before_a_round_opens() -> None:
    """What is left in the shoe is the end of the last deck, whatever was declared."""
    hand = locked()
    hand.play()
    table_ = hand.table
    assert table_.core.state.phase is Phase.IDLE
    assert table_.lines[3] == "MENU 36"
    table_.menu("36", 1)
    assert table_.lines[2:] == ("LOAD THE SHOE", "WAIT")
    table_.press("OPEN")
    assert table_.core.state.phase is Phase.IDLE
    assert table_.locked()
    table_.feed(CardEvent("shoe", "loaded", 2))
    assert table_.lines[3] == "OPEN"


def test_a_deck_loaded_before_it_is_declared_counts_too() -> None:
    hand = locked()
    hand.play()
    hand.table.feed(CardEvent("shoe", "loaded", 2))
    hand.table.menu("36", 1)
    assert hand.table.lines[3] == "OPEN"


def test_the_cut_card_moves_nothing() -> None:
    table_ = locked().table
    table_.feed(CardRead("shoe", 1, SealedCard(0xF1), 0))
    table_.feed(CardEvent("shoe", "cut card", 1))
    assert table_.facts[-2:] == [f.CutCardSeen(), f.CutCardSeen()]
    assert table_.lines[3] == "DEAL"


def test_a_packet_with_an_unreadable_card_is_no_packet() -> None:
    hand = locked("NSW", **SHUFFLER["NSW"])
    cards = tuple(SealedCard(b) for b in (0x01, 0xFF, 0x03))
    hand.table.feed(PacketRead("shuffler", 1, "red", cards, 0))
    assert hand.table.told() == f.UnknownCardSeen("foreign", 1)


def test_a_card_that_leaves_the_shoe_between_rounds_makes_the_deck_suspect() -> None:
    table_ = Table(table("MBS3").state)
    table_.card(card("As"))
    assert table_.facts == [f.UnknownCardSeen("unasked", 1)]
    assert table_.lines[2:] == ("CHECK RED DECK", "MENU 31")


def test_a_reading_is_acknowledged_after_its_fact_is_journalled_and_never_counted_twice() -> None:
    hand = locked()
    table_ = hand.table
    seen: list[str] = []
    table_.kept_log.before = lambda _fact: seen.append("journal")
    first = hand.deck.pop()
    orders = table_.card(first, key=41)
    assert AcknowledgeReading("shoe", 41) in orders
    assert seen == ["journal"]
    again = table_.card(first, key=41)
    assert again == [AcknowledgeReading("shoe", 41)]
    assert seen == ["journal"]
    assert [type(w) for w in table_.facts[-2:]] == [f.BetsClosed, f.CardDrawn]


def test_nothing_is_shown_or_acknowledged_if_the_journal_fails() -> None:
    hand = locked()
    table_ = hand.table

    def full(_fact: f.Fact) -> None:
        raise OSError("disk full")

    table_.kept_log.before = full
    before, state = len(table_.log), table_.core.state
    with pytest.raises(OSError, match="disk full"):
        table_.card(hand.deck.pop(), key=1)
    assert table_.core.state is state
    assert len(table_.log) == before


# --- shuffler ----------------------------------------------------------------------------------


def event(kind: Any, **more: Any) -> CardEvent:
    return CardEvent("shuffler", kind, 1, **more)


@pytest.mark.parametrize(
    ("reading", "facts"),
    [
        (event("shuffle ended", count=52, expected=52, result="ok", deck="blue"),
         [f.DeckShuffled("blue")]),
        (event("shuffle ended", count=51, expected=52, result="short", deck="red"),
         [f.DeckChecked("red", passed=False), f.DeckCounted(51)]),
        (event("shuffle ended", count=53, expected=52, result="long", deck="red"),
         [f.DeckChecked("red", passed=False), f.DeckCounted(53)]),
        (event("shuffle ended", result="jam", deck="red"), [f.ShufflerFailed()]),
        (event("shuffle ended", result="unreadable", deck="red"), [f.ShufflerFailed()]),
        (event("shuffle ended", result="aborted", deck="red"), [f.ShufflerFailed()]),
        (event("deck verified", count=52, expected=52, result="ok", deck="blue"),
         [f.DeckChecked("blue", passed=True)]),
        (event("deck verified", count=52, expected=52, result="wrong cards", deck="blue"),
         [f.DeckChecked("blue", passed=False)]),
        (event("jam"), [f.ShufflerFailed()]),
        (event("jam cleared"), [f.ShufflerReady()]),
        (event("shuffle started", deck="blue"), []),
        (event("packet removed"), []),
        (event("locked"), []),
        (event("new epoch"), []),
    ],
)  # fmt: skip
def test_what_a_shuffler_tells_between_rounds(reading: CardEvent, facts: list[f.What]) -> None:
    assert facts_of(reading, open_table("NSW", SHUFFLER["NSW"], TODAY)) == facts


def test_the_other_deck_shuffled_in_the_round_is_told_with_its_colour() -> None:
    hand = locked("NSW", **SHUFFLER["NSW"])
    hand.do("DEAL")
    assert type(hand.table.told()) is f.PacketDispensed
    hand.table.event("shuffle started", deck="blue")
    assert hand.table.told() == f.DecksLoaded("red", "blue")


def test_a_restarted_device_freezes_only_a_deal_that_is_under_way() -> None:
    hand = locked()
    hand.table.feed(CardEvent("shoe", "new epoch", 5))
    assert hand.table.lines[3] == "DEAL"
    hand.do("DEAL")
    hand.table.feed(CardEvent("shoe", "new epoch", 5))
    assert hand.table.lines[3] == "KEY MENU 51"


def test_a_jammed_shoe_holds_the_deal_until_it_is_cleared() -> None:
    hand = locked()
    table_ = hand.table
    table_.feed(CardEvent("shoe", "jam", 1))
    assert (table_.lines[2:], table_.locked()) == (("CARD DEVICE JAMMED", "WAIT"), True)
    table_.feed(CardEvent("shoe", "jam cleared", 1))
    assert (table_.lines[3], table_.locked()) == ("DEAL", False)
    table_.feed(CardEvent("shoe", "door opened", 1))
    assert table_.lines[2] == "CARD DEVICE OPEN"
    table_.feed(CardEvent("shoe", "door closed", 1))
    assert table_.lines[3] == "DEAL"


def test_a_suspect_deck_in_a_shuffler_is_checked_by_it() -> None:
    table_ = Table(open_table("NSW", SHUFFLER["NSW"], TODAY))
    table_.menu("31", 1)
    orders = table_.event("shuffle ended", count=51, expected=52, result="short", deck="red")
    assert RequestDeckCheck("red") in orders
    assert table_.lines[3] == "MENU 31"
    table_.event("deck verified", count=52, expected=52, result="ok", deck="red")
    table_.event("shuffle ended", count=52, expected=52, result="ok", deck="red")
    assert table_.lines[2:] == ("CHECK RED DECK", "MENU 31")
    table_.menu("31", 1)
    assert table_.lines[3] == "OPEN"


def test_a_packet_of_the_other_deck_stops_the_deal() -> None:
    hand = locked("NSW", **SHUFFLER["NSW"])
    table_ = hand.table
    table_.packet(hand.deck[-3:], deck="blue")
    told = table_.told()
    assert isinstance(told, f.PacketDispensed)
    assert told.deck == "blue"
    assert table_.lines[2:] == ("FOREIGN CARD", "KEY MENU 51")
    assert table_.core.state.drawn == ()
    table_.turn_key(True)
    table_.menu("51", 1)
    table_.turn_key(False)
    assert table_.lines[3] == "DEAL"
    hand.do("DEAL")
    assert table_.told().deck == "red"  # type: ignore[attr-defined]
    assert len(table_.core.state.drawn) == 3


def test_cards_are_locked_except_while_a_card_is_due() -> None:
    hand = locked()
    table_ = hand.table
    assert not table_.locked()
    while table_.lines[3] == "DEAL":
        hand.do("DEAL")
    assert table_.phase() is Phase.DECISION_1
    assert table_.locked()
    hand.play()
    assert table_.locked()


def test_a_card_device_that_is_not_ready_holds_opening_and_deal_but_no_decision() -> None:
    table_ = Table(table("PP6").state, options={"card_devices": frozenset(("shoe",))})
    assert table_.lines[2:] == ("CARD DEVICE DOWN", "WAIT")
    table_.menu("36", 1)
    table_.press("OPEN")
    assert table_.lines[2] == "CARD DEVICE DOWN"
    table_.feed(StateReported("shoe", DeviceState.READY, None, 0))
    table_.press("OPEN")
    assert table_.told() == f.BetsOpened()
    table_.feed(StateReported("shoe", DeviceState.UNKNOWN, None, 0))
    assert table_.lines[3] == "WAIT END"
    assert table_.lines[2] == "PLACE YOUR BETS"


def test_a_byte_and_its_card_are_one() -> None:
    assert [card_of(byte_of(c)) for c in DECK] == list(DECK)
