# SPDX-License-Identifier: BSD-3-Clause
"""What stands and what falls, on both sides of the closed limit."""

import math

from worlds import Body, Plane, World, rotated, turned

from .held import LEVEL
from .scene import ORIENTATION, POSITION, Scene
from .slopes import tilted

CARD_MU = 0.3


def card(case):
    """A card of 0.4 m leans on a wall, at an angle from the upright of twice the friction angle and some degrees."""
    angle = 2 * math.atan(CARD_MU) + math.radians(case)
    turn = turned((0, 1, 0), -angle)
    corners = [rotated(turn, (-0.001, 0, z)) for z in (-0.2, 0.2)]
    place = (-min(c[0] for c in corners), 0, -min(c[2] for c in corners))
    body = Body("box", (0.001, 0.1, 0.2), 0.1, place, turn)
    return World([body], [LEVEL, Plane((0, 0, 0), (1, 0, 0))], friction=CARD_MU, step_count=250)


def card_falls(case):
    """Where both ends slip, the two forces and the weight meet in a point, which is so at tan a = 2 mu / (1 - mu^2):
    the card stands up to a = 2 atan(mu). Its thickness, 1/200 of its length, moves the limit by 0.3 degrees."""
    return 1.0 if case > 0 else 0.0


def falls(body, least):
    return lambda case, samples: float(
        samples[0][POSITION][body][2] - samples[-1][POSITION][body][2] > least)


def pyramid(case):
    """Three balls that touch, one on top."""
    r = 0.1
    ring = 2 * r / math.sqrt(3)
    lower = [(ring * math.cos(t), ring * math.sin(t), r) for t in (0, 2 * math.pi / 3, 4 * math.pi / 3)]
    places = [*lower, (0, 0, r + math.sqrt(4 * r * r - ring * ring))]
    return World([Body("sphere", (r,), 1.0, place) for place in places], [LEVEL], friction=case)


def pyramid_falls(case):
    """A lower ball does not turn if both its frictions are F; sideways N sin t = F (1 + cos t), so that F/N = tan(t/2),
    where sin t = 1/sqrt(3) is the slope of the line of centres to the vertical: F/N = sqrt(3) - sqrt(2)."""
    return 1.0 if case < math.sqrt(3) - math.sqrt(2) else 0.0


def tall(case):
    """A block four times as high as wide on a slope, friction 0.8."""
    return World([Body("box", (0.05, 0.05, 0.2), 1.0, (0, 0, 0.2))], [LEVEL], tilted(math.radians(case)), 0.8)


def tips(case):
    """Its weight passes outside of its base where tan a > 1/4."""
    return 1.0 if math.tan(math.radians(case)) > 0.25 else 0.0


def has_tipped(case, samples):
    return float(rotated(samples[-1][ORIENTATION][0], (0, 0, 1))[2] < math.cos(math.radians(5)))


SCENES = [
    Scene("card", "Leaning card", "A card leans on a wall, friction 0.3 at both ends, 3 degrees above and below the steepest rest: does its "
          "middle fall by 5 mm in 0.5 s (1) or not (0)?", "falls beyond 2 atan µ from the upright", "", 0.0, [-3, 3], card, card_falls,
          falls(0, 0.005)),
    Scene("pyramid", "Four balls in a pyramid", "Friction 0.36 and 0.2: does the top fall by 10 mm in 1 s (1) or not (0)?",
          "falls where µ < √3 − √2", "", 0.0, [0.36, 0.2], pyramid, pyramid_falls, falls(3, 0.01)),
    Scene("tall_block", "Tall block on a slope", "Four times as high as wide, on 12 and 16 degrees, friction 0.8: does it tip by 5 degrees "
          "in 1 s (1) or not (0)?", "tips where tan a > 1/4", "", 0.0, [12, 16], tall, tips, has_tipped),
]
