"""``underfelt table``: runs one table until it is stopped."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
import sys
import time
from pathlib import Path
from typing import Final

from controller.config.live import LiveConfig, load_live
from controller.daemon import compose as starting
from controller.daemon.changing import Reloader
from controller.daemon.crash_policy import end_on_failure
from controller.daemon.http import Http
from controller.daemon.journald import DaemonLog, journal_socket, kept_log
from controller.daemon.linking import link_of
from controller.daemon.locked import stay_locked
from controller.daemon.logbook import Entry, LogKeeper, say
from controller.daemon.pulse import Pulse
from controller.daemon.runtime import Runtime
from controller.daemon.selfaudit import audit
from controller.daemon.service import Service
from controller.daemon.standalone import Standalone
from controller.daemon.tamper import Sockets
from controller.daemon.verbs import Verbs
from controller.daemon.writer import Noted
from controller.faults.refusals import REFUSED, Refusal, exhausted, refusal_of
from controller.faults.troubles import LOCKED_MODE
from controller.shell.desk.desk import desk_of
from controller.shell.desk.recent import Direction, Recent
from record.kit.arguments import Arguments
from record.kit.notify import Notifier
from record.kit.process import keep_memory_private

REFUSALS: Final = {
    os.EX_CONFIG: "configuration refused",
    os.EX_NOINPUT: "configuration refused",
    os.EX_NOPERM: "configuration refused",
    os.EX_DATAERR: "journal failed",
}
"""The class of the log line, by exit code."""

EPILOG: Final = """\
examples:
  underfelt table --config /etc/underfelt/table.toml
  underfelt status --config /etc/underfelt/table.toml
