"""Ricochet Poker from its rules 1 to 9a, the contract and the readings AMB-R01 to AMB-R18."""

from __future__ import annotations

from typing import Any

from .event_rulings import rule
from .expected import ANY, OneOf, held_wager, wager
from .hand_values import (
    NAMES,
    PAIR,
    STRAIGHT,
    TRIPS,
    TWO_PAIR,
    UndecidedError,
    Value,
    five,
    rank,
    two,
)

Json = dict[str, Any]

# The lowest hand that kicks the dealer out: class, ranks that matter.
KICKOUT: dict[int, Value] = {
    1: (PAIR, (13, 12)),
    2: (PAIR, (14, 12)),
    3: (TWO_PAIR, (10, 2)),
    4: (TWO_PAIR, (14, 2)),
    5: (TRIPS, (2,)),
    6: (TRIPS, (12,)),
    7: (STRAIGHT, (5,)),
}


def action_key(cards: list[str]) -> tuple[Value, int]:
    """Lowest two-card hand first; equal ranks by the suit of the higher card, or the better."""
    value = two(cards)
    if value[0] == PAIR:
        suit = max("cdhs".index(card[1]) for card in cards)
    else:
        suit = "cdhs".index(max(cards, key=rank)[1])
    return value, suit


class _Showdown:
    """The table while the seats act: who is live, who is out, what lies in the pot."""

    def __init__(self, round_: Json, must_top_all: bool, carried_in: int) -> None:
        self.ante: int = round_["ante"]
        self.seats: dict[int, Json] = {seat["seat"]: seat for seat in round_["seats"]}
        self.must_top_all = must_top_all
        self.dealer_cards: list[str] = round_["dealer"]
        self.dealer = dealer = five(self.dealer_cards)
        limit = KICKOUT[len(self.seats)]
        self.kickout = (dealer[0], dealer[1][: len(limit[1])]) >= limit
        # Live five-card hands; the dealer is seat 0.
        self.showing: dict[int, Value] = {} if self.kickout else {0: dealer}
        self.pot = self.ante + carried_in
        self.final: dict[int, str] = {}
        self.order = sorted(self.seats, key=lambda s: action_key(self.seats[s]["cards"]))
        for place, seat in enumerate(self.order):
            waiting = [two(self.seats[other]["cards"]) for other in self.order[place + 1 :]]
            self._act(seat, waiting)

    def _act(self, seat: int, waiting: list[Value]) -> None:
        raw = self.seats[seat]
        if raw["action"] == "fold":
            self.final[seat] = "folded"
            self.pot += self.ante
            return
        hand = five(raw["cards"] + raw["draw"])
        self.final[seat] = "live"
        if self.must_top_all and hand < max([*self.showing.values(), *waiting], default=hand):
            self._discard(seat)
            return
        if self.showing and hand > max(self.showing.values()):
            # Rule 5: every five-card hand showing is lower and goes.
            for beaten in self.showing:
                if beaten:
                    self._discard(beaten)
            self.showing = {}
        elif self.showing.get(0) == hand:
            # Rule 7: the player wins ties with the dealer.
            del self.showing[0]
        if hand < max([*self.showing.values(), *waiting], default=hand):
            self._discard(seat)
        else:
            self.showing[seat] = hand

    def _discard(self, seat: int) -> None:
        self.final[seat] = "discarded"
        self.pot += 2 * self.ante

    def winners(self) -> list[int]:
        """The best live hands in the order in which they acted; 0 is the dealer."""
        if not self.showing:
            return []
        best = max(self.showing.values())
        return [seat for seat in [0, *self.order] if self.showing.get(seat) == best]


def split(pot: int, winners: list[int], chip: int, odd_chips: str) -> dict[int, int]:
    """Whole chips are shared evenly; what is left goes by the setting, dust to the last actor."""
    units, dust = divmod(pot, chip)
    share, odd = divmod(units, len(winners))
    shares = dict.fromkeys(winners, share * chip)
    last_first = list(reversed(winners))
    if odd_chips == "last_actor":
        shares[last_first[0]] += odd * chip
    else:
        for seat in last_first[:odd]:
            shares[seat] += chip
    shares[last_first[0]] += dust
    return shares


