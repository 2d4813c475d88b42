# SPDX-License-Identifier: BSD-3-Clause
"""What tests of scenes share: the cases with their truths, and small steps of Coulomb's law."""
import math
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "benchmarks" / "board"))

import scene_list  # noqa: E402
from worlds import dot  # noqa: E402

CHECKED = set()  #: names of scenes whose truths were asked for


def truths(name):
    CHECKED.add(name)
    scene = scene_list.find(name)
    return [(case, scene.truth(case), scene.world(case)) for case in scene.cases]


def block(weight, mu, speed, seconds, push=0.0, step=1e-5):
    """(speed, way) of a point of mass 1 in one dimension, pushed by `push` and pressed by `weight`, by small steps."""
    way = 0.0
    for _ in range(round(seconds / step)):
        free = speed + step * push
        speed = math.copysign(max(0.0, abs(free) - step * mu * weight), free)
        way += step * speed
    return speed, way


def ball(pull, weight, mu, speed, surface, seconds, step=1e-5):
    """(speed, way) of a ball of mass 1; `surface` is r times its spin, positive where it rolls forwards."""
    way = 0.0
    for _ in range(round(seconds / step)):
        speed += step * pull
        slip = speed - surface
        force = max(-mu * weight * step, min(mu * weight * step, slip / 3.5))  # slip is 3.5 times what an impulse changes
        speed, surface = speed - force, surface + 2.5 * force
        way += step * speed
    return speed, way


def holds(points, normals, weight, mu, about):
    """Whether two forces in their friction cones, in a plane, carry a weight: by a search over the first one's direction
    and the torque balance about the second's point."""
    for k in range(-2000, 2001):
        slope = mu * k / 2000
        tangent = (-normals[0][1], normals[0][0])
        way = (normals[0][0] + slope * tangent[0], normals[0][1] + slope * tangent[1])
        arm = (points[0][0] - points[1][0], points[0][1] - points[1][1])
        turning = arm[0] * way[1] - arm[1] * way[0]
        load = (about[0] - points[1][0]) * weight
        if abs(turning) < 1e-9 or load / turning < 0:
            continue
        first = (way[0] * load / turning, way[1] * load / turning)
        second = (-first[0], weight - first[1])
        press = dot(second, normals[1])
        if press >= 0 and math.sqrt(max(0.0, dot(second, second) - press**2)) <= mu * press:
            return True
    return False
