# SPDX-License-Identifier: BSD-3-Clause
"""Second ways to the truths of gradients, of masonry and of Painlevé's rod; scenes_test.py runs them with the others."""
import itertools
import math
import unittest

from truths import ball, block, holds, scene_list, truths
from worlds import GRAVITY, rotated

SHARE, STEP = 0.01, 1e-4


def corner(body, x, z):
    """A corner in the plane of x and z, by signs."""
    arm = rotated(body.orientation, (x * body.size[0], 0, z * body.size[2]))
    return (body.position[0] + arm[0], body.position[2] + arm[2])


def corners(body):
    return [corner(body, x, z) for x in (-1, 1) for z in (-1, 1)]


def minus(a, b):
    return (a[0] - b[0], a[1] - b[1])


def cross(a, b):
    return a[0] * b[1] - a[1] * b[0]


def dot2(a, b):
    return a[0] * b[0] + a[1] * b[1]


def solved(matrix, right):
    """x of a small linear system, by elimination."""
    rows = [[*row, value] for row, value in zip(matrix, right)]
    for k in range(len(rows)):
        best = max(range(k, len(rows)), key=lambda i: abs(rows[i][k]))
        rows[k], rows[best] = rows[best], rows[k]
        for i in range(len(rows)):
            if i != k:
                factor = rows[i][k] / rows[k][k]
                rows[i] = [a - factor * b for a, b in zip(rows[i], rows[k])]
    return [row[-1] / row[k] for k, row in enumerate(rows)]


class Gradients(unittest.TestCase):
    """Differences of outcomes that small steps of Coulomb's law give."""

    def shares(self, name, outcome):
        scene = scene_list.find(name)
        for case, truth, world in truths(name):
            high, low = (outcome(scene.world(case, share)) for share in (SHARE, -SHARE))
            self.assertLess(abs((high - low) / (2 * SHARE * outcome(world)) - truth), 2e-3, (name, case))
            self.assertEqual(scene.world(case, 0.0), world)

    def test_driven(self):
        self.shares("gradient_driven", lambda w: block(GRAVITY, w.friction, w.bodies[0].velocity[0], 0.2,
                                                       w.bodies[0].force[0] / w.bodies[0].mass, STEP)[0])

    def test_stopped(self):
        self.shares("gradient_stopped", lambda w: block(GRAVITY, w.friction, w.bodies[0].velocity[0], 0.6, step=STEP)[1])

    def test_kicked(self):
        self.shares("gradient_kicked", lambda w: ball(0, GRAVITY, w.friction, w.bodies[0].velocity[0], 0.0, 0.5, STEP)[1])

    def impacts(self, world):
        """(speeds of two balls on a line with a wall at their left, if it is there, number of impacts)."""
        (a, b), (m, n), count = (body.velocity[0] for body in world.bodies), (body.mass for body in world.bodies), 0
        while a > b or (world.planes and a < 0):
            count += 1
            if a > b:
                push = (1 + world.restitution) * (a - b) * m * n / (m + n)
                a, b = a - push / m, b + push / n
            else:
                a = -a
        return a, b, count

    def test_impacts(self):
        for name in ("gradient_met", "gradient_counted"):
            scene = scene_list.find(name)
            for case, truth, world in truths(name):
                ends = []
                for share in (1e-5, -1e-5, 0.0):
                    a, b, count = self.impacts(scene.world(case, share))
                    self.assertEqual(count, 1 if name == "gradient_met" else 14)
                    ends.append(scene.answer(case, [(0.0, None, None, [[a], [b]])]))
                self.assertAlmostEqual(ends[2], 1.0)
                self.assertAlmostEqual((ends[0] - ends[1]) / 2e-5, truth, 6)
            self.assertEqual(self.impacts(scene.world("mass", SHARE))[2], count)  # differences cross no other sequence

    def test_one_is_the_exact_outcome(self):
        for name in ("gradient_driven", "gradient_stopped", "gradient_kicked"):
            scene = scene_list.find(name)
            world = scene.world("mass")
            mu, body = world.friction, world.bodies[0]
            seconds = world.time_step * world.step_count
            speed, way = block(GRAVITY, mu, body.velocity[0], seconds, body.force[0] / body.mass, STEP) if body.shape == "box" else \
                ball(0, GRAVITY, mu, body.velocity[0], 0.0, seconds, STEP)
            end = (seconds, [[way, 0, 0]], None, [[speed, 0, 0]], None)
            self.assertLess(abs(scene.answer("mass", [(0.0, [[0.0] * 3]), end]) - 1), 1e-3, name)


