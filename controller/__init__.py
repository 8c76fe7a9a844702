"""The table: rules, round engine and command line."""

__version__ = "0.1.0"
