"""Hidden cards on disk: a search finds none, twins cannot be told apart, told cards can be checked.

The checker here is what an auditor has: JSON and SHA-256, none of the code under test.
"""

from __future__ import annotations

import hashlib
import json
import random
import re
from typing import Any

import pytest

from controller.rules.cards import BY_NAME, NAMES, Card, HiddenCard, PublicMoment, reveal
from controller.rules.engine import facts as f
from controller.rules.engine.deal import assign
from controller.rules.engine.state import Phase, TableState
from controller.rules.engine.step import step
from tests.clauses.tables import SHUFFLER, base, table
from tests.controller.history.desk import GAMES, Desk, desk, opening_of, random_desk
from tests.paper import Noise, Row

SEALED = ("commit", "box")
CARD = re.compile(rf"\b({'|'.join(NAMES)})\b")


def blanked(value: Any) -> Any:
    """A body without what is sealed: the length of it is left."""
    if isinstance(value, dict):
        return {
            k: f"<{len(v)}>" if k in SEALED else blanked(v)
            for k, v in value.items()
            if k not in ("state", "digest") or not isinstance(v, str)
        }
    return [blanked(v) for v in value] if isinstance(value, list) else value


def face(card: HiddenCard) -> Card:
    return reveal(card, PublicMoment.HAND_OPENED)


def public(state: TableState) -> set[Card]:
    """What anybody at the table has seen in this round, and the magic card."""
    seen = {c for seat in state.seats.values() for c in seat.opened or ()}
    seen |= {c for held in state.face_up.values() for c in held}
    seen |= set(state.turned) | {c for c in (state.bonus, state.magic_card) if c is not None}
    return seen


def hidden(state: TableState) -> set[Card]:
    out = [*state.drawn]
    if state.frozen is not None:
        out += [*(state.frozen.held or ()), *(c for held in state.frozen.extra for c in held)]
    return {face(c) for c in out} - public(state)


def numbers(value: Any) -> list[int]:
    if isinstance(value, dict | list):
        inner = value.values() if isinstance(value, dict) else value
        return [n for v in inner for n in numbers(v)]
    return [value] if type(value) is int else []


@pytest.mark.parametrize(("game", "device"), GAMES)
def test_no_body_has_a_hidden_card_before_its_public_moment(game: str, device: str) -> None:
    searched = 0
    for seed in range(12):
        live = random_desk(game, device, seed)
        state = live.opening.state()
        facts = (e for e, _ in live.hand.table.entries if isinstance(e, f.Fact))
        for row in live.paper.rows:
            if row.kind == "fact":
                state = step(state, next(facts))[0]
            body = blanked(json.loads(row.body))
            secret = hidden(state)
            named = {BY_NAME[n] for n in CARD.findall(json.dumps(body))}
            assert not named & secret, (seed, row)
            if row.kind == "fact" and body["what"] in BRING_CARDS:
                assert numbers(body["of"]) == [], "no place for a card as a number"
            searched += bool(secret)
    # In Ricochet every card is open when it is dealt.
    assert searched > 100 or game == "RICO"


BRING_CARDS = ("card drawn", "packet dispensed", "supervisor ruled")


@pytest.mark.parametrize(("game", "device"), GAMES)
def test_what_was_told_is_what_was_sealed_and_no_more(game: str, device: str) -> None:
    """Each public card once, with a nonce that fits; burnt, void and folded cards never."""
    count = 0
    for seed in range(12):
        live = random_desk(game, device, seed)
        commits = sealed_in(live.paper.rows)
        told: dict[tuple[int, int], str] = {}
        for row in live.paper.rows:
            if row.kind != "revealed":
                continue
            for card in json.loads(row.body)["cards"]:
                place = (card["seq"], card["index"])
                code = bytes([BY_NAME[card["card"]]])
                nonce = bytes.fromhex(card["nonce"])
                assert hashlib.sha256(nonce + code).hexdigest() == commits[place]
                assert place not in told
                assert card["seq"] <= json.loads(row.body)["fact"] < row.seq
                told[place] = card["card"]
        corrected = {e.card for e in live.hand.table.facts if isinstance(e, f.CardCorrected)}
        assert not corrected
        assert sorted(told.values()) == sorted(NAMES[c] for c in public(live.state) - magic(live))
        count += len(told)
    assert count > 20


