"""What a replay tells of a round, moment by moment, and where it says that something is wrong."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import cache
from random import Random
from typing import Any

import pytest

from controller.daemon.writer import Released, Told
from controller.history.replay import DIVERGED, NOT_OWED
from controller.replay.cards import NOT_TOLD, OTHER_CARD
from controller.replay.finding import NotThere, find_round, rounds_in
from controller.replay.timeline import Moment, Timeline, build
from controller.rules.cards import DECK
from controller.rules.engine import facts as f
from controller.rules.engine.state import Phase
from hw_sim.scenario import find, load
from record.journal.format import Record
from tests.controller.history.desk import play_rounds
from tests.paper import Row
from tests.replays.desks import desk_rounds
from tests.replays.playing import Journalled, People, scenario_rounds
from tests.sim.table import METER

SUPERVISOR = f.Declared("S9", f.Role.CASINO_SUPERVISOR)
LINK = f.Measured("link")


@cache
def plain() -> Journalled:
    return scenario_rounds(find("mbs3-plain"))


def told(timeline: Timeline) -> list[str]:
    return [moment.what for moment in timeline.moments]


def one(timeline: Timeline, mark: str) -> Moment:
    return next(moment for moment in timeline.moments if mark in moment.marks)


def followed(moment: Moment) -> list[str]:
    return [str(said) for said in moment.followed]


def row(record: Record, body: bytes) -> Row:
    return Row(record.seq, record.kind, body, record.at_ms, record.hash)


def altered(records: Sequence[Record], seq: int, old: str, new: str) -> list[Record]:
    """A copy in which one record says something else."""
    changed = [
        row(r, r.body.replace(old.encode(), new.encode())) if r.seq == seq else r for r in records
    ]
    assert changed[seq - records[0].seq].body != records[seq - records[0].seq].body
    return changed


# --- a plain round --------------------------------------------------------------------------------


def test_a_plain_round_in_the_words_of_the_trade() -> None:
    timeline = build(plain().records, 1)
    assert (timeline.game, timeline.status, timeline.diverged) == ("MBS3", "settled", None)
    words = told(timeline)
    assert words.index("Bets are opened") < words.index("No more bets: the closing call")
    assert "Seat 2: 25.00 is on wager 1" in words
    assert [w for w in words if w.startswith("Card to")] == [
        "Card to seat 2: 5h", "Card to seat 5: Kc", "Card to seat 2: 6h", "Card to seat 5: Kd",
        "Card to seat 2: 8h", "Card to seat 5: 2s", "Card to the dealer: 7h",
        "Card to the dealer: 9h",
    ]  # fmt: skip
    back = one(timeline, "decision 2")
    assert back.what == "Seat 2 takes it back: wager 1"
    assert (back.by, back.clause) == ("declared by D1, dealer", "MBS3-3.8")
    assert "25.00 goes back to seat 2: wager 1 [MBS3-3.8]" in followed(back)


def test_displays_are_those_of_the_moment_and_say_what_changed() -> None:
    timeline = build(plain().records, 1)
    back = one(timeline, "decision 2")
    assert back.displays["prompt"].split("\n")[1] == "SEAT 5  1      10.00"
    assert [s.device for s in back.shown] == ["lamps-1", "lamps-2", "prompt"]
    assert back.displays["lamps-2"].startswith("5 your turn")
    before = timeline.moments[back.number - 2]
    assert before.displays["lamps-1"] == "1 off, 2 your turn, 3 off, 4 off"


def test_every_fact_is_checked_against_the_digest_in_its_record() -> None:
    timeline = build(plain().records, 1)
    bodies = {r.seq: r.body for r in plain().records}
    facts = [m for m in timeline.moments if m.kind == "fact"]
    assert len(facts) >= 35
    for moment in facts:
        assert f'"state":"{moment.digest}"'.encode() in bodies[moment.seq]


def test_the_jackpot_of_the_round_is_told() -> None:
    moment = one(build(plain().records, 1), "jackpot")
    assert moment.what == "The link server locks the jackpot at 123,456.78"
    assert "  the progressive: win at 10% of the jackpot, to player 12,346.67" in followed(moment)


# --- a record that was altered --------------------------------------------------------------------


def facts_with_amounts() -> list[tuple[int, str, str]]:
    found = []
    for record in plain().records:
        body = json.loads(record.body) if record.kind == "fact" else {}
        cents = body.get("of", {}).get("cents") or body.get("of", {}).get("jackpot_cents")
        if cents:
            found.append((record.seq, f'cents":{cents}', f'cents":{cents + 100}'))
    return found


@pytest.mark.parametrize(("seq", "old", "new"), facts_with_amounts())
def test_an_altered_amount_is_found_at_its_very_record(seq: int, old: str, new: str) -> None:
    timeline = build(altered(plain().records, seq, old, new), 1)
    assert timeline.diverged is not None
    assert (timeline.diverged.seq, timeline.diverged.code) == (seq, DIVERGED)
    (moment,) = [m for m in timeline.moments if "DIVERGES HERE" in m.trouble]
    assert moment.seq == seq
    before = [m for m in timeline.moments if m.kind == "fact" and m.seq < seq]
    assert all(m.digest for m in before), "what came before it stands"
    after = [m for m in timeline.moments if m.kind == "fact" and m.seq > seq]
    assert all(m.trouble == "not stepped: told from the record alone" for m in after)


@pytest.mark.parametrize(
    ("kind", "old", "new", "code"),
    [
        ("round", '"to_player":502500', '"to_player":502400', NOT_OWED),
        ("outbox", "[2,100,1]", "[2,200,1]", NOT_OWED),
        ("fact", '"choice":"withdraw"', '"choice":"ride"', DIVERGED),
    ],
)
def test_any_other_altered_record_is_found_there(kind: str, old: str, new: str, code: str) -> None:
    records = plain().records
    seq = next(r.seq for r in records if r.kind == kind and old.encode() in r.body)
    timeline = build(altered(records, seq, old, new), 1)
    assert timeline.diverged is not None
    assert (timeline.diverged.seq, timeline.diverged.code) == (seq, code)


def test_a_card_told_otherwise_than_it_was_sealed_is_found_where_it_was_drawn() -> None:
    records = plain().records
    seq = next(r.seq for r in records if r.kind == "revealed")
    timeline = build(altered(records, seq, '"card":"7h"', '"card":"7s"'), 1)
    assert timeline.diverged is not None
    assert timeline.diverged.code == OTHER_CARD


# --- closed cards ---------------------------------------------------------------------------------


def test_a_burnt_card_stays_closed_and_every_other_is_public() -> None:
    made = scenario_rounds(find("nsw-shuffler-plain"))
    for sealer in (None, made.sealer):
        timeline = build(made.records, 1, sealer)
        cards = [card for m in timeline.moments for card in m.cards]
        assert [card.card for card in cards].count(None) == 1
        assert all(card.public for card in cards if card.card is not None)


def test_a_round_under_way_shows_no_card_that_is_not_public_yet() -> None:
    records = plain().records
    turned = next(r.seq for r in records if b'"community turned"' in r.body)
    timeline = build([r for r in records if r.seq <= turned + 1], 1, plain().sealer)
    assert (timeline.status, timeline.under_way) == ("under way", True)
    faces = [card.card for m in timeline.moments for card in m.cards]
    assert faces == [None] * 6 + ["7h", None]
    said = json.dumps([told(timeline), [followed(m) for m in timeline.moments]])
    for hidden in ("5h", "6h", "8h", "Kc", "Kd", "2s", "9h"):
        assert hidden not in said


def test_a_hand_whose_telling_is_not_on_disk_yet_is_not_made_up() -> None:
    records = plain().records
    opened = next(r.seq for r in records if b'"what":"hand opened"' in r.body)
    timeline = build([r for r in records if r.seq <= opened], 1)
    assert timeline.diverged is not None
    assert (timeline.diverged.seq, timeline.diverged.code) == (opened, NOT_TOLD)


# --- what happens to rounds -----------------------------------------------------------------------


def test_a_restart_in_the_middle_is_told_and_changes_nothing() -> None:
    people = People(load(find("pp6-plain")), cut_at=120)
    people.play()
    assert people.cuts == 1
    made = people.journalled("cut")
    timeline = build(made.records, 1)
    assert timeline.diverged is None
    started = one(timeline, "opened")
    assert started.what.startswith("THE TABLE'S COMPUTER STARTED")
    assert 1 < started.number < len(timeline.moments)
    assert timeline.again is not None
    assert timeline.again.result == made.witness.results[1]


def test_an_irregular_round_says_the_clause_and_who_ruled() -> None:
    timeline = build(scenario_rounds(find("nsw-misdeal")).records, 1)
    assert timeline.status == "void"
    void = one(timeline, "void")
    assert "THE ROUND IS VOID [NSW-12.1]" in followed(void)
    assert "back" in one(timeline, "end").what


class LosesLink(People):
    """The link goes away at the first decision."""

    gone = False

    def _saw(self, released: Released) -> None:
        super()._saw(released)
        if not self.gone and self.writer.core.state.phase is Phase.DECISION_1:
            self.gone = True
            self.lost()


def test_link_lost_is_told() -> None:
    people = LosesLink(load(find("mbs3-plain")))
    people.play()
    timeline = build(people.journalled("lost").records, 1)
    lost = one(timeline, "link lost")
    assert (lost.what, lost.phase) == ("The progressive link is lost", "first decision")
    assert timeline.diverged is None


def test_what_came_before_a_snapshot_is_told_without_being_stepped() -> None:
    """The computer was started between two rounds: the second is stepped from there on."""
    made = desk_rounds("MBS3", "shoe", 3, 1)
    assert made.desk is not None
    core = made.desk.hand.table.core
    core.fact(f.Fact(f.MeterReported(777_700), LINK, 9_000), 9_000_000)
    made.desk.table_log.write_snapshot()
    play_rounds(made.desk, Random(1), list(DECK), 1)
    timeline = build(made.desk.paper.rows, 2)
    assert timeline.diverged is None
    moment = next(m for m in timeline.moments if "7,777.00" in m.what)
    assert (moment.digest, moment.trouble) == ("", "")
    assert [m.trouble for m in timeline.moments if m.trouble] == []


class Awarded(People):
    """The server names the award that it holds for the seat."""

    def _claimed(self) -> None:
        self._later(Told(f.JackpotLocked(METER, None, ((2, "A-1", 1_234_567),)), LINK))


def test_an_award_is_followed_to_its_payment_whenever_that_is() -> None:
    people = Awarded(load(find("mbs3-plain")))
    people.play(until=lambda: bool(people.results))
    for state in ("verified", "approved", "paid"):
        people._put(Told(f.AwardChanged("A-1", state, 1_234_567), LINK))
    people._put(Told(f.AwardChanged("B-9", "paid", 1), LINK))
    timeline = build(people.journalled("award").records, 1)
    assert timeline.diverged is None
    assert [what for what in told(timeline) if "award" in what] == [
        "Jackpot award A-1: verified, 12,345.67",
        "Jackpot award A-1: approved, 12,345.67",
        "Jackpot award A-1: paid, 12,345.67",
    ]


def corrected() -> list[Row]:
    """A closed round, a dispute about it, and a mis-pay put right."""
    made = desk_rounds("MBS3", "shoe", 3, 1)
    assert made.desk is not None
    core = made.desk.hand.table.core
    result = made.desk.state.history[-1].current[1]
    seat = next(r for r in result["seats"] if r["net"] is not None)
    for what in (
        f.DisputeRaised(seat["seat"], "the player says flush"),
        f.DisputeDecided(seat["seat"], "the cards stand"),
        f.PayCorrected(1, seat["seat"], paid_cents=0, note="short paid"),
    ):
        core.fact(f.Fact(what, SUPERVISOR, 9_000), 9_000_000)
    agreed = f.Fact(f.RulingSeconded(), f.Declared("D1", f.Role.DEALER), 9_000)
    core.fact(agreed, 9_000_000)
    return made.desk.paper.rows


def test_a_dispute_and_a_correction_after_settlement_belong_to_the_round() -> None:
    timeline = build(corrected(), 1)
    assert timeline.diverged is None
    words = told(timeline)
    assert any(w.startswith("DISPUTE at seat") for w in words)
    moment = one(timeline, "correction")
    assert moment.what.startswith("CORRECTION of round 1, seat")
    assert moment.by == "declared by S9, casino supervisor"
    agreed = next(m for m in timeline.moments if m.what.startswith("A second person agrees"))
    assert any("written down: round 1, corrections: seat" in said for said in followed(agreed))
    assert timeline.archive is not None
    ((_, _, who),) = timeline.archive.corrections
    assert who == "S9 and D1: short paid"
    assert timeline.again == timeline.archive


def test_records_of_a_kind_to_come_are_told_as_they_stand() -> None:
    """Test mode and the like: evidence that changes nothing."""
    records = list(plain().records)
    at = next(i for i, r in enumerate(records) if b'"bets opened"' in r.body)
    seq = records[at].seq
    alarm = Row(seq, "alarm", b'{"v":1,"code":"test mode","detail":"on by mia"}', records[at].at_ms)
    moved = [Row(r.seq + 1, r.kind, r.body, r.at_ms, r.hash) for r in records[at:]]
    timeline = build([*records[:at], alarm, *moved], 1)
    assert "ALARM test mode: on by mia" in told(timeline)


# --- where rounds lie -----------------------------------------------------------------------------


def test_a_round_that_is_not_there_says_which_there_are() -> None:
    made = desk_rounds("NSW", "shoe", 5, 3)
    assert rounds_in(made.records) == [1, 2, 3]
    with pytest.raises(NotThere, match=r"no round 9 in this journal; it has 1 to 3 \(E-RPY-001\)"):
        find_round(made.records, 9)


def test_a_round_whose_beginning_is_past_its_retention() -> None:
    records = plain().records
    late = next(i for i, r in enumerate(records) if b'"community turned"' in r.body)
    with pytest.raises(NotThere, match="past its retention") as error:
        find_round(records[late:], 1)
    assert error.value.code == "E-RPY-002"


def test_each_of_three_rounds_is_told_by_itself() -> None:
    made = desk_rounds("NSW", "shoe", 5, 3)
    whole: list[Any] = [build(made.records, n) for n in (1, 2, 3)]
    for number, timeline in enumerate(whole, 1):
        assert [m.what for m in timeline.moments].count("Bets are opened") == 1
        assert timeline.archive.round_no == number
    seqs = [{m.seq for m in t.moments if "opening" in m.marks} for t in whole]
    assert len(set.union(*seqs)) == 3


def test_a_journal_that_begins_with_what_a_display_showed_has_no_moment_of_it() -> None:
    """After retention, or when only the last records are read, the first may belong to nothing."""
    records = plain().records
    snapshot = next(n for n, r in enumerate(records) if r.kind == "standing")
    shown = next(r for r in records if r.kind == "shown")
    cut: list[Record] = [records[snapshot], shown, *records[snapshot + 1 :]]
    timeline = build(cut, 1)
    assert told(timeline) == told(build(records, 1))
    assert shown.seq not in {moment.seq for moment in timeline.moments}
