"""The contract's events table, cell by cell: what an event does to the round and to its seat."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

MBS = ("MBS3", "MEGA")
NO_MONEY = ("over_max_previous_round", "cards_shown", "supervisor_confirmed")


@dataclass
class Rulings:
    """Round verdicts are collected; void beats supervisor, supervisor beats settled."""

    verdicts: set[str] = field(default_factory=set)
    void: set[int] = field(default_factory=set)
    held: set[int] = field(default_factory=set)
    late: dict[tuple[int, str], int] = field(default_factory=dict)
    stays_live: set[tuple[int, str]] = field(default_factory=set)
    corrected: dict[int, int] = field(default_factory=dict)
    forfeit: set[int] = field(default_factory=set)

    def status(self) -> str:
        found = (verdict for verdict in ("void", "supervisor") if verdict in self.verdicts)
        return next(found, "settled")


def rule(game: str, events: list[dict[str, Any]]) -> Rulings:
    rulings = Rulings()
    for event in events:
        _rule_one(game, event, rulings)
    exposed = [event for event in events if event["type"] == "exposed_cards"]
    if exposed and game != "RICO":
        _rule_exposed(game, exposed, rulings)
    return rulings


def _rule_one(game: str, event: dict[str, Any], rulings: Rulings) -> None:
    name = event["type"]
    if game == "RICO":
        # Any event is the supervisor's: the book has no irregularities.
        if name != "supervisor_confirmed":
            rulings.verdicts.add("supervisor")
        return
    if name in NO_MONEY or name == "exposed_cards":
        return
    if name == "late_wager":
        key = (event["seat"], event["spot"])
        rulings.late[key] = rulings.late.get(key, 0) + event["amount"]
    elif name == "late_withdrawal":
        rulings.stays_live.add((event["seat"], event["spot"]))
    elif name == "wagers_voided_by_supervisor":
        rulings.void.add(event["seat"])
    elif name == "absent_player":
        _rule_absent(game, event, rulings)
    elif name == "unequal_wagers":
        _rule_unequal(game, event, rulings)
    elif name == "player_card_count":
        _rule_player_count(game, event, rulings)
    elif name == "game_invalidated":
        if game == "NSW":
            rulings.verdicts.add("void")
            rulings.forfeit.update(event.get("forfeit_seats") or [])
        else:
            rulings.verdicts.add("supervisor")
    else:
        verdict = _round_verdict(game, event)
        if verdict:
            rulings.verdicts.add(verdict)


def _round_verdict(game: str, event: dict[str, Any]) -> str | None:
    name = event["type"]
    handled = bool(event.get("players_handled"))
    reconstructed = bool(event.get("reconstructed"))
    after_round = bool(event.get("after_round_concluded"))
    too_late = bool(event.get("after_next_game_began"))
    if name == "shuffler_malfunction":
        if event["cards_dealt"] == 0:
            return None
        return "void" if game == "NSW" else "supervisor"
    if name == "deck_count" and event["count"] == 52:
        return None
    if name == "community_count" and event["count"] == 2:
        return None
    if game == "PP6":
        return "supervisor"
    if name == "foreign_card":
        return None if after_round else "void"
    if name == "deck_count":
        if not after_round:
            return "void"
        return "supervisor" if game in MBS else None
    if name == "dealt_incorrectly":
        if handled:
            return "supervisor"
        return None if reconstructed and game in MBS else "void"
    if name == "community_count":
        return None if too_late or (reconstructed and game in MBS) else "void"
    if name == "hand_dealt_no_wager":
        if handled:
            return "supervisor" if game in MBS else None
        return None if reconstructed and game in MBS else "void"
    raise AssertionError(name)


def _rule_player_count(game: str, event: dict[str, Any], rulings: Rulings) -> None:
    if event["count"] == 3:
        return
    handled = bool(event.get("players_handled"))
    reconstructed = bool(event.get("reconstructed"))
    too_late = bool(event.get("after_next_game_began"))
    if game == "PP6":
        rulings.verdicts.add("supervisor")
    elif too_late:
        pass
    elif game == "MBS3":
        if not reconstructed:
            rulings.verdicts.add("void")
    elif game == "MEGA":
        if handled:
            rulings.held.add(event["seat"])
        elif not reconstructed:
            rulings.verdicts.add("void")
    elif handled:
        rulings.void.add(event["seat"])
    else:
        rulings.verdicts.add("void")


def _rule_absent(game: str, event: dict[str, Any], rulings: Rulings) -> None:
    seat = event["seat"]
    if game != "NSW":
        rulings.held.add(seat)
    elif not event["viewed"]:
        rulings.void.add(seat)
    else:
        spots = ["1", "2"]
        for spot in spots[spots.index(event.get("from_spot") or "1") :]:
            rulings.stays_live.add((seat, spot))


def _rule_unequal(game: str, event: dict[str, Any], rulings: Rulings) -> None:
    seat = event["seat"]
    if game != "NSW":
        rulings.held.add(seat)
    elif event["resolution"] == "corrected":
        rulings.corrected[seat] = event["corrected_to"]
    elif event["resolution"] == "fold" and not event["players_handled"]:
        rulings.void.add(seat)
    else:
        rulings.held.add(seat)


def _rule_exposed(game: str, exposed: list[dict[str, Any]], rulings: Rulings) -> None:
    """Counts add up over the round."""
    if game == "PP6":
        rulings.verdicts.add("supervisor")
    elif game in MBS:
        handled = sum(event["count"] for event in exposed if event.get("players_handled"))
        in_the_deal = sum(event["count"] for event in exposed) - handled
        if in_the_deal >= 2:
            rulings.verdicts.add("void")
        elif handled:
            rulings.verdicts.add("supervisor")
    else:
        early = [e for e in exposed if not e.get("players_handled")]
        if any(e.get("community") for e in early) or sum(e["count"] for e in early) >= 2:
            rulings.verdicts.add("void")
        late = [e for e in exposed if e.get("players_handled") and not e.get("community")]
        if sum(e["count"] for e in late) >= 2:
            rulings.verdicts.add("supervisor")