def magic(live: Desk) -> set[Card]:
    return {c for c in (live.state.magic_card,) if c is not None}


def sealed_in(rows: list[Row]) -> dict[tuple[int, int], str]:
    """The commitments of the journal by record and place."""
    found: dict[tuple[int, int], str] = {}
    for row in rows:
        if row.kind == "fact":
            of = json.loads(row.body)["of"]
            boxes = of.get("cards", [of.get("card")])
            for index, box in enumerate(boxes):
                if isinstance(box, dict):
                    found[row.seq, index] = box["commit"]
    return found


def test_a_burnt_card_is_never_told() -> None:
    croupier = table("NSW", {2: "TcTd7h", 5: "3d6h8h"}, "Kd4s5s", **SHUFFLER["NSW"])
    live = desk(croupier, opening_of("NSW", **SHUFFLER["NSW"]), {2: base(1000), 5: base(500)})
    live.hand.play()
    burnt = assign(live.state).dealer[0]
    assert NAMES[face(burnt)] == "Kd"
    told = [c["card"] for r in live.paper.rows if r.kind == "revealed"
            for c in json.loads(r.body)["cards"]]  # fmt: skip
    assert sorted(told) == sorted(["Tc", "Td", "7h", "3d", "6h", "8h", "4s", "5s"])


# --- twins -------------------------------------------------------------------------------------


def twin_rows(game: str, device: str, seed: int, twin: int) -> Desk:
    """The same people and chips; the deck is another one in every position."""
    changes = SHUFFLER[game] if device == "shuffler" else {}
    croupier = table(game, **changes)
    random.Random(f"deck {game} {seed}").shuffle(croupier.deck)
    if twin:
        other = list(range(52))
        random.Random(f"twin {game} {seed}").shuffle(other)
        croupier.deck = [Card(other[c]) for c in croupier.deck]
    wagers = (
        {2: {"ante": 500}, 5: {"ante": 500}} if game == "RICO" else {2: base(1000), 5: base(500)}
    )
    rng = random.Random(f"people {game} {seed}")
    live = desk(croupier, opening_of(game, **changes), wagers, Noise(f"twin {seed}"))
    live.hand.last_packet = 2 if game == "MBS3" else 3
    live.hand.back = lambda _s, _d: rng.random() < 0.5
    return live


def until_told(live: Desk) -> list[Row]:
    """What is on disk up to the first card that is made public."""
    for _ in range(200):
        live.hand.do(live.hand.words[0])
        if any(row.kind == "revealed" for row in live.paper.rows):
            at = next(i for i, r in enumerate(live.paper.rows) if r.kind == "revealed")
            return live.paper.rows[: at - 1]
    raise AssertionError("no card was opened")


@pytest.mark.parametrize(("game", "device"), GAMES)
@pytest.mark.parametrize("seed", range(4))
def test_twins_with_other_cards_write_the_same_bytes(game: str, device: str, seed: int) -> None:
    first, second = (twin_rows(game, device, seed, twin) for twin in (0, 1))
    one, other = until_told(first), until_told(second)
    assert first.noise.calls == second.noise.calls
    assert [(r.seq, r.kind, len(r.body)) for r in one] == [
        (r.seq, r.kind, len(r.body)) for r in other
    ]
    texts = [[json.dumps(cut(json.loads(r.body))) for r in rows] for rows in (one, other)]
    assert texts[0] == texts[1]
    if game != "RICO":  # there the first card is open
        boxes = [r.body for r in one if b'"box"' in r.body]
        assert boxes
        assert boxes != [r.body for r in other if b'"box"' in r.body]


def cut(value: Any) -> Any:
    """A body with the sealed fields blank, the digest of the state left in."""
    if isinstance(value, dict):
        return {k: f"<{len(v)}>" if k in SEALED else cut(v) for k, v in value.items()}
    return [cut(v) for v in value] if isinstance(value, list) else value


