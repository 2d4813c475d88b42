# SPDX-License-Identifier: BSD-3-Clause
"""What was reported of engines, asked as a user would ask it, with the value that is right. Scale, direction, number and
order vary, so that no case is a special one."""

import itertools

import carom
import numpy as np
import pytest

from conftest import DATA

GRAVITY = 9.81
AXES = [np.array([0, 0, 1.0]), np.array([0.6, 0, 0.8]), np.array([-1.0, 0, 0]), np.array([1.0, 2, -2]) / 3]


def frame(up):
    """Rows (t1, t2, n) with n = up."""
    first = np.cross(up, [0.3, -0.5, 0.9])
    first /= np.linalg.norm(first)
    return np.vstack([first, np.cross(up, first), up])


def tower(masses, up, speed, friction=0.5, order=None):
    """Point masses on one another, at rest; speed: what gravity adds in the step."""
    problem, rows = carom.ContactProblem(0.01), frame(up)
    for mass in masses:
        problem.add_body(mass * np.eye(3), -speed * up)
    for k in order or range(len(masses)):
        if k == 0:
            problem.add_contact(0, rows, friction=friction)
        else:
            problem.add_contact(k - 1, -rows, friction=friction, other=k, other_jacobian=rows)
    return problem


@pytest.mark.parametrize("law", ["convex", "coulomb"])
@pytest.mark.parametrize("tolerance", [1e-1, 1e-2, 1e-3, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12])
def test_towers_rest_at_every_tolerance_and_mass_ratio(law, tolerance):
    for count, ratio, (k, up) in itertools.product((2, 3, 10), (1, 10, 1e3, 1e6, 1e8, 1e12), enumerate(AXES)):
        masses = [1.0] * (count - 1) + [ratio]
        order = list(range(count))[:: 1 if k % 2 else -1]
        problem = tower(masses, up, GRAVITY * 0.01, order=order)
        s = carom.solve(problem, law=law, tolerance=tolerance)
        load = s.impulse[order.index(0), 2] / (sum(masses) * GRAVITY * 0.01)
        assert s.converged, (count, ratio, up, s)
        assert abs(load - 1) <= 10 * tolerance + 1e-13 * count
        assert np.abs(s.velocity).max() <= (10 * tolerance + 1e-13) * count * GRAVITY * 0.01
        assert carom.certify(problem, velocity=s.velocity, impulse=s.impulse, law=law).residual <= 1.01 * tolerance + 1e-14


def test_a_looser_tolerance_takes_no_longer():
    for count, ratio in itertools.product((2, 5, 10), (1, 1e4, 1e8)):
        counts = [
            carom.solve(tower([1.0] * count + [ratio], AXES[0], 0.1), tolerance=t).iterations
            for t in (1e-1, 1e-2, 1e-4, 1e-6, 1e-8, 1e-10)
        ]
        assert counts == sorted(counts), (count, ratio, counts)


@pytest.mark.parametrize("mass", [1e-9, 1e-6, 1e-3, 1.0, 1e3, 1e9])
@pytest.mark.parametrize("tolerance", [1e-1, 1e-3, 1e-6])
def test_bodies_that_do_not_touch_are_as_alone(mass, tolerance):
    for speed, order in itertools.product((1e-6, 1e-3, 1.0, 1e3), ((0, 1), (1, 0))):
        problem = carom.ContactProblem(0.01)
        bodies = [(1.0, 1.0), (mass, speed)]
        for k in order:
            problem.add_contact(problem.add_body(bodies[k][0] * np.eye(3), bodies[k][1] * np.array([3, 0, -1.0])), np.eye(3))
        s = carom.solve(problem, tolerance=tolerance)
        assert s.converged
        for place, k in enumerate(order):  # v = (3 - mu, 0, 0) times the speed
            off = s.velocity[3 * place : 3 * place + 3] / bodies[k][1] - [2.5, 0, 0]
            assert np.linalg.norm(off) <= 10 * tolerance


@pytest.mark.parametrize("friction", [0.5, 10.0, 1e7])
@pytest.mark.parametrize("step", [1e-2, 1e-3, 1e-4])
def test_nothing_falls_through_the_floor(friction, step):
    for tolerance, slide, up in itertools.product((1e-1, 1e-3, 1e-6), (0.0, 1.0, 10.0, 100.0), AXES):
        problem, rows = carom.ContactProblem(step), frame(up)
        problem.add_body(np.eye(3), slide * rows[0] - GRAVITY * step * up)
        problem.add_contact(0, rows, friction=friction)
        s = carom.solve(problem, tolerance=tolerance)
        normal = s.velocity @ up
        left = max(0.0, slide - friction * GRAVITY * step)
        scale = max(GRAVITY * step, 0.01 * slide)
        assert s.converged
        assert abs(normal) <= 2 * tolerance * scale
        assert np.linalg.norm(s.velocity - normal * up - left * rows[0]) <= 2 * tolerance * max(slide, scale) * max(1, friction)


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("step", [0.02, 0.01, 0.001])
@pytest.mark.parametrize("law", ["coulomb", "convex"])
def test_overlap_goes_without_speed(known, step, law):
    for depth, up, mass in itertools.product((0.05, 1e-3), AXES[:3], (1e-3, 1.0, 1e3)):
        rows, height, speed, top = frame(up), -depth, 0.0, -depth
        solver, problem = carom.Solver(law=law), carom.ContactProblem(step)
        for k in range(int(0.6 / step)):
            problem.reset(step)
            before = [speed * up] if known else []
            problem.add_body(mass * np.eye(3), (speed - GRAVITY * step) * up, *before)
            problem.add_contact(0, rows, gap=height)
            s = solver.solve(problem)
            if k == 0:
                assert s.deepest_overlap == depth
            speed = s.velocity @ up
            height += step * speed
            top = max(top, height)
        assert top <= 1e-6 + GRAVITY * step**2 / 100
        # Without a velocity before, what an approach may have made in one step goes slowly.
        assert height >= -2e-4 - (0 if known else GRAVITY * step**2)
        assert abs(speed) <= 0.02 * GRAVITY * step


