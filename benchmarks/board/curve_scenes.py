# SPDX-License-Identifier: BSD-3-Clause
"""Scenes of hundreds of bodies for the curves of error over time, and the text file that programs read them from."""

import dataclasses
import itertools
import math
import typing

from worlds import Body, Plane, World

STEP = 1 / 60  #: [s], the usual step of games
OVERLAP = 1e-5  #: of touching bodies at the start [m]: rounding then hides no contact from an engine
LEVEL = Plane((0, 0, 0), (0, 0, 1))


@dataclasses.dataclass
class CurveScene:
    """`standing` is for bodies that are in balance at the start: whatever moves is an error."""

    name: str
    title: str
    about: str
    make: typing.Callable
    standing: bool


def wall():
    """500 cubes of 1 m and 1 kg, each above a joint of the row below, which has one cube more: it stands."""
    bodies, length, place, row = [], 32, 0, 0
    for _ in range(500):
        bodies.append(Body("box", (0.5, 0.5, 0.5), 1.0, (1.02 * (place + 0.5 * row), 0.0, 0.5 + row - (row + 1) * OVERLAP)))
        place += 1
        if place == length:
            place, length, row = 0, length - 1, row + 1
    return World(bodies, [LEVEL], friction=0.5, time_step=STEP, step_count=30, sample_every=5)


def pyramid():
    """Square layers of touching balls, 14 x 14 to 1, each ball in the hollow of four; planes hold the lowest layer.

    It stands without friction: the weight of a ball goes down to the floor along straight rows of touching balls, and all
    of these push outwards on the lowest layer, where neighbours and planes hold it."""
    radius, edge = 0.5, 14
    apart = 2 * radius - OVERLAP  # of the middles of two balls
    bodies = []
    for layer in range(edge):
        count = edge - layer
        for i, j in itertools.product(range(count), repeat=2):
            x, y = (apart * (k - (count - 1) / 2) for k in (i, j))
            height = radius - OVERLAP + apart * layer / math.sqrt(2)
            bodies.append(Body("sphere", (radius,), 1.0, (x, y, height)))
    half = apart * (edge - 1) / 2 + radius - OVERLAP
    return World(bodies, [LEVEL, *bin_of(half)], friction=0.5, time_step=STEP, step_count=30, sample_every=5)


def bin_of(half):
    return [Plane((-half, 0, 0), (1, 0, 0)), Plane((half, 0, 0), (-1, 0, 0)),
            Plane((0, -half, 0), (0, 1, 0)), Plane((0, half, 0), (0, -1, 0))]


def pile():
    """1000 boxes and balls of 1 to 8 kg fall from ten loose layers into a bin and come to rest."""
    side, bodies = 10, []
    for i in range(1000):
        layer, place = divmod(i, side * side)
        shift = 0.1 * ((7 * i) % 11 - 5) / 5
        at = (1.2 * (place % side - (side - 1) / 2) + shift, 1.2 * (place // side - (side - 1) / 2) - shift, 0.5 + 1.02 * layer)
        shape, size = ("sphere", (0.5,)) if i % 2 else ("box", (0.45, 0.4, 0.5) if i % 4 else (0.5, 0.5, 0.45))
        bodies.append(Body(shape, size, 1.0 + i % 8, at))
    return World(bodies, [LEVEL, *bin_of(0.6 * side)], friction=0.5, time_step=STEP, step_count=120, sample_every=10)


SCENES = [
    CurveScene("wall_500", "Wall of 500 cubes", "500 cubes of 1 m and 1 kg in a wall, each above a joint of the row below, friction 0.5; "
               "0.5 s in steps of 1/60 s. Nothing should move.", wall, True),
    CurveScene("pyramid_1015", "Pyramid of 1015 balls", "Layers of 14 x 14 balls to one, each in the hollow of four, planes about the "
               "lowest layer, radius 0.5 m, 1 kg, friction 0.5; 0.5 s in steps of 1/60 s. Nothing should move.", pyramid, True),
    CurveScene("pile_1000", "Pile of 1000 boxes and balls", "1000 boxes and balls of 1 m and 1 to 8 kg fall from ten loose layers into a "
               "bin, friction 0.5; 2 s in steps of 1/60 s. No overlap is right, and no energy may be gained.", pile, False),
]


def words(numbers):
    return " ".join(repr(float(number)) for number in numbers)


def text_of(world):
    """The file that carom_bullet_curve and programs of other engines read."""
    lines = ["board-scene 1", words(world.gravity), f"{world.friction!r} {world.time_step!r} {world.step_count} {world.sample_every}",
             f"{len(world.planes)} {len(world.bodies)}"]
    lines += [f"{words(plane.point)} {words(plane.normal)}" for plane in world.planes]
    for body in world.bodies:
        size = body.size if body.shape == "box" else body.size * 3
        lines.append(f"{body.shape} {words(size)} {body.mass!r} {words(body.position)} {words(body.orientation)} "
                     f"{words(body.velocity)} {words(body.spin)}")
    return "\n".join(lines) + "\n"
