"""Loads the house's hypothesis profile."""

import tests.hypothesis_profile  # noqa: F401
