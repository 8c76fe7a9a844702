"""The worked example of docs/operations/pools.md, figure by figure."""

from __future__ import annotations

import re
from pathlib import Path

from link.ledger.orders import Approve, Pay, Reject, Verify
from link.ledger.units import money_text
from tests.link.ledger.support import ANNA, BEN, BOTH, Floor, pool, terms

PAGE = Path(__file__).resolve().parents[3] / "docs" / "operations" / "pools.md"
ACCOUNTS = ("wagers", "display", "reserve", "next", "house", "pending", "paid", "deficit")


def example() -> list[str]:
    level = terms(hidden_ppm=1_000, ceiling_cents=100_002)
    floor = Floor(pool(level), tables=("T1", "T2"))
    straight, royal = "pool/1/1", "pool/1/2"
    rows = [f"| what | {' | '.join(ACCOUNTS)} |", "|---|" + "---:|" * len(ACCOUNTS)]

    def note(what: str) -> None:
        held = floor.balances()
        cells = (money_text(held[a]) if a in held else "" for a in ACCOUNTS)
        rows.append(f"| {what} | {' | '.join(cells)} |")

    note("the pool opens")
    floor.bet("T1", 1, 1, 2, 3)
    note("T1, round 1: seats 1, 2, 3")
    floor.bet("T2", 1, 4, 5, 6)
    note("T2, round 1: seats 4, 5, 6")
    floor.back("T2", 1, 6)
    note("T2: seat 6 is void")
    floor.claim("T1", 1, (3, "straight flush"), (1, "royal flush"))
    note("T1: straight flush at seat 3, royal at seat 1, locked")
    floor.bet("T2", 2, 4)
    note("T2, round 2: seat 4")
    floor.order(Verify(straight), ANNA)
    floor.order(Approve(straight), ANNA)
    floor.order(Approve(straight), BEN)
    floor.order(Pay(straight), BEN)
    note("the straight flush is paid")
    floor.back("T2", 1, 5)
    note("T2: seat 5 of round 1 turns out void")
    floor.order(Reject(royal, "deck short"), BOTH)
    note("the royal is rejected")
    floor.check()
    return rows


def test_the_page_shows_what_the_ledger_does() -> None:
    assert "\n".join(example()) in PAGE.read_text("utf-8")


def test_every_code_of_the_ledger_is_on_the_page() -> None:
    package = PAGE.parents[2] / "link" / "ledger"
    used = {
        code
        for path in package.glob("*.py")
        for code in re.findall(r'"(E-POOL-[0-9]{3})"', path.read_text("utf-8"))
    }
    assert used == set(re.findall(r"^\| `(E-POOL-[0-9]{3})` \|", PAGE.read_text("utf-8"), re.M))
