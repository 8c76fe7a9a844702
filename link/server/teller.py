"""What the loop tells those who follow: which parts of the feed changed, and when they are made.

After a committed group only the parts it touched are made again, at most ten times a second, and
none while nobody follows. Parts are made in ``turn`` alone, when the ledger holds nothing that is
not committed.

What goes wrong here concerns the feed alone, and one part of it alone: tables are served. Only a
store that this server may lead no longer is not the feed's to judge.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from link.accounts import AccountRefused
from link.ledger.orders import AcknowledgeAlarm, Given
from link.reports.days import GamingDays
from link.rows import AlarmRow, AwardStep, EventRow, Group
from link.server import feed_parts, feed_words
from link.server.alarm_board import AlarmBoard, attended
from link.server.feed import LinkFeed
from link.server.floor import Floor
from link.server.leadership import LOSES_THE_LEAD
from link.server.sums_window import SumsWindow
from link.store.base import Store
from link.store.contract import INT64_MAX

if TYPE_CHECKING:
    from link.server.server import Server

PACE_MS: Final = 100
TABLE_MS: Final = 1
"""The pace of the tables is slower the more there are: each is a row of an answer."""
AGAIN_MS: Final = 1_000
"""After something went wrong."""
LATEST: Final = 50
RECENT_ALARMS: Final = 500
MONEY: Final = ("meters", "pools", "conservation")
SUMS: Final = ("sums", "sums_now")
SUMS_MS: Final = 1_000
"""A plot needs no more."""
LOADING_MS: Final = 20
"""Of a turn, for sums that are not loaded yet."""
ALL: Final = ("server", *MONEY, "tables", "awards", "alarms", "accounts", *SUMS)


class Teller:
    def __init__(self, server: Server, store: Store, feed: LinkFeed) -> None:
        self._server, self._store, self._feed = server, store, feed
        self.board = AlarmBoard()
        reports = server.config.reports
        self._sums = SumsWindow(GamingDays.of(reports.time_zone, reports.day_start))
        self._dirty: dict[str, None] = {"server": None}
        self._next_ms: dict[str, int] = {}
        """Part to when it may be made again; monotonic."""
        self._moves = -1
        """Of the sessions, as told."""
        self._tables = 0

    # --- what happened ----------------------------------------------------------------------------

    def begin(self) -> None:
        """It leads, does so no longer, or went back to what is stored: everything again."""
        self._feed.restart()
        self._dirty, self._next_ms = dict.fromkeys(ALL), {}
        self.board = AlarmBoard()
        self._sums.clear()
        if self._server.floor is not None:
            rows = self._store.latest_alarms(RECENT_ALARMS, before=INT64_MAX)
            acts = self._server.office.chain.attended
            self.board.rebuild(reversed(rows), acts, self._table_of, self._stands)
            self._clear_alarms()

    def committed(self, group: Group) -> None:
        """A group is durable."""
        try:
            self._note(group)
        except MemoryError:
            raise
        except Exception as error:
            self._server.said(f"feed: {type(error).__name__}: {error}")
            self.begin()

    def _note(self, group: Group) -> None:
        ordered = feed_words.orders_of(group)
        entries = [said for one in ordered if (said := feed_words.order(*one)) is not None]
        entries += feed_words.steps(group)
        entries += [feed_words.alarm(row) for row in self._noticed(group.alarms, ordered)]
        if entries:
            self._feed.note(entries)
        if group.balances or group.levels:
            self._dirty.update(dict.fromkeys(MONEY))
        if group.sums:
            self._dirty["sums_now"] = None
            if self._feed.followed():
                self._sums.add(group.sums)
            else:
                self._sums.clear()
        if group.journals or group.keys or ordered:
            self._dirty["tables"] = None
        if group.steps:
            self._dirty["awards"] = None
        if ordered:
            self._dirty["accounts"] = None
        if group.alarms or ordered:
            self._dirty["alarms"] = None
            self._clear_alarms()

    def _noticed(
        self, alarms: Sequence[AlarmRow], ordered: Iterable[tuple[EventRow, Given]]
    ) -> list[AlarmRow]:
        """Rows that people are to notice; what people did is done in the order of the record."""
        if alarms:
            self._clear_alarms()  # what was over before them is armed again
        acts = deque(act for row, given in ordered if (act := attended(row, given)) is not None)
        self._server.office.chain.attended.extend(acts)
        found = []
        for row in alarms:
            while acts and acts[0].event < row.event:
                self.board.attend(acts.popleft(), self._table_of)
            if self.board.raised(row):
                found.append(row)
        for act in acts:
            self.board.attend(act, self._table_of)
        return found

    def _table_of(self, journal: str) -> str:
        floor = self._server.floor
        known = None if floor is None else floor.ledger.state.journals.get(journal)
        return "" if known is None else known.table

    def tend(self) -> None:
        """Now and then: what changes without a group."""
        self._dirty["server"] = None
        if self._server.floor is not None and self._clear_alarms():
            self._dirty["alarms"] = None
        if self._sums.roll(self._server.clock.now_ms()):
            self._dirty.update(dict.fromkeys(SUMS))

    def _clear_alarms(self) -> bool:
        return self.board.refresh(self._server.clock.now_ms(), self._stands)

    def _stands(self, code: str, table: str) -> bool | None:
        server = self._server
        if code == "E-ACT-011":
            return bool(server.office.chain.unacknowledged)
        if code == "E-ACT-013":
            return bool(server.office.chain.findings)
        if code == "E-LNK-043":
            return server.clock_is_behind()
        if table and server.floor is not None:
            known = server.floor.ledger.state.journals_of.get(table, ())
            return True if any(one.state == "halted" for one in known) else None
        return None

    # --- telling ----------------------------------------------------------------------------------

    def check_open(self, order: AcknowledgeAlarm) -> None:
        """``AccountRefused`` if nobody can acknowledge it now."""
        found = self.board.find(order.alarm)
        if found is None:
            said = f"alarm {order.alarm} is not open"
        elif found.acknowledged is not None:
            said = f"alarm {order.alarm} was acknowledged by {found.acknowledged.by}"
        else:
            return
        raise AccountRefused("E-ACT-007", f"acknowledge alarm: {said}")

    def wait_ms(self, mono: int) -> int | None:
        """When there is something to tell that may not be told yet."""
        times = [self._next_ms.get(part, 0) for part in self._dirty]
        return max(min(times) - mono, 0) if times and self._feed.followed() else None

    def turn(self, mono: int, *, asked: bool = False) -> None:
        """After the commit. ``asked``: somebody begins to follow, and waits for all of it."""
        floor = self._server.floor
        if floor is not None and floor.sessions.moves != self._moves:
            self._moves = floor.sessions.moves
            self._dirty["tables"] = None
        if not asked and not self._feed.followed():
            return
        if not self._sums.complete or (asked and not self._sums.ready):  # an hour may have ended
            self._dirty.update(dict.fromkeys(SUMS))
        due = [part for part in self._dirty if asked or mono >= self._next_ms.get(part, 0)]
        if due or asked:
            self._tell(due, mono)

    def _tell(self, parts: Iterable[str], mono: int) -> None:
        makers, made = self._makers(), dict[str, Any]()
        loading = not (self._sums.ready and self._sums.complete)
        for part in parts:
            self._next_ms[part] = mono + self._pace_ms(part)
            try:
                if part in makers:
                    made[part] = makers[part]()
            except (MemoryError, *LOSES_THE_LEAD):
                raise
            except Exception as error:
                self._next_ms[part] = mono + AGAIN_MS
                self._server.said(f"feed: part {part}: {type(error).__name__}: {error}")
            else:
                del self._dirty[part]
        if loading and self._sums.ready:
            # Either part loads more, which the other may not have had when it was made.
            self._dirty.update(dict.fromkeys(SUMS))
        self._feed.set(made)

    def _pace_ms(self, part: str) -> int:
        pace = PACE_MS
        if part in ("tables", "sums_now"):
            pace = max(PACE_MS, TABLE_MS * self._tables)
        if part in SUMS and self._sums.complete:
            pace = max(SUMS_MS, pace)
        return pace

    def _makers(self) -> Mapping[str, Callable[[], Any]]:
        """What a standby does not know it does not tell."""
        floor = self._server.floor
        if floor is None:
            return {"server": self._server.standby_part}
        return {
            "server": self._server.standby_part,
            "meters": lambda: feed_parts.meters(floor.ledger),
            "pools": lambda: feed_parts.pools(floor.ledger),
            "conservation": lambda: feed_parts.conservation(floor.ledger),
            "tables": lambda: self._known_tables(floor),
            "awards": lambda: self._awards(floor),
            "alarms": lambda: feed_parts.alarms(self.board),
            "accounts": lambda: dict(self._server.office.chain.changed),
            "sums": lambda: self._loaded_sums().past(),
            "sums_now": lambda: self._loaded_sums().present(),
        }

    def _loaded_sums(self) -> SumsWindow:
        window, clock = self._sums, self._server.clock
        if not window.ready:
            window.begin(clock.now_ms())
        if not window.complete:
            until = clock.mono_ms() + LOADING_MS
            window.load(self._store.sums, lambda: clock.mono_ms() >= until)
        return window

    def _known_tables(self, floor: Floor) -> Any:
        made = feed_parts.tables(floor, self._server.gate.rows.values())
        self._tables = len(made)
        return made

    def _awards(self, floor: Floor) -> Any:
        state = floor.ledger.state
        latest = self._store.latest_awards(LATEST, before="")
        steps: dict[str, list[AwardStep]] = {}
        for name in {*(row.award for row in latest), *feed_parts.waiting(state)}:
            steps[name] = list(self._store.steps(award=name))
        return feed_parts.awards(state, latest, steps)
