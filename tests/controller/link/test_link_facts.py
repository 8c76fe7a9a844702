"""What the server says becomes facts, journalled first; and no wager locks without a heartbeat."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from controller.daemon.inputs import KeepFrom
from controller.daemon.writer import Tick
from controller.link.hearing import BETWEEN_US, IN_PLAY_US, Heard
from controller.rules.cards import NAMES, HiddenCard, card, cards
from controller.rules.engine import facts as f
from controller.rules.engine.state import Phase
from controller.table.staff import SUPERVISOR_1
from drivers.base import DeviceState, StateReported
from drivers.orders import ShowMeter, ShowPrompt
from record.draw import Chances, commitment, picks
from record.link.events import Claim, Claimed, Contributed, SelectionWanted, Wager
from record.link.messages import (
    Ack,
    AwardChanged,
    Beat,
    Locked,
    LockedAward,
    MysteryWon,
    Noted,
    Receipt,
    SelectionCommitted,
    SelectionRevealed,
    Welcome,
)
from record.verify_draws import Checker
from tests.controller.link.bench import LIMIT, MS, SECOND, SHOE, Bench, files, meter

A, B = "main/1/1", "main/1/2"


@pytest.fixture(scope="module")
def mbs3(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return files(tmp_path_factory.mktemp("mbs3"), "MBS3", "mbs3")


@pytest.fixture(scope="module")
def mega(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return files(
        tmp_path_factory.mktemp("mega"),
        "MEGA",
        "mega",
        selector="server",
        lucky_rate="1/1",
        magic_rate="1/1",
        allow_over_100_percent=True,
    )


@pytest.fixture
def bench(mbs3: Path, tmp_path: Path) -> Iterator[Bench]:
    shutil.copytree(mbs3, tmp_path / "run")
    made = Bench(tmp_path / "run")
    yield made
    made.table.journal.close()


# --- the heartbeat law ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("late_us", "locks"),
    [(LIMIT - MS, True), (LIMIT, True), (LIMIT + 1, False), (LIMIT + MS, False)],
)
@pytest.mark.parametrize("by", ["call", "card"])
def test_no_wager_locks_later_than_the_limit_after_the_last_heartbeat(
    bench: Bench, late_us: int, locks: bool, by: str
) -> None:
    """By the closing call, or by a card before it; with nothing else to wake the table up."""
    bench.alive()
    bench.bets()
    bench.wait(late_us)
    if by == "call":
        bench.tell(f.BetsClosed())
    else:
        bench.tell(f.CardDrawn(HiddenCard(card("5h"))), SHOE)
    assert bench.state.phase in (Phase.LOCKED, Phase.DEALING)
    assert bench.outbox == ([Contributed(1, (Wager(2, 100, 1),))] if locks else [])
    assert ("progressive" in bench.state.seats[2].locked) is locks
    order = [fact for fact in bench.facts() if fact in ("link lost", "bets closed", "card drawn")]
    lock = "bets closed" if by == "call" else "card drawn"
    assert order[-2:] == (["link lost", lock] if not locks else order[-2:])
    assert bench.state.link_up is locks


def test_the_journal_keeps_what_the_server_may_still_ask_for_even_at_a_locked_table(
    bench: Bench,
) -> None:
    """The journal belongs to the writer's thread: the link gives it an input."""
    assert bench.table.journal.keep_from_seq == 1
    bench.work(KeepFrom(7))
    assert bench.table.journal.keep_from_seq == 7
    bench.writer.lock("test", "technician")
    bench.work(KeepFrom(9))
    assert bench.table.journal.keep_from_seq == 9


def test_the_link_closes_by_itself_when_the_limit_is_over(bench: Bench) -> None:
    released = bench.alive()
    assert released.wake_us == bench.now_us + LIMIT + 1
    bench.bets()
    bench.wait(LIMIT + 1)
    released = bench.work(Tick())
    assert not bench.state.link_up
    assert bench.state.credits == {}
    prompt = next(o for o in released.orders if isinstance(o, ShowPrompt))
    assert prompt.lines[0] == "SEAT 2 BACK 1"


