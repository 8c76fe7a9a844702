"""MCP23017 expanders: the dealer's keys, sensors and credit acceptors, lamps."""
