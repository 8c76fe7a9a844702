"""HD44780 behind a PCF8574A: the dealer prompt (docs/protocols/hd44780.md)."""
