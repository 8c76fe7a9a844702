"""The table: rules, round engine and command line."""
