"""Who gets which card: the deal pattern as a plan, and cards assigned by it.

The controller never sees where a card lands. The plan is a proposal from the order of the cards;
people confirm or correct it (AMB-D05).
"""

from __future__ import annotations

from dataclasses import dataclass

from controller.rules.cards import HiddenCard
from controller.rules.engine.state import TableRules, TableState

DEALER = 0


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


def assign(state: TableState) -> Hands:
    """The cards drawn so far, place by place."""
    rules = state.rules
    places = plan(rules, dealt_seats(state))
    if uses_packets(rules):
        places = tuple(
            place for place, size in zip(places, state.packets, strict=False) for _ in range(size)
        )
    held: dict[int, list[HiddenCard]] = {n: [] for n in (DEALER, *dealt_seats(state))}
    for place, card in zip(places, state.drawn, strict=False):
        held[place].append(card)
    dealer = tuple(held.pop(DEALER))
    community, bonus = _dealer_cards(rules, dealer)
    seats = {
        n: tuple(held[state.swapped.get(n, n)]) for n in dealt_seats(state) if n not in state.stray
    }
    return Hands(seats, dealer, community, bonus)


def _dealer_cards(
    rules: TableRules, dealer: tuple[HiddenCard, ...]
) -> tuple[tuple[HiddenCard, ...], HiddenCard | None]:
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
