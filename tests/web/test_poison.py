"""Answers that nobody should give: the source that gives them is asked again, and comes back."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from random import Random
from typing import Any

import msgspec
import pytest

from record.kit.feed import Feed
from record.kit.lines import line_of
from tests.fuzz import mutate
from tests.patience import PATIENCE_S
from web.asking import Control, Hands
from web.problems import Problem
from web.sources import Broken, Source, Upstream, address_in, read_changes

GOOD = line_of({**Feed("good").since("", 0), "parts": {"status": [1, "back"]}, "n": 1})
DEEP = b"[" * 100_000 + b"]" * 100_000


def answer(**more: bytes) -> bytes:
    """A changes answer with these fields as they stand."""
    fields = {"feed": b'"f"', "n": b"3", "reloaded": b"true", "parts": b"{}", "log": b"[]", **more}
    return b"{" + b", ".join(b'"%s": %s' % (k.encode(), v) for k, v in fields.items()) + b"}\n"


POISON = {
    "nothing": b"\n",
    "no JSON": b"{",
    "not UTF-8": answer(feed=b'"\xff\xfe"'),
    "a part not UTF-8": answer(parts=b'{"status": [1, "\xff"]}'),
    "a name not UTF-8": answer(parts=b'{"\xff": [1, 2]}'),
    "a log not UTF-8": answer(log=b'[{"n": 1, "said": "\xc3\x28"}]'),
    "a refusal not UTF-8": b'{"error": "E-SVC-003", "text": "\xff"}\n',
    "deep": DEEP + b"\n",
    "a deep part": answer(parts=b'{"status": [1, ' + DEEP + b"]}"),
    "a deep log": answer(log=b'[{"n": 1, "said": ' + DEEP + b"}]"),
    "NaN": answer(parts=b'{"status": [1, NaN]}'),
    "Infinity in the log": answer(log=b'[{"n": 1, "said": Infinity}]'),
    "a huge number": answer(n=b"9" * 30),
    "thousands of digits": answer(n=b"9" * 10_000),
    "a huge number in a part": answer(parts=b'{"status": [%s, 1]}' % (b"9" * 30)),
    "a negative number": answer(n=b"-1"),
    "a number as text": answer(n=b'"3"'),
    "no feed": answer(feed=b'""'),
    "a list": b"[]\n",
    "parts as a list": answer(parts=b"[]"),
    "a part of three": answer(parts=b'{"status": [1, 2, 3]}'),
    "a log of texts": answer(log=b'["a"]'),
    "a log entry without number": answer(log=b'[{"said": "a"}]'),
    "log entries out of order": answer(log=b'[{"n": 2}, {"n": 1}]'),
    "a log entry of the future": answer(log=b'[{"n": 4}]'),
    "a log entry with true": answer(log=b'[{"n": true}]'),
}


class Said(Upstream):
    """Gives these answers, one after the other; then it waits."""

    def __init__(self, answers: list[bytes | Exception]) -> None:
        self.answers = answers

    async def changes(self, _request: Mapping[str, Any]) -> bytes:
        if not self.answers:
            await asyncio.Event().wait()
        found = self.answers.pop(0)
        if isinstance(found, Exception):
            raise found
        return found

    async def close(self) -> None:
        pass


def followed(
    answers: list[bytes | Exception], changed: Callable[[Source], None] = lambda _source: None
) -> Source:
    """A source after these answers and a good one."""
    said = Said([*answers, GOOD])
    source = Source("table:mega", lambda: said, changed)

    async def follow() -> None:
        task = asyncio.create_task(source.run())
        async with asyncio.timeout(PATIENCE_S):
            while not (said.answers == [] and source.error == "") and not task.done():
                await asyncio.sleep(0.001)
        assert not task.done(), task
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)

    asyncio.run(follow())
    return source


@pytest.mark.parametrize("poison", POISON.values(), ids=POISON)
def test_a_source_comes_back_after_a_bad_answer(poison: bytes) -> None:
    with pytest.raises(Broken):
        read_changes(poison)
    assert followed([poison]).part("status") == "back"


def test_an_answer_with_anything_wrong_is_changes_or_broken() -> None:
    rng = Random(7)
    whole = answer(
        parts=b'{"status": [2, {"phase": "idle"}], "felt": [3, {"rows": [1, "a", null]}]}',
        log=b'[{"n": 1, "said": "one"}, {"n": 2, "said": "two"}]',
        dropped=b"0",
    )
    mutators = [*mutate.GUARDED.values(), *mutate.OTHERS.values()]
    outcomes = Counter[bool]()
    for _ in range(3_000):
        poison = rng.choice(mutators)(rng, whole, GOOD)
        try:
            changes = read_changes(poison)
        except Broken:
            outcomes[False] += 1
        else:
            outcomes[True] += 1
            json.loads(msgspec.json.encode(changes))
    assert outcomes[True] > 10
    assert outcomes[False] > 1_000


@pytest.mark.parametrize("fault", [RuntimeError("x"), ValueError("x"), KeyError("x")], ids=repr)
def test_a_fault_of_ours_ends_no_source(
    fault: Exception, capfd: pytest.CaptureFixture[str]
) -> None:
    assert followed([fault]).part("status") == "back"
    said = capfd.readouterr().err
    assert f"table:mega: {type(fault).__name__} in run line" in said
    assert "(E-WEB-012)" in said


def test_what_fails_after_an_answer_is_asked_for_again() -> None:
    """The reader of changes failed once: the next answer has everything."""
    failures = [RuntimeError("a stream")]

    def changed(_source: Source) -> None:
        if failures:
            raise failures.pop()

    assert followed([answer(parts=b'{"status": [1, "seen"]}')], changed).part("status") == "back"


@pytest.mark.parametrize(
    "address",
    [
        "http://[::1",
        "http://127.0.0.1:99999",
        "http://127.0.0.1:0",
        "http://127.0.0.1:",
        "http://127.0.0.1:٣",
        "http://127.0.0.1:8x",
        "http://a@127.0.0.1:80",
        "http://127.0.0.1:80/path",
        "https://127.0.0.1:80",
        "",
        "\x00",
    ],
)
def test_an_address_that_cannot_be_used(tmp_path: Path, address: str) -> None:
    file = tmp_path / "control"
    file.write_text(address, "utf-8")
    with pytest.raises(Broken):
        address_in(file)
    with pytest.raises(Problem) as caught:
        asyncio.run(Hands(file).ask("POST", "/do", {"do": "press OPEN"}))
    assert (caught.value.status, caught.value.code) == (503, "E-WEB-020")
    file.write_text("http://127.0.0.1:8080\n")
    assert address_in(file) == "127.0.0.1:8080"


@pytest.mark.parametrize("poison", [b"\xff\n", b'"\xff"\n', b"[]\n", b"", DEEP + b"\n"])
def test_the_control_socket_answers_nonsense(tmp_path: Path, poison: bytes) -> None:
    path = tmp_path / "control.sock"

    async def talk(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readline()
        writer.write(poison)
        writer.close()

    async def ask() -> None:
        async with await asyncio.start_unix_server(talk, path):
            await Control(path).ask({"verb": "rows"}, "k.lee")

    with pytest.raises(Problem) as caught:
        asyncio.run(ask())
    assert (caught.value.status, caught.value.code) == (503, "E-WEB-020")
