"""A real table whose outside is taken at a moment: every file, socket, stream, wire and display."""

from __future__ import annotations

import json
import re
import shutil
import time
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final
from urllib.error import HTTPError

import pytest

from controller.config.keys import load_key
from controller.history.framelog import LoggedFrame, read_frames
from controller.shell.client import Client
from controller.shell.render.render import rendered
from controller.shell.verbs import LOOKING
from hw_sim.scenario import card_byte, card_name
from record.journal.reader import JournalReader
from record.kit.lines import ask
from tests.e2e.keeper import LogSocket, Sitting
from tests.hidden.search import Channel, Needle, cards_told, needles, search
from tests.hidden.tap import LOG, TAP
from tests.hidden.twins import blanked

VERBS: Final = ("status", "metrics", "counters", "identity")
TRACE: Final = "trace"
_HEX_LINE: Final = re.compile(r" +[0-9A-F]{2}( [0-9A-F]{2})*( \.\.\.)?")
"""Single bytes that may look like cards; the same bytes are searched in the answer itself."""
OURS: Final = (TAP, "sealing.key", TRACE)
"""Files of the test itself: the device's own words, and the key that opens everything."""


def shim(what: str, run: Path, more: str = "") -> str:
    return f"from tests.hidden.tap import {what}; {what}({str(run)!r}{more})"


class Missed(Exception):
    """The people saw or pressed something too late: the machine is too busy for them."""


def is_text(data: bytes) -> bool:
    try:
        return "\0" not in data.decode()
    except UnicodeDecodeError:
        return False


class Searched(Sitting):
    """``dealt`` are the cards that the device has told so far, in order."""

    def __init__(
        self, run: Path, scenario: str = "", *, game: str = "MBS3", leaking: bool = False
    ) -> None:
        run.mkdir(parents=True)
        self._log = LogSocket(run / LOG)
        self._read_bytes = 0
        self._rows: list[dict[str, Any]] = []
        leak = ", leaking=True" if leaking else ""
        ours, theirs = shim("daemon", run, leak), shim("simulator", run)
        super().__init__(run, scenario, game=game, shim=ours, sim_shim=theirs)

    def __exit__(self, *error: object) -> None:
        super().__exit__(*error)
        self._log.close()

    # --- the devices' side ---------------------------------------------------------------------

    def tapped(self) -> list[dict[str, Any]]:
        """All rows so far; only what is new is read."""
        with (self.run / TAP).open("rb") as stream:
            stream.seek(self._read_bytes)
            new = stream.read()
        whole = new[: new.rfind(b"\n") + 1]
        self._read_bytes += len(whole)
        self._rows += [json.loads(line) for line in whole.splitlines()]
        return self._rows

    def card_frames(self) -> list[bytes]:
        """The frames in which the device told cards."""
        rows = (bytes.fromhex(row["sent"]) for row in self.tapped() if "sent" in row)
        return [frame for frame in rows if cards_told(frame)]

    @property
    def dealt(self) -> list[str]:
        cards = [card_name(card) for frame in self.card_frames() for card in cards_told(frame)]
        return list(dict.fromkeys(cards))

    # --- everything outside --------------------------------------------------------------------

    def channels(self) -> Iterator[Channel]:
        yield from self._files()
        yield from self._journal()
        yield from self._frames()
        yield from self._sockets()
        yield from self._wires()

    def _files(self) -> Iterator[Channel]:
        for path in sorted(self.run.rglob("*")):
            if path.is_symlink() or not path.is_file() or path.name in OURS:
                continue
            data = path.read_bytes().rstrip(b"\0")  # what is only reserved
            yield Channel(f"file {path.relative_to(self.run)}", data, is_text(data))

    def _journal(self) -> Iterator[Channel]:
        """The bodies as text, without what is sealed in them."""
        records = JournalReader(self.run / "journal").records()
        rows = [f"{r.kind} {json.dumps(blanked(json.loads(r.body)))}" for r in records]
        yield Channel("journal", "\n".join(rows).encode(), True)

    def frames(self) -> list[LoggedFrame]:
        """Of the frame log; each that says it is sealed does open with the key."""
        key = load_key(self.run / "sealing.key")
        files = sorted((self.run / "frames").glob("frames-*.bin"))
        return [frame for path in files for frame in read_frames(path.read_bytes(), key)]

    def _frames(self) -> Iterator[Channel]:
        plain: dict[str, bytes] = defaultdict(bytes)
        for frame in self.frames():
            if not frame.sealed:
                plain[frame.device] += frame.data or b""
        for device, data in plain.items():
            yield Channel(f"frame log {device}", data, False)

    def _sockets(self) -> Iterator[Channel]:
        for verb in VERBS:
            answer = ask(self.run / "service.sock", {"verb": verb})
            text = answer["text"] if verb == "metrics" else json.dumps(answer, ensure_ascii=False)
            yield Channel(verb, text.encode(), True)
        asking = {"verb": "changes", "feed": "", "after": 0}
        changes = ask(self.run / "service.sock", asking)
        yield Channel("changes", json.dumps(changes, ensure_ascii=False).encode(), True)
        yield from self._shell()
        self.keeper.notified.look()
        yield Channel("notify", "\n".join(self.keeper.notified.heard).encode(), True)
        yield Channel("journald", b"\n".join(self._log.datagrams), True)

    def _shell(self) -> Iterator[Channel]:
        """Every verb that looks, at the devices with frames; all readings that are still known."""
        client = Client(self.run / "service.sock")
        live = client.ask(["hello"])["data"]["live"]
        told = ("shoe", "shuffler", "chips-1", "sign", "keys-1")
        lines = [["device", name] for name in live["device"] if name in told]
        lines += [["chips", seat] for seat in live["seat"][:2]]
        lines += [verb.name.split() for verb in LOOKING if verb.name not in ("device", "chips")]
        for words in lines:
            answer = client.ask(words, cursor=0)
            yield Channel(f"shell {' '.join(words)}", json.dumps(answer).encode(), True)
            if answer.get("ok"):
                shown = "\n".join(rendered(words[0], answer["data"], 80))
                masked = [line for line in shown.splitlines() if not _HEX_LINE.fullmatch(line)]
                yield Channel(f"screen {' '.join(words)}", "\n".join(masked).encode(), True)
        client.close()

    def _wires(self) -> Iterator[Channel]:
        heard: dict[str, bytes] = defaultdict(bytes)
        looks = []
        for row in self.tapped():
            if "look" in row:
                looks.append(row["look"])
            elif "heard" in row:
                heard[f"line {row['line']}" if "line" in row else f"chip {row['chip']:02x}"] += (
                    bytes.fromhex(row["heard"])
                )
        for name, data in heard.items():
            yield Channel(name, data, name == "line sign")
        for display in ("prompt", "lamps", "meter", "magic", "sign"):
            seen = {json.dumps(look[display], ensure_ascii=False) for look in looks}
            yield Channel(display, "\n".join(sorted(seen)).encode(), True)

    # --- people who do as they are told --------------------------------------------------------

    def do(self, sentence: str, phase: str = "") -> None:
        """A step by hand; back when it is done, and the table is in this phase."""
        try:
            assert self.ask_sim("/do", sentence) == {"ok": True}
        except HTTPError as error:
            raise Missed(error.read().decode()) from None
        if phase:
            self.until_phase(phase)

    # --- the search ----------------------------------------------------------------------------

    def logged_by_now(self) -> None:
        """Look until the frame log holds something younger than this moment."""
        now_us = time.monotonic_ns() // 1000
        self.until(lambda: self.frames() and self.frames()[-1].at_us > now_us, "a frame logged")

    def found(self, public: Sequence[str] | Callable[[], Sequence[str]]) -> dict[str, list[str]]:
        """Traces of the cards that were dealt and are not among the public ones; these are asked
        for last, if they have to be asked for."""
        dealt, told, channels = self.dealt, self.card_frames(), list(self.channels())
        known = public() if callable(public) else public
        return search(channels, needles_of([c for c in dealt if c not in known], told))


