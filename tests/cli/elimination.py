# SPDX-License-Identifier: BSD-3-Clause
"""Dot product and linear equations in plain Python, in whatever numbers come: floats or fractions."""


def dot(a, b):
    return sum(x * y for x, y in zip(a, b))


def solve_spd(matrix, right):
    """x with A x = b, A symmetric positive definite, by elimination."""
    size = len(right)
    rows = [list(row) + [entry] for row, entry in zip(matrix, right)]
    for k in range(size):
        for r in range(k + 1, size):
            factor = rows[r][k] / rows[k][k]
            for c in range(k, size + 1):
                rows[r][c] -= factor * rows[k][c]
    x = [None] * size
    for k in reversed(range(size)):
        x[k] = (rows[k][size] - dot(rows[k][k + 1:size], x[k + 1:])) / rows[k][k]
    return x
