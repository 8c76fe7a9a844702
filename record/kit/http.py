"""Answers over HTTP/1.1: GET, a text, the connection closed.

The table serves them in its asyncio loop, the link server in threads; the bytes are the same.
"""

from __future__ import annotations

from http import HTTPStatus
from typing import Final, NamedTuple

PLAIN: Final = "text/plain; charset=utf-8"
PROMETHEUS: Final = "text/plain; version=0.0.4; charset=utf-8"


class Answer(NamedTuple):
    status: HTTPStatus
    body: str
    kind: str = PLAIN


def plain(status: HTTPStatus) -> Answer:
    return Answer(status, f"{status.phrase}\n")


def encoded(answer: Answer) -> bytes:
    body = answer.body.encode()
    allow = "Allow: GET\r\n" if answer.status is HTTPStatus.METHOD_NOT_ALLOWED else ""
    head = (
        f"HTTP/1.1 {answer.status.value} {answer.status.phrase}\r\n"
        f"Content-Type: {answer.kind}\r\nContent-Length: {len(body)}\r\n{allow}"
        "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\nConnection: close\r\n\r\n"
    )
    return head.encode("ascii") + body
