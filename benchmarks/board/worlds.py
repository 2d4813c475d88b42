# SPDX-License-Identifier: BSD-3-Clause
"""A scene as every engine is given it: rigid spheres and boxes over fixed planes.

Units are SI. A quaternion is (w, x, y, z), of a body's frame in the world. The friction of a pair of shapes is
that of the world, whatever rule an engine has to combine two numbers."""

import dataclasses
import math

GRAVITY = 9.81  #: [m/s²]


@dataclasses.dataclass
class Body:
    """`size` is (radius,) of a sphere or the three half lengths of a box [m]; `slides_along`, a unit vector, is
    the only direction in which a body can move, and None is for a free one; `force` [N] acts on it all the time."""

    shape: str  #: sphere or box
    size: tuple
    mass: float
    position: tuple
    orientation: tuple = (1.0, 0.0, 0.0, 0.0)
    velocity: tuple = (0.0, 0.0, 0.0)
    spin: tuple = (0.0, 0.0, 0.0)
    force: tuple = (0.0, 0.0, 0.0)
    slides_along: tuple = None

    def inertia(self):
        """Principal moments of a uniform solid [kg m²]."""
        if self.shape == "sphere":
            return (0.4 * self.mass * self.size[0] ** 2,) * 3
        x, y, z = (length * length for length in self.size)
        return (self.mass * (y + z) / 3, self.mass * (x + z) / 3, self.mass * (x + y) / 3)


@dataclasses.dataclass
class Plane:
    """All that is on the side of `point` to which `normal` does not point is solid."""

    point: tuple
    normal: tuple


@dataclasses.dataclass
class World:
    bodies: list
    planes: list
    gravity: tuple = (0.0, 0.0, -GRAVITY)
    friction: float = 0.5
    restitution: float = 0.0
    rolling: float = 0.0  #: torque that stops rolling, by the normal force [m]
    time_step: float = 0.002
    step_count: int = 500
    sample_every: int = 0  #: steps between two samples; 0: the start and the end alone


def turned(axis, angle):
    """The quaternion of a turn about a unit vector."""
    half = angle / 2
    return (math.cos(half), *(math.sin(half) * part for part in axis))


def rotated(q, v):
    """A vector of the body's frame in the world's."""
    w, x, y, z = q
    t = (2 * (y * v[2] - z * v[1]), 2 * (z * v[0] - x * v[2]), 2 * (x * v[1] - y * v[0]))
    return (
        v[0] + w * t[0] + y * t[2] - z * t[1],
        v[1] + w * t[1] + z * t[0] - x * t[2],
        v[2] + w * t[2] + x * t[1] - y * t[0],
    )


def times(factor, vector):
    return tuple(factor * part for part in vector)


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


class NotExpressible(Exception):
    """Raised by an engine's adapter: the engine has no means for what the scene needs."""
