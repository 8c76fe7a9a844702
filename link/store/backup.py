"""Copies of a store, and the way back: the manifest, the export file, verification, restore.

A backup is one file and, beside it, its manifest. SQLite's is a SQLite file, PostgreSQL's the
export described on docs/operations/link-store.md; either can be restored into either store.
"""

from __future__ import annotations

import hashlib
import os
from base64 import b64decode
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, Final, Literal

import msgspec

from link.rows import Group, Saved
from link.store import tables as t
from link.store.contract import Counts, Manifest
from link.store.errors import BackupDamaged, Failed, Missing, NotEmpty, TooNew
from link.store.plan import plan
from link.store.reading import PAGE, Query, load, pages
from link.store.tables import RESTORE, Row

if TYPE_CHECKING:
    from link.store.base import Store

Between = Callable[[], None] | None
Explain = Callable[[Saved, int], Group]
"""From what the backup held and the new epoch: the group with the order that explains why
watermarks fell."""

EXPORT: Final = "underfelt link export"
EXPORT_VERSION: Final = 1
_CHUNK: Final = 1 << 20

_encode: Final = msgspec.json.Encoder().encode
_decode: Final = msgspec.json.Decoder().decode
_manifest: Final = msgspec.json.Decoder(Manifest)


def manifest_path(path: Path) -> Path:
    return path.with_name(path.name + ".manifest")


@dataclass(frozen=True, slots=True)
class Content:
    """What a copy holds: groups may have been committed while it was made."""

    last_event: int
    chain: str
    rows: dict[str, int]


def content(query: Query) -> Content:
    last = query("SELECT id, chain FROM events ORDER BY id DESC LIMIT 1")
    rows = {table: query(f"SELECT COUNT(*) FROM {table}")[0][0] for table in t.COLUMNS}
    return Content(last[0][0] if last else 0, last[0][1].hex() if last else "", rows)


# --- writing ----------------------------------------------------------------------------------


def write_backup(
    store: Store,
    kind: Literal["sqlite", "export"],
    path: Path,
    copy: Callable[[Path], Content],
    *,
    at_ms: int,
    between: Between,
    verify: bool,
) -> Manifest:
    """Both files have other names until both are whole: a backup that has its name is one.
    ``Failed`` with its path if its disk fails, so that nobody looks for the fault in the store."""
    try:
        return _written(store, kind, path, copy, at_ms=at_ms, between=between, verify=verify)
    except OSError as error:
        raise Failed(str(path), error.strerror or str(error)) from error


