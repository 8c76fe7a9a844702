"""An order of people is read once, at the control socket, and written once, as it is stored."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from link.ledger import ledger as ledger_module
from link.ledger import orders as money
from link.ledger.order_handlers import carry_out
from link.server import control
from link.server.staff_chain import StaffChain
from link.server.staff_orders import read_order
from record.kit.lines import ask
from record.kit.outside import read_json
from tests.link.people import PASSWORD
from tests.link.server.house import House, Live

NOTE = {"what": "note", "topic": "shift", "text": "Übergabe"}


@pytest.fixture
def live(house: House, tmp_path: Path) -> Iterator[Live]:
    made = house.start(beat_ms=60_000, control=tmp_path / "control.sock")
    yield made
    made.stop()


def ordered(live: Live, order: dict[str, Any]) -> dict[str, Any]:
    assert live.control is not None
    by = [["k.lee", PASSWORD]]
    return ask(live.control.path, {"verb": "order", "by": by, "order": order})


def test_an_order_is_read_once_passed_on_and_written_once(
    live: Live, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[object] = []
    done: list[object] = []
    counts: Counter[str] = Counter()

    def reads(given: Any) -> Any:
        assert type(given) is dict
        made.append(read_order(given))
        return made[-1]

    def carries(state: Any, order: Any, *more: Any) -> Any:
        done.append(order)
        return carry_out(state, order, *more)

    def counted(name: str, plain: Any) -> Any:
        def call(*given: Any, **more: Any) -> Any:
            counts[name] += 1
            return plain(*given, **more)

        return call

    monkeypatch.setattr(control, "read_order", reads)
    monkeypatch.setattr(control, "read_json", counted("read as JSON", read_json))
    monkeypatch.setattr(ledger_module, "carry_out", carries)
    monkeypatch.setattr(money, "read_given", counted("read again", money.read_given))
    monkeypatch.setattr(ledger_module, "Given", counted("written", money.Given))
    assert ordered(live, NOTE) == {"ok": True, "by": ["k.lee"]}
    # The feed tells what was stored: it reads the committed body, once, after the order is done.
    assert counts == {"read as JSON": 1, "written": 1, "read again": 1}
    assert len(made) == 1
    assert [order is made[0] for order in done] == [True]


def test_what_is_stored_is_what_was_proved(live: Live, house: House) -> None:
    """To the byte: the proofs follow the order, and the chain of staff orders holds."""
    ordered(live, NOTE)
    live.stop()
    with closing(house.store()) as store:
        staff = list(store.staff())
    given = money.read_given(staff[-1].body)
    assert given.order == money.Note("shift", "Übergabe")
    unsigned = '{"by":[["k.lee","%s"]],"order":{"what":"note","topic":"shift","text":"Übergabe"}'
    head = (unsigned % given.by[0].role).encode()
    assert staff[-1].body == b'%b,"proofs":%b}' % (head, msgspec.json.encode(given.proofs))
    assert StaffChain().read(staff).findings == []


@pytest.mark.parametrize(
    "wrong",
    [
        {"what": "note", "topic": "shift", "text": 1.5},
        {"what": "note", "topic": "shift", "text": "a\u0000b"},
        {"what": "note", "topic": "shift", "text": "x" * 70_000},
        {"what": "note", "topic": "", "text": "x"},
        {"what": "note", "topic": "shift", "text": "x", "more": 1},
        {"what": "note", "topic": "shift", "text": True},
        {"what": "halt", "journal": "ab" * 16, "code": "E-LNK-001", "text": "x"},
        {"topic": "shift", "text": "x"},
    ],
)
def test_what_is_not_strict_or_no_order_of_people_changes_nothing(
    live: Live, house: House, wrong: dict[str, Any]
) -> None:
    assert ordered(live, wrong)["error"] in ("E-SVC-001", "E-ACT-007")
    live.stop()
    with closing(house.store()) as store:
        assert all(b'"note"' not in row.body for row in store.staff())
