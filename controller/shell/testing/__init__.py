"""Test mode: the table out of play, the guided tests of its devices, their certificates."""
