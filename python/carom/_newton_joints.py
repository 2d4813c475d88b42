# SPDX-License-Identifier: BSD-3-Clause
"""Joints of Newton's models, all at once: their errors, their coordinates, and rows between two rigid bodies.

Quaternions are (x, y, z, w), as Newton has them. A joint has six slots, three along and three about axes of its parent's
frame; a slot is locked, has a coordinate, or is free. Arrays over bodies have a last row for the world, whose number is -1.
"""
from typing import Any

import numpy as np
from newton import JointType

Array = np.ndarray


def cross(a: Array, b: Array) -> Array:
    """The vector product of (..., 3), a tenth of the time of numpy's for short arrays."""
    x, y, z = a[..., 0], a[..., 1], a[..., 2]
    u, v, w = b[..., 0], b[..., 1], b[..., 2]
    return np.stack([y * w - z * v, z * u - x * w, x * v - y * u], axis=-1)


def multiply(a: Array, b: Array) -> Array:
    """The product of quaternions (..., 4): first b turns, then a."""
    u, v = a[..., :3], b[..., :3]
    s, t = a[..., 3:], b[..., 3:]
    return np.concatenate([s * v + t * u + cross(u, v), s * t - (u * v).sum(-1, keepdims=True)], axis=-1)


def conjugate(q: Array) -> Array:
    """The inverse of unit quaternions (..., 4)."""
    return np.asarray(q * np.array([-1.0, -1.0, -1.0, 1.0]))


def rotate(q: Array, v: Array) -> Array:
    """Vectors (..., 3), turned by unit quaternions (..., 4)."""
    t = 2 * cross(q[..., :3], v)
    return np.asarray(v + q[..., 3:] * t + cross(q[..., :3], t))


def matrices(q: Array) -> Array:
    """Rotation matrices (n, 3, 3) of unit quaternions (n, 4)."""
    x, y, z, w = q.T
    return np.stack([1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y),
                     2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x),
                     2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)], axis=-1).reshape(-1, 3, 3)


def turn_by(q: Array, vector: Array) -> Array:
    """Unit quaternions (n, 4), turned by rotation vectors (n, 3) along the axes of the world."""
    half = np.linalg.norm(vector, axis=-1, keepdims=True) / 2
    turned = multiply(np.concatenate([vector * np.sinc(half / np.pi) / 2, np.cos(half)], axis=-1), q)
    return np.asarray(turned / np.linalg.norm(turned, axis=-1, keepdims=True))


def moved(position: Array, turn: Array, local: Array) -> tuple[Array, Array]:
    """(position, quaternion) of frames (n, 7) that are fixed to bodies."""
    return position + rotate(turn, local[:, :3]), multiply(turn, local[:, 3:])


def completed(axes: Array, name: str) -> Array:
    """A frame (3, 3), axes as rows, that begins with these unit vectors (k, 3)."""
    if not np.allclose(axes @ axes.T, np.eye(len(axes)), rtol=0, atol=1e-4):
        raise ValueError(f"carom.newton: {name}: expected axes of length 1 at right angles, got {axes.tolist()}")
    frame = [axis / np.linalg.norm(axis) for axis in axes]
    while len(frame) < 3:
        rest = np.eye(3) - sum((np.outer(axis, axis) for axis in frame), np.zeros((3, 3)))
        best = rest[np.argmax(np.linalg.norm(rest, axis=1))]
        frame.append(cross(frame[0], frame[1]) if len(frame) == 2 else best / np.linalg.norm(best))
    return np.array(frame)


