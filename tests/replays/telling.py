"""Is every fact of a round told, in its order and with its own seat, amount, card and clause?

The witness has each fact with what it ordered and led to, as the table took it. Nothing here calls
the words of the replay: the values themselves must stand in what it tells.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any, NamedTuple

from controller.replay.cards import closed_cards
from controller.replay.timeline import Moment, Timeline
from controller.rules.cards import NAMES, Card
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.state import Phase, TableState

SPOKEN = {"ride": "ride", "withdraw": "takes it back", "1": "wager 1", "2": "wager 2"}


class Deed(NamedTuple):
    """A fact as the table took it: its record, what it ordered, where it led."""

    seq: int
    fact: f.Fact
    effects: tuple[fx.Effect, ...]
    state: TableState


def money(cents: int) -> str:
    return f"{'-' if cents < 0 else ''}{abs(cents) // 100:,}.{abs(cents) % 100:02}"


def untold(timeline: Timeline, deeds: list[Deed], faces: Mapping[Any, Card]) -> list[str]:
    """What the table did in this round and the replay does not say, or says otherwise."""
    own = _of_round(timeline.round_no, deeds)
    told = {moment.seq: moment for moment in timeline.moments}
    order = [m.seq for m in timeline.moments if own[0].seq <= m.seq <= own[-1].seq]
    found = [] if order == sorted(set(order)) else ["moments are not in the order of records"]
    for deed in own:
        if deed.seq not in told:
            found.append(f"record {deed.seq}: {deed.fact.what} is not told")
            continue
        moment = told[deed.seq]
        wrong = [*_fact(deed, moment), *_orders(deed, moment), *_felt(deed, moment)]
        wrong += _cards(deed, moment, faces)
        found += [f"record {deed.seq}, {deed.fact.what}: {one}" for one in wrong]
    return found + _open_cards(own, list(told.values()))


def faces_of(records: Any, sealer: Any, deeds: list[Deed]) -> Mapping[Any, Card]:
    """Every card as it was sealed, by the key."""
    return closed_cards(records, sealer, {deed.seq for deed in deeds})


def _of_round(number: int, deeds: list[Deed]) -> list[Deed]:
    first = next(n for n, d in enumerate(deeds) if d.state.round_no == number)
    last = next(
        n
        for n, d in enumerate(deeds)
        if any(isinstance(e, fx.PublishRound) and e.round_no == number for e in d.effects)
    )
    return deeds[first : last + 1]


def _values(one: Any) -> Iterator[tuple[str, Any]]:
    for name in (field.name for field in fields(one)):
        value = getattr(one, name)
        if value is not None:
            yield name, value


def _missing(one: Any, text: str) -> Iterator[str]:
    """Seats, amounts and choices of a fact or an effect that do not stand in the text."""
    for name, value in _values(one):
        if name == "seat":
            said = f"seat {value}" if value else "dealer"
        elif name == "cents" and isinstance(value, int):
            said = money(abs(value) if isinstance(one, fx.PayDifference) else value)
        elif name in ("choice", "spot"):
            said = SPOKEN.get(value, "")
        elif name in ("question", "hand", "ruling"):
            said = str(value)
        else:
            continue
        if said.lower() not in text:
            yield f"{name} {said!r} is not told"


def _fact(deed: Deed, moment: Moment) -> Iterator[str]:
    what, by = deed.fact.what, deed.fact.by
    if not isinstance(what, f.CardDrawn | f.PacketDispensed):
        yield from _missing(what, moment.what.lower())
    who = by.person if isinstance(by, f.Declared) else by.device
    if who not in moment.by:
        yield f"by {who}, told {moment.by!r}"


def _orders(deed: Deed, moment: Moment) -> Iterator[str]:
    text = "\n".join(said.text for said in moment.followed).lower()
    clauses = {clause for said in moment.followed for clause in said.clause.split(", ")}
    for effect in deed.effects:
        if isinstance(effect, fx.SetLamp | fx.ArmAcceptor | fx.StartTimer | fx.Prompt):
            continue
        yield from _missing(effect, text)
        clause = getattr(effect, "clause", "")
        if clause and clause not in clauses:
            yield f"clause {clause} is not told"
        amounts: list[int] = []
        if isinstance(effect, fx.ShowHand):
            wagers = effect.pays["wagers"].values()
            amounts = [wager["to_player"] for wager in wagers if wager is not None]
            if " ".join(NAMES[card] for card in effect.cards).lower() not in text:
                yield "the open hand is not told"
        if isinstance(effect, fx.PublishRound):
            amounts = [row["net"] for row in effect.result["seats"]]
            yield from (f"{c} is not told" for c in effect.result["clauses"] if c not in clauses)
        yield from (
            f"{money(amount)} is not told"
            for amount in amounts
            if amount is not None and money(amount) not in text
        )


def _felt(deed: Deed, moment: Moment) -> Iterator[str]:
    """What lies where."""
    state = deed.state
    lies = {(row.seat, spot): cents for row in moment.felt.rows for spot, cents, _ in row.wagers}
    if state.phase in (Phase.IDLE, Phase.BETTING):
        true = {place: cents for place, cents in state.spots.items() if cents}
        worth = state.rules.table.credit_cents or 0
        # Between rounds the state still has the credits of the last one; their chips have dropped.
        credits = state.credits.items() if state.phase is Phase.BETTING else ()
        true |= {(n, "progressive"): count * worth for n, count in credits if count}
    else:
        true = {
            (n, spot): cents
            for n, seat in state.seats.items()
            for spot, cents in seat.locked.items()
            if cents
        }
    if lies != true:
        yield f"on the felt {lies}, it was {true}"
    for row in moment.felt.rows:
        seat = state.seats.get(row.seat)
        opened = () if seat is None else tuple(seat.opened or ())
        if state.phase is not Phase.IDLE and row.cards[: len(opened)] != opened:
            yield f"seat {row.seat} has {row.cards}, open were {opened}"


def _cards(deed: Deed, moment: Moment, faces: Mapping[Any, Card]) -> Iterator[str]:
    drawn = isinstance(deed.fact.what, f.CardDrawn | f.PacketDispensed)
    for n, one in enumerate(moment.cards):
        true = NAMES[faces[moment.seq, n]]
        if one.card not in (None, true):
            yield f"card {n + 1} is told as {one.card}, it was {true}"
        if drawn and one.card is not None and one.card not in moment.what:
            yield f"{one.card} does not stand in {moment.what!r}"


def _open_cards(own: list[Deed], moments: list[Moment]) -> list[str]:
    """Everything that was laid open is told where it was drawn."""
    drawn = {card.card for moment in moments for card in moment.cards}
    drawn |= {NAMES[d.fact.what.card] for d in own if isinstance(d.fact.what, f.CardCorrected)}
    opened = {
        NAMES[card]
        for deed in own
        for effect in deed.effects
        if isinstance(effect, fx.ShowHand)
        for card in effect.cards
    }
    return [f"{card} was opened, and no draw tells it" for card in sorted(opened - drawn)]
