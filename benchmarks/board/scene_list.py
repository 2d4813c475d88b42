# SPDX-License-Identifier: BSD-3-Clause
"""All scenes in the order of the page."""

from scenes import balls, gradients, held, impacts, masonry, painleve, piles, slopes, standing


def find(name):
    return next(scene for scene in all_scenes() if scene.name == name)


def all_scenes():
    return [*slopes.SCENES, *held.SCENES, *standing.SCENES, *masonry.SCENES, *balls.SCENES, *impacts.SCENES, *painleve.SCENES,
            *piles.SCENES, *gradients.SCENES]
