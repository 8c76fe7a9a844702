"""MCP23017 expanders: the dealer's keys, sensors and credit acceptors, lamps."""

from drivers.mcp23017.acceptors import AcceptorsDriver, SensorsDriver, credit_boards
from drivers.mcp23017.keys import KEYS_1, KEYS_2, KeysDriver
from drivers.mcp23017.lamps import LAMPS_1, LAMPS_2, LampsDriver

__all__ = [
    "KEYS_1",
    "KEYS_2",
    "LAMPS_1",
    "LAMPS_2",
    "AcceptorsDriver",
    "KeysDriver",
    "LampsDriver",
    "SensorsDriver",
    "credit_boards",
]
