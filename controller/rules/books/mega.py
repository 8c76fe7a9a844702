"""Megalink Let It Ride (MBS), version 2: credits, Magic Card, Lucky Player; no envy."""

from __future__ import annotations

from datetime import date
from typing import Final

from controller.rules import events as ev
from controller.rules.book import Book, WagerClauses
from controller.rules.books.mbs3 import mbs_round_clauses, mbs_rulings
from controller.rules.paytables import (
    MEGA_LUCKY_PLAYER,
    MEGA_MAGIC_CARD,
    MEGA_PROGRESSIVE,
    main_table,
)
from controller.rules.rulings import Ruling, Rulings, VoidRound, hold


def _player_card_count(e: ev.PlayerCardCount) -> Ruling | None:
    """Clause 5.4 speaks of the community cards only; a wrong player's hand is 5.3 or nobody's."""
    if e.count == 3 or e.after_next_game_began:
        return None
    if e.players_handled:
        return hold(
            e.seat,
            "MEGA-5.4",
            f"it holds {e.count} cards, found after handling",
            "the hand is void, or void the round",
        )
    return None if e.reconstructed else VoidRound("MEGA-5.3")


RULINGS: Final[Rulings] = {
    **mbs_rulings("MEGA"),
    ev.PlayerCardCount: _player_card_count,
}

BOOK: Final = Book(
    key="MEGA",
    title="Megalink Let It Ride (MBS)",
    version="2",
    effective=date(2013, 5, 9),
    family="let it ride",
    wagers=("1", "2", "$", "progressive"),
    rulings=RULINGS,
    clauses=WagerClauses(equal="MEGA-3.4", side_needs_base="MEGA-3.5", late="MEGA-5.6"),
    round_clauses=mbs_round_clauses("MEGA", "MEGA-1.1.6"),
    main=main_table("MEGA-4.1.1-T"),
    progressive=MEGA_PROGRESSIVE,
    magic_card=MEGA_MAGIC_CARD,
    lucky_player=MEGA_LUCKY_PLAYER,
    remap_allowed=True,
    exposure_in_deal_only=True,
    acceptor_after_base=True,
)
