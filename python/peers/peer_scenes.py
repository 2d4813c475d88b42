# SPDX-License-Identifier: BSD-3-Clause
"""Scenes of the truth table as engines can express them: rollouts with one outcome each.

Engines take several steps for an impact, so that what they are asked for is the velocity after a
while. The formulas are those of docs/derivations/gradients.md, with the time T in place of the
step. This file needs nothing but Python; peers run in environments of their own.
"""

import math

GRAVITY = 9.81
RADIUS = 0.05

# name -> data, time [s], the exact outcome and its exact gradients
SCENES = {}


def scene(name, data, time, outcome, **gradients):
    """Enters a scene; gradients by the data that engines are asked for."""
    SCENES[name] = {"data": data, "time": time, "outcome": outcome, "gradients": gradients}


_balls = {"v1": 1.2, "v2": -0.3, "m1": 0.17, "m2": 0.17}
_by_mass = (_balls["v1"] - _balls["v2"]) / (2 * _balls["m1"])
scene("two equal balls", _balls, 0.1, _balls["v1"], v1=1.0, v2=0.0, m1=_by_mass, m2=-_by_mass)

_wall = {"vx": -1.0, "vy": 0.4, "angle": 0.3}
_c, _s = math.cos(2 * _wall["angle"]), math.sin(2 * _wall["angle"])
scene(
    "oblique impact on a smooth wall",
    _wall,
    0.1,
    -_s * _wall["vx"] + _c * _wall["vy"],
    vx=-_s,
    vy=_c,
    angle=-2 * (_c * _wall["vx"] + _s * _wall["vy"]),
)

_drop = {"vx": -1.5, "e": 0.6}
scene("restitution at a wall", _drop, 0.1, 0.9, vx=-0.6, e=1.5)

_rest = {"mu": 0.5, "angle": 0.3, "m": 2.0}
scene("block at rest on a slope", _rest, 0.2, 0.0, mu=0.0, angle=0.0, m=0.0)

_slide = {"mu": 0.2, "angle": 0.5, "m": 2.0, "v": 0.4}
_c, _s = math.cos(_slide["angle"]), math.sin(_slide["angle"])
scene(
    "block sliding on a slope",
    _slide,
    0.2,
    0.4 + GRAVITY * 0.2 * (_s - 0.2 * _c),
    v=1.0,
    mu=-GRAVITY * 0.2 * _c,
    angle=GRAVITY * 0.2 * (_c + 0.2 * _s),
    m=0.0,
)

_push = {"mu": 0.4, "m": 1.5, "force": 9.0}
scene(
    "pushed block that starts to slide",
    _push,
    0.2,
    0.2 * (9.0 / 1.5 - 0.4 * GRAVITY),
    force=0.2 / 1.5,
    m=-0.2 * 9.0 / 1.5**2,
    mu=-0.2 * GRAVITY,
)

_gap = {"gap": 1e-3, "vz": -0.5}
scene("gap that closes within the step", _gap, 0.01, -0.1, gap=-100.0, vz=0.0)

# The middle of the ball has 0.6 m by 0.3 m; it meets the top, right, bottom and left cushions in
# turn, at times that are no multiples of a step.
_table = {"vx": 0.97, "vy": 0.63, "a1": 0.0, "a2": 0.0}
scene(
    "billiard with four cushions",
    _table,
    1.0,
    _table["vx"],
    vx=1.0,
    vy=0.0,
    a1=2 * _table["vy"],
    a2=-2 * _table["vy"],
)
