"""Card shoe and shuffler over the card device protocol, CDP v1 (docs/protocols/card-devices.md)."""

from drivers.cards.shoe import ShoeDriver
from drivers.cards.shuffler import ShufflerDriver

__all__ = ["ShoeDriver", "ShufflerDriver"]
