"""The gaming day from literal rounds: every cent in its place, nothing counted twice."""

from __future__ import annotations

import json
from typing import Any

import msgspec
import pytest

from controller.history.gamingday import fold, report
from controller.history.gamingday.rounds import KEPT
from controller.history.gamingday.sheet import MOST_ROWS, Day, Money, Total, Wagers
from controller.rules.decode import decode_record
from controller.rules.engine.settlement import KEPT_ROUNDS
from controller.rules.settle import settle
from record.journal import Record

HOUR = 3_600_000
NOON = 1_773_144_000_000
"""2026-03-10 12:00 UTC."""


class Book:
    """A journal of literal bodies, folded as it is written."""

    def __init__(self) -> None:
        self.day = Day()
        self.seq = 0
        self.at_ms = NOON

    def write(self, kind: str, body: dict[str, Any] | bytes) -> None:
        self.seq += 1
        text = body if isinstance(body, bytes) else json.dumps({"v": 1, **body}).encode()
        hash_ = self.seq.to_bytes(32)
        self.day = fold.take(self.day, Record(self.seq, kind, text, self.at_ms, hash_))

    def fact(self, what: str, of: dict[str, Any] | None = None, person: str = "D7") -> None:
        role = "dealer" if person.startswith("D") else "casino supervisor"
        by = {"person": person, "role": role} if person else {"device": "shoe"}
        self.write("fact", {"what": what, "of": of or {}, "by": by, "at_ms": 5, "key": None})

    def round(self, number: int, record: dict[str, Any], **more: Any) -> None:
        result = more.pop("result", None) or settle(decode_record(record))
        body = {"round": number, "record": record, "result": result}
        self.write("round", {**body, "corrections": [], "ruled_anew": None, **more})

    def close(self) -> dict[str, Any]:
        """MENU 85: the call, the record it owes, the next day."""
        by = {"person": "S9", "role": "casino supervisor"}
        self.write("table-call", {"kind": "day close", "by": by, "at_ms": 9, "key": None})
        body = fold.closed(self.day)
        self.write("day", body)
        found: dict[str, Any] = json.loads(body)
        return found


def let_it_ride(
    stake: int, cards: list[str], community: list[str], progressive: int = 0, **more: Any
) -> dict[str, Any]:
    """One seat that lets everything ride."""
    wagers = {"1": stake, "2": stake, "$": stake}
    if progressive:
        wagers["progressive"] = progressive
    seats = [{"seat": 1, "wagers": wagers, "cards": cards, "decisions": {}}]
    played = {"seats": seats, "community": community, "events": more.pop("events", [])}
    return {"game": "MBS3", "settings": more, "round": played}


JACKPOT = {
    "game": "MBS3",
    "settings": {"jackpot": 12_345_678},
    "round": {
        "seats": [
            {
                "seat": 2,
                "wagers": {"1": 2500, "2": 2500, "$": 2500, "progressive": 100},
                "cards": ["5h", "6h", "8h"],
                "decisions": {"1": "withdraw", "2": "ride"},
            },
            {
                "seat": 5,
                "wagers": {"1": 1000, "2": 1000, "$": 1000, "progressive": 100},
                "cards": ["Kc", "Kd", "2s"],
                "decisions": {},
            },
        ],
        "community": ["7h", "9h"],
        "events": [],
    },
}
"""The contract's first example: a share of the jackpot, and envy."""


def test_the_example_of_the_contract() -> None:
    book = Book()
    book.fact("bets opened")
    book.round(1, JACKPOT)
    day = book.day
    assert day.wagers == {
        "1": Wagers(2, 3500, 2500 + 1000, 1000, 0, -1000),
        "2": Wagers(2, 3500, 3500, 501_000, 0, -501_000),
        "$": Wagers(2, 3500, 3500, 501_000, 0, -501_000),
        "progressive": Wagers(2, 200, 100, 1_234_567, 0, -1_234_467),
    }
    assert day.awards == {"envy": Money(1, 30_000)}
    assert day.progressive.posted == Money(2, 200)
    assert day.progressive.reversed == Money()
    assert day.progressive.pays == {"straight flush": Money(1, 1_234_567)}
    assert day.progressive.claims.rows == [[1, 2, "straight flush", "10% of the jackpot", 1234567]]
    assert day.progressive.claimed == 1_234_567
    assert (day.hands.played, day.hands.void) == (2, 0)
    assert (day.rounds.settled, day.rounds.void, day.rounds.opened) == (1, 0, 1)
    expected = Total(staked=10_700, returned=10_600, paid=2_237_567, awards=30_000)
    expected.house_net = -2_267_467
    assert fold.total(day) == expected
    assert day.unbalanced.count == day.unread == 0


