# SPDX-License-Identifier: BSD-3-Clause
"""A bundled text problem (docs/file_formats.md) as the convex problem in impulses: minimise g' (W + R) g / 2 + g' (J v* - b)
over the friction cones. Also the one residual by which every solver's impulses are measured."""

import dataclasses
import math
import pathlib

import numpy as np


@dataclasses.dataclass
class Problem:
    delassus: np.ndarray  #: W = J A⁻¹ Jᵀ, (3m, 3m) [1/kg]
    compliance: np.ndarray  #: R, (3m,) [1/kg]
    bias: np.ndarray  #: J v* - v̂, (3m,) [m/s]
    friction: np.ndarray  #: (m,)


class Words:
    def __init__(self, path):
        self.words, self.at = pathlib.Path(path).read_text(encoding="utf-8").split(), 0

    def take(self, expected=None):
        word = self.words[self.at]
        if expected and word != expected:
            raise ValueError(f"word {self.at}: expected {expected}, got {word}")
        self.at += 1
        return word

    def whole(self):
        return int(self.take())

    def numbers(self, count):
        self.at += count
        return np.array(self.words[self.at - count:self.at], float)


def read(path):
    words = Words(path)
    words.take("carom-problem")
    if words.take() != "1":
        raise ValueError("expected version 1, which has contacts alone")
    words.take("time_step")
    step = float(words.take())
    words.take("bodies")
    inverse, free, starts = [], [], [0]
    for _ in range(words.whole()):
        words.take("body")
        n = words.whole()
        inverse.append(np.linalg.inv(words.numbers(n * n).reshape(n, n)))
        free.append(words.numbers(n))
        words.numbers(n)  # the first guess
        starts.append(starts[-1] + n)
    words.take("contacts")
    laws, sides = [], []
    for _ in range(words.whole()):
        words.take("contact")
        kind, count = words.take(), words.whole()
        bodies = [words.whole() for _ in range(count)]
        laws.append((kind, words.numbers(6)))
        sides.append([(b, words.numbers(3 * free[b].size).reshape(3, -1)) for b in bodies])
    m = len(laws)
    jacobian, mass = np.zeros((3 * m, starts[-1])), np.zeros((starts[-1], starts[-1]))
    for b, block in enumerate(inverse):
        mass[starts[b]:starts[b + 1], starts[b]:starts[b + 1]] = block
    for i, side in enumerate(sides):
        for b, rows in side:
            jacobian[3 * i:3 * i + 3, starts[b]:starts[b + 1]] += rows
    compliance, wanted, friction = np.zeros(3 * m), np.zeros(3 * m), np.zeros(m)
    for i, (kind, numbers) in enumerate(laws):
        rows = slice(3 * i, 3 * i + 3)
        if kind != "compliant":
            friction[i], soft, stiff = numbers[:3]
            compliance[rows], wanted[rows] = (soft, soft, stiff), numbers[3:]
            continue
        gap, stiffness, dissipation, friction[i], beta, sigma = numbers
        weight = estimate(sides[i], inverse)
        stiff = max(beta**2 / (4 * math.pi**2) * weight, 1 / (step * stiffness * (step + dissipation)))
        compliance[rows] = (sigma * weight, sigma * weight, stiff)
        wanted[3 * i + 2] = -gap / (step + dissipation)
    delassus = jacobian @ mass @ jacobian.T
    return Problem((delassus + delassus.T) / 2, compliance, jacobian @ np.concatenate(free) - wanted, friction)


def estimate(sides, inverse):
    """w = |J diag(A)⁻¹ Jᵀ| / 3, of the masses' diagonals."""
    total = np.zeros((3, 3))
    for b, rows in sides:
        total += rows / np.diag(np.linalg.inv(inverse[b])) @ rows.T
    return float(np.linalg.norm(total)) / 3


def projected(points, friction):
    """Nearest points of the circular cones, (m, 3)."""
    side, normal = np.hypot(points[:, 0], points[:, 1]), points[:, 2]
    inside, polar = side <= friction * normal, friction * side <= -normal
    height = np.maximum(0.0, (friction * side + normal) / (1 + friction**2))
    share = np.divide(friction * height, side, out=np.zeros_like(side), where=side > 0)
    onto = np.column_stack([points[:, 0] * share, points[:, 1] * share, height])
    return np.where(inside[:, None], points, np.where(polar[:, None], 0.0, onto))


def residual(problem, impulse):
    """|g - P(g - u / w)| / |g| with u = (W + R) g + J v* - b and w the mean diagonal of a contact's W + R: relative distance
    to a fixed point of the law, 0 at the solution alone. Infinite where a number is not finite."""
    if impulse.shape != problem.bias.shape or not np.isfinite(impulse).all():
        return math.inf
    u = problem.delassus @ impulse + problem.compliance * impulse + problem.bias
    weight = (np.diag(problem.delassus) + problem.compliance).reshape(-1, 3).mean(axis=1, keepdims=True)
    points = impulse.reshape(-1, 3) - u.reshape(-1, 3) / weight
    moved = impulse.reshape(-1, 3) - projected(points, problem.friction)
    size = np.linalg.norm(impulse)
    return float(np.linalg.norm(moved) / size) if size > 0 else float(np.linalg.norm(moved))
