"""PINs: the easy ones are refused, and nothing repeats one."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from controller.registers.staff.pins import NOBODY, hashed, weakness
from tests.controller.registers.staff.house import SALT


@pytest.mark.parametrize(
    ("pin", "why"),
    [
        ("", "digits"),
        ("12a4", "digits"),
        ("١٢٣٩", "digits"),  # digits, but no keys of the console
        ("803", "4 to 8"),
        ("804159263", "4 to 8"),
        ("1042", "staff id"),
        ("0000", "different"),
        ("1121", "different"),
        ("1234", "sequence"),
        ("98765432", "sequence"),
        ("7890", "sequence"),
        ("2468", "sequence"),
        ("123123", "repeated"),
        ("80418041", "repeated"),
    ],
)
def test_easy_pins_are_refused_in_words_without_them(pin: str, why: str) -> None:
    said = weakness(pin, "1042")
    assert said is not None
    assert why in said
    assert not pin or pin not in said


@pytest.mark.parametrize("pin", ["8041", "5830", "271828", "80415926", "1243"])
def test_the_others_will_do(pin: str) -> None:
    assert weakness(pin, "1042") is None


@given(st.text("0123456789", min_size=4, max_size=8))
def test_what_passes_has_three_digits_and_no_single_step(pin: str) -> None:
    if weakness(pin, "1") is None:
        steps = {(int(b) - int(a)) % 10 for a, b in pairwise(pin)}
        assert len(set(pin)) >= 3
        assert len(steps) > 1


def test_a_hash_is_the_one_that_was_written_down() -> None:
    """Literal: a register written today must open with every later version."""
    made = hashed("80415926", SALT)
    assert made.digest.hex() == HASH
    assert (made.n, made.r, made.p) == (8192, 8, 1)
    assert made.fits("80415926")
    assert not made.fits("80415927")
    assert not made.fits("")
    assert hashed("80415926", bytes(16)).digest != made.digest


HASH = "839f5131660115948c6e593852580bace4a535598d046027295f47c952f63d00"


def test_a_hash_does_not_print_itself() -> None:
    made = hashed("80415926", SALT)
    assert "80415926" not in repr(made)
    assert made.digest.hex() not in repr(made)
    assert repr(made.digest) not in repr(made)


def test_nobody_has_no_pin() -> None:
    assert not NOBODY.fits("")
    assert not NOBODY.fits("0000")
