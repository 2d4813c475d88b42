# SPDX-License-Identifier: BSD-3-Clause
"""Prints garbage, and writes garbage in the place of its answer."""
import os
import sys

PACKAGE = ""
SEARCH = [{"how": "prints"}, {"how": "number"}, {"how": "none"}, {"how": "deep"}]
TEXTS = {"number": "42", "deep": "[" * 100000, None: '{"answers": [1, \udcff'}


class Simulation:
    def __init__(self, world, settings):
        sys.stdout.buffer.write(bytes(range(256)) * 1000)
        sys.stderr.buffer.write(b"\xff\x00\x1b[31m{]\n" * 1000)
        sys.stdout.flush()
        how = settings.get("how")
        if how == "prints":
            self.count = len(world.bodies)
            return
        if how != "none":
            with open(sys.argv[-1], "wb") as file:
                file.write(TEXTS[how].encode(errors="surrogateescape"))
        os._exit(0)

    def step(self, count):
        print('{"answers": [0]}')

    def positions(self):
        return [(0, 0, 0)] * self.count

    def orientations(self):
        return [(1, 0, 0, 0)] * self.count

    velocities = spins = positions
