"""PURE: pools, jackpots and their money. No I/O; time and chance come in."""
