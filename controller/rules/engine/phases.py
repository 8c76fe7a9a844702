"""The round as one literal table: which fact is possible in which phase, and what handles it.

A fact that is not in its phase's row is refused and changes nothing. ``docs/rules/phases.md`` is
printed from this table.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from controller.rules.book import Family
from controller.rules.engine import (
    betting,
    corrections,
    dealing,
    decisions,
    irregular,
    jackpot,
    ruling,
    settlement,
    table_handlers,
)
from controller.rules.engine import facts as f
from controller.rules.engine import ricochet_play as ricochet
from controller.rules.engine.common import Handler
from controller.rules.engine.state import Phase

Row = Mapping[type[f.What], Handler]

ANYWHERE: Final[Row] = {
    f.DeckChecked: table_handlers.deck_checked,
    f.DecksLoaded: table_handlers.decks_loaded,
    f.DeckShuffled: table_handlers.deck_shuffled,
    f.ShufflerReady: table_handlers.shuffler_ready,
    f.CutCardSeen: dealing.cut_card_seen,
    f.TimerFired: table_handlers.timer_fired,
    f.SignShown: table_handlers.sign_shown,
    f.SignRemoved: table_handlers.sign_removed,
    f.LimitsChanged: table_handlers.limits_changed,
    f.MeterReported: table_handlers.meter_reported,
    f.LinkLost: table_handlers.link_lost,
    f.LinkRestored: table_handlers.link_restored,
    f.ProgressiveClosed: table_handlers.progressive_closed,
    f.ProgressiveOpened: table_handlers.progressive_opened,
    f.AwardChanged: jackpot.award_changed,
    f.MysteryWon: jackpot.mystery_won,
    f.PlayerWarned: table_handlers.player_warned,
    f.BreachNoted: table_handlers.breach_noted,
    f.SeatExcluded: betting.seat_excluded,
    f.SeatReadmitted: betting.seat_readmitted,
    f.CountOrdered: table_handlers.count_ordered,
    f.DisputeRaised: settlement.dispute_raised,
    f.DisputeDecided: settlement.dispute_decided,
    f.PayCorrected: corrections.pay_corrected,
}
"""Facts about the table, possible in every phase."""

BEFORE_THE_LOCK: Final[Row] = {
    f.WagerRead: betting.wager_read,
    f.CreditsRead: betting.credits_read,
}

AFTER_THE_LOCK: Final[Row] = {
    f.WagerRead: dealing.wager_moved,
    f.CreditsRead: dealing.credits_late,
    f.UnknownCardSeen: irregular.card_fault,
    f.CardFaultReported: irregular.card_fault_reported,
    f.DeckCounted: irregular.deck_counted,
    f.ShufflerFailed: irregular.shuffler_failed,
    f.OutcomeInvalidated: irregular.outcome_invalidated,
}

CARDS_ARE_OUT: Final[Row] = {
    **AFTER_THE_LOCK,
    f.CardExposed: irregular.card_exposed,
    f.DealtWrong: irregular.dealt_wrong,
    f.StrayHandFound: irregular.stray_hand_found,
    f.CountFound: irregular.count_found,
    f.HandVoided: irregular.hand_voided,
    f.SeatRuled: ruling.seat_ruled,
    f.CardsHandled: decisions.cards_handled,
    f.WagersCorrected: irregular.wagers_corrected,
    f.CorrectionRefused: irregular.correction_refused,
    f.BetsClosed: betting.close_confirmed,
}

DECIDING: Final[Row] = {
    **CARDS_ARE_OUT,
    f.CardDrawn: dealing.excess_card,
    f.PacketDispensed: dealing.excess_card,
    f.HandsRemapped: irregular.hands_remapped,
    f.Decided: decisions.decided,
    f.DecisionCorrected: decisions.decision_corrected,
    f.RideAllSignalled: decisions.ride_all_signalled,
    f.CommunityTurned: decisions.community_turned,
    f.PlayerAbsent: irregular.player_absent,
    f.OrderDirected: decisions.order_directed,
    f.Folded: irregular.folded,
}

STANDING_STILL: Final[Row] = {
    f.WagerRead: dealing.wager_while_frozen,
    f.CardDrawn: dealing.excess_card,
    f.UnknownCardSeen: irregular.card_fault,
    f.CardFaultReported: irregular.card_fault_reported,
    f.DeckCounted: irregular.deck_counted,
    f.ShufflerFailed: irregular.shuffler_failed,
    f.OutcomeInvalidated: irregular.outcome_invalidated,
    f.SupervisorRuled: ruling.supervisor_ruled,
    f.RulingSeconded: ruling.ruling_seconded,
}
"""Whatever is reported while a question is open is asked after it."""

_LET_IT_RIDE: Final[Mapping[Phase, Row]] = {
    Phase.IDLE: {
        f.BetsOpened: betting.bets_opened,
        f.WagerRead: betting.wager_read,
        f.DeckChanged: table_handlers.deck_changed,
        f.DeckCut: table_handlers.deck_cut,
        f.DeckCounted: table_handlers.deck_counted_idle,
        f.UnknownCardSeen: table_handlers.card_fault_idle,
        f.CardFaultReported: table_handlers.card_fault_idle,
        f.CountFound: corrections.count_found_after,
        f.ShufflerFailed: irregular.shuffler_failed,
    },
    Phase.BETTING: {
        **BEFORE_THE_LOCK,
        f.WagerDeclared: betting.wager_declared,
        f.SeatLeftOut: betting.seat_left_out,
        f.WagerRefused: betting.wager_refused,
        f.RoundCalledOff: betting.round_called_off,
        f.BetsClosed: betting.bets_closed,
        f.CardDrawn: dealing.card_before_close,
        f.PacketDispensed: dealing.card_before_close,
        f.UnknownCardSeen: irregular.card_fault,
        f.CardFaultReported: irregular.card_fault_reported,
        f.DeckCounted: irregular.deck_counted,
        f.ShufflerFailed: irregular.shuffler_failed,
        f.DeckCut: table_handlers.deck_cut,
    },
    Phase.LOCKED: {
        **AFTER_THE_LOCK,
        f.CardDrawn: dealing.first_card,
        f.PacketDispensed: dealing.first_card,
        f.SelectionCommitted: betting.selection_committed,
        f.SelectionRevealed: betting.selection_revealed,
        f.WagerRefused: betting.wager_refused,
        f.RoundCalledOff: betting.round_called_off,
        f.WagersCorrected: irregular.wagers_corrected,
        f.CorrectionRefused: irregular.correction_refused,
        f.Folded: irregular.folded,
        f.BetsClosed: betting.close_confirmed,
        f.DeckCut: table_handlers.deck_cut,
    },
    Phase.DEALING: {
        **CARDS_ARE_OUT,
        f.CardDrawn: dealing.dealt,
        f.PacketDispensed: dealing.dealt,
        f.HandsRemapped: irregular.hands_remapped,
        f.Folded: irregular.folded,
        f.SelectionRevealed: betting.selection_revealed,
    },
    Phase.DECISION_1: {**DECIDING, f.SelectionRevealed: betting.selection_revealed},
    Phase.DECISION_2: {k: v for k, v in DECIDING.items() if k is not f.OrderDirected},
    Phase.SETTLEMENT: {
        **CARDS_ARE_OUT,
        f.CardDrawn: dealing.excess_card,
        f.PacketDispensed: dealing.excess_card,
        f.HandOpened: settlement.hand_opened,
        f.SeatSettled: settlement.seat_settled,
        f.JackpotLocked: jackpot.jackpot_locked,
        f.CardCorrected: corrections.card_corrected,
        f.BonusCardTurned: settlement.bonus_card_turned,
        f.BetsOpened: settlement.opened_too_early,
        f.RoundEnded: settlement.round_ended,
        f.WagerDeclared: dealing.spot_declared,
    },
    Phase.VOIDING: {
        f.WagerRead: betting.wager_read,
        f.WagerDeclared: dealing.spot_declared,
        f.VoidCleared: settlement.void_cleared,
    },
    Phase.FROZEN: {
        **STANDING_STILL,
        f.PacketDispensed: dealing.excess_card,
        f.StrayHandFound: irregular.stray_hand_found,
        f.CardsHandled: decisions.cards_handled,
    },
}

_RICOCHET_OUT: Final[Row] = {
    **AFTER_THE_LOCK,
    f.CardExposed: irregular.card_exposed,
    f.DealtWrong: irregular.dealt_wrong,
    f.CountFound: irregular.count_found,
    f.PlayerAbsent: irregular.player_absent,
    f.HandVoided: irregular.hand_voided,
}

_RICOCHET: Final[Mapping[Phase, Row]] = {
    Phase.IDLE: _LET_IT_RIDE[Phase.IDLE],
    Phase.BETTING: _LET_IT_RIDE[Phase.BETTING],
    Phase.LOCKED: {**AFTER_THE_LOCK, f.CardDrawn: dealing.first_card},
    Phase.DEALING: {**_RICOCHET_OUT, f.CardDrawn: dealing.dealt},
    Phase.DEALT: {
        **_RICOCHET_OUT,
        f.CardDrawn: dealing.excess_card,
        f.DealConfirmed: ricochet.deal_confirmed,
    },
    Phase.ACTION: {
        **_RICOCHET_OUT,
        f.WagerRead: ricochet.chips_moved,
        f.CardDrawn: ricochet.unasked_card,
        f.WagerDeclared: dealing.spot_declared,
        f.Played: ricochet.played,
        f.Folded: ricochet.folded,
    },
    Phase.DRAW: {
        **_RICOCHET_OUT,
        f.WagerRead: ricochet.chips_moved,
        f.CardDrawn: ricochet.drawn,
    },
    Phase.SETTLEMENT: {
        **_RICOCHET_OUT,
        f.WagerRead: ricochet.chips_moved,
        f.CardDrawn: ricochet.unasked_card,
        f.WagerDeclared: dealing.spot_declared,
        f.RoundEnded: ricochet.round_ended,
    },
    Phase.VOIDING: _LET_IT_RIDE[Phase.VOIDING],
    Phase.FROZEN: STANDING_STILL,
}

TABLE: Final[Mapping[Family, Mapping[Phase, Row]]] = {
    "let it ride": _LET_IT_RIDE,
    "ricochet": _RICOCHET,
}
