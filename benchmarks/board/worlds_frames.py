# SPDX-License-Identifier: BSD-3-Clause
"""Turns that bring one direction onto another, as planes of engines need them."""

import math

from worlds import dot, turned


def onto(start, end):
    """A quaternion (w, x, y, z) that turns one unit vector onto another."""
    axis = (start[1] * end[2] - start[2] * end[1], start[2] * end[0] - start[0] * end[2],
            start[0] * end[1] - start[1] * end[0])
    sine = math.sqrt(dot(axis, axis))
    if sine < 1e-15:
        if dot(start, end) > 0:
            return (1.0, 0.0, 0.0, 0.0)
        least = min(range(3), key=lambda i: abs(start[i]))
        other = [float(i == least) for i in range(3)]
        axis = (start[1] * other[2] - start[2] * other[1], start[2] * other[0] - start[0] * other[2],
                start[0] * other[1] - start[1] * other[0])
        length = math.sqrt(dot(axis, axis))
        return (0.0, *(part / length for part in axis))
    return turned(tuple(part / sine for part in axis), math.atan2(sine, dot(start, end)))