"""


def run(argv: list[str]) -> int:
    parser = Arguments("underfelt table", "Run a table.", EPILOG)
    parser.add_argument("--config", required=True, metavar="FILE", help="the table's configuration")
    parser.add_argument("--meter", type=int, metavar="CENTS", help="a simulated table: its jackpot")
    parser.add_argument("--selection", metavar="CARD/SEAT", help="a simulated table: not drawn")
    parser.add_argument("--locked", action="store_true", help="do not play: say so and wait")
    options = parser.parse_args(argv)
    with kept_log(Path(options.config).absolute().parent.name) as log:
        if options.locked:
            asyncio.run(_locked(options.config))
            return os.EX_OK
        return _run(parser, options, log)


def _run(parser: Arguments, options: argparse.Namespace, log: DaemonLog) -> int:
    try:
        standalone = Standalone.from_text(options.meter, options.selection)
    except ValueError as error:
        parser.error(str(error))
    keep_memory_private()
    try:
        config = load_live(options.config, starting.KINDS)
        log.handler.table_id = config.name
        if standalone != Standalone() and not config.simulated:
            parser.error("--meter and --selection are for a table with simulated devices")
        if not config.simulated:
            audit(bool(sys.flags.inspect))
        started = starting.compose(config, scripted=standalone.scripted_selection())
    except REFUSED as error:
        return _refused(refusal_of(error))
    serving = _serve(config, started, standalone, log)
    try:
        asyncio.run(serving)
    except (OSError, MemoryError) as error:
        return _refused(exhausted(error))
    except RuntimeError as error:
        if "start new thread" not in str(error):
            raise
        return _refused(exhausted(MemoryError()))
    finally:
        serving.close()  # the loop itself may have been what could not be made
    return os.EX_OK


async def _locked(path: str) -> None:
    stop = asyncio.Event()
    loop = asyncio.get_running_loop()
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, stop.set)
    print("locked: call the technician", flush=True)
    text = "the table cannot be started and is locked: call the technician"
    say(Entry("table locked", logging.ERROR, text, None, LOCKED_MODE))
    await stay_locked(path, stop, Notifier.from_environment())


def _refused(refusal: Refusal) -> int:
    """Why it does not start: to journald if it reads our standard error, else as a plain line."""
    if journal_socket() is None:
        print(f"underfelt table: {refusal.text}", file=sys.stderr)
    else:
        say(Entry(REFUSALS.get(refusal.exit_code, "failed"), logging.ERROR, refusal.text))
    return refusal.exit_code


async def _serve(
    config: LiveConfig, started: starting.Started, standalone: Standalone, log: DaemonLog
) -> None:
    def deliver(effects: tuple[object, ...]) -> None:
        for effect in effects:
            for told in standalone.answer(effect):
                runtime.put(told)

    frames, recent = started.frames, Recent()

    def on_frame(device: str, direction: Direction, data: bytes, at_us: int) -> None:
        frames.note(device, direction, data, at_us)
        recent.frame(device, direction, data, at_us)

    runtime = Runtime(
        started.writer, started.rig, config.layout, deliver=deliver, on_frame=on_frame
    )
    runtime.listeners.append(recent.reading)
    link = link_of(started, runtime.put)
    runtime.linked = link.released
    if config.link is None:
        runtime.put(standalone.at_start())
    loop = asyncio.get_running_loop()
    end_on_failure(loop)
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, runtime.stop, name.name)
    _reload_on_hangup(config, runtime)
    frames.start()
    runtime.status = started.writer.status()  # who asks before the first group is answered too
    verbs = Verbs(config, started, runtime, link)
    http: Http | None = None
    if config.service.http:
        http = Http(config.service.address, config.service.port, verbs.answers())
        verbs.http_error = await http.start()
    repaired = started.journal.repaired
    desk = desk_of(config, runtime, verbs, recent, link, repaired_bytes=repaired)
    service = Service(config.service.socket, verbs.all(), {"shell": desk.answer}, desk.left)
    await service.start()

    notifier = Notifier.from_environment()
    watch = Pulse(runtime, started.rig, notifier)
    verbs.feeds = lambda: watch.fed
    sockets = Sockets(lambda body: runtime.put(Noted("alarm", body)))
    verbs.strangers = lambda: sockets.plugged
    keeper = LogKeeper(verbs.status, monotonic_us, started.table.attempts, log.limit.left_out)
    tasks = [asyncio.create_task(watch.run()), asyncio.create_task(keeper.run())]
    if not config.simulated:
        tasks.append(asyncio.create_task(sockets.run()))

    def ready() -> None:
        link.start()
        notifier.ready(f"journal {started.journal.journal_id}")
        text = f"table {config.name}: {config.game}, journal {started.journal.journal_id}"
        print(text, flush=True)
        say(Entry("started", logging.INFO, text))
        runtime.logged = keeper.released

    try:
        await runtime.run(started.opened, list(started.replayed.missing), ready)
    finally:
        notifier.stopping()
        say(Entry("stopping", logging.INFO, f"table {config.name} stops: {runtime.stopping}"))
        for task in tasks:
            task.cancel()
        await desk.tests.close("the table stops")
        await link.close("the table stops")
        await service.close()
        await desk.audit.close()
        if http is not None:
            await http.close()
        frames.close()
        started.journal.close()


def monotonic_us() -> int:
    return time.monotonic_ns() // 1000


def _reload_on_hangup(config: LiveConfig, runtime: Runtime) -> None:
    """SIGHUP: read the configuration again, off the loop; the writer decides what becomes of it."""
    loop = asyncio.get_running_loop()
    reloader = Reloader(config, lambda: load_live(config.path, starting.KINDS), starting.opening_of)
    reading: set[asyncio.Task[None]] = set()

    async def reload() -> None:
        in_force = runtime.status.get("configuration", config.effective_hash)
        runtime.put(await loop.run_in_executor(None, reloader.reload, in_force))

    def hung_up() -> None:
        task = loop.create_task(reload())
        reading.add(task)
        task.add_done_callback(reading.discard)

    loop.add_signal_handler(signal.SIGHUP, hung_up)
