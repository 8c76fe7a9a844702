"""Staff orders in a pack: who signed, in which place of the chain, and which head tables kept."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from nacl.signing import SigningKey

from link.ledger.orders import Approve, Order, Pay, Person, Verify
from record import verify_evidence as v
from tests.controller.evidence.house import House, key_of
from tests.link.ledger.support import ANNA, BEN, CARL, pool, terms

EVIL = SigningKey(b"\7" * 32)


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    made = House(tmp_path, pool(terms(rate_ppm=10_000), tables=("T1",)))
    made.join("T1")
    yield made
    made.close()


def forged(house: House, order: Order, person: Person, *keys: SigningKey) -> None:
    """Written into the store by someone without the person's password."""
    sign = (lambda text: tuple(k.sign(text).signature.hex() for k in keys)) if keys else None
    house.ledger.order(order, person, house.now_ms, sign)
    house.commit()


def verified(house: House, award: str, **more: Any) -> dict[str, Any]:
    folder = house.folder / "pack"
    house.pack(award, folder)
    return v.verify(folder, **more)


def said(found: dict[str, Any]) -> str:
    assert not found["ok"]
    assert {problem["file"] for problem in found["problems"]} == {v.STAFF}
    return " ".join(problem["what"] for problem in found["problems"])


def test_every_signature_of_an_honest_pack_is_checked(house: House) -> None:
    (award,) = house.play("T1", {1: "royal flush"})
    house.pay(award)
    found = verified(house, award)
    assert found["ok"], found["problems"]
    assert found["signatures"] == "checked: 4"
    assert found["staff_orders"] == 5  # the first accounts, verify, two approvals, pay


STEPS: tuple[tuple[Order, Person], ...] = (
    (Verify("pool/1/1"), CARL),
    (Approve("pool/1/1"), ANNA),
    (Approve("pool/1/1"), BEN),
    (Pay("pool/1/1"), BEN),
)


@pytest.mark.parametrize("step", range(4))
@pytest.mark.parametrize(
    ("keys", "text"),
    [((), "and not among them"), ((EVIL,), "the signature of"), ((EVIL, EVIL), "not signed by")],
)
def test_a_forged_step_is_found(
    house: House, step: int, keys: tuple[SigningKey, ...], text: str
) -> None:
    house.play("T1", {1: "royal flush"})
    for number, (order, person) in enumerate(STEPS):
        if number == step:
            forged(house, order, person, *keys)
        else:
            house.order(order, person)
    assert text in said(verified(house, "pool/1/1"))


def test_an_order_that_was_moved_or_repeated_is_found(house: House) -> None:
    """A signature names its place: what ANNA signed for one award does not do for the next."""
    house.play("T1", {1: "royal flush"})
    house.order(*STEPS[0])
    state = house.ledger.state
    body = b'{"by":[["anna","supervisor"]],"order":{"what":"approve","award":"pool/1/1"}}'
    earlier = v_text(state.staff_head, state.staff, house.now_ms, body)
    proof = key_of(ANNA).sign(earlier).signature.hex()
    house.ledger.order(*STEPS[1], house.now_ms, lambda _: (proof,))
    house.commit()
    assert "the signature of anna is wrong" in said(verified(house, "pool/1/1"))


def v_text(before: str, number: int, at_ms: int, body: bytes) -> bytes:
    return f"underfelt order 1\t{before}\t{number}\t{at_ms}\n".encode() + body


def test_people_who_were_not_authorised_are_found(house: House) -> None:
    house.play("T1", {1: "royal flush"})
    forged(house, STEPS[0][0], Person("eve", "manager"), EVIL)
    assert "eve was not manager then" in said(verified(house, "pool/1/1"))


@pytest.mark.parametrize("honest", [True, False])
def test_the_head_that_a_table_kept_is_compared(house: House, honest: bool) -> None:
    """The whole chain replaced, with keys of the forger's own: only a witness finds it."""
    head = house.ledger.state.staff_head if honest else "ab" * 32
    house.table("T1").put("witness", {"staff": 1, "head": head})
    (award,) = house.play("T1", {1: "royal flush"})
    house.order(*STEPS[0])
    found = verified(house, award)
    assert found["witnessed"] == 1
    if honest:
        assert found["ok"], found["problems"]
    else:
        assert "was seen after order 1; these orders make another one" in said(found)


def test_orders_that_are_missing_at_the_end_are_found(house: House) -> None:
    (award,) = house.play("T1", {1: "royal flush"})
    found = verified(house, award, heads={7: "ab" * 32})
    assert "order 7 was seen, and these end at 1: some are missing" in said(found)


def test_a_pack_without_pynacl_says_so_and_has_its_own_exit_code(
    house: House, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (award,) = house.play("T1", {1: "royal flush"})
    house.pay(award)
    folder = house.folder / "pack"
    house.pack(award, folder)
    assert v.main([str(folder)]) == 0
    assert "signatures checked: 4" in capsys.readouterr().out
    monkeypatch.setattr(v, "verifier", lambda: None)
    assert v.main([str(folder)]) == v.UNSIGNED
    assert "signatures not checked" in capsys.readouterr().out
    monkeypatch.undo()
    head = json.loads((folder / v.STAFF).read_text("utf-8").splitlines()[-1])["head"]
    assert v.main([str(folder), "--expect-staff", f"5:{head}"]) == 0
    assert v.main([str(folder), "--expect-staff", f"4:{head}"]) == 65
