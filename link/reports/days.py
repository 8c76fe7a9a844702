"""The gaming day: it begins at an hour of the house's own clock, summer time or not."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from link.reports.model import ReportError


@dataclass(frozen=True, slots=True)
class GamingDays:
    zone: ZoneInfo
    start: time

    @classmethod
    def of(cls, zone: str, start: str) -> GamingDays:
        try:
            found = ZoneInfo(zone)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            said = f'time zone "{zone}" is not known; expected a name such as Asia/Singapore'
            raise ReportError("E-RPT-001", said) from None
        if not re.fullmatch(r"([01][0-9]|2[0-3]):[0-5][0-9]", start):
            said = f'day start "{start}"; expected an hour such as 06:00'
            raise ReportError("E-RPT-001", said)
        return cls(found, time.fromisoformat(start))

    def day_of(self, at_ms: int) -> date:
        local = datetime.fromtimestamp(at_ms // 1000, UTC).astimezone(self.zone)
        before = local.time() < self.start
        return local.date() - timedelta(days=1) if before else local.date()

    def begins_ms(self, day: date) -> int:
        local = datetime.combine(day, self.start, self.zone)
        return int(local.astimezone(UTC).timestamp()) * 1000

    def time_text(self, at_ms: int) -> str:
        local = datetime.fromtimestamp(at_ms // 1000, UTC).astimezone(self.zone)
        return local.strftime("%Y-%m-%d %H:%M:%S")

    def parse(self, text: str) -> date:
        try:
            return date.fromisoformat(text)
        except ValueError:
            said = f'"{text}" is no gaming day; expected one such as 2026-03-10'
            raise ReportError("E-RPT-002", said) from None

    @property
    def name(self) -> str:
        return f"{self.zone.key}, from {self.start:%H:%M}"
