# SPDX-License-Identifier: BSD-3-Clause
"""Free boxes and balls that are stepped in time, for the answers: who touches whom is all that is not carom's."""

from collections.abc import Iterable

import numpy as np

import carom

SIGNS = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)


def turn(vector: np.ndarray) -> np.ndarray:
    """The rotation (3, 3) by |vector| [rad] about a vector."""
    angle = np.linalg.norm(vector)
    if angle == 0:
        return np.eye(3)
    x, y, z = vector / angle
    k = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


def touches(body: int, other: int, point: np.ndarray, top: np.ndarray, normal: np.ndarray) -> dict:
    """Contacts of points (k, 3) of a body with a plane through `top` of another body, or of the world, -1."""
    count = len(point)
    return {
        "body": np.full(count, body),
        "other": np.full(count, other),
        "point": point,
        "normal": np.tile(normal, (count, 1)),
        "gap": (point - top) @ normal,
    }


class World:
    """Rigid bodies with velocities (v, w) along the axes of the world, stepped by one Solver.

    time_step [s]. gravity (3,) [m/s^2]. tolerance, law: those of carom.Solver.
    """

    def __init__(
        self,
        time_step: float,
        gravity: Iterable[float] = (0, 0, -9.81),
        tolerance: float = 1e-10,
        law: str = "coulomb",
    ) -> None:
        self.time_step, self.gravity = time_step, np.array(gravity, float)
        self.problem, self.solver = carom.ContactProblem(time_step), carom.Solver(law=law, tolerance=tolerance)
        self.mass, self.half, self.inertia = [], [], []
        self.position, self.rotation, self.velocity = np.zeros((0, 3)), np.zeros((0, 3, 3)), np.zeros((0, 6))

    def _add(self, mass, half, inertia, position, velocity, yaw) -> int:
        self.mass.append(mass)
        self.half.append(half)
        self.inertia.append(inertia)
        self.position = np.vstack([self.position, position])
        self.rotation = np.concatenate([self.rotation, [turn(np.array([0, 0, yaw]))]])
        self.velocity = np.vstack([self.velocity, velocity])
        return len(self.mass) - 1

    def add_box(
        self,
        mass: float,
        size: Iterable[float],
        position: Iterable[float],
        velocity: Iterable[float] = (0, 0, 0, 0, 0, 0),
        yaw: float = 0.0,
    ) -> int:
        """Adds a box of mass [kg] and edges size (3,) [m], turned by yaw [rad]. Returns its number."""
        squares = np.square(size)
        return self._add(mass, np.array(size) / 2, mass / 12 * (squares.sum() - squares), position, velocity, yaw)

    def add_ball(
        self, mass: float, radius: float, position: Iterable[float], velocity: Iterable[float] = (0, 0, 0, 0, 0, 0)
    ) -> int:
        """Adds a solid ball of mass [kg] and radius [m]. Returns its number."""
        return self._add(mass, np.full(3, radius), np.full(3, 0.4 * mass * radius**2), position, velocity, 0.0)

    def corners(self, box: int) -> np.ndarray:
        """The corners of a box in the world, (8, 3) [m]."""
        return self.position[box] + SIGNS * self.half[box] @ self.rotation[box].T

    def on_ground(self, box: int, margin: float = 0.02) -> dict:
        """Contacts of a box's corners with the ground z = 0, those nearer than a margin [m], for step()."""
        corners = self.corners(box)
        return touches(box, -1, corners[corners[:, 2] < margin], np.zeros(3), np.array([0, 0, 1.0]))

    def on_box(self, upper: int, lower: int) -> dict:
        """Contacts of a box with the top of a larger one below it: the corners of its own lower side."""
        up = self.rotation[lower][:, 2]
        top = self.position[lower] + self.half[lower][2] * up
        corners = self.corners(upper)
        return touches(upper, lower, corners[np.argsort((corners - top) @ up, kind="stable")[:4]], top, up)

    def among_balls(self, margin: float = 0.02) -> dict:
        """Contacts of balls with the ground, which come first, and with each other, if nearer than a margin [m]."""
        radius = np.array([half[0] for half in self.half])
        low = np.flatnonzero(self.position[:, 2] - radius < margin)
        upper, lower = np.tril_indices(len(radius), -1)
        away = self.position[upper] - self.position[lower]
        distance = np.linalg.norm(away, axis=1)
        gap = distance - radius[upper] - radius[lower]
        near = gap < margin
        body, other = np.concatenate([low, upper[near]]), np.concatenate([np.full(len(low), -1), lower[near]])
        normal = np.concatenate([np.tile([0, 0, 1.0], (len(low), 1)), away[near] / distance[near, None]])
        point = self.position[body] - radius[body, None] * normal
        return {
            "body": body,
            "other": other,
            "point": point,
            "normal": normal,
            "gap": np.concatenate([point[: len(low), 2], gap[near]]),
        }

    def pose(self, contacts: Iterable[dict], push: np.ndarray | None = None, **options) -> carom.ContactProblem:
        """States the step without solving it.

        contacts: arguments of add_contacts(), as on_ground() and the like give them. push: (bodies, 6) forces and
        moments [N, N m] besides the weight. options: more arguments of add_contacts(), of contacts without their own.
        """
        free = self.velocity.copy()
        free[:, :3] += self.time_step * self.gravity
        if push is not None:
            free[:, :3] += self.time_step * push[:, :3] / np.array(self.mass)[:, None]
        for b, (inertia, r) in enumerate(zip(self.inertia, self.rotation)):
            moved, spin = r * inertia @ r.T, self.velocity[b, 3:]
            moment = np.zeros(3) if push is None else push[b, 3:]
            free[b, 3:] += self.time_step * np.linalg.solve(moved, moment - np.cross(spin, moved @ spin))
        self.problem.reset(self.time_step)
        self.problem.add_rigid_bodies(self.mass, self.inertia, free, self.position, self.rotation, self.velocity)
        for contact in contacts:
            if len(contact["body"]):
                self.problem.add_contacts(**{**options, **contact})
        return self.problem

    def step(self, contacts: Iterable[dict], push: np.ndarray | None = None, **options) -> carom.Solution:
        """Advances by a step; arguments are those of pose(). Returns the answer."""
        solution = self.solver.solve(self.pose(contacts, push, **options))
        self.advance(solution.velocity)
        return solution

    def advance(self, velocity: np.ndarray) -> None:
        """Moves the bodies by a step at velocities (6 bodies,) or (bodies, 6)."""
        self.velocity = np.reshape(velocity, (-1, 6))
        self.position = self.position + self.time_step * self.velocity[:, :3]
        self.rotation = np.array([turn(self.time_step * w) @ r for w, r in zip(self.velocity[:, 3:], self.rotation)])

    def yaw(self, body: int) -> float:
        """How far a body that stands upright is turned about z [rad]."""
        return float(np.arctan2(self.rotation[body][1, 0], self.rotation[body][0, 0]))
