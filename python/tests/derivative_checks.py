# SPDX-License-Identifier: BSD-3-Clause
"""What the tests of the torch and jax layers share: problems, and differences of solves.

Every number of a problem is written as x = x0 + scale * p with p of order one, so that one step of
a difference suits them all. Matrices of a mass move by their symmetric part, and the two tangential
numbers of a regularization move together, as the problem asks for.
"""
import functools

import numpy as np

import carom
from carom._core import numbers_of
from conftest import DATA, build, random_numbers

FIELDS = ["free_velocity", "friction", "regularization", "bias", "mass", "jacobian", "other_jacobian"]


@functools.cache
def bundled_problems():
    """The text problems of the repository with fewer than 100 contacts, by name."""
    paths = sorted([*DATA.glob("*.txt"), *(DATA / "constraints").glob("*.txt")])
    problems = {path.stem: carom.read(path) for path in paths}
    return {name: problem for name, problem in problems.items() if problem.contact_count < 100}


def random_problem():
    """Two bodies and three contacts that are made of physical numbers, and these numbers."""
    numbers = random_numbers(3)
    names = ["free_velocity", "friction", "gap", "stiffness", "dissipation_time", "mass", "jacobian", "other_jacobian"]
    return build(numbers), {name: numbers[name] for name in names}


class Moved:
    """One field of a problem as a function of p: (count, size) -> the arguments of Batch.like."""

    def __init__(self, numbers, field, velocity_scale=1.0):
        self.field = field
        value = numbers[field]
        self.is_list = isinstance(value, list)
        self.arrays = [a for a in value if a is not None] if self.is_list else [value]
        self.places = [i for i, a in enumerate(value) if a is not None] if self.is_list else [0]
        self.length = len(value) if self.is_list else 1
        self.scales = [self._scale(a, velocity_scale) for a in self.arrays]
        self.size = 2 * len(value) if field == "regularization" else sum(a.size for a in self.arrays)

    def _scale(self, array, velocity_scale):
        if self.field == "mass":
            return np.full(array.shape, np.linalg.eigvalsh(array)[0])  # stays positive definite
        if self.field in ("regularization", "stiffness"):
            return array
        if self.field in ("bias", "free_velocity"):
            return np.full(array.shape, velocity_scale)
        return np.full(array.shape, np.abs(array).max() or 1.0)

    def _changes(self, p):
        """The change of every array, for p (..., size)."""
        if self.field == "regularization":
            pairs = p.reshape(*p.shape[:-1], -1, 2)
            yield pairs[..., [0, 0, 1]] * self.scales[0]
            return
        start = 0
        for array, scale in zip(self.arrays, self.scales):
            part = p[..., start : start + array.size].reshape(*p.shape[:-1], *array.shape)
            if self.field == "mass":
                part = (part + np.swapaxes(part, -1, -2)) / 2
            yield part * scale
            start += array.size

    def at(self, p):
        """The numbers at every row of p, one per problem of a batch."""
        moved = [array + change for array, change in zip(self.arrays, self._changes(p))]
        if not self.is_list:
            return {self.field: moved[0]}
        result = [None] * self.length
        for place, one in zip(self.places, moved):
            result[place] = one
        return {self.field: result}

    def gradient(self, by):
        """The gradient by p out of that by the numbers: arrays as the layers give them."""
        if self.field == "regularization":
            scaled = np.asarray(by) * self.scales[0]
            return np.stack([scaled[:, 0] + scaled[:, 1], scaled[:, 2]], axis=1).ravel()
        found = [by[place] for place in self.places] if self.is_list else [by]
        return np.concatenate([(np.asarray(g) * s).ravel() for g, s in zip(found, self.scales)])


def directions_of(size, seed=0):
    """Directions of p of length 1: all axes where there are few, else dense random ones."""
    if size <= 40:
        return np.eye(size)
    directions = np.random.default_rng(seed).normal(size=(8, size))
    return directions / np.linalg.norm(directions, axis=1, keepdims=True)


def difference(problem, moved, weights, options, step):
    """Slopes of <weights, (v, gamma)> along directions_of(): central differences, extrapolated twice.

    Their error is of the sixth order in the step. Also returns how far the last two extrapolations
    are apart, which is large where a difference reaches over a kink.
    """
    directions = directions_of(moved.size)
    count = len(directions)
    places = np.concatenate([factor * step * directions for factor in (4, -4, 2, -2, 1, -1)])
    batch = carom.Batch.like(problem, len(places), **moved.at(places))
    solution = carom.solve_batch(batch, **options)
    values = solution.velocity @ weights[0] + np.einsum("kcr,cr->k", solution.impulse, weights[1])
    values = values.reshape(3, 2, count)
    far, middle, near = (values[:, 0] - values[:, 1]) / (2 * step * np.array([[4], [2], [1]]))
    coarse, fine = (4 * middle - far) / 3, (4 * near - middle) / 3
    best = (16 * fine - coarse) / 15
    return best, np.abs(best - fine)


STEPS = (1e-2, 1e-3, 2e-4, 5e-5, 1e-5, 2e-6, 4e-7, 1e-7)


def slopes(problem, moved, weights, options):
    """The slope along each direction by the step that agrees best with itself, and the best step of all.

    Near a kink, or where numbers stop making sense, a large step is wrong; elsewhere a small one is,
    for rounding.
    """
    found = []
    for step in STEPS:
        try:
            found.append((step, *difference(problem, moved, weights, options, step)))
        except ValueError:  # such as a friction below zero
            continue
    values, spreads = np.array([f[1] for f in found]), np.array([f[2] for f in found])
    best = np.take_along_axis(values, spreads.argmin(axis=0)[None], axis=0)[0]
    return best, found[spreads.max(axis=1).argmin()][0]


def assert_gradients_are_slopes(problem, numbers, field, gradient, weights, options):
    """Checks a gradient to 1e-8 of its largest entry, or of one; returns the step that suits the field."""
    moved = Moved(numbers, field, scales_of(carom.solve(problem, **options))[0])
    exact = moved.gradient(gradient)
    found, step = slopes(problem, moved, weights, options)
    error = np.abs(directions_of(moved.size) @ exact - found)
    assert error.max() <= 1e-8 * max(1.0, np.abs(exact).max()), (field, error.max(), np.abs(exact).max())
    return step


def scales_of(solution):
    """Typical sizes of velocities and impulses, for weights of order one."""
    return max(np.abs(solution.velocity).max(), 1e-12), max(np.abs(solution.impulse).max(), 1e-12)


def random_weights(problem, solution, seed=0):
    rng = np.random.default_rng(seed)
    velocity, impulse = scales_of(solution)
    by_velocity = rng.normal(size=problem.velocity_count) / velocity
    return by_velocity, rng.normal(size=(problem.contact_count, 3)) / impulse
