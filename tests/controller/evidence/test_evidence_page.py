"""The slip and its sheets as a cashier reads them: this round, these people, sums that add up."""

from __future__ import annotations

import json
import re
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

import pytest

from controller.commands.evidence import gather
from controller.evidence.errors import EvidenceError
from controller.evidence.pack import seal, write
from controller.evidence.page import page_html
from link.ledger.orders import Approve, Pay, Reject, Verify
from record import verify_evidence as v
from tests.controller.evidence.house import CLOCK, House
from tests.link.ledger.support import ANNA, BEN, BOTH, CARL, mystery, pool, terms


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    main = terms(rate_ppm=10_000, ceiling_cents=100_001)
    made = House(tmp_path, pool(main, mystery(rate_ppm=100_000), tables=("T1",)))
    made.join("T1")
    yield made
    made.close()


def texts(page: str) -> str:
    return re.sub(r"<[^>]+>", " ", page)


def test_the_sheets_are_of_this_round_alone(house: House) -> None:
    """The records reach back to the start of the program; what is printed does not."""
    house.play("T1", {1: "royal flush"})
    (award,) = house.play("T1", {3: "straight flush"})
    parts = house.parts(award)
    assert any("Ah" in row.get("body", "") for row in parts.table.rows)  # type: ignore[union-attr]
    page = page_html(parts, CLOCK)
    opened = page.partition("Cards as they became public")[2].partition("<h2>")[0]
    assert set(re.findall(r'<td class="w">(\w\w)</td>', opened)) == {"9s", "8s", "7s", "6s", "5s"}
    assert page.count("$50.0<") == 1  # the meter, as the bets were opened
    first = [r for r in parts.table.rows if '"bets opened"' in r["body"]]  # type: ignore[union-attr]
    assert (len(first), parts.first_ms) == (2, first[1]["at_ms"])


def test_what_a_full_jackpot_did_not_take_is_said_where_it_is_summed_up(house: House) -> None:
    (award,) = house.play("T1", {3: "straight flush", 2: "high card"})
    page = page_html(house.parts(award), CLOCK)
    assert "2.00 at 1 %, 0.01 of it over the ceiling" in page


def test_an_amount_that_changed_is_shown_as_money(house: House, tmp_path: Path) -> None:
    gone, award = house.play("T1", {3: "royal flush", 2: "straight flush"})
    house.order(Reject(gone, "a dead hand"), BOTH)
    house.pack(award, tmp_path / "pack")
    # The stored steps are right; two such hands do not go with the shared cards of this house.
    problems = v.verify(tmp_path / "pack")["problems"]
    assert {one["file"] for one in problems} == {"table.jsonl"}
    page = texts((tmp_path / "pack" / v.PAGE).read_text())
    assert re.search(rf"\$[0-9,]+\.\d\d before; {gone} is rejected", page)
    assert " cents before" not in page


def test_the_slip_says_who_approved_and_what_to_do(house: House, tmp_path: Path) -> None:
    (award,) = house.play("T1", {3: "straight flush"})
    assert "do not pay" in page_html(house.parts(award), CLOCK)
    seen = []
    for order, who in ((Verify(award), CARL), (Approve(award), ANNA), (Approve(award), BEN),
                       (Pay(award), BEN)):  # fmt: skip
        house.order(order, who)
        parts = house.parts(award)
        parts.currency = "SGD"
        slip = texts(page_html(parts, CLOCK).partition("</section>")[0])
        assert re.search(r"SGD\s+100\.00", slip)
        assert "SHA-256 of evidence.json" in slip
        people = " ".join(slip.partition("approved by")[2].split())
        told = [t for t in ("pay only when", "Paid already", "Nothing is to be paid") if t in slip]
        seen.append((people.partition(" SHA")[0].partition(" Not")[0].partition(" Paid")[0], told))
    by = f"{ANNA.account} ({ANNA.role}) and {BEN.account} ({BEN.role})"
    assert seen == [("nobody", ["pay only when"])] * 2 + [(by, []), (by, ["Paid already"])]
    house.pack(award, tmp_path / "pack")
    page = tmp_path / "pack" / v.PAGE
    forged = page.read_text("utf-8").replace(f">{by}<", ">eve (manager) and max (owner)<")
    page.write_text(forged, "utf-8")
    wrong = list(v.check_page(tmp_path / "pack", {"approved": by}))
    assert len(wrong) == 1
    (other,) = house.play("T1", {3: "straight flush"})
    house.order(Reject(other, "the deck was short"), BOTH)
    assert "Nothing is to be paid" in page_html(house.parts(other), CLOCK)


def won_mystery(house: House) -> str:
    """Rounds until the mystery level falls."""
    while not (found := [a for a in house.store.awards.values() if a.hand == "mystery"]):
        house.play("T1", dict.fromkeys(range(1, 8), "high card"))
    return found[0].award


def test_draws_are_printed_with_their_commitments(house: House) -> None:
    award = won_mystery(house)
    page = page_html(house.parts(award), CLOCK)
    drawn = texts(page.partition("Draws and their commitments")[2].partition("<h2>")[0])
    cents = int(re.search(r"hit at ([\d.]+)", drawn)[1].replace(".", ""))  # type: ignore[index]
    assert 2_000 <= cents <= 3_000
    assert len(re.findall(r"\b[0-9a-f]{64}\b", drawn)) == 2


def test_the_tables_half_of_a_mystery_is_what_it_heard(house: House, tmp_path: Path) -> None:
    award = won_mystery(house)
    row = house.store.awards[award]
    table = house.table("T1")
    heard = {"round_no": row.round, "seat": row.seat, "award": award, "level": "mystery",
             "cents": row.cents}  # fmt: skip
    table.fact("mystery won", heard, device="link")
    options = Namespace(
        award=award, config=None, socket=None, backup=None, since=None, round=row.round, seat=None,
        journal=table.folder / "journal", frames=None, key=None,
    )  # fmt: skip
    parts, _ = gather(options)
    assert (parts.claim["seat"], parts.claim["hand"]) == (row.seat, "mystery")
    write(tmp_path / "half", parts, CLOCK, 1)
    assert v.verify(tmp_path / "half")["problems"] == []
    stated = json.loads((tmp_path / "half" / v.MANIFEST).read_bytes())
    for forged in ({"amounts": {"cents": 1}}, {"award": "pool/9/9"}):
        (tmp_path / "half" / v.MANIFEST).write_bytes(seal(stated | forged))
        assert [p["file"] for p in v.verify(tmp_path / "half")["problems"]] == [v.MANIFEST]
    options.award = "pool/9/9"
    with pytest.raises(EvidenceError, match=r"for any seat, and heard of no pool/9/9.*E-EVD-005"):
        gather(options)
