"""``underfelt settle`` as a process: exit codes, streams, ``--lines``, and every bad record."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from controller.commands.settle import settle_text
from controller.rules.errors import RecordError

from .bad_records import BAD, GONE, NOT_RECORDS, NSW, RICO, changed, with_event
from .running import COMMAND, run

GOOD = json.dumps(NSW).encode()
NET = 1000


def test_a_file_prints_one_result(tmp_path: Path) -> None:
    (tmp_path / "round.json").write_bytes(GOOD)
    done = run("settle", str(tmp_path / "round.json"))
    assert (done.code, done.err) == (0, "")
    assert done.out.count("\n") == 1
    assert json.loads(done.out)["seats"][0]["net"] == NET


def test_a_dash_is_standard_input() -> None:
    done = run("settle", "-", stdin=GOOD)
    assert (done.code, json.loads(done.out)["house_net"]) == (0, -NET)


def test_json_may_be_asked_for_and_changes_nothing() -> None:
    assert run("settle", "--json", "-", stdin=GOOD) == run("settle", "-", stdin=GOOD)
    seat = b'{"game":"NSW","wagers":{"1":500,"2":500,"$":500}}'
    asked = run("check-wagers", "--json", "-", stdin=seat)
    assert asked == run("check-wagers", "-", stdin=seat)
    assert asked.code == 0


def test_a_record_over_many_lines_is_one_record() -> None:
    done = run("settle", "-", stdin=json.dumps(NSW, indent=2).encode())
    assert (done.code, json.loads(done.out)["house_net"]) == (0, -NET)


@pytest.mark.parametrize(
    "arguments", [[], ["a", "b"], ["--line", "-", "x"], ["--nonsense", "-"], ["--lines"]]
)
def test_usage_errors_exit_64(arguments: list[str]) -> None:
    done = run("settle", *arguments)
    assert (done.code, done.out) == (64, "")
    assert "usage" in done.err


def test_an_unknown_command_exits_64() -> None:
    assert run("settel", "-").code == 64


@pytest.mark.parametrize("lines", [[], ["--lines"]])
@pytest.mark.parametrize("name", ["missing.json", ".", "locked/inside.json"])
def test_an_unreadable_file_exits_66(tmp_path: Path, lines: list[str], name: str) -> None:
    (tmp_path / "locked").write_text("a file, not a folder")
    done = run("settle", *lines, str(tmp_path / name))
    assert (done.code, done.out) == (66, "")
    assert name.rstrip(".") in done.err


@pytest.mark.parametrize("lines", [[], ["--lines"]])
def test_a_file_that_fails_while_read_exits_66(lines: list[str]) -> None:
    if not Path("/proc/self/mem").exists():
        pytest.fail("this test needs Linux: run it there")
    assert run("settle", *lines, "/proc/self/mem").code == 66


def test_a_closed_standard_input_exits_66() -> None:
    script = 'exec "$@" <&-'
    done = subprocess.run(
        ["sh", "-c", script, "sh", *COMMAND, "settle", "-"], capture_output=True, check=False
    )
    assert b"Traceback" not in done.stderr
    assert done.returncode == 66


def test_a_reader_that_leaves_early_gets_no_traceback(tmp_path: Path) -> None:
    (tmp_path / "night.jsonl").write_bytes((GOOD + b"\n") * 20_000)
    script = '{ "$@"; } | head -n 1'
    done = subprocess.run(
        ["sh", "-c", script, "sh", *COMMAND, "settle", "--lines", str(tmp_path / "night.jsonl")],
        capture_output=True,
        check=False,
    )
    assert done.stdout.count(b"\n") == 1
    assert b"Traceback" not in done.stderr


def test_a_full_disk_gets_no_traceback() -> None:
    if not Path("/dev/full").exists():
        pytest.fail("this test needs Linux: run it there")
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*COMMAND, "settle", "-"], input=GOOD, stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode != 0
    assert b"Traceback" not in done.stderr


@pytest.mark.parametrize("lines", [[], ["--lines"]])
def test_a_closed_standard_output_gets_no_traceback(lines: list[str]) -> None:
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *COMMAND, "settle", *lines, "-"],
        input=GOOD,
        stderr=subprocess.PIPE,
        check=False,
    )
    assert done.returncode != 0
    assert b"Traceback" not in done.stderr


def test_a_malformed_record_exits_65_with_nothing_on_stdout() -> None:
    record = changed(NSW, "round.seats[0].wagers.1", 500.0)
    done = run("settle", "-", stdin=json.dumps(record).encode())
    assert (done.code, done.out) == (65, "")
    assert "round.seats[0].wagers.1" in done.err


@pytest.mark.parametrize("name", NOT_RECORDS)
def test_what_is_no_record_exits_65(name: str) -> None:
    done = run("settle", "-", stdin=NOT_RECORDS[name])
    assert (done.code, done.out) == (65, "")
    assert done.err.startswith("underfelt")


@pytest.mark.parametrize("name", BAD)
def test_every_malformed_record_names_its_path(name: str) -> None:
    record, path = BAD[name]
    with pytest.raises(RecordError) as caught:
        settle_text(json.dumps(record).encode())
    assert path in str(caught.value)
    assert caught.value.path in str(caught.value)


def test_the_records_that_were_spoiled_are_good() -> None:
    """Or the errors above would prove nothing."""
    assert settle_text(json.dumps(NSW).encode())["house_net"] == -NET
    assert settle_text(json.dumps(RICO).encode())["house_net"] == -500


def test_lines_answers_in_order_around_the_bad_ones() -> None:
    bad = [json.dumps(record).encode() for record, _ in BAD.values()]
    lines = [GOOD]
    for line in bad:
        lines += [line, GOOD]
    done = run("settle", "--lines", "-", stdin=b"\n".join(lines) + b"\n")
    answers = [json.loads(line) for line in done.out.splitlines()]
    assert done.code == 65
    assert len(answers) == len(lines)
    for place, (answer, line) in enumerate(zip(answers, lines, strict=True)):
        if line is GOOD:
            assert answer["house_net"] == -NET, place
        else:
            assert isinstance(answer["error"], str), place
            assert "seats" not in answer, place


def test_lines_answers_around_lines_that_are_no_records() -> None:
    lines: list[bytes] = []
    for line in NOT_RECORDS.values():
        lines += [GOOD, line]
    lines.append(GOOD)
    done = run("settle", "--lines", "-", stdin=b"\n".join(lines))
    answers = [json.loads(line) for line in done.out.splitlines()]
    assert done.code == 65
    assert ["error" in answer for answer in answers] == [line is not GOOD for line in lines]


@pytest.mark.parametrize(
    ("text", "answers"),
    [
        (b"", 0),
        (GOOD, 1),
        (GOOD + b"\n", 1),
        (GOOD + b"\n" + GOOD, 2),
        (GOOD + b"\r\n" + GOOD + b"\r\n", 2),
    ],
)
def test_lines_of_good_records_exit_0(text: bytes, answers: int) -> None:
    done = run("settle", "--lines", "-", stdin=text)
    assert (done.code, done.out.count("\n"), done.err) == (0, answers, "")


def test_a_blank_line_is_a_bad_line() -> None:
    done = run("settle", "--lines", "-", stdin=GOOD + b"\n\n" + GOOD + b"\n")
    answers = [json.loads(line) for line in done.out.splitlines()]
    assert done.code == 65
    assert ["error" in answer for answer in answers] == [False, True, False]


def net_of(record: Any) -> Any:
    return settle_text(json.dumps(record).encode())["seats"][0]["net"]


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("settings", GONE),
        ("settings", None),
        ("settings", {"jackpot": 5, "orphan_pot": "house", "magic_card": None}),
        ("round.events", GONE),
        ("round.events", None),
        ("round.seats[0].decisions.1", None),
        ("round.seats[0].decisions.1", GONE),
        ("round.events", [{"type": "foreign_card", "after_round_concluded": True}]),
        ("round.events", [{"type": "deck_count", "count": 52, "after_round_concluded": None}]),
        ("round.events", [{"type": "hand_dealt_no_wager", "seat": 6, "players_handled": True}]),
        ("round.events", [{"type": "over_max_previous_round", "seat": 6}]),
        ("round.events", [{"type": "cards_shown", "seat": 6}]),
        ("round.events", [{"type": "late_wager", "seat": 1, "spot": "2", "amount": 0}]),
    ],
)
def test_what_the_contract_accepts(path: str, value: object) -> None:
    assert net_of(changed(NSW, path, value)) == NET


@pytest.mark.parametrize("decisions", [None, {}, GONE])
def test_missing_decisions_ride(decisions: object) -> None:
    assert net_of(changed(NSW, "round.seats[0].decisions", decisions)) == 1500


def test_an_empty_spot_may_be_nought_null_or_missing() -> None:
    for value in (0, None, GONE):
        record = changed(changed(NSW, "game", "PP6"), "round.bonus_card", "Kh")
        assert net_of(changed(record, "round.seats[0].wagers.2", value)) == 1000


@pytest.mark.parametrize("game", ["MBS3", "MEGA", "NSW", "PP6"])
def test_an_empty_list_of_seats(game: str) -> None:
    record = changed(changed(NSW, "round.seats", []), "game", game)
    result = settle_text(json.dumps(record).encode())
    assert (result["round_status"], result["seats"], result["house_net"]) == ("settled", [], 0)


@pytest.mark.parametrize(
    ("event", "accepted"),
    [
        ({"type": "foreign_card"}, True),
        ({"type": "deck_count", "count": 51}, True),
        ({"type": "deck_count", "count": 52}, False),
        ({"type": "game_invalidated"}, False),
    ],
)
def test_a_card_twice_is_evidence_where_the_deck_is_in_doubt(event: Any, accepted: bool) -> None:
    record = changed(with_event(**{"name": event.pop("type"), **event}), "round.community[0]", "Ac")
    if accepted:
        assert net_of(record) == 0
    else:
        with pytest.raises(RecordError, match="Ac"):
            net_of(record)


@pytest.mark.parametrize("game", ["MBS3", "NSW"])
@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("round.seats[0].cards", None),
        ("round.seats[0].cards", GONE),
        ("round.seats[0].cards", ["Ac", None, None]),
        ("round.community", None),
        ("round.community", GONE),
        ("round.community", ["Js", None]),
        ("round.community", [None, None]),
    ],
)
def test_cards_that_never_became_public_in_a_broken_off_round(
    game: str, path: str, value: object
) -> None:
    void = changed(with_event("foreign_card"), "game", game)
    asks = changed(with_event("dealt_incorrectly", players_handled=True), "game", game)
    assert net_of(changed(void, path, value)) == 0
    assert net_of(changed(asks, path, value)) is None
    with pytest.raises(RecordError):
        net_of(changed(changed(NSW, "game", game), path, value))
