# SPDX-License-Identifier: BSD-3-Clause
"""What a scene is. Nothing here needs more than Python."""

import dataclasses
import typing


@dataclasses.dataclass
class Scene:
    """A question with a known answer. `cases` are numbers or words; for each `world` makes what engines are given,
    `truth` is the exact number, and `answer` reads an engine's number from its samples."""

    name: str
    title: str
    about: str  #: what is set up, in a sentence
    formula: str  #: the closed form
    unit: str
    tolerance: float  #: of a right answer, in the unit
    cases: list
    world: typing.Callable
    truth: typing.Callable
    answer: typing.Callable
    axis: str = ""  #: what a case is; a scene with an axis of numbers gets a plot
    change: float = 0.0  #: of a scene that asks for derivatives: the share by which differences change a datum, a case;
    #: `world` takes such a share as its second argument, and `answer` gives what is differentiated
    costs: bool = False  #: whether accuracy is bought by time here: the page compares at equal cost


# One sample: (time, positions, orientations, velocities, spins).
TIME, POSITION, ORIENTATION, VELOCITY, SPIN = range(5)
