"""Every option of the server besides its pools, once: name, kind, default, meaning.

Each section of ``link.toml`` is a dataclass, so that a program can be given the same settings
without a file.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import Field, dataclass, field, fields
from pathlib import Path
from typing import Any, Final, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

Convert = Callable[[object], Any]
MUST: Final = object()
"""No default: the operator states it."""
_KEY: Final = "option"


class Bad(ValueError):
    """A value that is not of its kind; the text says what is expected."""


@dataclass(frozen=True, slots=True)
class Option:
    convert: Convert
    text: str


def option(convert: Convert, default: Any, text: str) -> Any:
    """A field of a section."""
    metadata = {_KEY: Option(convert, text)}
    return (
        field(metadata=metadata) if default is MUST else field(default=default, metadata=metadata)
    )


def option_of(stated: Field[Any]) -> Option:
    found: Option = stated.metadata[_KEY]
    return found


def between(least: int, most: int) -> Convert:
    def convert(value: object) -> int:
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise Bad(f"expected a whole number, {least} to {most}")
        return value

    return convert


def flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise Bad("expected true or false")
    return value


def a_name(value: object) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", value):
        raise Bad("expected 1 to 64 letters, digits, . _ -")
    return value


def a_path(value: object) -> str:
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise Bad("expected the path of a file, as text")
    return value


def a_place(value: object) -> Path:
    return Path(a_path(value))


def a_secret(value: object) -> str:
    text = a_path(value)
    name = text.removeprefix("credential:")
    if name != text and re.fullmatch(r"[A-Za-z0-9._-]{1,100}", name) is None:
        raise Bad('expected "credential:NAME", the name of a systemd credential')
    return text


def a_secret_or_nothing(value: object) -> str:
    return "" if value == "" else a_secret(value)


def a_store(value: object) -> str:
    if isinstance(value, str) and value.startswith(("postgresql://", "postgres://")):
        return value
    if isinstance(value, str) and value.startswith("sqlite:") and value != "sqlite:":
        return value
    raise Bad('expected "sqlite:PATH" or "postgresql://..."')


def an_endpoint(value: object) -> str:
    host = r"([A-Za-z0-9.-]{1,253}|\*|\[[0-9a-fA-F:.]{2,45}\])"
    found = re.fullmatch(rf"tcp://{host}:(\d{{1,5}}|\*)", value) if isinstance(value, str) else None
    if found is None or (found[2] != "*" and not 1 <= int(found[2]) <= 65535):
        raise Bad('expected "tcp://ADDRESS:PORT", an address of this machine')
    return found[0]


def an_endpoint_or_nothing(value: object) -> str:
    return "" if value == "" else an_endpoint(value)


def an_address(value: object) -> str:
    if value not in ("127.0.0.1", "::1"):
        raise Bad('expected "127.0.0.1" or "::1": nobody else has to read it')
    return str(value)


def a_zone(value: object) -> str:
    try:
        return ZoneInfo(str(value)).key
    except (ZoneInfoNotFoundError, ValueError, OSError):
        raise Bad('expected the name of a time zone, such as "Asia/Singapore"') from None


def an_hour(value: object) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"([01][0-9]|2[0-3]):[0-5][0-9]", value):
        raise Bad('expected an hour such as "06:00"')
    return value


def a_currency(value: object) -> str:
    if not isinstance(value, str) or len(value) > 8 or not value.isprintable():
        raise Bad('expected up to 8 characters, such as "SGD"')
    return value


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """``[server]``"""

    name: str = option(a_name, MUST, "this server's own name; no other server has it")
    store: str = option(a_store, "sqlite:link.db", '"sqlite:PATH", or "postgresql://..."')
    """Once loaded, as ``open_store`` takes it."""
    require_synchronous_standby: bool = option(
        flag, False, "refuse a PostgreSQL whose commits wait for no standby"
    )
    store_wait_ms: int = option(
        between(100, 3_000), 2_000, "longest wait for PostgreSQL and its standby"
    )
    control: Path = option(a_place, Path("control.sock"), "socket of status, orders and backup")
    sealing_key: str = option(
        a_secret_or_nothing, "", "seals the hidden amounts of mystery levels; needed with one"
    )
    """A path as text, or ``credential:NAME``."""
    beat_ms: int = option(between(100, 60_000), 1_000, "interval of heartbeats")
    lease_ms: int = option(
        between(500, 60_000), 5_000, "another server may lead this long after this one's last sign"
    )
    publish_ms: int = option(between(10, 60_000), 100, "shortest time between two publications")
    rebind_ms: int = option(
        between(0, 60_000), 30_000, "connections of a revoked key are cut after this at the latest"
    )
    check_recent: int = option(
        between(0, 2**31), 0, "events whose chain is checked at a start; 0 for all of them"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class DoorOptions:
    """``[[door]]``: where to listen under one key of the server."""

    tables: str = option(an_endpoint, MUST, "where tables connect")
    signs: str = option(an_endpoint_or_nothing, "", "where meters are published; empty for nowhere")
    secret_key: str = option(a_secret, MUST, 'a file of mode 0400, or "credential:NAME"')


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """``[limits]``: of one connection, and of one group."""

    group_most: int = option(between(1, 10_000), 512, "messages in one group")
    handshake_ms: int = option(between(100, 10_000), 10_000, "a handshake takes no longer")
    backlog: int = option(between(1, 65_535), 1_024, "connections waiting for their handshake")
    receive_messages: int = option(between(1, 10_000), 64, "of one connection, waiting to be read")
    send_messages: int = option(
        between(10, 100_000), 1_000, "answers waiting for one connection; more are dropped"
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpOptions:
    """``[http]``"""

    on: bool = option(flag, False, "serve metrics and health over HTTP")
    address: str = option(an_address, "127.0.0.1", "where HTTP listens")
    port: int = option(between(1, 65_535), 9_632, "port of HTTP")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportOptions:
    """``[reports]``"""

    time_zone: str = option(a_zone, "UTC", "the house's own time, such as Asia/Singapore")
    day_start: str = option(an_hour, "06:00", "when a gaming day begins, by that time")
    currency: str = option(a_currency, "", "printed before the amount of a hand-pay slip: SGD")
    alarm_one_in: int = option(
        between(10, 10**9),
        10_000,
        "a drift from the par sheet is reported if chance makes it less than once in this many",
    )


Section = ServerOptions | DoorOptions | Limits | HttpOptions | ReportOptions
S = TypeVar("S", bound=Section)
SECTIONS: Final[tuple[type[Section], ...]] = (
    ServerOptions,
    DoorOptions,
    Limits,
    HttpOptions,
    ReportOptions,
)
TOP_LEVEL: Final = ("server", "door", "limits", "http", "reports", "pools")
MOST_DOORS: Final = 8


def names(section: type[S]) -> list[str]:
    return [stated.name for stated in fields(section)]
