"""Deck watch: silent on fair decks, loud on planted faults, and the same after a restart."""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from random import Random

import pytest

from controller.deckwatch import alarms as a
from controller.deckwatch.alarms import WHAT_TO_DO
from controller.deckwatch.orders import DealtOrder, Starts
from controller.deckwatch.places import Places
from controller.deckwatch.state import StateError, restore, save
from controller.deckwatch.watch import RATE, DeckWatch
from controller.rules.cards import cards
from tests.controller.deckwatch.decks import (
    fair,
    fair_rounds,
    new_deck,
    overhand,
    riffle,
    rounds,
    watched,
)

SEED = 5


def after_fair(count: int = 40, dealt: int = 23) -> DeckWatch:
    watch = DeckWatch()
    assert watched(watch, fair_rounds(SEED, count, dealt)) == []
    return watch


# --- fair ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("dealt", [5, 23, 52])
def test_fair_decks_raise_nothing(dealt: int) -> None:
    assert watched(DeckWatch(), fair_rounds(100 + dealt, 1_500, dealt)) == []


@pytest.mark.slow
@pytest.mark.parametrize("dealt", [5, 23])
def test_a_hundred_thousand_fair_rounds_raise_nothing(dealt: int) -> None:
    assert watched(DeckWatch(), fair_rounds(dealt, 100_000, dealt)) == []


@pytest.mark.parametrize("rate", [0.002, 0.01])
def test_the_rate_of_false_alarms_is_kept_where_it_can_be_counted(rate: float) -> None:
    """With a rate that large the promise itself is tested: seven tests, each at most at its rate.

    Expected at most 7 * rate * rounds; three standard deviations of grace. A test whose
    probabilities are too small by a factor of a few fails here.
    """
    count = 4_000
    found = watched(DeckWatch(rate), fair_rounds(77, count))
    expected = 7 * rate * count
    assert len(found) <= expected + 3 * expected**0.5
    for code in WHAT_TO_DO:
        mine = sum(alarm.code == code for alarm in found)
        most = 2 * rate * count  # the device's own repetition has two tests
        assert mine <= most + 3 * most**0.5, code


# --- planted faults -----------------------------------------------------------------------------


def first_code(watch: DeckWatch, order: list[int], dealt: int = 23) -> list[str]:
    number = watch.last_round + 1
    found = watched(watch, rounds(iter([order]), dealt, number))
    assert all(0 <= alarm.probability <= 1e-9 and alarm.what_to_do for alarm in found)
    return [alarm.code for alarm in found]


@pytest.mark.parametrize("cut", [0, 7, 20, 45])
def test_a_new_deck_only_cut_is_found_at_once(cut: int) -> None:
    deck = new_deck()
    assert a.UNSHUFFLED in first_code(after_fair(), deck[cut:] + deck[:cut])
    assert a.UNSHUFFLED in first_code(after_fair(), (deck[cut:] + deck[:cut])[::-1])


@pytest.mark.parametrize("seed", range(5))
def test_a_new_deck_riffled_once_is_found_at_once(seed: int) -> None:
    assert a.UNSHUFFLED in first_code(after_fair(), riffle(new_deck(), Random(seed)))


@pytest.mark.parametrize("seed", range(5))
def test_a_new_deck_shuffled_overhand_once_is_found_at_once(seed: int) -> None:
    assert a.UNSHUFFLED in first_code(after_fair(), overhand(new_deck(), Random(seed)))


def test_new_decks_riffled_twice_are_found_within_a_few() -> None:
    rng = Random(3)
    orders = (riffle(riffle(new_deck(), rng), rng) for _ in range(4))
    found = watched(after_fair(), rounds(orders, first=41))
    assert {alarm.code for alarm in found} & {a.UNSHUFFLED, a.BADLY_SHUFFLED}


def test_with_one_player_weak_evidence_is_collected() -> None:
    """Five cards a round prove nothing alone; ten unshuffled decks do."""
    deck, rng = new_deck(), Random(4)
    cuts = [rng.randrange(40) for _ in range(10)]
    orders = iter([deck[cut:] + deck[:cut] for cut in cuts])
    found = watched(after_fair(40, 5), rounds(orders, 5, 41))
    assert found
    assert {alarm.code for alarm in found} <= {a.BADLY_SHUFFLED, a.SIMILAR}
    assert all(alarm.probability <= 1e-9 for alarm in found)


def test_the_same_order_again_is_found() -> None:
    watch = after_fair()
    order = fair(Random(8))
    assert first_code(watch, order) == []
    assert a.REPEATED in first_code(watch, order)


def test_an_order_from_long_ago_is_found_by_its_first_cards() -> None:
    order = fair(Random(9))
    watch = DeckWatch()
    assert first_code(watch, order) == []
    assert watched(watch, fair_rounds(SEED, 1_000, first=2)) == []
    assert first_code(watch, order) == [a.DEVICE_REPEATS]