def _written(
    store: Store,
    kind: Literal["sqlite", "export"],
    path: Path,
    copy: Callable[[Path], Content],
    *,
    at_ms: int,
    between: Between,
    verify: bool,
) -> Manifest:
    target = manifest_path(path)
    for taken in (path, target):
        if taken.exists():
            raise NotEmpty(str(taken), "there is a file of that name; choose another")
    part, stated = (name.with_name(name.name + ".part") for name in (path, target))
    part.unlink(missing_ok=True)
    os.close(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600))
    try:
        held = copy(part)
        _settle(part)
        digest, size = _hashed(part, between)
        made = Manifest(
            format=kind,
            schema=store.schema,
            at_ms=at_ms,
            file=path.name,
            sha256=digest,
            bytes=size,
            last_event=held.last_event,
            chain=held.chain,
            rows=held.rows,
        )
        if verify:
            _verify(part, made, between)
        with stated.open("wb") as file:
            file.write(msgspec.json.format(_encode(made)) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        os.rename(part, path)
        os.rename(stated, target)
        _settle_folder(path.parent)
    finally:
        stated.unlink(missing_ok=True)
        for ending in ("", "-journal", "-wal", "-shm"):  # SQLite's own, if the copy failed
            part.with_name(part.name + ending).unlink(missing_ok=True)
    return made


def _settle(path: Path) -> None:
    """On the medium, and the next reading comes from there."""
    handle = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    try:
        os.fsync(handle)
        os.posix_fadvise(handle, 0, 0, os.POSIX_FADV_DONTNEED)
    finally:
        os.close(handle)


def _settle_folder(path: Path) -> None:
    folder = os.open(path, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


def _hashed(path: Path, between: Between = None) -> tuple[str, int]:
    digest, size = hashlib.sha256(), 0
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
            if between is not None:
                between()
    return digest.hexdigest(), size


def export_rows(query: Query, table: str) -> Iterator[Row]:
    """Pages by the whole key, in the transaction of the caller."""
    key = ", ".join(t.KEYS[table])
    marks = ", ".join("?" * len(t.KEYS[table]))
    sql = f"SELECT {t.listed(table)} FROM {table}"
    places = [t.COLUMNS[table].index(column) for column in t.KEYS[table]]
    rows = query(f"{sql} ORDER BY {key} LIMIT {PAGE}")
    while rows:
        yield from rows
        after = [rows[-1][place] for place in places]
        rows = query(f"{sql} WHERE ({key}) > ({marks}) ORDER BY {key} LIMIT {PAGE}", after)


def write_export(query: Query, schema: int, file: IO[bytes], between: Between) -> Content:
    """JSON, one value a line: a head; each table's name and columns, then its rows; an end."""
    file.write(_encode({"format": EXPORT, "version": EXPORT_VERSION, "schema": schema}) + b"\n")
    counted: dict[str, int] = {}
    for table, columns in t.COLUMNS.items():
        held = t.BYTES.get(table, ())
        file.write(_encode({"table": table, "columns": columns, "base64": held}) + b"\n")
        counted[table] = 0
        for row in export_rows(query, table):
            file.write(_encode(row) + b"\n")
            counted[table] += 1
            if between is not None and counted[table] % PAGE == 0:
                between()
    file.write(_encode({"end": counted}) + b"\n")
    return content(query)


# --- reading ----------------------------------------------------------------------------------


class BackupRows:
    """The rows of a backup, table by table in the order of ``tables.COLUMNS``."""

    def __init__(self, path: Path, manifest: Manifest) -> None:
        self._place = str(path)
        if manifest.format == "sqlite":
            from link.store.sqlite import SqliteStore

            self._store: Store | None = SqliteStore(path, read_only=True)
            self._lines: IO[bytes] | None = None
        else:
            self._store = None
            self._lines = path.open("rb")
            head = self._line()
            if head != {
                "format": EXPORT,
                "version": EXPORT_VERSION,
                "schema": manifest.schema,
            }:
                raise BackupDamaged(self._place, f"the first line is {head!r}")
        self._ended: dict[str, int] = {}

    def close(self) -> None:
        for part in (self._store, self._lines):
            if part is not None:
                part.close()

    def _line(self) -> Any:
        assert self._lines is not None
        line = self._lines.readline()
        try:
            return _decode(line)
        except msgspec.DecodeError as error:
            raise BackupDamaged(self._place, f"a line is not JSON: {error}") from None

    def rows(self, table: str) -> Iterator[Row]:
        if self._store is not None:
            return export_rows(self._store.query, table)
        return self._exported(table)

    def _exported(self, table: str) -> Iterator[Row]:
        held = t.BYTES.get(table, ())
        head = self._ended or self._line()
        wanted = {"table": table, "columns": [*t.COLUMNS[table]], "base64": [*held]}
        if head != wanted:
            raise BackupDamaged(self._place, f"expected the rows of {table}, found {head!r}")
        places = [t.COLUMNS[table].index(column) for column in held]
        while isinstance(row := self._line(), list):
            if len(row) != len(t.COLUMNS[table]):
                raise BackupDamaged(self._place, f"{table}: a row of {len(row)} values")
            for place in places:
                row[place] = b64decode(row[place])
            yield tuple(row)
        self._ended = row


def read_manifest(path: Path) -> Manifest:
    place = manifest_path(path)
    try:
        return _manifest.decode(place.read_bytes())
    except FileNotFoundError:
        raise Missing(str(place), "no manifest; a backup without one is not restored") from None
    except msgspec.MsgspecError as error:
        raise BackupDamaged(str(place), f"not a manifest: {error}") from None


def verify_backup(path: Path, *, between: Between = None) -> Counts:
    """Every byte as the manifest says, and every rule of ``check`` inside."""
    return _verify(path, _whole(path, between), between)


def _whole(path: Path, between: Between = None) -> Manifest:
    """The manifest of a file that is what it says, to the byte."""
    manifest = read_manifest(path)
    digest, size = _hashed(path, between)
    if (digest, size) != (manifest.sha256, manifest.bytes):
        raise BackupDamaged(
            str(path),
            f"{size} bytes with SHA-256 {digest};"
            f" its manifest says {manifest.bytes} and {manifest.sha256}",
        )
    return manifest


def _verify(path: Path, manifest: Manifest, between: Between) -> Counts:
    from link.store.sqlite import SqliteStore

    if manifest.format == "sqlite":
        with closing(SqliteStore(path, read_only=True)) as copy:
            return _same(path, manifest, copy.checked(None, between))
    scratch = path.with_name(path.name + ".check")
    scratch.unlink(missing_ok=True)
    try:
        with closing(SqliteStore(scratch, create=True, flush=False)) as copy:
            copy.migrate(at_ms=manifest.at_ms)
            counts = copy.attempt(lambda: _fill(copy, path, manifest, between))
            return _same(path, manifest, counts)
    finally:
        for ending in ("", "-wal", ".lock"):
            Path(f"{scratch}{ending}").unlink(missing_ok=True)


def _same(path: Path, manifest: Manifest, counts: Counts) -> Counts:
    if (counts.events, counts.chain) != (manifest.last_event, manifest.chain):
        raise BackupDamaged(
            str(path),
            f"it ends with event {counts.events} and chain {counts.chain};"
            f" its manifest says {manifest.last_event} and {manifest.chain}",
        )
    return counts


# --- restore ----------------------------------------------------------------------------------


def _fill(store: Store, path: Path, manifest: Manifest, between: Between = None) -> Counts:
    """In a transaction: the rows of the backup instead of the few that a new store has."""
    for table in reversed(t.COLUMNS):
        store.query(f"DELETE FROM {table}")
    with closing(BackupRows(path, manifest)) as source:
        for table in t.COLUMNS:
            filled = 0
            for page in pages(_counted(source.rows(table), between)):
                store.append(table, page)
                filled += len(page)
            if filled != manifest.rows.get(table):
                raise BackupDamaged(
                    str(path),
                    f"{table}: {filled} rows; its manifest says {manifest.rows.get(table)}",
                )
    return store.checked(None, between)


def _counted(rows: Iterator[Row], between: Between) -> Iterator[Row]:
    for number, row in enumerate(rows, 1):
        yield row
        if between is not None and number % PAGE == 0:
            between()


def restore(store: Store, path: Path, *, explain: Explain) -> Manifest:
    """Into an empty store of the same schema. Rows, the order that explains it and the check are
    one transaction: what does not hold together is not accepted, the store stays empty."""
    manifest = _whole(path)
    if manifest.schema != store.schema:
        raise TooNew(
            str(path),
            f"its schema is {manifest.schema}, that of the store {store.schema}; restore with the"
            " program that wrote it, then migrate",
        )
    store.attempt(lambda: _restore(store, path, manifest, explain))
    return manifest


def _restore(store: Store, path: Path, manifest: Manifest, explain: Explain) -> None:
    store.unhurried()
    leader = store.locked_leader()
    if not is_empty(store):
        raise NotEmpty(store.place, "not an empty store; restore into a new one")
    _same(path, manifest, _fill(store, path, manifest))
    epoch = store.raise_epoch(RESTORE, 0, leader[0] if leader else 0)
    group = explain(load(store.query), epoch)
    store.write(epoch, plan(store.place, group, store.know()))
    store.checked(None)


def is_empty(store: Store) -> bool:
    """No event, no journal, no key: nothing that a restore could cover up."""
    held = [table for table in t.COLUMNS if table not in ("leader", "epochs")]
    counted: list[int] = [store.query(f"SELECT COUNT(*) FROM {table}")[0][0] for table in held]
    return sum(counted) == 2  # the journal of the orders and its watermark
