"""Bytes of the chip readers in words: which antenna was asked, and what answered."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from controller.replay.timeline import FrameLine
from drivers.base import Fault
from drivers.feig.codec import GAP_US, Decoder, Frame
from drivers.feig.commands import Command, answer_of, tags
from drivers.readings import Antenna

CHIPS: Final = "chips"
ANSWER: Final = "in"
COMMANDS: Final = {int(one): one.name.lower().replace("_", " ") for one in Command}


def is_reader(line: str) -> bool:
    return line == CHIPS or line.startswith(f"{CHIPS}-")


def is_answer(line: FrameLine, antenna: Antenna | None) -> bool:
    """What this antenna (any, where it is not known) answered to an inventory; a piece that is no
    frame might be one."""
    if line.direction != ANSWER:
        return False
    own = "antenna " if antenna is None else f"antenna {antenna.mux}/{antenna.channel}: "
    return not line.label or line.label.startswith(own)


def chip_lines(lines: Iterable[FrameLine]) -> list[FrameLine]:
    """The frames of one reader in order, each with a label where it can be read."""
    found: list[FrameLine] = []
    antenna = "?"
    for line in lines:
        frame = None if line.masked else _frame(bytes.fromhex(line.data))
        if frame is None:
            found.append(line)
            continue
        if frame.command == Command.MUX_SELECT and line.direction != ANSWER:
            antenna = "/".join(map(str, frame.body[:2]))
        found.append(line._replace(label=_label(frame, antenna, line.direction == ANSWER)))
    return found


def _frame(data: bytes) -> Frame | None:
    decoder = Decoder()
    decoder.feed(data, 0)
    found = decoder.quiet(GAP_US + 1)
    return found[0] if len(found) == 1 and isinstance(found[0], Frame) else None


def _label(frame: Frame, antenna: str, answers: bool) -> str:
    name = COMMANDS.get(frame.command, f"command {frame.command:02X}")
    if frame.command != Command.HOST or not answers:
        return name
    answer = answer_of(frame)
    held = answer if isinstance(answer, Fault) else tags(answer)
    if isinstance(held, Fault):
        return f"antenna {antenna}: {held.code}"
    count = len(held.uids)
    said = f"{count or 'no'} chip{'' if count == 1 else 's'}"
    return f"antenna {antenna}: {said}{'' if held.complete else ', and more'}"