class Pose:
    """Joints at the poses of their bodies: values of the slots, and the rows of their rates."""

    def __init__(self, value: Array, direction: Array, anchor: Array, apart: Array) -> None:
        self.value = value  # (n, 6): errors of locked slots, coordinates of the others [m, rad]
        self.direction = direction  # (n, 6, 3): along or about which a slot moves, in the world
        self.anchor = anchor  # (n, 3): the origin of the child's frame, in the world
        self.apart = apart  # (n, 3): from the parent's frame to it

    def rows(self, centre: Array) -> Array:
        """(n, 6, 6): how fast the values grow with the velocity (linear, angular) of a body with these centres of mass
        (n, 3) that the anchor moves with; that of the parent counts with the opposite sign."""
        rows = np.zeros((*self.value.shape, 6))
        rows[:, :3, :3] = self.direction[:, :3]
        rows[:, :3, 3:] = cross((self.anchor - centre)[:, None], self.direction[:, :3])
        rows[:, 3:, 3:] = self.direction[:, 3:]
        return rows


class Joints:
    """The geometry of a model's joints. model: of Newton. ValueError: a joint of a kind that is not supported."""

    def __init__(self, model: Any) -> None:
        self.count = int(model.joint_count)
        read = {name: getattr(model, f"joint_{name}").numpy() for name in
                ("type", "parent", "child", "X_p", "X_c", "axis", "dof_dim", "q_start", "qd_start", "enabled", "mimic_joint")}
        self.type, self.enabled = read["type"].copy(), read["enabled"].astype(bool)
        self.parent, self.child = read["parent"].astype(int), read["child"].astype(int)
        self.parent_frame, self.child_frame = read["X_p"].astype(float), read["X_c"].astype(float)
        self.label = [f"joint {j} ('{model.joint_label[j]}')" for j in range(self.count)]
        self.locked = np.zeros((self.count, 6), dtype=bool)
        self.dof = np.full((self.count, 6), -1)
        self.coordinate = np.full((self.count, 6), -1)
        self.linear, self.angular = np.zeros((2, self.count, 3, 3))
        self.angles = np.full(self.count, -1)  # how many are free, -1 where the slots say nothing
        self.balls = np.flatnonzero(self.type == int(JointType.BALL))
        self.distances = np.flatnonzero((self.type == int(JointType.DISTANCE)) & self.enabled)
        for j in range(self.count):
            if self.enabled[j]:
                self._read(j, read)
        self._welds, self._hinges = (np.flatnonzero(self.angles == k) for k in (0, 1))
        self._eulers = np.flatnonzero((self.angles >= 2) & (self.type != int(JointType.BALL)))
        self.hold_nothing = not (self.angles >= 0).any() and not len(self.distances)

    def _read(self, j: int, read: dict[str, Array]) -> None:
        kind, name = JointType(self.type[j]), self.label[j]
        if read["mimic_joint"][j] >= 0:
            raise ValueError(f"carom.newton: {name}: expected a joint that moves by itself, got one that mimics another")
        if kind == JointType.ROD:
            raise ValueError(f"carom.newton: {name}: expected a prismatic, revolute, ball, fixed, free, distance or D6 joint, "
                             "got a rod")
        if kind in (JointType.FREE, JointType.DISTANCE):
            return
        along, about = (int(k) for k in read["dof_dim"][j])
        start, first = int(read["qd_start"][j]), int(read["q_start"][j])
        axes = read["axis"][start:start + along + about].astype(float)
        self.linear[j] = completed(axes[:along], name)
        self.angular[j] = np.eye(3) if about == 0 else completed(axes[along:], name)
        if about == 3:
            self.angular[j] = axes[along:]  # may be left-handed
        self.angles[j] = about
        self.locked[j, along:3] = True
        self.locked[j, 3 + about:] = True
        slots = [*range(along), *range(3, 3 + about)]
        self.dof[j, slots] = start + np.arange(len(slots))
        if kind != JointType.BALL:
            self.coordinate[j, slots] = first + np.arange(len(slots))

    def pose(self, position: Array, turn: Array) -> Pose:
        """The joints at poses of the bodies, position (bodies + 1, 3) and turn (bodies + 1, 4), the world's last."""
        if self.hold_nothing:
            return Pose(*(np.zeros((self.count, *shape)) for shape in ((6,), (6, 3), (3,), (3,))))
        x_p, q_p = moved(position[self.parent], turn[self.parent], self.parent_frame)
        x_c, q_c = moved(position[self.child], turn[self.child], self.child_frame)
        to_world, apart = matrices(q_p), x_c - x_p
        value, direction = np.zeros((self.count, 6)), np.empty((self.count, 6, 3))
        direction[:, :3] = self.linear @ to_world.transpose(0, 2, 1)
        direction[:, 3:] = self.angular @ to_world.transpose(0, 2, 1)
        value[:, :3] = (direction[:, :3] @ apart[:, :, None])[..., 0]
        relative = multiply(conjugate(q_p), q_c)
        relative *= np.where(relative[:, 3:] < 0, -1.0, 1.0)
        self._weld(relative, value)
        self._hinge(relative, value)
        if len(self._eulers):
            self._euler(relative, to_world, value, direction)
        return Pose(value, direction, x_c, apart)

    def _weld(self, relative: Array, value: Array) -> None:
        """The rotation vector."""
        q = relative[self._welds]
        sine = np.linalg.norm(q[:, :3], axis=1, keepdims=True)
        angle = 2 * np.arctan2(sine, q[:, 3:])
        value[self._welds, 3:] = q[:, :3] * np.where(sine > 1e-9, angle / np.maximum(sine, 1e-9), 2.0)

    def _hinge(self, relative: Array, value: Array) -> None:
        """The angle about the axis, and by how much the child's axis leans."""
        q, axes = relative[self._hinges], self.angular[self._hinges]
        value[self._hinges, 3] = 2 * np.arctan2((q[:, :3] * axes[:, 0]).sum(1), q[:, 3])
        lean = cross(axes[:, 0], rotate(q, axes[:, 0]))
        value[self._hinges, 4:] = (axes[:, 1:] @ lean[:, :, None])[..., 0]

    def _euler(self, relative: Array, to_world: Array, value: Array, direction: Array) -> None:
        """Angles about two or three axes, each turned by those before it; with two, the middle angle is locked."""
        some, axes = self._eulers, self.angular[self._eulers]
        two = self.angles[some] == 2
        first = axes[:, 0]
        second = np.where(two[:, None], cross(first, axes[:, 1]), axes[:, 1])
        last = np.where(two[:, None], axes[:, 1], axes[:, 2])
        third = cross(first, second)
        hand = np.where((third * last).sum(1) < 0, -1.0, 1.0)
        basis = np.stack([first, second, third], axis=-1)
        m = basis.transpose(0, 2, 1) @ matrices(relative[some]) @ basis
        a, b = np.arctan2(-m[:, 1, 2], m[:, 2, 2]), np.arcsin(np.clip(m[:, 0, 2], -1, 1))
        c = hand * np.arctan2(-m[:, 0, 1], m[:, 0, 0])
        turned = np.zeros((len(some), 3, 3))  # the axes where they are, as rows
        turned[:, 0, 0] = 1
        turned[:, 1, 1], turned[:, 1, 2] = np.cos(a), np.sin(a)
        turned[:, 2] = hand[:, None] * np.stack([np.sin(b), -np.sin(a) * np.cos(b), np.cos(a) * np.cos(b)], axis=1)
        turned = turned @ basis.transpose(0, 2, 1)
        one, other, rest = turned[:, 0], turned[:, 1], turned[:, 2]
        volume = (one * cross(other, rest)).sum(1)
        volume = np.where(volume < 0, -1, 1) * np.maximum(np.abs(volume), 1e-4)  # zero in a gimbal lock
        dual = np.stack([cross(other, rest), cross(rest, one), cross(one, other)], axis=1) / volume[:, None, None]
        angles = np.stack([a, b, c], axis=1)
        order = np.where(two[:, None], [0, 2, 1], [0, 1, 2])
        value[some, 3:] = np.take_along_axis(angles, order, axis=1)
        direction[some, 3:] = np.take_along_axis(dual, order[:, :, None], axis=1) @ to_world[some].transpose(0, 2, 1)
