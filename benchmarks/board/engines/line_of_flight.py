# SPDX-License-Identifier: BSD-3-Clause
"""Smooth spheres that fly between impacts: from one to the next by the exact time, each resolved by an impact law.

Within a step velocities are constant; gravity acts in two halves, before and after. A sphere that comes slower than
gravity makes it in two steps no longer bounces, as infinitely many bounces take a finite time."""

import itertools
import math
import time

import numpy as np

MOST = 300000  #: impacts in one call
TOUCHING = 1e-12  #: a gap that counts as closed, by a radius [-]
STILL = 1e-12  #: a speed of closing that is rounding, by the largest speed [-]


class Flight:
    """Moves what `simulation` has: places, speeds, bodies, planes, world."""

    def __init__(self, simulation, impact):
        self.s, self.impact = simulation, impact
        bodies = simulation.bodies
        self.radii = [b.size[0] for b in bodies]
        self.pairs = list(itertools.combinations(range(len(bodies)), 2))
        self.masses = np.repeat([b.mass for b in bodies], 3)
        gravity = np.array(simulation.world.gravity)
        self.gravity = gravity
        self.slow = 2 * simulation.world.time_step * float(np.sqrt(gravity @ gravity))

    def go(self, count):
        h = self.s.world.time_step
        if not self.gravity.any():
            self.drift(count * h)
            return
        for _ in range(count):
            self.s.speeds += h / 2 * self.gravity
            self.drift(h)
            self.s.speeds += h / 2 * self.gravity

    def gaps(self):
        """(gap, its gradient as (body, vector) pairs, time until it closes) of all that may meet."""
        places, speeds = self.s.places, self.s.speeds
        least = -STILL * float(np.abs(speeds).max())
        found = []
        for i, (r, p, v) in enumerate(zip(self.radii, places, speeds)):
            for normal, base in self.s.planes:
                gap, rate = float(normal @ (p - base)) - r, float(normal @ v)
                found.append((gap, rate, [(i, normal)], -gap / rate if rate < least else math.inf))
        for i, j in self.pairs:
            line, speed = places[i] - places[j], speeds[i] - speeds[j]
            distance, reach = float(np.sqrt(line @ line)), self.radii[i] + self.radii[j]
            normal = line / distance
            rate = float(normal @ speed)
            wait = self.meeting(line, speed, reach) if rate < least else math.inf
            found.append((distance - reach, rate, [(i, normal), (j, -normal)], wait))
        return found

    @staticmethod
    def meeting(line, speed, reach):
        """When |line + t speed| = reach first, of two that come closer."""
        a, b, c = float(speed @ speed), float(line @ speed), float(line @ line) - reach * reach
        root = b * b - a * c
        return c / (-b + math.sqrt(root)) if root > 0 else math.inf

    def drift(self, left):
        for _ in range(MOST):
            gaps = self.gaps()
            wait = max(0.0, min((time_left for *_, time_left in gaps), default=math.inf))
            if wait >= left:
                self.s.places += left * self.s.speeds
                return
            self.s.places += wait * self.s.speeds
            left -= wait
            self.resolve()
        raise ValueError("impacts without end")

    def resolve(self):
        """All that touch and close collide at once."""
        touching = [(gap, rate, sides) for gap, rate, sides, _ in self.gaps()
                    if gap < TOUCHING * max(self.radii) + 1e-15 * float(np.abs(self.s.places).max())]
        if not any(rate < 0 for _, rate, _ in touching):
            # Rounding left the closest pair open: it is taken as touching.
            gaps = [entry[:3] for entry in self.gaps() if entry[1] < 0]
            touching = [min(gaps, key=lambda entry: entry[0] / -entry[1])]
        normals = np.zeros((len(touching), self.masses.size))
        for row, (_, _, sides) in zip(normals, touching):
            for i, vector in sides:
                row[3 * i:3 * i + 3] = vector
        slow = self.slow > 0 and max(-rate for _, rate, _ in touching) < self.slow
        restitution = 0.0 if slow else self.s.world.restitution
        begin = time.process_time()
        law = "plastic" if slow else "elastic" if restitution == 1 else "restitution"
        answer = self.impact(self.masses, normals, self.s.speeds.ravel(), law=law, restitution=restitution)
        self.s.solve_seconds += time.process_time() - begin
        self.s.speeds = answer.velocity.reshape(-1, 3).copy()
