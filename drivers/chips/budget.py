"""How long reading chips takes (docs/protocols/chip-sensing.md section 4). Integer arithmetic only.

The tables of the page are these functions' values, and the deadline of a sweep is one of them. The
rates are engineering estimates to be confirmed on the bench; frame sizes are those of
docs/protocols/feig.md.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from drivers.base import MS, SECOND, LineSettings

SELECT_BYTES: Final = 10 + 8
INVENTORY_BYTES: Final = 9 + 9
"""Request and answer without its sets; the answer that says "no tag" is one byte shorter."""
SET_BYTES: Final = 10
GUARD_BYTES: Final = 8 + 22
"""The longer of the two guards: configuration block 5."""
MAX_SETS: Final = 24
GUARD_EVERY_US: Final = 400 * MS
DEADLINE_PASSES: Final = 3
"""Two that must agree and one for those that did not."""


@dataclass(frozen=True, slots=True)
class Rates:
    """What a reader does in which time."""

    char_us: int = LineSettings(38_400, parity="E").char_us
    silence_us: int = 5 * MS
    """Ends every answer; the field of a newly selected antenna settles in it."""
    answer_us: int = 2 * MS
    mux_us: int = 4 * MS
    anticollision_us: int = 15 * MS
    tags_per_second: int = 30
    response_us: int = 300 * MS
    """The longest a reader reads before it answers with what it has."""
    failure_us: int = 1_500 * MS
    """One antenna that never answers, three tries with their fences."""

    def __post_init__(self) -> None:
        if self.tags_per_second < 1 or self.sets_per_answer < 1:
            raise ValueError(f"no tag fits into an answer: {self}")

    @property
    def sets_per_answer(self) -> int:
        within = (self.response_us - self.anticollision_us) * self.tags_per_second // SECOND
        return min(MAX_SETS, within)


USUAL: Final = Rates()
SLOW: Final = Rates(tags_per_second=20)


def _exchange_us(count: int, work_us: int, rates: Rates) -> int:
    return count * rates.char_us + work_us + rates.silence_us


def visit_us(chips: int, rates: Rates = USUAL) -> int:
    """Select one antenna and read the whole of it."""
    select = _exchange_us(SELECT_BYTES, rates.mux_us, rates)
    answers = max(1, -(-chips // rates.sets_per_answer))
    heads = answers * _exchange_us(INVENTORY_BYTES, rates.anticollision_us, rates)
    tags = chips * SECOND // rates.tags_per_second + chips * SET_BYTES * rates.char_us
    return select + heads + tags


def _with_guards(work_us: int, rates: Rates) -> int:
    guard = _exchange_us(GUARD_BYTES, rates.answer_us, rates)
    return work_us + guard * (1 + work_us // (GUARD_EVERY_US - guard))


def busiest(spots: int, readers: int) -> int:
    """The spots of the reader that has most of them."""
    return -(-spots // readers)


def poll_cycle_us(spots: int, chips: int, rates: Rates = USUAL) -> int:
    """One reader visits each of its armed spots once; every spot carries so many chips."""
    return _with_guards(spots * visit_us(chips, rates), rates)


def double_sweep_us(spots: int, chips: int, rates: Rates = USUAL) -> int:
    """One reader reads each of its spots twice and nothing goes wrong."""
    return _with_guards(2 * spots * visit_us(chips, rates), rates)


def sweep_deadline_us(spots: int, chips: int = 6, rates: Rates = SLOW) -> int:
    """When a sweep ends whatever happened: a slow reader, a third pass, one dead antenna."""
    return _with_guards(DEADLINE_PASSES * spots * visit_us(chips, rates), rates) + rates.failure_us
