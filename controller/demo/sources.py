"""What the floor's sockets answer, gathered: every table's status, the server's rows, the sign.

The same doors that ``underfelt status``, ``jackpot`` and a real sign use; nothing is known here
that they could not know.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import zmq

from controller.demo.screen import OPEN_STATES, FloorNote, MeterView, TableView
from controller.demo.setup import MUST_HIT, FloorFolder
from controller.demo.views import (
    SETTLED,
    AlarmRow,
    AwardRow,
    DueStep,
    MeterRow,
    StepRow,
    due,
    ending,
    last_hand,
    meter_view,
    note_of_alarm,
    note_of_event,
    note_of_step,
    table_view,
)
from record.kit.lines import ask
from record.link.keys import load_public, load_secret

TOPIC: Final = b"meters"
STALE_S: Final = 5.0


class Sign:
    """Subscribed until closed; ZeroMQ connects again by itself."""

    def __init__(self, endpoint: str, secret: Path, public: Path, server: Path) -> None:
        self._context = zmq.Context()
        self._socket = self._context.socket(zmq.SUB)
        self._socket.linger = 0
        self._socket.curve_secretkey = load_secret(secret).reveal()
        self._socket.curve_publickey = load_public(public).encode()
        self._socket.curve_serverkey = load_public(server).encode()
        self._socket.subscribe(TOPIC)
        self._socket.connect(endpoint)
        self._at = (0, 0)
        self.meters: list[MeterRow] = []
        self.heard_s = 0.0

    def listen(self, now_s: float) -> None:
        """Take everything that has come; the highest (epoch, seq) counts."""
        while True:
            try:
                *_, frame = self._socket.recv_multipart(zmq.DONTWAIT)
            except zmq.Again:
                return
            told = json.loads(frame)
            at = (told["epoch"], told["seq"])
            if at > self._at:
                self._at, self.meters, self.heard_s = at, told["meters"], now_s

    def silent_s(self, now_s: float) -> int:
        """How long nothing came, once it is too long to be live; else 0."""
        silence = now_s - self.heard_s
        return int(silence) if self.meters and silence > STALE_S else 0

    def close(self) -> None:
        self._socket.close(0)
        self._context.term()


PATIENCE_S: Final = 5.0
KEPT_NOTES: Final = 200
PAST_EVENTS, PAST_STEPS = 60, 15
"""At a start so many of the last time are read, for the list of what happened."""


def clock(at_ms: int) -> str:
    return time.strftime("%H:%M:%S", time.localtime(at_ms / 1000))


def now_ms() -> int:
    return time.time_ns() // 1_000_000


class NoServer(Exception):
    """The server does not answer, or refuses."""


class FloorSources:
    def __init__(self, folder: FloorFolder) -> None:
        self._folder = folder
        self._after = -1
        self._steps: list[StepRow] = []
        self._alarms = -1
        self._awards: dict[str, AwardRow] = {}
        self._states: dict[str, str] = {}
        self._sign: Sign | None = None
        self.server = ""
        self.tables: tuple[TableView, ...] = ()
        self.notes: list[FloorNote] = []
        self.last: dict[str, str] = {}
        self.settled: Counter[str] = Counter()
        """Rounds since the start of this demonstration, by table, void ones left out."""
        self.contributed: Counter[str] = Counter()
        """The same for acknowledged contributions."""

    # --- one look -----------------------------------------------------------------------------

    def look(self) -> list[FloorNote]:
        """Read everything again; the new notes."""
        self.tables = tuple(self._table(name, game) for name, game in self._folder.tables.items())
        fresh: list[FloorNote] = []
        try:
            self._look_at_server(fresh)
        except NoServer:
            self.server = ""
        if self._sign is not None:
            self._sign.listen(time.monotonic())
        fresh.sort(key=lambda note: note.at_ms)
        self.note(*fresh)
        return fresh

    def note(self, *notes: FloorNote) -> None:
        self.notes = [*self.notes, *notes][-KEPT_NOTES:]

    def _table(self, name: str, game: str) -> TableView:
        status: dict[str, Any] = {}
        with suppress(OSError, ValueError):
            status = ask(self._folder.table(name) / "service.sock", {"verb": "status"}, PATIENCE_S)
        return table_view(name, game, status)

    def _look_at_server(self, fresh: list[FloorNote]) -> None:
        status = self.ask({"verb": "status"})
        self.server = f"{status['server']} {'leads' if status['leading'] else 'stands by'}"
        if self._after < 0:
            last = self.ask({"verb": "rows", "kind": "mark"})["last_event"]
            self._after = max(0, last - PAST_EVENTS)
            alarms: list[AlarmRow] = self._rows("alarms", 0)
            self._alarms = max((row["id"] for row in alarms), default=0)
            # What was before this start is shown, and not counted.
            self._take_events(fresh, until=last)
        self._take_events(fresh)
        self._take_steps(fresh)
        for row in self._rows("alarms", self._alarms):
            self._alarms = row["id"]
            fresh.append(note_of_alarm(row, clock))

    def _take_events(self, fresh: list[FloorNote], until: int = 0) -> None:
        for row in self._rows("events", self._after):
            if until and row["id"] > until:
                return
            self._after = row["id"]
            note = note_of_event(row, clock)
            if note is not None:
                fresh.append(note)
            if ended := last_hand(row):
                self.last[row["table"]] = ended
            if not until and row["table"]:
                self._count(row["table"], json.loads(row["body"]))

    def _count(self, table: str, body: Mapping[str, Any]) -> None:
        if body["what"] == "contributed":
            self.contributed[table] += 1
        elif body["what"] == "round" and ending(body) == SETTLED:
            self.settled[table] += 1

    def _take_steps(self, fresh: list[FloorNote]) -> None:
        first = not self._steps
        new = self._new_steps()
        self._steps += new
        told = []
        for step in new:
            before = self._states.get(step["award"], "")
            self._states[step["award"]] = step["state"]
            if step["state"] != "claimed" and step["award"] in self._awards:
                award = self._awards[step["award"]]
                told.append(note_of_step(step, award, clock, before=before))
        fresh += told[-PAST_STEPS:] if first else told

    def _new_steps(self) -> list[StepRow]:
        """The newest awards first, until a page has nothing new and nothing open."""
        known = Counter(step["award"] for step in self._steps)
        found, cursor, more = list[StepRow](), "", True
        while more:
            page = self.ask({"verb": "awards", "cursor": cursor})
            new = [step for step in page["steps"] if step["step"] > known[step["award"]]]
            found += new
            self._awards |= {row["award"]: row for row in page["awards"]}
            cursor = page["next"]
            still_open = any(row["state"] in OPEN_STATES for row in page["awards"])
            more = bool(cursor) and bool(new or still_open)
        return sorted(found, key=lambda step: (step["event"], step["award"], step["step"]))

    def _rows(self, kind: str, after: int) -> list[Any]:
        """``EventRow`` or ``AlarmRow``, by their kind."""
        found: list[Any] = []
        while True:
            page = self.ask({"verb": "rows", "kind": kind, "after": after})
            found += page["rows"]
            after = page["next"]
            if not after:
                return found

    # --- meters and awards --------------------------------------------------------------------

    def open_sign(self) -> None:
        home = self._folder.folder
        self._sign = Sign(
            self._folder.endpoint("signs"), home / "sign.key", home / "sign.pub",
            self._folder.link / "link.pub",
        )  # fmt: skip

    def close(self) -> None:
        if self._sign is not None:
            self._sign.close()

    @property
    def meters(self) -> tuple[MeterView, ...]:
        rows = () if self._sign is None else self._sign.meters
        return tuple(meter_view(row, MUST_HIT) for row in rows)

    @property
    def stale_s(self) -> int:
        return 0 if self._sign is None else self._sign.silent_s(time.monotonic())

    def due(self) -> list[tuple[DueStep, AwardRow]]:
        return [(one, self._awards[one.award]) for one in due(self._awards.values(), self._steps)]

    # --- the server's control socket -----------------------------------------------------------

    def ask(self, request: Mapping[str, Any]) -> dict[str, Any]:
        try:
            answer = ask(self._folder.control, request, PATIENCE_S)
        except (OSError, ValueError) as error:
            raise NoServer(str(error)) from None
        if "error" in answer or not answer:
            raise NoServer(str(answer))
        return answer

    def leads(self) -> bool:
        try:
            return bool(self.ask({"verb": "status"})["leading"])
        except NoServer:
            return False

    def order(self, one: DueStep) -> None:
        """By each of its people in turn; who comes too late, because a viewer was faster, is
        refused by the server, and that is all."""
        for person in one.by:
            password = Path(self._folder.password(person)).read_text("ascii").strip()
            request = {"what": one.what, "award": one.award}
            with suppress(NoServer):
                self.ask({"verb": "order", "by": [[person, password]], "order": request})
