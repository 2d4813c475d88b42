# SPDX-License-Identifier: BSD-3-Clause
"""What a scene is, and all of them in the order of the page. Nothing here needs more than Python."""

import dataclasses
import pathlib
import sys
import typing

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))


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


def find(name):
    return next(scene for scene in all_scenes() if scene.name == name)


def all_scenes():
    from scenes import balls, gradients, held, impacts, masonry, painleve, piles, slopes, standing

    return [*slopes.SCENES, *held.SCENES, *standing.SCENES, *masonry.SCENES, *balls.SCENES, *impacts.SCENES, *painleve.SCENES,
            *piles.SCENES, *gradients.SCENES]
