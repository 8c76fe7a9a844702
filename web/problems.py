"""Errors as the browser gets them: problem+json (RFC 9457) with a stable code."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Final

import msgspec
from starlette.responses import Response

KIND: Final = "application/problem+json"

NOT_HERE: Final = "E-WEB-001"
NOT_JSON: Final = "E-WEB-002"
WRONG_SHAPE: Final = "E-WEB-003"
WRONG_HOST: Final = "E-WEB-004"
OTHER_SITE: Final = "E-WEB-005"
WRONG_KIND: Final = "E-WEB-006"
TOO_LARGE: Final = "E-WEB-007"
TOO_SLOW: Final = "E-WEB-008"
WRONG_METHOD: Final = "E-WEB-009"
NO_SESSION: Final = "E-WEB-010"
BUSY: Final = "E-WEB-011"
OURS: Final = "E-WEB-012"
NO_SUCH_TABLE: Final = "E-WEB-014"
TICKET_REFUSED: Final = "E-WEB-015"
CHALLENGE_REFUSED: Final = "E-WEB-016"
NO_SOURCE: Final = "E-WEB-020"
COMMAND_FAILED: Final = "E-WEB-021"
COMMAND_SLOW: Final = "E-WEB-022"


_RFC_9110: Final = {
    413: "Content Too Large",
    414: "URI Too Long",
    416: "Range Not Satisfiable",
    422: "Unprocessable Content",
}
"""Python says these from 3.13 on, and the words of earlier RFCs before."""


def title(status: int) -> str:
    return _RFC_9110.get(status) or HTTPStatus(status).phrase


class ProblemDetails(msgspec.Struct, frozen=True):
    """An error. ``code`` is stable; docs/protocols/faults.md lists what to do about it."""

    type: str
    title: str
    status: int
    detail: str
    code: str


class Problem(Exception):
    def __init__(
        self, status: int, code: str, detail: str, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(detail)
        self.status, self.code, self.detail = status, code, detail
        self.headers = dict(headers or {})

    def response(self) -> Response:
        body = ProblemDetails(
            type=f"urn:underfelt:{self.code}",
            title=title(self.status),
            status=self.status,
            detail=self.detail,
            code=self.code,
        )
        return Response(msgspec.json.encode(body), self.status, self.headers, KIND)


_BY_CODE: Final = {
    "E-ACT-001": 403,
    "E-ACT-007": 422,
    "E-ACT-008": 403,
    "E-ACT-009": 403,
    "E-ACT-010": 429,
    "E-ACT-013": 403,
    "E-POOL-021": 404,
    "E-POOL-023": 403,
    "E-POOL-024": 403,
    "E-LNK-020": 503,
    "E-SVC-001": 422,
    "E-SVC-003": 503,
    "E-SVC-006": 503,
    "E-SVC-007": 403,
    "E-SVC-008": 502,
}
"""Refusals of the control socket; any other is a conflict with the state of things."""


def refused(answer: Mapping[str, object]) -> Problem:
    """What another process of ours refused, with its own code and words."""
    code = str(answer.get("error", ""))[:40]
    return Problem(_BY_CODE.get(code, 409), code, str(answer.get("text", ""))[:2_000])
