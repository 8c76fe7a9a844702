"""``web.toml``: read whole, checked whole, every problem reported at once."""

from __future__ import annotations

import ipaddress
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlsplit

from record.kit.config import ConfigError, Problem, read_toml, unknown
from record.kit.words import shown

NO_TOML: Final = "E-WEB-050"
NO_KEY: Final = "E-WEB-051"
NO_VALUE: Final = "E-WEB-052"
MISSING: Final = "E-WEB-053"
UNSAFE: Final = "E-WEB-054"

NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
HOST: Final = re.compile(r"([A-Za-z0-9.-]{1,253}|\[[0-9a-fA-F:.]{2,45}\])(:\d{1,5})?")
MOST_TABLES: Final = 100
LONGEST_NOTICE: Final = 500


class Bad(ValueError):
    """A value that is not of its kind; the text says what is expected."""


@dataclass(frozen=True, slots=True)
class TableOptions:
    """Empty texts and None: this machine does not have it."""

    name: str
    socket: Path | None
    simulator: Path | None
    """The file with the address of its simulator."""
    journal: Path | None
    url: str
    """Where the pages of this table are, if another machine serves them."""


@dataclass(frozen=True, slots=True)
class TicketOptions:
    """``key``: this is the floor's machine. ``floor`` and ``trust``: this is a table's, and people
    sign in at the floor."""

    key: Path | None = None
    floor: str = ""
    trust: Path | None = None


@dataclass(frozen=True, slots=True)
class WebConfig:
    path: Path
    address: str
    port: int
    hosts: tuple[str, ...]
    certificate: Path | None
    key: Path | None
    behind_proxy: bool
    login: bool
    most_streams: int
    notice: str
    """For everyone who opens the page to sign in."""
    control: Path | None
    tables: tuple[TableOptions, ...]
    signs: Mapping[str, Mapping[str, str]]
    """Pool (or ``default``) to language to the house's text."""
    tickets: TicketOptions = TicketOptions()

    @property
    def https(self) -> bool:
        """What the browser speaks."""
        return self.behind_proxy or self.certificate is not None

    @property
    def first(self) -> str:
        """The page that opens where no page is named: at a table's machine, its table."""
        if self.control is None:
            for table in self.tables:
                if table.socket is not None:
                    return f"/table/{table.name}"
        return "/floor"

    def table(self, name: str) -> TableOptions | None:
        return next((table for table in self.tables if table.name == name), None)


NOTHING: Final = WebConfig(
    Path(), "127.0.0.1", 0, (), None, None, False, False, 1, "", None, (), {}
)  # fmt: skip
"""Serves no source."""


def _listen(value: object) -> tuple[str, int]:
    found = (
        re.fullmatch(r"\[?([0-9a-fA-F:.]+)\]?:(\d{1,5})", value) if isinstance(value, str) else None
    )
    if found is None or int(found[2]) > 65_535:
        raise Bad('expected "ADDRESS:PORT" of this machine, such as "127.0.0.1:8630"')
    try:
        return str(ipaddress.ip_address(found[1])), int(found[2])
    except ValueError:
        raise Bad("expected an IP address before the port") from None


