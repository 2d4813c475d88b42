# SPDX-License-Identifier: BSD-3-Clause
"""What stands in for parts that a build left out because a library was not installed."""
from typing import Any


class Simulation:
    """A mechanical system in time; this build has none."""


def simulate(*arguments: Any, **options: Any) -> Any:
    """Says that this build cannot simulate."""
    raise ValueError(
        "simulate: expected a package built where nlohmann-json is installed (Debian: nlohmann-json3-dev), got one without"
    )
