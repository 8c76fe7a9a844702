"""How hypothesis runs here; imported by the conftest of every folder that uses it."""

from __future__ import annotations

from hypothesis import HealthCheck, settings

settings.register_profile(
    "underfelt",
    deadline=None,  # the machine is shared: no test asserts on time
    suppress_health_check=[HealthCheck.too_slow],
    print_blob=True,
    derandomize=True,  # a failure of the suite is a failure everywhere; long runs vary the seed
)
settings.load_profile("underfelt")