def test_heads_of_the_staff_orders_are_journalled_once_each(bench: Bench) -> None:
    """Whatever the server's store says later, this journal says what it said before."""

    def receipt(staff: int, head: str) -> Receipt:
        return Receipt(1, 7, "cd" * 32, staff, head * 32, "0" * 16, "00" * 32)

    bench.alive()
    bench.hears(Ack(1, (), receipt(4, "ab")), Ack(2, (), receipt(4, "ab")), Ack(3))
    bench.hears(Noted(9, receipt(5, "ef")))
    found = [(body["staff"], body["head"]) for body in bench.kinds("witness")]
    assert found == [(4, "ab" * 32), (5, "ef" * 32)]


def test_wagers_that_are_locked_stay_valid_and_odds_are_paid_without_the_link(
    bench: Bench,
) -> None:
    bench.alive()
    bench.bets()
    bench.tell(f.BetsClosed())
    bench.wait(60 * SECOND)
    for one in cards("5h5d8h5c8c"):
        bench.tell(f.CardDrawn(HiddenCard(one)), SHOE)
    assert not bench.state.link_up
    for number in (1, 2):
        bench.tell(f.Decided(2, str(number), "ride"))
        bench.tell(f.CommunityTurned(number))
    bench.tell(f.HandOpened(2))
    bench.tell(f.SeatSettled(2))
    bench.tell(f.RoundEnded())
    wager = bench.state.history[-1].result["seats"][0]["wagers"]["progressive"]
    assert (wager["status"], wager["win"]) == ("win", 5000)
    assert [type(body).__name__ for body in bench.outbox] == ["Contributed", "RoundPlayed"]


def test_a_heartbeat_that_was_held_up_on_the_way_counts_from_when_it_was_asked(
    bench: Bench,
) -> None:
    bench.alive()
    bench.bets()
    asked_us = bench.now_us + SECOND
    bench.wait(LIMIT)
    bench.work(Heard(asked_us=asked_us))
    bench.wait(SECOND)
    bench.tell(f.BetsClosed())
    assert bench.state.link_up
    bench.wait(1)
    bench.work(Tick())
    assert not bench.state.link_up


def test_a_start_has_no_heartbeat_yet(bench: Bench) -> None:
    assert bench.facts() == ["link lost"]
    assert not bench.state.link_up
    bench.alive()
    assert bench.facts() == ["link lost", "link restored"]


def test_a_halted_journal_closes_the_link_at_once(bench: Bench) -> None:
    bench.alive()
    bench.work(Heard(closed=True, alarm={"code": "link E-LNK-030", "detail": "fork"}))
    assert not bench.state.link_up
    assert bench.kinds("alarm") == [{"code": "link E-LNK-030", "detail": "fork"}]


# --- meters --------------------------------------------------------------------------------------


def test_a_meter_that_moves_does_not_wear_the_card(bench: Bench) -> None:
    """A busy floor for ten minutes between rounds: two facts a minute, none without a change."""
    bench.alive()
    for second in range(600):
        bench.wait(SECOND)
        bench.work(Heard(asked_us=bench.now_us), Heard(Ack(0, (meter(1000 + second),))))
    told = bench.facts().count("meter reported")
    assert 20 <= told <= 21
    for _ in range(600):
        bench.wait(SECOND)
        bench.work(Heard(asked_us=bench.now_us), Heard(Beat(1, (meter(1599),))))
    assert bench.facts().count("meter reported") == told + 1
    assert bench.state.meter == 1599


