"""A replay gives the table back as it was, at every record, or says at which one it cannot."""

from __future__ import annotations

import json
from dataclasses import replace
from dataclasses import replace as changed
from functools import lru_cache
from typing import Any

import pytest

from controller.history.errors import ReplayError
from controller.history.memory import Memory
from controller.history.replay import Replayed, replay
from controller.history.sealing import CardSealer, TableKey
from controller.history.snapshot import STATE_FIELDS, round_body, round_number
from controller.history.table_log import SNAPSHOT_AFTER, TableLog
from controller.rules.cards import PublicMoment, reveal
from controller.rules.engine import facts as f
from controller.rules.engine.entries import CreditDropped, SignedOn, TableCall
from controller.rules.engine.state import Phase, TableState
from controller.rules.engine.step import step
from tests.clauses.tables import base, table
from tests.controller.history.desk import GAMES, Desk, desk, opening_of, random_desk
from tests.paper import JOURNAL_ID, Paper, Row, cards, tell

SEEDS = range(6)


@lru_cache(maxsize=4)
def played(game: str, device: str, seed: int = 0, rounds: int = 1) -> Desk:
    return random_desk(game, device, seed, rounds=rounds)


def in_full(state: TableState) -> Any:
    """Every byte of a state, the hidden cards too, in the order in which it is walked."""
    fields = {
        name: one.put(getattr(state, name), lambda card: reveal(card, PublicMoment.HAND_OPENED))
        for name, one in STATE_FIELDS.items()
    }
    return json.dumps([fields, [round_body(a).decode() for a in state.history]])


@pytest.mark.parametrize(("game", "device"), GAMES)
@pytest.mark.parametrize("seed", SEEDS)
def test_a_replay_gives_back_the_table(game: str, device: str, seed: int) -> None:
    live = random_desk(game, device, seed, rounds=2)
    for whole in (False, True):
        back = live.back(whole=whole)
        assert back.state == live.state
        assert in_full(back.state) == in_full(live.state)
        assert back.last_keys == live.table_log.memory.last_keys
        assert back.untaken_credits == live.hand.table.core.credits.untaken
        assert back.missing == ()
        assert back.memory.rounds == live.table_log.memory.rounds
        assert back.memory.undo == live.table_log.memory.undo


@pytest.mark.parametrize(("game", "device"), GAMES)
def test_at_every_record_the_table_is_what_it_was_then(game: str, device: str) -> None:
    """The power goes after any record: the state is that of the last fact on disk."""
    live = played(game, device)
    states = [live.opening.state()]
    for entry, _ in live.hand.table.entries:
        if isinstance(entry, f.Fact):
            states.append(step(states[-1], entry)[0])
    count = 0
    for cut in range(1, len(live.paper.rows) + 1):
        count += live.paper.rows[cut - 1].kind == "fact"
        back = live.back(live.paper.rows[:cut])
        assert back.state == states[count], cut
        # What the last fact owes and what is there make up what was written.
        written = live.paper.rows[cut : cut + len(back.missing)]
        assert [(row.kind, row.body) for row in written] == list(back.missing), cut
    assert count == len(states) - 1 > 20


@pytest.mark.parametrize(("game", "device"), GAMES)
def test_a_table_that_came_back_writes_on_as_if_nothing_had_been(game: str, device: str) -> None:
    """Cut anywhere, go on with the same facts: the same states, and the cards told are the same."""
    live = played(game, device)
    rows = live.paper.rows
    entries = live.hand.table.entries
    for cut in range(2, len(rows), 7):
        back = live.back(rows[:cut])
        paper = Paper(list(rows[:cut]))
        table_log = TableLog(back.memory, paper, cards(), lambda: 0)
        table_log.write(list(back.missing))
        taken = sum(row.kind in ("fact", "credit-dropped") for row in rows[:cut])
        for entry, key in entries[taken:]:
            tell(table_log, entry, key)
        assert [row.kind for row in paper.rows] == [row.kind for row in rows]
        assert told(paper.rows) == told(rows)
        assert replay(paper.rows, cards(), live.opening).state == live.state


def told(rows: list[Row]) -> list[tuple[int, int, str]]:
    """Record, place and face of every card that was made known."""
    found = [json.loads(row.body)["cards"] for row in rows if row.kind == "revealed"]
    return [(c["seq"], c["index"], c["card"]) for cards_ in found for c in cards_]


# --- a replay that differs refuses at that record ----------------------------------------------


