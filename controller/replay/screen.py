"""One moment on a plain 80x24 terminal: lines of text, nothing else. Pure."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Final

from controller.replay.compare import Compared
from controller.replay.displays import UNREAD, lamps, meter
from controller.replay.felt import OnSpot, SeatRow, card_text
from controller.replay.frames import SEALED, on_line
from controller.replay.jump import clock, exact
from controller.replay.timeline import FrameLine, Moment, Timeline
from controller.rules.engine.deal import DEALER
from record.kit.money import cents_text
from record.kit.words import counted

COLUMNS: Final = 80
ROWS: Final = 24
PROMPT_COLUMNS: Final = 20
FOLLOWED_ROWS: Final = 6
FRAME_ROWS: Final = 3
ALL: Final = 10_000
MORE: Final = " ...: a"
CUT: Final = ".."
KEYS: Final = "SPACE next  LEFT back  p play  j jump  / find  s settle  f frames  a all  q quit"


def screen(timeline: Timeline, place: int, table: str, note: str = "") -> list[str]:
    """Exactly ``ROWS`` lines of at most ``COLUMNS``; ``note`` is the line above the keys."""
    moment = timeline.moments[place]
    before = timeline.moments[place - 1] if place else None
    lines = [_head(timeline, place, table), _ruler(_since(timeline, moment))]
    lines += _what(moment)
    shown = [_ruler(_until(moment, before)), *_displays(moment, before)]
    bytes_of = _frames(moment, FRAME_ROWS)
    room = ROWS - 2 - len(lines) - len(shown)
    # Bytes give way to what followed, and that to the displays: its rest is said to be there.
    lines += _followed(moment, max(room - len(bytes_of), min(FOLLOWED_ROWS, max(room, 1))))
    return _filled([*lines, *shown, *bytes_of], note)


def _filled(lines: list[str], note: str) -> list[str]:
    body = [line[:COLUMNS].rstrip() for line in lines[: ROWS - 2]]
    body += [""] * (ROWS - 2 - len(body))
    return [*body, note[:COLUMNS], KEYS[:COLUMNS]]


def _head(timeline: Timeline, place: int, table: str) -> str:
    moment = timeline.moments[place]
    left = f"{table}  {timeline.game}  ROUND {timeline.round_no}  {timeline.status}"
    at = exact(moment.at_ms, timeline.utc_offset_min)
    right = f"{at}  record {moment.seq}  {place + 1}/{len(timeline.moments)}"
    return f"{left:{COLUMNS - len(right) - 1}} {right}"


def _since(timeline: Timeline, moment: Moment) -> str:
    opened = next((m for m in timeline.moments if "opening" in m.marks), timeline.moments[0])
    apart = (moment.at_ms - opened.at_ms) / 1000
    return f"{moment.phase or 'between rounds'}, {apart:+.1f} s from the opening"


def _until(moment: Moment, before: Moment | None) -> str:
    """Only what stood there last has room: how often the prompt changed until then is said."""
    times = sum(shown.device == "prompt" for shown in moment.shown)
    said = "displays from then on" + (" (* changed)" if before else "")
    return f"{said}; the prompt's last of {times}: a" if times > 1 else said


def _ruler(text: str) -> str:
    return f"-- {text} ".ljust(COLUMNS, "-")


def _what(moment: Moment, most: int = 2, columns: int = COLUMNS) -> Iterator[str]:
    """Who said what; ``most`` lines for what it is and for what is wrong with it."""
    clause = f"  [{moment.clause}]" if moment.clause else ""
    yield from _wrapped(f"{moment.what}{clause}", most, columns)
    yield f"  {moment.by}" + ("" if moment.trouble else _checked(moment))
    if moment.trouble:
        yield from _wrapped(f"!! {moment.trouble}", most, columns)


def _wrapped(text: str, most: int, columns: int) -> list[str]:
    """What does not fit is marked: ``a`` shows it."""
    lines = textwrap.wrap(text, columns)
    if len(lines) <= most:
        return lines
    return [*lines[: most - 1], f"{lines[most - 1][: columns - len(MORE)]}{MORE}"]


def _checked(moment: Moment) -> str:
    return f"; checked: state {moment.digest}" if moment.digest else ""


def _followed(moment: Moment, most: int) -> list[str]:
    lines: list[str] = []
    for card in moment.cards:
        if card.card is None:
            lines.append(f"  -> a closed card, for {card.where}: never public so far")
        elif not card.public:
            lines.append(f"  -> {card.card} for {card.where}: NEVER PUBLIC")
        else:
            lines.append(f"  -> {card.card} for {card.where}: public with {card.public}")
    for said in moment.followed:
        lines += textwrap.wrap(f"  -> {said}", COLUMNS, subsequent_indent="     ")
    if len(lines) > most:
        left = len(lines) - most + 1
        lines = [*lines[: most - 1], f"     ... {counted(left, 'more line')}: a"]
    return lines


def _displays(moment: Moment, before: Moment | None) -> list[str]:
    shown, was = dict(moment.displays), dict(before.displays) if before else {}
    left = _prompt(shown, was)
    right = _seats(moment, lamps(shown), lamps(was) if was else {})
    lines = [
        f"{left[n] if n < len(left) else '':{PROMPT_COLUMNS + 4}} "
        f"{right[n] if n < len(right) else ''}".rstrip()
        for n in range(max(len(left), len(right)))
    ]
    return [*lines, *_others(shown, was)]


def _prompt(shown: dict[str, str], was: dict[str, str]) -> list[str]:
    text = shown.get("prompt")
    if text is None or text == UNREAD:
        return ["prompt: not read back"]
    edge = f"+{'-' * PROMPT_COLUMNS}+"
    changed = " *" if was and was.get("prompt") != text else ""
    rows = [f"|{line[:PROMPT_COLUMNS]:{PROMPT_COLUMNS}}|" for line in text.split("\n")]
    return [edge + changed, *rows, edge]


def _seats(moment: Moment, lit: dict[str, str], was: dict[str, str]) -> list[str]:
    """A line for each seat: lamp, cards, wagers."""
    told = {row.seat: seat_text(row, COLUMNS - PROMPT_COLUMNS - 17) for row in moment.felt.rows}
    numbers = sorted(n for n in {*told, *(int(k) for k in lit if k.isdecimal())} if n)
    lines = []
    for number in numbers:
        lamp = lit.get(str(number), "")
        if lamp in ("", "off") and number not in told:
            continue
        star = "*" if was and was.get(str(number)) != lamp else " "
        lines.append(f"{number}{star}{lamp:9} {told.get(number, '')}")
    if told.get(0):
        lines.append(f"dealer      {told[0]}")
    return [line[: COLUMNS - PROMPT_COLUMNS - 5] for line in lines]


def seat_text(row: SeatRow, columns: int) -> str:
    """Cards, wagers and decisions; shorter words where there is little room. What does not fit
    even then ends in ``..``: the page of the moment has all of it."""
    cards = " ".join(map(card_text, row.cards))
    for words_of, between in ((_long, "  "), (_short, "  "), (_short, " ")):
        placed = " ".join(map(words_of, row.wagers))
        said = between.join(filter(None, (cards, placed, row.note)))
        if len(said) <= columns:
            return said
    return f"{said[: columns - len(CUT)]}{CUT}"


def _long(one: OnSpot) -> str:
    return f"{one.spot} {cents_text(one.cents)} {one.decided}".rstrip()


def _short(one: OnSpot) -> str:
    spot = one.spot
    name = "".join(part[0].upper() for part in spot.split("_")) if spot.isidentifier() else spot
    return f"{name}:{cents_text(one.cents).removesuffix('.00')} {one.decided}".rstrip()


def _others(shown: dict[str, str], was: dict[str, str]) -> Iterator[str]:
    parts = []
    for name, text, old in (
        ("meter", meter(shown), meter(was)),
        ("sign", shown.get("sign", ""), was.get("sign", "")),
        ("magic card", shown.get("magic", ""), was.get("magic", "")),
    ):
        if text:
            parts.append(f"{name}{'*' if was and text != old else ''} {text.strip() or 'dark'}")
    parts += [f"{k} {v}" for k, v in lamps(shown).items() if k in ("beacon", "buzzer")]
    if "counting up" in shown:
        parts.append(f"counting {shown['counting up']}")
    yield from textwrap.wrap("   ".join(parts), COLUMNS)


def _frames(moment: Moment, most: int) -> list[str]:
    if not moment.frames:
        return []
    total = len(moment.frames) + moment.frames_more
    lines = [_ruler(f"bytes of {', '.join(sorted({f.device for f in moment.frames}))}: {total}")]
    return lines + frame_lines(moment.frames)[-most:]


def frame_lines(frames: Sequence[FrameLine], columns: int = COLUMNS) -> list[str]:
    """A line for each; those that stay sealed say nothing one by one."""
    lines: list[str] = []
    for (sealed, device), run in groupby(frames, lambda one: (one.data == SEALED, one.device)):
        own = list(run)
        if sealed and len(own) > 1:
            at_ms = own[0].at_ms
            many = counted(len(own), "frame")
            head = f"  {at_ms // 1000 % 60:02}.{at_ms % 1000:03} {device}: {many}"
            lines.append(f"{head}, {SEALED.replace('opens it', 'opens them')}")
        else:
            lines += [frame_line(one, columns) for one in own]
    return lines


def frame_line(one: FrameLine, columns: int = COLUMNS) -> str:
    arrow = "->" if one.direction == "out" else "<-"
    label = f" {one.label}" if one.label else ""
    head = f"  {one.at_ms // 1000 % 60:02}.{one.at_ms % 1000:03} {one.device} {arrow}{label} "
    room = columns - len(head)
    return head + (one.data if len(one.data) <= room else one.data[: room - 3] + "...")


# --- whole pages ---------------------------------------------------------------------------------


def frames_page(moment: Moment, note: str = "") -> list[str]:
    """Every byte that belongs to the moment, wrapped."""
    lines = [f"bytes behind record {moment.seq}: {moment.what}", ""]
    for line in frame_lines(moment.frames, 1 << 20):
        lines += textwrap.wrap(line, COLUMNS, subsequent_indent=" " * 10, break_long_words=False)
    if moment.frames_more:
        lines.append(f"  and {moment.frames_more} others of those two seconds")
    if not moment.frames:
        missing = note if on_line(moment) else ""
        lines.append(missing or "no bytes of a serial line belong to this moment")
    return lines


def compare_page(found: Compared) -> list[str]:
    return [found.verdict, *(f"  {one}" for one in found.differences), "", *found.lines]


def moment_page(timeline: Timeline, moment: Moment) -> list[str]:
    """All that is known of a moment, as text of any length."""
    at = exact(moment.at_ms, timeline.utc_offset_min)
    lines = [f"{at}  record {moment.seq}"]
    lines += [f"  {line}" for line in _what(moment, ALL, COLUMNS - 2)]
    lines += _followed(moment, ALL)
    for one in moment.shown:
        text = " / ".join(" ".join(part.split()) for part in one.content.split("\n"))
        lines += textwrap.wrap(
            f"  {clock(one.at_ms, timeline.utc_offset_min)}.{one.at_ms % 1000:03} "
            f"{one.device} shows: {text}",
            COLUMNS,
            subsequent_indent="      ",
        )
    return lines + frame_lines(moment.frames)


def felt_page(moment: Moment, columns: int = COLUMNS) -> list[str]:
    """Everything on the table at this moment, not cut."""
    lines = [""] if moment.felt.rows else []
    for row in moment.felt.rows:
        who = "dealer" if row.seat == DEALER else f"seat {row.seat}"
        said = f"  {who}: {seat_text(row, ALL)}"
        lines += textwrap.wrap(said, columns, subsequent_indent="      ")
    return lines


def pages(lines: Sequence[str]) -> Iterator[list[str]]:
    """Long texts in screens."""
    size = ROWS - 2
    for start in range(0, max(1, len(lines)), size):
        yield list(lines[start : start + size])