def test_in_a_round_the_meter_follows_sooner_and_a_hit_at_once(bench: Bench) -> None:
    bench.alive()
    bench.hears(Welcome(2, "s", 1, 0, 1_000, (meter(500_000),)))
    assert bench.state.meter == 500_000
    bench.bets()
    bench.wait_alive(IN_PLAY_US - 1)
    bench.hears(Ack(1, (meter(500_100),)))
    assert bench.state.meter == 500_000
    bench.wait_alive(1)
    assert bench.state.meter == 500_100
    bench.wait(MS)
    released = bench.hears(Ack(2, (meter(10_000, generation=2, pending=1),)))
    assert bench.state.meter == 10_000
    assert ShowMeter("      $100.00") in released.orders
    assert BETWEEN_US > IN_PLAY_US


def test_what_was_told_while_cards_were_out_counts_for_the_next_round(bench: Bench) -> None:
    """Else the opening would show the amount of before."""
    bench.alive()
    bench.hears(Ack(0, (meter(500_000),)))
    bench.bets()
    bench.tell(f.BetsClosed())
    bench.hears(Ack(1, (meter(40_000, generation=2, pending=1),)))
    assert (bench.state.meter, bench.writer.core.meter.cents) == (500_000, 40_000)
    bench.tell(f.CardFaultReported("foreign"))
    bench.tell(f.SupervisorRuled("confirmed"), SUPERVISOR_1)
    bench.tell(f.VoidCleared())
    assert bench.state.meter == 40_000
    assert bench.facts().count("meter reported") == 3


def test_the_meter_comes_back_with_the_link(bench: Bench) -> None:
    bench.alive()
    bench.hears(Ack(0, (meter(77_700),)))
    bench.wait(LIMIT + 1)
    bench.work(Tick())
    assert ShowMeter("STALE     0M") in bench.writer.core.orders_now()
    bench.alive()
    assert ShowMeter("      $777.00") in bench.writer.core.orders_now()
    assert bench.facts()[-2:] == ["link restored", "meter reported"]


# --- jackpots ------------------------------------------------------------------------------------

LOCKED = Locked(1, 1_000_000, 50_000, (LockedAward(2, A, 100_000),))


def test_a_claim_is_locked_once_however_often_it_is_said(bench: Bench) -> None:
    bench.to_claim()
    assert bench.outbox[-1] == Claimed(1, (Claim(2, "straight flush", 10),))
    bench.hears(LOCKED, LOCKED)
    bench.hears(LOCKED)
    assert bench.facts().count("jackpot locked") == 1
    assert (bench.state.jackpot, bench.state.reset) == (1_000_000, 50_000)
    assert bench.writer.status()["awards"] == [
        {"award": A, "round": 1, "seat": 2, "cents": 100_000, "state": "locked", "share": True}
    ]


def test_a_lock_that_comes_before_its_time_is_kept(bench: Bench) -> None:
    """The server is quicker than the table's disk, or the message is of another round."""
    bench.alive()
    bench.hears(Locked(7, 5, 5, ()), LOCKED)
    bench.to_claim()
    assert bench.state.jackpot == 1_000_000


def test_the_lock_of_a_claim_that_was_withdrawn_is_not_taken_for_the_new_one(
    bench: Bench,
) -> None:
    bench.to_claim("9sKsQsJsTs")
    bench.hears(LOCKED)
    bench.tell(f.CardCorrected(2, 1, card("As")), SUPERVISOR_1)
    assert [type(body).__name__ for body in bench.outbox[-2:]] == ["Withdrawn", "Claimed"]
    bench.hears(LOCKED)
    assert (bench.state.jackpot, bench.state.phase) == (None, Phase.SETTLEMENT)
    bench.hears(Locked(1, 1_000_000, 50_000, (LockedAward(2, B, 1_000_000),)))
    assert bench.state.jackpot == 1_000_000


