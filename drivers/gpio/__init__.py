"""The Pi's own pins and its supply flags."""

from drivers.gpio.codec import parse_throttled
from drivers.gpio.driver import PINS, PinsDriver, SupplyDriver

__all__ = ["PINS", "PinsDriver", "SupplyDriver", "parse_throttled"]
