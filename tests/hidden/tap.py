"""What is put into the two processes of a searched table, from outside their own code.

In the simulator a tap: every byte that comes to a line or chip, and what a person sees, written to
a file. In the daemon a socket for its log; and, to show that the search can find something, a leak
in every way out.
"""

from __future__ import annotations

import json
import logging
import sys
from collections import deque
from collections.abc import Callable
from pathlib import Path
from typing import Any

TAP = "tap.jsonl"
LOG = "journald"


def simulator(run: str) -> None:
    """Tap every wire of the simulated devices, then run the command."""
    from hw_sim.bus import Bus
    from hw_sim.line import Line
    from hw_sim.shell import SimShell

    stream = Path(run, TAP).open("w", buffering=1, encoding="utf-8")  # noqa: SIM115
    seen: deque[object] = deque([None], maxlen=5)
    """What stands for a tenth of a second; a line that is being written says nothing."""
    noted: list[object] = [None]

    def note(**row: object) -> None:
        stream.write(json.dumps(row, ensure_ascii=False) + "\n")

    def heard(line: Line, data: bytes) -> None:
        note(line=line.name, heard=data.hex())
        from_host(line, data)

    def sent(line: Line, frame: bytes) -> None:
        note(line=line.name, sent=frame.hex())
        send(line, frame)

    def moved(bus: Bus, address: int, data: bytes, read: int) -> bytes:
        if data:
            note(chip=address, heard=data.hex())
        return transfer(bus, address, data, read)

    def started(shell: SimShell) -> Any:
        def look() -> None:
            what = shell.table.look()
            told = {name: what[name] for name in ("prompt", "lamps", "meter", "magic", "sign")}
            seen.append(told)
            if seen.count(told) == len(seen) and told != noted[-1]:
                noted.append(told)
                note(look=told)
            shell.table.clock.after(20_000, look)

        shell.table.clock.after(0, look)
        return start(shell)

    from_host, send, transfer, start = Line.from_host, Line.send, Bus.transfer, SimShell.start
    _put(Line, "from_host", heard)
    _put(Line, "send", sent)
    _put(Bus, "transfer", moved)
    _put(SimShell, "start", started)
    _command()


def daemon(run: str, *, leaking: bool = False) -> None:
    """Every logger speaks to our socket, then run the command."""
    from controller.daemon.journald import JournaldHandler

    logging.getLogger().addHandler(JournaldHandler("searched", path=str(Path(run, LOG))))
    logging.getLogger().setLevel(logging.DEBUG)
    if leaking:
        _leak(Path(run))
    _command()


def _command() -> None:
    from controller.cli import main

    sys.exit(main(sys.argv[1:]))


def _put(owner: object, name: str, what: Callable[..., Any]) -> None:
    setattr(owner, name, what)


# --- leaks -------------------------------------------------------------------------------------


def _leak(run: Path) -> None:
    """Whatever the device tells goes out everywhere, at once."""
    from controller.daemon import pulse, verbs
    from controller.daemon.following import Following
    from controller.daemon.metrics import metrics
    from controller.daemon.writer import Writer
    from controller.history.framelog import FrameLog
    from controller.identity import opened_body
    from controller.rules.cards import name
    from controller.table.cards import card_of
    from controller.table.meter import Meter
    from controller.table.prompt import Prompter
    from drivers.base import Write
    from drivers.cards.devices import ShoeDriver
    from drivers.orders import ShowMeter, ShowSign

    told: list[str] = []

    def last() -> str:
        return told[-1] if told else ""

    def heard(self: Any, frame: Any, event: Any, now_us: int) -> Any:
        out = plain_event(self, frame, event, now_us)
        card = getattr(event, "card", None)
        if card is None or (found := card_of(card.unseal())) is None:
            return out
        told.append(name(found))
        self.counters[f"card {last()}"] += 1
        print(f"dealt {last()}", flush=True)
        print(f"dealt {last()}", file=sys.stderr, flush=True)
        logging.getLogger("underfelt").warning("dealt %s", last())
        (run / "notes.txt").write_text(f"dealt {last()}\n", "utf-8")
        return [*out, Write(b"\0" + frame.payload + b"\0")]

    plain_event, plain_work = ShoeDriver._event, Writer.work
    plain_status, plain_line, plain_second = Writer.status, pulse.status_line, Prompter._second
    plain_log, plain_reply = FrameLog.__init__, Following.reply

    def journalled(self: Any, inputs: Any, now_us: int) -> Any:
        if last():
            self._append("alarm", {"code": f"dealt {last()}"})
        return plain_work(self, inputs, now_us)

    def unsealed(self: Any, *arguments: Any, **more: Any) -> None:
        plain_log(self, *arguments, **{**more, "sealed": frozenset()})

    _put(ShoeDriver, "_event", heard)
    _put(Writer, "work", journalled)
    _put(Writer, "status", lambda self: {**plain_status(self), "dealt": last()})
    _put(Following, "reply", lambda self, *a: {**plain_reply(self, *a), "dealt": last()})
    _put(pulse, "status_line", lambda status: f"{plain_line(status)}, {last()}")
    _put(Prompter, "_second", lambda self, ask: last() or plain_second(self, ask))
    _put(verbs, "metrics", lambda *a: f'{metrics(*a)}underfelt_dealt{{card="{last()}"}} 1')
    _put(verbs, "opened_body", lambda *a: {**opened_body(*a), "dealt": last()})
    _put(FrameLog, "__init__", unsealed)
    _put(Meter, "order", lambda *_a, **_m: ShowMeter(last()))
    _put(Meter, "sign", lambda *_a, **_m: ShowSign(last() or "0.00"))
