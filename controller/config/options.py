"""Every option of a live table besides its rule settings, once: kind, default, meaning, moment.

An option without a default must be stated. ``when`` says at which moment a change may take effect:
``round`` between two rounds, ``closed`` while the table is closed, ``restart`` at the next start.
"""

# A field made by `option(...)` is a dataclass field with its documentation, not a shared default.
# ruff: noqa: RUF009

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import MISSING, Field, dataclass, field, fields
from pathlib import Path
from typing import Any, Final, Literal

from controller.config.people import ShellPerson, people
from controller.rules.settings import Bad, Convert, between, choice, flag

When = Literal["round", "closed", "restart"]
NONE: Final = "none"
LANGUAGES: Final = ("en", "de")
"""Built in: controller/table/texts."""
CREDENTIAL: Final = "credential:"
TABLE: Final = "{table}"
"""Stands in a path for the table's name in the layout file."""


@dataclass(frozen=True, slots=True)
class Credential:
    """A secret that systemd hands to the service under this name."""

    name: str


Secret = Path | Credential


# --- kinds of values ---------------------------------------------------------------------------


def a_text(least: int, most: int, expected: str) -> Convert:
    def convert(value: object) -> str:
        if not isinstance(value, str) or not least <= len(value) <= most or not _plain(value):
            raise Bad(f"expected {expected}")
        return value

    return convert


def _plain(text: str) -> bool:
    return all(" " <= c <= "~" for c in text)


def a_path(value: object) -> Path:
    """Relative to the site file's folder; resolved by the loader."""
    if not isinstance(value, str) or not value.strip() or "\0" in value:
        raise Bad("expected the path of a file, as text")
    return Path(value)


def a_path_or_none(value: object) -> Path | None:
    return None if value == NONE else a_path(value)


def a_secret(value: object) -> Secret:
    if isinstance(value, str) and value.startswith(CREDENTIAL):
        name = value.removeprefix(CREDENTIAL)
        if re.fullmatch(r"[A-Za-z0-9._-]{1,100}", name) is None:
            raise Bad('expected "credential:NAME", the name of a systemd credential')
        return Credential(name)
    try:
        return a_path(value)
    except Bad:
        raise Bad('expected the path of a key file, or "credential:NAME"') from None


def a_house(value: object) -> str:
    if not isinstance(value, str) or re.fullmatch(r"[A-Za-z0-9._-]{1,16}", value) is None:
        raise Bad("expected the house of the chip register: 1 to 16 letters, digits, . _ -")
    return value


def a_language(value: object) -> str | Path:
    """A built-in language by its two letters, or a file."""
    if isinstance(value, str) and value in LANGUAGES:
        return value
    if isinstance(value, str) and value.endswith(".toml"):
        return a_path(value)
    listed = ", ".join(f'"{name}"' for name in LANGUAGES)
    raise Bad(f"expected {listed}, or the path of a language file, NAME.toml")


def a_currency(value: object) -> str:
    """In characters that the fourteen segments of the meter have."""
    if not isinstance(value, str) or re.fullmatch(r"[A-Za-z$]{0,3}", value) is None:
        raise Bad("expected 0 to 3 letters or $, which the meter can show")
    return value


def endpoints(value: object) -> tuple[str, ...]:
    listed = tuple(value) if isinstance(value, list) else ()
    if not 1 <= len(listed) <= 8 or not all(isinstance(e, str) and _endpoint(e) for e in listed):
        raise Bad('expected a list of 1 to 8 endpoints, "tcp://HOST:PORT"')
    if len(set(listed)) != len(listed):
        raise Bad("an endpoint is there twice")
    return listed


def _endpoint(text: str) -> bool:
    found = re.fullmatch(r"tcp://([A-Za-z0-9.-]{1,253}|\[[0-9a-fA-F:.]{2,45}\]):(\d{1,5})", text)
    return found is not None and 1 <= int(found[2]) <= 65535


def option(
    default: Any, convert: Convert, text: str, when: When, *, example: str = "", file: bool = False
) -> Any:
    """``file``: the start fails without it, so ``config check`` looks whether it is there."""
    meta = {"convert": convert, "text": text, "when": when, "example": example, "file": file}
    return field(metadata=meta) if default is MISSING else field(default=default, metadata=meta)


MUST: Final = MISSING
"""No default: the operator states it."""


