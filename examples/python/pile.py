# SPDX-License-Identifier: BSD-3-Clause
# %% [markdown]
# # Thirty boxes fall into a pile
#
# carom finds no collisions: this script does, for boxes, by separating axes and clipped faces, and carom computes
# what the contacts do. They are rigid, with Coulomb's friction. `python3 pile.py pile.svg` also draws the energy.

# %%
import sys

import numpy as np

import carom

TIME_STEP = 0.005  # [s]
GRAVITY = 9.81  # [m/s^2]
STEPS = 600
FRICTION = 0.5
DENSITY = 500.0  # [kg/m^3]
MARGIN = 0.04  # [m]; what is nearer than this may touch within a step: nothing closes faster than 8 m/s

# %% [markdown]
# The boxes: half sides, places, turns from the box to the world, and velocities (linear, then spin) in the world.
# They start in layers of nine, turned at random, above the ground z = 0.


# %%
class Boxes:
    """Boxes in motion; row i is box i.

    half: (n, 3) half sides [m]; position: (n, 3) [m]; turn: (n, 3, 3); velocity: (n, 6) [m/s, rad/s].
    """

    def __init__(self, half, position, turn):
        self.half, self.position, self.turn = half, position, turn
        self.velocity = np.zeros((len(half), 6))
        self.mass = 8 * DENSITY * half.prod(axis=1)
        squares = half**2
        self.moments = self.mass[:, None] / 3 * (squares.sum(axis=1, keepdims=True) - squares)

    def energy(self):
        """Kinetic and potential energy of all boxes [J]."""
        spin = np.einsum("nji,nj->ni", self.turn, self.velocity[:, 3:])
        kinetic = 0.5 * (self.mass @ (self.velocity[:, :3] ** 2).sum(axis=1) + (self.moments * spin**2).sum())
        return kinetic + GRAVITY * self.mass @ self.position[:, 2]


def rotation(angle):
    """The turns about vectors (n, 3) by their lengths [rad], by Rodrigues' formula."""
    size = np.linalg.norm(angle, axis=1)[:, None, None]
    x, y, z = (angle / np.maximum(size[:, 0], 1e-300)).T
    cross = np.array([[0 * x, -z, y], [z, 0 * x, -x], [-y, x, 0 * x]]).transpose(2, 0, 1)
    return np.eye(3) + np.sin(size) * cross + (1 - np.cos(size)) * cross @ cross


