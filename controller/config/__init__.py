"""A table's configuration: layered TOML, checked whole, and never changed inside a round.

``load`` reads the game and its settings, as for a par sheet; ``controller.config.live.load_live``
reads everything a running table needs. The page is docs/operations/configuration.md.
"""

from controller.config.file import TableConfig, load

__all__ = ["TableConfig", "load"]