def facts_of(live: Desk) -> list[int]:
    return [i for i, row in enumerate(live.paper.rows) if row.kind == "fact"]


def edited(row: Row, **changes: Any) -> Row:
    return replace(row, body=json.dumps({**json.loads(row.body), **changes}).encode())


def refusal(live: Desk, rows: list[Row]) -> ReplayError:
    with pytest.raises(ReplayError) as refused:
        live.back(rows)
    return refused.value


def test_another_state_is_seen_at_its_record() -> None:
    live = played("PP6", "shoe")
    rows = live.paper.rows
    for at in facts_of(live)[::5]:
        error = refusal(live, [*rows[:at], edited(rows[at], state="0" * 16), *rows[at + 1 :]])
        assert (error.code, error.seq) == ("E-RPL-001", rows[at].seq)


def test_a_fact_left_out_told_twice_or_changed_is_seen_there_or_at_the_next_one() -> None:
    live = played("NSW", "shoe")
    rows = live.paper.rows
    for at in facts_of(live)[:-1]:
        after = next(i for i in facts_of(live) if i > at)
        error = refusal(live, [*rows[:at], *rows[at + 1 :]])
        # The cut card and a repeated shuffle leave the state as it was: nothing is missing then.
        assert error.seq <= rows[after].seq
    chips = next(r for r in rows if b'"wager read"' in r.body and b'"cents":1000' in r.body)
    of = {**json.loads(chips.body)["of"], "cents": 1001}
    error = refusal(live, [edited(r, of=of) if r is chips else r for r in rows])
    assert (error.code, error.seq) == ("E-RPL-001", chips.seq)


def test_rules_that_changed_are_seen() -> None:
    """The same facts under another limit lead elsewhere: the digest is of what came out."""
    live = played("NSW", "shoe")
    other = opening_of("NSW", max_wager=900)
    with pytest.raises(ReplayError) as refused:
        replay(live.paper.rows[1:], cards(), other)
    assert refused.value.code in ("E-RPL-001", "E-RPL-002")


def test_a_refused_fact_is_named() -> None:
    live = played("MBS3", "shoe")
    rows = live.paper.rows
    opened = next(r for r in rows if b'"bets opened"' in r.body)
    at = rows.index(opened)
    error = refusal(live, [*rows[: at + 1], replace(opened, seq=99)])
    assert (error.code, error.seq) == ("E-RPL-002", 99)


def test_another_key_opens_nothing() -> None:
    live = played("NSW", "shuffler")
    first = next(r for r in live.paper.rows if b'"packet dispensed"' in r.body)
    with pytest.raises(ReplayError) as refused:
        replay(live.paper.rows, CardSealer(TableKey(bytes(32)), JOURNAL_ID), live.opening)
    assert (refused.value.code, refused.value.seq) == ("E-SEAL-004", first.seq)


def test_told_cards_must_be_those_that_were_sealed() -> None:
    live = played("PP6", "shoe")
    rows = live.paper.rows
    at = next(i for i, r in enumerate(rows) if r.kind == "revealed")
    body = json.loads(rows[at].body)
    other = "2c" if body["cards"][0]["card"] != "2c" else "3c"
    for wrong in (
        edited(rows[at], cards=[{**body["cards"][0], "card": other}, *body["cards"][1:]]),
        edited(rows[at], fact=1),
        edited(rows[at], cards=[]),
    ):
        error = refusal(live, [*rows[:at], wrong, *rows[at + 1 :]])
        assert (error.code, error.seq) == ("E-RPL-003", rows[at].seq)
    error = refusal(live, [*rows[:at], *rows[at + 1 :]])
    assert (error.code, error.seq) == ("E-RPL-004", rows[at + 1].seq)
    error = refusal(live, [*rows[: at + 1], *rows[at:]])
    assert (error.code, error.seq) == ("E-RPL-003", rows[at].seq)


def test_unknown_kinds_and_bodies_refuse() -> None:
    live = played("PP6", "shoe")
    rows = live.paper.rows
    error = refusal(live, [*rows, Row(500, "fax", b"{}")])
    assert (error.code, error.seq) == ("E-RPL-007", 500)
    error = refusal(live, [*rows, Row(500, "fact", b"{}")])
    assert (error.code, error.seq) == ("E-RPL-005", 500)
    error = refusal(live, [*rows, replace(edited(rows[0], v=2), seq=500)])
    assert (error.code, error.seq) == ("E-RPL-005", 500)
    passive = [Row(500 + i, k, b"x") for i, k in enumerate(("opened", "shown", "alarm", "device"))]
    assert live.back([*rows, *passive]).last_seq == 503