def test_overlap_goes_at_once_by_positions():
    for depth, up in itertools.product((1e-6, 0.05, 10.0), AXES):
        problem = tower([1.0, 2.0], up, 0.1)
        deep, rows = carom.ContactProblem(0.01), frame(up)
        for mass in (1.0, 2.0):
            deep.add_body(mass * np.eye(3), -0.1 * up)
        deep.add_contact(0, rows, gap=-depth)
        deep.add_contact(0, -rows, gap=-depth, other=1, other_jacobian=rows)
        motion = deep.remove_overlap()
        assert np.allclose(motion, np.concatenate([depth * up, 2 * depth * up]), atol=1e-6 * depth)
        assert np.allclose(problem.remove_overlap(), 0, atol=1e-12)


@pytest.mark.parametrize("rigid", [{}, {"rigid": True}])
def test_a_body_between_walls_that_overlap_it_stops_with_impulses_of_its_momentum(rigid):
    for depth, mass, speed, axis in itertools.product((1e-6, 1e-3), (1e-3, 1.0, 1e3), (1e-3, 1.0), AXES):
        problem, rows = carom.ContactProblem(0.01), frame(axis)
        problem.add_body(mass * np.eye(3), speed * axis)
        problem.add_contact(0, frame(axis), friction=0.0, gap=-depth)
        problem.add_contact(0, np.diag([1, -1, -1.0]) @ rows, friction=0.0, gap=-depth)
        s = carom.solve(problem, **rigid)
        assert s.converged
        assert np.linalg.norm(s.velocity) <= 1e-6 * speed
        assert np.abs(s.impulse).max() <= 30 * mass * speed  # of impulses that hold each other any share may be left


def test_a_contact_that_nothing_moves_is_ordinary_input():
    for gap, extra in itertools.product((0.0, -1e-17, 1e-17), (0, 1)):
        problem = carom.ContactProblem(0.01)
        problem.add_body(np.eye(6), [1.0, 0, -0.0981, 0, 0, 0])
        contact = np.zeros((3, 6))
        contact[:2, 3:5] = extra * np.eye(2)  # tangents may move where the normal does not
        problem.add_contact(0, np.hstack([np.eye(3), np.zeros((3, 3))]))
        if extra:
            problem.add_contact(0, contact, gap=gap)
        s = carom.solve(problem)
        assert s.converged
        assert abs(s.velocity[2]) <= 1e-9


@pytest.mark.parametrize("law", ["coulomb", "convex"])
def test_a_rod_on_its_ends_sinks_the_same_however_it_is_turned(law):
    for length, mass in itertools.product((0.1, 2.0), (1e-3, 10.0)):
        inertia = mass * length**2 * np.diag([1e-3, 1 / 12, 1 / 12])  # of a thin rod, along its first axis
        depths = []
        for angle, up in itertools.product(np.radians([0, 20, 45, 90, 200]), AXES):
            world = frame(up).T  # columns: two directions across, and up
            turn = world @ np.array([[np.cos(angle), -np.sin(angle), 0], [np.sin(angle), np.cos(angle), 0], [0, 0, 1]])
            body = np.zeros((6, 6))
            body[:3, :3], body[3:, 3:] = mass * np.eye(3), turn @ inertia @ turn.T
            body = (body + body.T) / 2
            ends = [turn @ [side * length / 2, 0, -0.01 * length] for side in (-1, 1)]
            rows = frame(up)
            jacobians = [np.hstack([rows, np.cross(end, rows)]) for end in ends]
            problem, velocity, gaps = carom.ContactProblem(0.01), np.zeros(6), np.zeros(2)
            for _ in range(100):
                problem.reset(0.01)
                free = velocity + np.concatenate([-0.0981 * up, np.zeros(3)])
                problem.add_body(body, free, velocity)
                for jacobian, gap in zip(jacobians, gaps):
                    problem.add_contact(0, jacobian, gap=gap, compliance="step")
                velocity = carom.solve(problem, law=law).velocity
                gaps += 0.01 * np.array([jacobian[2] @ velocity for jacobian in jacobians])
            depths += list(-gaps)
        assert min(depths) > 0
        assert max(depths) - min(depths) <= 1e-5 * max(depths)


# The path of Coulomb's law folds on the way to these answers: the search must go on from its best point.
@pytest.mark.parametrize("name", ["mujoco_sphere_100", "mujoco_box_100", "pile_n100_s60", "wall_n100"])
def test_rigid_heaps_have_their_answer_under_coulombs_law(name):
    problem = carom.read(DATA / f"{name}.txt")
    cold = carom.solve(problem, rigid=True)
    assert cold.converged
    assert carom.certify(problem, cold.velocity, cold.impulse, law="coulomb", rigid=True).residual <= 2e-8
