"""A stranger's table and the real server, message by message, as docs/protocols/link.md has it."""

from __future__ import annotations

import json

import pytest

from tests.link.server.house import House, pool
from tests.link.stranger import Stranger


def refused(stranger: Stranger, code: str) -> dict[str, object]:
    return stranger.until(lambda m: m["t"] == "refused" and m["code"] == code)


def test_hello_is_answered_with_watermark_interval_and_meters(house: House) -> None:
    live = house.start(beat_ms=750)
    assert house.stranger("table-1", live).join() == {
        "t": "welcome",
        "version": 3,
        "server": "link-1",
        "epoch": 2,
        "n": 0,
        "beat_ms": 750,
        "meters": [{"pool": "main", "level": "grand", "cents": 100_000, "generation": 1}],
    }


def test_an_event_is_acknowledged_with_the_meter_that_it_made(house: House) -> None:
    """1 % of 500 cents are 5; of 100 cents 1."""
    live = house.start()
    table = house.stranger("table-1", live)
    table.join()
    table.wager(1, 500)
    table.deliver()
    assert table.heard[-1] == {
        "t": "ack",
        "n": 1,
        "meters": [{"pool": "main", "level": "grand", "cents": 100_005, "generation": 1}],
        "receipt": table.receipt,
    }
    table.wager(2, 100)
    table.deliver()
    assert table.meters["main", "grand"]["cents"] == 100_006
    assert live.meter() == 100_006


def test_a_repeat_is_acknowledged_and_not_counted_again(house: House) -> None:
    live = house.start()
    table = house.stranger("table-1", live)
    table.join()
    event = table.wager(1, 500)
    table.deliver()
    for _ in range(3):
        table.send(event)
        assert table.until(lambda m: m["t"] == "ack")["n"] == 1
    assert live.meter() == 100_005


def test_a_gap_is_refused_with_what_is_expected(house: House) -> None:
    live = house.start()
    table = house.stranger("table-1", live)
    table.join()
    for number in (1, 2, 3):
        table.wager(number, 500)
    table.send(table.events[2])
    answer = refused(table, "E-LNK-014")
    assert (answer["n"], answer["expected"], answer.get("halted")) == (3, 1, None)
    assert live.meter() == 100_000
    table.deliver()
    assert live.meter() == 100_015


def test_a_checkpoint_is_noted_once_it_is_durable(house: House) -> None:
    live = house.start()
    table = house.stranger("table-1", live)
    table.join()
    table.wager(1, 500)
    table.deliver()
    table.send({"t": "checkpoint", "seq": 77, "hash": "ab" * 32, "at_ms": 1})
    assert table.until(lambda m: m["t"] == "noted") == {
        "t": "noted",
        "seq": 77,
        "receipt": table.receipt,
    }
    (journal,) = live.ask("journals")["journals"]
    assert (journal["head_seq"], journal["head_hash"]) == (77, "ab" * 32)


def test_a_beat_comes_back_and_brings_the_meters_that_others_moved(house: House) -> None:
    live = house.start()
    idle, busy = house.stranger("table-1", live), house.stranger("table-2", live)
    idle.join()
    busy.join()
    assert "meters" not in idle.beat()  # nothing new since the welcome
    busy.wager(1, 500)
    busy.deliver()
    assert idle.beat()["meters"][0]["cents"] == 100_005
    assert "meters" not in idle.beat()


def test_bye_is_answered_and_ends_the_session(house: House) -> None:
    live = house.start()
    table = house.stranger("table-1", live)
    table.join()
    table.bye()
    assert live.ask("tables")["tables"] == []
    table.send({"t": "beat", "at_ms": 1})
    refused(table, "E-LNK-011")


@pytest.mark.parametrize(
    "message",
    [
        {"t": "beat", "at_ms": 1},
        {"t": "checkpoint", "seq": 1, "hash": "ab" * 32, "at_ms": 1},
        {"t": "bye"},
    ],
    ids=lambda m: str(m["t"]),
)
def test_before_hello_everything_is_refused(house: House, message: dict[str, object]) -> None:
    live = house.start()
    table = house.stranger("table-1", live)
    table.connect()
    table.until(lambda m: m.get("code") == "E-LNK-011", again=message)


def test_an_event_before_hello_is_refused_by_its_number(house: House) -> None:
    live = house.start()
    table = house.stranger("table-1", live)
    table.connect()
    event = table.wager(1, 500)
    answer = table.until(lambda m: m["t"] == "refused", again=event)
    assert (answer["code"], answer["n"]) == ("E-LNK-011", 1)
    assert live.meter() == 100_000


# --- versions -----------------------------------------------------------------------------------


