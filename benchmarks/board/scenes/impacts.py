# SPDX-License-Identifier: BSD-3-Clause
"""Impacts without friction."""

import math

from worlds import Body, Plane, World

from .scene import POSITION, VELOCITY, Scene

R = 0.05
LEFT = Plane((0, 0, 0), (1, 0, 0))


def line(places, masses, speeds, planes=(), **more):
    """Balls of equal radius along x, nothing else: no gravity, no friction."""
    bodies = [Body("sphere", (R,), mass, (x, 0, 0), velocity=(v, 0, 0)) for x, mass, v in zip(places, masses, speeds)]
    return World(bodies, list(planes), (0, 0, 0), 0.0, **more)


def cradle(case):
    """Touching equal balls, of which the first comes with 1 m/s."""
    return line([2 * R * k for k in range(case)], [1.0] * case, [1.0] + [0.0] * (case - 1), restitution=1.0, step_count=50)


def cradle_miss(case, samples):
    """Distance of the velocities after from (0, ..., 0, 1)."""
    exact = [0.0] * (case - 1) + [1.0]
    return math.dist([v[0] for v in samples[-1][VELOCITY]], exact)


def pair(case):
    """1 kg at 1 m/s against a ball at rest, e = 0.5."""
    return line([0, 2 * R + 0.0101], [1.0, float(case)], [1.0, 0.0], restitution=0.5, step_count=50)


def pair_speed(case):
    """Momentum stays and the relative speed is e times that before: v2 = (1 + e) m1 / (m1 + m2)."""
    return 1.5 / (1 + case)


def counted(case):
    """A heavy ball at 1 m/s, a light one before it, a wall: Galperin's billiard."""
    return line([0.3, 0.6], [1.0, float(case)], [0.0, -1.0], [LEFT], restitution=1.0, step_count=1000)


def counted_speed(case):
    """With t = atan sqrt(m/M) two impacts, of the balls and at the wall, turn (sqrt(M) V, sqrt(m) v) by 2 t; impacts end
    where the heavy ball is not caught up. Worked out impact by impact."""
    light, heavy, v, big = 1.0, float(case), 0.0, -1.0
    while True:
        if v > big:
            v, big = (((light - heavy) * v + 2 * heavy * big) / (light + heavy),
                      ((heavy - light) * big + 2 * light * v) / (light + heavy))
        elif v < 0:
            v = -v
        else:
            return big


HEIGHT, E = 0.3, 0.7


def dropped(case):
    body = Body("sphere", (R,), 0.5, (0, 0, R + HEIGHT))
    return World([body], [Plane((0, 0, 0), (0, 0, 1))], friction=0.0, restitution=E, step_count=1000, sample_every=1)


def dropped_height(case):
    """Each bounce leaves e^2 of the height; infinitely many are over after sqrt(2 h / g) (1 + e) / (1 - e) = 1.40 s."""
    return 0.0 if case == "end" else E ** (2 * case) * HEIGHT


def apex(case, samples):
    """Height of the top of a bounce, counted from 1, or that at the end [m]."""
    heights = [s[POSITION][0][2] - R for s in samples]
    if case == "end":
        return max(abs(h) for h in heights[-50:])
    tops = [b for a, b, c in zip(heights, heights[1:], heights[2:]) if a <= b > c and b > 1e-3]
    return tops[case - 1] if case <= len(tops) else 0.0


IMPACTS = 100000


def between_walls(case):
    """A ball to and fro between walls that leave it 0.1 m, at 10 m/s: an impact every 10 ms."""
    walls = [LEFT, Plane((2 * R + 0.1, 0, 0), (-1, 0, 0))]
    return line([R + 0.0501], [1.0], [10.0], walls, restitution=1.0, step_count=5 * IMPACTS)


def energy_error(case, samples):
    def energy(sample):
        return sum(sum(part * part for part in v) for v in sample[VELOCITY])
    return energy(samples[-1]) / energy(samples[0]) - 1


def rack(case):
    """Fifteen touching balls in a triangle, and the cue ball at 5 m/s."""
    bodies = [Body("sphere", (R,), 1.0, (-0.3, 0, 0), velocity=(5.0, 0, 0))]
    for row in range(5):
        for k in range(row + 1):
            bodies.append(Body("sphere", (R,), 1.0, (row * R * math.sqrt(3), (2 * k - row) * R, 0)))
    return World(bodies, [], (0, 0, 0), 0.0, restitution=1.0, step_count=150)


def rack_loss(case, samples):
    """Relative error of the energy, or of the momentum along the shot."""
    if case == "energy":
        return energy_error(case, samples)
    return sum(v[0] for v in samples[-1][VELOCITY]) / 5.0 - 1


SCENES = [
    Scene("cradle", "Newton's cradle", "Two, three and five equal balls that touch, the first comes with 1 m/s: distance of the "
          "velocities after from the exact ones.", "(0, …, 0, 1)", "m/s", 0.01, [2, 3, 5], cradle, lambda case: 0.0, cradle_miss),
    Scene("two_balls", "Two balls, restitution 0.5", "1 kg at 1 m/s against 1, 10 and 1000 kg at rest: the speed of the second after.",
          "(1 + e) m / (m + M)", "m/s", 0.005, [1, 10, 1000], pair, pair_speed, lambda case, samples: samples[-1][VELOCITY][1][0]),
    Scene("counted_impacts", "Counted impacts", "A ball of 100 or 10,000 kg drives one of 1 kg to a wall, 31 and 314 impacts: the speed of "
          "the heavy one after.", "a rotation by 2 atan √(m/M) each", "m/s", 0.01, [100, 10000], counted, counted_speed,
          lambda case, samples: samples[-1][VELOCITY][1][0]),
    Scene("zeno", "Bouncing ball", "Dropped by 0.3 m, restitution 0.7: the tops of three bounces, and the height in the last 0.1 s of 2, "
          "after infinitely many.", "e²ⁿ h, then 0", "m", 0.005, [1, 2, 3, "end"], dropped, dropped_height, apex),
    Scene("many_impacts", "Energy over 100,000 impacts", "A ball between two walls, restitution 1: the relative error of its energy.",
          "0", "", 1e-3, ["end"], between_walls, lambda case: 0.0, energy_error),
    Scene("break_shot", "Break shot", "A ball at 5 m/s into fifteen that touch, restitution 1: relative errors of energy and of momentum "
          "after.", "0, both stay", "", 0.01, ["energy", "momentum"], rack, lambda case: 0.0, rack_loss),
]
