#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""The truths of the board's scenes, each found a second way: small steps of Coulomb's law, a search for forces that hold, or
a rotation in the place of single impacts. Needs nothing but Python."""
import math
import sys
import unittest

sys.dont_write_bytecode = True
from limit_scenes import *  # noqa: E402, F403
from truths import CHECKED, ball, block, holds, scene_list, truths  # noqa: E402
from worlds import GRAVITY, dot, rotated, turned  # noqa: E402


class Sliding(unittest.TestCase):
    def near(self, value, truth, share=1e-4):
        self.assertLess(abs(value - truth), share * max(1.0, abs(truth)))

    def test_slopes_at_every_heading(self):
        for name in ("slope_sticks", "slope_slides"):
            for case, truth, world in truths(name):
                pull = math.hypot(*world.gravity[:2])
                self.near(math.hypot(pull, world.gravity[2]), GRAVITY)
                self.near(math.degrees(math.atan2(world.gravity[1], world.gravity[0])), case)
                speed, _ = block(-world.gravity[2], world.friction, 0.0, world.time_step * world.step_count, pull)
                self.near(speed, truth)

    def test_launched_and_thrown(self):
        for name in ("launched_cube", "thrown_uphill"):
            for _, truth, world in truths(name):
                start = math.hypot(*world.bodies[0].velocity)
                _, way = block(-world.gravity[2], world.friction, start, 1.0, -math.hypot(*world.gravity[:2]))
                self.near(way, truth)

    def test_pushed(self):
        for case, truth, world in truths("pushed_block"):
            push = math.hypot(*world.bodies[0].force) / world.bodies[0].mass
            self.near(push / (world.friction * GRAVITY), case[0])
            self.near(block(GRAVITY, world.friction, 0.0, 1.0, push)[0], truth)

    def test_wedge(self):
        for _, truth, world in truths("wedge"):
            # Normal forces of both planes carry the weight: N (n1 + n2) = (0, 0, w).
            lift = sum(plane.normal[2] for plane in world.planes)
            pressed = 2 * -world.gravity[2] / lift
            self.near(block(pressed, world.friction, 0.0, 0.5, world.gravity[0])[0], truth)

    def test_pulled(self):
        for case, truth, world in truths("pulled_block"):
            lower = upper = 0.0
            for _ in range(20000):
                hold = 0.4 * GRAVITY * 1e-5
                upper += hold if lower >= upper else -hold
                lower += 20 * 1e-5 - 3 * hold
            self.near(lower if case == "lower" else upper, truth)
            self.assertEqual(world.time_step * world.step_count, 0.2)


class Balls(unittest.TestCase):
    def near(self, value, truth, share=2e-4):
        self.assertLess(abs(value - truth), share * max(1.0, abs(truth)))

    def test_bowled(self):
        for case, truth, world in truths("bowled_ball"):
            body = world.bodies[0]
            start = math.hypot(*body.velocity[:2])
            surface = -math.hypot(*body.spin) * body.size[0]
            # Back spin about (way x up): the lowest point moves forwards faster than the middle.
            way = [part / start for part in body.velocity]
            self.assertGreaterEqual(dot((body.spin[1], -body.spin[0], 0), way) * -1, 0.0 if case[0] == "back" else -1e-9)
            self.near(ball(0, GRAVITY, world.friction, start, surface, 2.0)[0], truth)

    def test_downhill(self):
        for _, truth, world in truths("ball_downhill"):
            self.near(ball(world.gravity[0], -world.gravity[2], world.friction, 0, 0, 0.5)[0], truth)

    def test_groove(self):
        for _, truth, world in truths("ball_in_groove"):
            body = world.bodies[0]
            depth = body.size[0] * world.planes[0].normal[2]  # of the touching points below the middle
            # Energy: m g x sin a = (m + I / d^2) v^2 / 2 over x = v t / 2.
            mass = body.mass + body.inertia()[0] / depth**2
            speed = 0.0
            for _ in range(5000):
                speed += 1e-4 * body.mass * world.gravity[0] / mass
            self.near(speed, truth)

    def test_rolling_resistance(self):
        for _, truth, world in truths("rolling_resistance"):
            body, speed, way = world.bodies[0], 1.0, 0.0
            r, m, inertia = body.size[0], body.mass, body.inertia()[0]
            while speed > 0:  # torque about the touching point
                speed -= 1e-5 * world.rolling * m * GRAVITY * r / (inertia + m * r * r)
                way += 1e-5 * speed
            self.near(way, truth)
            self.assertAlmostEqual(body.spin[1] * r, body.velocity[0])

    def test_spin_and_bounce(self):
        for _, truth, world in truths("spinning_top"):
            self.assertEqual(truth, world.bodies[0].spin[2])
        for case, truth, world in truths("oblique_bounce"):
            if case[1] == "up":
                self.near(truth, -world.restitution * world.bodies[0].velocity[2])
                continue
            speed, surface, left = case[0], 0.0, 2.0 * (1 + world.restitution)
            for _ in range(100000):  # the normal impulse in small parts
                part = world.friction * left / 100000
                force = max(-part, min(part, (speed - surface) / 3.5))
                speed, surface = speed - force, surface + 2.5 * force
            self.near(speed, truth)


class Standing(unittest.TestCase):
    def test_card(self):
        for _, truth, world in truths("card"):
            body = world.bodies[0]
            corners = [rotated(body.orientation, (x * body.size[0], 0, z * body.size[2])) for x in (-1, 1) for z in (-1, 1)]
            places = [(body.position[0] + c[0], body.position[2] + c[2]) for c in corners]
            wall, floor = min(places), min(places, key=lambda p: p[1])
            self.assertLess(abs(wall[0]) + abs(floor[1]), 1e-12)
            found = holds([wall, floor], [(1, 0), (0, 1)], body.mass * GRAVITY, world.friction, (body.position[0], 0))
            self.assertEqual(truth, 0.0 if found else 1.0)

    def test_pinch(self):
        for case, truth, world in truths("pinch"):
            # Opposite forces along the line of the touching points; their angle to a normal.
            normal = world.planes[0].normal
            face = rotated(world.bodies[1].orientation, (-1, 0, 0))
            line = [-normal[i] + face[i] for i in range(3)]  # from one touching point to the other
            share = abs(dot(line, normal)) / math.sqrt(dot(line, line))
            self.assertEqual(truth, 0.0 if math.sqrt(1 - share**2) / share <= case else 1.0)

    def test_pyramid(self):
        for case, truth, world in truths("pyramid"):
            top, low = world.bodies[3].position, world.bodies[0].position
            line = [a - b for a, b in zip(top, low)]
            self.assertAlmostEqual(math.sqrt(dot(line, line)), 0.2)
            sine, cosine = math.hypot(*line[:2]) / 0.2, line[2] / 0.2
            # N and F of the upper contact from the weight of a third of the top and from F = that of the ground.
            weight = GRAVITY / 3
            force = weight * sine / (sine * sine + cosine * (1 + cosine))
            press = force * (1 + cosine) / sine
            self.assertAlmostEqual(press * cosine + force * sine, weight)
            self.assertEqual(truth, 0.0 if force / press <= case else 1.0)
            self.assertLess(force / (GRAVITY + weight), case)  # the ground holds

    def test_tall_block(self):
        for _, truth, world in truths("tall_block"):
            body, gravity = world.bodies[0], world.gravity
            lever = body.size[2] * gravity[0] + body.size[0] * gravity[2]  # about the lower edge
            self.assertEqual(truth, 1.0 if lever > 0 else 0.0)

    def test_gripper_and_stack(self):
        for _, truth, world in truths("gripper"):
            self.assertEqual(truth, 0.0)
            self.assertAlmostEqual(2 * 0.7 * 12 / (0.045 * GRAVITY), 38.06, 2)
        for case, truth, world in truths("stack"):
            self.assertEqual((truth, world.bodies[-1].mass), (0.0, case))


class Impacts(unittest.TestCase):
    def test_cradle_and_pair(self):
        for case, truth, world in truths("cradle"):
            speeds = [1.0] + [0.0] * (case - 1)
            for k in range(case - 1):
                speeds[k], speeds[k + 1] = speeds[k + 1], speeds[k]
            samples = [(0,), (1, None, None, [[v, 0, 0] for v in speeds])]
            self.assertEqual(scene_list.find("cradle").answer(case, samples), truth)
        for case, truth, world in truths("two_balls"):
            first = 1 - case * truth
            self.assertAlmostEqual(truth - first, world.restitution)

    def test_counted_impacts_are_rotations(self):
        for case, truth, _ in truths("counted_impacts"):
            turn = 2 * math.atan(1 / math.sqrt(case))
            count = math.ceil(2 * math.pi / turn) - 1
            self.assertEqual(count, {100: 31, 10000: 314}[case])
            # In the plane of (sqrt(M) V, sqrt(m) v) the wall mirrors at the first axis, the balls at the line of equal
            # speeds, half a turn above it: both together turn back by `turn`.
            angle = math.pi - turn * (count // 2)
            if count % 2:
                angle = turn - angle
            self.assertAlmostEqual(math.cos(angle), truth, 10)

    def test_zeno(self):
        for case, truth, world in truths("zeno"):
            speed, height, clock = 0.0, 0.3, 0.0
            tops = []
            for _ in range(200):
                clock += math.sqrt(2 * height / GRAVITY)
                speed = world.restitution * math.sqrt(2 * GRAVITY * height)
                height = speed**2 / (2 * GRAVITY)
                tops.append(height)
                clock += speed / GRAVITY
            self.assertLess(clock, world.time_step * world.step_count - 0.1)
            self.assertAlmostEqual(truth, 0.0 if case == "end" else tops[case - 1])

    def test_conserved(self):
        for name in ("many_impacts", "break_shot"):
            for case, truth, world in truths(name):
                self.assertEqual((truth, world.restitution, world.friction), (0.0, 1.0, 0.0))
        balls = scene_list.find("break_shot").world("energy").bodies
        gaps = [math.dist(a.position, b.position) - 0.1 for i, a in enumerate(balls) for b in balls[:i]]
        self.assertEqual(sum(abs(gap) < 1e-12 for gap in gaps), 30)  # pairs that touch in the triangle
        self.assertGreater(min(gaps), -1e-12)


class Worlds(unittest.TestCase):
    def test_bodies_start_without_overlap(self):
        for scene in scene_list.all_scenes():
            for case in scene.cases:
                world = scene.world(case)
                for body in world.bodies:
                    for plane in world.planes if not body.slides_along else []:
                        ends = [(0, 0, 0)]
                        reach = body.size[0]
                        if body.shape == "box":
                            reach, s = 0.0, body.size
                            ends = [(x * s[0], y * s[1], z * s[2]) for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)]
                        for end in ends:
                            place = [a + b for a, b in zip(body.position, rotated(body.orientation, end))]
                            gap = dot([a - b for a, b in zip(place, plane.point)], plane.normal) - reach
                            self.assertGreater(gap, -1e-12, (scene.name, case))

    def test_pile(self):
        for name in ("pile_overlap", "pile_energy", "pile_drift"):
            for _, truth, world in truths(name):
                self.assertEqual((truth, len(world.bodies)), (0.0, 27))
                places = [body.position for body in world.bodies]
                self.assertGreater(min(math.dist(a, b) for i, a in enumerate(places) for b in places[:i]), 0.1)

    def test_turns(self):
        turned_z = rotated(turned((0, 1, 0), math.pi / 2), (0, 0, 1))
        self.assertLess(math.dist(turned_z, (1, 0, 0)), 1e-15)

    def test_zz_every_scene_is_checked(self):
        names = {scene.name for scene in scene_list.all_scenes()}
        self.assertEqual(names, CHECKED)


if __name__ == "__main__":
    unittest.main()
