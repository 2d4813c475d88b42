# SPDX-License-Identifier: BSD-3-Clause
"""Derivatives of outcomes by friction, speed and mass.

A case is a datum. What counts is the share by which the outcome y changes for a share of the datum p, (dy/dp) p / y, so that
all cases have one scale; where y is a product of powers these are the exponents. `answer` gives the outcome by its exact
value. Every world takes a share by which its datum is larger than named."""

import math

from worlds import GRAVITY, Body, World

from .impacts import LEFT, line
from .impacts import R as RADIUS
from .scene import POSITION, VELOCITY, Scene
from .slopes import LEVEL, block

CHANGE = 0.01
DATA = ["friction", "speed", "mass"]


def factors(case, share):
    """(friction, speed, mass), each by what is named: 1, but 1 + share for the datum of the case."""
    return tuple(1 + share * (case == datum) for datum in DATA)


PUSH, SECONDS = 15.0, 0.2


def driven(case, share=0.0):
    """A block of 2 kg at 1 m/s, pushed by 15 N for 0.2 s, friction 0.5. It neither tips nor stops."""
    mu, speed, mass = factors(case, share)
    body = block(velocity=(speed, 0, 0), force=(PUSH, 0, 0))
    body.mass *= mass
    return World([body], [LEVEL], friction=0.5 * mu, step_count=100)


DRIVEN_SPEED = 1 + (PUSH / 2 - 0.5 * GRAVITY) * SECONDS


def driven_share(case):
    """v = v0 + (F/m - mu g) t: by mu -g t, by v0 1, by m -F t / m^2, each by p / v."""
    return {"friction": -0.5 * GRAVITY * SECONDS, "speed": 1.0, "mass": -PUSH / 2 * SECONDS}[case] / DRIVEN_SPEED


def stopped(case, share=0.0):
    """The block at 1 m/s stops after 0.41 s on friction 0.25; 0.6 s."""
    mu, speed, mass = factors(case, share)
    body = block(velocity=(speed, 0, 0))
    body.mass *= mass
    return World([body], [LEVEL], friction=0.25 * mu, time_step=0.0005, step_count=1200)


STOPPED_WAY = 1 / (2 * 0.25 * GRAVITY)


def stopped_share(case):
    """d = v^2 / (2 mu g)."""
    return {"friction": -1.0, "speed": 2.0, "mass": 0.0}[case]


def kicked(case, share=0.0):
    """A ball of 0.1 m is kicked to 2 m/s without spin, slides on friction 0.2 for 0.29 s and rolls; 0.5 s."""
    mu, speed, mass = factors(case, share)
    body = Body("sphere", (0.1,), 0.5 * mass, (0, 0, 0.1), velocity=(2 * speed, 0, 0))
    return World([body], [LEVEL], friction=0.2 * mu, time_step=0.0005, step_count=1000)


SLID = 2 * 2**2 / (49 * 0.2 * GRAVITY)
KICKED_WAY = 5 / 7 * 2 * 0.5 + SLID


def kicked_share(case):
    """It slides for s = 2 v0 / (7 mu g) to 5/7 v0: d = v0 s - mu g s^2 / 2 + 5/7 v0 (t - s) = 5/7 v0 t + 2 v0^2 / (49 mu g)."""
    return {"friction": -SLID, "speed": KICKED_WAY + SLID, "mass": 0.0}[case] / KICKED_WAY


def way(exact):
    return lambda case, samples: (samples[-1][POSITION][0][0] - samples[0][POSITION][0][0]) / exact


def met(case, share=0.0):
    """A ball of 1 kg at 1 m/s meets one of 2 kg, restitution 0.5, in the middle of a step. The datum is of the first."""
    _, speed, mass = factors(case, share)
    return line([0, 2 * RADIUS + 0.0111], [mass, 2.0], [speed, 0.0], restitution=0.5, step_count=50)


def met_share(case):
    """v = (1 + e) v0 m / (m + M): the share by m is M / (m + M)."""
    return {"speed": 1.0, "mass": 2 / 3}[case]


def counted(case, share=0.0):
    """A ball of 20 kg at 1 m/s drives one of 1 kg to a wall: 14 impacts. The datum is of the heavy one."""
    _, speed, mass = factors(case, share)
    return line([0.3, 0.6], [1.0, 20 * mass], [0.0, -speed], [LEFT], restitution=1.0, step_count=1000)


HALF_TURN = math.atan(1 / math.sqrt(20))  #: the way of (sqrt(M) V, sqrt(m) v) turns by twice that in two impacts
COUNTED_SPEED = math.cos(math.pi - 14 * HALF_TURN)


def counted_share(case):
    """After an even number n of impacts V = cos(pi - n t) V0 with tan t = sqrt(m / M), dt/dM = -sin(2 t) / (4 M)."""
    rate = math.sin(math.pi - 14 * HALF_TURN) * 14 * -math.sin(2 * HALF_TURN) / 4
    return {"speed": 1.0, "mass": rate / COUNTED_SPEED}[case]


ABOUT = ("in percent per percent of friction, of initial speed and of mass. carom differentiates its steps; the others are "
         "asked twice, with the datum 1 % larger and smaller.")
SCENES = [
    Scene("gradient_driven", "Gradient: block that is pushed", "A block at 1 m/s, pushed by 15 N against friction 0.5: how its speed "
          f"after 0.2 s changes, {ABOUT}", "v₀ + (F/m − µ g) t, differentiated", "%/%", 0.01, DATA, driven, driven_share,
          lambda case, samples: samples[-1][VELOCITY][0][0] / DRIVEN_SPEED, change=CHANGE),
    Scene("gradient_stopped", "Gradient: block that stops", "A block at 1 m/s stops on friction 0.25: how its way changes, "
          f"{ABOUT}", "−1, 2, 0, of v² / (2 µ g)", "%/%", 0.01, DATA, stopped, stopped_share, way(STOPPED_WAY), change=CHANGE),
    Scene("gradient_kicked", "Gradient: ball that slides, then rolls", "A ball is kicked to 2 m/s on friction 0.2 and rolls after "
          f"0.29 s: how its way of 0.5 s changes, {ABOUT}", "5/7 v t + 2 v² / (49 µ g), differentiated", "%/%", 0.01, DATA, kicked,
          kicked_share, way(KICKED_WAY), change=CHANGE),
    Scene("gradient_met", "Gradient: two balls", "A ball of 1 kg at 1 m/s meets one of 2 kg, restitution 0.5: how the speed of the second "
          "changes, in percent per percent of the speed and of the mass of the first. carom differentiates impacts.",
          "1 and M/(m + M)", "%/%", 0.01, DATA[1:], met, met_share, lambda case, samples: 2 * samples[-1][VELOCITY][1][0],
          change=CHANGE),
    Scene("gradient_counted", "Gradient: fourteen impacts", "A ball of 20 kg drives one of 1 kg to a wall: how its speed after changes, in "
          "percent per percent of its speed and of its mass. carom differentiates impacts.", "cos(π − 14 atan √(m/M)) V, differentiated",
          "%/%", 0.01, DATA[1:], counted, counted_share, lambda case, samples: samples[-1][VELOCITY][1][0] / COUNTED_SPEED,
          change=CHANGE),
]
