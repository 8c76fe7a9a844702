"""The guided tests of a table's devices, as pure machines: readings in, orders and steps out."""
