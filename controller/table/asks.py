"""The question put to the dealer, and what it depends on besides the state of the round."""

from __future__ import annotations

from dataclasses import dataclass

from controller.table.spots import Spot


@dataclass(frozen=True, slots=True)
class Around:
    """What the core knows and the engine does not: devices, keys, a call under way."""

    key_turned: bool = False
    closing: bool = False
    """The closing call was made and the sweep is not answered."""
    uncertain: tuple[int, ...] = ()
    """Seats whose chips moved at the closing call; 0 is the pot."""
    lost: tuple[Spot, ...] = ()
    """Spots with a wager that cannot be read."""
    card_hold: str = ""
    """Why the card device holds the deal: a code of the catalogue, or empty."""
    low_supply: bool = False
    disk_full: bool = False
    overrun: bool = False
    """Readings were lost and are being taken again."""
    power_fail: bool = False
    table_closed: bool = False
    selecting: bool = False
    """The selector has not committed yet, and is still waited for."""
    undo: int | None = None
    """The seat whose decision UNDO would take back."""
    overdue: frozenset[int] = frozenset()
    """Seats whose chips should be gone since a wager was taken back."""
    press_close: bool = False
    """A card came before the closing call."""


@dataclass(frozen=True, slots=True)
class Ask:
    """One question: its code in the catalogue, the keys of line 4, and what fills lines 2 and 3."""

    code: str
    keys: tuple[str, ...]
    seat: int | None = None
    spot: str = ""
    word: str = ""
    """A word for line 2 instead of the spot: ``pay`` or ``collect``."""
    amount: int | None = None
    pot: bool = False
    detail: str = ""
    about: int | None = None
    """Another seat that line 3 speaks of, with ``cents`` and the spot ``of``."""
    cents: int = 0
    of: str = ""
    offer: str = ""
    """Line 1 instead of a notice: what the seat asked now should know before it decides."""
    answers: tuple[str, ...] = ()
    parts: tuple[tuple[str, int], ...] = ()
    lamp: str = ""
    """What the seat's lamp shows while it is asked; empty: your turn, ``same``: as it is."""

    @property
    def deals(self) -> bool:
        return "DEAL" in self.keys


def with_key(around: Around, *codes: str) -> tuple[str, ...]:
    """Codes that need the supervisor; the key is named only while it is not turned."""
    return codes if around.key_turned else ("KEY", *codes)