def test_a_void_round_gives_everything_back_and_reverses_the_progressive() -> None:
    book = Book()
    events = [{"type": "foreign_card"}]
    book.round(4, let_it_ride(500, ["2c", "7d", "9h"], ["Js", "4c"], 100, events=events))
    day = book.day
    assert day.voids.rows == [[4, "foreign_card", "MBS3-5.1.1"]]
    assert (day.rounds.void, day.rounds.settled, day.hands.void, day.hands.played) == (1, 0, 1, 0)
    assert day.wagers["progressive"] == Wagers(1, 100, 100, 0, 0, 0)
    assert (day.progressive.posted, day.progressive.reversed) == (Money(1, 100), Money(1, 100))
    assert day.irregularities == {"foreign_card": 1}
    assert fold.total(day).house_net == 0


def test_a_late_part_of_a_progressive_wager_was_never_posted() -> None:
    late = {"type": "late_wager", "seat": 1, "spot": "progressive", "amount": 100}
    book = Book()
    record = let_it_ride(500, ["2c", "7d", "9h"], ["Js", "4c"], 300, events=[late])
    book.round(1, record)
    assert book.day.progressive.posted == Money(1, 200)
    assert book.day.wagers["progressive"] == Wagers(1, 300, 100, 0, 0, 200)
    everything = {**late, "amount": 300}
    book.round(2, let_it_ride(500, ["2c", "7d", "9h"], ["Js", "4c"], 300, events=[everything]))
    assert book.day.progressive.posted == Money(1, 200)
    assert book.day.irregularities == {"late_wager": 2}


def test_a_capped_payout_and_magic_and_lucky_awards() -> None:
    seats = [
        {
            "seat": 1,
            "wagers": {"1": 12_000, "2": 12_000, "$": 12_000},
            "cards": ["Ac", "Ad", "7h"],
            "decisions": {"2": "withdraw"},
        }
    ]
    played = {"seats": seats, "community": ["Js", "4c"], "events": []}
    settings = {"max_wager": 10_000, "max_payout": 15_000}
    book = Book()
    book.round(1, {"game": "NSW", "settings": settings, "round": played})
    assert book.day.capped == 5_000
    assert fold.total(book.day).house_net == -15_000
    mega = let_it_ride(1000, ["Jc", "4d", "8s"], ["2h", "Qs"], 300)
    mega["game"] = "MEGA"
    mega["settings"] = {"jackpot": 5_000_000, "magic_card": "Qs", "lucky_seat": 1}
    book.round(2, mega)
    assert book.day.awards == {"magic card": Money(1, 1500), "lucky player": Money(1, 1500)}
    assert book.day.progressive.pays == {}
    assert book.day.unbalanced.count == 0


def test_a_held_wager_is_neither_won_nor_lost() -> None:
    record = {
        "game": "RICO",
        "settings": {},
        "round": {
            "ante": 500,
            "dealer": ["Ah", "Kd", "9c", "7s", "3d"],
            "seats": [
                {
                    "seat": 1,
                    "wagers": {"ante": 500, "hedge": 200},
                    "cards": ["6h", "5s"],
                    "action": "fold",
                }
            ],
        },
    }
    book = Book()
    book.round(1, record)
    assert book.day.wagers["hedge"] == Wagers(1, 200, 0, 0, 200, 0)
    assert book.day.wagers["ante"] == Wagers(1, 500, 0, 0, 0, 500)
    assert fold.total(book.day).house_net == 500


# --- the carried pot ---------------------------------------------------------------------------


def rico(carried: int | None, winners: list[Any], net: int, status: str = "settled") -> Any:
    """A round of one seat that lost or won its ante of 500."""
    won = net > 0
    back = 500 + net if won else 0
    wager = {"placed": 500, "status": "win" if won else "lose", "odds": None, "win": max(0, net)}
    wager |= {"stake_back": 500 if won else 0, "to_player": back}
    seat: dict[str, Any] = {
        "seat": 1,
        "hand": None,
        "net": net,
        "awards": [],
        "wagers": {"ante": wager},
    }
    result = {"game": "RICO", "round_status": status, "clauses": [], "house_net": -net}
    result |= {"seats": [seat], "pot_winners": winners}
    return result if carried is None else {**result, "pot_carried": carried}


