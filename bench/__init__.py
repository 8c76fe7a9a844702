"""Benchmarks: each runs its peer or its floor in the same run and prints the ratio."""
