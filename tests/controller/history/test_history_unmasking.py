"""The law of what may be shown of a card device's bytes, piece by piece."""

from __future__ import annotations

from controller.history.unmasking import by_piece, frames_in


def told(*pieces: bytes) -> list[tuple[list[str], bool]]:
    found = by_piece(pieces, lambda chunk: chunk.decode())
    return [(piece.verdicts, piece.ended) for piece in found]


def test_each_piece_knows_every_frame_that_it_is_part_of() -> None:
    assert told(b"ab\0") == [(["ab"], True)]
    assert told(b"a", b"b\0") == [(["ab"], True), (["ab"], True)]
    assert told(b"a\0b", b"c\0d\0") == [(["a", "bc"], True), (["bc", "d"], True)]


def test_a_piece_of_a_frame_without_an_end_is_nobodys_to_show() -> None:
    assert told(b"a\0b", b"c") == [(["a"], False), ([], False)]
    assert told(b"a\0", b"b") == [(["a"], True), ([], False)]
    assert told(b"a", b"\0") == [(["a"], True), (["a"], True)]


def test_nothing_between_two_zeros_is_no_frame() -> None:
    assert told(b"\0\0") == [(["", ""], True)]
    assert frames_in(b"") == []
