"""No half-dead table: what goes wrong in a callback of the event loop ends the process.

asyncio would write a traceback and go on, with a timer or a port that nobody looks after any more
and a watchdog that is still fed. The journal holds all that was acted upon, so a new start is the
better answer. A request that failed at the service socket is not worth a round; it is reported.
"""

from __future__ import annotations

import asyncio
import logging
import os
import traceback
from collections.abc import Callable
from typing import Any, Final

from controller.daemon.logbook import Entry, say
from record.kit.log_lines import write_now

_NO_MEMORY: Final = b"underfelt table: no memory; the table starts again (E-RUN-004)\n"


def end_on_failure(
    loop: asyncio.AbstractEventLoop, fatal: Callable[[int], object] = os._exit
) -> None:
    def heard(_loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        error = context.get("exception")
        if isinstance(error, MemoryError):
            os.write(2, _NO_MEMORY)  # made beforehand: there is nothing left to make it from
            fatal(os.EX_TEMPFAIL)
        said = f"{context['message']}: {type(error).__name__}"
        if isinstance(error, OSError):
            said += f": {error.strerror}"
        say(Entry("failed", logging.CRITICAL, said))
        if error is not None and "handle" in context and not isinstance(error, OSError):
            # Where, but not what: the text of an unforeseen error might name a card.
            write_now(2, "".join(traceback.format_tb(error.__traceback__)))
            fatal(os.EX_SOFTWARE)

    loop.set_exception_handler(heard)
