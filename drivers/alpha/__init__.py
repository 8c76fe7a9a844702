"""Alpha protocol: the overhead jackpot sign (docs/protocols/alpha.md)."""
