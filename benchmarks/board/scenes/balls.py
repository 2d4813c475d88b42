# SPDX-License-Identifier: BSD-3-Clause
"""Balls that slide, roll and spin. A ball is uniform: I = 2/5 m r^2."""

import math

from worlds import GRAVITY, Body, Plane, World, dot

from .scene import POSITION, SPIN, VELOCITY, Scene
from .slopes import LEVEL, along, tilted

R = 0.05


def ball(**more):
    return Body("sphere", (R,), 0.5, (0, 0, R), **more)


BOWLS = [("none", 0), ("none", 45), ("back", 0)]


def bowled(case):
    """A ball of 0.1 m at 2 m/s; back spin of r w = 7 m/s, about the axis at right angles."""
    spin, heading = case
    way = along(math.radians(heading))
    back = 7 / 0.1 if spin == "back" else 0.0
    body = Body("sphere", (0.1,), 0.5, (0, 0, 0.1), velocity=(2 * way[0], 2 * way[1], 0),
                spin=(way[1] * back, -way[0] * back, 0))
    return World([body], [LEVEL], friction=0.2, step_count=1000)


def bowled_speed(case):
    """Angular momentum about a point of the ground stays: v = (5 v0 - 2 r w) / 7 once it rolls."""
    return (5 * 2 - 2 * (7 if case[0] == "back" else 0)) / 7


ROLLS = [(20, 0.5), (45, 0.1)]


def down(case):
    return World([ball()], [LEVEL], tilted(math.radians(case[0])), case[1], step_count=250)


def down_speed(case):
    """It rolls, a = 5/7 g sin a, where mu >= 2/7 tan a, and else slides, a = g (sin a - mu cos a)."""
    angle, mu = math.radians(case[0]), case[1]
    if mu >= 2 / 7 * math.tan(angle):
        return 5 / 7 * GRAVITY * math.sin(angle) * 0.5
    return GRAVITY * (math.sin(angle) - mu * math.cos(angle)) * 0.5


def groove(case):
    """A ball that rolls down a groove of a right angle, on two points r / sqrt(2) below its middle."""
    side = math.sqrt(0.5)
    planes = [Plane((0, 0, 0), (0, side, side)), Plane((0, 0, 0), (0, -side, side))]
    body = Body("sphere", (R,), 0.5, (0, 0, R / side))
    return World([body], planes, tilted(math.radians(20)), 0.5, step_count=250)


def groove_speed(case):
    """It turns about the line of its touching points, d = r / sqrt(2) away: a = g sin a / (1 + 2/5 r^2 / d^2)."""
    return GRAVITY * math.sin(math.radians(20)) / 1.8 * 0.5


RHO = 0.005


def resisted(case):
    """Rolls at 1 m/s; a torque of at most rho N stops the rolling."""
    body = ball(velocity=(1, 0, 0), spin=(0, 1 / R, 0))
    return World([body], [LEVEL], friction=0.5, rolling=RHO, step_count=1000)


def resisted_distance(case):
    """m a = F, I a / r = rho m g - F r: a = 5/7 g rho / r, over v^2 / (2 a)."""
    return 1 / (2 * 5 / 7 * GRAVITY * RHO / R)


def top(case):
    """A ball spins about the vertical on its point at 50 rad/s."""
    return World([ball(spin=(0, 0, 50.0))], [LEVEL], friction=0.5)


BOUNCES = [(speed, what) for speed in (4.0, 0.5) for what in ("along", "up")]


def oblique(case):
    """A ball without spin comes down at 2 m/s, e = 0.5, friction 0.2, no gravity."""
    body = Body("sphere", (R,), 0.5, (0, 0, R + 0.0201), velocity=(case[0], 0, -2.0))
    return World([body], [LEVEL], (0, 0, 0), 0.2, restitution=0.5, step_count=50)


def oblique_speed(case):
    """Up: e v. Along: friction takes mu (1 + e) v, or 2/7 of the speed if that is less, as it rolls then."""
    if case[1] == "up":
        return 1.0
    return case[0] - min(0.2 * 1.5 * 2, 2 / 7 * case[0])


def final(index):
    return lambda case, samples: samples[-1][VELOCITY][0][index]


SCENES = [
    Scene("bowled_ball", "Bowled ball", "A ball thrown along the ground at 2 m/s without spin, or with back spin of 7 m/s: its speed "
          "after 2 s, when it rolls.", "(5 v − 2 r ω) / 7", "m/s", 0.007, BOWLS, bowled, bowled_speed,
          lambda case, samples: dot(samples[-1][VELOCITY][0], along(math.radians(case[1])))),
    Scene("ball_downhill", "Ball on a slope", "20 degrees with friction 0.5, where it rolls, and 45 with 0.1, where it slides: its speed "
          "after 0.5 s.", "5/7 g sin a t, and g (sin a − µ cos a) t", "m/s", 0.01, ROLLS, down, down_speed, final(0)),
    Scene("ball_in_groove", "Ball in a groove", "It rolls down a groove of a right angle, 20 degrees: its speed after 0.5 s.",
          "g sin a t / 1.8", "m/s", 0.01, [20], groove, groove_speed, final(0)),
    Scene("rolling_resistance", "Rolling resistance", "A ball of 50 mm rolls at 1 m/s against 5 mm of rolling friction: how far it gets.",
          "v² / (2 · 5/7 g ρ / r)", "m", 0.007, ["level"], resisted, resisted_distance,
          lambda case, samples: samples[-1][POSITION][0][0] - samples[0][POSITION][0][0]),
    Scene("spinning_top", "Spinning top", "A ball spins on its point at 50 rad/s, without friction against spinning: its spin after 1 s.",
          "50", "rad/s", 0.05, ["upright"], top, lambda case: 50.0, lambda case, samples: samples[-1][SPIN][0][2]),
    Scene("oblique_bounce", "Oblique bounce", "A ball hits the ground at 2 m/s down and 4 or 0.5 m/s along, restitution 0.5, friction 0.2: "
          "both speeds after.", "e v; u − min(µ (1 + e) v, 2/7 u)", "m/s", 0.02, BOUNCES, oblique, oblique_speed,
          lambda case, samples: samples[-1][VELOCITY][0][2 if case[1] == "up" else 0]),
]
