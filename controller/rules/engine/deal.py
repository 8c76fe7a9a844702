"""Who gets which card: the deal pattern as a plan, and cards assigned by it.

The controller never sees where a card lands. The plan is a proposal from the order of the cards;
people confirm or correct it (AMB-D05).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeVar

from controller.rules.cards import Card, HiddenCard
from controller.rules.engine.state import TableRules, TableState

DEALER = 0
_Any = TypeVar("_Any")


@dataclass(frozen=True, slots=True)
class Hands:
    """The cards of a round as the plan assigns them."""

    seats: dict[int, tuple[HiddenCard, ...]]
    dealer: tuple[HiddenCard, ...]
    community: tuple[HiddenCard, ...]
    bonus: HiddenCard | None


def uses_packets(rules: TableRules) -> bool:
    return rules.table.card_device == "shuffler"


def must_cut(rules: TableRules) -> bool:
    """The dealer cuts before loading a shoe; cards from a shuffler are not cut (NSW-4.2, 4.4)."""
    return bool(rules.book.shuffle_clause) and not uses_packets(rules)


def dealt_seats(state: TableState) -> list[int]:
    """Every place a hand went to: the locked seats and any stray one."""
    return sorted({*state.seats, *state.stray})


def plan(rules: TableRules, seats: list[int]) -> tuple[int, ...]:
    """The place each card (or packet) goes to, in order."""
    book = rules.book
    if uses_packets(rules):
        return (*seats, DEALER)
    each = book.card_count
    if book.bonus_card:
        return (*seats, DEALER) * each
    if rules.table.deal_pattern == "hands":
        players = tuple(n for n in seats for _ in range(each))
    else:
        players = tuple(seats) * each
    return players + (DEALER,) * (5 if book.family == "ricochet" else 2)


def packet_size(rules: TableRules, place: int) -> int:
    """Cards the shuffler must put in the packet for this place."""
    if place != DEALER or not rules.book.remap_allowed:
        return 3
    return rules.table.dealer_packet


def expected(state: TableState) -> int:
    """How many draws (or packets) complete the deal."""
    return len(plan(state.rules, dealt_seats(state)))


def progress(state: TableState) -> int:
    return len(state.packets) if uses_packets(state.rules) else len(state.drawn)


def next_place(state: TableState) -> int | None:
    whole = plan(state.rules, dealt_seats(state))
    done = progress(state)
    return whole[done] if done < len(whole) else None


def places(state: TableState) -> tuple[int, ...]:
    """The place that each card drawn so far went to; draws after the deal have none."""
    whole = plan(state.rules, dealt_seats(state))
    if not uses_packets(state.rules):
        return whole[: len(state.drawn)]
    sizes = zip(whole, state.packets, strict=False)
    return tuple(place for place, size in sizes for _ in range(size))


def assign(state: TableState) -> Hands:
    """The cards drawn so far, place by place."""
    held: dict[int, list[HiddenCard]] = {n: [] for n in (DEALER, *dealt_seats(state))}
    for place, card in zip(places(state), state.drawn, strict=False):
        held[place].append(card)
    dealer = tuple(held.pop(DEALER))
    community, bonus = dealer_cards(state.rules, dealer)
    seats = {
        n: tuple(held[state.swapped.get(n, n)]) for n in dealt_seats(state) if n not in state.stray
    }
    return Hands(seats, dealer, community, bonus)


def dealer_cards(
    rules: TableRules, dealer: tuple[_Any, ...]
) -> tuple[tuple[_Any, ...], _Any | None]:
    """Which of the dealer's cards are shared, and which is the bonus card; a burnt one is neither.

    PP6: first and third are shared, the middle one is the bonus card. From a shuffler the bottom
    card of the dealer's packet is burnt unseen (NSW-7.4.3).
    """
    if rules.book.bonus_card:
        middle = rules.table.bonus_index - 1 if uses_packets(rules) else 1
        if len(dealer) <= middle:
            return dealer, None
        return dealer[:middle] + dealer[middle + 1 :], dealer[middle]
    if not uses_packets(rules):
        return dealer, None
    shared = dealer
    if packet_size(rules, DEALER) == 3:
        shared = dealer[1:] if rules.table.packet_bottom == "first_out" else dealer[:-1]
    return (shared[::-1] if rules.table.community_order == "reversed" else shared), None


def open_cards(state: TableState) -> list[Card]:
    """Every card of this round that lies open on the table."""
    found = [card for held in state.face_up.values() for card in held]
    found += [card for seat in state.seats.values() for card in seat.opened or ()]
    return [*found, *state.turned, *(() if state.bonus is None else (state.bonus,))]


def lies_open(state: TableState, card: HiddenCard) -> bool:
    return card in [HiddenCard(one) for one in open_cards(state)]


def open_twice(state: TableState, cards: tuple[HiddenCard, ...]) -> HiddenCard | None:
    """Of cards about to be opened the first that lies open already.

    Only after a person has named a card: what a device tells is compared when it comes. What a
    person names is not compared with closed cards: the answer would tell one of them (AMB-C10).
    """
    for number, card in enumerate(cards):
        if lies_open(state, card) or card in cards[:number]:
            return card
    return None
