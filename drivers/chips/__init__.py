"""From inventories to settled chips (docs/protocols/chip-sensing.md)."""
