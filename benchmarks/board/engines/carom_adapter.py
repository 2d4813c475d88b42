# SPDX-License-Identifier: BSD-3-Clause
"""carom by its Python package. carom is no engine: the board finds the touches (touches.py) and moves the bodies by
semi-implicit Euler; carom computes every velocity. Where there are impacts without friction, the board advances to
each and carom.impact resolves it. The time that counts is that of carom's calls.

The default is the plain call, carom.Solver() and add_contact() without more: rigid contact under Coulomb's law. Settings of
the search name both: without `rigid` contacts that do not bounce are as soft as the step resolves."""

import time

import carom
import numpy as np

import touches
from line_of_flight import Flight

PACKAGE = "carom"
SEARCH = [
    {"law": "coulomb"},
    {"law": "coulomb", "rigid": True},
    {"law": "coulomb", "rigid": True, "tolerance": 1e-12},
    {"law": "coulomb", "rigid": True, "tolerance": 1e-12, "finer": 4},
]


def crossed(r):
    return np.array([[0, -r[2], r[1]], [r[2], 0, -r[0]], [-r[1], r[0], 0]])


def frame(normal):
    """Rows (t1, t2, n)."""
    least = np.eye(3)[int(np.argmin(np.abs(normal)))]
    first = np.cross(normal, least)
    first /= np.sqrt(first @ first)
    return np.array([first, np.cross(normal, first), normal])


def product(p, q):
    return np.array([p[0] * q[0] - p[1:] @ q[1:], *(p[0] * q[1:] + q[0] * p[1:] + np.cross(p[1:], q[1:]))])


class Simulation:
    def __init__(self, world, settings):
        self.world, self.bodies, self.settings = world, world.bodies, settings
        self.places = np.array([b.position for b in world.bodies], float)
        self.quaternions = np.array([b.orientation for b in world.bodies], float)
        self.speeds = np.array([b.velocity for b in world.bodies], float)
        self.turning = np.array([b.spin for b in world.bodies], float)
        self.planes = [(np.array(p.normal, float), np.array(p.point, float)) for p in world.planes]
        options = {key: settings[key] for key in ("law", "tolerance") if key in settings}
        self.solver = carom.Solver(**options)
        self.problem = carom.ContactProblem(world.time_step)
        self.solve_seconds = 0.0

    def step(self, count):
        if self.world.restitution > 0 and self.world.friction == 0:
            flight = Flight(self, carom.impact)
            flight.go(count)
            return
        for _ in range(count):
            self.one_step()

    def free_speeds(self):
        """Velocities after the step without contact, with the torque of gyration."""
        h = self.world.time_step
        forces = np.array([b.force for b in self.bodies]) / np.array([[b.mass] for b in self.bodies])
        speeds = self.speeds + h * (np.array(self.world.gravity) + forces)
        turning = self.turning.copy()
        for i, body in enumerate(self.bodies):
            if body.shape == "box" and not body.slides_along:
                inertia = self.inertia(i)
                spin = self.turning[i]
                turning[i] -= h * np.linalg.solve(inertia, np.cross(spin, inertia @ spin))
        return speeds, turning

    def inertia(self, i):
        turn = self.turns[i]
        return turn * self.bodies[i].inertia() @ turn.T

    def jacobian(self, i, point, rows):
        axis = self.bodies[i].slides_along
        if axis:
            return rows @ np.array(axis, float).reshape(3, 1)
        return np.hstack([rows, -rows @ crossed(point - self.places[i])])

    def add_touch(self, touch):
        i, j, point, normal, gap = touch
        rows = frame(normal)
        first = self.jacobian(i, point, rows)
        second = None if j is None else -self.jacobian(j, point, rows)
        soft = {"compliance": "step"} if self.settings and not self.settings.get("rigid") else {}
        if self.world.rolling > 0:
            law = carom.WrenchContact(friction=self.world.friction, gap=gap, shape="spinless_rolling",
                                      rolling_friction=self.world.rolling, **soft)
            first = np.vstack([first, np.hstack([np.zeros((2, 3)), rows[:2]])])
            self.problem.add_constraint(i, first, law)
            return
        options = {"friction": self.world.friction, "gap": gap}
        options |= {"restitution": self.world.restitution} if self.world.restitution > 0 else soft
        if second is not None:
            options |= {"other": j, "other_jacobian": second}
        self.problem.add_contact(i, first, **options)

    def state(self, i):
        axis = self.bodies[i].slides_along
        if axis:
            return np.array([self.speeds[i] @ np.array(axis, float)])
        return np.concatenate([self.speeds[i], self.turning[i]])

    def one_step(self):
        h = self.world.time_step
        self.turns = [touches.rotation(q) for q in self.quaternions]
        speeds, turning = self.free_speeds()
        margin = max(1e-3, 2 * h * float(np.abs(speeds).max()))
        found = touches.find(self.bodies, self.places, self.turns, self.planes, margin)
        begin = time.process_time()
        self.problem.reset(h)
        for i, body in enumerate(self.bodies):
            if body.slides_along:
                self.problem.add_body([[body.mass]], [speeds[i] @ np.array(body.slides_along, float)], self.state(i))
                continue
            mass = np.zeros((6, 6))
            mass[:3, :3] = body.mass * np.eye(3)
            mass[3:, 3:] = self.inertia(i)
            mass = (mass + mass.T) / 2
            self.problem.add_body(mass, np.concatenate([speeds[i], turning[i]]), self.state(i))
        for touch in found:
            self.add_touch(touch)
        solution = self.solver.solve(self.problem)
        self.solve_seconds += time.process_time() - begin
        if solution.status in ("not_finite", "infeasible"):
            raise ValueError(f"carom says {solution.status}")
        self.advance(solution.velocity, h)

    def advance(self, velocity, h):
        at = 0
        for i, body in enumerate(self.bodies):
            if body.slides_along:
                self.speeds[i] = velocity[at] * np.array(body.slides_along, float)
                at += 1
            else:
                self.speeds[i], self.turning[i] = velocity[at:at + 3], velocity[at + 3:at + 6]
                at += 6
            self.places[i] += h * self.speeds[i]
            rate = float(np.sqrt(self.turning[i] @ self.turning[i]))
            if rate > 0:
                half = h * rate / 2
                turn = np.array([np.cos(half), *(np.sin(half) / rate * self.turning[i])])
                self.quaternions[i] = product(turn, self.quaternions[i])
                self.quaternions[i] /= np.sqrt(self.quaternions[i] @ self.quaternions[i])

    def positions(self):
        return self.places.tolist()

    def orientations(self):
        return self.quaternions.tolist()

    def velocities(self):
        return self.speeds.tolist()

    def spins(self):
        return self.turning.tolist()
