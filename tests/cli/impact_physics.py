# SPDX-License-Identifier: BSD-3-Clause
"""Impacts a second time, in exact fractions of the numbers in the file: scenes, reflections along
an order, every outcome by trying all orders."""
import math
from fractions import Fraction

from elimination import dot, solve_spd


def diagonal(masses):
    return [[mass if i == j else 0 for j in range(len(masses))] for i, mass in enumerate(masses)]


def line(masses, velocity, **more):
    """Balls that touch, along a line; contact i is between ball i and ball i + 1."""
    normals = [[(j == i + 1) - (j == i) for j in range(len(masses))]
               for i in range(len(masses) - 1)]
    return {"mass_matrix": diagonal(masses), "normals": normals, "velocity": velocity, **more}


class Impact:
    """The impact of a scene in exact numbers; s_i is the rate of normal i as given."""

    def __init__(self, scene):
        self.mass = [[Fraction(entry) for entry in row] for row in scene["mass_matrix"]]
        self.normals = [[Fraction(entry) for entry in row] for row in scene["normals"]]
        self.responses = [solve_spd(self.mass, normal) for normal in self.normals]
        self.squares = [dot(n, r) for n, r in zip(self.normals, self.responses)]
        self.restitution = scene.get("restitution", 1)
        if "velocity" in scene:
            self.velocity = [Fraction(entry) for entry in scene["velocity"]]
        else:
            self.velocity = solve_spd(self.mass, [Fraction(entry) for entry in scene["momentum"]])
        self.momentum = self.times_mass(self.velocity)
        self.energy = dot(self.momentum, self.velocity) / 2

    def times_mass(self, velocity):
        return [dot(row, velocity) for row in self.mass]

    def rate(self, i, velocity):
        return dot(self.normals[i], velocity)

    def unit_rate(self, i, velocity):
        """In floating point: the speed of closing in the metric of the mass."""
        return float(self.rate(i, velocity)) / math.sqrt(self.squares[i])

    def reflect(self, i, velocity):
        impulse = -2 * self.rate(i, velocity) / self.squares[i]
        return [v + impulse * r for v, r in zip(velocity, self.responses[i])], impulse

    def follow(self, sequence):
        """Velocity and impulses after these reflections; None where one is not admissible."""
        velocity, impulses = self.velocity, [Fraction(0)] * len(self.normals)
        for i in sequence:
            velocity, impulse = self.reflect(i, velocity)
            if impulse <= 0:
                return None
            impulses[i] += impulse
        return velocity, impulses

    def outcomes(self, near=1e-9):
        """Velocities at the end of every admissible order; ends nearer than `near` are one."""
        seen, ends, open_states = {tuple(self.velocity)}, [], [self.velocity]
        slow = 1e-12 * math.sqrt(2 * self.energy)
        while open_states:
            velocity = open_states.pop()
            closing = [i for i in range(len(self.normals)) if self.unit_rate(i, velocity) < -slow]
            if not closing and all(distance(velocity, end) > near for end in ends):
                ends.append(velocity)
            for i in closing:
                further, _ = self.reflect(i, velocity)
                if tuple(further) not in seen:
                    seen.add(tuple(further))
                    open_states.append(further)
        return ends


def distance(a, b):
    return max((abs(float(x - y)) for x, y in zip(a, b)), default=0.0)
