"""Raw bytes of the lines beside the moments they led to; closed cards stay masked in them.

Pure. Frames carry the table's own clock, as facts do, so they are joined without the wall's. Bytes
of a card device are shown if they are whole frames of CDP and every card in them is one that the
journal told; anything else stays masked.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from controller.history.framelog import LoggedFrame
from controller.history.unmasking import by_piece, cards_in, frames_in
from controller.replay.cards import Place, PublicCard
from controller.replay.chips import CHIPS, chip_lines, is_answer, is_reader
from controller.replay.starts import ComputerStart
from controller.replay.timeline import FrameLine, Moment, Timeline
from controller.rules.cards import Card
from controller.table.cards import card_of
from drivers.base import Fault
from drivers.cards.codec import Frame, parts_of
from drivers.cards.messages import Type
from drivers.readings import Antenna, SealedCard

BEFORE_MS: Final = 2_000
"""How far back the bytes behind a fact are looked for: chips settle in less."""
AFTER_MS: Final = 5
MARGIN_MS: Final = 1_000
"""Read beyond that, so that a frame in pieces is whole."""
MOST: Final = 12
"""Frames kept with one moment; the last ones before it."""
IDLE: Final = frozenset(("HEARTBEAT",))
"""Frames that say nothing: counted, not shown."""
PIECES_MS: Final = 4
"""Bytes of one frame come closer to each other than this; frames of one device do not."""
SEALED: Final = "sealed; the table's key opens it"
MASKED: Final = "masked: not public"
NEVER_PUBLIC: Final = "NEVER PUBLIC"
HOST_SIDE: Final = "out"
TYPES: Final = {int(one): one.name for one in Type}

LINES: Final = ("chips", "shoe", "shuffler", "sign")
"""Devices on a line whose bytes are kept; a reader of chips is ``chips-1``."""

Antennas = Mapping[tuple[int, str], Antenna]
"""(seat, spot) to its antenna, where the layout is known."""
Windows = Sequence[tuple[int, int]]
"""From and to, in milliseconds of the table's own clock."""


class StartLog(NamedTuple):
    """What one start of the daemon kept: from when to when, and the frames that matter."""

    first_ms: int
    last_ms: int
    frames: Sequence[LoggedFrame] = ()


def windows(timeline: Timeline, logs: Sequence[StartLog]) -> list[Windows]:
    """For each log the times of which the frames are wanted: a log holds an hour, a round needs
    seconds of it."""
    log_of = _logs_of(timeline.starts, logs)
    found: list[Windows] = [[] for _ in logs]
    for start, own in _by_start(timeline):
        n = log_of.get(start.seq)
        if n is not None:
            times = sorted(_own_ms(m, start) for m in own if on_line(m))
            margins = BEFORE_MS + MARGIN_MS, AFTER_MS + MARGIN_MS
            found[n] = [(at - margins[0], at + margins[1]) for at in times]
    return found


@dataclass
class PublicCards:
    """Which card a device's reading told the public, by type and number of the event."""

    faces: dict[tuple[str, int, int], tuple[Card | None, ...]] = field(default_factory=dict)

    @staticmethod
    def of(
        drawn: Mapping[tuple[str, int], tuple[Place, ...]], told: Mapping[Place, PublicCard]
    ) -> PublicCards:
        found = PublicCards()
        for (device, key), places in drawn.items():
            kind, _, number = parts_of(key)
            cards = (told.get(place) for place in places)
            found.faces[device, kind, number] = tuple(None if c is None else c.card for c in cards)
        return found

    def may_show(self, device: str, kind: int, number: int, cards: Iterable[SealedCard]) -> bool:
        """A card is shown if it is the very one that the journal told for this reading."""
        public = self.faces.get((device, kind, number), ())
        return public == tuple(card_of(card.unseal()) for card in cards) and None not in public


def join(
    timeline: Timeline,
    logs: Sequence[StartLog],
    antennas: Antennas,
    *,
    closed_cards: bool = False,
) -> str:
    """Put the frames beside their moments; what is missing is said."""
    public = PublicCards.of(timeline.drawn, timeline.told)
    log_of = _logs_of(timeline.starts, logs)
    bare = 0
    for start, own in _by_start(timeline):
        n = log_of.get(start.seq)
        lines = _Lines(logs[n], public, closed_cards=closed_cards) if n is not None else None
        for moment in own:
            if not on_line(moment):
                continue
            at_ms = _own_ms(moment, start)
            if lines is None or at_ms < lines.first_ms - AFTER_MS:
                bare += 1
                continue
            antenna = None if moment.place is None else antennas.get(moment.place)
            names = lines.named(moment.device if antenna is None else antenna.reader)
            told = lines.between(names, at_ms - BEFORE_MS, at_ms + AFTER_MS, start.apart_ms)
            moment.frames, moment.frames_more = _telling(told, moment, antenna)
    if not logs:
        return "no frame log beside this journal: what devices sent is not shown"
    if bare:
        return f"the frame log no longer reaches {bare} of these moments (it keeps about an hour)"
    return ""


def on_line(moment: Moment) -> bool:
    """Is it told by a device whose bytes are kept?"""
    return moment.device.partition("-")[0] in LINES


def _own_ms(moment: Moment, start: ComputerStart) -> int:
    """On the clock that frames carry."""
    return moment.at_ms - start.apart_ms if moment.seen_ms is None else moment.seen_ms


def _telling(
    found: Sequence[FrameLine], moment: Moment, antenna: Antenna | None
) -> tuple[tuple[FrameLine, ...], int]:
    """The last ones that say something, and how many others there were. A reader asks one antenna
    after the other all the time: beside chips at a place stand the answers of that place."""
    telling = [line for line in found if line.label not in IDLE]
    if moment.place is not None:
        telling = [line for line in telling if is_answer(line, antenna)]
    kept = tuple(telling[-MOST:])
    return kept, len(found) - len(kept)


