"""HT16K33: the jackpot meter's digits and the magic card's matrix (docs/protocols/ht16k33.md)."""