def test_a_table_one_version_behind_is_served_without_what_it_does_not_know(house: House) -> None:
    live = house.start()
    old = house.stranger("table-1", live, versions=(1,))
    new = house.stranger("table-2", live)
    assert old.join()["version"] == 1
    new.join()
    new.wager(1, 500)
    new.write({"what": "claimed", "round": 1, "claims": [[1, "royal flush", 100]]})
    new.deliver()
    pending = {"pool": "main", "level": "grand", "cents": 100_000, "generation": 2, "pending": 1}
    assert new.meters["main", "grand"] == pending
    del pending["pending"]
    assert old.beat()["meters"] == [pending]


def test_a_table_that_is_too_new_is_told_which_versions_there_are(house: House) -> None:
    live = house.start()
    table = house.stranger("table-1", live, versions=(7, 8))
    answer = table.join()
    assert answer["code"] == "E-LNK-010"
    assert "1 to 4" in answer["text"]
    for _ in range(4):  # not a frame that counts as broken
        table.send(b'{"t":"hello","versions":[7],"of":"another shape"}')
        refused(table, "E-LNK-010")
    assert live.counts().get("muted") is None


def test_the_best_common_version_is_spoken(house: House) -> None:
    live = house.start()
    assert house.stranger("table-1", live, versions=(9, 1, 2)).join()["version"] == 2


# --- connections --------------------------------------------------------------------------------


def test_the_latest_connection_of_a_table_counts_and_the_old_one_is_told(house: House) -> None:
    live = house.start()
    first = house.stranger("table-1", live, journal="ab" * 16)
    second = house.stranger("table-1", live, journal="ab" * 16)
    first.join()
    second.join()
    assert "another connection" in first.until(lambda m: m["t"] == "bye")["why"]
    first.send({"t": "beat", "at_ms": 1})
    refused(first, "E-LNK-011")
    second.beat()
    assert len(live.ask("tables")["tables"]) == 1


def test_a_silent_table_is_not_connected_any_more(house: House) -> None:
    live = house.start(beat_ms=100)
    table = house.stranger("table-1", live)
    table.join()
    live.until(lambda: live.ask("tables")["tables"] == [])
    assert live.counts()["silent"] == 1
    table.send({"t": "beat", "at_ms": 1})
    refused(table, "E-LNK-011")
    table.wager(1, 500)
    table.deliver()
    assert live.meter() == 100_005


def test_one_ack_answers_a_whole_group(house: House) -> None:
    """Sent without waiting: the server takes what waits, and acknowledges the last of it."""
    live = house.start()
    table = house.stranger("table-1", live)
    table.join()
    for number in range(1, 201):
        table.wager(number, 100)
    before = live.counts()["groups"]
    for event in table.events:
        table.send(event)
    table.until(lambda _: table.acked == 200)
    acks = [m for m in table.heard if m["t"] == "ack"]
    assert [m["n"] for m in acks] == sorted({m["n"] for m in acks})
    assert live.counts()["groups"] - before < 200
    assert live.meter() == 100_200


def test_a_restart_goes_on_where_the_store_ends(house: House) -> None:
    live = house.start()
    table = house.stranger("table-1", live)
    table.immediate = 0  # with 1, what is unread when the connection ends is lost
    table.join()
    for number in (1, 2):
        table.wager(number, 500)
    table.deliver()
    live.stop()
    assert table.until(lambda m: m["t"] == "bye")["why"] == "the server stops"
    again = house.start()
    table.endpoint = again.endpoint
    welcome = table.join()
    assert (welcome["n"], welcome["epoch"]) == (2, 3)
    assert welcome["meters"][0]["cents"] == 100_010
    again.stop()
    store = house.store()
    assert store.check().journals == 1
    store.close()


def test_a_claim_is_locked_in_the_same_group_and_told_after_its_ack(house: House) -> None:
    live = house.start()
    table = house.stranger("table-1", live)
    table.join()
    table.wager(1, 500)
    table.write({"what": "claimed", "round": 1, "claims": [[1, "royal flush", 100]]})
    table.deliver()
    locked = table.until(lambda m: m["t"] == "locked")
    assert (locked["round"], locked["jackpot_cents"], locked["reset_cents"]) == (
        1,
        100_005,
        100_000,
    )
    ((seat, award, cents),) = locked["awards"]
    assert (seat, cents) == (1, 100_005)
    # Lost with the connection, told again with the next hello.
    table.join()
    assert table.until(lambda m: m["t"] == "locked")["awards"] == [[seat, award, cents]]


def test_games_and_tables_that_the_pool_does_not_know(house: House) -> None:
    live = house.start(pools=(pool("table-1"),))
    other = house.stranger("table-1", live, game="RICO")
    assert other.join()["code"] == "E-POOL-031"
    alone = house.stranger("table-2", live)
    assert alone.join()["meters"] == []


def test_every_answer_is_a_message_of_the_page(house: House) -> None:
    """What the stranger heard, read by the strict decoder."""
    from record.link.codec import from_server

    live = house.start()
    table = house.stranger("table-1", live)
    table.join()
    table.wager(1, 500)
    table.deliver()
    table.beat()
    table.bye()
    for message in table.heard:
        from_server(json.dumps(message).encode())