# --- snapshots ---------------------------------------------------------------------------------


def stood(game: str, device: str) -> Desk:
    """Two rounds, written down, and a third."""
    live = random_desk(game, device, 3, rounds=2)
    live.table_log.write_snapshot()
    return live


@pytest.mark.parametrize(("game", "device"), GAMES)
def test_a_snapshot_holds_the_whole_table(game: str, device: str) -> None:
    live = stood(game, device)
    for whole in (False, True):
        back = live.back(whole=whole)
        assert back.state == live.state
        assert in_full(back.state) == in_full(live.state)
        assert back.memory.snapshot() == live.table_log.memory.snapshot()
    opened = f.Fact(f.DeckShuffled("red"), f.Measured("shuffler"), 9)
    tell(live.table_log, opened, ("shuffler", 900))
    assert live.back().last_keys["shuffler"] == 900
    assert live.back().state == live.table_log.memory.state


def test_what_lies_before_a_snapshot_is_not_stepped() -> None:
    live = stood("PP6", "shoe")
    rows = [replace(r, body=b"?") if r.kind == "fact" else r for r in live.paper.rows]
    assert live.back(rows).state == live.state
    with pytest.raises(ReplayError, match="E-RPL-005"):
        live.back(rows, whole=True)


def test_a_snapshot_refers_to_the_rounds_it_keeps() -> None:
    live = stood("PP6", "shoe")
    rounds = [r for r in live.paper.rows if r.kind == "round"]
    assert [round_number(r.body) for r in rounds] == [a.round_no for a in live.state.history]
    rows = [r for r in live.paper.rows if r is not rounds[0]]
    error = refusal(live, rows)
    assert (error.code, error.seq) == ("E-RPL-006", rows[-1].seq)


def test_a_snapshot_that_is_not_the_table_is_seen() -> None:
    live = stood("PP6", "shoe")
    rows = live.paper.rows
    body = json.loads(rows[-1].body)
    other = edited(rows[-1], state={**body["state"], "round_no": 77})
    error = refusal(live, [*rows[:-1], other])
    assert (error.code, error.seq) == ("E-RPL-001", rows[-1].seq)
    # One that is sound in itself, but not where the facts lead: only the whole replay sees it.
    forged = edited(rows[-1], table_closed=True)
    assert live.back([*rows[:-1], forged]).table_closed
    with pytest.raises(ReplayError, match="E-RPL-001"):
        live.back([*rows[:-1], forged], whole=True)


def test_a_table_is_written_down_between_rounds_only() -> None:
    live = played("PP6", "shoe")
    opening = live.opening
    table_log = TableLog(Memory(opening.state(), opening), Paper(), cards(), lambda: 0)
    table_log.memory.state = changed(opening.state(), phase=Phase.BETTING)
    assert not table_log.may_write_snapshot
    with pytest.raises(ValueError, match="between rounds"):
        table_log.write_snapshot()
    table_log.memory.state = opening.state()
    assert not table_log.snapshot_due
    table_log.memory.facts = SNAPSHOT_AFTER
    assert table_log.snapshot_due


def test_rules_come_back_with_the_settings_they_were_made_from() -> None:
    live = stood("RICO", "shoe")
    other = opening_of("RICO", ante=1000)
    back = replay(live.paper.rows, cards(), other)
    assert back.memory.opening == live.opening
    assert back.state.rules.money.ante == 500


def test_an_empty_journal_is_a_new_table() -> None:
    opening = opening_of("NSW")
    back = replay([], cards(), opening)
    assert back.state == opening.state()
    assert (back.last_seq, back.lock, back.dealer, back.table_closed) == (0, None, None, False)


# --- beside the state --------------------------------------------------------------------------


class Written:
    """A table_log fed by hand."""

    def __init__(self, game: str = "MEGA") -> None:
        croupier = table(game, {2: "TcTd7h"}, "4s5s")
        self.live = desk(croupier, opening_of(game), {2: base(1000)})
        self.croupier = croupier

    def tell(self, what: f.What, by: f.Source, key: tuple[str, int] | None = None) -> Replayed:
        tell(self.live.table_log, f.Fact(what, by, 1), key)
        return self.live.back()


DEALER = f.Declared("D1", f.Role.DEALER)
SHUFFLER = f.Measured("shuffler")
ACCEPTORS = f.Measured("acceptors")


