# SPDX-License-Identifier: BSD-3-Clause
"""Painlevé's rod: it slides on its lower end, which leads, and friction can press that end into the ground.

The rod is a thin box of half diagonal l, its diagonal to the end that touches at an angle a from the ground, s and c its
sine and cosine. Its moment about the middle is m l^2 / 3 exactly, about the end 4/3 m l^2."""

import math

from worlds import GRAVITY, Body, World, turned

from .scene import SPIN, VELOCITY, Scene
from .slopes import LEVEL

HALF, THIN = 0.5, 0.01
REACH = math.hypot(HALF, THIN)
ANGLE = math.atan(2.0)  #: where friction of 4/3 is critical, the least of all angles
SPEED = 5.0


def rod(case):
    """Slides along +x at 5 m/s; its middle is behind its lower end."""
    lean = math.pi / 2 - ANGLE  # of the diagonal to the upright, to -x
    place = (-REACH * math.cos(ANGLE), 0, REACH * math.sin(ANGLE))
    # The corner that touches is at -thin, and its diagonal leans to +x by atan(thin / half) in the rod's frame.
    turn = turned((0, 1, 0), -(lean + math.atan2(THIN, HALF)))
    body = Body("box", (THIN, 0.05, HALF), 1.0, place, turn, velocity=(SPEED, 0, 0))
    return World([body], [LEVEL], friction=case, time_step=0.0005, step_count=40)


def jammed_spin(case):
    """Sliding with a force N makes the end rise by N (1 + 3 c (c - mu s)) / m. Where that is negative, mu > (1 + 3 c^2) / (3 c s)
    = 4/3, no force N carries the weight, and the end stops at once. Angular momentum about the end stays: m v l s =
    4/3 m l^2 w. The impulse is in the cone just where mu is above that limit. Then w turns the middle up: the end leaves
    the ground, and w stays."""
    return 3 * SPEED * math.sin(ANGLE) / (4 * REACH)


SLIDING_STEPS = 100


def sliding(case):
    world = rod(case)
    world.step_count = SLIDING_STEPS
    return world


def slid(case):
    """(speed, spin, angle) after 50 ms below the limit. With w forwards and the end on the ground, height l sin a, the middle falls
    by h'' = l (c a'' - s a'^2), a' = w as the rod comes upright. N = m (g + h''), I w' = N l (mu s - c) and v' = -mu N / m
    give N = m (g - l s w^2) / (1 + 3 c (c - mu s)). By small steps of Runge and Kutta."""
    def rates(state):
        _, spin, angle = state
        s, c = math.sin(angle), math.cos(angle)
        press = (GRAVITY - REACH * s * spin * spin) / (1 + 3 * c * (c - case * s))
        return (-case * press, 3 * press * (case * s - c) / REACH, spin)

    state, count = (SPEED, 0.0, ANGLE), 2000
    h = 0.0005 * SLIDING_STEPS / count
    for _ in range(count):
        k1 = rates(state)
        k2 = rates(tuple(x + h / 2 * k for x, k in zip(state, k1)))
        k3 = rates(tuple(x + h / 2 * k for x, k in zip(state, k2)))
        k4 = rates(tuple(x + h * k for x, k in zip(state, k3)))
        state = tuple(x + h / 6 * (a + 2 * b + 2 * c + d) for x, a, b, c, d in zip(state, k1, k2, k3, k4))
    return state


SCENES = [
    Scene("painleve_jam", "Painlevé's rod above its friction", "A rod slides at 5 m/s on its leading end, 63 degrees from the ground, with "
          "friction above 4/3, where no finite force can carry it: its spin after 20 ms.", "the end stops at once: 3 v sin a / (4 l)",
          "rad/s", 0.07, [1.5, 2.0, 3.0], rod, jammed_spin, lambda case, samples: samples[-1][SPIN][0][1]),
    Scene("painleve_slides", "Painlevé's rod below its friction", "The same with friction 0.3 and 0.5, with which it slides on: its speed "
          "after 50 ms.", "N = m (g − l s ω²) / (1 + 3 c (c − µ s)), integrated", "m/s", 0.02, [0.3, 0.5], sliding,
          lambda case: slid(case)[0], lambda case, samples: samples[-1][VELOCITY][0][0]),
]
