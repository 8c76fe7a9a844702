"""Exact money: integers in minor units (cents). There is no float and no silent rounding here."""

from __future__ import annotations

from collections.abc import Sequence


class ConservationError(AssertionError):
    """Money appeared or vanished: our bug, never the input's."""


def conserved(parts: int, whole: int, what: str) -> None:
    """Stop if ``parts`` is not ``whole``; stays on under ``python -O``."""
    if parts != whole:
        raise ConservationError(f"{what}: {parts} is not {whole}")


def percent_of(meter: int, percent: int) -> int:
    """A percentage of a meter, rounded down to the cent; the rest stays in the meter."""
    return meter * percent // 100


def split_pot(
    pot: int, winners_last_first: Sequence[int], smallest_chip: int, *, one_each: bool
) -> dict[int, int]:
    """Share a pot between tied seats in whole chips (RICO-9a).

    ``winners_last_first`` starts with the seat that acted last. Odd chips all go to that seat, or
    with ``one_each`` one to each seat starting there; what is smaller than a chip is always his.
    """
    chips, crumbs = divmod(pot, smallest_chip)
    each, odd = divmod(chips, len(winners_last_first))
    shares = dict.fromkeys(winners_last_first, each * smallest_chip)
    last = winners_last_first[0]
    if one_each:
        for seat in winners_last_first[:odd]:
            shares[seat] += smallest_chip
    else:
        shares[last] += odd * smallest_chip
    shares[last] += crumbs
    conserved(sum(shares.values()), pot, "pot split")
    return shares
