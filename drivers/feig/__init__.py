"""FEIG chip readers and their antenna multiplexers (docs/protocols/feig.md)."""
