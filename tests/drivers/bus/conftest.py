from __future__ import annotations

import tests.hypothesis_profile  # noqa: F401
