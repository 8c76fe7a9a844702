"""Bytes of the devices during a round. Those of a card device are opened only where every card in
them became public; the others say how long they are and nothing else."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from controller.evidence.table import TableHalf
from controller.history.framelog import LoggedFrame, read_frames
from controller.history.sealing import TableKey
from controller.history.unmasking import by_piece, cards_in, frames_in
from controller.rules.cards import NAMES
from controller.table.cards import card_of
from drivers.base import Fault
from drivers.cards.codec import parts_of
from record.frame_files import FrameFolder

BEFORE_MS: Final = 3_000
AFTER_MS: Final = 2_000
LOG_ID: Final = slice(9, 25)

Row = dict[str, Any]
Public = Mapping[tuple[str, int, int], tuple[str, ...]]
"""Device, type and number of a reading to the cards that it told, all of them public."""


def public_cards(half: TableHalf) -> Public:
    told: dict[tuple[int, int], str] = {}
    facts: dict[tuple[str, int, int], tuple[int, int]] = {}
    for row in half.rows:
        if "body" not in row or row["kind"] not in ("fact", "revealed"):
            continue
        body = json.loads(row["body"])
        if row["kind"] == "revealed":
            told |= {(card["seq"], card["index"]): card["card"] for card in body["cards"]}
        elif body.get("key") and (many := row["body"].count('"commit":')):
            kind, _, number = parts_of(body["key"][1])
            facts[body["key"][0], kind, number] = (row["seq"], many)
    return {
        key: tuple(told[seq, n] for n in range(many))
        for key, (seq, many) in facts.items()
        if all((seq, n) in told for n in range(many))
    }


def frame_rows(folder: Path, half: TableHalf, key: TableKey | None) -> tuple[list[Row], list[str]]:
    """Rows of ``frames.jsonl``, and what is missing."""
    first = max(0, half.first_ms - BEFORE_MS) * 1000
    last = (half.last_ms + AFTER_MS) * 1000
    logs: dict[str, list[LoggedFrame]] = {}
    files = FrameFolder(folder)
    for number in files.numbers():
        data = files.file(number).read_bytes()
        found = [f for f in read_frames(data, key) if first <= f.at_us <= last]
        if found:
            logs.setdefault(data[LOG_ID].hex(), []).extend(found)
    if not logs:
        return [], [f"frames: {folder} has none of this round; it keeps about an hour of play"]
    public = public_cards(half)
    made = {log: list(_rows(log, frames, public)) for log, frames in logs.items()}
    # Clocks of two starts may overlap: the log with the round's own cards, else the last one.
    best = max(made, key=lambda log: (sum(len(row["cards"]) for row in made[log]),
                                      list(made).index(log)))  # fmt: skip
    missing = []
    if key is None and any(row["sealed"] for row in made[best]):
        missing = ["frames: those of card devices stay sealed; --key FILE opens the public ones"]
    return made[best], missing


def _rows(log: str, frames: Sequence[LoggedFrame], public: Public) -> Iterator[Row]:
    by_device: dict[str, list[LoggedFrame]] = {}
    for frame in frames:
        if frame.sealed and frame.direction == "in" and frame.data is not None:
            by_device.setdefault(frame.device, []).append(frame)
    verdicts: dict[int, tuple[bool, list[str]]] = {}
    for device, own in by_device.items():
        verdicts |= _verdicts(device, own, public)
    for frame in frames:
        cards: list[str] = []
        shown = frame.data
        if frame.sealed and frame.direction == "in":
            may, cards = verdicts.get(frame.seq, (False, []))
            shown = frame.data if may else None
        yield {
            "log": log, "number": frame.seq, "at_us": frame.at_us, "device": frame.device,
            "direction": frame.direction, "sealed": frame.sealed,
            "bytes": None if shown is None else len(shown),
            "hex": None if shown is None else shown.hex(), "cards": cards if shown else [],
        }  # fmt: skip


def _verdicts(
    device: str, frames: Sequence[LoggedFrame], public: Public
) -> dict[int, tuple[bool, list[str]]]:
    """May a piece be shown, and which cards are in it?"""
    pieces = by_piece(
        [frame.data or b"" for frame in frames], lambda chunk: _cards(device, chunk, public)
    )
    found: dict[int, tuple[bool, list[str]]] = {}
    for frame, piece in zip(frames, pieces, strict=True):
        may = piece.ended and None not in piece.verdicts
        named = [card for cards in piece.verdicts for card in cards or ()]
        found[frame.seq] = (may, named if piece.ended else [])
    return found


def _cards(device: str, chunk: bytes, public: Public) -> list[str] | None:
    """The cards of one frame if all are public, none at all for a frame without; else None."""
    named: list[str] = []
    for frame in frames_in(chunk):
        held = frame if isinstance(frame, Fault) else cards_in(frame)
        if held is None:
            continue
        if isinstance(held, Fault):
            return None
        kind, number, cards = held
        told = public.get((device, kind, number))
        faces = [card_of(one.unseal()) for one in cards]
        if told is None or list(told) != ["" if f is None else NAMES[f] for f in faces]:
            return None
        named += told
    return named
