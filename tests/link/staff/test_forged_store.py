"""Someone with write access to the store: check and the next start find what he forged."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace
from nacl.signing import SigningKey

from link.commands import link as link_command
from link.ledger.ledger import Ledger
from link.ledger.orders import Approve, Note, Order, Pay, Person, Verify
from link.rows import Group
from link.server import staff_orders as orders
from link.server.staff_chain import StaffChain
from link.store import open_store
from tests.link.people import PASSWORD, account, made, request, signed_with
from tests.link.server.house import House, pool

EVIL = SigningKey(b"\7" * 32)
K_LEE, M_NG = Person("k.lee", "supervisor"), Person("m.ng", "manager")


@pytest.fixture
def house(tmp_path: Path) -> House:
    """With an award that waits for people."""
    made = House(tmp_path, ("table-1",))
    live = made.start()
    table = made.stranger("table-1", live)
    table.join()
    table.wager(1, 500)
    table.write({"what": "claimed", "round": 1, "claims": [[1, "royal flush", 100]]})
    table.deliver()
    made.close()
    return made


def write(house: House, act: Callable[[Ledger, Group], None]) -> None:
    """By someone who has our program and no password: seals and the store's chain hold."""
    store = open_store(house.where)
    epoch = store.lead("forger", 1_000)
    assert epoch is not None
    ledger = Ledger((pool("table-1"),), store.load())
    more = Group(epoch)
    act(ledger, more)
    group = ledger.group(epoch)
    group.accounts |= more.accounts
    store.commit(group)
    store.resign(epoch)
    store.close()


def found(house: House) -> list[str]:
    store = open_store(house.where)
    store.check()  # what the store itself can know still holds
    register = StaffChain().read(store.staff()).compare(store.load().accounts)
    register.search(store.events(table=""), store.steps())
    store.close()
    return register.findings


def evil(many: int) -> Callable[[bytes], tuple[str, ...]]:
    return lambda text: (EVIL.sign(text).signature.hex(),) * many


STEPS: tuple[tuple[Order, Person], ...] = (
    (Verify("main/1/1"), K_LEE),
    (Approve("main/1/1"), K_LEE),
    (Approve("main/1/1"), M_NG),
    (Pay("main/1/1"), M_NG),
)


def test_what_nobody_forged_is_sound(house: House) -> None:
    def act(ledger: Ledger, _: Group) -> None:
        for order, person in STEPS:
            ledger.order(order, person, 9, signed_with(PASSWORD))

    write(house, act)
    assert found(house) == []


@pytest.mark.parametrize("signed", [False, True])
def test_forged_verify_approve_and_pay_are_found(house: House, signed: bool) -> None:
    def act(ledger: Ledger, _: Group) -> None:
        for order, person in STEPS:
            ledger.order(order, person, 9, evil(1) if signed else None)

    write(house, act)
    said = " ".join(found(house))
    assert ("the proof of k.lee is wrong" if signed else "without proof") in said
    assert "paid by m.ng, and no order of his says so" in said


def test_steps_without_an_order_are_found(house: House) -> None:
    store = open_store(house.where)
    (award,) = list(store.awards())
    steps = list(store.steps())
    epoch = store.lead("forger", 1_000)
    assert epoch is not None
    ledger = Ledger((pool("table-1"),), store.load())
    ledger.note("x", "", (Person("server"),), 9)
    group = ledger.group(epoch)
    for number, (state, by) in enumerate((("verified", K_LEE), ("approved", M_NG)), 1):
        number += len(steps)
        step = replace(steps[-1], step=number, state=state, by=by.account, role=by.role)
        group.steps.append(replace(step, event=group.events[-1].id))
    group.awards[award.award] = replace(award, state="approved")
    store.commit(group)
    store.resign(epoch)
    store.close()
    assert "approved by m.ng, and no order of his says so" in " ".join(found(house))


def test_an_account_with_another_key_is_found_and_no_order_is_taken(
    house: House, tmp_path: Path
) -> None:
    def act(ledger: Ledger, group: Group) -> None:
        ledger.note("x", "", (Person("server"),), 9)
        group.accounts["k.lee"] = account("k.lee", "supervisor", "his own password")

    write(house, act)
    assert found(house) == ["account k.lee: it is not what people ordered"]
    live = house.start(control=tmp_path / "c.sock")
    try:
        refused = live.order(Note("a", "b"), "m.ng")
        said = "account k.lee: it is not what people ordered; look at the server's machine with"
        assert refused["error"] == "E-ACT-013"
        assert refused["text"] == f"no order is taken: {said} underfelt link check"
        refused = live.ask("password", name="m.ng", key=made(PASSWORD)[1], source=0)
        assert refused["error"] == "E-ACT-013"
        assert refused["text"] == f"nobody can sign in: {said} underfelt link check"
        assert "E-ACT-013" in live.ask("status")["standing"][0]
        assert "E-ACT-013" in [alarm["code"] for alarm in live.alarms()]
    finally:
        house.close()


def test_an_order_about_accounts_that_nobody_signed_is_found(house: House) -> None:
    def act(ledger: Ledger, group: Group) -> None:
        given = request("add account", "eve.x", "his own password", role="manager")
        order = orders.read_order(given)
        assert isinstance(order, orders.AddAccount)
        for text in orders.for_the_record(order):
            ledger.office(text, (M_NG, K_LEE), 9, evil(2))
        group.accounts["eve.x"] = account("eve.x", "manager", "his own password")

    write(house, act)
    assert any("the proof of m.ng is wrong" in text for text in found(house))


def test_link_check_says_so(
    house: House, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    def act(ledger: Ledger, _: Group) -> None:
        ledger.order(*STEPS[0], 9)

    write(house, act)
    config = tmp_path / "link.toml"
    config.write_text(
        f'[server]\nname = "x"\nstore = "sqlite:{house.where}"\ncontrol = "c.sock"\n'
        '[[door]]\ntables = "tcp://127.0.0.1:1"\nsigns = ""\nsecret_key = "link.key"\n'
    )
    assert link_command.run(["check", "--config", str(config)]) == 65
    assert "an order of k.lee without proof (E-ACT-013)" in capsys.readouterr().err
