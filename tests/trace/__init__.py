"""One card, from the wire to the devices: what the product does, call by call."""
