# SPDX-License-Identifier: BSD-3-Clause
"""A block on a plane that slides, sticks and stops. Planes are level; a slope is gravity that is tilted."""

import math

from worlds import GRAVITY, Body, Plane, World, dot, turned

from .scene import POSITION, VELOCITY, Scene

LEVEL = Plane((0, 0, 0), (0, 0, 1))
MU = 0.5


def tilted(angle, heading=0.0):
    """Gravity on a slope whose downhill direction has a heading from the x axis."""
    pull = GRAVITY * math.sin(angle)
    return (pull * math.cos(heading), pull * math.sin(heading), -GRAVITY * math.cos(angle))


def along(heading):
    return (math.cos(heading), math.sin(heading), 0.0)


def block(**more):
    """A flat block of 2 kg, 0.4 m by 0.4 m by 0.2 m, which rests on z = 0."""
    return Body("box", (0.2, 0.2, 0.1), 2.0, (0, 0, 0.1), **more)


def moved(first, last, direction, body=0):
    return dot([b - a for a, b in zip(first[POSITION][body], last[POSITION][body])], direction)


def sticks(case):
    return World([block()], [LEVEL], tilted(math.radians(20), math.radians(case)), MU, sample_every=250)


def drift(case, samples):
    """Speed of the creep in the second half [um/s]."""
    seconds = samples[2][0] - samples[1][0]
    gone = [b - a for a, b in zip(samples[1][POSITION][0], samples[2][POSITION][0])]
    return math.hypot(gone[0], gone[1]) / seconds * 1e6


def slides(case):
    return World([block()], [LEVEL], tilted(math.radians(30), math.radians(case)), MU)


def sliding_speed(case):
    """Down the slope gravity pulls g sin a, friction holds back mu g cos a: v = g (sin a - mu cos a) t."""
    return GRAVITY * (math.sin(math.radians(30)) - MU * math.cos(math.radians(30)))


def final_speed(direction, body=0):
    return lambda case, samples: dot(samples[-1][VELOCITY][body], direction(case))


def heading_of(case):
    return along(math.radians(case))


def launched(case):
    """A cube of 0.1 m at 2 m/s. It would tip at mu = 1 at the least."""
    velocity = tuple(2 * part for part in heading_of(case))
    return World([Body("box", (0.05,) * 3, 1.0, (0, 0, 0.05), velocity=velocity)], [LEVEL], friction=MU)


def launched_distance(case):
    """Friction takes the energy m v^2 / 2 by mu m g over a way d = v^2 / (2 mu g)."""
    return 4 / (2 * MU * GRAVITY)


def upward(case):
    velocity = tuple(-2 * part for part in heading_of(case))
    gravity = tilted(math.radians(20), math.radians(case))
    return World([block(velocity=velocity)], [LEVEL], gravity, MU)


def upward_distance(case):
    """v^2 / 2 = g (sin a + mu cos a) d; there it stays, as tan a < mu."""
    angle = math.radians(20)
    return 4 / (2 * GRAVITY * (math.sin(angle) + MU * math.cos(angle)))


PUSHES = [(share, heading) for share in (0.99, 1.01) for heading in (0, 30, 45)]


def pushed(case):
    share, heading = case
    force = tuple(share * MU * 2 * GRAVITY * part for part in heading_of(heading))
    return World([block(force=force)], [LEVEL], friction=MU)


def pushed_speed(case):
    """A push of s mu m g moves nothing up to s = 1, above it v = (s - 1) mu g t."""
    return max(0.0, case[0] - 1) * MU * GRAVITY


def groove(case):
    """A cube with two faces on the planes of a right-angled groove along x, tilted by the case [deg]."""
    half, side = 0.05, math.sqrt(0.5)
    planes = [Plane((0, 0, 0), (0, side, side)), Plane((0, 0, 0), (0, -side, side))]
    cube = Body("box", (half,) * 3, 1.0, (0, 0, half / side), turned((1, 0, 0), math.pi / 4))
    return World([cube], planes, tilted(math.radians(case)), 0.3, step_count=250)


def groove_speed(case):
    """Each plane carries N = m g cos a / sqrt(2), so that both hold back sqrt(2) mu m g cos a."""
    angle = math.radians(case)
    return max(0.0, GRAVITY * (math.sin(angle) - math.sqrt(2) * 0.3 * math.cos(angle))) * 0.5


HEADINGS = [0, 15, 30, 45, 60, 75, 90]
SCENES = [
    Scene("slope_sticks", "Block that rests on a slope", "A block on 20 degrees, friction 0.5, downhill at seven headings: "
          "its drift in the second half of 1 s.", "0, as tan 20° < 0.5", "µm/s", 1.0, HEADINGS, sticks,
          lambda case: 0.0, drift, "heading of downhill [deg]"),
    Scene("slope_slides", "Block that slides down a slope", "A block on 30 degrees, friction 0.5, at seven headings: its "
          "speed after 1 s.", "g (sin a − µ cos a) t", "m/s", 0.003, HEADINGS, slides, sliding_speed,
          final_speed(heading_of), "heading of downhill [deg]"),
    Scene("launched_cube", "Launched cube", "A cube slides off at 2 m/s, friction 0.5, at three headings: how far it gets.",
          "v² / (2 µ g)", "m", 0.005, [0, 22.5, 45], launched, launched_distance,
          lambda case, samples: moved(samples[0], samples[-1], heading_of(case)), "heading [deg]"),
    Scene("thrown_uphill", "Block thrown uphill", "A block goes up 20 degrees at 2 m/s, friction 0.5, and should stay where it "
          "stops: how far up it is after 1 s.", "v² / (2 g (sin a + µ cos a))", "m", 0.0025, [0, 45], upward, upward_distance,
          lambda case, samples: -moved(samples[0], samples[-1], heading_of(case))),
    Scene("pushed_block", "Block pushed at 99 and at 101 % of its friction", "At three headings: its speed after 1 s.",
          "0, and (1.01 − 1) µ g t", "m/s", 0.001, PUSHES, pushed, pushed_speed,
          lambda case, samples: dot(samples[-1][VELOCITY][0], heading_of(case[1]))),
    Scene("wedge", "Cube wedged in a groove", "A cube in a groove of a right angle, friction 0.3, tilted by 20 and 40 degrees: its "
          "speed after 0.5 s.", "0, and g (sin a − √2 µ cos a) t", "m/s", 0.01, [20, 40], groove, groove_speed,
          final_speed(lambda case: (1, 0, 0))),
]
