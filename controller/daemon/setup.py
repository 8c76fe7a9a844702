"""A configuration with every file that it names read: what a table is made of besides its journal.

Whatever is wrong with a file is reported with its name and a code, and the table does not start.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from pathlib import Path
from typing import Any, Final, Literal, Protocol

from controller.config.keys import link_keys, sealing_key
from controller.config.live import LiveConfig
from controller.daemon.house_options import HouseOptions, house_options
from controller.daemon.standalone import Standalone
from controller.history.sealing import CardSealer, Random, TableKey
from controller.history.snapshot import Opening
from controller.identity import program_hash
from controller.link.session import TableIdentity
from controller.registers.chips.register import ChipRegister
from controller.registers.keys import load_public
from controller.registers.kinds import CHIPS, STAFF
from controller.registers.staff.attempts import Attempt, Attempts
from controller.registers.staff.register import StaffDesk, StaffRegister
from controller.table.chips import Find
from controller.table.staff import Staff
from drivers.build import LoadMaker, vendor_kinds
from drivers.layout import TableLayout
from record.journal.journal import RESERVE_BYTES, SEGMENT_BYTES
from record.link.keys import SecretKey

MIB, KIB = 1 << 20, 1 << 10


class Clock(Protocol):
    """Where a table takes its time from."""

    def now_us(self) -> int: ...

    def wall_ms(self) -> int: ...

    def today(self) -> date: ...

    def utc_offset_min(self) -> int: ...


class SystemClock:
    def now_us(self) -> int:
        return time.monotonic_ns() // 1000

    def wall_ms(self) -> int:
        return time.time_ns() // 1_000_000

    def today(self) -> date:
        return datetime.now().astimezone().date()

    def utc_offset_min(self) -> int:
        """The table's clock against UTC: a gaming day has a date."""
        return (datetime.now().astimezone().utcoffset() or timedelta()) // timedelta(minutes=1)


SYSTEM_CLOCK: Final = SystemClock()


class SignsOn(Protocol):
    """Makes the staff register's desk, given the attempts that the journal remembers."""

    def __call__(self, attempts: list[Attempt], note: Callable[[Attempt], None]) -> Staff: ...


class MakeSealer(Protocol):
    def __call__(self, key: TableKey, journal_id: str, random: Random, /) -> CardSealer: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class JournalSetup:
    path: Path
    segment_bytes: int = SEGMENT_BYTES
    reserve_bytes: int = RESERVE_BYTES
    retention_days: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkSetup:
    """The link servers, and how long they may be silent."""

    endpoints: tuple[str, ...]
    secret: SecretKey
    server: str
    """The servers' public key, Z85."""
    limit_ms: int
    meter_rule: Literal["sequential", "snapshot"]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableSetup:
    name: str
    opening: Opening
    layout: TableLayout
    layout_sha256: str = ""
    journal: JournalSetup
    key: TableKey
    key_file: str = ""
    """As the configuration names it, for what is said when it does not fit."""
    find: Find
    house: str = ""
    choices: HouseOptions
    configuration: str = ""
    """The hash of the configuration in the files."""
    staff: SignsOn | None = None
    """None: nobody signs on, the same people stay."""
    link: LinkSetup | None = None
    standalone: Standalone = field(default_factory=Standalone)
    """Takes the place of the link server where there is none."""
    vendors: Mapping[str, LoadMaker] = field(default_factory=dict)
    sealer: MakeSealer = CardSealer

    @property
    def game(self) -> str:
        return self.opening.game

    @property
    def card_devices(self) -> frozenset[str]:
        lines = (line for line in self.layout.lines if not line.antennas)
        return frozenset(line.name for line in lines if line.kind not in ("feig", "alpha"))

    @property
    def meters(self) -> frozenset[str]:
        """Displays that count up."""
        boards = (name for name in self.layout.boards if name.startswith("meter-"))
        signs = (line.name for line in self.layout.lines if line.kind == "alpha")
        return frozenset((*boards, *signs))

    def identity(self, journal_id: str) -> TableIdentity:
        """As the link server knows the table."""
        rule = "sequential" if self.link is None else self.link.meter_rule
        return TableIdentity(
            self.name, journal_id, self.game, program_hash(), self.configuration, rule
        )


def setup_of(
    config: LiveConfig,
    *,
    clock: Clock = SYSTEM_CLOCK,
    key: TableKey | None = None,
    standalone: Standalone | None = None,
) -> TableSetup:
    """A check of a configuration gives a ``key`` where it cannot read the table's."""
    choices = house_options(config)
    key = key or sealing_key(config)
    register = ChipRegister.open(
        config.chips.register,
        load_public(CHIPS, config.chips.public_key),
        config.chips.minimum_version,
        config.chips.house,
    )
    return TableSetup(
        name=config.name,
        opening=opening_of(config, clock.today()),
        layout=config.layout,
        layout_sha256=config.layout_sha256,
        journal=JournalSetup(
            path=config.journal.path,
            segment_bytes=config.journal.segment_mib * MIB,
            reserve_bytes=config.journal.reserve_kib * KIB,
            retention_days=config.journal.retention_days,
        ),
        key=key,
        key_file=str(config.keys.sealing),
        find=register.find,
        house=config.chips.house,
        choices=choices,
        configuration=config.effective_hash,
        staff=_staff(config, clock),
        link=_link(config),
        standalone=standalone or Standalone(),
        vendors=vendor_kinds(),
    )


def opening_of(config: LiveConfig, today: date | None = None) -> Opening:
    """What a table is opened with today under this configuration."""
    today = today or SYSTEM_CLOCK.today()
    return Opening(config.game, _settings(config), today.isoformat())


def _settings(config: LiveConfig) -> Mapping[str, Any]:
    """The rule settings as the configuration states them, in JSON values."""
    prefix = "settings."
    return {
        key.removeprefix(prefix): one.value
        for key, one in config.values.items()
        if key.startswith(prefix) and one.file is not None
    }


def _link(config: LiveConfig) -> LinkSetup | None:
    keys = link_keys(config)
    if config.link is None or keys is None:
        return None
    secret, server = keys
    return LinkSetup(
        endpoints=config.link.endpoints,
        secret=secret,
        server=server,
        limit_ms=config.link.heartbeat_limit_ms,
        meter_rule=config.settings.meter_rule,
    )


def _staff(config: LiveConfig, clock: Clock) -> SignsOn | None:
    if config.staff.register is None or config.staff.public_key is None:
        return None
    register = StaffRegister.open(
        config.staff.register, load_public(STAFF, config.staff.public_key)
    )

    def desk(attempts: list[Attempt], note: Callable[[Attempt], None]) -> Staff:
        restored = Attempts.restored(attempts, clock.now_us() // 1000)
        return StaffDesk(
            register, restored, note, now_ms=lambda: clock.now_us() // 1000, today=clock.today
        )

    return desk
