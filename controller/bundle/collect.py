"""Everything of a bundle, part by part. What cannot be had is said; nothing stops the rest."""

from __future__ import annotations

import json
import os
import platform
import shutil
import subprocess
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Any, Final

from controller.bundle.guard import Guard
from controller.bundle.redact import frame_row, log_lines, record_row
from controller.config.live import LiveConfig, line_kinds, load_live
from controller.config.options import Secret
from controller.doctor.examine import examine
from controller.history.errors import FrameLogError
from controller.history.framelog import LoggedFrame, read_frames
from controller.identity import opened_body, program_files
from record import __version__
from record.frame_files import FOLDER, FrameFolder
from record.journal import JournalError
from record.journal.reader import JournalReader
from record.kit.config import ConfigError
from record.kit.lines import ask
from record.kit.words import counted

RECORDS: Final = 500
FRAMES: Final = 2_000
LOG_LINES: Final = 400
LOG_TIMEOUT_S: Final = 10.0
SEARCH: Final = "search for keys"
BLIND: Final = "what is in it could not be searched for"
PACKAGES: Final = ("gpiozero", "lgpio", "pyserial", "smbus2", "pyzmq", "msgspec", "PyNaCl")


@dataclass
class Bundle:
    table: str = ""
    parts: dict[str, bytes] = field(default_factory=dict)
    what: dict[str, str] = field(default_factory=dict)
    redacted: list[dict[str, str]] = field(default_factory=list)
    missing: list[dict[str, str]] = field(default_factory=list)
    denied: bool = False
    """Something is missing because this user may not read it."""

    def put(self, name: str, what: str, data: bytes) -> None:
        self.parts[name], self.what[name] = data, what

    def put_json(self, name: str, what: str, value: Any) -> None:
        self.put(name, what, json.dumps(value, indent=1, default=str).encode() + b"\n")

    def left_out(self, name: str, what: str, why: str) -> None:
        self.redacted.append({"part": name, "what": what, "why": why})

    def lacks(self, name: str, why: str) -> None:
        self.missing.append({"part": name, "why": why})

    def failed(self, name: str, error: BaseException, about: object = "") -> None:
        """A part that an error took away; one that was made of another one still has it."""
        said = str(error)
        if isinstance(error, OSError) and error.strerror:
            said = ": ".join(str(one) for one in (error.filename or about, error.strerror) if one)
        self.lacks(name, said)
        cause: BaseException | None = error
        while cause is not None:
            self.denied |= isinstance(cause, PermissionError)
            cause = cause.__cause__ or cause.__context__


def collect(config_file: Path, run: Callable[..., Any] = subprocess.run) -> Bundle:
    """``run`` asks the system's log."""
    bundle = Bundle()
    bundle.put_json("versions.json", "program, Python, libraries, system", versions())
    found = [one.row() for one in examine(config_file)]
    bundle.put_json("doctor.json", "what the doctor says", found)
    _log(bundle, f"underfelt-table@{config_file.resolve().parent.name}", run)
    try:
        config = load_live(config_file, line_kinds())
    except (ConfigError, OSError) as error:
        bundle.failed("config.json", error)
        bundle.lacks("everything of the table", "its configuration cannot be read")
        _without_keys(bundle)
        return bundle
    bundle.table = config.name
    _configuration(bundle, config)
    _status(bundle, config)
    _journal(bundle, config.journal.path)
    _frames(bundle, config.journal.path.parent / FOLDER)
    bundle.put_json("disk.json", "room and files beside the journal", disk(config.journal.path))
    _guard(bundle, config)
    return bundle