def test_another_amount_freezes_the_table_with_an_alarm(bench: Bench) -> None:
    bench.to_claim()
    released = bench.hears(Locked(1, 1_000_000, 50_000, (LockedAward(2, A, 100_001),)))
    assert bench.state.phase is Phase.FROZEN
    (alarm,) = bench.kinds("alarm")
    said = "seat 2: the server locks 1,000.01, the table settles 1,000.00"
    assert (alarm["code"], alarm["detail"]) == ("jackpot differs", said)
    prompt = next(o for o in released.orders if isinstance(o, ShowPrompt))
    assert prompt.lines[2] == "JACKPOT DIFFERS"
    bench.tell(f.SupervisorRuled("resume"), SUPERVISOR_1)
    assert bench.state.phase is Phase.FROZEN  # the server says the same: so do we
    bench.hears(LOCKED)
    bench.tell(f.SupervisorRuled("resume"), SUPERVISOR_1)
    assert bench.state.jackpot == 1_000_000


def test_pending_is_shown_until_it_is_paid_and_no_round_opens_before_it_is_verified(
    bench: Bench,
) -> None:
    bench.to_claim()
    bench.hears(LOCKED)
    bench.tell(f.SeatSettled(2))
    bench.tell(f.RoundEnded())
    bench.tell(f.DeckShuffled("red"), SHOE)
    bench.tell(f.DeckCut())
    bench.work(StateReported("shoe", DeviceState.READY, None, bench.now_us))
    assert bench.writer.core.prompt_now() == (
        "SEAT 2: PENDING", "SEAT 2", "VERIFY THE JACKPOT", "WAIT",
    )  # fmt: skip
    assert ShowMeter("PENDING", blink=True) in bench.writer.core.orders_now()
    bench.tell(f.BetsOpened())
    assert bench.writer.status()["phase"] == "between rounds"
    bench.hears(AwardChanged(1, 2, A, "verified", 100_000))
    bench.tell(f.BetsOpened())
    assert bench.writer.status()["phase"] == "bets are open"
    bench.hears(AwardChanged(1, 2, A, "approved", 100_000))
    bench.hears(AwardChanged(1, 2, A, "paid", 100_000))
    assert bench.writer.status()["awards"] == []
    assert bench.facts().count("award changed") == 3


def test_a_locked_out_table_hears_it_when_it_is_cleared(bench: Bench) -> None:
    bench.to_claim()
    bench.writer.lock("journal damaged", "technician")
    bench.hears(LOCKED)
    assert bench.state.jackpot is None
    bench.writer.unlock(["S1", "S2"])
    bench.alive()
    assert bench.state.jackpot == 1_000_000


def test_amounts_said_again_after_a_reconnect_count(bench: Bench) -> None:
    """A claim of the round has gone meanwhile: the server counts the other anew."""
    bench.to_claim()
    bench.hears(LOCKED, AwardChanged(1, 2, A, "locked", 100_000))
    anew = Locked(1, 1_000_000, 50_000, (LockedAward(2, A, 90_000),))
    bench.hears(anew)
    assert bench.state.phase is Phase.FROZEN  # nothing has gone here: this is another amount


def test_a_claim_rejected_before_it_was_locked_is_an_alarm(bench: Bench) -> None:
    bench.to_claim()
    for _ in range(2):
        bench.hears(AwardChanged(1, 2, A, "rejected", 0))
    assert bench.kinds("alarm") == [{"code": "claim rejected", "seat": 2, "detail": f"award {A}"}]
    assert bench.state.phase is Phase.SETTLEMENT


def test_a_mystery_award_is_told_journalled_and_an_alarm(bench: Bench) -> None:
    bench.alive()
    bench.bets()
    won = MysteryWon(1, 2, B, "mini", 50_000)
    released = bench.hears(won, won)
    bench.hears(won)
    assert bench.facts().count("mystery won") == 1
    assert [alarm["code"] for alarm in bench.kinds("alarm")] == ["mystery won"]
    prompt = next(o for o in released.orders if isinstance(o, ShowPrompt))
    assert prompt.lines[0] == "SEAT 2 WINS MYSTERY"
    bench.hears(AwardChanged(1, 2, B, "paid", 50_000))
    assert bench.writer.core.notices.newest is None


