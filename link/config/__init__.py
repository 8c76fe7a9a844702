"""The server's file, ``link.toml``: read and checked as a whole; all problems are reported."""

from link.config.file import LinkConfig, load
from link.config.options import DoorOptions, HttpOptions, Limits, ReportOptions, ServerOptions

__all__ = [
    "DoorOptions",
    "HttpOptions",
    "Limits",
    "LinkConfig",
    "ReportOptions",
    "ServerOptions",
    "load",
]
