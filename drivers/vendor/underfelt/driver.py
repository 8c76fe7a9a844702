"""The interface for drivers of other vendors (docs/protocols/vendor-drivers.md).

Everything that a driver for a device on a serial line needs. What is not in ``__all__`` is internal
and may change with any release.
"""

from drivers.base import (
    MS,
    SECOND,
    Counters,
    DeviceIdentified,
    DeviceState,
    Fault,
    Identity,
    LineSettings,
    Reopen,
    StateReported,
    Write,
)
from drivers.layout import LineLayout
from drivers.machines import LineAction, LineDriver
from drivers.orders import (
    AcknowledgeReading,
    LockCards,
    Order,
    RequestDeckCheck,
    ShowSign,
    SweepAntennas,
    WatchAntennas,
)
from drivers.readings import (
    Antenna,
    AntennaFailed,
    AntennaRead,
    CardEvent,
    CardRead,
    MetersRead,
    PacketRead,
    Reading,
    SealedCard,
    Shown,
    Uid,
)

__all__ = [
    "MS",
    "SECOND",
    "AcknowledgeReading",
    "Antenna",
    "AntennaFailed",
    "AntennaRead",
    "CardEvent",
    "CardRead",
    "Counters",
    "DeviceIdentified",
    "DeviceState",
    "Fault",
    "Identity",
    "LineAction",
    "LineDriver",
    "LineLayout",
    "LineSettings",
    "LockCards",
    "MetersRead",
    "Order",
    "PacketRead",
    "Reading",
    "Reopen",
    "RequestDeckCheck",
    "SealedCard",
    "ShowSign",
    "Shown",
    "StateReported",
    "SweepAntennas",
    "Uid",
    "WatchAntennas",
    "Write",
]