def test_credits_without_their_drop_are_untaken() -> None:
    desk_ = Written()
    table_log = desk_.live.table_log
    desk_.tell(f.DeckChecked("red", True), f.Declared("S1", f.Role.CASINO_SUPERVISOR))
    desk_.tell(f.DeckShuffled("red"), SHUFFLER)
    desk_.tell(f.DeckCut(), DEALER)
    desk_.tell(f.BetsOpened(), DEALER)
    for spot in ("1", "2", "$"):
        for seat in (2, 3):
            desk_.tell(f.WagerRead(seat, spot, 1000), f.Measured("chips"))
    assert desk_.tell(f.CreditsRead(2, 1), ACCEPTORS).untaken_credits == {2}
    tell(table_log, CreditDropped(2, 1, 1), None)
    assert desk_.tell(f.CreditsRead(3, 1), ACCEPTORS).untaken_credits == {3}
    assert desk_.tell(f.CreditsRead(2, 2), ACCEPTORS).untaken_credits == {2, 3}
    assert desk_.tell(f.CreditsRead(3, 0), ACCEPTORS).untaken_credits == {2}
    assert desk_.live.back().state.credits == {2: 2, 3: 0}


def test_a_sensor_owes_no_drop() -> None:
    desk_ = Written("MBS3")
    desk_.tell(f.DeckShuffled("red"), SHUFFLER)
    desk_.tell(f.DeckCut(), DEALER)
    desk_.tell(f.BetsOpened(), DEALER)
    assert desk_.tell(f.CreditsRead(2, 1), f.Measured("sensors")).untaken_credits == frozenset()


def test_a_reading_of_which_one_fact_is_missing_is_taken_again() -> None:
    desk_ = Written()
    desk_.tell(f.DeckChecked("red", True), f.Declared("S1", f.Role.CASINO_SUPERVISOR))
    desk_.tell(f.DeckShuffled("red"), SHUFFLER, ("shuffler", 7))
    # "shuffle ended" gives two facts with one key: only the first one is on disk.
    assert desk_.tell(f.ShufflerReady(), SHUFFLER, ("shuffler", 8)).last_keys == {"shuffler": 7}
    back = desk_.tell(f.DeckShuffled("red"), SHUFFLER, ("shuffler", 8))
    assert back.last_keys == {"shuffler": 8}
    failed = f.DeckChecked("red", passed=False)
    assert desk_.tell(failed, SHUFFLER, ("shuffler", 9)).last_keys == {"shuffler": 8}
    back = desk_.tell(f.LinkLost(), f.Measured("link"))
    assert back.last_keys == {"shuffler": 9}, "another entry follows: the second was refused"


def test_who_stands_there_and_whether_the_table_is_open() -> None:
    desk_ = Written()
    table_log, live = desk_.live.table_log, desk_.live
    assert live.back().dealer is None
    tell(table_log, SignedOn("D7", f.Role.DEALER, None, 1), None)
    tell(table_log, SignedOn("S2", f.Role.GAMES_SUPERVISOR, None, 1), None)
    assert live.back().dealer == f.Declared("D7", f.Role.DEALER)
    tell(table_log, TableCall("day close", f.Declared("S2", f.Role.GAMES_SUPERVISOR), 1), None)
    assert live.back().table_closed
    table_log.write_snapshot()
    assert live.back().table_closed
    assert live.back().dealer == f.Declared("D7", f.Role.DEALER)
    tell(table_log, TableCall("table open", f.Declared("S2", f.Role.GAMES_SUPERVISOR), 1), None)
    assert not live.back().table_closed


def test_a_lock_out_holds_until_it_is_cleared() -> None:
    desk_ = Written()
    rows = desk_.live.paper.rows
    locked = Row(50, "lock", b"{}")
    assert desk_.live.back([*rows, locked]).lock == locked
    snapshot = Row(51, "standing", rows[0].body)
    assert desk_.live.back([*rows, locked, snapshot]).lock == locked
    assert desk_.live.back([*rows, locked, Row(51, "unlock", b"{}")]).lock is None


def test_selections_of_the_round_under_way_come_back() -> None:
    live = played("MBS3", "shoe")
    rows = live.paper.rows
    at = next(i for i, r in enumerate(rows) if b'"bets closed"' in r.body)
    drawn = Row(400, "selection", b"{}")
    assert live.back([*rows[:at], drawn]).selections == (drawn,)
    opened = next(i for i, r in enumerate(rows) if b'"bets opened"' in r.body)
    assert live.back([*rows[:opened], drawn, *rows[opened:at]]).selections == ()
