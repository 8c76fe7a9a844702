"""The service socket reads strictly: no poison reaches a verb, and the next request is answered."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from controller.daemon.service import LONGEST, Peer, Service

DEEP = b"[" * 20_000 + b"]" * 20_000
POISON = {
    "NaN": b'{"verb":"shell","id":NaN}',
    "infinity": b'{"verb":"status","id":-Infinity}',
    "a float": b'{"verb":"status","id":1.0}',
    "an exponent": b'{"verb":"shell","id":1e3}',
    "a float below": b'{"verb":"shell","words":[["x",{"y":0.5}]]}',
    "a float by a name with control characters": b'{"verb":"shell","\\u001b[2J":1.5}',
    "a name twice": b'{"verb":"status","verb":"shell"}',
    "a name twice below": b'{"verb":"shell","words":[{"a":1,"a":2}]}',
    "nested deeply": b'{"verb":"shell","words":' + DEEP + b"}",
    "nested a little deeply": b'{"verb":"shell","words":' + b"[" * 40 + b"]" * 40 + b"}",
    "no UTF-8": b'{"verb":"status","id":"\xff\xfe"}',
    "a huge number": b'{"verb":"shell","id":9223372036854775808}',
    "a number of 5,000 digits": b'{"verb":"shell","id":' + b"9" * 5_000 + b"}",
    "no JSON": b"status",
    "an end too early": b'{"verb":"status"',
    "two at once": b'{"verb":"status"}{"verb":"status"}',
}
NO_VERB = {
    "a list": b'["status"]',
    "a text": b'"status"',
    "null": b"null",
    "no verb": b"{}",
    "a list as verb": b'{"verb":["status"]}',
    "a verb with control characters": b'{"verb":"\\u001b[2J\\ud800"}',
}


@pytest.mark.parametrize(
    ("line", "code"),
    [
        *(pytest.param(line, "E-SVC-001", id=name) for name, line in POISON.items()),
        *(pytest.param(line, "E-SVC-002", id=name) for name, line in NO_VERB.items()),
    ],
)
def test_poison_is_refused_and_the_next_request_answered(
    line: bytes, code: str, tmp_path: Path
) -> None:
    reached: list[Mapping[str, Any]] = []

    def status(request: Mapping[str, Any]) -> Mapping[str, Any]:
        reached.append(request)
        return {"well": True}

    async def shell(request: Mapping[str, Any], _peer: Peer) -> Mapping[str, Any]:
        return status(request)

    async def ask(path: Path) -> tuple[dict[str, Any], dict[str, Any]]:
        service = Service(path, {"status": status}, {"shell": shell})
        await service.start()
        reader, writer = await asyncio.open_unix_connection(path)
        writer.write(line + b"\n")
        first = json.loads(await reader.readline())
        assert reached == []
        writer.write(b'{"verb":"status"}\n')
        second = json.loads(await reader.readline())
        writer.close()
        await service.close()
        return first, second

    assert len(line) < LONGEST
    first, second = asyncio.run(ask(tmp_path / "s.sock"))
    assert (first["error"], second) == (code, {"well": True})
    assert first["text"].isprintable()
    assert len(first["text"]) < 500
