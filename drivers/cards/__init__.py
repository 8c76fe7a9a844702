"""Card shoe and shuffler over the card device protocol, CDP v1 (docs/protocols/card-devices.md)."""
