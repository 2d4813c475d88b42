# SPDX-License-Identifier: BSD-3-Clause
"""Balls that fall into a pit and should come to rest."""

import math

from worlds import Body, Plane, World

from .scene import POSITION, VELOCITY, Scene
from .slopes import LEVEL

R, SIDE, COUNT = 0.05, 0.18, 27
WALLS = [Plane((-SIDE, 0, 0), (1, 0, 0)), Plane((SIDE, 0, 0), (-1, 0, 0)),
         Plane((0, -SIDE, 0), (0, 1, 0)), Plane((0, SIDE, 0), (0, -1, 0))]


def pile(case):
    """27 balls of 0.5 kg in three layers, each layer shifted, above a pit of 0.36 m by 0.36 m; 2 s."""
    bodies = []
    for k in range(COUNT):
        x, y, layer = k % 3 - 1, k // 3 % 3 - 1, k // 9
        shift = 0.011 * (layer - 1)
        bodies.append(Body("sphere", (R,), 0.5, (0.11 * x + shift, 0.11 * y - 0.7 * shift, R + 0.01 + 0.11 * layer)))
    return World(bodies, [LEVEL, *WALLS], friction=0.5, step_count=1000, sample_every=100)


def overlap(case, samples):
    """Deepest overlap of balls with each other, the ground and the walls, at the end [mm]."""
    places = samples[-1][POSITION]
    depths = [2 * R - math.dist(a, b) for i, a in enumerate(places) for b in places[:i]]
    depths += [R - p[2] for p in places] + [abs(p[i]) + R - SIDE for p in places for i in (0, 1)]
    return max(0.0, *depths) * 1e3


def rest(case, samples):
    """Kinetic energy of all balls at the end, without that of spin [uJ]."""
    return 1e6 * sum(0.25 * sum(part * part for part in v) for v in samples[-1][VELOCITY])


def creep(case, samples):
    """The farthest that a ball goes in the last 0.2 s [um]."""
    return 1e6 * max(math.dist(a, b) for a, b in zip(samples[-2][POSITION], samples[-1][POSITION]))


def wall(case):
    """A stepped wall of ten bricks of 2 kg, 0.2 m by 0.1 m by 0.1 m, four, three, two and one on each other, 2 mm apart."""
    bricks = [Body("box", (0.1, 0.05, 0.05), 2.0, (0.202 * (k - (3 - row) / 2), 0.0, 0.05 + 0.1 * row))
              for row in range(4) for k in range(4 - row)]
    return World(bricks, [LEVEL], friction=0.5, step_count=500, sample_every=100)


SCENES = [
    Scene("pile_overlap", "Pile of balls: overlap", "27 balls fall into a pit: the deepest overlap after 2 s.", "0", "mm", 0.1, ["end"],
          pile, lambda case: 0.0, overlap, costs=True),
    Scene("pile_energy", "Pile of balls: rest", "The same: the kinetic energy after 2 s.", "0", "µJ", 1.0, ["end"], pile,
          lambda case: 0.0, rest, costs=True),
    Scene("pile_drift", "Pile of balls: drift", "The same: the farthest that a ball goes in the last 0.2 s.", "0", "µm", 1.0, ["end"],
          pile, lambda case: 0.0, creep, costs=True),
    Scene("wall_drift", "Wall of bricks: drift", "Ten bricks stand in four rows: the farthest that one goes in the last 0.2 s of 1 s.",
          "0", "µm", 1.0, ["end"], wall, lambda case: 0.0, creep, costs=True),
]