def settle(record: Json) -> Json:
    options = {k: v for k, v in (record.get("settings") or {}).items() if v is not None}
    round_ = record["round"]
    seats = sorted(round_["seats"], key=lambda seat: int(seat["seat"]))
    if not seats or len(seats) > 7:
        raise UndecidedError("no kickout limit for this number of hands")
    events = round_.get("events") or []
    if rule("RICO", events).status() == "supervisor":
        return _supervisor_round(seats, [])
    carried_in = options.get("pot_carried_in", 0)
    table = _Showdown(round_, options.get("ricochet_order") == "must_top_all", carried_in)
    winners = table.winners()
    orphan = not winners
    if orphan and "orphan_pot" not in options:
        return _supervisor_round(seats, table.order, table.kickout)
    wins: dict[int, int] = {}
    if orphan and options["orphan_pot"] == "last_player":
        # The last to act takes it and gets the ante back: its own ante is not won from others.
        last = table.order[-1]
        wins = {last: table.pot - table.ante}
    elif winners and winners != [0]:
        chip = options.get("smallest_chip", 100)
        wins = split(table.pot, winners, chip, options.get("odd_chips", "last_actor"))
    shown = [_seat(seat, table, wins, orphan, options) for seat in seats]
    nets = [seat["net"] for seat in shown]
    winner_names: Any = ANY
    if orphan and options["orphan_pot"] == "last_player":
        winner_names = list(wins)
    elif not orphan:
        winner_names = ["dealer"] if winners == [0] else OneOf(winners, sorted(winners))
    held = None in nets
    return {
        "game": "RICO",
        "round_status": "settled",
        "clauses": ANY if held or orphan else [],
        "house_net": None if held else -sum(nets),
        "seats": shown,
        "kickout": table.kickout,
        "action_order": table.order,
        "pot": ANY if orphan else table.pot,
        "pot_winners": winner_names,
        "log": ANY,
        "question": ANY,
        "pot_carried": table.pot if orphan and options["orphan_pot"] == "carry" else ANY,
    }


def _supervisor_round(seats: list[Json], order: list[int], kickout: Any = ANY) -> Json:
    shown = []
    for seat in seats:
        wagers = {spot: held_wager(n) for spot, n in seat["wagers"].items() if n}
        if seat["action"] == "play":
            wagers["play"] = held_wager(seat["wagers"]["ante"])
        shown.append(
            {
                "seat": seat["seat"],
                "hand": None,
                "net": None,
                "awards": [],
                "wagers": wagers,
                "final": ANY,
            }
        )
    return {
        "game": "RICO",
        "round_status": "supervisor",
        "clauses": ANY,
        "question": ANY,
        "house_net": None,
        "seats": shown,
        "kickout": kickout,
        "action_order": order or ANY,
        "pot": ANY,
        "pot_winners": ANY,
        "log": ANY,
    }


def _seat(seat: Json, table: _Showdown, wins: dict[int, int], orphan: bool, options: Json) -> Json:
    number, ante = seat["seat"], table.ante
    won, final = number in wins, table.final[number]
    wagers: Json = {"ante": wager(ante, "lose")}
    if won:
        wagers["ante"] = wager(ante, "win", wins[number], ante)
    if seat["action"] == "play":
        wagers["play"] = wager(ante, "win", back=ante) if won else wager(ante, "lose")
    rapid, hedge = seat["wagers"].get("rapid_fire"), seat["wagers"].get("hedge")
    if rapid:
        wagers["rapid_fire"] = _rapid_fire(rapid, seat["cards"], table, options)
    if hedge:
        wagers["hedge"] = _hedge(hedge, table.dealer, options)
    held = any(paid["status"] == "supervisor" for paid in wagers.values())
    hand: Any = None
    if final != "folded":
        hand = NAMES[five(seat["cards"] + seat["draw"])[0]]
    net = None
    if not held:
        net = sum(paid["to_player"] - paid["placed"] for paid in wagers.values())
    return {
        "seat": number,
        "hand": ANY if held else hand,
        "net": net,
        "awards": [],
        "wagers": wagers,
        "final": ANY if won and orphan else final,
    }


def _paid(stake: int, odds: int) -> Json:
    if odds == 0:
        return wager(stake, "push", back=stake, odds=ANY)
    return wager(stake, "win", odds * stake, stake, f"{odds} to 1")


def _rapid_fire(stake: int, cards: list[str], table: _Showdown, options: Json) -> Json:
    """Two cards against the dealer's pair or two highest cards; more than a pair beats them."""
    dealer = table.dealer
    if dealer[0] > PAIR:
        return wager(stake, "lose")
    if dealer[0] == PAIR:
        target: Value = (PAIR, dealer[1][:1])
    else:
        highest = sorted(table.dealer_cards, key=rank)[-2:]
        target = two(highest)
    own = two(cards)
    if own < target:
        return wager(stake, "lose")
    if "rapid_fire_pay" not in options:
        return held_wager(stake)
    return _paid(stake, options["rapid_fire_pay"]["win" if own > target else "tie"])


def _hedge(stake: int, dealer: Value, options: Json) -> Json:
    if "hedge_pay" not in options:
        return held_wager(stake)
    name = NAMES[dealer[0]]
    if name not in options["hedge_pay"]:
        return wager(stake, "lose")
    return _paid(stake, options["hedge_pay"][name])
