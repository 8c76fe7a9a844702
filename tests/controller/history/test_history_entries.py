"""Journal bodies: every kind as literal text, both ways, and nothing that is not written there."""

from __future__ import annotations

import contextlib
import json
import tomllib
from dataclasses import dataclass
from enum import IntEnum
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.history.codec import codec
from controller.history.entries import ENTRY_KINDS, decode_entry, encode_entry
from controller.history.errors import BodyError, SealError
from controller.history.sealing import CardSealer, Sealed, TableKey
from controller.rules.cards import NAMES, HiddenCard, PublicMoment, reveal
from controller.rules.engine import facts as f
from controller.rules.engine.entries import CreditDropped, SignedOn, TableCall
from controller.rules.engine.names import NAME_OF, WHATS
from tests.paper import cards

VECTORS = tomllib.loads((Path(__file__).parents[2] / "vectors" / "entries.toml").read_text("utf-8"))
SEAL = VECTORS["seal"]
ENTRIES = VECTORS["entry"]


class Listed:
    """Gives the nonces of the vectors: card nonce, box nonce, card nonce, ..."""

    def __init__(self) -> None:
        pairs = zip(SEAL["nonces"], SEAL["box_nonces"], strict=True)
        self.rest = [bytes.fromhex(text) for pair in pairs for text in pair]

    def __call__(self, size: int) -> bytes:
        nonce = self.rest.pop(0)
        assert len(nonce) == size
        return nonce


def vector_sealer() -> CardSealer:
    return CardSealer(TableKey(bytes.fromhex(SEAL["key"])), SEAL["journal_id"], Listed())


class Unhiding:
    def __init__(self) -> None:
        self.found: list[HiddenCard] = []
        self.sealer = vector_sealer()

    def __call__(self, value: Any) -> HiddenCard:
        sealed = Sealed.from_json(value)
        card, _ = self.sealer.open(sealed, SEAL["seq"], len(self.found))
        self.found.append(card)
        return card


def hiding() -> Any:
    sealer, count = vector_sealer(), [0]

    def hide(card: HiddenCard) -> Any:
        count[0] += 1
        return sealer.seal(card, SEAL["seq"], count[0] - 1).to_json()

    return hide


@pytest.mark.parametrize("row", ENTRIES, ids=lambda r: f"{r['kind']} {r['name']}")
def test_every_body_is_what_it_was(row: dict[str, Any]) -> None:
    unhide = Unhiding()
    found = decode_entry(row["kind"], row["body"].encode(), unhide)
    assert repr(found.entry) == row["means"]
    assert (list(found.key) if found.key else []) == row.get("key", [])
    opened = [NAMES[reveal(c, PublicMoment.HAND_OPENED)] for c in unhide.found]
    assert opened == row.get("cards", [])
    kind, body = encode_entry(found.entry, found.key, hiding(), found.digest)
    assert kind == row["kind"]
    assert body.decode() == row["body"]


def test_there_is_a_vector_of_every_kind() -> None:
    named = {row["name"] for row in ENTRIES if row["kind"] == "fact"}
    assert named == set(WHATS)
    assert {row["kind"] for row in ENTRIES} == ENTRY_KINDS


def test_every_kind_of_fact_has_a_name() -> None:
    """Subclasses of subclasses too; a class without its slots twin is the same kind."""
    found, rest = set(), [f.What]
    while rest:
        rest = [sub for kind in rest for sub in kind.__subclasses__()]
        found |= {kind.__name__ for kind in rest}
    assert {kind.__name__ for kind in NAME_OF} == found
    assert len(WHATS) == len(NAME_OF) == 71


def test_a_type_without_a_written_name_gets_no_codec() -> None:
    """Its own name would stand on disk, and a rename would change that."""

    @dataclass(frozen=True, slots=True)
    class Unnamed:
        seat: int

    with pytest.raises(TypeError, match="no name on disk"):
        codec(f.CountFound | Unnamed)
    with pytest.raises(TypeError, match="no names on disk"):
        codec(IntEnum("Numbered", ["ONE", "TWO"]))


def test_every_field_of_every_kind_is_in_a_vector() -> None:
    facts: dict[str, set[str]] = {}
    for row in ENTRIES:
        body = json.loads(row["body"])
        if row["kind"] == "fact":
            facts.setdefault(row["name"], set()).update(body["of"])
        else:
            kind: Any = {"signed-on": SignedOn, "table-call": TableCall}
            fields = kind.get(row["kind"], CreditDropped).__dataclass_fields__
            assert set(body) == {"v", "key", *fields}
    for name, fields in facts.items():
        assert fields == set(WHATS[name].__dataclass_fields__)  # type: ignore[attr-defined]


def fact(**changes: Any) -> bytes:
    body: dict[str, Any] = {
        "v": 1,
        "what": "wager read",
        "of": {"seat": 2, "spot": "$", "cents": 1000},
        "by": {"device": "chips"},
        "at_ms": 5,
        "key": None,
        "state": "",
    }
    return json.dumps({k: v for k, v in {**body, **changes}.items() if v != "gone"}).encode()