def needles_of(hidden: Sequence[str], told: Sequence[bytes]) -> list[Needle]:
    codes = set(map(card_byte, hidden))
    return needles(hidden, [frame for frame in told if codes & set(cards_told(frame))])


# --- every system call that takes bytes out ----------------------------------------------------

OUT: Final = "write,writev,pwrite64,pwritev,pwritev2,sendto,sendmsg,sendmmsg,splice,sendfile"
_ROW: Final = re.compile(r"\d+ +(\d+\.\d+) (\w+)\((\d+<[^>]*>)?(.*)")
_BYTES: Final = re.compile(r'"((?:\\x[0-9a-f]{2})*)"')


def traced(run: Path) -> list[str]:
    """The command to run the daemon under."""
    if shutil.which("strace") is None:
        pytest.fail("strace is missing; run: apt-get install -y strace")
    more = ["-f", "--seccomp-bpf", "-D", "-qq", "-y", "-ttt", "-xx", "-s", "1048576"]
    return ["strace", *more, "-e", f"trace={OUT}", "-o", str(run / TRACE), "--"]


def trace(run: Path, until_s: float) -> list[Channel]:
    """What went out by this time, by call and descriptor."""
    found: dict[str, bytes] = defaultdict(bytes)
    for line in (run / TRACE).read_text("ascii", "replace").splitlines():
        row = _ROW.match(line)
        if row is not None and float(row[1]) <= until_s:
            pieces = (bytes.fromhex(text.replace("\\x", "")) for text in _BYTES.findall(row[4]))
            found[f"{row[2]} {_plain(row[3] or '')}"] += b"".join(pieces)
    return [Channel(name, data, is_text(data)) for name, data in found.items()]


def _plain(text: str) -> str:
    return re.sub(r"\\x([0-9a-f]{2})", lambda found: chr(int(found[1], 16)), text)
