"""The service that runs the daemon: is its unit there, and does it let the daemon do its work?

A user at a terminal does not see what the unit forbids: folders that it may not write to,
credentials that it does not get, link servers that it may not talk to.
"""

from __future__ import annotations

import os
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import Final

from controller.config.live import LiveConfig
from controller.doctor.machine import Machine
from controller.faults.troubles import Trouble

NO_UNIT: Final = "E-DOC-060"
NOT_ENABLED: Final = "E-DOC-061"
NO_FOLDER: Final = "E-DOC-062"
NO_FILE: Final = "E-DOC-063"
NOT_HANDED: Final = "E-DOC-064"
OPEN_FILE: Final = "E-DOC-065"
NO_WAY: Final = "E-DOC-066"
NO_WATCHDOG: Final = "E-DOC-067"

SITE: Final = "/etc/underfelt"
NAME: Final = "underfelt-table@"
FOLDERS: Final = (
    "/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system", "/lib/systemd/system",
)  # fmt: skip
"""Where a unit may lie; the first one counts."""
SYSTEM: Final = ("/usr/lib/systemd/system.conf.d", "/etc/systemd/system.conf.d")
_WORDS: Final = {
    "any": ("0.0.0.0/0", "::/0"),
    "localhost": ("127.0.0.0/8", "::1/128"),
    "link-local": ("169.254.0.0/16", "fe80::/64"),
    "multicast": ("224.0.0.0/4", "ff00::/8"),
}
"""systemd's names of networks."""


@dataclass(frozen=True, slots=True)
class Unit:
    """The settings in force for one table; ``settings`` is empty if there is no unit."""

    instance: str
    settings: dict[str, list[str]]

    def words(self, key: str) -> list[str]:
        return " ".join(self.settings.get(key, [])).split()

    @property
    def credentials(self) -> dict[str, Path]:
        """Name to the file that systemd hands over."""
        return self._files("LoadCredential") | self.encrypted

    @property
    def encrypted(self) -> dict[str, Path]:
        return self._files("LoadCredentialEncrypted")

    def _files(self, key: str) -> dict[str, Path]:
        pairs = (word.partition(":") for word in self.words(key))
        return {name: Path(path) for name, _, path in pairs if path.startswith("/")}

    @property
    def writable(self) -> list[Path]:
        made = [Path("/var/lib") / word for word in self.words("StateDirectory")]
        return [*made, *(Path(word.lstrip("-+")) for word in self.words("ReadWritePaths"))]


def unit_of(machine: Machine, config_file: Path) -> Unit | None:
    """The unit that starts this configuration; None if no unit does, as of a table by hand."""
    folder = config_file.absolute().parent
    if folder.parent != machine.path(SITE):
        return None
    names = (f"{NAME}{folder.name}.service", f"{NAME}.service")
    texts = [
        text
        for place in FOLDERS
        for name in names
        if (text := machine.text(f"{place}/{name}")) is not None
    ][:1]
    if texts:
        for name in reversed(names):
            texts += _added(machine, [f"{place}/{name}.d" for place in reversed(FOLDERS)])
    return Unit(folder.name, _settings("\n".join(texts).replace("%i", folder.name)))


def _added(machine: Machine, folders: list[str]) -> Iterator[str]:
    for folder in folders:
        for name in machine.names(folder):
            if name.endswith(".conf"):
                yield machine.text(f"{folder}/{name}") or ""


def _settings(text: str) -> dict[str, list[str]]:
    """All values of each key in order; an empty one forgets those before it."""
    found: dict[str, list[str]] = {}
    for line in text.replace("\\\n", " ").splitlines():
        key, equals, value = (part.strip() for part in line.partition("="))
        if not equals or key.startswith(("#", ";")):
            continue
        found[key] = [*found.get(key, []), value] if value else []
    return found


def service(machine: Machine, config: LiveConfig, unit: Unit) -> Iterator[Trouble]:
    name = f"{NAME}{unit.instance}"
    if not unit.settings:
        yield Trouble(NO_UNIT, "service", "stopped", f"{NAME}.service")
        return
    if not _enabled(machine, f"{name}.service"):
        yield Trouble(NOT_ENABLED, "service", "degraded", name)
    if not any(config.journal.path.is_relative_to(place) for place in unit.writable):
        told = f"{config.journal.path}; the unit's folder is {', '.join(map(str, unit.writable))}"
        yield Trouble(NO_FOLDER, "journal.path", "stopped", told)
    yield from _credentials(machine, config, unit)
    yield from _ways(config, unit)
    if not _watchdog(machine):
        yield Trouble(NO_WATCHDOG, "watchdog", "degraded", "RuntimeWatchdogSec is not set")


def _enabled(machine: Machine, name: str) -> bool:
    place = FOLDERS[0]
    wanted = [one for one in machine.names(place) if one.endswith((".wants", ".requires"))]
    return any(name in machine.names(f"{place}/{one}") for one in wanted)


def _credentials(machine: Machine, config: LiveConfig, unit: Unit) -> Iterator[Trouble]:
    """A missing file keeps the unit from starting, whether the configuration uses it or not."""
    for name, path in unit.credentials.items():
        try:
            mode = os.stat(machine.path(path)).st_mode
        except PermissionError:
            continue
        except OSError:
            yield Trouble(NO_FILE, name, "stopped", str(path))
            continue
        if mode & 0o077:
            yield Trouble(OPEN_FILE, name, "degraded", f"{path} has mode {mode & 0o7777:04o}")
    for key, name in wanted(config).items():
        if name not in unit.credentials:
            told = f"{name}; the unit has {', '.join(unit.credentials) or 'none'}"
            yield Trouble(NOT_HANDED, key, "stopped", told)


def wanted(config: LiveConfig) -> dict[str, str]:
    """Keys of the configuration whose secret is a credential, and its name."""
    secrets = {"keys.sealing": config.keys.sealing}
    if config.link is not None:
        secrets["link.secret_key"] = config.link.secret_key
    return {key: one.name for key, one in secrets.items() if not isinstance(one, Path)}


def _ways(config: LiveConfig, unit: Unit) -> Iterator[Trouble]:
    if config.link is None or "any" not in unit.words("IPAddressDeny"):
        return
    allowed = [net for word in unit.words("IPAddressAllow") for net in _networks(word)]
    for endpoint in config.link.endpoints:
        host = endpoint.removeprefix("tcp://").rpartition(":")[0].strip("[]")
        try:
            found = socket.getaddrinfo(host, None, type=socket.SOCK_STREAM)
        except OSError:
            continue  # the examination of the link reports an unknown name
        addresses = [ip_address(str(one[4][0]).partition("%")[0]) for one in found]
        if not any(address in net for address in addresses for net in allowed):
            told = f"{endpoint}; IPAddressAllow={' '.join(unit.words('IPAddressAllow'))}"
            yield Trouble(NO_WAY, "link", "degraded", told)


def _networks(word: str) -> Iterator[IPv4Network | IPv6Network]:
    for one in _WORDS.get(word, (word,)):
        try:
            yield ip_network(one, strict=False)
        except ValueError:
            continue


def _watchdog(machine: Machine) -> bool:
    texts = [machine.text("/etc/systemd/system.conf") or "", *_added(machine, list(SYSTEM))]
    told = _settings("\n".join(texts)).get("RuntimeWatchdogSec", [])
    return bool(told) and told[-1] not in ("0", "off")
