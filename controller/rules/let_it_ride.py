"""Settlement of the four Let It Ride books: one function, driven by the book's data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from controller.rules.book import BASE_SPOTS, DOLLAR, SPOT_1, SPOT_2
from controller.rules.cards import Card
from controller.rules.case import NO_CASE, Case
from controller.rules.errors import RecordError
from controller.rules.events import CommunityCount, PlayerCardCount
from controller.rules.hands import (
    CLASS_OF,
    HAND_NAMES,
    THREE_CLASS_OF,
    THREE_HAND_NAMES,
    Hand,
    best_of_six,
    rank3,
    rank5,
)
from controller.rules.money import percent_of
from controller.rules.outcome import (
    Result,
    SeatResult,
    WagerResult,
    add_award,
    finish,
    held_wager,
    seat_result,
    wager_result,
)
from controller.rules.paytables import MAIN_OF, JackpotShare, Odds, Pay
from controller.rules.record import RoundRecord, SeatRecord
from controller.rules.rulings import HoldSeat, hold, unequal
from controller.rules.settings import Settings

PROGRESSIVE: Final = "progressive"
JACKPOT_CLASSES: Final = (Hand.STRAIGHT_FLUSH, Hand.ROYAL_FLUSH)


@dataclass(slots=True)
class Meter:
    """The jackpot as the round is settled, seat by seat from the dealer's right.

    ``known`` turns false at a held seat that may take a share: what comes after cannot be told.
    """

    now: int
    reset: int
    snapshot: int | None
    """With the snapshot rule every award is a share of this; None under the sequential rule."""
    known: bool = True
    emptied: bool = False

    def take(self, share: JackpotShare) -> int | None:
        """The award, or None while an earlier seat is held and the rule is sequential."""
        if self.snapshot is None and not self.known:
            return None
        base = self.now if self.snapshot is None else self.snapshot
        award = percent_of(base, share.percent)
        if share.percent == 100:
            self.now, self.emptied = self.reset, True
        elif not (self.emptied and self.snapshot is not None):
            # Under the snapshot rule a share beside a 100 % award is money the house adds.
            self.now -= award
        return award

    def after(self) -> int | None:
        return self.now if self.known else None


@dataclass(slots=True)
class Round:
    """What the seats of one round share while they are settled."""

    record: RoundRecord
    case: Case
    meter: Meter
    clauses: list[str] = field(default_factory=list)
    questions: list[str] = field(default_factory=list)
    triggers: dict[int, int] = field(default_factory=dict)
    """Seat to strength of a hand that pays envy."""
    held_triggers: list[int] = field(default_factory=list)
    timely: dict[int, SeatResult] = field(default_factory=dict)
    """Settled seats with a progressive wager in time."""


def settle_let_it_ride(record: RoundRecord, case: Case) -> Result:
    settings = record.settings
    if record.community and not record.events:
        _explain_shared(record)
    snapshot = settings.jackpot if settings.meter_rule == "snapshot" else None
    table = Round(record, case, Meter(settings.jackpot, settings.jackpot_reset, snapshot))
    seats = [_settle_seat(table, seat) for seat in reversed(record.seats)]
    seats.reverse()
    if record.book.envy_cents:
        _pay_envy(table)
    extra = {"question": " ".join(dict.fromkeys(table.questions))} if table.questions else {}
    return finish(record, "settled", table.clauses, seats, table.meter.after(), **extra)


# --- one seat ----------------------------------------------------------------------------------


def _settle_seat(table: Round, seat: SeatRecord) -> SeatResult:
    """Seat precedence: void, refused, supervisor, settled."""
    case, book, number = table.case, table.record.book, seat.seat
    if len(seat.cards) not in (0, 3):
        _explain_gap(table.record, seat)
    plain = case is NO_CASE
    if not plain and number in case.void_hands:
        return _returned(table, seat, "void", case.void_hands[number])
    placed = legal = seat.wagers
    if not plain:
        placed, legal = _legal_wagers(table, seat)
    base = legal.get(DOLLAR, 0)
    circles = (legal.get(SPOT_1, 0), legal.get(SPOT_2, 0))
    if not base and not any(circles):
        clause = book.clauses.side_needs_base if any(legal.values()) else None
        return _returned(table, seat, "refused", clause)
    if not plain and number in case.held:
        return _held(table, seat, placed, legal, case.held[number])
    allowed = (0, base) if book.circles_optional and base else (base,)
    if circles[0] not in allowed or circles[1] not in allowed:
        return _held(table, seat, placed, legal, unequal(number, book.clauses.equal))
    if book.posted_limits and _over_area_limit(table.record, base + circles[0] + circles[1]):
        ruling = hold(
            number,
            book.clauses.over_area_limit,
            "its wagers together are over the posted maximum",
            "which part is honoured, or return the wagers",
        )
        return _held(table, seat, placed, legal, ruling)
    five = _five_cards(table.record, seat)
    if five is None:
        ruling = hold(
            number,
            None,
            "its hand does not hold five different cards and cannot be ranked",
            "the hand is void, or void the round",
        )
        return _held(table, seat, placed, legal, ruling)
    return _paid(table, seat, placed, legal, five)


def _legal_wagers(table: Round, seat: SeatRecord) -> tuple[Mapping[str, int], Mapping[str, int]]:
    """What counts as placed, and the part of it that was legally placed."""
    corrected = table.case.corrected.get(seat.seat)
    if corrected is not None:
        table.clauses.append(corrected.clause)
        placed = table.case.placed(seat)
        return placed, placed
    if seat.seat not in table.case.late_clause:
        return seat.wagers, seat.wagers
    table.clauses.append(table.case.late_clause[seat.seat])
    late = table.case.late
    legal = {spot: placed - late.get((seat.seat, spot), 0) for spot, placed in seat.wagers.items()}
    return seat.wagers, legal


def _over_area_limit(record: RoundRecord, total: int) -> bool:
    settings = record.settings
    return (
        settings.limit_scope == "per_area"
        and settings.max_wager is not None
        and total > settings.max_wager
    )


def _returned(table: Round, seat: SeatRecord, status: str, clause: str | None) -> SeatResult:
    """A void or refused seat: every stake goes back."""
    if clause is not None:
        table.clauses.append(clause)
    wagers = {
        spot: wager_result(placed, status, placed)
        for spot, placed in table.case.placed(seat).items()
    }
    return seat_result(seat.seat, None, wagers)


def _held(
    table: Round,
    seat: SeatRecord,
    placed: Mapping[str, int],
    legal: Mapping[str, int],
    ruling: HoldSeat,
) -> SeatResult:
    """The supervisor's: and so is every net that hangs on this seat's hand."""
    if ruling.clause is not None:
        table.clauses.append(ruling.clause)
    table.questions.append(ruling.question)
    # An event may explain missing cards; unequal wagers or a limit do not.
    five = _five_cards(table.record, seat, required=seat.seat not in table.case.held)
    if five is not None and CLASS_OF[rank5(*five)] in JACKPOT_CLASSES:
        if legal.get(DOLLAR):
            table.held_triggers.append(seat.seat)
        if legal.get(PROGRESSIVE):
            table.meter.known = False
    return seat_result(seat.seat, None, {spot: held_wager(n) for spot, n in placed.items()})


def _five_cards(
    record: RoundRecord, seat: SeatRecord, *, required: bool = True
) -> tuple[Card, ...] | None:
    """Own three and the two shared cards; None if an event explains why they are not five.

    Without such an event a gap is a malformed record.
    """
    own, shared = seat.cards, record.community
    if len(own) == 3 and len(shared) == 2 and None not in own and None not in shared:
        five: tuple[Card, ...] = own + shared  # type: ignore[assignment]
        return five if not record.events or len(set(five)) == 5 else None
    if required:
        _explain_gap(record, seat)
    return None


def _explain_gap(record: RoundRecord, seat: SeatRecord) -> None:
    own = seat.cards
    counted = any(isinstance(e, PlayerCardCount) and e.seat == seat.seat for e in record.events)
    if (len(own) != 3 or None in own) and not counted:
        raise RecordError(
            "E-REC-016",
            f"{seat.path}.cards",
            f"{_held_count(own)}; expected three cards, or an event that explains it",
        )
    _explain_shared(record)


def _explain_shared(record: RoundRecord) -> None:
    shared = record.community
    recounted = any(isinstance(e, CommunityCount) for e in record.events)
    if (len(shared) != 2 or None in shared) and not recounted:
        raise RecordError(
            "E-REC-016",
            "$.round.community",
            f"{_held_count(shared)}; expected two cards, or an event that explains it",
        )


def _held_count(held: tuple[Card | None, ...]) -> str:
    known = sum(c is not None for c in held)
    return f"{known} cards" if known == len(held) else f"{known} of {len(held)} cards known"


# --- a seat that is paid -----------------------------------------------------------------------


def _paid(
    table: Round,
    seat: SeatRecord,
    placed: Mapping[str, int],
    legal: Mapping[str, int],
    five: tuple[Card, ...],
) -> SeatResult:
    book = table.record.book
    strength = rank5(*five)
    hand = CLASS_OF[strength]
    wagers = _main_wagers(table, seat, placed, legal, strength)
    awards: list[dict[str, object]] = []
    if PROGRESSIVE in placed:
        stake = legal[PROGRESSIVE]
        if stake:
            awards = _selection_awards(table, seat, five, stake)
        wagers[PROGRESSIVE] = _progressive(table, hand, placed[PROGRESSIVE], stake, bool(awards))
    extra = _side_wagers(table, seat, placed, legal, wagers) if book.side else None
    capped = _cap_reduction(table.record.settings, wagers) if book.posted_limits else 0
    row = seat_result(seat.seat, HAND_NAMES[hand], wagers, awards, capped)
    if extra:
        row.update(extra)
    if book.envy_cents:
        if hand in book.envy_cents:
            table.triggers[seat.seat] = strength
        if legal.get(PROGRESSIVE):
            table.timely[seat.seat] = row
    return row


def _stake(placed: int, at_risk: int, pay: Pay | None) -> WagerResult:
    """One wager at fixed odds; what was not at risk goes back whatever happens."""
    if not at_risk:
        return wager_result(placed, "refused", placed)
    if isinstance(pay, Odds):
        return wager_result(placed, "win", placed, at_risk * pay.to_one, pay.text)
    return wager_result(placed, "lose", placed - at_risk)


def _main_wagers(
    table: Round,
    seat: SeatRecord,
    placed: Mapping[str, int],
    legal: Mapping[str, int],
    strength: int,
) -> dict[str, WagerResult]:
    record = table.record
    pay = record.book.main.by_class[MAIN_OF[strength]]  # type: ignore[union-attr]
    most = record.settings.max_wager if record.book.posted_limits else None
    withdrawn = seat.withdrawn
    if rides := table.case.must_ride.get(seat.seat):
        table.clauses += rides.values()
        withdrawn = withdrawn - rides.keys()
    wagers: dict[str, WagerResult] = {}
    for spot in BASE_SPOTS:
        stake = placed.get(spot)
        if not stake:
            continue
        at_risk = legal[spot] if most is None else min(legal[spot], most)
        if spot in withdrawn and at_risk:
            wagers[spot] = wager_result(stake, "withdrawn", stake)
        else:
            wagers[spot] = _stake(stake, at_risk, pay)
    return wagers


def _progressive(table: Round, hand: int, placed: int, stake: int, selected: bool) -> WagerResult:
    """The jackpot wager. Odds scale with the stake, shares of the jackpot do not."""
    pay = table.record.book.progressive.by_class[hand]  # type: ignore[union-attr]
    if not stake or (pay is None and not selected):
        return _stake(placed, stake, None)
    win = 0
    if isinstance(pay, Odds):
        win = stake * pay.to_one
    elif pay is not None:
        share = table.meter.take(pay)
        if share is None:
            return held_wager(placed)
        win = share
    kept = 0 if table.record.settings.progressive_stake_returned else stake
    return wager_result(placed, "win", placed - kept, win, None if pay is None else pay.text)


def _selection_awards(
    table: Round, seat: SeatRecord, five: tuple[Card, ...], stake: int
) -> list[dict[str, object]]:
    """Magic Card (own or shared) and Lucky Player: whatever the hand, both may fall together."""
    book, settings = table.record.book, table.record.settings
    awards: list[dict[str, object]] = []
    if book.magic_card is not None and settings.magic_card in five:
        awards.append({"kind": "magic card", "amount": stake * book.magic_card.to_one})
    if book.lucky_player is not None and settings.lucky_seat == seat.seat:
        awards.append({"kind": "lucky player", "amount": stake * book.lucky_player.to_one})
    return awards


def _cap_reduction(settings: Settings, wagers: Mapping[str, WagerResult]) -> int:
    """What the posted maximum payout takes off the winnings (NSW-10.2)."""
    most = settings.max_payout
    if most is None:
        return 0
    wins: list[int] = [wager["win"] for wager in wagers.values()]
    if settings.max_payout_scope == "per_wager":
        return sum(max(0, win - most) for win in wins)
    return max(0, sum(wins) - most)


def _side_wagers(
    table: Round,
    seat: SeatRecord,
    placed: Mapping[str, int],
    legal: Mapping[str, int],
    wagers: dict[str, WagerResult],
) -> dict[str, str]:
    """Pair Plus on the own three cards, 6 Card Bonus on the best five of six (PP6)."""
    record, found = table.record, {}
    own: tuple[Card, ...] = seat.cards  # type: ignore[assignment]
    for spot, pays in record.book.side.items():
        stake = placed.get(spot)
        if not stake:
            continue
        at_risk = min(legal[spot], legal[DOLLAR])
        if at_risk < legal[spot]:
            table.clauses.append(record.book.clauses.side_at_most_base[spot])
        hand: int | None
        if spot == "pair_plus":
            hand = THREE_CLASS_OF[rank3(*own)]
            name = ("three_card_hand", THREE_HAND_NAMES[hand])
        else:
            hand = _best_of_six(record, own) if at_risk else 0
            if hand is None:
                wagers[spot] = held_wager(stake)
                continue
            name = ("six_card_hand", HAND_NAMES[hand])
        wagers[spot] = _stake(stake, at_risk, pays.by_class[hand])
        if at_risk:
            found[name[0]] = name[1]
    return found


def _best_of_six(record: RoundRecord, own: tuple[Card, ...]) -> int | None:
    if record.bonus_card is None:
        raise RecordError(
            "E-REC-016",
            "$.round.bonus_card",
            "missing; a six_card wager needs the dealer's middle card",
        )
    six: tuple[Card, ...] = (*own, *record.community, record.bonus_card)  # type: ignore[arg-type]
    return CLASS_OF[best_of_six(six)] if len(set(six)) == 6 else None


# --- envy --------------------------------------------------------------------------------------


def _pay_envy(table: Round) -> None:
    """Every other seat with a timely progressive wager is paid for a royal or straight flush."""
    settings, cents = table.record.settings, table.record.book.envy_cents
    for seat, row in sorted(table.timely.items()):
        waits = any(held != seat for held in table.held_triggers)
        if waits:
            row["net"] = None
        seen = [s for s in sorted(table.triggers) if s != seat or settings.envy_self]
        if not settings.envy_per_hand and seen:
            seen = [] if waits else [max(seen, key=table.triggers.__getitem__)]
        for trigger in seen:
            amount = cents[Hand(CLASS_OF[table.triggers[trigger]])]
            add_award(row, {"kind": "envy", "amount": amount, "from_seat": trigger})
