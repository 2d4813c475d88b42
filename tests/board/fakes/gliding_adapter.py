# SPDX-License-Identifier: BSD-3-Clause
"""Bodies that glide on without force; gliding_gradients.py knows how that depends on the data, or says what it is told."""

PACKAGE = ""
SEARCH = [{"off": 0.5}]


class Simulation:
    def __init__(self, world, settings):
        self.world, self.clock = world, 0.0

    def step(self, count):
        self.clock += count * self.world.time_step

    def positions(self):
        return [[x + self.clock * v for x, v in zip(body.position, body.velocity)] for body in self.world.bodies]

    def orientations(self):
        return [body.orientation for body in self.world.bodies]

    def velocities(self):
        return [body.velocity for body in self.world.bodies]

    def spins(self):
        return [body.spin for body in self.world.bodies]
