# SPDX-License-Identifier: BSD-3-Clause
"""Does the same scene on the same machine end the same way, in another process too?

https://github.com/newton-physics/newton/issues/2479 asks for that: same code, same scene, same machine, same result.
The thread has no scene. Here 16 balls of this project's choosing fall on each other and scatter: a start that differs
by 1e-12 m ends more than 100 times as far away, so that a single bit that differs on the way would show.

The right count of differing numbers is zero, whatever ran before, in this process or in a fresh one.
"""

import hashlib
import subprocess
import sys

import numpy as np
from boxes import World
from rows import Row, show


def scatter(seed: int, nudge: float = 0.0, steps: int = 120) -> np.ndarray:
    """Where 16 balls are after some steps of 5 ms, (16, 3) [m]; nudge [m]: of the first ball, along x."""
    source = np.random.default_rng(seed)
    world = World(0.005, tolerance=1e-8)
    for i in range(16):
        x, y, z = 0.11 * (i % 2), 0.11 * (i // 2 % 2), 0.06 + 0.12 * (i // 4)
        world.add_ball(source.uniform(0.2, 1.0), 0.05, np.array([x, y, z]) + source.normal(scale=2e-3, size=3))
    world.position[0, 0] += nudge
    for _ in range(steps):
        world.step([world.among_balls()], friction=0.3, restitution=0.9)
    return world.position


def digest(position: np.ndarray) -> str:
    """The bits of an array, in short."""
    return hashlib.sha256(np.ascontiguousarray(position).tobytes()).hexdigest()


def main(seed: int = 1) -> list[Row]:
    first = scatter(seed)
    again = scatter(seed)
    fresh = subprocess.run(
        [sys.executable, __file__, "--digest", str(seed)], capture_output=True, text=True, check=True
    )
    nudged = scatter(seed, nudge=1e-12)
    rows = [
        Row(
            "differing doubles, again in this process",
            0,
            float((first.view(np.uint64) != again.view(np.uint64)).sum()),
        ),
        Row("differing digest, in a fresh process", 0, float(fresh.stdout.strip() != digest(first))),
        Row("is everything finite", 1, float(np.isfinite(first).all())),
        Row(
            "does a nudge of 1e-12 m move a ball by 100 times as much", 1, float(np.abs(nudged - first).max() > 1e-10)
        ),
    ]
    return show("16 balls that fall on each other, 120 steps", rows)


if __name__ == "__main__":
    print(digest(scatter(int(sys.argv[2])))) if sys.argv[1:2] == ["--digest"] else main()
