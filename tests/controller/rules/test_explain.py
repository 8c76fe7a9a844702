"""A dispute is answered wager by wager: the cards, the hand in words, the clause."""

from __future__ import annotations

import random
from typing import Any

import pytest

from controller.evidence.page import _wagers
from controller.replay.words import effects
from controller.rules.cards import DECK
from controller.rules.engine import effects as fx
from controller.rules.engine.opening import open_table
from controller.rules.events import EVENTS
from controller.rules.explain import event_text, explain
from controller.shell.desk.table_views import told_round
from controller.shell.render.records import round_
from tests.clauses.tables import SETTINGS, TODAY, base, table
from tests.conformance.clauses import load_clauses
from tests.properties.random_play import Chaos

KNOWN = {clause.id for clause in load_clauses()}


def shown(number: int, record: Any, result: Any) -> str:
    data = told_round(number, record, result, corrected=False)
    return "\n".join(round_(data, 200))


def test_a_pair_is_tens_or_better_or_it_is_less() -> None:
    croupier = table("NSW", {2: "TcTd7h", 4: "9c9d3h", 5: "2d4h8s"}, "JsQh")
    croupier.ride = lambda seat, spot: "withdraw" if (seat, spot) == (5, "1") else "ride"
    croupier.round({n: base(1000) for n in (2, 4, 5)})
    archive = croupier.state.history[-1]
    why = explain(archive.record, archive.result, 2)["$"]
    assert why == (("Tc", "Td", "7h", "Js", "Qh"), "pair of tens, tens or better", "NSW-10.1-T")
    assert explain(archive.record, archive.result, 4)["1"].text == (
        "pair of nines, less than a pair of tens"
    )
    loser = explain(archive.record, archive.result, 5)
    assert loser["2"].text == "high card, less than a pair of tens"
    assert (loser["1"].text, loser["1"].cards) == ("taken back by the player", ())
    said = shown(1, archive.record, archive.result)
    assert "Tc Td 7h Js Qh: pair of tens, tens or better (NSW-10.1-T)" in said
    told = [s.text for s in effects([fx.PublishRound(1, archive.record, archive.result)])]
    assert (
        "  seat 4, wager 1: lose; 9c 9d 3h Js Qh: pair of nines, less than a pair of tens" in told
    )
    page = _wagers({"round": 1, "record": archive.record, "result": archive.result})
    cells = "<td>Tc Td 7h Js Qh: pair of tens, tens or better</td><td>NSW-10.1-T</td>"
    assert page.count(cells) == 3
    assert "<td>9c 9d 3h Js Qh: pair of nines, less than a pair of tens</td>" in page
    assert "<td>taken back by the player</td>" in page


def test_a_record_that_cannot_be_explained_is_on_the_page_all_the_same() -> None:
    wager = {"placed": 500, "status": "win", "odds": None, "win": 500}
    seat = {"seat": 1, "hand": "one pair", "wagers": {"$": wager}}
    for record in ({}, {"game": "?"}, {"game": "NSW", "round": {"seats": [{"seat": 1}]}}):
        page = _wagers({"round": 1, "record": record, "result": {"seats": [seat]}})
        assert "<td>one pair</td>" in page


@pytest.mark.parametrize("game", SETTINGS)
def test_every_wager_of_every_round_has_its_reason_and_nothing_is_raw_json(game: str) -> None:
    for seed in range(25):
        state = open_table(game, SETTINGS[game], TODAY)
        croupier = Chaos(state, list(DECK), rng=random.Random(seed), mischief=0.05)
        for _ in range(2):
            croupier.play_round()
        for archive in croupier.state.history:
            for row in archive.result["seats"]:
                found = explain(archive.record, archive.result, row["seat"])
                assert found.keys() == row["wagers"].keys()
                for spot, why in found.items():
                    assert why.text, f"seed {seed}: {spot}"
                    clauses = set(why.clause.split(", ")) - {""}
                    assert clauses <= KNOWN, f"seed {seed}: {why}"
                    if row["wagers"][spot]["status"] in ("win", "lose"):
                        assert why.cards, f"seed {seed}: {spot}"
                        assert why.clause, f"seed {seed}: {spot}"
            said = shown(archive.round_no, archive.record, archive.result)
            assert "{" not in said, f"seed {seed}"
            assert "_" not in said.replace("rapid_fire", "").replace("pair_plus", "").replace(
                "six_card", ""
            ), f"seed {seed}: {said}"


def test_an_event_is_told_in_words() -> None:
    assert event_text({"type": "late_wager", "seat": 3, "spot": "1", "amount": 505}) == (
        "late wager: seat 3, wager 1, amount 5.05"
    )
    assert event_text({"type": "foreign_card", "after_round_concluded": False}) == "foreign card"
    for kind in EVENTS:
        assert "_" not in event_text({"type": kind, "players_handled": True, "seat": 1})