def test_a_deck_that_was_cut_but_not_shuffled_is_found() -> None:
    watch = after_fair()
    order = fair(Random(10))
    assert first_code(watch, order) == []
    assert a.REPEATED in first_code(watch, order[11:] + order[:11])


def test_a_deck_not_shuffled_after_it_was_taken_up_is_found() -> None:
    """The hands were taken up seat by seat, which is not how they were dealt."""
    watch = after_fair()
    order = fair(Random(11))
    dealt = tuple(order[:23])
    hands = [dealt[seat::7][:3] for seat in range(7)]
    taken = tuple(card for hand in hands for card in hand)
    assert watch.take(DealtOrder(41, "red", 41, dealt, gathered=taken)) == []
    again = [*taken, *(c for c in order if c not in taken)]
    assert a.REPEATED in first_code(watch, again)
    assert a.REPEATED in first_code(watch, overhand(again[::-1][29:], Random(1)) + again[23:])


def test_a_device_that_gives_the_same_packets_again_is_found() -> None:
    watch, rng = after_fair(), Random(12)
    order = fair(rng)
    assert first_code(watch, order) == []
    packets = [order[i : i + 3] for i in range(0, 12, 3)]
    rng.shuffle(packets)
    packets.insert(2, order[30:33])
    out = [card for packet in packets for card in packet]
    rest = [c for c in order if c not in out]
    rng.shuffle(rest)
    assert a.DEVICE_REPEATS in first_code(watch, out + rest)


def test_a_card_dealt_twice_is_impossible() -> None:
    watch = after_fair()
    found = watch.take(DealtOrder(41, "red", 41, cards("As Kd 7c As")))
    assert [(alarm.code, alarm.probability, alarm.how) for alarm in found] == [
        (a.CARD_TWICE, 0.0, "exact")
    ]
    assert "As" in found[0].text


def test_a_shuffler_with_a_favourite_place_is_found_and_named() -> None:
    """The ace of spades is put on top in one round of ten; 2 % would be chance."""
    rng, watch, found = Random(13), DeckWatch(), []
    for number in range(1, 1_500):
        order = fair(rng)
        if rng.random() < 0.1:
            order.remove(51)
            order.insert(0, 51)
        found += watch.take(DealtOrder(number, "red", number, tuple(order[:23])))
        if found:
            break
    assert [alarm.code for alarm in found] == [a.BIASED]
    assert found[0].text.startswith("As came ")
    assert "as card 1 in" in found[0].text
    assert found[0].probability <= 1e-9


def test_a_shuffler_that_favours_many_cards_a_little_is_found() -> None:
    """Half of all cards come half again as often as card 1 as the others do."""
    rng, watch, found = Random(14), DeckWatch(), []
    for number in range(1, 8_000):
        order = fair(rng)
        if order[0] >= 26 and rng.random() < 0.5:
            low = next(i for i, c in enumerate(order) if c < 26)
            order[0], order[low] = order[low], order[0]
        found += watch.take(DealtOrder(number, "red", number, tuple(order[:5])))
        if found:
            break
    assert [alarm.code for alarm in found] == [a.BIASED]
    assert "card 1 is not equally often" in found[0].text


def test_a_shuffler_that_leaves_many_cards_in_place_is_found() -> None:
    """Each deck keeps three of the last deck's first ten cards where they were."""
    rng, watch, last = Random(15), DeckWatch(), fair(Random(1))
    found: list[a.DeckAlarm] = []
    for number in range(1, 60):
        kept = rng.sample(range(10), 3)
        others = [c for c in last if c not in {last[i] for i in kept}]
        rng.shuffle(others)
        order = [last[i] if i in kept else others.pop() for i in range(52)]
        found += watch.take(DealtOrder(number, "red", number, tuple(order[:23])))
        last = order
    assert a.SIMILAR in {alarm.code for alarm in found}


# --- what is not public -------------------------------------------------------------------------


def test_hidden_cards_are_no_evidence() -> None:
    """A choice of what is shown may not make an alarm: weak hands folded, only rows shown."""
    rng, watch, found = Random(16), DeckWatch(), []
    for number in range(1, 3_000):
        order = fair(rng)[:23]
        shown: list[int | None] = list(order)
        for seat in range(7):
            hand = order[3 * seat : 3 * seat + 3]
            if max(hand) < 44:  # no king and no ace: folded, never opened
                shown[3 * seat : 3 * seat + 3] = [None] * 3
        sure = frozenset((21, 22))
        found += watch.take(DealtOrder(number, "red", number, tuple(shown), sure=sure))
    assert found == []


