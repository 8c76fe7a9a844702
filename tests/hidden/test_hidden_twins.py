"""Twins with other hidden cards: what leaves the process is the same, to the byte and the call.

Until a card's public moment nothing outside may depend on it (games.md 1.2): not a byte, a size, a
time or the number of calls. The people do the same, the cards that have become public are the same,
every other card differs. What a device sends in differs; nothing that goes out does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import cast

import pytest

from hw_sim.devices import cdp
from hw_sim.people.dealer import FULL_DECK
from hw_sim.scenario import HERE, card_byte
from tests.hidden.table import steps_of, whole_deck
from tests.hidden.twins import NEVER, base_of, difference, played, twin_differs

TABLES = ("mbs3-plain", "pp6-plain", "nsw-shuffler-plain", "mega-plain", "rico-plain")
OTHERS = ("mbs3-shuffler", "pp6-shuffler-plain", "nsw-shoe-plain", "mega-shuffler")
"""Every game, from the shoe and from the shuffler where its book allows one."""
CLOSED = (
    ("nsw-sanction", 3),
    ("pp6-no-middle-card", 1),
)
"""Cards that nobody ever sees: of a void seat, the middle card without a 6 Card Bonus."""
SCENARIOS = tuple(sorted(path.stem for path in (HERE / "scenarios").glob("*.toml")))


@pytest.mark.parametrize("name", TABLES)
def test_twins_are_alike_until_the_first_card_and_until_the_last_one_is_open(name: str) -> None:
    base = base_of(name)
    assert len(base.moments) >= 3
    assert sum(row.channel == "changes" for row in base.outside.rows) > 100
    last = len(base.moments) - 1
    assert [twin_differs(base, moment) for moment in (0, last)] == ["", ""]


def test_the_table_s_own_log_is_among_what_is_compared() -> None:
    rows = base_of("mbs3-plain").outside.rows
    lines = [cast(Mapping[str, str], row.what[0]) for row in rows if row.channel == "log"]
    assert {line["LOGGER"] for line in lines} == {"underfelt.table"}
    assert {line.get("DEVICE") for line in lines} >= {"shoe", "chips-1", "sign", "keys-1"}


@pytest.mark.parametrize(("name", "closed"), CLOSED)
def test_cards_that_stay_closed_leave_no_trace_to_the_end(name: str, closed: int) -> None:
    base = base_of(name)
    assert base.never_seen == closed
    assert twin_differs(base, NEVER) == ""


def test_with_the_real_seal_only_sealed_bytes_and_hashes_over_them_differ() -> None:
    """To the first card that is turned; and a burnt card to the end."""
    base = base_of("nsw-shuffler-plain", blind=False)
    assert base.never_seen == 1
    assert [twin_differs(base, moment) for moment in (0, NEVER)] == ["", ""]


def test_twins_are_alike_when_the_power_goes_in_the_deal() -> None:
    """The cards come back from their seals, and nobody sees which."""
    cut = 170
    base = base_of("mbs3-plain", cut_at=cut)
    assert base.cuts == 1
    assert twin_differs(base, 0) == ""


NAMED = (
    "dealer opens", "seat 2 bets 10.00 on 1 2 $", "seat 5 bets 10.00 on 1 2 $", "dealer closes",
    "dealer plays 2", "fault misread", "dealer until KEY", "supervisor menu 51 5 132",
    "dealer until SHOW",
)  # fmt: skip
"""The third card cannot be read, and the supervisor says: the king of diamonds."""


def test_naming_a_card_does_not_tell_whether_it_lies_closed() -> None:
    """Seat 5 holds the king of diamonds as well, as far as the device has read; or it does not."""
    plain = whole_deck("mbs3-misread")
    runs = []
    for five in ("Kd", "7s"):
        first = [card_byte(name) for name in ("Kc", five, "Jd", "4s", "7h", "8s", "2c", "9d")]
        rest = [card for card in FULL_DECK if card not in first]
        scenario = replace(plain, cards=(*first, *rest), steps=steps_of(NAMED))
        runs.append(played(scenario).outside.rows)
    assert difference(*runs) == ""


@pytest.mark.slow
@pytest.mark.parametrize("name", [*TABLES, *OTHERS])
@pytest.mark.parametrize("seed", [1, 2])
def test_twins_are_alike_until_each_card_is_open(name: str, seed: int) -> None:
    base = base_of(name)
    moments = [*range(len(base.moments)), NEVER]
    assert {m: twin_differs(base, m, seed) for m in moments} == dict.fromkeys(moments, "")


@pytest.mark.slow
@pytest.mark.parametrize("name", SCENARIOS)
def test_whatever_goes_wrong_twins_are_alike(name: str) -> None:
    """Every irregularity of the scenarios: void rounds, doubtful cards, jams, rulings."""
    base = base_of(name)
    moments = [0, NEVER] if base.moments else [NEVER]
    assert {m: twin_differs(base, m) for m in moments} == dict.fromkeys(moments, "")


@pytest.mark.slow
@pytest.mark.parametrize("name", ["mbs3-plain", "nsw-shuffler-plain"])
@pytest.mark.parametrize("cut", range(100, 200, 8))
def test_wherever_the_power_goes_twins_are_alike(name: str, cut: int) -> None:
    base = base_of(name, cut_at=cut)
    assert [twin_differs(base, m) for m in (0, NEVER)] == ["", ""]


# --- what a device sends in --------------------------------------------------------------------


def test_a_frame_is_as_long_whatever_cards_it_holds() -> None:
    """COBS adds one byte to a body shorter than 254, zeros or not: a sealed frame in the frame log
    has one size. Every card as a draw with many numbers, and every pair of cards in a packet."""
    draws = {
        len(cdp.encode(cdp.Frame(cdp.SHOE, cdp.CARD, cdp.WANTS_ACK, number, payload)))
        for number in range(0, 0x400, 5)
        for card in FULL_DECK
        for payload in [_card(number + 1, card)]
    }
    packets = {
        len(cdp.encode(cdp.Frame(cdp.SHUFFLER, cdp.PACKET, cdp.WANTS_ACK, 7, bytes(payload))))
        for one in FULL_DECK
        for other in FULL_DECK
        for payload in [(1, 1, 3, one, other, 0x21)]
    }
    assert (draws, packets) == ({20}, {18})


def _card(number: int, card: int) -> bytes:
    return number.to_bytes(4, "little") + bytes((card, 0, 99, 0))
