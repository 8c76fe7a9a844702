"""Reading ``link.toml``: unknown keys are refused, and all problems are listed at once."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, field, fields, replace
from pathlib import Path
from typing import Any

from link.config import options as o
from link.ledger.errors import PoolError
from link.ledger.parameters import pools_from
from link.ledger.terms import Pool
from record.kit.config import ConfigError, Problem, read_toml, unknown
from record.kit.words import shown


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkConfig:
    """Paths are absolute; secrets are still in their files."""

    path: Path = Path("link.toml")
    server: o.ServerOptions
    doors: tuple[o.DoorOptions, ...] = ()
    limits: o.Limits = field(default_factory=o.Limits)
    http: o.HttpOptions = field(default_factory=o.HttpOptions)
    reports: o.ReportOptions = field(default_factory=o.ReportOptions)
    pools: tuple[Pool, ...] = ()


def load(path: Path) -> LinkConfig:
    """OSError if it cannot be read, ConfigError if it cannot be used."""
    document = read_toml(path, "E-LNK-050")
    folder = path.absolute().parent
    problems = [
        unknown("E-LNK-051", key, value, o.TOP_LEVEL)
        for key, value in document.items()
        if key not in o.TOP_LEVEL
    ]
    server = _section("server", document.get("server", {}), o.ServerOptions, problems)
    limits = _section("limits", document.get("limits", {}), o.Limits, problems)
    http = _section("http", document.get("http", {}), o.HttpOptions, problems)
    reports = _section("reports", document.get("reports", {}), o.ReportOptions, problems)
    doors = _doors(document.get("door"), problems)
    pools = _pools(path, document.get("pools", {}), folder, problems)
    if server and server.require_synchronous_standby and server.store.startswith("sqlite:"):
        said = "true: expected a PostgreSQL store; SQLite has no standby"
        problems.append(Problem("E-LNK-052", "server.require_synchronous_standby", said))
    if problems or not (server and limits and http and reports):
        raise ConfigError(path, problems)
    return LinkConfig(
        path=path,
        server=replace(
            server,
            store=_store(folder, server.store),
            control=folder / server.control,
            sealing_key=_secret(folder, server.sealing_key),
        ),
        doors=tuple(replace(door, secret_key=_secret(folder, door.secret_key)) for door in doors),
        limits=limits,
        http=http,
        reports=reports,
        pools=pools,
    )


def _section(where: str, table: object, kind: type[o.S], problems: list[Problem]) -> o.S | None:
    """None if there are problems."""
    if not isinstance(table, dict):
        problems.append(Problem("E-LNK-052", where, f"{shown(table)}: expected a table"))
        return None
    known = o.names(kind)
    found = [
        unknown("E-LNK-051", f"{where}.{key}", value, known)
        for key, value in table.items()
        if key not in known
    ]
    values: dict[str, Any] = {}
    for stated in fields(kind):
        key, option = f"{where}.{stated.name}", o.option_of(stated)
        if stated.name in table:
            value = table[stated.name]
            try:
                values[stated.name] = option.convert(value)
            except o.Bad as bad:
                found.append(Problem("E-LNK-052", key, f"{shown(value)}: {bad}"))
        elif stated.default is MISSING:
            found.append(Problem("E-LNK-053", key, f"missing: {option.text}"))
    problems += found
    return None if found else kind(**values)


def _doors(tables: object, problems: list[Problem]) -> list[o.DoorOptions]:
    if not isinstance(tables, list) or not 1 <= len(tables) <= o.MOST_DOORS:
        said = "missing" if tables is None else shown(tables)
        text = f"{said}: expected 1 to {o.MOST_DOORS} [[door]], one for each key of the server"
        problems.append(Problem("E-LNK-053", "door", text))
        return []
    found = [
        door
        for n, table in enumerate(tables)
        if (door := _section(f"door[{n}]", table, o.DoorOptions, problems)) is not None
    ]
    used = [endpoint for door in found for endpoint in (door.tables, door.signs) if endpoint]
    for endpoint in sorted({e for e in used if used.count(e) > 1 and not e.endswith(":*")}):
        problems.append(Problem("E-LNK-052", "door", f"{shown(endpoint)}: stated twice"))
    return found


def _pools(path: Path, stated: object, folder: Path, problems: list[Problem]) -> tuple[Pool, ...]:
    try:
        return pools_from({"pools": stated}, path.name, lambda name: (folder / name).read_bytes())
    except PoolError as error:
        # The ledger's own reader names file and field; only the key is put in front.
        said = error.text.removeprefix(f"{path.name}: ")
        problems.append(Problem(error.code, "pools", said))
        return ()


def _store(folder: Path, where: str) -> str:
    path = where.removeprefix("sqlite:")
    return where if path == where else str(folder / path)


def _secret(folder: Path, where: str) -> str:
    return where if not where or where.startswith("credential:") else str(folder / where)