def test_without_the_sure_places_the_choice_would_look_like_a_bias() -> None:
    rng, watch, found = Random(16), DeckWatch(), []
    for number in range(1, 3_000):
        order = fair(rng)[:3]
        shown = tuple(order) if max(order) >= 44 else (None,) * 3
        found += watch.take(DealtOrder(number, "red", number, shown))
    assert a.BIASED in {alarm.code for alarm in found}


# --- the long memory ----------------------------------------------------------------------------


def test_the_long_memory_forgets_the_oldest_start_and_is_never_larger() -> None:
    starts = Starts(3)
    size = sys.getsizeof(starts._kept)
    for number in range(1, 11):
        starts.append(number)
        assert list(starts) == list(range(max(1, number - 2), number + 1))
        assert (number in starts, number - 3 in starts) == (True, False)
    assert (len(starts), sys.getsizeof(starts._kept)) == (3, size)
    assert list(Starts(3, starts)) == [8, 9, 10]


def test_a_saved_start_that_no_deck_has_is_refused() -> None:
    state = json.loads(save(after_fair()))
    state["starts"][0] = 52**8
    with pytest.raises(StateError, match="starts"):
        restore(json.dumps(state).encode())


# --- rounds, shuffles, restarts -----------------------------------------------------------------


def test_a_round_told_twice_counts_once() -> None:
    watch = after_fair()
    before = save(watch)
    assert watched(watch, fair_rounds(SEED, 40)) == []
    assert save(watch) == before


def test_two_rounds_from_one_shuffle_are_one_order() -> None:
    order = tuple(fair(Random(17)))
    watch = DeckWatch()
    assert watch.take(DealtOrder(1, "red", 9, order[:20])) == []
    assert watch.take(DealtOrder(2, "red", 9, order[20:40])) == []
    assert (watch.shuffles, len(watch.recent), watch.recent[0].cards) == (1, 1, order[:40])
    twice = watch.take(DealtOrder(3, "red", 9, order[:1]))
    assert [alarm.code for alarm in twice] == [a.CARD_TWICE]


def test_the_state_survives_a_restart_to_the_byte() -> None:
    told = list(fair_rounds(21, 150))
    told.append(replace(told[3], round_no=151, shuffle=151))
    unbroken = DeckWatch()
    expected = [unbroken.take(dealt) for dealt in told]
    assert [alarm.code for alarm in expected[-1]] == [a.DEVICE_REPEATS]
    watch, found = DeckWatch(), []
    for dealt in told:
        watch = restore(save(watch))
        found.append(watch.take(dealt))
    assert found == expected
    assert save(watch) == save(unbroken)
    json.loads(save(watch))


@pytest.mark.parametrize("text", [b"", b"[]", b"{}", b'{"v":2}', b"\xff"])
def test_a_state_that_cannot_be_is_refused(text: bytes) -> None:
    with pytest.raises(StateError, match="E-DCK-020"):
        restore(text)


@pytest.mark.parametrize(("key", "value"), [("places", [[1]]), ("rounds", -1), ("more", 1)])
def test_a_state_with_a_wrong_field_is_refused(key: str, value: object) -> None:
    state = json.loads(save(DeckWatch()))
    state[key] = value
    with pytest.raises(StateError, match="E-DCK-020"):
        restore(json.dumps(state).encode())


@pytest.mark.parametrize(
    "wrong",
    [{"cards": (52,)}, {"cards": (-1,)}, {"packets": (2,)}, {"sure": frozenset({5})},
     {"gathered": (99,)}],
)  # fmt: skip
def test_a_round_that_cannot_be_is_refused(wrong: dict[str, object]) -> None:
    sound: dict[str, object] = {"round_no": 1, "deck": "red", "shuffle": 1, "cards": (1, 2, 3)}
    DealtOrder(**sound)  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="round 1"):
        DealtOrder(**{**sound, **wrong})  # type: ignore[arg-type]


def test_a_deck_that_was_only_cut_is_found_with_seven_players_and_not_with_one() -> None:
    """The stated limit: five cards from behind the cut are rarely among the five seen before."""
    for dealt, finds in ((23, True), (5, False)):
        rng, watch, found = Random(21), DeckWatch(), []
        order = fair(rng)
        for number in range(1, 401):
            found += watch.take(DealtOrder(number, "red", number, tuple(order[:dealt])))
            if found:
                break
            cut = rng.randrange(8, 44)
            order = order[cut:] + order[:cut]
        assert bool(found) is finds


@pytest.mark.parametrize("seed", range(4))
def test_a_bias_is_told_with_the_share_of_rounds_that_would_raise_it(seed: int) -> None:
    """A look every 64 rounds may use the rate of 64; what is reported is per round."""
    rng, places = Random(seed), Places(RATE)
    for _ in range(8_000):
        found = places.take([(0, 51 if rng.random() < 0.03 else rng.randrange(52))])
        if found is not None:
            break
    assert found is not None
    assert 0 < found[0] <= RATE