def _hosts(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(
        isinstance(one, str) and HOST.fullmatch(one) for one in value
    ):
        raise Bad('expected a list of names that browsers use, such as ["floor.example:8443"]')
    return tuple(one.lower() for one in value)


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise Bad("expected true or false")
    return value


def _path(value: object) -> str:
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise Bad("expected the path of a file, as text")
    return value


def _url(value: object) -> str:
    if not isinstance(value, str) or not re.fullmatch(r"https?://[!-~]{1,200}", value):
        raise Bad('expected an address, such as "https://table-7.example:8443"')
    return value.rstrip("/")


def _site(value: object) -> str:
    found = re.fullmatch(r"https?://(.*)", value.rstrip("/")) if isinstance(value, str) else None
    if found is None or HOST.fullmatch(found[1]) is None:
        raise Bad('expected the address of the floor, such as "https://floor.example:8443"')
    return found[0]


def _name(value: object) -> str:
    if not isinstance(value, str) or NAME.fullmatch(value) is None:
        raise Bad("expected 1 to 64 letters, digits, . _ -")
    return value


def _streams(value: object) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or not 1 <= value <= 5_000:
        raise Bad("expected a whole number, 1 to 5000")
    return value


def _notice(value: object) -> str:
    if not isinstance(value, str) or len(value) > LONGEST_NOTICE or not value.isprintable():
        raise Bad(f"expected one line of at most {LONGEST_NOTICE} characters")
    return value


Convert = Callable[[object], Any]
MUST: Final = object()
WEB: Final[Mapping[str, tuple[Convert, Any]]] = {
    "listen": (_listen, ("127.0.0.1", 8630)),
    "hosts": (_hosts, ()),
    "certificate": (_path, ""),
    "key": (_path, ""),
    "behind_proxy": (_flag, False),
    "login": (_flag, True),
    "most_streams": (_streams, 500),
    "notice": (_notice, ""),
}
LINK: Final[Mapping[str, tuple[Convert, Any]]] = {"control": (_path, "")}
TABLE: Final[Mapping[str, tuple[Convert, Any]]] = {
    "name": (_name, MUST),
    "socket": (_path, ""),
    "simulator": (_path, ""),
    "journal": (_path, ""),
    "url": (_url, ""),
}
TICKETS: Final[Mapping[str, tuple[Convert, Any]]] = {
    "key": (_path, ""),
    "floor": (_site, ""),
    "trust": (_path, ""),
}
TOP: Final = ("web", "link", "tickets", "table", "signs")


def load(path: Path) -> WebConfig:
    """OSError if it cannot be read, ConfigError if it cannot be used."""
    document = read_toml(path, NO_TOML)
    folder = path.absolute().parent
    problems = [
        unknown(NO_KEY, key, value, TOP) for key, value in document.items() if key not in TOP
    ]
    web = _section("web", document.get("web", {}), WEB, problems)
    link = _section("link", document.get("link", {}), LINK, problems)
    tickets = _section("tickets", document.get("tickets", {}), TICKETS, problems)
    tables = _tables(document.get("table", []), folder, problems)
    signs = _signs(document.get("signs", {}), problems)
    if not problems:
        control = bool(link["control"])
        problems += _incomplete(tickets)
        problems += _unsafe(web, tables, checked=control or bool(tickets["floor"]))
        problems += _unsafe_tickets(tickets, login=web["login"], control=control)
    if problems:
        raise ConfigError(path, problems)
    address, port = web["listen"]
    return WebConfig(
        path=path,
        address=address,
        port=port,
        hosts=web["hosts"],
        certificate=_under(folder, web["certificate"]),
        key=_under(folder, web["key"]),
        behind_proxy=web["behind_proxy"],
        login=web["login"],
        most_streams=web["most_streams"],
        notice=web["notice"],
        control=_under(folder, link["control"]),
        tables=tables,
        signs=signs,
        tickets=TicketOptions(
            _under(folder, tickets["key"]), tickets["floor"], _under(folder, tickets["trust"])
        ),
    )


def _under(folder: Path, name: str) -> Path | None:
    return folder / name if name else None


def _section(
    where: str, table: object, spec: Mapping[str, tuple[Convert, Any]], problems: list[Problem]
) -> dict[str, Any]:
    if not isinstance(table, dict):
        problems.append(Problem(NO_VALUE, where, f"{shown(table)}: expected a table"))
        table = {}
    problems += [
        unknown(NO_KEY, f"{where}.{key}", value, spec)
        for key, value in table.items()
        if key not in spec
    ]
    values: dict[str, Any] = {}
    for name, (convert, default) in spec.items():
        values[name] = default
        if name in table:
            try:
                values[name] = convert(table[name])
            except Bad as bad:
                said = f"{shown(table[name])}: {bad}"
                problems.append(Problem(NO_VALUE, f"{where}.{name}", said))
        elif default is MUST:
            problems.append(Problem(MISSING, f"{where}.{name}", "missing"))
    return values


def _tables(stated: object, folder: Path, problems: list[Problem]) -> tuple[TableOptions, ...]:
    if not isinstance(stated, list) or len(stated) > MOST_TABLES:
        text = f"{shown(stated)}: expected at most {MOST_TABLES} [[table]]"
        problems.append(Problem(NO_VALUE, "table", text))
        return ()
    made: list[TableOptions] = []
    for number, table in enumerate(stated):
        found = _section(f"table[{number}]", table, TABLE, problems)
        if any(one.name == found["name"] for one in made):
            text = f"{shown(found['name'])}: stated twice"
            problems.append(Problem(NO_VALUE, f"table[{number}].name", text))
        made.append(
            TableOptions(
                found["name"],
                _under(folder, found["socket"]),
                _under(folder, found["simulator"]),
                _under(folder, found["journal"]),
                found["url"],
            )
        )
    return tuple(made)


def _signs(stated: object, problems: list[Problem]) -> dict[str, dict[str, str]]:
    texts: dict[str, Any] = stated if isinstance(stated, dict) else {"": stated}
    for pool, by_language in texts.items():
        if not isinstance(by_language, dict) or not all(
            isinstance(text, str) and len(text) <= 500 for text in by_language.values()
        ):
            said = f'{shown(by_language)}: expected texts by language, such as {{ en = "..." }}'
            problems.append(Problem(NO_VALUE, f"signs.{pool}", said))
            return {}
    return texts


def is_loopback(address: str) -> bool:
    return ipaddress.ip_address(address).is_loopback


def is_local_site(site: str) -> bool:
    """Only this machine can connect to it."""
    try:
        name = urlsplit(site).hostname or ""
        return name == "localhost" or is_loopback(name)
    except ValueError:
        return False


def _incomplete(tickets: Mapping[str, Any]) -> Iterator[Problem]:
    for one, other in (("floor", "trust"), ("trust", "floor")):
        if tickets[one] and not tickets[other]:
            yield Problem(MISSING, f"tickets.{other}", f"missing: it belongs to tickets.{one}")


def _unsafe_tickets(tickets: Mapping[str, Any], *, login: bool, control: bool) -> Iterator[Problem]:
    """Passwords are checked at one machine, which signs; a table's machine believes it."""
    key, floor = tickets["key"], tickets["floor"]
    if key and floor:
        text = "expected key at the floor's machine, or floor and trust at a table's"
        yield Problem(UNSAFE, "tickets.key", text)
    elif key and not (login and control):
        text = "expected web.login and link.control: a ticket says who has signed in here"
        yield Problem(UNSAFE, "tickets.key", text)
    elif floor and control:
        text = "expected no link.control: passwords are typed at the floor alone"
        yield Problem(UNSAFE, "tickets.floor", text)
    elif floor and not login:
        yield Problem(UNSAFE, "tickets.floor", "expected web.login = true")
    if floor.startswith("http://") and not is_local_site(floor):
        text = f"{floor}: expected https, because people type their passwords there"
        yield Problem(UNSAFE, "tickets.floor", text)


def _unsafe(
    web: Mapping[str, Any], tables: tuple[TableOptions, ...], *, checked: bool
) -> list[Problem]:
    """What would put passwords or pages on a network without protection. ``checked``: somebody
    says who signed in."""
    found = []
    local = is_loopback(web["listen"][0])
    if bool(web["certificate"]) != bool(web["key"]):
        found.append(("certificate", "expected certificate and key, or neither"))
    if not local and not web["certificate"]:
        found.append(("listen", f"{web['listen'][0]}: expected certificate and key off loopback"))
    if not local and web["behind_proxy"]:
        found.append(("behind_proxy", "expected an address of loopback, where only the proxy is"))
    if not local and not web["hosts"]:
        found.append(("hosts", "missing: the names that browsers use for this server"))
    if web["behind_proxy"] and not web["hosts"]:
        found.append(("hosts", "missing: the names under which the proxy serves"))
    if not web["login"] and (not local or web["behind_proxy"]):
        found.append(("login", "false: expected true unless only this machine can connect"))
    if web["login"] and not checked:
        text = "true: expected link.control, which checks the passwords, or tickets.floor"
        found.append(("login", text))
    if web["login"] and any(table.simulator for table in tables):
        # A simulator lets everyone who may look play, and a session must only look.
        found.append(("login", "true: expected false with table.simulator, which is for demos"))
    return [Problem(UNSAFE, f"web.{key}", text) for key, text in found]
