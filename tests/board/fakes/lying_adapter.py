# SPDX-License-Identifier: BSD-3-Clause
"""Answers of wrong sizes, NaN, words in the place of numbers, and one that comes out of `answer`."""
import math

PACKAGE = ""
SEARCH = [{"how": "width"}, {"how": "count"}, {"how": "infinite"}, {"how": "word"}, {"how": "answer"}, {"how": "unable"}]


def answer(scene, case, settings):
    if settings.get("how") == "unable":
        from worlds import NotExpressible
        raise NotExpressible("it is too small")
    return math.nan if settings.get("how") == "answer" else None


class Simulation:
    def __init__(self, world, settings):
        self.how, self.count, self.stepped = settings.get("how"), len(world.bodies), False

    def step(self, count):
        self.stepped = True

    def positions(self):
        value = {None: math.nan, "infinite": math.inf, "word": "here"}.get(self.how, 0.0) if self.stepped else 0.0
        rows = [[value, 0.0, 0.0]] * (self.count + (self.how == "count"))
        return [row[:2] for row in rows] if self.how == "width" else rows

    def orientations(self):
        return [(1.0, 0.0, 0.0, 0.0)] * self.count

    def velocities(self):
        return [(0.0, 0.0, 0.0)] * self.count

    spins = velocities
