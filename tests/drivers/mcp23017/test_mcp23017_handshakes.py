"""The credit handshakes by themselves: the rare turns of the handshake."""

from __future__ import annotations

from drivers.base import SECOND
from drivers.mcp23017.handshakes import CreditHandshakes
from drivers.readings import CreditOffered, CreditReturned, CreditTaken

T = 7 * SECOND
SEATS_ON = 0x7F00
ACK_3 = 0x0004


def started(olat: int = SEATS_ON, *, kept: bool = True, lines: int = 0) -> CreditHandshakes:
    machine = CreditHandshakes("acceptors")
    machine.adopt(olat, kept=kept)
    for seat in range(1, 8):
        assert machine.line(seat, bool(lines >> seat - 1 & 1), T) == []
    return machine


def settled(olat: int = SEATS_ON, *, kept: bool = True, lines: int = 0) -> CreditHandshakes:
    machine = started(olat, kept=kept, lines=lines)
    machine.settle(T)
    return machine


def test_a_line_that_comes_back_before_the_proof_is_the_same_handshake() -> None:
    machine = settled()
    assert machine.line(3, True, T) == [CreditOffered("acceptors", 3, 1, T)]
    machine.acknowledge(3, 1, T)
    machine.sent()
    machine.held(machine.latch, T)
    assert machine.line(3, False, T) == []
    assert machine.line(3, True, T) == []
    assert machine.held(machine.latch, T) == [], "the chip is in the throat: nothing is taken"
    assert machine.line(3, False, T) == []
    assert machine.held(machine.latch, T) == [CreditTaken("acceptors", 3, 1, T)]
    assert machine.held(machine.latch, T) == []


def test_registers_lost_between_the_fall_and_its_proof_leave_a_doubt() -> None:
    machine = settled()
    machine.line(3, True, T)
    machine.acknowledge(3, 1, T)
    machine.sent()
    machine.held(machine.latch, T)
    machine.line(3, False, T)
    machine.registers_lost(T)
    assert machine.held(machine.latch, T) == []
    trouble = machine.trouble(T)
    assert trouble is not None
    assert (trouble.code, trouble.detail) == ("E-ACC-002", "seat 3 number 1")
    assert machine.latch & 0x80
    assert machine.release(3, 1, T) == []
    assert machine.trouble(T) is None
    assert machine.latch == SEATS_ON


def test_registers_lost_at_step_1_put_the_acknowledgement_off_for_two_seconds() -> None:
    machine = settled()
    machine.line(3, True, T)
    machine.registers_lost(T)
    machine.acknowledge(3, 1, T)
    machine.held(machine.latch, T + 2 * SECOND - 1)
    assert machine.latch == SEATS_ON
    machine.held(machine.latch, T + 2 * SECOND)
    assert machine.latch == SEATS_ON | ACK_3


def test_an_acknowledgement_not_yet_sent_is_put_off_too() -> None:
    machine = settled()
    machine.line(3, True, T)
    machine.acknowledge(3, 1, T)
    assert machine.latch & ACK_3
    machine.registers_lost(T)
    assert not machine.latch & ACK_3
    assert machine.line(3, False, T) == [CreditReturned("acceptors", 3, 1, T)]


def test_a_chip_found_after_lost_registers_is_watched_for_two_seconds() -> None:
    machine = started(0, kept=False, lines=ACK_3)
    assert machine.settle(T) == [CreditOffered("acceptors", 3, 1, T)]
    machine.acknowledge(3, 1, T)
    assert machine.latch == 0
    machine.held(0, T + 2 * SECOND)
    assert machine.latch == ACK_3 | ACK_3 << 8, "enable rises with acknowledge"


def test_after_a_power_up_a_disable_order_does_not_send_the_chip_back() -> None:
    """The acceptor has not seen enable yet and holds its chip: it must stay takable."""
    machine = settled(0, kept=False, lines=ACK_3)
    machine.enable(frozenset(), T)
    machine.acknowledge(3, 1, T)
    machine.held(0, T + 2 * SECOND)
    assert machine.latch & ACK_3


def test_a_dropped_line_found_at_the_start_needs_no_order_to_be_taken() -> None:
    machine = started(SEATS_ON | ACK_3)
    assert machine.settle(T) == []
    assert machine.held(machine.latch, T) == [CreditTaken("acceptors", 3, 0, T)]
    assert machine.latch == SEATS_ON | ACK_3
    machine.release(3, 0, T)
    assert machine.latch == SEATS_ON
    assert machine.line(3, True, T) == [CreditOffered("acceptors", 3, 1, T)]


def test_enable_stays_as_found_until_ordered() -> None:
    machine = settled(0x5500)
    assert machine.latch == 0x5500
    machine.enable(frozenset({1, 2, 99}), T)
    assert machine.latch == 0x0300


def test_an_acknowledgement_and_a_disable_in_one_breath_give_the_chip_back() -> None:
    machine = settled()
    machine.line(3, True, T)
    machine.acknowledge(3, 1, T)
    machine.enable(frozenset({1}), T)
    assert machine.latch == 0x0100
    assert machine.line(3, False, T) == [CreditReturned("acceptors", 3, 1, T)]


def test_seven_seats_have_seven_handshakes() -> None:
    machine = settled()
    for seat in range(1, 8):
        assert machine.line(seat, True, T) == [CreditOffered("acceptors", seat, 1, T)]
        machine.acknowledge(seat, 1, T)
    assert machine.latch == 0x7F7F
    machine.sent()
    machine.held(0x7F7F, T)
    for seat in range(1, 8):
        machine.line(seat, False, T)
    assert len(machine.held(0x7F7F, T)) == 7
