"""What the two ends of the shell say to each other is read back as it was written."""

from __future__ import annotations

import json
from typing import Any

import pytest

from controller.shell.messages import (
    UNREADABLE,
    At,
    Done,
    Progress,
    Refusal,
    Reply,
    Request,
    reply_of,
)

AT = At("t1", "MBS3", 4, "dealing", True, 0, False)


@pytest.mark.parametrize(
    "request_", [Request(("why",), 1), Request(("watch", "shoe"), 2, 17), Request((), 3)], ids=str
)
def test_a_request_is_read_as_it_was_written(request_: Request) -> None:
    row = json.loads(json.dumps(request_.row()))
    assert row["verb"] == "shell"
    assert Request.read(row) == request_


@pytest.mark.parametrize("words", [None, "why", [1], ["x" * 65], ["a b"], ["w"] * 9])
def test_words_that_cannot_stand_on_record_are_not_repeated(words: Any) -> None:
    assert Request.read({"verb": "shell", "words": words}).words == UNREADABLE


@pytest.mark.parametrize("value", [None, "1", True, 1.5, []])
def test_only_a_number_is_an_id_or_a_cursor(value: Any) -> None:
    read = Request.read({"words": ["why"], "id": value, "cursor": value})
    assert read == Request(("why",))


@pytest.mark.parametrize(
    "reply",
    [
        Done({"sentence": "x"}, AT),
        Refusal("E-SHL-001", "nobody", "do this"),
        Refusal("E-SHL-005", "in a round", "wait", AT),
        Refusal("E-SVC-001", "no request"),
    ],
    ids=str,
)
def test_a_reply_is_read_as_it_was_written(reply: Reply) -> None:
    assert reply_of(json.loads(json.dumps(reply.row()))) == reply


def test_what_a_later_table_says_more_is_left_out() -> None:
    row = Done({}, AT).row()
    row["at"]["mood"] = "good"
    assert reply_of(row) == Done({}, AT)


def test_a_test_tells_its_name_once_begun_and_its_certificate_once_written() -> None:
    assert set(Progress().row()) == {"steps", "cursor", "done", "passed", "question"}
    under_way = Progress([{"step": 1}], 1, done=False, question="is it lit?", test="lamp walk")
    assert set(under_way.row()) == {*Progress().row(), "test"}
    assert Progress.read(json.loads(json.dumps(under_way.row()))) == under_way
    over = Progress([], 2, passed=True, test="lamp walk", certificate={"passed": True})
    assert over.row()["certificate"] == {"passed": True}