def test_a_carried_pot_belongs_to_nobody_until_somebody_wins_it() -> None:
    """The house's ante and the player's lie on the felt over the close of the day."""
    book = Book()
    record: dict[str, Any] = {"round": {"events": []}}
    book.round(1, record, result=rico(1000, [], -500))
    first = book.close()
    assert first["pot"]["carried_out"] == 1000
    assert first["total"]["house_net"] == -500  # its ante is gone, the player's is not its own
    book.round(2, record, result=rico(1000, [], -500))
    book.round(3, record, result=rico(None, [1], 1000))
    second = book.close()
    assert second["pot"] == {
        "carried_in": 1000, "put": 1000, "to_seats": 2000, "to_house": 0, "ruled": 0,
        "carried_out": 0,
    }  # fmt: skip
    assert second["total"]["house_net"] == 500 - 1000 - 1000
    book.round(4, record, result=rico(1000, [], -500))
    book.round(5, record, result=rico(None, ["dealer"], -500))
    book.round(6, record, result=rico(1000, [], -500))
    book.round(7, record, result=rico(None, [], -500, "void"))
    assert book.day.pot.carried_out == 1000
    assert book.day.pot.to_house == 1000
    assert fold.total(book.day).house_net == 4 * 500 - 2000 + 1000


def test_a_carried_pot_that_the_records_know_moves_the_house_once() -> None:
    """Two rounds leave 20.00 in the pot, the third pays it out with 5.00 of the dealer's."""
    book = Book()
    book.round(1, {"round": {"events": []}}, result=rico(1000, [], -500))
    later = {"settings": {"pot_carried_in": 1000}, "round": {"events": []}}
    book.round(2, later, result=rico(2000, [], -500))
    assert (book.day.pot.put, book.day.pot.carried_out) == (2000, 2000)
    assert fold.total(book.day).house_net == -1000  # two antes of the dealer
    won = {"settings": {"pot_carried_in": 2000}, "round": {"events": []}}
    book.round(3, won, result=rico(None, [1], 2500))
    assert (book.day.pot.put, book.day.pot.carried_out) == (0, 0)
    assert fold.total(book.day).house_net == -1500  # three antes of the dealer
    book.round(4, {"round": {"events": []}}, result=rico(1000, [], -500))
    lost = {"settings": {"pot_carried_in": 1000}, "round": {"events": []}}
    book.round(5, lost, result=rico(None, ["dealer"], -500))
    assert fold.total(book.day).house_net == -1500 + 500 + 500


# --- afterwards --------------------------------------------------------------------------------


def test_a_mis_pay_is_listed_once_and_changes_no_result() -> None:
    book = Book()
    record = let_it_ride(1000, ["Kc", "Kd", "2s"], ["7h", "9h"])
    book.round(1, record)
    before = fold.total(book.day)
    book.round(1, record, corrections=[[1, 500, "S9: short paid"]])
    more = [[1, 500, "S9: short paid"], [1, -200, "S9: now too much"]]
    book.round(1, record, corrections=more)
    day = book.day
    assert (day.corrections.paid, day.corrections.collected) == (500, 200)
    assert day.corrections.cases.rows == [
        [1, 1, 500, "S9: short paid"],
        [1, 1, -200, "S9: now too much"],
    ]
    assert fold.total(day) == before
    assert day.rounds.settled == 1


def test_a_mis_pay_of_yesterday_is_todays_correction() -> None:
    book = Book()
    record = let_it_ride(1000, ["Kc", "Kd", "2s"], ["7h", "9h"])
    book.round(1, record)
    book.round(1, record, corrections=[[1, 500, "S9: a"]])
    first = book.close()
    book.round(1, record, corrections=[[1, 500, "S9: a"], [1, -300, "S9: b"]])
    second = book.close()
    assert first["corrections"]["cases"]["rows"] == [[1, 1, 500, "S9: a"]]
    assert second["corrections"]["cases"]["rows"] == [[1, 1, -300, "S9: b"]]
    assert second["rounds"]["settled"] == 0


def test_a_round_ruled_anew_moves_the_houses_net() -> None:
    """A wrong count noticed after the round: it is void, the stakes and pays go back."""
    book = Book()
    record = let_it_ride(1000, ["Kc", "Kd", "2s"], ["7h", "9h"])
    book.round(1, record)
    assert fold.total(book.day).house_net == -3000
    event = {"type": "community_count", "count": 3, "players_handled": True}
    changed = {**record, "round": {**record["round"], "events": [event]}}
    anew = [changed, settle(decode_record(changed))]
    entries = [[1, -3000, "S9: MBS3-5.4"]]
    for _ in range(2):  # a record told twice is the same fact
        book.round(1, record, corrections=entries, ruled_anew=anew)
    day = book.day
    assert day.ruled_anew.cases.rows == [[1, "MBS3-5.4", 3000]]
    assert day.corrections.cases.count == 0
    assert day.irregularities == {"community_count": 1}
    assert fold.total(day).house_net == 0
    later = [*entries, [1, 100, "S9: too little"]]
    book.round(1, record, corrections=later, ruled_anew=anew)
    assert book.day.corrections.cases.rows == [[1, 1, 100, "S9: too little"]]


