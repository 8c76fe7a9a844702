"""What the dealer must be told besides the question: returned money, late chips, wrong tags.

A notice with a cause goes when its cause goes; the others stay until CLEAR or the next opening,
money that is owed until CLEAR.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Final

from controller.rules.engine import effects as fx
from controller.rules.engine.state import Phase, TableState
from controller.table.prompt import Notice

MOST: Final = 8
_OF_CHIPS: Final = {
    "late": "late",
    "limit": "limit",
    "bonus above": "bonus above",
}
_OF_SEATS: Final = {
    "hand void": "hand void",
    "floor": "floor",
    "idle": "idle",
    "jackpot rejected": "jackpot rejected",
}
_OF_AWARDS: Final = ("jackpot pending", "mystery")
_OWED: Final = ("difference pay", "difference collect", "award")
_MONEY: Final = (*_OWED, "return")


class Notices:
    __slots__ = ("_all",)

    def __init__(self) -> None:
        self._all: list[Notice] = []

    @property
    def newest(self) -> Notice | None:
        return self._all[-1] if self._all else None

    def add(self, notice: Notice) -> None:
        """What is owed a second time is owed as well: one line with the sum."""
        if notice.code in _OWED:
            same = [n for n in self._all if _what(n) == _what(notice)]
            cents = (notice.cents or 0) + sum(n.cents or 0 for n in same)
            self._all = [n for n in self._all if n not in same]
            notice = replace(notice, cents=cents)
        if notice not in self._all:
            self._all = [*self._all, notice]
        while len(self._all) > MOST and (old := [n for n in self._all if n.code not in _MONEY]):
            self._all.remove(old[0])

    def forget(self, cause: object) -> None:
        """What this notice was about is over."""
        self._all = [n for n in self._all if n.cause != cause]

    def clear_newest(self, told: Callable[[Notice], str]) -> None:
        """What the dealer reads goes, and with it whatever reads the same: wrong chips on three
        spots of a seat are one line, and a key that changes nothing looks like one that failed."""
        read = told(self._all[-1]) if self._all else ""
        self._all = [n for n in self._all if told(n) != read]

    def new_round(self) -> None:
        """Money still to be handed over outlives the round; everything else is old."""
        keeps = [n for n in self._all if n.code in _MONEY]
        self._all = keeps + [n for n in self._all if n.cause is not None and n not in keeps]

    def take(self, effects: Iterable[fx.Effect], state: TableState) -> None:
        """The notices in the effects of one fact; ``state`` is what it left."""
        back: dict[int, int] = {}
        awards: dict[tuple[int, str], int] = {}
        for effect in effects:
            match effect:
                case fx.Prompt(code, seat) if code in _OF_CHIPS:
                    self.add(Notice(_OF_CHIPS[code], seat, cause=("chips", seat)))
                case fx.Prompt("pay", seat, detail, cents):
                    code = "pay more" if cents > 0 else "take back"
                    spot = detail.partition(":")[0]
                    self.add(Notice(code, seat, abs(cents), spot, cause=("chips", seat)))
                case fx.Prompt(code, seat) if code in _OF_SEATS:
                    self.add(Notice(_OF_SEATS[code], seat))
                case fx.Prompt(code, seat, award) if code in _OF_AWARDS:
                    self.add(Notice(code, seat, cause=("award", award)))
                case fx.Prompt("jackpot ended", _, award):
                    self.forget(("award", award))
                case fx.RaiseAlarm("wager lifted", seat, detail):
                    spot = detail.partition(":")[0]
                    self.add(Notice("lifted", seat, cause=("chips", seat, spot)))
                case fx.ReturnWager(seat, spot, cents) if _is_told(state, spot):
                    back[seat] = back.get(seat, 0) + cents
                case fx.PayDifference(_, seat, cents):
                    code = "difference pay" if cents > 0 else "difference collect"
                    self.add(Notice(code, seat, abs(cents)))
                case fx.ShowAward(seat, kind, cents) if _is_owed(state, seat, kind):
                    awards[seat, kind] = awards.get((seat, kind), 0) + cents
                case _:
                    pass
        for (seat, kind), cents in awards.items():  # two hands of one round may bring the same
            self.add(Notice("award", seat, cents, kind))
        for seat, cents in back.items():
            self.add(Notice("return", seat, cents))


def _what(notice: Notice) -> tuple[str, int | None, str]:
    return notice.code, notice.seat, notice.spot


def _is_told(state: TableState, spot: str) -> bool:
    """Decisions and voids have prompts of their own; credits are in the box and must be paid."""
    return spot == "progressive" or state.phase in (Phase.BETTING, Phase.LOCKED)


def _is_owed(state: TableState, seat: int, kind: str) -> bool:
    """An award that comes after its seat was paid; others are in the pay."""
    return kind == "envy" and seat in state.seats and state.seats[seat].settled
