# SPDX-License-Identifier: BSD-3-Clause
"""What friction holds, or does not: a grip, a pinch, a stack, a block under another."""

import math

from worlds import GRAVITY, Body, Plane, World, times, turned

from .scene import POSITION, VELOCITY, Scene

LEVEL = Plane((0, 0, 0), (0, 0, 1))


def gripper(case):
    """A cube of 45 g and 40 mm between two pads on slides, each pressed by 12 N, friction 0.7."""
    def pad(side):
        return Body("box", (0.01, 0.03, 0.03), 0.1, (side * 0.03, 0, 0), force=(-side * 12.0, 0, 0),
                    slides_along=(1, 0, 0))
    return World([Body("box", (0.02,) * 3, 0.045, (0, 0, 0)), pad(-1), pad(1)], [], friction=0.7, sample_every=250)


def creep(case, samples):
    """Both pads may drift together along their slides, which nothing holds; what counts is how the cube falls [um/s]."""
    gone = samples[1][POSITION][0][2] - samples[2][POSITION][0][2]
    return gone / (samples[2][0] - samples[1][0]) * 1e6


def pinch(case):
    """A ball between a fixed plane and a pad on a slide, whose faces open upwards by 2 b = 40 degrees."""
    b, radius, half = math.radians(20), 0.05, 0.02
    left, right = (math.cos(b), 0, math.sin(b)), (-math.cos(b), 0, math.sin(b))
    pad = Body("box", (half, 0.1, 0.1), 0.1, times(-(radius + half), right), turned((0, 1, 0), b), force=(-10.0, 0, 0),
               slides_along=(1, 0, 0))
    ball = Body("sphere", (radius,), 0.1, (0, 0, 0))
    return World([ball, pad], [Plane(times(-radius, left), left)], (0, 0, 0), case, step_count=250)


def pinch_truth(case):
    """Two forces hold the ball if they lie on the line through the touching points, b from each normal: tan b <= mu."""
    return 0.0 if math.tan(math.radians(20)) <= case else 1.0


def has_moved(body, axis, least):
    """1 where a body has moved by more than `least` [m] along an axis, else 0."""
    return lambda case, samples: float(
        abs(samples[-1][POSITION][body][axis] - samples[0][POSITION][body][axis]) > least)


COUNT = 10


def stack(case):
    """Ten cubes of 0.1 m, 1 kg each but the top one."""
    masses = [1.0] * (COUNT - 1) + [float(case)]
    cubes = [Body("box", (0.05,) * 3, mass, (0, 0, 0.05 + 0.1 * k)) for k, mass in enumerate(masses)]
    return World(cubes, [LEVEL], friction=0.5)


def sinks(case, samples):
    first, last = samples[0][POSITION][-1], samples[-1][POSITION][-1]
    return math.dist(first, last) * 1e3


def pulled(case):
    """The lower of two blocks of 1 kg is pulled by 20 N, friction 0.4, for 0.2 s."""
    lower = Body("box", (0.2, 0.2, 0.05), 1.0, (0, 0, 0.05), force=(20.0, 0, 0))
    upper = Body("box", (0.1, 0.1, 0.1), 1.0, (0, 0, 0.2))
    return World([lower, upper], [LEVEL], friction=0.4, step_count=100)


def pulled_truth(case):
    """The upper block gets mu m g, the lower 20 N less that and less mu 2 m g of the ground."""
    hold = 0.4 * GRAVITY
    return 0.2 * (hold if case == "upper" else 20.0 - 3 * hold)


SCENES = [
    Scene("gripper", "Grip that creeps", "A cube of 45 g between pads that press with 12 N, friction 0.7, which could hold 38 times its "
          "weight: how fast it creeps down.", "0, as m g < 2 µ F", "µm/s", 1.0, ["held"], gripper, lambda case: 0.0, creep),
    Scene("pinch", "Pinched ball", "A ball between two faces that open by 40 degrees, friction 0.4 and 0.25: does it slip out by 10 mm "
          "in 0.5 s (1) or not (0)?", "out where tan 20° > µ", "", 0.0, [0.4, 0.25], pinch, pinch_truth, has_moved(0, 2, 0.01)),
    Scene("stack", "Heavy on light", "Ten cubes, the top one 1, 1000 and 1,000,000 times as heavy as the others: by how much the top "
          "moves in 1 s.", "0", "mm", 0.1, [1, 1000, 1000000], stack, lambda case: 0.0, sinks),
    Scene("pulled_block", "Block pulled from under another", "The lower of two blocks is pulled by 20 N, friction 0.4: both speeds after "
          "0.2 s.", "µ g t of the upper, (F/m − 3 µ g) t of the lower", "m/s", 0.01, ["upper", "lower"], pulled, pulled_truth,
          lambda case, samples: samples[-1][VELOCITY][0 if case == "lower" else 1][0]),
]