def test_rounds_that_can_no_longer_be_corrected_are_forgotten() -> None:
    assert KEPT == KEPT_ROUNDS
    book, record = Book(), let_it_ride(1000, ["Kc", "Kd", "2s"], ["7h", "9h"])
    book.round(1, record)
    book.round(1, record, corrections=[[1, 500, "a"]])
    book.round(2 + KEPT, record)
    book.round(2 + KEPT, record, corrections=[[1, 500, "a"]])
    assert list(book.day.carry.rewritten) == [2 + KEPT]


# --- people, devices, decks --------------------------------------------------------------------


def test_dealers_by_turns_and_supervisors_by_what_they_ruled() -> None:
    book, record = Book(), let_it_ride(1000, ["Kc", "Kd", "2s"], ["7h", "9h"])
    signed = {"person": "D7", "role": "dealer", "relieved": None, "at_ms": 1, "key": None}
    book.write("signed-on", signed)
    book.round(1, record)
    book.at_ms += HOUR
    book.write("signed-on", {**signed, "person": "D8", "relieved": "D7"})
    book.round(2, record)
    book.round(3, record)
    book.at_ms += HOUR
    book.fact("bets opened")  # D7 again, who signed on at another moment
    book.fact("supervisor ruled", {"ruling": "void", "note": "console", "card": None}, "S9")
    book.fact("supervisor ruled", {"ruling": "void", "note": "console", "card": None}, "S9")
    book.fact("outcome invalidated", {"reason": "fraud", "forfeit_seats": []}, "S9")
    book.fact("limits changed", {"min_wager": 500, "max_wager": None}, "S4")
    day = book.day
    assert {n: (d.turns, d.rounds) for n, d in day.dealers.items()} == {"D7": (2, 1), "D8": (1, 2)}
    assert (day.dealers["D7"].from_ms, day.dealers["D7"].to_ms) == (NOON, NOON + 2 * HOUR)
    assert day.supervisors == {"S9": 3, "S4": 1}
    assert day.rulings == {
        "supervisor ruled: void": 2, "outcome invalidated: fraud": 1, "limits changed": 1,
    }  # fmt: skip
    book.close()
    book.fact("bets opened")
    assert {n: d.turns for n, d in book.day.dealers.items()} == {"D7": 1}


def test_decks_devices_alarms_and_what_is_only_noted() -> None:
    book = Book()
    book.fact("deck checked", {"deck": "red", "passed": True, "seal": None}, "S9")
    book.fact("deck checked", {"deck": "blue", "passed": False, "seal": None})
    book.fact("deck changed", {"deck": "blue", "seal": "77"}, "S9")
    book.fact("deck shuffled", {"deck": "blue"}, "")
    book.fact("count ordered", {}, "S9")
    book.fact("player warned", {"seat": 2, "reason": "console"})
    book.fact("jackpot locked", {"jackpot_cents": 5}, "")
    for state in ("verified", "paid", "paid"):
        book.fact("award changed", {"award": "main/3/17", "state": state, "cents": 9876}, "")
    won = {"round_no": 12, "seat": 4, "award": "main/3/18", "level": "mini", "cents": 50_000}
    book.fact("mystery won", won, "")
    for told in (
        {"device": "shoe", "state": "unknown", "code": "E-CDP-030", "detail": "x"},
        {"device": "shoe", "state": "ready", "code": "", "detail": ""},
        {"device": "shoe", "state": "unknown", "code": "E-CDP-030", "detail": "y"},
        {"device": "sign", "state": "degraded", "code": "", "detail": ""},
        {"device": "shoe", "vendor": "V", "model": "M", "serial": "1", "firmware": "2"},
    ):
        book.write("device", told)
    book.write("alarm", {"code": "E-DCK-002", "seat": None, "detail": "x", "clause": ""})
    day = book.day
    assert day.decks == {
        "red checked: passed": 1, "blue checked: failed": 1, "blue brought into play": 1,
        "blue shuffled": 1, "count ordered": 1,
    }  # fmt: skip
    assert day.rulings == {}
    assert day.devices == {"shoe": {"E-CDP-030": 2}, "sign": {"degraded": 1}}
    assert day.alarms == {"E-DCK-002": 1}
    assert day.irregularities == {"player warned": 1}
    assert day.progressive.locks == 1
    assert day.progressive.awards == {"verified": Money(1, 9876), "paid": Money(2, 19752)}
    assert day.progressive.mystery.rows == [[12, 4, "mini", 50_000]]
    page = report.page(day, "t")
    assert "  awards paid by the server (2)" + "197.52".rjust(47) in page
    assert "  mystery round 12    seat 4  mini: 500.00" in page


