"""Tests of the simulator run hypothesis with the house's profile."""

import tests.hypothesis_profile  # noqa: F401