class Bend(unittest.TestCase):
    """The largest push that some forces in the cones balance, block by block, with the moments."""

    def held(self, world, slopes):
        """The push that full friction of the facets holds, from the last block to the first, or None where a facet would
        have to pull or to press outside of its block. `slopes` are tangents by normals of the forces between blocks."""
        mu, blocks = world.friction, world.bodies
        hold = math.hypot(blocks[-1].force[0], blocks[-1].force[2])
        ahead = None  # the force of the next block and its point
        for k in range(len(blocks) - 1, -1, -1):
            normal = (world.planes[k].normal[0], world.planes[k].normal[2])
            along = (normal[1], -normal[0])
            middle = (blocks[k].position[0], blocks[k].position[2])
            given = [(ahead or ((-hold * along[0], -hold * along[1]), middle))]
            rear = corner(blocks[k - 1], 1, 1) if k else middle
            way = (along[0] - slopes[k] * normal[0], along[1] - slopes[k] * normal[1]) if k else along
            if k:
                self.assertLess(abs(dot2(minus(rear, corner(blocks[k], -1, -1)), along)), 1e-12)  # on the rear face
                self.assertLess(dot2(minus(rear, corner(blocks[k], -1, 1)), normal), 0)
            # Unknown: push of the block behind, pressure of the facet N with friction mu N backwards.
            force = given[0][0]
            push, press = solved([[dot2(way, along), -mu], [dot2(way, normal), 1]],
                                 [-dot2(force, along), -dot2(force, normal)])
            if push < 0 or press < 0:
                return None
            foot = corner(blocks[k], 0, -1)
            moment = sum(cross(minus(point, foot), f) for f, point in
                         [(force, given[0][1]), ((push * way[0], push * way[1]), rear)])
            # A force at foot + x along, N normal - mu N along, turns by x N.
            if abs(moment) > press * blocks[k].size[0]:
                return None
            ahead = ((-push * way[0], -push * way[1]), rear)
        return push

    def test_bend(self):
        for case, truth, world in truths("bend"):
            first = math.hypot(world.bodies[0].force[0], world.bodies[0].force[2])
            grid = [world.friction * k / 4 for k in range(-4, 5)]
            pushes = [self.held(world, (0, *slopes)) for slopes in itertools.product(grid, repeat=3)]
            most = max(push for push in pushes if push is not None)
            self.assertAlmostEqual(first / most, case)
            self.assertEqual(truth, 1.0 if first > most else 0.0)


