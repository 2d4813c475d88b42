# SPDX-License-Identifier: BSD-3-Clause
"""Does a batch of worlds give the same bits every time it runs?

https://github.com/google-deepmind/mujoco_warp/issues/562: the same input should give the same output on every run; on
graphics processors it does not, because threads add up contacts in the order in which they arrive. The thread has no
numbers.

The right count of differing numbers is zero: between runs, between numbers of threads, between places in the batch,
and between a batch and single solves. 32 worlds of this project's choosing: cubes that tumble on the ground, with 2
to 8 corners near it, 15 steps.
"""

import carom
import numpy as np
from boxes import World
from rows import Row, show


def make_worlds(count: int, seed: int) -> list[World]:
    """Cubes low over the ground with random edges, masses and velocities."""
    source = np.random.default_rng(seed)
    worlds = []
    for _ in range(count):
        worlds.append(World(0.005))
        size = source.uniform(0.1, 0.3, 3)
        worlds[-1].add_box(
            source.uniform(0.5, 5), size, (0, 0, size[2] / 2), source.normal(size=6), source.uniform(0, 6)
        )
    return worlds


def roll(count: int, seed: int, threads: int | None, order: np.ndarray | None = None, steps: int = 15) -> np.ndarray:
    """Velocities of all worlds after some steps (count, 6); threads 0: one world after the other, without a batch."""
    worlds = make_worlds(count, seed)
    order = np.arange(count) if order is None else order
    for _ in range(steps):
        problems = [
            worlds[i].pose([worlds[i].on_ground(0, margin=0.05)], friction=0.4, restitution=0.3) for i in order
        ]
        if threads == 0:
            velocity = np.array([carom.solve(problem).velocity for problem in problems])
        else:
            velocity = np.array(list(carom.solve_batch(problems, threads=threads).velocity))
        for i, v in zip(order, velocity):
            worlds[i].advance(v)
    return np.array([world.velocity[0] for world in worlds])


def differing(a: np.ndarray, b: np.ndarray) -> float:
    """How many doubles have other bits."""
    return float((a.view(np.uint64) != b.view(np.uint64)).sum())


def main(count: int = 32, seed: int = 1) -> list[Row]:
    first = roll(count, seed, threads=1)
    shuffled = np.random.default_rng(seed + 1).permutation(count)
    rows = [
        Row("the same run again", 0, differing(first, roll(count, seed, threads=1))),
        Row("2 threads", 0, differing(first, roll(count, seed, threads=2))),
        Row("7 threads", 0, differing(first, roll(count, seed, threads=7))),
        Row("worlds in another order", 0, differing(first, roll(count, seed, threads=2, order=shuffled))),
        Row("one world after the other", 0, differing(first, roll(count, seed, threads=0))),
        Row(
            "another seed, to see that the count works",
            first.size,
            differing(first, roll(count, seed + 1, threads=1)),
        ),
    ]
    return show(f"How many of {first.size} velocities of {count} worlds have other bits", rows)


if __name__ == "__main__":
    main()
