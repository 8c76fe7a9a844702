"""The last bytes of a line as frames: in hex, with what they say beside it.

Card devices: a frame that holds cards shows its head alone until all of them are public; its
checksum depends on them and is not shown either. Bytes that are no frame may be a broken one of
those, so only their number is shown. A vendor's line is like a card device whose codec we lack.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import fields
from typing import Final

from controller.rules.cards import name
from controller.shell.answers import FrameRow
from controller.shell.desk.recent import Piece
from controller.table.cards import card_of
from drivers.alpha import codec as alpha
from drivers.base import Fault
from drivers.cards import codec as cdp
from drivers.cards import messages as m
from drivers.cards.framing import HEADER_BYTES, HOST, VERSION
from drivers.feig import codec as feig
from drivers.feig import commands as fc
from drivers.readings import SealedCard
from record.kit.words import counted

MASK: Final = ".."
Row = FrameRow
IsPublic = Callable[[int, int, int], bool]
"""Are so many cards of the reading with this number and time public?"""


def decoded(kind: str, pieces: Sequence[Piece], is_public: IsPublic) -> list[Row]:
    """Oldest first."""
    if kind == "feig":
        rows = list(_feig(pieces))
    elif kind == "alpha":
        rows = list(_alpha(pieces))
    elif kind.startswith("cdp-"):
        rows = list(_cdp(pieces, is_public))
    else:
        rows = [
            _row(one, "", f"{counted(len(one.data), 'byte')} of a vendor's device")
            for one in pieces
        ]
    return sorted(rows, key=lambda row: int(row["at_us"]))


def _row(piece: Piece, data: str, text: str, *, masked: bool = False) -> Row:
    return {
        "at_us": piece.at_us,
        "direction": piece.direction,
        "hex": data,
        "text": text,
        "masked": masked,
    }


def _hex(data: bytes) -> str:
    """Without blanks: a byte by itself may look like the name of a card."""
    return data.hex().upper()


# --- shoe and shuffler -----------------------------------------------------------------------


def _cdp(pieces: Sequence[Piece], is_public: IsPublic) -> Iterator[Row]:
    decoders = {"in": cdp.Decoder(), "out": cdp.Decoder()}
    for piece in pieces:
        for found in decoders[piece.direction].feed(piece.data):
            if isinstance(found, Fault):
                yield _row(piece, "", f"no frame: {found.code}", masked=True)
            elif found.dev == HOST:
                yield _row(piece, _hex(_body(found)), _type(found.type))
            else:
                yield _from_device(piece, found, is_public)


def _body(frame: cdp.Frame) -> bytes:
    """Header and payload as they stand before the line's own coding."""
    head = bytes((VERSION, frame.dev, frame.type, frame.flags)) + frame.seq.to_bytes(2, "little")
    return head + frame.payload


def _from_device(piece: Piece, frame: cdp.Frame, is_public: IsPublic) -> Row:
    message = cdp.decode_message(frame)
    body = _body(frame)
    cards: tuple[SealedCard, ...]
    match message:
        case m.Card(draw_no, card):
            cards, number, said = (card,), draw_no, f"draw {draw_no}"
        case m.Packet(packet_no, deck_id, held):
            cards, number = held, packet_no
            said = f"packet {packet_no}, deck {m.DECKS[deck_id]}, {counted(len(held), 'card')}"
        case Fault(code):
            # The fault may be in the card itself, so only the head is shown.
            head = _hex(body[:HEADER_BYTES])
            return _row(piece, head, f"{_type(frame.type)}: {code}", masked=True)
        case _:
            return _row(piece, _hex(body), f"{_type(frame.type)} {_fields(message)}".strip())
    if not is_public(piece.at_us, number, len(cards)):
        text = f"{_type(frame.type)} {said}, not public"
        hidden = MASK * len(frame.payload)
        return _row(piece, _hex(body[:HEADER_BYTES]) + hidden, text, masked=True)
    names = " ".join(_card(card) for card in cards)
    return _row(piece, _hex(body), f"{_type(frame.type)} {said}: {names}")


def _type(kind: int) -> str:
    return m.Type(kind).name if kind in set(m.Type) else f"type {kind:02X}"


def _card(card: SealedCard) -> str:
    """Only of cards that are public."""
    found = card_of(card.unseal())
    return "?" if found is None else name(found)


def _fields(message: m.Message) -> str:
    named = [(one.name, getattr(message, one.name)) for one in fields(message)]
    return " ".join(f"{key}={value}" for key, value in named)


# --- chip readers ----------------------------------------------------------------------------


def _feig(pieces: Sequence[Piece]) -> Iterator[Row]:
    decoders = {"in": feig.Decoder(), "out": feig.Decoder()}
    last: dict[str, Piece] = {}
    for piece in pieces:
        before = last.get(piece.direction, piece)
        for found in decoders[piece.direction].feed(piece.data, piece.at_us):
            yield _feig_row(before, found)
        last[piece.direction] = piece
    for direction, decoder in decoders.items():
        for found in decoder.quiet(decoder.last_byte_us + 2 * feig.GAP_US):
            yield _feig_row(last[direction], found)


def _feig_row(piece: Piece, found: feig.Frame | Fault) -> Row:
    if isinstance(found, Fault):
        return _row(piece, "", f"no frame: {found.code} {found.detail}")
    named = fc.Command(found.command).name if found.command in set(fc.Command) else "?"
    data = _hex(feig.encode(found))
    if piece.direction == "out":
        return _row(piece, data, named)
    answer = fc.answer_of(found)
    if isinstance(answer, Fault):
        return _row(piece, data, f"{named}: {answer.code} {answer.detail}")
    status = fc.Status(answer.status).name if answer.status in set(fc.Status) else "?"
    told = f"{named} {status}"
    if answer.command == fc.Command.HOST:
        tags = fc.tags(answer)
        told += f": {tags.code}" if isinstance(tags, Fault) else f": {len(tags.uids)} tags "
        told += "" if isinstance(tags, Fault) else " ".join(tags.uids)
    return _row(piece, data, told.rstrip())


# --- the sign --------------------------------------------------------------------------------


def _alpha(pieces: Sequence[Piece]) -> Iterator[Row]:
    for piece in pieces:
        shown = "".join(chr(b) if 0x20 <= b <= 0x7E else "." for b in piece.data)
        yield _row(piece, _hex(piece.data), shown)
    answers = alpha.AnswerDecoder()
    for piece in pieces:
        for found in answers.feed(piece.data, piece.at_us) if piece.direction == "in" else ():
            said = found.text if isinstance(found, alpha.Answer) else f"{found.code} {found.detail}"
            yield _row(piece, "", f"answer: {said}")
