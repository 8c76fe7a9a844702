"""The only importers of pyserial, smbus2 and gpiozero: thin, with no decision of their own."""
