"""The table's random selections: committed, then revealed, each on the record before its fact."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from controller.history.selection.selector import Selector
from controller.rules.cards import Card
from controller.rules.engine import facts as f
from controller.rules.engine.state import TableRules

Told = tuple[Sequence[bytes], f.What]
"""Records of the draw, and the fact that rests on them."""


class Selecting:
    """``scripted``: a simulated table's selections, written by its scenario instead of drawn."""

    def __init__(self, selector: Selector, scripted: f.SelectionRevealed | None = None) -> None:
        self._selector, self.scripted = selector, scripted

    def draw(
        self,
        round_no: int,
        seats: tuple[int, ...],
        rules: TableRules,
        alarm: Callable[[Mapping[str, Any]], None],
    ) -> Iterator[Told]:
        """What to tell the engine, in this order. Nothing if the link server draws."""
        if rules.table.selector != "table":
            return
        if self.scripted is not None:
            yield (), f.SelectionCommitted("scripted")
            yield (), self.scripted
            return
        committed = self._selector.commit(
            round_no, seats, rules.table.magic_rate, rules.table.lucky_rate
        )
        yield committed.bodies, f.SelectionCommitted(committed.digest)
        revealed = self._selector.reveal(round_no)
        if revealed.lost:
            alarm({"code": "selection lost", "round": round_no})
        magic, lucky = revealed.picks.magic_card, revealed.picks.lucky_seat
        card = None if magic is None else Card(magic)
        yield revealed.bodies, f.SelectionRevealed(card, lucky)