# --- the sections ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalOptions:
    """Where the truth is kept, and for how long."""

    path: Path = option(
        "/var/lib/underfelt/{table}/journal", a_path, "folder of the journal", "restart"
    )
    segment_mib: int = option(4, between(1, 1024), "size of a segment, MiB", "restart")
    retention_days: int = option(
        1826, between(30, 36_525), "days a full segment is kept, at least 30", "restart"
    )
    reserve_kib: int = option(
        256,
        between(64, 65_536),
        "kept free, KiB, so that a round can end on a full disk",
        "restart",
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChipsOptions:
    """The signed chip register."""

    register: Path = option(
        MUST, a_path, "the chip register", "restart", example="house.chips", file=True
    )
    public_key: Path = option(
        MUST, a_path, "the chip bank's public key", "restart", example="chips.pub", file=True
    )
    house: str = option(
        MUST, a_house, "the house whose chips count at this table", "restart", example="SYD-1"
    )
    minimum_version: int = option(1, between(1, 2**31), "an older register is refused", "restart")


@dataclass(frozen=True, slots=True, kw_only=True)
class StaffOptions:
    """The signed staff register."""

    register: Path | None = option(
        MUST, a_path_or_none, 'the staff register; "none" at a simulated table only: nobody signs '
        "on, D1 deals and S1 supervises", "restart", example="house.staff", file=True,
    )  # fmt: skip
    public_key: Path | None = option(
        MUST, a_path_or_none, 'the staff office\'s public key; "none" without a register',
        "restart", example="staff.pub", file=True,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class KeysOptions:
    """Secrets of this table."""

    sealing: Secret = option(
        MUST, a_secret, 'seals cards nobody may know yet: a file of mode 0400, or '
        '"credential:NAME" of the service', "restart", example="credential:table.key", file=True,
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class DisplayOptions:
    """What dealer and players read."""

    language: str | Path = option(
        "en", a_language, "language of the prompt, built-in or a file", "round", file=True
    )
    currency: str = option(
        "$", a_currency, "currency symbol, before the amount on meter and sign", "round"
    )
    decimals: int = option(
        2, choice(0, 2, 3), "decimals of an amount, as many as its minor unit has", "round"
    )
    decimal_point: str = option(".", choice(".", ","), "between units and decimals", "round")
    thousands: str = option(",", choice("", ",", ".", " ", "'"), "between thousands", "round")
    odometer_ms: int = option(
        2_000, between(0, 60_000),
        "how long meter and sign count up to a higher jackpot; 0: they jump", "round",
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkOptions:
    """The progressive link. Without this section the progressive stays closed."""

    endpoints: tuple[str, ...] = option(
        MUST, endpoints, "link servers, the preferred first", "restart",
        example="tcp://link-1:5701",
    )  # fmt: skip
    secret_key: Secret = option(
        MUST,
        a_secret,
        "this table's CURVE key",
        "restart",
        example="credential:link.key",
        file=True,
    )
    server_key: Path = option(
        MUST, a_path, "the link servers' public key", "restart", example="link.pub", file=True
    )
    heartbeat_limit_ms: int = option(
        5_000, between(500, 60_000),
        "no progressive wager locks later than this after the last heartbeat", "restart",
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceOptions:
    """For status, shell and metrics. Nothing here can move money."""

    socket: Path = option(
        "/run/underfelt/{table}/service.sock", a_path, "socket of status and shell", "restart"
    )
    http: bool = option(False, flag, "serve metrics over HTTP", "restart")
    address: str = option(
        "127.0.0.1", a_text(1, 253, "an address of this machine"), "where HTTP listens", "restart"
    )
    port: int = option(9631, between(1, 65_535), "port of HTTP", "restart")


@dataclass(frozen=True, slots=True, kw_only=True)
class ShellOptions:
    """Who may use the diagnostic shell; root and the daemon's own user are technicians."""

    people: tuple[ShellPerson, ...] = option(
        (), people, 'a table [[shell.people]] for each: user, role (observer, technician, '
        'supervisor), and until = "2027-03-31" for a last day', "round",
    )  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class PolicyOptions:
    """How patient and how careful the table is."""

    settle_ms: int = option(
        300, between(100, 5_000),
        "a spot that changed within this time before the closing call is uncertain; measured at "
        "commissioning", "round",
    )  # fmt: skip
    late_grace_ms: int = option(
        0, between(0, 2_000), "a wager that settles this long after the closing call is not late",
        "round",
    )  # fmt: skip
    take_back_limit_ms: int = option(
        10_000, between(0, 120_000),
        "chips of a wager taken back must be gone this long after the decision; 0 is no limit",
        "round",
    )  # fmt: skip
    safe_mode: bool = option(
        False, flag, "sensors are read, nothing is contributed to the progressive", "round"
    )


SECTIONS: Final[Mapping[str, type[Any]]] = {
    "journal": JournalOptions,
    "chips": ChipsOptions,
    "staff": StaffOptions,
    "keys": KeysOptions,
    "display": DisplayOptions,
    "link": LinkOptions,
    "service": ServiceOptions,
    "shell": ShellOptions,
    "policy": PolicyOptions,
}
OPTIONAL_SECTIONS: Final = frozenset(("link",))
TOP_LEVEL: Final = ("game", "layout", "settings", *SECTIONS)

OPTIONS: Final[Mapping[str, Field[Any]]] = {
    f"{section}.{one.name}": one for section, kind in SECTIONS.items() for one in fields(kind)
}
"""By their whole name, ``journal.path``."""

_SETTINGS_WHEN: Final[Mapping[str, When]] = {
    # Devices and their number are built at the start.
    "seats": "restart",
    "card_device": "restart",
    # What the table's sign or felt says does not change while players read it.
    **dict.fromkeys(
        (
            "min_wager", "max_wager", "limit_scope", "max_payout", "max_payout_scope",
            "wager_unit", "wager_limits", "ante", "rapid_fire", "rapid_fire_pay", "hedge",
            "hedge_pay",
            "meter_rule", "progressive_stake_returned", "credit_cents", "max_credits",
        ),
        "closed",
    ),
}  # fmt: skip


def when_of(key: str) -> When:
    """The moment at which a change of this key may take effect."""
    section, _, name = key.partition(".")
    if section == "settings":
        return _SETTINGS_WHEN.get(name, "round")
    spec = OPTIONS.get(key)
    when: When = "restart" if spec is None else spec.metadata["when"]
    return when
