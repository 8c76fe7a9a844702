"""A sensor that dies in a round holds it up, but a supervisor can always bring it to its end."""

from __future__ import annotations

from controller.demo.scripted_dealer import CHIPS, DEALER_AT_TABLE, SUPERVISOR
from controller.rules.engine import effects as fx
from controller.rules.engine import facts as f
from controller.rules.engine.state import Phase
from tests.clauses.tables import refused, table
from tests.controller.rules.test_corrections import in_settlement


def test_a_lost_wager_that_no_sensor_sees_leave_is_declared_collected() -> None:
    croupier = in_settlement({4: "2c7d9h"}, "4sJs")
    croupier.do(f.HandOpened(4))
    lifted = f.WagerDeclared(4, "$", 0)
    assert refused(croupier.try_(lifted, SUPERVISOR)).reason == "seat 4 has not been settled"
    croupier.do(f.SeatSettled(4))
    for spot in ("1", "2"):
        croupier.do(f.WagerRead(4, spot, 0), CHIPS)
    assert refused(croupier.try_(f.RoundEnded())).reason == "seat 4: collect the wager on $"
    assert refused(croupier.try_(lifted, DEALER_AT_TABLE))
    croupier.do(lifted, SUPERVISOR)
    croupier.do(f.RoundEnded())
    assert croupier.state.phase is Phase.IDLE
    assert croupier.state.history[-1].result["house_net"] == 3100


def test_a_declaration_names_a_spot_of_the_book() -> None:
    croupier = in_settlement({4: "2c7d9h"}, "4sJs")
    croupier.do(f.HandOpened(4))
    croupier.do(f.SeatSettled(4))
    for what in (f.WagerDeclared(4, "hedge", 0), f.WagerDeclared(4, "progressive", 0)):
        assert refused(croupier.try_(what, SUPERVISOR)).reason.startswith("no such spot")


def test_chips_placed_while_betting_is_frozen_are_not_late() -> None:
    croupier = table("NSW", {1: "2c7d9h"}, "4sJs")
    croupier.prepare()
    croupier.do(f.BetsOpened())
    croupier.do(f.UnknownCardSeen(), f.Measured("shoe"))
    assert croupier.state.phase is Phase.FROZEN
    effects = croupier.do(f.WagerRead(1, "1", 1000), CHIPS)
    assert not [e for e in effects if isinstance(e, fx.RaiseAlarm)]
    assert croupier.state.spots[1, "1"] == 1000