def test_what_was_in_force_and_how_often_it_started() -> None:
    book = Book()
    opened: dict[str, Any] = {
        "game": "MBS3",
        "configuration": "aa",
        "program": "p1",
        "rule_book": "r1",
    }
    opened |= {"repaired_bytes": 0, "utc_offset_min": 480, "layout": "l"}
    book.write("opened", opened)
    book.write("configuration", {"verdict": "applied", "before": "aa", "in_force": "bb"})
    book.write("opened", {**opened, "configuration": "bb", "program": "p2", "repaired_bytes": 90})
    first = book.close()
    assert (first["configurations"], first["programs"]) == (["aa", "bb"], ["p1", "p2"])
    assert first["starts"] == {"count": 2, "repaired_bytes": 90}
    second = book.close()
    assert (second["configurations"], second["programs"]) == (["bb"], ["p2"])
    assert second["starts"] == {"count": 0, "repaired_bytes": 0}


# --- the close ---------------------------------------------------------------------------------


def test_days_follow_each_other_without_a_gap() -> None:
    book = Book()
    book.write("opened", {"game": "MBS3", "utc_offset_min": 480})
    book.at_ms += 6 * HOUR  # 02:00 of the next day at the table
    book.fact("bets opened")
    first = book.close()
    assert (first["number"], first["first_seq"], first["closing"]["seq"]) == (1, 1, 3)
    assert first["closing"] == {
        "seq": 3, "head": (3).to_bytes(32).hex(), "at_ms": book.at_ms, "person": "S9",
        "role": "casino supervisor",
    }  # fmt: skip
    assert first["date"] == "2026-03-11"
    second = book.close()
    assert (second["number"], second["first_seq"], second["closing"]["seq"]) == (2, 5, 5)
    assert second["from_ms"] == first["closing"]["at_ms"]
    assert second["date"] == "2026-03-11"


def test_a_day_comes_back_from_its_record_and_from_a_snapshot() -> None:
    book = Book()
    book.round(3, JACKPOT)
    book.round(3, JACKPOT, corrections=[[5, 100, "S9: x"]])
    row = json.loads(json.dumps(fold.put(book.day)))
    assert fold.restored(row) == book.day
    with pytest.raises(msgspec.ValidationError):
        fold.restored({**row, "tips": 5})
    closed = book.close()
    body = json.dumps(closed).encode()
    assert fold.read(body).total == Total(**closed["total"])
    with pytest.raises(msgspec.DecodeError):
        fold.read(body.replace(b'"v": 1', b'"v": 2'))


def test_a_day_that_nobody_closes_does_not_grow_without_end() -> None:
    book = Book()
    events = [{"type": "foreign_card"}]
    record = let_it_ride(500, ["2c", "7d", "9h"], ["Js", "4c"], events=events)
    result = settle(decode_record(record))
    for number in range(1, 2 * MOST_ROWS):
        book.round(number, record, result=result)
        book.write("alarm", {"code": f"kind {number}"})
        book.fact("bets opened", person=f"D{number}")
    sizes = len(book.day.voids.rows), len(book.day.alarms), len(book.day.dealers)
    assert sizes == (MOST_ROWS, MOST_ROWS + 1, MOST_ROWS + 1)
    assert book.day.voids.count == 2 * MOST_ROWS - 1
    assert book.day.alarms["other"] == MOST_ROWS - 1
    assert sum(one.rounds for one in book.day.dealers.values()) == 2 * MOST_ROWS - 2


@pytest.mark.parametrize("kind", ["fact", "round", "alarm", "device", "opened", "table-call"])
@pytest.mark.parametrize("body", [b"x", b"{}", b'{"round":1,"record":{},"result":{}}', b"\xff"])
def test_what_cannot_be_read_is_counted_and_stops_nothing(kind: str, body: bytes) -> None:
    book = Book()
    book.write(kind, body)
    book.write("shown", body)
    unread = 0 if kind == "opened" and body[:1] == b"{" else 1
    assert book.close()["unread"] == unread
    assert book.day.unread == 0


def test_a_round_that_does_not_balance_is_named() -> None:
    book = Book()
    result = settle(decode_record(JACKPOT))
    book.round(8, JACKPOT, result={**result, "house_net": -1})
    assert book.day.unbalanced.rows == [[8, -2_267_467, -1]]
