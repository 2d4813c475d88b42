# SPDX-License-Identifier: BSD-3-Clause
"""Derivatives by carom's own: Solution.push_forward through every step, Impact.push_forward through every impact.

What the board does around a step, where bodies touch and how they move, is differentiated here by hand, for one body that
moves in the plane of x and z over fixed planes."""

import time

import carom
import numpy as np

import derivatives
from carom_adapter import Simulation, crossed, frame
from line_of_flight import Flight
from worlds import NotExpressible

LEAST = 1e-9  #: spin out of the plane that is rounding [rad/s]


class Recorder:
    """A solver that remembers its last answer."""

    def __init__(self, solver):
        self.solver, self.last = solver, None

    def solve(self, problem):
        self.last = self.solver.solve(problem)
        return self.last


class Change:
    """How the world changes with its datum, from two worlds: worlds are linear in it."""

    def __init__(self, low, high, share):
        def rate(get):
            return (np.array(get(high), float) - np.array(get(low), float)) / (2 * share)
        self.friction, self.mass = float(rate(lambda w: w.friction)), float(rate(lambda w: w.bodies[0].mass))
        self.speed, self.spin = rate(lambda w: w.bodies[0].velocity), rate(lambda w: w.bodies[0].spin)
        if rate(lambda w: (*w.gravity, *w.bodies[0].force, *w.bodies[0].position, *w.bodies[0].size)).any():
            raise NotExpressible("the board differentiates by friction, mass and velocity")


class Tangent(Simulation):
    """A simulation beside which the derivative of its state runs: way, turn, speed and spin."""

    def __init__(self, world, settings, change):
        super().__init__(world, settings)
        if len(world.bodies) != 1:
            raise NotExpressible("the board differentiates one body")
        self.solver, self.change, self.found = Recorder(self.solver), change, []
        self.d_place, self.d_turn = np.zeros(3), np.zeros(3)
        self.d_speed, self.d_spin = change.speed, change.spin

    def one_step(self):
        self.found.clear()
        super().one_step()

    def add_touch(self, touch):
        self.found.append(touch)
        super().add_touch(touch)

    def touch_changes(self):
        """Changes of the gaps and of the Jacobians, one (3, 6) per touch."""
        gaps, rows = [], []
        for _, _, point, normal, gap in self.found:
            arm = point - self.places[0] + normal * gap / 2
            moved = np.cross(self.d_turn, arm) if self.bodies[0].shape == "box" else np.zeros(3)
            gaps.append(float(normal @ (self.d_place + moved)))
            rows.append(np.hstack([np.zeros((3, 3)), -frame(normal) @ crossed(moved - normal * gaps[-1] / 2)]))
        return np.array(gaps), rows

    def mass_change(self):
        inertia, turn = self.inertia(0), crossed(self.d_turn)
        result = np.zeros((6, 6))
        result[:3, :3] = self.change.mass * np.eye(3)
        result[3:, 3:] = self.change.mass / self.bodies[0].mass * inertia + turn @ inertia - inertia @ turn
        return result

    def advance(self, velocity, h):
        if max(abs(velocity[3]), abs(velocity[5])) > LEAST:
            raise ValueError(f"the body leaves its plane: it spins by {velocity[3:6]}")
        begin, body = time.process_time(), self.bodies[0]
        pull = -h * self.change.mass / body.mass**2 * np.array(body.force)
        gaps, rows = self.touch_changes()
        answer = self.solver.last.push_forward(
            free_velocity=np.concatenate([self.d_speed + pull, self.d_spin]), friction=np.full(len(rows), self.change.friction),
            gap=gaps, jacobian=rows, mass=[self.mass_change()])
        self.solve_seconds += time.process_time() - begin
        self.d_speed, self.d_spin = answer.velocity[:3], answer.velocity[3:]
        self.d_place, self.d_turn = self.d_place + h * self.d_speed, self.d_turn + h * self.d_spin
        super().advance(velocity, h)


class Impacts(Simulation):
    """Balls on a line beside which the derivative of their speeds runs: Impact.push_forward at each impact. Between impacts
    speeds stay, and that the time of an impact changes does not change them."""

    def __init__(self, world, settings, low, high, share):
        super().__init__(world, settings)
        self.d_speeds = np.array([(np.array(b.velocity) - np.array(a.velocity)) / (2 * share)
                                  for a, b in zip(low.bodies, high.bodies)]).ravel()
        self.d_masses = np.repeat([(b.mass - a.mass) / (2 * share) for a, b in zip(low.bodies, high.bodies)], 3)
        if any(any(b.position[1:]) or any(b.velocity[1:]) for b in world.bodies) or any(world.gravity):
            raise NotExpressible("the board differentiates balls on the x axis, without gravity")

    def impact(self, masses, normals, speeds, **law):
        answer = carom.impact(masses, normals, speeds, **law)
        self.d_speeds = answer.push_forward(velocity=self.d_speeds, mass_matrix=self.d_masses).velocity
        return answer

    def step(self, count):
        Flight(self, self.impact).go(count)


def through_impacts(scene, case, settings, low, high):
    world = derivatives.finer(scene.world(case), settings)
    run = Impacts(world, settings, low, high, scene.change)
    run.step(world.step_count)
    return scene.answer(case, [[0.0, None, None, run.d_speeds.reshape(-1, 3).tolist()]]), run.solve_seconds, world.step_count


def derivative(scene, case, settings):
    """(derivative, seconds, steps). Answers of scenes of gradients are linear in their samples: that of the changes of the
    samples is the change of the answer."""
    low, high = scene.world(case, -scene.change), scene.world(case, scene.change)
    if low.restitution > 0:
        return through_impacts(scene, case, settings, low, high)
    world = derivatives.finer(scene.world(case), settings)
    run = Tangent(world, settings, Change(low, high, scene.change))
    start = [0.0, [[0.0] * 3], None, [run.d_speed.tolist()], [run.d_spin.tolist()]]
    run.step(world.step_count)
    end = [world.time_step * world.step_count, [run.d_place.tolist()], None, [run.d_speed.tolist()], [run.d_spin.tolist()]]
    return scene.answer(case, [start, end]), run.solve_seconds, world.step_count