WRONG: list[tuple[bytes, str, str]] = [
    (b"", "E-ENT-001", "not JSON"),
    (b"{", "E-ENT-001", "not JSON"),
    (b"[]", "E-ENT-001", "expected an object"),
    (b'\xff{"v":1}', "E-ENT-001", "not JSON"),
    (b'{"\x80":1}', "E-ENT-001", "not JSON"),
    (b'{"v":' + b"[" * 100_000, "E-ENT-001", "not JSON"),
    (fact(v=2), "E-ENT-002", ".v: 2: this program reads version 1"),
    (fact(v=True), "E-ENT-002", ".v"),
    (fact(v="gone"), "E-ENT-002", ".v"),
    (fact(what="wager seen"), "E-ENT-003", '"wager seen"'),
    (fact(what=["x"]), "E-ENT-003", ".what"),
    (fact(more=1), "E-ENT-004", ".more"),
    (fact(of={"seat": 2, "spot": "$", "cents": 1, "x": 1}), "E-ENT-004", ".of.x"),
    (fact(by={"device": "chips", "x": 1}), "E-ENT-004", ".by.x"),
    (fact(by={"device": "chips", "person": "D1"}), "E-ENT-004", ".by.person"),
    (fact(at_ms="gone"), "E-ENT-005", ".at_ms"),
    (fact(key="gone"), "E-ENT-005", ".key"),
    (fact(of={"seat": 2, "spot": "$"}), "E-ENT-005", ".of.cents"),
    (fact(by={"person": "D1"}), "E-ENT-005", ".by.role"),
    (fact(of={"seat": True, "spot": "$", "cents": 1}), "E-ENT-006", ".of.seat: true"),
    (fact(of={"seat": 2.0, "spot": "$", "cents": 1}), "E-ENT-006", ".of.seat: 2.0"),
    (fact(of={"seat": "2", "spot": "$", "cents": 1}), "E-ENT-006", '.of.seat: "2"'),
    (fact(of=[]), "E-ENT-006", ".of"),
    (fact(by={"person": "D1", "role": "boss"}), "E-ENT-006", '.by.role: "boss"'),
    (fact(at_ms="5"), "E-ENT-006", ".at_ms"),
    (fact(key=["shoe"]), "E-ENT-006", ".key"),
    (fact(key=["shoe", "7"]), "E-ENT-006", ".key"),
    (fact(what="seat ruled", of={"seat": 1, "ruling": "ok"}), "E-ENT-006", ".of.ruling"),
    (fact(what="community turned", of={"number": 3}), "E-ENT-006", ".of.number"),
    (fact(what="community turned", of={"number": True}), "E-ENT-006", ".of.number"),
    (fact(what="card corrected", of={"seat": 1, "number": 1, "card": "1h"}), "E-ENT-006", ".card"),
    (fact(what="card drawn", of={"card": "Th"}), "E-ENT-006", ".of.card"),
    (fact(what="card drawn", of={"card": 34}), "E-ENT-006", ".of.card: 34"),
    (fact(what="card drawn", of={"card": {"commit": "00"}}), "E-ENT-006", ".of.card.commit"),
    (fact(what="card drawn", of={"card": {"card": "Th"}}), "E-ENT-004", ".of.card.card"),
    (fact(what="packet dispensed", of={"cards": [{}]}), "E-ENT-005", ".of.cards[0].commit"),
    (fact(what="order directed", of={"seats": [1, "2"], "reason": ""}), "E-ENT-006", ".seats[1]"),
]


@pytest.mark.parametrize(("body", "code", "says"), WRONG)
def test_what_is_not_written_refuses(body: bytes, code: str, says: str) -> None:
    with pytest.raises(BodyError) as refused:
        decode_entry("fact", body, Unhiding())
    assert refused.value.code == code
    assert says in str(refused.value)


def test_an_unknown_kind_of_record_refuses() -> None:
    with pytest.raises(BodyError, match="E-ENT-003"):
        decode_entry("fax", b'{"v":1,"key":null}', Unhiding())


def test_a_field_added_later_may_be_missing_in_old_records() -> None:
    found = decode_entry("fact", fact(what="deck changed", of={"deck": "red"}), Unhiding())
    assert isinstance(found.entry, f.Fact)
    assert found.entry.what == f.DeckChanged("red", None)


def test_no_hidden_card_gets_past_the_one_who_hides() -> None:
    drawn = f.Fact(f.CardDrawn(HiddenCard(0)), f.Measured("shoe"))  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        encode_entry(drawn, None, lambda card: card)


@given(st.binary(max_size=60), st.sampled_from(sorted(ENTRY_KINDS)))
def test_any_bytes_are_refused_and_nothing_else(body: bytes, kind: str) -> None:
    with pytest.raises(BodyError):
        decode_entry(kind, body, Unhiding())


@given(st.data())
def test_one_changed_byte_is_read_or_refused_never_worse(data: st.DataObject) -> None:
    row = data.draw(st.sampled_from(ENTRIES))
    body = bytearray(row["body"].encode())
    body[data.draw(st.integers(0, len(body) - 1))] = data.draw(st.integers(0, 255))
    with contextlib.suppress(BodyError, SealError):
        decode_entry(row["kind"], bytes(body), Unhiding())


def test_the_sealer_of_the_desk_is_not_the_one_of_the_vectors() -> None:
    """The vectors stand on their own: no nonce of theirs comes from the tests' noise."""
    assert cards().random(32).hex() not in SEAL["nonces"]
