"""The table daemon: what it writes into its journal, how it comes back, and its runtime."""
