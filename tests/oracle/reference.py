"""What the contract says a record settles to: plain, slow and independent of the code under test.

``settle(record)`` takes parsed JSON and gives the result with ``ANY`` where the contract is open;
it raises ``MalformedError`` for a record that must be refused and ``UndecidedError`` where the
contract leaves the whole outcome open.
"""

from __future__ import annotations

from typing import Any

from . import ricochet_reference
from .event_rulings import MBS, NO_MONEY, Rulings, rule
from .expected import ANY, OneOf, held_wager, wager
from .hand_values import (
    NAMES,
    PAIR_PLUS_ODDS,
    PROGRESSIVE_ODDS,
    ROYAL,
    SIX_CARD_ODDS,
    STRAIGHT_FLUSH,
    UndecidedError,
    Value,
    best_of_six,
    five,
    main_odds,
    three,
)
from .malformed import check

BASE = ("1", "2", "$")
EXTRA = {
    "MBS3": ("progressive",),
    "MEGA": ("progressive",),
    "NSW": (),
    "PP6": ("pair_plus", "six_card"),
}
ENVY = {ROYAL: 100000, STRAIGHT_FLUSH: 30000}
Json = dict[str, Any]


def settle(record: Json) -> Json:
    check(record)
    if record["game"] == "RICO":
        return ricochet_reference.settle(record)
    return _Round(record).result()


class _Seat:
    """One seat of a Let It Ride round: what lay on its spots, what of it counts, its standing."""

    def __init__(self, game: str, raw: Json, rulings: Rulings) -> None:
        self.number: int = raw["seat"]
        self.cards: list[str] = [card for card in raw.get("cards") or [] if card]
        self.decisions: Json = raw.get("decisions") or {}
        self.placed: dict[str, int] = {}
        self.timely: dict[str, int] = {}
        wagers = raw.get("wagers") or {}
        for spot in BASE + EXTRA[game]:
            late = rulings.late.get((self.number, spot), 0)
            self.placed[spot] = wagers.get(spot) or 0
            self.timely[spot] = self.placed[spot] - late
            if self.number in rulings.corrected and spot in BASE:
                if late:
                    raise UndecidedError("a late wager on a spot that was then corrected")
                self.placed[spot] = self.timely[spot] = rulings.corrected[self.number]
        self.corrected = self.number in rulings.corrected
        self.status = "settled"
        self.value: Value | None = None
        self.net: Any = 0

    def withdrawn(self, spot: str, rulings: Rulings) -> bool:
        if spot not in ("1", "2") or self.timely[spot] == 0:
            return False
        return self.decisions.get(spot) == "withdraw" and (
            (self.number, spot) not in rulings.stays_live
        )

    def is_jackpot_class(self) -> bool:
        return self.value is not None and self.value[0] in ENVY


