"""Reading ``link.toml``: unknown keys refuse, all problems are listed at once."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from link.config import options as o
from link.ledger.errors import PoolError
from link.ledger.parameters import pools_from
from link.ledger.terms import Pool
from record.kit.config import ConfigError, Problem, read_toml, unknown
from record.kit.words import shown


@dataclass(frozen=True, slots=True)
class DoorOptions:
    tables: str
    signs: str
    secret_key: str
    """A path as text, or ``credential:NAME``."""


@dataclass(frozen=True, slots=True)
class LinkConfig:
    """Paths are made whole; secrets are still where they are."""

    path: Path
    name: str
    store: str
    """As ``open_store`` takes it."""
    require_synchronous_standby: bool
    store_wait_ms: int
    control: Path
    sealing_key: str
    beat_ms: int
    lease_ms: int
    publish_ms: int
    rebind_ms: int
    check_recent: int | None
    doors: tuple[DoorOptions, ...]
    limits: Mapping[str, int]
    http: tuple[str, int] | None
    pools: tuple[Pool, ...]
    reports: Mapping[str, Any]
    """``time_zone``, ``day_start``, ``currency``, ``alarm_one_in``."""


def load(path: Path) -> LinkConfig:
    """OSError if it cannot be read, ConfigError if it cannot be used."""
    document = read_toml(path, "E-LNK-050")
    folder = path.absolute().parent
    problems = [
        unknown("E-LNK-051", key, value, o.TOP_LEVEL)
        for key, value in document.items()
        if key not in o.TOP_LEVEL
    ]
    found = {
        section: _section(section, document.get(section, {}), spec, problems)
        for section, spec in o.SECTIONS.items()
    }
    doors = _doors(document.get("door"), problems)
    pools = _pools(path, document.get("pools", {}), folder, problems)
    if found["server"].get("require_synchronous_standby") and str(
        found["server"]["store"]
    ).startswith("sqlite:"):
        said = "true: expected a PostgreSQL store; SQLite has no standby"
        problems.append(Problem("E-LNK-052", "server.require_synchronous_standby", said))
    if problems:
        raise ConfigError(path, problems)
    server, http = found["server"], found["http"]
    return LinkConfig(
        path=path,
        name=server["name"],
        store=_store(folder, server["store"]),
        require_synchronous_standby=server["require_synchronous_standby"],
        store_wait_ms=server["store_wait_ms"],
        control=folder / server["control"],
        sealing_key=_secret(folder, server["sealing_key"]),
        beat_ms=server["beat_ms"],
        lease_ms=server["lease_ms"],
        publish_ms=server["publish_ms"],
        rebind_ms=server["rebind_ms"],
        check_recent=server["check_recent"] or None,
        doors=tuple(
            DoorOptions(door["tables"], door["signs"], _secret(folder, door["secret_key"]))
            for door in doors
        ),
        limits=found["limits"],
        http=(http["address"], http["port"]) if http["on"] else None,
        pools=pools,
        reports=found["reports"],
    )


def _section(
    where: str, table: object, spec: Mapping[str, o.Option], problems: list[Problem]
) -> dict[str, Any]:
    if not isinstance(table, dict):
        problems.append(Problem("E-LNK-052", where, f"{shown(table)}: expected a table"))
        return {}
    problems += [
        unknown("E-LNK-051", f"{where}.{key}", value, spec)
        for key, value in table.items()
        if key not in spec
    ]
    values: dict[str, Any] = {}
    for name, option in spec.items():
        key = f"{where}.{name}"
        if name not in table:
            if option.default is o.MUST:
                problems.append(Problem("E-LNK-053", key, f"missing: {option.text}"))
            values[name] = option.default
            continue
        try:
            values[name] = option.convert(table[name])
        except o.Bad as bad:
            problems.append(Problem("E-LNK-052", key, f"{shown(table[name])}: {bad}"))
    return values


def _doors(tables: object, problems: list[Problem]) -> list[dict[str, Any]]:
    if not isinstance(tables, list) or not 1 <= len(tables) <= o.MOST_DOORS:
        said = "missing" if tables is None else shown(tables)
        text = f"{said}: expected 1 to {o.MOST_DOORS} [[door]], one for each key of the server"
        problems.append(Problem("E-LNK-053", "door", text))
        return []
    found = [_section(f"door[{n}]", door, o.DOOR, problems) for n, door in enumerate(tables)]
    used = [door.get(name) for door in found for name in ("tables", "signs") if door.get(name)]
    for endpoint in sorted({str(e) for e in used if used.count(e) > 1 and not _any_port(e)}):
        problems.append(Problem("E-LNK-052", "door", f"{shown(endpoint)}: stated twice"))
    return found


def _any_port(endpoint: object) -> bool:
    return str(endpoint).endswith(":*")


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
