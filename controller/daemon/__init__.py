"""The table daemon: how a table is put together, runs, comes back and shows what it does."""
