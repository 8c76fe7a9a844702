"""What deck watch can report, and what to do about it. Plain data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

How = Literal["exact", "bound"]

CARD_TWICE: Final = "E-DCK-001"
UNSHUFFLED: Final = "E-DCK-002"
BADLY_SHUFFLED: Final = "E-DCK-003"
REPEATED: Final = "E-DCK-004"
SIMILAR: Final = "E-DCK-005"
DEVICE_REPEATS: Final = "E-DCK-006"
BIASED: Final = "E-DCK-007"

_CALL: Final = "call the supervisor; "
WHAT_TO_DO: Final[dict[str, str]] = {
    CARD_TWICE: _CALL + "take the deck out of play and count it: a card is there twice",
    UNSHUFFLED: _CALL + "do not deal from this deck again before it is shuffled and checked",
    BADLY_SHUFFLED: "have the next decks shuffled by hand and the shuffler examined",
    REPEATED: _CALL + "take deck and shuffler out of play, keep both for examination",
    SIMILAR: "have the next decks shuffled by hand and the shuffler examined",
    DEVICE_REPEATS: _CALL + "take the device out of play: it says again what it said before",
    BIASED: "have the shuffler examined; the cards named come too often where they are named",
}


@dataclass(frozen=True, slots=True)
class DeckAlarm:
    """One finding. ``probability`` is that of something as strange, in a fair game."""

    code: str
    probability: float
    how: How
    text: str
    round_no: int
    deck: str
    shuffle: int

    @property
    def what_to_do(self) -> str:
        return WHAT_TO_DO[self.code]
