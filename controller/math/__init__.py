"""Exact mathematics by full enumeration; the only part of the controller that uses numpy."""