def _by_start(timeline: Timeline) -> list[tuple[ComputerStart, list[Moment]]]:
    found: list[tuple[ComputerStart, list[Moment]]] = [(start, []) for start in timeline.starts]
    for moment in timeline.moments:
        own = [pair for pair in found if pair[0].seq <= moment.seq]
        if own:
            own[-1][1].append(moment)
    return found


def _logs_of(starts: Sequence[ComputerStart], logs: Sequence[StartLog]) -> dict[int, int]:
    """Each start with the number of the log that it wrote: latest first, where their clocks
    overlap."""
    found: dict[int, int] = {}
    waiting = list(starts)
    for n, log in reversed(list(enumerate(logs))):
        while waiting:
            start = waiting.pop()
            if start.first_ms is None:
                continue
            if log.first_ms <= start.last_ms + BEFORE_MS and start.first_ms <= log.last_ms:
                found[start.seq] = n
                break
    return found


class _Lines:
    """The frames of one log by line, each with what may be shown of it."""

    def __init__(self, log: StartLog, public: PublicCards, *, closed_cards: bool) -> None:
        self.first_ms = log.first_ms
        by_line: dict[str, list[LoggedFrame]] = {}
        for frame in log.frames:
            by_line.setdefault(frame.device, []).append(frame)
        self._shown = {
            name: chip_lines(_joined(_Masking(name, public, closed_cards=closed_cards).told(own)))
            if is_reader(name)
            else _Masking(name, public, closed_cards=closed_cards).told(own)
            for name, own in by_line.items()
        }
        self._times = {name: [line.at_ms for line in own] for name, own in self._shown.items()}

    def named(self, wanted: str) -> list[str]:
        """``chips`` means every reader."""
        return [
            name for name in self._shown if name == wanted or (wanted == CHIPS and is_reader(name))
        ]

    def between(
        self, names: Iterable[str], from_ms: int, to_ms: int, apart_ms: int
    ) -> list[FrameLine]:
        found: list[FrameLine] = []
        for name in names:
            times = self._times[name]
            low, high = bisect_left(times, from_ms), bisect_right(times, to_ms)
            whole = _joined(self._shown[name][low:high])
            found += [line._replace(at_ms=line.at_ms + apart_ms) for line in whole]
        return sorted(found, key=lambda line: line.at_ms)


def _joined(lines: Iterable[FrameLine]) -> list[FrameLine]:
    """Pieces that came right after each other on one line, as one."""
    found: list[FrameLine] = []
    last_ms = 0
    for line in lines:
        before = found[-1] if found else None
        if (
            before is not None
            and before[1:3] == line[1:3]
            and not (before.masked or line.masked)
            and line.at_ms - last_ms <= PIECES_MS
            and line.label in ("", before.label)
        ):
            found[-1] = before._replace(data=f"{before.data} {line.data}")
        else:
            found.append(line)
        last_ms = line.at_ms
    return found


class _Masking:
    """What may be shown of one line's bytes."""

    def __init__(self, device: str, public: PublicCards, *, closed_cards: bool) -> None:
        self._device, self._public, self._closed = device, public, closed_cards

    def told(self, frames: Sequence[LoggedFrame]) -> list[FrameLine]:
        verdicts = self._verdicts(frames)
        return [self._line(frame, *verdicts[n]) for n, frame in enumerate(frames)]

    def _line(self, frame: LoggedFrame, public: bool, label: str) -> FrameLine:
        at_ms, device, way = frame.at_us // 1000, frame.device, frame.direction
        if frame.data is None:
            return FrameLine(at_ms, device, way, SEALED, masked=True)
        data = frame.data.hex(" ")
        if public:
            return FrameLine(at_ms, device, way, data, label=label)
        if self._closed:
            return FrameLine(at_ms, device, way, data, label=f"{label} {NEVER_PUBLIC}".strip())
        said = f"{len(frame.data)} bytes {MASKED}"
        return FrameLine(at_ms, device, way, said, masked=True, label=label)

    def _verdicts(self, frames: Sequence[LoggedFrame]) -> dict[int, tuple[bool, str]]:
        """For each piece: may it be shown, and what is in it."""
        found: dict[int, tuple[bool, str]] = {}
        hidden: list[tuple[int, bytes]] = []
        for n, frame in enumerate(frames):
            if frame.data is None or not frame.sealed or frame.direction == HOST_SIDE:
                found[n] = (frame.data is not None, self._said(frame))
            else:
                hidden.append((n, frame.data))
        pieces = by_piece([data for _, data in hidden], self._chunk)
        for (n, _), piece in zip(hidden, pieces, strict=True):
            public = piece.ended and all(verdict[0] for verdict in piece.verdicts)
            found[n] = (public, " ".join(label for _, label in piece.verdicts if label))
        return found

    def _said(self, frame: LoggedFrame) -> str:
        """What the host itself sent to a card device: it knows no card to send."""
        if frame.data is None or not frame.sealed:
            return ""
        labels = (self._chunk(one)[1] for one in frame.data.split(b"\0"))
        return " ".join(label for label in labels if label)

    def _chunk(self, chunk: bytes) -> tuple[bool, str]:
        public, labels = True, list[str]()
        for one in frames_in(chunk):
            if isinstance(one, Fault):
                return False, "not a frame"
            public = public and self._frame(one)
            labels.append(TYPES.get(one.type, f"type {one.type:02X}"))
        return public and bool(labels or not chunk), " ".join(labels)

    def _frame(self, frame: Frame) -> bool:
        held = cards_in(frame)
        return held is None or (
            not isinstance(held, Fault) and self._public.may_show(self._device, *held)
        )
