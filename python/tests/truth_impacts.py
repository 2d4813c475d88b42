# SPDX-License-Identifier: BSD-3-Clause
"""Impacts with known gradients; docs/derivations/gradients.md derives them."""

import numpy as np

from truth_table import Impacts, Scene


def two_equal_balls():
    """Two balls of one mass meet in line and exchange their velocities."""

    def outcomes(d):
        total = d.m1 + d.m2
        return [
            ((d.m1 - d.m2) * d.v1 + 2 * d.m2 * d.v2) / total,
            ((d.m2 - d.m1) * d.v2 + 2 * d.m1 * d.v1) / total,
        ]

    def gradients(d):
        by_m = (d.v1 - d.v2) / (2 * d.m1)
        return [
            {"v1": 0, "v2": 1, "m1": by_m, "m2": -by_m},
            {"v1": 1, "v2": 0, "m1": by_m, "m2": -by_m},
        ]

    def model(d):
        return Impacts([d.v1, d.v2], [(np.diag([d.m1, d.m2]), [[-1, 1]], None)], [0, 1])

    data = {"m1": 0.17, "m2": 0.17, "v1": 1.2, "v2": -0.3}
    return Scene("two equal balls", data, outcomes, gradients, model)


def newtons_cradle():
    """Five equal balls in line: the first one's velocity arrives at the last."""

    def outcomes(d):
        masses = [d.m1, d.m2, d.m3, d.m4, d.m5]
        speed, after = d.v, []
        for m, n in zip(masses, masses[1:]):
            after.append((m - n) / (m + n) * speed)
            speed = 2 * m / (m + n) * speed
        return [*after, speed]

    def gradients(d):
        by_m = d.v / (2 * d.m1)
        rows = [{f"m{k}": by_m, f"m{k + 1}": -by_m} for k in range(1, 5)]
        return [*rows, {"v": 1, "m1": by_m, "m5": -by_m}]

    def model(d):
        normals = np.eye(5)[1:] - np.eye(5)[:-1]
        mass = np.diag([d.m1, d.m2, d.m3, d.m4, d.m5])
        return Impacts([d.v, 0, 0, 0, 0], [(mass, normals, None)], list(range(5)))

    data = {"v": 0.8} | {f"m{k}": 0.05 for k in range(1, 6)}
    return Scene("Newton's cradle of five", data, outcomes, gradients, model)


def oblique_impact():
    """A disc meets a smooth wall whose normal is turned by an angle."""

    def outcomes(d):
        c, s = np.cos(d.angle), np.sin(d.angle)
        closing = d.vx * c + d.vy * s
        return [d.vx - 2 * closing * c, d.vy - 2 * closing * s]

    def gradients(d):
        c, s = np.cos(2 * d.angle), np.sin(2 * d.angle)
        return [
            {"vx": -c, "vy": -s, "angle": 2 * (s * d.vx - c * d.vy)},
            {"vx": -s, "vy": c, "angle": -2 * (c * d.vx + s * d.vy)},
        ]

    def model(d):
        normal = [[np.cos(d.angle), np.sin(d.angle)]]
        return Impacts([d.vx, d.vy], [(d.m * np.eye(2), normal, None)], [0, 1])

    data = {"vx": -1.0, "vy": 0.4, "angle": 0.3, "m": 2.0}
    return Scene("oblique impact on a smooth wall", data, outcomes, gradients, model)


def restitution_at_a_wall():
    """A ball leaves a wall at the share e of its speed of approach."""

    def outcomes(d):
        c, s = np.cos(d.angle), np.sin(d.angle)
        closing = d.vx * c + d.vy * s
        return [d.vx - (1 + d.e) * closing * c, d.vy - (1 + d.e) * closing * s]

    def gradients(d):
        c, s, k = np.cos(d.angle), np.sin(d.angle), 1 + d.e
        closing, along = d.vx * c + d.vy * s, d.vy * c - d.vx * s
        return [
            {
                "e": -closing * c,
                "vx": 1 - k * c * c,
                "vy": -k * c * s,
                "angle": -k * (along * c - closing * s),
            },
            {
                "e": -closing * s,
                "vx": -k * c * s,
                "vy": 1 - k * s * s,
                "angle": -k * (along * s + closing * c),
            },
        ]

    def model(d):
        normal = [[np.cos(d.angle), np.sin(d.angle)]]
        return Impacts([d.vx, d.vy], [(d.m * np.eye(2), normal, d.e)], [0, 1])

    data = {"vx": -1.5, "vy": 0.7, "e": 0.6, "angle": 0.2, "m": 0.4}
    return Scene("restitution at a wall", data, outcomes, gradients, model)


def billiard():
    """A ball meets four cushions: two reflections are a turn by twice the angle between them."""
    angles = ["a1", "a2", "a3", "a4"]

    def turn(d):
        return 2 * (d.a2 - d.a1 + d.a4 - d.a3)

    def outcomes(d):
        c, s = np.cos(turn(d)), np.sin(turn(d))
        return [c * d.vx - s * d.vy, s * d.vx + c * d.vy]

    def gradients(d):
        c, s = np.cos(turn(d)), np.sin(turn(d))
        x, y = c * d.vx - s * d.vy, s * d.vx + c * d.vy
        signs = dict(zip(angles, [-2, 2, -2, 2]))
        return [
            {"vx": c, "vy": -s} | {a: -k * y for a, k in signs.items()},
            {"vx": s, "vy": c} | {a: k * x for a, k in signs.items()},
        ]

    def model(d):
        stages = []
        for name in angles:
            angle = getattr(d, name)
            stages.append((d.m * np.eye(2), [[np.cos(angle), np.sin(angle)]], None))
        return Impacts([d.vx, d.vy], stages, [0, 1])

    half = np.pi / 2
    data = {"a1": -half + 0.1, "a2": 2 * half - 0.05, "a3": half + 0.08, "a4": 0.02}
    data |= {"vx": 1.0, "vy": 1.3, "m": 0.17}
    return Scene("billiard with four cushions", data, outcomes, gradients, model)


SCENES = [two_equal_balls, newtons_cradle, oblique_impact, restitution_at_a_wall, billiard]
