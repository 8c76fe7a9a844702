"""The seat lamps as a person sees them (docs/protocols/console.md, section 3)."""

from __future__ import annotations

from typing import Final

from hw_sim.devices.mcp23017 import IODIR, A, B, Mcp23017

LAMPS: Final = {
    0x0: "off", 0x7: "open", 0x2: "live", 0xB: "your turn", 0x4: "pay",
    0x5: "collect", 0x1: "void", 0x9: "fault", 0xF: "lucky",
}  # fmt: skip


def _lit(board: Mcp23017, port: int) -> int:
    """A pin that is still an input drives no lamp."""
    return board.pins(port) & ~board.peek(IODIR + port) & 0xFF


def lamp_states(lamps1: Mcp23017, lamps2: Mcp23017) -> list[str]:
    ports = (_lit(lamps1, A), _lit(lamps1, B), _lit(lamps2, A), _lit(lamps2, B))
    nibbles = [nibble for port in ports for nibble in (port & 0x0F, port >> 4)]
    return [LAMPS.get(nibble, "?") for nibble in nibbles[:7]]


def beacon(lamps2: Mcp23017) -> bool:
    return bool(_lit(lamps2, B) & 0x10)


def buzzer(lamps2: Mcp23017) -> bool:
    return bool(_lit(lamps2, B) & 0x20)
