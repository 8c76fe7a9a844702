"""Property tests run with the house's profile."""

import tests.hypothesis_profile  # noqa: F401
