"""``underfelt table``: runs one table until it is stopped."""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
import sys
from pathlib import Path
from typing import Final

from controller.commands.table_process import compose_process
from controller.config.live import LiveConfig, load_live
from controller.daemon import compose as starting
from controller.daemon.changing import Reloader
from controller.daemon.crash_policy import end_on_failure
from controller.daemon.frames import Frames, open_frames
from controller.daemon.journald import DaemonLog, journal_socket, kept_log
from controller.daemon.locked import stay_locked
from controller.daemon.logbook import Entry, say
from controller.daemon.runtime import Runtime
from controller.daemon.selfaudit import audit
from controller.daemon.setup import opening_of, setup_of
from controller.daemon.standalone import Standalone
from controller.faults.refusals import REFUSED, StartRefusal, exhausted, refusal_of
from controller.faults.troubles import LOCKED_MODE
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
    parser.add_argument("--meter", type=int, metavar="CENTS", help="jackpot of a simulated table")
    parser.add_argument(
        "--selection", metavar="CARD/SEAT", help="selection of a simulated table, instead of a draw"
    )
    parser.add_argument(
        "--locked", action="store_true", help="do not play: show that the table is locked"
    )
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
        table = starting.compose(setup_of(config, standalone=standalone))
        setup = table.setup
        frames = open_frames(setup.journal.path, setup.key, table.chance, setup.card_devices)
    except REFUSED as error:
        return _refused(refusal_of(error))
    serving = _serve(config, table, frames, log)
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


def _refused(refusal: StartRefusal) -> int:
    """Why it does not start: to journald if it reads our standard error, else as a plain line."""
    if journal_socket() is None:
        print(f"underfelt table: {refusal.text}", file=sys.stderr)
    else:
        say(Entry(REFUSALS.get(refusal.exit_code, "failed"), logging.ERROR, refusal.text))
    return refusal.exit_code


async def _serve(config: LiveConfig, table: starting.Table, frames: Frames, log: DaemonLog) -> None:
    process = compose_process(config, table, frames, left_out=log.limit.left_out)
    loop = asyncio.get_running_loop()
    end_on_failure(loop)
    for name in (signal.SIGTERM, signal.SIGINT):
        loop.add_signal_handler(name, process.runtime.stop, name.name)
    _reload_on_hangup(config, process.runtime)
    await process.run()


def _reload_on_hangup(config: LiveConfig, runtime: Runtime) -> None:
    """SIGHUP: read the configuration again, off the loop; the writer decides what becomes of it."""
    loop = asyncio.get_running_loop()
    reloader = Reloader(config, lambda: load_live(config.path, starting.KINDS), opening_of)
    reading: set[asyncio.Task[None]] = set()

    async def reload() -> None:
        in_force = runtime.status.get("configuration", config.effective_hash)
        runtime.put(await loop.run_in_executor(None, reloader.reload, in_force))

    def hung_up() -> None:
        task = loop.create_task(reload())
        reading.add(task)
        task.add_done_callback(reading.discard)

    loop.add_signal_handler(signal.SIGHUP, hung_up)
