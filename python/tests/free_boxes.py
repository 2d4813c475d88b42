# SPDX-License-Identifier: BSD-3-Clause
"""Free boxes that are stepped in time, as a user of the package writes them: velocities (v, w), in axes of the world."""
import numpy as np

G = 9.81


def skew(a):
    x, y, z = a
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]], float)


def turn_by(vector):
    """A rotation matrix, by Rodrigues' formula."""
    angle = np.linalg.norm(vector)
    if angle == 0:
        return np.eye(3)
    k = skew(np.asarray(vector) / angle)
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


def point_rows(frame, arm):
    """Rows (t1, t2, n) of a frame times the velocity of a point of a free body (velocity, spin)."""
    return np.hstack([frame, -frame @ skew(arm)])


class Box:
    """A free box that is stepped in time."""

    def __init__(self, mass, size, position, velocity=(0, 0, 0)):
        a, b, c = size
        self.mass, self.size = mass, np.asarray(size, float)
        self.inertia = mass / 12 * np.diag([b * b + c * c, a * a + c * c, a * a + b * b])
        self.x, self.turn = np.array(position, float), np.eye(3)
        self.v, self.w = np.array(velocity, float), np.zeros(3)

    def matrix(self):
        result = np.zeros((6, 6))
        result[:3, :3] = self.mass * np.eye(3)
        result[3:, 3:] = self.turn @ self.inertia @ self.turn.T
        return result

    def free(self, step, gravity):
        inertia = self.turn @ self.inertia @ self.turn.T
        spin = self.w - step * np.linalg.solve(inertia, np.cross(self.w, inertia @ self.w))
        return np.concatenate([self.v + step * np.asarray(gravity), spin])

    def corners(self):
        signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        return [self.turn @ (sign * self.size / 2) for sign in signs]

    def move(self, velocity, step):
        self.v, self.w = velocity[:3].copy(), velocity[3:].copy()
        self.x = self.x + step * self.v
        self.turn = turn_by(self.w * step) @ self.turn


def frame_of(normal):
    """Axes (t1, t2, n) of a plane."""
    normal = np.asarray(normal, float) / np.linalg.norm(normal)
    first = np.cross(normal, [1.0, 0.3, -0.2])
    first /= np.linalg.norm(first)
    return np.array([first, np.cross(normal, first), normal])
