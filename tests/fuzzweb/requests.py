"""Requests made from the OpenAPI document, valid and invalid, against the real web process."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.core.failures import FailureGroup

from tests.patience import PATIENCE_S
from tests.web.conftest import Floor

UNDER_WAY: Final = (502, 503, 504)
"""A process behind the web process is gone or answers nonsense: documented, and no fault of ours.
The small servers of this test know few verbs."""
NOT_IN_A_SCHEMA: Final = ("pool: only with the report pool",)
"""Right refusals of requests that the document allows: one parameter depends on another."""
KNOWN: Final = {"table": "mega", "pool": "main"}
STREAM: Final = "events"
"""A stream has no end: its requests are those of tests/web/test_events.py."""


@dataclass
class Outcome:
    cases: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    operations: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)


def fuzzed(floor: Floor, cases: int, number: int) -> Outcome:
    """At least ``cases`` requests, spread over all operations; ``number`` is the seed."""
    base = f"http://{floor.web.netloc}"
    document: dict[str, Any] = floor.web.get("/api/v1/openapi.json").json()
    schema = schemathesis.openapi.from_dict(_with_known_names(document))
    schema.config.update(base_url=base)
    found = Outcome()
    operations = [
        one
        for one in (each.ok() for each in schema.get_all_operations())  # type: ignore[union-attr]
        if one.definition.raw["operationId"] != STREAM
    ]
    while found.cases < cases:  # those without parameters are asked once in a turn
        each = -(-(cases - found.cases) // (2 * len(operations)))
        for operation in operations:
            for mode in (GenerationMode.POSITIVE, GenerationMode.NEGATIVE):
                _operation(operation, mode, each, number, found)
        number += 1
    return found


def _with_known_names(document: dict[str, Any]) -> dict[str, Any]:
    """Names that are there come up as often as names that are not."""
    for path in document["paths"].values():
        for operation in path.values():
            for param in operation.get("parameters", ()):
                if param["name"] in KNOWN:
                    schema = param["schema"]
                    param["schema"] = {"anyOf": [{"const": KNOWN[param["name"]]}, schema]}
    return document


def _operation(
    operation: Any, mode: GenerationMode, each: int, number: int, found: Outcome
) -> None:
    @seed(number)
    @settings(
        max_examples=each,
        database=None,
        deadline=None,
        derandomize=False,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=operation.as_strategy(generation_mode=mode))
    def one(case: Any) -> None:
        response = case.call(timeout=PATIENCE_S)
        found.cases += 1
        found.statuses[response.status_code] += 1
        found.operations[operation.label] += 1
        try:
            case.validate_response(response, excluded_checks=[not_a_server_error])
            assert response.status_code in UNDER_WAY or response.status_code < 500
        except (AssertionError, FailureGroup) as error:
            if any(one in str(error) for one in NOT_IN_A_SCHEMA):
                return
            said = " ".join(str(error).split())[:600]
            found.failures.append(f"{operation.label}: {said}")

    try:
        one()
    except Exception as error:
        if type(error).__name__ not in ("Unsatisfiable", "SkipTest"):
            raise
