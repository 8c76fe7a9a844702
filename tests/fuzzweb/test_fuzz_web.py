"""A seeded share of what ``make fuzz-web`` does."""

from __future__ import annotations

from tests.fuzzweb.requests import fuzzed
from tests.web.conftest import Floor, floor

__all__ = ("floor",)
CASES = 150


def test_requests_made_from_the_document_find_nothing(floor: Floor) -> None:
    found = fuzzed(floor, CASES, 1)
    assert not found.failures
    assert found.cases >= CASES
    assert {200, 400, 403, 404, 422} <= set(found.statuses)
    assert not floor.link.orders, "a made-up request became an order"
    assert floor.web.process.poll() is None