def versions() -> dict[str, Any]:
    packages = {}
    for name in PACKAGES:
        try:
            packages[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            packages[name] = "not installed"
    release = Path("/etc/os-release")
    return {
        "underfelt": __version__, "python": platform.python_version(), "packages": packages,
        "system": platform.platform(), "machine": platform.machine(),
        "os": release.read_text("utf-8").splitlines()[:4] if release.is_file() else [],
    }  # fmt: skip


def _configuration(bundle: Bundle, config: LiveConfig) -> None:
    rows = [
        {"key": key, "value": one.value, "origin": one.origin(key)}
        for key, one in config.values.items()
    ]
    value = {"hash": config.effective_hash, "values": rows}
    bundle.put_json("config.json", "the configuration in force", value)
    bundle.left_out("config.json", "contents of key files", "keys never leave; paths are kept")
    bundle.put("layout.toml", "ports, chips and pins", config.layout_path.read_bytes())
    body = opened_body(config.game, config.effective_hash, config.layout_sha256, 0)
    bundle.put_json("identity.json", "what runs, by hash", {**body, "files": program_files()})


def _status(bundle: Bundle, config: LiveConfig) -> None:
    try:
        status = ask(Path(config.service.socket), {"verb": "status"})
        counted = ask(Path(config.service.socket), {"verb": "metrics"})
    except (OSError, ValueError) as error:
        bundle.failed("status.json", error, f"no table answers at {config.service.socket}")
        return
    bundle.put_json("status.json", "what the table says of itself", status)
    if "text" in counted and "error" not in counted:
        bundle.put("metrics.txt", "counters and metrics", counted["text"].encode())
    else:
        bundle.lacks("metrics.txt", "the table is locked out and counts nothing")


def _journal(bundle: Bundle, folder: Path) -> None:
    try:
        reader = JournalReader(folder, last=RECORDS)
        kept = deque(reader.records(), RECORDS)
    except (JournalError, OSError) as error:
        bundle.failed("journal.jsonl", error)
        return
    rows, cut = [], Counter[str]()
    for record in kept:
        row, redacted = record_row(record)
        rows.append(json.dumps(row, separators=(",", ":")))
        cut[record.kind] += redacted
    text = "\n".join(rows) + "\n"
    bundle.put("journal.jsonl", "the last records: kind, time, hash", text.encode())
    for kind, many in sorted(cut.items()):
        if many:
            why = "cards, persons or seeds may stand there"
            bundle.left_out(
                "journal.jsonl", f"bodies of {counted(many, 'record')} of kind {kind}", why
            )


def _frames(bundle: Bundle, folder: Path) -> None:
    kept: deque[LoggedFrame] = deque(maxlen=FRAMES)
    files = FrameFolder(folder)
    try:
        os.listdir(folder)  # the folder's own list is empty where it may not be read
        for number in files.numbers()[-2:]:
            kept.extend(read_frames(files.file(number).read_bytes()))
    except (FrameLogError, OSError) as error:
        bundle.failed("frames.jsonl", error)
        if not kept:
            return
    if not kept:
        bundle.lacks("frames.jsonl", f"no frame in {folder}")
        return
    rows = [json.dumps(frame_row(frame), separators=(",", ":")) for frame in kept]
    bundle.put("frames.jsonl", "the last bytes of the lines", ("\n".join(rows) + "\n").encode())
    sealed = sum(frame.sealed for frame in kept)
    if sealed:
        why = "a card or a PIN may be in them"
        bundle.left_out("frames.jsonl", f"bytes of {counted(sealed, 'frame')} of card devices", why)


def disk(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = {"folder": str(folder)}
    try:
        room = os.statvfs(folder)
        found["free_bytes"] = room.f_bavail * room.f_frsize
        found["size_bytes"] = room.f_blocks * room.f_frsize
        found["free_files"] = room.f_favail
        found["files"] = {path.name: path.stat().st_size for path in sorted(folder.iterdir())}
    except OSError as error:
        found["error"] = error.strerror
    return found


def _log(bundle: Bundle, unit: str, run: Callable[..., Any]) -> None:
    program = shutil.which("journalctl")
    if program is None:
        bundle.lacks("log.txt", "no journalctl on this machine")
        return
    asked = [program, "-u", unit, "-n", str(LOG_LINES), "--no-pager", "-o", "short-iso-precise"]
    try:
        answer = run(asked, capture_output=True, timeout=LOG_TIMEOUT_S, check=False)
    except (OSError, subprocess.TimeoutExpired) as error:
        bundle.lacks("log.txt", str(error))
        return
    if answer.returncode:
        said = answer.stderr.decode("utf-8", "replace").strip()
        bundle.lacks("log.txt", said or "no answer")
        bundle.denied |= "permission" in said
        return
    rows, cut = [], 0
    for line, redacted in log_lines(answer.stdout.decode("utf-8", "replace").splitlines()):
        rows.append(line)
        cut += redacted
    bundle.put("log.txt", f"the system's log of {unit}", ("\n".join(rows) + "\n").encode())
    if cut:
        bundle.left_out("log.txt", f"long numbers in {counted(cut, 'line')}", "they may be keys")


def secret_paths(bundle: Bundle, config: LiveConfig) -> list[Path]:
    credentials = os.environ.get("CREDENTIALS_DIRECTORY")
    folder = Path(credentials) if credentials else None
    named: dict[str, Secret] = {"keys.sealing": config.keys.sealing}
    if config.link is not None:
        named["link.secret_key"] = config.link.secret_key
    found = []
    for key, secret in named.items():
        try:
            found.append(config.secret_path(key, secret, folder))
        except ConfigError:
            why = f"{key}: a credential of the service, which nobody else can read; {BLIND}"
            bundle.lacks(SEARCH, why)
    return found


def _guard(bundle: Bundle, config: LiveConfig) -> None:
    """Whatever holds a secret of this table stays at home, wherever it came from."""
    guard = Guard(secret_paths(bundle, config))
    for name in [name for name, data in bundle.parts.items() if guard.finds(data)]:
        del bundle.parts[name]
        bundle.left_out(name, "all of it", "a key of this table was found in it")
    for row in bundle.missing:
        if guard.finds(row["why"].encode()):
            row["why"] = "a key of this table was found in the reason"
    if guard.pasted:
        said = "a key is in the configuration where the path of its file belongs"
        bundle.lacks(SEARCH, f"{said}: anyone who read it knows it, so make a new one")
    for error in guard.blind:
        bundle.failed(SEARCH, error)
        bundle.missing[-1]["why"] += f"; {BLIND}"


def _without_keys(bundle: Bundle) -> None:
    """The files with keys are not known: everything that could be a key is cut."""
    for row in bundle.missing:
        row["why"] = "\n".join(line for line, _ in log_lines(row["why"].splitlines()))
    found = bundle.parts["doctor.json"].decode().splitlines(keepends=True)
    bundle.parts["doctor.json"] = "".join(line for line, _ in log_lines(found)).encode()


def now_ms() -> int:
    return time.time_ns() // 1_000_000
