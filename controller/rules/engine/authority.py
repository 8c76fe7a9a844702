"""Who may declare what: facts that need a role, and facts that only a device can tell."""

from __future__ import annotations

from typing import Final

from controller.rules.engine import facts as f

_SUPERVISORS: Final = frozenset((f.Role.GAMES_SUPERVISOR, f.Role.CASINO_SUPERVISOR))
_ANY_CHECKER: Final = _SUPERVISORS | {f.Role.INSPECTOR}

AUTHORITY: Final[dict[type[f.What], tuple[frozenset[f.Role], str]]] = {
    f.LimitsChanged: (_SUPERVISORS, "NSW-6.5"),
    f.CountOrdered: (_ANY_CHECKER, "NSW-3.8"),
    f.WagerDeclared: (_SUPERVISORS, "NSW-5.7"),
    f.WagerRefused: (_SUPERVISORS, "NSW-14.11"),
    f.SeatExcluded: (_SUPERVISORS, "NSW-12.12"),
    f.SeatReadmitted: (_SUPERVISORS, "NSW-12.12.4"),
    f.OrderDirected: (_SUPERVISORS, "NSW-12.12"),
    f.DeckChanged: (_SUPERVISORS, "NSW-3.7"),
    f.HandsRemapped: (_SUPERVISORS, "MBS3-5.3"),
    f.HandVoided: (frozenset((f.Role.CASINO_SUPERVISOR,)), "NSW-14.3"),
    f.OutcomeInvalidated: (_SUPERVISORS, "NSW-14.4"),
    f.SupervisorRuled: (_SUPERVISORS, "NSW-14.12"),
    f.SeatRuled: (_SUPERVISORS, "NSW-14.12"),
    f.DisputeDecided: (_SUPERVISORS, "NSW-14.12"),
    f.CardCorrected: (_SUPERVISORS, "NSW-9.4"),
}
"""Facts that only somebody with this role may declare, and the clause that says so."""

MEASURED_ONLY: Final = (
    f.CardDrawn, f.PacketDispensed, f.CutCardSeen, f.CreditsRead, f.WagerRead,
    f.AwardChanged, f.MysteryWon,
)  # fmt: skip
"""What a device measures; a person declares it only through a fact of its own kind."""
