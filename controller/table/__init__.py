"""The table core: readings and keys become facts, effects become orders. Pure: no I/O, no clock."""
