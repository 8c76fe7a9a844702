"""The process around a table: its loop, its socket, the shell, metrics, the log and the watchdog.

``underfelt table`` runs what is composed here, and so do the tests; the table itself comes from
``controller.daemon.compose``.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from dataclasses import dataclass

from controller.config.live import LiveConfig
from controller.daemon.compose import Table
from controller.daemon.following import Following
from controller.daemon.frames import Frames
from controller.daemon.http import Http
from controller.daemon.logbook import Entry, LogKeeper, say
from controller.daemon.pulse import Pulse
from controller.daemon.runtime import Runtime
from controller.daemon.service import Service
from controller.daemon.tamper import Sockets
from controller.daemon.verbs import Verbs
from controller.daemon.writer import Noted
from controller.shell.desk.audit import Audit
from controller.shell.desk.desk import Access, Desk, desk_of
from controller.shell.desk.recent import Direction, Recent
from record.kit.notify import Notifier


@dataclass(frozen=True, slots=True)
class TableProcess:
    """All that runs around one table, complete. Nothing of it runs yet."""

    config: LiveConfig
    table: Table
    runtime: Runtime
    frames: Frames
    verbs: Verbs
    desk: Desk
    service: Service
    http: Http | None
    notifier: Notifier
    pulse: Pulse
    sockets: Sockets
    keeper: LogKeeper

    async def run(self) -> None:
        """Until the runtime is asked to stop."""
        self.frames.start()
        if self.http is not None:
            await self.http.start(self.verbs.answers())
        await self.service.start()
        tasks = [asyncio.create_task(one) for one in (self.pulse.run(), self.keeper.run())]
        if not self.config.simulated:
            tasks.append(asyncio.create_task(self.sockets.run()))
        try:
            await self.runtime.run(self._ready)
        finally:
            self.notifier.stopping()
            text = f"table {self.config.name} stops: {self.runtime.stopping}"
            say(Entry("stopping", logging.INFO, text))
            for task in tasks:
                task.cancel()
            await self._close()

    def _ready(self) -> None:
        config, journal = self.config, self.table.journal
        self.notifier.ready(f"journal {journal.journal_id}")
        text = f"table {config.name}: {config.game}, journal {journal.journal_id}"
        print(text, flush=True)
        say(Entry("started", logging.INFO, text))
        self.runtime.watchers.append(self.keeper.released)  # its lines come after that one

    async def _close(self) -> None:
        await self.desk.tests.close("the table stops")
        await self.table.link.close("the table stops")
        await self.service.close()
        await self.desk.audit.close()
        if self.http is not None:
            await self.http.close()
        self.frames.close()
        self.table.journal.close()


def compose_process(
    config: LiveConfig,
    table: Table,
    frames: Frames,
    *,
    left_out: Callable[[], list[tuple[str, str, int]]] = list,
    runtime: Runtime | None = None,
    recent: Recent | None = None,
    audit: Audit | None = None,
    access: Access | None = None,
) -> TableProcess:
    """In the event loop. ``left_out`` says what the log's rate limit kept back; whatever else is
    given takes the place of what a table has."""
    clock, recent = table.clock, recent or Recent()
    runtime = runtime or Runtime(table, on_frame=_noting(frames, recent))
    notifier = Notifier.from_environment()
    pulse = Pulse(runtime, table.rig, notifier)
    sockets = Sockets(lambda body: runtime.put(Noted("alarm", body)))
    service = config.service
    http = Http(service.address, service.port) if service.http else None
    verbs = Verbs(config, table, runtime, frames, pulse=pulse, sockets=sockets, http=http)
    desk = desk_of(config, table, runtime, verbs, recent, audit=audit, access=access)
    about = {"table": config.name, "simulated": config.simulated}
    following = Following(table.feed, about, verbs.status, clock)
    runtime.listeners += [recent.reading, desk.tests.take]
    runtime.watchers.append(following.released)
    attended = {"shell": desk.answer, "changes": following.answer}
    return TableProcess(
        config=config,
        table=table,
        runtime=runtime,
        frames=frames,
        verbs=verbs,
        desk=desk,
        service=Service(service.socket, verbs.all(), attended, desk.left),
        http=http,
        notifier=notifier,
        pulse=pulse,
        sockets=sockets,
        keeper=LogKeeper(verbs.status, clock.now_us, table.attempts, left_out),
    )


def _noting(frames: Frames, recent: Recent) -> Callable[[str, Direction, bytes, int], None]:
    def on_frame(device: str, direction: Direction, data: bytes, at_us: int) -> None:
        frames.note(device, direction, data, at_us)
        recent.frame(device, direction, data, at_us)

    return on_frame