def test_cards_that_stay_closed_leave_no_trace_to_the_end() -> None:
    """Seat 5 is void and the burnt card differs: whole rounds, other cards there, equal bytes."""
    runs = []
    for five, burnt in (("3d6h8h", "Kd"), ("AcAdAh", "2s")):
        croupier = table("NSW", {2: "TcTd7h", 5: five}, f"{burnt}4s5s", **SHUFFLER["NSW"])
        live = desk(croupier, opening_of("NSW", **SHUFFLER["NSW"]), {2: base(1000), 5: base(500)})
        hand = live.hand
        while "COMM1" not in hand.words:
            hand.do(hand.words[0])
        hand.table.as_supervisor("17", 5, 1)
        hand.play()
        live.table_log.write_snapshot()
        runs.append([(r.kind, json.dumps(cut(json.loads(r.body)))) for r in live.paper.rows])
    assert runs[0] == runs[1]
    assert runs[0][-1][0] == "standing"
    assert '"box"' in runs[0][-1][1], "the round's closed cards are sealed there too"


# --- rulings that move cards -------------------------------------------------------------------


def test_a_misread_card_is_told_as_the_supervisor_sealed_it() -> None:
    """The second Tc freezes the round; the true card comes from the ruling's own record."""
    croupier = table("MBS3", {2: "TcTd7h", 5: "3d6h8h"}, "4s5s")
    live = desk(croupier, opening_of("MBS3"), {2: base(1000), 5: base(500)})
    hand = live.hand
    while not live.state.drawn:
        hand.do(hand.words[0])
    true = hand.deck.pop()
    hand.table.card(croupier.deck[-1])
    assert live.is_in(Phase.FROZEN)
    rank, suit = divmod(true, 4)
    hand.table.as_supervisor("51", 5, f"{1 if rank == 12 else rank + 2:02}{suit + 1}")
    assert live.is_in(Phase.DEALING)
    hand.play()
    ruled = next(r for r in live.paper.rows if b'"supervisor ruled"' in r.body)
    told = {(c["seq"], c["index"]): c["card"] for r in live.paper.rows if r.kind == "revealed"
            for c in json.loads(r.body)["cards"]}  # fmt: skip
    assert told[ruled.seq, 0] == NAMES[true] == "3d"
    misread = ruled.seq - 1
    assert b'"card drawn"' in live.paper.rows[misread - 1].body
    assert (misread, 0) not in told, "what the device misread is nobody's card"
    assert live.back().state == live.state


def test_remapped_hands_are_told_with_the_seat_that_holds_them() -> None:
    croupier = table("MBS3", {2: "TcTd7h", 5: "3d6h8h"}, "4s5s")
    live = desk(croupier, opening_of("MBS3"), {2: base(1000), 5: base(500)})
    hand = live.hand
    while not live.is_in(Phase.DECISION_1):
        hand.do(hand.words[0])
    hand.table.as_supervisor("14", 2, 5)
    assert live.state.swapped == {2: 5, 5: 2}
    hand.play()
    opened = [json.loads(r.body) for r in live.paper.rows if r.kind == "revealed"]
    hands = [{c["card"] for c in body["cards"]} for body in opened if len(body["cards"]) == 3]
    facts = {r.seq: json.loads(r.body)["of"] for r in live.paper.rows if r.kind == "fact"}
    seats = [facts[body["fact"]]["seat"] for body in opened if len(body["cards"]) == 3]
    assert dict(zip(seats, hands, strict=True)) == {
        5: {"Tc", "Td", "7h"},
        2: {"3d", "6h", "8h"},
    }


def test_a_card_dealt_face_up_is_told_then_and_not_again_when_its_hand_is_settled() -> None:
    croupier = table("PP6", {2: "TcTd7h", 5: "3d6h8h"}, "9s6c5s", face_up=True)
    live = desk(croupier, opening_of("PP6", face_up=True), {2: base(1000), 5: base(500)})
    live.hand.play()
    told = [(c["card"], c["moment"]) for r in live.paper.rows if r.kind == "revealed"
            for c in json.loads(r.body)["cards"]]  # fmt: skip
    assert sorted(told) == sorted(
        [(n, "dealt face up") for n in ("Tc", "Td", "7h", "3d", "6h", "8h")]
        + [(n, "community card turned") for n in ("9s", "5s")]
    )