# --- selections of the server --------------------------------------------------------------------

SEED, SALT = bytes(range(32)), bytes(range(16))


def draw(journal: str, pool: tuple[int, ...], **changes: Any) -> dict[str, Any]:
    found = picks(SEED, journal, 1, Chances(pool, Fraction(1), Fraction(1)))
    magic = None if found.magic_card is None else NAMES[found.magic_card]
    return {
        "round": 1, "seed": SEED.hex(), "salt": SALT.hex(), "seats": list(pool),
        "magic_rate": "1", "lucky_rate": "1", "magic_card": magic,
        "lucky_seat": found.lucky_seat, **changes,
    }  # fmt: skip


@pytest.fixture
def drawing(mega: Path, tmp_path: Path) -> Iterator[Bench]:
    shutil.copytree(mega, tmp_path / "run")
    made = Bench(tmp_path / "run")
    made.alive()
    made.bets((1, 3))
    made.tell(f.BetsClosed())
    assert made.outbox[-1] == SelectionWanted(1, (1, 3))
    yield made
    made.table.journal.close()


def test_a_selection_of_the_server_is_taken_as_it_was_committed(drawing: Bench) -> None:
    journal = drawing.table.journal.journal_id
    revealed = SelectionRevealed(1, draw(journal, (1, 3)))
    drawing.hears(revealed)
    assert not drawing.state.revealed
    drawing.hears(SelectionCommitted(1, commitment(SEED, SALT, journal, 1)))
    assert drawing.state.revealed
    expected = picks(SEED, journal, 1, Chances((1, 3), Fraction(1), Fraction(1)))
    assert (drawing.state.magic_card, drawing.state.lucky_seat) == (
        expected.magic_card, expected.lucky_seat,
    )  # fmt: skip
    checker = Checker(journal)
    for record in drawing.table.journal.records():
        checker.take(record.seq, record.kind, record.body)
    report = checker.end()
    assert (report.problems, report.revealed) == ([], 1)


@pytest.mark.parametrize(
    "changes",
    [{"seed": bytes(32).hex()}, {"lucky_seat": 9}, {"magic_card": None}, {"seats": [1, 2, 3]},
     {"magic_rate": "2"}, {"magic_rate": "1/2"}, {"salt": "00"}],
)  # fmt: skip
def test_a_draw_that_does_not_follow_from_its_commitment_is_not_taken(
    drawing: Bench, changes: dict[str, Any]
) -> None:
    journal = drawing.table.journal.journal_id
    committed = SelectionCommitted(1, commitment(SEED, SALT, journal, 1))
    told = SelectionRevealed(1, draw(journal, (1, 3), **changes))
    drawing.hears(committed, told)
    drawing.hears(told)
    assert not drawing.state.revealed
    assert [alarm["code"] for alarm in drawing.kinds("alarm")] == ["selection not as committed"]


def test_a_card_before_the_commitment_means_no_selection(drawing: Bench) -> None:
    drawing.tell(f.CardDrawn(HiddenCard(card("5h"))), SHOE)
    journal = drawing.table.journal.journal_id
    drawing.hears(SelectionCommitted(1, commitment(SEED, SALT, journal, 1)))
    drawing.hears(SelectionRevealed(1, draw(journal, (1, 3))))
    assert drawing.state.commitment is None
    assert not drawing.state.revealed


def test_a_table_with_the_servers_draws_in_its_journal_starts_again(
    drawing: Bench, tmp_path: Path
) -> None:
    journal = drawing.table.journal.journal_id
    drawing.hears(SelectionCommitted(1, commitment(SEED, SALT, journal, 1)))
    drawing.table.journal.close()
    again = Bench(tmp_path / "run")
    assert again.state.commitment is not None
    again.alive()
    again.hears(SelectionCommitted(1, again.state.commitment))
    again.hears(SelectionRevealed(1, draw(journal, (1, 3))))
    assert again.state.revealed
    again.table.journal.close()
