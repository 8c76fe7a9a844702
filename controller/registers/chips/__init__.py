"""The chip register: which tag is which chip, signed by the house.

A table needs ``register.ChipRegister``; the rest is the chip bank's.
The page is docs/protocols/chip-register.md.
"""
