"""The server's file, ``link.toml``: read whole, checked whole, every problem told at once."""

from link.config.file import LinkConfig, load

__all__ = ["LinkConfig", "load"]