class _Round:
    def __init__(self, record: Json) -> None:
        self.game: str = record["game"]
        self.set: Json = {k: v for k, v in (record.get("settings") or {}).items() if v is not None}
        round_ = record["round"]
        self.events = round_.get("events") or []
        self.community = [card for card in round_.get("community") or [] if card]
        self.bonus_card = round_.get("bonus_card")
        self.rulings = rule(self.game, self.events)
        self.status = self.rulings.status()
        self.seats = [_Seat(self.game, raw, self.rulings) for raw in round_["seats"]]
        self.seats.sort(key=lambda seat: seat.number)
        self.meter: Any = self.set.get("jackpot", 0)
        self.taken: list[int] = []
        if self.status == "settled":
            for seat in self.seats:
                self._judge(seat)

    def _judge(self, seat: _Seat) -> None:
        """Seat precedence: void, refused, supervisor, settled."""
        base = [seat.timely[spot] for spot in BASE]
        rankable = len(seat.cards) == 3 and len(self.community) == 2
        if self.game == "PP6":
            odd = any(seat.timely[spot] not in (0, seat.timely["$"]) for spot in ("1", "2"))
        else:
            odd = len(set(base)) > 1
        over = self.set.get("limit_scope") == "per_area" and (
            self.game == "NSW" and sum(base) > self.set.get("max_wager", sum(base))
        )
        if seat.number in self.rulings.void:
            seat.status = "void"
        elif self.game == "PP6" and seat.timely["$"] == 0 and any(base):
            raise UndecidedError("a PP6 circle without $: refused or the supervisor's?")
        elif not any(base):
            seat.status = "refused"
        elif seat.number in self.rulings.held or odd or over or not rankable:
            seat.status = "supervisor"
        if rankable and seat.status in ("settled", "supervisor"):
            seat.value = five(seat.cards + self.community)

    def result(self) -> Json:
        if self.status == "void":
            seats = [self._void_round(seat) for seat in self.seats]
        elif self.status == "supervisor":
            seats = [self._held_round(seat) for seat in self.seats]
        else:
            # The highest seat is settled first: percentage awards take the meter as it stands.
            shown = {seat.number: self._seat(seat) for seat in reversed(self.seats)}
            self._hold_dependents(shown)
            seats = [shown[seat.number] for seat in self.seats]
        nets = [seat.net for seat in self.seats]
        house: Any = ANY if ANY in nets else -sum(net or 0 for net in nets)
        result: Json = {
            "game": self.game,
            "round_status": self.status,
            "clauses": [] if self._plain() else ANY,
            "house_net": None if None in nets or self.status == "supervisor" else house,
            "seats": seats,
        }
        if "supervisor" in [self.status, *(seat.status for seat in self.seats)]:
            result["question"] = ANY
        if self.game in MBS:
            result["jackpot_before"] = self.set.get("jackpot", 0)
            result["jackpot_after"] = None if self.status == "supervisor" else self.meter
        return result

    def _plain(self) -> bool:
        events = [event for event in self.events if event["type"] not in NO_MONEY]
        above = self.game == "PP6" and any(
            seat.timely[spot] > seat.timely["$"] for seat in self.seats for spot in EXTRA["PP6"]
        )
        return not (events or above) and all(seat.status == "settled" for seat in self.seats)

    def _frame(self, seat: _Seat, wagers: Json, awards: Any = None, hand: Any = None) -> Json:
        wagers = {spot: shown for spot, shown in wagers.items() if seat.placed[spot]}
        return {
            "seat": seat.number,
            "hand": hand,
            "net": seat.net,
            "awards": [] if awards is None else awards,
            "wagers": wagers,
        }

    def _void_round(self, seat: _Seat) -> Json:
        wagers = {}
        forfeit = seat.number in self.rulings.forfeit
        if forfeit and (seat.corrected or seat.number in self.rulings.void):
            raise UndecidedError("forfeited and also corrected or void")
        for spot, placed in seat.placed.items():
            if not forfeit:
                wagers[spot] = wager(placed, "void", back=placed)
            elif seat.withdrawn(spot, self.rulings):
                wagers[spot] = wager(placed, OneOf("withdrawn", "void"), back=placed)
            elif seat.timely[spot] == 0:
                wagers[spot] = wager(placed, OneOf("refused", "withdrawn", "void"), back=placed)
            else:
                if seat.timely[spot] > self.set.get("max_wager", seat.timely[spot]):
                    raise UndecidedError("forfeit of a wager above the maximum")
                wagers[spot] = wager(placed, "forfeited", back=placed - seat.timely[spot])
                seat.net -= seat.timely[spot]
        return self._frame(seat, wagers)

    def _held_round(self, seat: _Seat) -> Json:
        """Nothing is settled automatically, every net is null."""
        seat.net = None
        sure = seat.number not in self.rulings.void and any(seat.timely[spot] for spot in BASE)
        wagers = {}
        for spot, placed in seat.placed.items():
            wagers[spot] = held_wager(placed) if sure else ANY
        return self._frame(seat, wagers)

    def _seat(self, seat: _Seat) -> Json:
        if seat.status == "supervisor":
            seat.net = None
            wagers = {spot: held_wager(placed) for spot, placed in seat.placed.items()}
            return self._frame(seat, wagers)
        if seat.status != "settled":
            wagers = {
                spot: wager(placed, seat.status, back=placed)
                for spot, placed in seat.placed.items()
            }
            return self._frame(seat, wagers)
        assert seat.value is not None
        wagers = {spot: self._base_wager(seat, spot, main_odds(seat.value)) for spot in BASE}
        awards: list[Json] = []
        if self.game in MBS:
            wagers["progressive"], awards = self._progressive(seat)
        shown = self._frame(seat, wagers, awards, NAMES[seat.value[0]])
        if self.game == "PP6":
            shown["wagers"] |= self._bonuses(seat, shown)
        seat.net = sum(paid["to_player"] - paid["placed"] for paid in shown["wagers"].values())
        seat.net += sum(award["amount"] for award in awards)
        reduction = self._cap(shown["wagers"])
        if reduction:
            seat.net -= reduction
            shown["payout_cap_reduction"] = reduction
        shown["net"] = seat.net
        return shown

    def _base_wager(self, seat: _Seat, spot: str, odds: int) -> Json:
        placed, live = seat.placed[spot], seat.timely[spot]
        if live == 0:
            return wager(placed, "refused", back=placed)
        if seat.withdrawn(spot, self.rulings):
            return wager(placed, "withdrawn", back=placed)
        if self.game == "NSW" and self.set.get("limit_scope", "per_spot") == "per_spot":
            live = min(live, self.set.get("max_wager", live))
        return _paid(placed, live, odds)

    def _cap(self, wagers: Json) -> int:
        """Posted cap on winnings without stake; the wagers show what the odds alone would pay."""
        cap: int | None = self.set.get("max_payout")
        if self.game != "NSW" or cap is None:
            return 0
        wins: list[int] = [paid["win"] for paid in wagers.values()]
        if self.set.get("max_payout_scope", "per_hand") == "per_wager":
            return sum(max(0, win - cap) for win in wins)
        return max(0, sum(wins) - cap)

    def _progressive(self, seat: _Seat) -> tuple[Json, list[Json]]:
        placed, live = seat.placed["progressive"], seat.timely["progressive"]
        if live == 0:
            return wager(placed, "refused", back=placed), []
        assert seat.value is not None
        kind = seat.value[0]
        win, odds, awards = 0, None, []
        if kind in ENVY:
            win, odds = self._take_from_meter(kind)
        elif kind in PROGRESSIVE_ODDS[self.game]:
            times = PROGRESSIVE_ODDS[self.game][kind]
            win, odds = times * live, f"{times} to 1"
        if self.game == "MEGA":
            if self.set.get("magic_card") in seat.cards + self.community:
                awards.append({"kind": "magic card", "amount": 5 * live})
            if self.set.get("lucky_seat") == seat.number:
                awards.append({"kind": "lucky player", "amount": 5 * live})
        else:
            awards = self._envy(seat)
        won = odds is not None or (self.game == "MEGA" and bool(awards))
        back = placed - live
        if won and self.set.get("progressive_stake_returned", True):
            back = placed
        return wager(placed, "win" if won else "lose", win, back, odds), awards

    def _take_from_meter(self, kind: int) -> tuple[int, str]:
        """Percentages are taken from the jackpot in settlement order, rounded down to the cent."""
        start = self.set.get("jackpot", 0)
        snapshot = self.set.get("meter_rule") == "snapshot"
        base = start if snapshot else self.meter
        self.taken.append(kind)
        win: int = base if kind == ROYAL else base * 10 // 100
        if snapshot and ROYAL in self.taken and len(self.taken) > 1:
            # What a royal and another award leave on the meter is not said.
            self.meter = ANY
        else:
            self.meter = self.set.get("jackpot_reset", 0) if kind == ROYAL else self.meter - win
        return win, f"{100 if kind == ROYAL else 10}% of the jackpot"

    def _envy(self, seat: _Seat) -> list[Json]:
        """Triggered by any non-void seat with a `$` wager; held seats hold instead."""
        triggers = [s for s in self.seats if s.status == "settled" and s.is_jackpot_class()]
        own = seat in triggers
        per_hand = self.set.get("envy_per_hand", True)
        if own and not (per_hand and self.set.get("envy_self", False)):
            if self.set.get("envy_self", False):
                raise UndecidedError("envy_self with envy_per_hand false")
            triggers.remove(seat)
        if not per_hand and len(triggers) > 1:
            triggers.sort(key=lambda s: s.value or (0, ()))
            if triggers[-1].value == triggers[-2].value:
                raise UndecidedError("two equal highest hands, from duplicate cards")
            triggers = triggers[-1:]
        return [
            {"kind": "envy", "amount": ENVY[s.value[0]], "from_seat": s.number}
            for s in triggers
            if s.value
        ]

    def _hold_dependents(self, shown: dict[int, Json]) -> None:
        """A held seat with a jackpot-class hand holds every other net that depends on it."""
        for held in self.seats:
            if held.status != "supervisor" or not self.game_has_meter(held):
                continue
            claims = held.timely["progressive"] > 0 and (
                held.is_jackpot_class() or held.value is None
            )
            if claims:
                self.meter = ANY
            if not held.is_jackpot_class():
                continue
            for seat in self.seats:
                if seat.status != "settled" or seat.timely["progressive"] == 0:
                    continue
                envy = self.game == "MBS3" and held.timely["$"] > 0
                meter = claims and self.set.get("meter_rule", "sequential") == "sequential"
                meter = meter and seat.is_jackpot_class() and seat.number < held.number
                if meter or envy:
                    seat.net = self._held_net(seat, held, meter)
                    shown[seat.number] |= {"net": seat.net, "hand": ANY, "awards": ANY}
                    shown[seat.number]["wagers"] = ANY

    def game_has_meter(self, seat: _Seat) -> bool:
        return "progressive" in seat.timely

    def _held_net(self, seat: _Seat, held: _Seat, meter: bool) -> Any:
        """Without per-hand envy a settled hand as high as the held one may already decide it."""
        others = [s for s in self.seats if s.status == "settled" and s is not seat]
        if seat.net is not None and not meter and not self.set.get("envy_per_hand", True):
            best = [s.value[0] for s in others if s.value and s.is_jackpot_class()]
            if best and held.value and max(best) >= held.value[0]:
                return ANY
        return None

    def _bonuses(self, seat: _Seat, shown: Json) -> Json:
        """A PP6 bonus above `$`: the part above is returned."""
        found: Json = {}
        for spot in EXTRA["PP6"]:
            placed = seat.placed[spot]
            live = min(seat.timely[spot], seat.timely["$"])
            if placed == 0:
                continue
            if live == 0:
                found[spot] = wager(placed, "refused", back=placed)
            elif spot == "pair_plus":
                shown["three_card_hand"] = name = three(seat.cards)
                found[spot] = _paid(placed, live, PAIR_PLUS_ODDS.get(name, 0))
            else:
                kind = best_of_six([*seat.cards, *self.community, self.bonus_card])[0]
                shown["six_card_hand"] = NAMES[kind]
                found[spot] = _paid(placed, live, SIX_CARD_ODDS.get(kind, 0))
        return found


def _paid(placed: int, live: int, odds: int) -> Json:
    if odds == 0:
        return wager(placed, "lose", back=placed - live)
    return wager(placed, "win", odds * live, placed, f"{odds} to 1")
