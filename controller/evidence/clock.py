"""Times as the house reads them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from controller.evidence.errors import EvidenceError


@dataclass(frozen=True, slots=True)
class HouseClock:
    zone: ZoneInfo
    start: time

    @classmethod
    def of(cls, zone: str, start: str) -> HouseClock:
        try:
            return cls(ZoneInfo(zone), time.fromisoformat(start))
        except (ZoneInfoNotFoundError, ValueError, OSError):
            said = f'"{zone}" and "{start}": expected a time zone such as Asia/Singapore and 06:00'
            raise EvidenceError("E-EVD-007", said, os.EX_USAGE) from None

    @property
    def name(self) -> str:
        return self.zone.key

    def text(self, at_ms: int) -> str:
        return f"{self._local(at_ms):%Y-%m-%d %H:%M:%S}"

    def day(self, at_ms: int) -> str:
        local = self._local(at_ms)
        before = local.time() < self.start
        return (local.date() - timedelta(days=1) if before else local.date()).isoformat()

    def _local(self, at_ms: int) -> datetime:
        return datetime.fromtimestamp(at_ms // 1000, UTC).astimezone(self.zone)
