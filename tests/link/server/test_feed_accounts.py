"""The feed tells when an account changed, so that what was opened with it can be closed."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from link.server import staff_orders as orders
from record.kit.lines import ask
from tests.link.people import PASSWORD, STAFF, request
from tests.link.server.house import House, Live

NEW = "another river and four cards"


@pytest.fixture
def live(house: House, tmp_path: Path) -> Iterator[Live]:
    made = house.start(beat_ms=60_000, control=tmp_path / "control.sock", lease_ms=10**9)
    yield made
    made.stop()


def asked(live: Live, verb: str, **given: Any) -> Any:
    assert live.control is not None
    return ask(live.control.path, {"verb": verb, **given}, 60)


def told(live: Live) -> dict[str, int]:
    found: dict[str, int] = asked(live, "changes")["parts"]["accounts"][1]
    return found


def test_each_change_of_an_account_is_a_larger_number_for_it_alone(
    live: Live, house: House
) -> None:
    first = told(live)
    assert first == dict.fromkeys(STAFF, 1)  # made together by the first order
    given: list[Any] = [
        orders.SetRole("k.lee", "engineer"),
        orders.DisableAccount("k.lee"),
        orders.EnableAccount("k.lee"),
        orders.read_order(request("reset account", "k.lee", NEW)),
    ]
    numbers = [first["k.lee"]]
    for order in given:
        assert live.order(order, "m.ng", "a.kim").get("ok"), order
        live.until(lambda: told(live)["k.lee"] > numbers[-1])
        numbers.append(told(live)["k.lee"])
    last = numbers[-1]
    assert told(live) == {**first, "k.lee": last}
    assert asked(live, "password", name="k.lee", password=NEW)["change"] == last
    assert asked(live, "password", name="m.ng", password=PASSWORD)["change"] == 1
    live.stop()
    again = house.start(control=live.control.path if live.control else None)
    assert told(again) == {**first, "k.lee": last}


def test_what_leaves_role_and_password_as_they_were_is_no_change(live: Live) -> None:
    first = told(live)
    assert asked(live, "password", name="k.lee", password="wrong")["error"] == "E-ACT-001"
    assert live.order(orders.UnlockAccount("k.lee"), "m.ng", "a.kim")["ok"]
    assert live.order(orders.EnableAccount("k.lee"), "m.ng", "a.kim")["ok"]
    assert asked(live, "password", name="k.lee", password=PASSWORD)["ok"]
    assert told(live) == first