def make_pile(count=30, seed=1):
    """Boxes with sides from 0.12 to 0.2 m, nine in a layer, turned at random."""
    rng = np.random.default_rng(seed)
    k = np.arange(count)
    position = 0.36 * np.stack([k % 3 - 1, k // 3 % 3 - 1, k // 9 + 0.6], axis=1)
    return Boxes(rng.uniform(0.06, 0.1, (count, 3)), position, rotation(rng.normal(size=(count, 3))))


# %% [markdown]
# Two boxes are apart if their shadows on one of 15 axes are: the normals of the faces of both, and the cross
# products of their edges. The axis of the widest gap, or of the least overlap, is the normal of their contacts.


# %%
def gaps_by_axis(boxes, a, b):
    """Of pairs of boxes (a, b): the gaps (pairs, 15) along all axes [m], and the axes (pairs, 15, 3), from b to a."""
    axes_a, axes_b = boxes.turn[a].transpose(0, 2, 1), boxes.turn[b].transpose(0, 2, 1)
    edges = np.cross(axes_a[:, :, None], axes_b[:, None]).reshape(-1, 9, 3)
    size = np.linalg.norm(edges, axis=2, keepdims=True)
    axes = np.concatenate([axes_a, axes_b, edges / np.maximum(size, 1e-9)], axis=1)
    apart = np.einsum("pki,pi->pk", axes, boxes.position[a] - boxes.position[b])
    axes *= np.where(apart < 0, -1.0, 1.0)[:, :, None]  # from b to a
    reach = sum(np.abs(np.einsum("pki,pji->pkj", axes, side)) @ half[:, :, None]
                for side, half in ((axes_a, boxes.half[a]), (axes_b, boxes.half[b])))
    gaps = np.abs(apart) - reach[:, :, 0]
    gaps[:, 6:][size[:, :, 0] < 1e-3] = -np.inf  # edges side by side have no normal
    return gaps, axes


def clip(points, axis, limit):
    """A polygon's part with points @ axis <= limit."""
    room = limit - points @ axis
    if room.min(initial=0) >= 0:
        return points
    kept = []
    for k, point in enumerate(points):
        if (room[k - 1] >= 0) != (room[k] >= 0):  # the side from the point before crosses the limit
            kept.append(point + room[k] / (room[k] - room[k - 1]) * (points[k - 1] - point))
        if room[k] >= 0:
            kept.append(point)
    return np.array(kept).reshape(-1, 3)


def face_contacts(boxes, flat, other, normal):
    """Points of `other` over a face of `flat` with the outward normal, and their heights over it."""
    axes, half, middle = boxes.turn[flat].T, boxes.half[flat], boxes.position[flat]
    k = np.argmax(np.abs(axes @ normal))
    facing = boxes.turn[other].T @ normal
    j = np.argmax(np.abs(facing))
    arms = boxes.turn[other].T * boxes.half[other][:, None]
    u, v = arms[(j + 1) % 3], arms[(j + 2) % 3]
    face = boxes.position[other] - np.sign(facing[j]) * arms[j]
    points = np.array([face + u + v, face - u + v, face - u - v, face + u - v])
    for side in ((k + 1) % 3, (k + 2) % 3):
        for axis in (axes[side], -axes[side]):
            points = clip(points, axis, half[side] + middle @ axis)
    return points, (points - middle) @ normal - half[k]


def edge_contact(boxes, a, b, i, j, normal):
    """The point halfway between edge direction i of a and j of b, where they are nearest."""
    arms_a, arms_b = boxes.turn[a].T * boxes.half[a][:, None], boxes.turn[b].T * boxes.half[b][:, None]
    ends = [boxes.position[box] - sign * sum(np.sign(arms[m] @ normal) * arms[m] for m in range(3) if m != skip)
            for box, arms, skip, sign in ((a, arms_a, i, 1), (b, arms_b, j, -1))]
    along = np.stack([arms_a[i], -arms_b[j]], axis=1)
    s, t = np.linalg.lstsq(along, ends[1] - ends[0], rcond=None)[0]
    return (ends[0] + s * arms_a[i] + ends[1] + t * arms_b[j]) / 2


def find_contacts(boxes):
    """(first, other or -1 for the ground, point, normal from other to first, gap) of all points that may touch."""
    found = []
    signs = np.array(np.meshgrid([-1, 1], [-1, 1], [-1, 1])).reshape(3, 8).T
    corners = boxes.position[:, None] + np.einsum("nij,nkj->nki", boxes.turn, signs * boxes.half[:, None])
    for i, k in np.argwhere(corners[:, :, 2] < MARGIN):
        found.append((i, -1, corners[i, k] * [1, 1, 0.5], [0, 0, 1], corners[i, k, 2]))
    a, b = np.triu_indices(len(boxes.half), 1)
    radius = np.linalg.norm(boxes.half, axis=1)
    near = np.linalg.norm(boxes.position[a] - boxes.position[b], axis=1) < radius[a] + radius[b] + MARGIN
    a, b = a[near], b[near]
    gaps, axes = gaps_by_axis(boxes, a, b)
    for pair in np.flatnonzero(gaps.max(axis=1, initial=-np.inf) < MARGIN):
        first, other = a[pair], b[pair]
        face, edge = np.argmax(gaps[pair, :6]), 6 + np.argmax(gaps[pair, 6:])
        if gaps[pair, edge] > gaps[pair, face] + 1e-3:
            normal = axes[pair, edge]
            point = edge_contact(boxes, first, other, *divmod(edge - 6, 3), normal)
            found.append((first, other, point, normal, gaps[pair, edge]))
        normal = axes[pair, face]
        points, heights = face_contacts(boxes, *((first, other, -normal) if face < 3 else (other, first, normal)))
        for point, height in zip(points, heights):
            if height < MARGIN:
                found.append((first, other, point, normal, height))
    return found


# %% [markdown]
# The step. Between contacts a box falls and spins by Euler's equations, taken at the end of the step, where they never
# gain energy. A gap may close within the step and no more. An overlap, which the turn of a box may leave as contacts
# are straight within a step, counts as closed: pushing it out would lift the pile. So every part of the step keeps
# energy or takes some, and what is left is tolerance.


# %%
def free_velocity(boxes):
    """Velocities (n, 6) after a step without contact."""
    start = np.einsum("nji,nj->ni", boxes.turn, boxes.velocity[:, 3:])  # along the axes of the box
    spin, moments = start, boxes.moments
    for _ in range(4):  # Newton's method for moments * (spin - start) + TIME_STEP * spin x momentum = 0
        momentum = moments * spin
        error = momentum - moments * start + TIME_STEP * np.cross(spin, momentum)
        columns = [moments * unit + TIME_STEP * (np.cross(unit, momentum) + np.cross(spin, moments * unit)) for unit in np.eye(3)]
        spin = spin - np.linalg.solve(np.stack(columns, axis=2), error[:, :, None])[:, :, 0]
    fall = boxes.velocity[:, :3] - [0, 0, TIME_STEP * GRAVITY]
    return np.hstack([fall, np.einsum("nij,nj->ni", boxes.turn, spin)])


def step(boxes, solver):
    """Advances by a step; returns carom's solution and the contacts, in its order."""
    contacts = find_contacts(boxes)
    problem = carom.ContactProblem(TIME_STEP)
    problem.add_rigid_bodies(boxes.mass, boxes.moments, free_velocity(boxes), boxes.position, rotation=boxes.turn)
    if contacts:
        first, other, point, normal, gap = map(np.array, zip(*contacts))
        problem.add_contacts(first, friction=FRICTION, gap=np.maximum(gap, 0), other=other, point=point, normal=normal)
    solution = solver.solve(problem)
    boxes.velocity = solution.velocity.reshape(-1, 6)
    boxes.position = boxes.position + TIME_STEP * boxes.velocity[:, :3]
    boxes.turn = rotation(TIME_STEP * boxes.velocity[:, 3:]) @ boxes.turn
    return solution, contacts


def carried(solution, contacts):
    """What the ground carries in a step [N]."""
    return sum(solution.impulse[k][2] for k, (_, other, *_) in enumerate(contacts) if other < 0) / TIME_STEP


# %% [markdown]
# Three seconds. At their end the ground carries the weight of all.


# %%
def main(picture=None):
    boxes, solver = make_pile(), carom.Solver()
    energies, deepest = [boxes.energy()], 0.0
    for _ in range(STEPS):
        solution, contacts = step(boxes, solver)
        energies.append(boxes.energy())
        deepest = max([deepest, *(-gap for *_, gap in contacts)])
    weight = GRAVITY * boxes.mass.sum()
    print(f"energy {energies[0]:.1f} J -> {energies[-1]:.1f} J, most gained in a step {np.diff(energies).max():.0e} J")
    print(f"fastest at the end {np.abs(boxes.velocity).max():.0e} m/s or rad/s, deepest overlap {1e3 * deepest:.1f} mm")
    print(f"the ground carries {carried(solution, contacts):.4f} N (true: {weight:.4f} N)")
    if picture:
        import matplotlib.pyplot as plt

        axes = plt.subplots()[1]
        axes.plot(TIME_STEP * np.arange(STEPS + 1), energies)
        axes.set(xlabel="time [s]", ylabel="energy [J]", title="Thirty boxes fall into a pile")
        plt.savefig(picture)
    return boxes, np.array(energies), deepest, solution, contacts


if __name__ == "__main__":
    main(next((name for name in sys.argv[1:] if name.endswith((".svg", ".png", ".pdf"))), None))