class Cards(unittest.TestCase):
    def test_two(self):
        for case, truth, world in truths("card_house"):
            if case[0] == "two":
                need = self.needed(*world.bodies)
                self.assertAlmostEqual(world.friction / need, case[1])
                self.assertEqual(truth, 0.0 if world.friction >= need else 1.0)

    def needed(self, first, second):
        """Largest tangent by normal of the three forces; six balances give them."""
        feet = [min(corners(card), key=lambda p: p[1]) for card in (first, second)]
        top = corner(second, -1, 1)
        along = minus(corner(first, 1, 1), corner(first, 1, -1))
        along = (along[0] / math.hypot(*along), along[1] / math.hypot(*along))
        inner = (-along[1], along[0])  # into the first card
        self.assertLess(abs(dot2(minus(top, corner(first, 1, -1)), inner)), 1e-12)
        self.assertLess(max(abs(foot[1]) for foot in feet), 1e-12)
        rows, right = [], []
        for card, foot, sign, at in ((first, feet[0], 1, 0), (second, feet[1], -1, 2)):
            middle = (card.position[0], card.position[2])
            own, other = minus(foot, middle), minus(top, middle)
            for row, value in (([1, 0], 0.0), ([0, 1], card.mass * GRAVITY), ([-own[1], own[0]], 0.0)):
                extra = [sign * part for part in ([1, 0] if row == [1, 0] else [0, 1] if row == [0, 1] else [-other[1], other[0]])]
                rows.append([*([0, 0] * (at // 2)), *row, *([0, 0] * (1 - at // 2)), *extra])
                right.append(value)
        a, b, c, d, e, f = solved(rows, right)
        self.assertGreater(min(b, d, dot2((e, f), inner)), 0)
        return max(abs(a) / b, abs(c) / d, abs(dot2((e, f), along)) / dot2((e, f), inner))

    def test_three(self):
        for case, truth, world in truths("card_house"):
            if case[0] != "three":
                continue
            card = world.bodies[1]
            wall, floor = min(corners(card)), min(corners(card), key=lambda p: p[1])
            self.assertAlmostEqual(wall[0], world.bodies[2].size[0])
            self.assertLess(wall[1], 2 * world.bodies[2].size[2])
            found = holds([wall, floor], [(1, 0), (0, 1)], card.mass * GRAVITY, world.friction, (card.position[0], 0))
            self.assertEqual(truth, 0.0 if found else 1.0, case)


class Masonry(unittest.TestCase):
    def test_arch(self):
        for case, truth, world in truths("flat_arch"):
            blocks, press = world.bodies[:4], -world.bodies[4].force[0]
            span = blocks[-1].position[0] + blocks[-1].size[0]
            lift = sum(b.mass * GRAVITY * (span - b.position[0]) for b in blocks) / span  # of the wall
            self.assertAlmostEqual(lift, 2 * GRAVITY)
            rises, shears = [], []
            for k in range(5):  # at joints: what is left of it turns about it
                x = 2 * blocks[0].size[0] * k
                moment = lift * x - sum(b.mass * GRAVITY * (x - b.position[0]) for b in blocks[:k])
                rises.append(moment / press)
                shears.append(abs(lift - k * GRAVITY))
            height = 2 * blocks[0].size[2]
            stands = max(rises) - min(rises) <= height and max(shears) <= world.friction * press
            self.assertEqual(truth, 0.0 if stands else 1.0, case)
            other = max(rises) - min(rises) <= height if case[0] == "slip" else max(shears) <= world.friction * press
            self.assertTrue(other, "only the limit that gives the case its name decides")

    def test_overhang(self):
        for case, truth, world in truths("overhang"):
            blocks = world.bodies
            out = [sum(b.position[0] for b in blocks[k:]) / len(blocks[k:]) - blocks[k - 1].position[0] - blocks[k - 1].size[0]
                   for k in range(1, 5)]
            self.assertEqual(truth, 1.0 if max(out) > 0 else 0.0)
            for low, high in zip(blocks, blocks[1:]):
                self.assertAlmostEqual(high.position[2] - high.size[2], low.position[2] + low.size[2])


class Wall(unittest.TestCase):
    def test_wall(self):
        """Each brick carries half of its load at each end, above the bricks below, so that all of it rests."""
        for _, truth, world in truths("wall_drift"):
            self.assertEqual(truth, 0.0)
            for brick in world.bodies:
                x, _, z = brick.position
                if z < 0.06:
                    continue
                below = [b.position[0] for b in world.bodies if abs(b.position[2] + 0.1 - z) < 1e-9 and abs(b.position[0] - x) < 0.2]
                self.assertEqual(len(below), 2)
                self.assertLess(abs(sum(below) / 2 - x), 1e-12)


class Rod(unittest.TestCase):
    def start(self, world):
        """(middle from the end, moment about the middle) of the rod."""
        body = world.bodies[0]
        end = min(corners(body), key=lambda p: p[1])
        self.assertLess(abs(end[0]) + abs(end[1]), 1e-12)
        return (body.position[0], body.position[2]), body.inertia()[1]

    def test_jam(self):
        """Routh's way: small parts of the normal impulse, with full friction against the slip, until the end comes to rest."""
        for case, truth, world in truths("painleve_jam"):
            (x, z), inertia = self.start(world)
            u, w, spin, part = world.bodies[0].velocity[0], 0.0, 0.0, 1e-4
            for _ in range(200000):
                slip, rise = u - spin * z, w + spin * x  # of the end, spin turns z to x
                if slip <= 1e-3 and rise >= 0:
                    break
                drag = case if slip > 1e-3 else self.sticking(x, z, inertia)
                u, w = u - drag * part, w + part
                spin += part * (drag * z + x) / inertia
            self.assertLess(abs(spin - truth), 2e-3 * truth, case)

    def sticking(self, x, z, inertia):
        """Friction by normal force that leaves the slip of the end as it is."""
        return -x * z / inertia / (1 + z * z / inertia)

    def test_slides(self):
        for case, truth, world in truths("painleve_slides"):
            (x, z), inertia = self.start(world)
            u, w, spin, step = world.bodies[0].velocity[0], 0.0, 0.0, 1e-5
            for _ in range(round(world.time_step * world.step_count / step)):
                w -= step * GRAVITY
                push = -(w + spin * x) / (1 + (x + case * z) * x / inertia)
                self.assertGreater(push, 0)
                u, w, spin = u - case * push, w + push, spin + push * (x + case * z) / inertia
                x, z = x + step * spin * z, z - step * spin * x
            self.assertLess(abs(u - truth), 1e-3, case)
