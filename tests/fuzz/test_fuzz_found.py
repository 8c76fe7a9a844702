"""What the fuzzer has found, each as its smallest case."""

from __future__ import annotations

import pytest

from drivers.chips.field import ChipField
from drivers.feig.codec import Decoder, Frame
from drivers.layout import LayoutError
from drivers.orders import WatchAntennas
from drivers.readings import Antenna, AntennaRead, TagOnTwoSpots, Uid
from tests.fuzz import texts

WHOLE = bytes.fromhex("02 00 0C FE CB 10 3F 94 73 1E 8D 47")
NEXT = bytes.fromhex("02 00 08 00 81 11 E2 71")


def decoded(*parts: bytes, silence_us: int) -> list[Frame]:
    decoder, now, out = Decoder(), 1_000_000, []
    for part in parts:
        out += decoder.feed(part, now)
        now += silence_us
    now -= silence_us
    out += decoder.quiet(now + 5_000) + decoder.quiet(now + 12_001)
    return [item for item in out if isinstance(item, Frame)]


def test_feig_a_frame_behind_a_broken_one_is_not_swallowed_by_its_claimed_length() -> None:
    """A whole frame, then the head of one that claims 12 bytes; 8 ms later the 8 of the next."""
    frames = decoded(WHOLE + bytes.fromhex("02 00 0C 00"), NEXT, silence_us=8_000)
    assert [frame.command for frame in frames][-1] == 0x81


def test_feig_two_flipped_bits_and_the_next_frame_never_come_from_one_open_request() -> None:
    """ALENGTH 2C flipped to 3C claims the next 16 bytes too; a second bit makes the CRC right.

    It takes a second answer within 12 ms of the first, and the driver has one request open: what
    follows an answer by less than that is an answer nobody asked for. Asked apart, both are right.
    """
    sent = bytes.fromhex("02 00 2C 01 B0 00" + "00" * 36 + "FB C8")
    flipped = bytes.fromhex("02 00 3C 01 B0 00" + "00" * 35 + "10 FB C8")
    after = bytes.fromhex("02 00 10 01 66 00 00 00 00 00 00 00 00 00 14 FE")
    assert sum((a ^ b).bit_count() for a, b in zip(sent, flipped, strict=True)) == 2
    assert [frame.command for frame in decoded(sent, after, silence_us=8_000)] == [0xB0, 0x66]
    apart = decoded(flipped, after, silence_us=13_000)
    assert [frame.command for frame in apart] == [0x66]


def test_chips_one_wrong_reading_and_a_move_do_not_put_a_tag_on_two_spots() -> None:
    """Spot 2 is read wrong once, with spot 1's chip; then the chip truly moves to spot 2."""
    one, two = Antenna("chips-1", 1, 1), Antenna("chips-1", 1, 2)
    chip, there = frozenset({Uid("E004010012345678")}), frozenset({Uid("E00401000000002A")})
    field, said = ChipField(), []
    field.order(WatchAntennas(frozenset({one, two})), 0)
    truth_then_lie = [(one, chip), (two, there), (one, chip), (two, chip)]
    for number, (spot, tags) in enumerate([*truth_then_lie, (one, chip), (two, there | chip)]):
        at_us = 100_000 * (number + 1)
        said += field.heard(AntennaRead("chips-1", spot, tags, at_us), at_us)
    assert not [it for it in said if isinstance(it, TagOnTwoSpots)]


LINE = '[table]\nname = "t"\n[[line]]\nname = "c"\nport = "p"\n'


@pytest.mark.parametrize(
    "text",
    [
        pytest.param(LINE + 'kind = ["feig"]\n', id="TypeError: kind is a list"),
        pytest.param(LINE + "kind = {a = 1}\n", id="TypeError: kind is a table"),
        pytest.param('[table]\nname = "t"\nseats = ' + "9" * 5_000, id="ValueError: in the TOML"),
        pytest.param('[table]\nname = "t"\nseats = 0x' + "F" * 5_000, id="ValueError: shown"),
        pytest.param(
            LINE + 'kind = "feig"\n[line.antennas]\n"1/1" = "' + "9" * 5_000 + '/x"\n',
            id="ValueError: seat of an antenna",
        ),
        pytest.param("a = " + "[" * 3_000 + "]" * 3_000, id="RecursionError: nesting"),
    ],
)
def test_layout_a_file_that_cannot_be_used_is_a_layout_error(text: str) -> None:
    with pytest.raises(LayoutError):
        texts.load(text.encode())
