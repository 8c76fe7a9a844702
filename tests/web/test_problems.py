"""The words of a problem are the same with every Python, the document's patterns the router's."""

from __future__ import annotations

import json
import re

import pytest

from web.api import Api
from web.config import NOTHING
from web.problems import TOO_LARGE, Problem
from web.routes import operations
from web.runner import Runner
from web.sessions import Sessions
from web.streams import Streams

OPERATIONS = operations(Api(NOTHING, {}, Streams(1), Sessions(), Runner()))


@pytest.mark.parametrize(
    ("status", "title"),
    [(404, "Not Found"), (413, "Content Too Large"), (422, "Unprocessable Content")],
)
def test_a_title_is_the_phrase_of_the_current_rfc(status: int, title: str) -> None:
    row = json.loads(bytes(Problem(status, TOO_LARGE, "why").response().body))
    assert (row["status"], row["title"]) == (status, title)


def test_patterns_of_the_document_are_those_of_the_router() -> None:
    params = [p for one in OPERATIONS for p in (*one.path_params, *one.query) if p.pattern]
    assert {p.name for p in params} >= {"round", "table", "from", "feeds"}
    texts = [
        "", "a", "last", "1", "17", "0", "lastfoo", "foolast", "xlast", "last1", "1last", "2x",
        "2026-03-10", "2026-03-10x", "x2026-03-10", "E-TBL-003", "E-TBL-0033", "MBS3-1.1", "main.1",
        "a b", "a,b", "link,table:mega", "link=ab.1;sign:x=c.2", "é", "a" * 65, "1" * 17,
    ]  # fmt: skip
    for param in params:
        pattern = param.schema()["pattern"]
        assert pattern.startswith("^(?:"), pattern
        assert pattern.endswith(")$"), pattern
        for text in texts:
            assert (re.search(pattern, text) is not None) == param.allows(text), (param, text)
