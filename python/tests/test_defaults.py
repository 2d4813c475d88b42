# SPDX-License-Identifier: BSD-3-Clause
"""What the plain call does: Coulomb's law, rigid contacts and joints; options that act."""
import numpy as np
import pytest

import carom
from free_boxes import Box, G, frame_of, point_rows


def launch(speed, heading, step, scale=1.0, mass=1.0, normal=(0, 0, 1), order=1, friction=0.5, **options):
    """A cube is launched flat over a plane: how far it slides, and how high it rises above it."""
    frame = frame_of(normal)
    side = 0.1 * scale
    along = np.cos(heading) * frame[0] + np.sin(heading) * frame[1]
    box = Box(mass, (side,) * 3, side / 2 * frame[2], speed * along)
    box.turn = frame.T
    problem, solver, highest = carom.ContactProblem(step), carom.Solver(**options), 0.0
    for _ in range(int((speed / (friction * G) + 20 * step) / step)):
        problem.reset(step)
        problem.add_body(box.matrix(), box.free(step, -G * frame[2]))
        for arm in box.corners()[::order]:
            gap = frame[2] @ (box.x + arm)
            if gap < 0.2 * side:
                problem.add_contact(0, point_rows(frame, arm), friction=friction, gap=gap)
        solution = solver.solve(problem)
        assert solution.converged, solution.status
        box.move(solution.velocity, step)
        highest = max(highest, frame[2] @ box.x - side / 2)
    return np.linalg.norm(frame[:2] @ box.x), highest


@pytest.mark.parametrize(
    "speed, heading, step, scale, mass, normal, order",
    [
        (1.0, 0.0, 0.005, 1.0, 1.0, (0, 0, 1), 1),
        (6.0, 0.6, 0.005, 1.0, 1.0, (0, 0, 1), -1),
        (6.0, 2.0, 0.01, 1.0, 1e3, (1, -2, 2), 1),
        (3.0, 4.0, 0.002, 10.0, 1e-3, (0, -1, 0), -1),
    ],
)
def test_a_cube_that_is_launched_flat_slides_and_does_not_rise(speed, heading, step, scale, mass, normal, order):
    slid, highest = launch(speed, heading, step, scale, mass, normal, order)
    # v falls by mu g dt in each step, and the way is summed after it: v^2/(2 mu g) less up to half a step of v.
    assert speed**2 / G - 0.51 * speed * step <= slid <= speed**2 / G + 1e-6 * scale
    assert highest <= 1e-6 * scale


def test_the_convex_law_lifts_by_the_height_that_its_documentation_says():
    for step in (0.002, 0.01):
        problem, z, v = carom.ContactProblem(step), 0.0, np.array([6.0, 0, 0])
        solver, highest = carom.Solver(law="convex"), 0.0
        for _ in range(int(0.6 / step)):
            problem.reset(step)
            problem.add_body(np.eye(3), v - [0, 0, G * step])
            problem.add_contact(0, np.eye(3), friction=0.5, gap=z)
            v = solver.solve(problem).velocity
            z += step * v[2]
            highest = max(highest, z)
        assert highest == pytest.approx((0.5 * 6 / 1.25) ** 2 / (2 * G), rel=0.1)


def welded(masses, side, step, duration, error=0.0, up=(0, 0, 1), order=1, **options):
    """Cubes stacked along `up` and welded to one another: how far the farthest goes, and the last speed."""
    frame = frame_of(up)
    boxes = [Box(m, (side,) * 3, (side / 2 + k * side) * frame[2]) for k, m in enumerate(masses)]
    for k, box in enumerate(boxes):
        box.turn = frame.T
        box.x = box.x + error * frame[0] * (k % 2)
    start = [box.x for box in boxes]
    problem, solver = carom.ContactProblem(step), carom.Solver(**options)
    spin = np.hstack([np.zeros((3, 3)), np.eye(3)])
    for _ in range(int(duration / step)):
        problem.reset(step)
        for box in boxes:
            problem.add_body(box.matrix(), box.free(step, -G * frame[2]))
        for k in list(range(1, len(boxes)))[::order]:
            low, high = boxes[k - 1], boxes[k]
            ends = low.x + low.turn @ [0, 0, side / 2], high.x - high.turn @ [0, 0, side / 2]
            middle = (ends[0] + ends[1]) / 2
            turn = high.turn @ low.turn.T
            turned = 0.5 * np.array([turn[2, 1] - turn[1, 2], turn[0, 2] - turn[2, 0], turn[1, 0] - turn[0, 1]])
            rows = [np.vstack([point_rows(np.eye(3), middle - box.x), spin]) for box in (low, high)]
            law_of_joint = carom.Bilateral(error=np.concatenate([ends[1] - ends[0], turned]))
            problem.add_constraint(k - 1, -rows[0], law_of_joint, other=k, other_jacobian=rows[1])
        for arm in boxes[0].corners():
            if frame[2] @ arm < 0:
                gap = frame[2] @ (boxes[0].x + arm)
                problem.add_contact(0, point_rows(frame, arm), friction=0.5, gap=gap)
        solution = solver.solve(problem)
        assert solution.converged, solution.status
        for k, box in enumerate(boxes):
            box.move(solution.velocity[6 * k : 6 * k + 6], step)
    gone = max(np.linalg.norm(box.x - x) for box, x in zip(boxes, start))
    return gone, max(np.linalg.norm(np.append(box.v, box.w)) for box in boxes)


@pytest.mark.parametrize("law", [None, "convex"])
@pytest.mark.parametrize(
    "masses, side, up, order",
    [
        ([1.0] * 9 + [100.0], 0.3, (0, 0, 1), 1),
        ([1.0] * 9 + [1e4], 0.3, (2, 1, -2), -1),
        ([1e-3] * 4 + [1.0], 0.03, (0, 1, 0), 1),
    ],
)
def test_a_welded_stack_stands_still(law, masses, side, up, order):
    # The tolerance is relative to the largest of the problem: what is far lighter needs a tighter one.
    for tolerance, share in [(1e-8, 3e-3), (1e-11, 2e-5)]:
        gone, _ = welded(masses, side, 0.005, 0.1, up=up, order=order, law=law, tolerance=tolerance)
        assert gone <= share * side, tolerance


def test_the_error_of_a_rigid_joint_goes_and_leaves_no_speed():
    gone, speed = welded([1.0, 2.0, 1.5], 0.3, 0.005, 0.3, error=1e-3)
    assert 1e-4 < gone < 2e-3 and speed < 1e-6


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e3])
def test_what_has_no_stiffness_is_rigid(scale):
    step, force = 0.01, 5.0 * scale
    for law, expected in [
        (carom.JointLimit(0.0), 0.0),
        (carom.JointLimit(0.02), -2.0),
        (carom.JointLimit(0.5), -3.0),
        (carom.JointLimit(-0.02, correction=0.5), 1.0),
        (carom.DryFriction(1e3 * scale), 0.0),
        (carom.DryFriction(force), -3.0 + step * force / scale),
        (carom.Bilateral(), 0.0),
        (carom.Bilateral(error=0.01, correction=1.0), -1.0),
        (carom.Bilateral(error=0.01), -0.2),
    ]:
        problem = carom.ContactProblem(step)
        problem.add_body([[scale]], [-3.0])
        problem.add_constraint(0, [1.0], law)
        # A joint has an R of 1e-8 of its inverse mass.
        assert carom.solve(problem).velocity[0] == pytest.approx(expected, abs=1e-7), repr(law)
    for law, expected in [
        (carom.Tendon(0.0), 0.0),
        (carom.Tendon(-0.02), 2.0),
        (carom.Tendon(0.02, correction=0.25), -0.5),
        (carom.Tendon(0.0, tension_limit=force), 3.0 - step * force / scale),
    ]:
        problem = carom.ContactProblem(step)
        problem.add_body([[scale]], [3.0])
        problem.add_constraint(0, [1.0], law)
        assert carom.solve(problem).velocity[0] == pytest.approx(expected, abs=1e-7), repr(law)
    for friction in (0.5, 2.0):
        problem = carom.ContactProblem(step)
        problem.add_body(scale * np.eye(6), [0.01, 0, -1, 0, 0, 0.1])
        problem.add_constraint(0, np.eye(6), carom.WrenchContact(friction, torsional_friction=1.0))
        assert np.allclose(carom.solve(problem).velocity, 0, atol=1e-9)


def test_the_softness_of_the_step_is_asked_for_by_name():
    step, weight = 0.01, 1 / (4 * np.pi**2)
    for mass in (1e-3, 2.0, 1e4):
        problem = carom.ContactProblem(step)
        problem.add_body(mass * np.eye(3), [0, 0, -1.0])
        problem.add_contact(0, np.eye(3), friction=0.0, compliance="step")
        # The inverse mass that softens is that of ||W||_F/3.
        share = weight / np.sqrt(3)
        assert carom.solve(problem, tolerance=1e-13).velocity[2] == pytest.approx(-share / (1 + share), rel=1e-9)
        for law in (carom.JointLimit(0.0, compliance="step"), carom.Bilateral(compliance="step")):
            row = carom.ContactProblem(step)
            row.add_body([[mass]], [-1.0])
            row.add_constraint(0, [1.0], law)
            assert carom.solve(row, tolerance=1e-13).velocity[0] == pytest.approx(-weight / (1 + weight), rel=1e-9)


def one_contact(solve=None, velocity=None, free=-1.0, step=0.01, mass=1.0, **contact):
    """The normal velocity of a mass on one contact."""
    problem = carom.ContactProblem(step)
    problem.add_body(mass * np.eye(3), [0, 0, free], velocity=velocity)
    problem.add_contact(0, np.eye(3), **contact)
    solution = carom.solve(problem, tolerance=1e-12, **(solve or {}))
    assert solution.converged
    return solution.velocity[2]


def test_rigid_in_solve_and_in_add_contact_are_the_same():
    for gap in (-0.05, -1e-6, 0.0, 0.005, 0.1):
        for soft in ({"stiffness": 1e3}, {"compliance": "step"}, {"stiffness": 1e5, "dissipation_time": 0.02}):
            expected = one_contact(gap=gap)
            assert one_contact(gap=gap, rigid=True) == expected
            for law in ("convex", "coulomb"):
                assert one_contact({"rigid": True, "law": law}, gap=gap, **soft) == pytest.approx(expected, abs=1e-12)
    for shape, rows in [("friction", 3), ("rolling", 6)]:
        speeds = []
        for law, settings in [
            (carom.WrenchContact(gap=-0.05, shape=shape), {}),
            (carom.WrenchContact(gap=-0.05, shape=shape, stiffness=1e4), {"rigid": True}),
        ]:
            problem = carom.ContactProblem(0.01)
            problem.add_body(np.eye(6), [0, 0, -1.0, 0, 0, 0])
            problem.add_constraint(0, np.eye(6)[:rows], law)
            speeds.append(carom.solve(problem, tolerance=1e-12, **settings).velocity[2])
        assert speeds[0] == pytest.approx(speeds[1], abs=1e-11)


def test_gradients_of_a_solve_that_takes_contacts_as_rigid_are_those_of_rigid_ones():
    found = []
    for settings, contact in [({}, {}), ({"rigid": True}, {"stiffness": 1e4, "dissipation_time": 0.03})]:
        problem = carom.ContactProblem(0.01)
        problem.add_body(np.eye(3), [0.3, 0, -1.0])
        problem.add_contact(0, np.eye(3), friction=0.1, gap=2e-3, **contact)
        found.append(carom.solve(problem, tolerance=1e-13, **settings).pull_back([1.0, 0.5, 2.0]))
    assert found[0].gap == pytest.approx(found[1].gap, rel=1e-8) and found[0].gap[0] != 0
    assert found[0].stiffness[0] == found[1].stiffness[0] == found[1].dissipation_time[0] == 0


@pytest.mark.parametrize("mass", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("restitution", [0.0, 0.3, 1.0])
def test_restitution_takes_the_approach_from_the_velocities_before_the_step(mass, restitution):
    alone = one_contact(velocity=[0, 0, -2.0], free=-2.1, mass=mass, restitution=restitution)
    assert alone == pytest.approx(2.0 * restitution, rel=1e-10, abs=1e-10)
    given = one_contact(free=-2.1, mass=mass, restitution=restitution, approach=2.0)
    assert given == pytest.approx(alone, abs=1e-12)
    # A belt that comes towards the body adds to the approach; one that flees takes from it.
    moved = one_contact(
        velocity=[0, 0, -2.0], free=-2.1, mass=mass, restitution=restitution, surface_velocity=[0, 0, 1.5]
    )
    assert moved == pytest.approx(1.5 + 3.5 * restitution, rel=1e-10)
    opens = one_contact(velocity=[0, 0, 0.5], free=-0.1, mass=mass, restitution=restitution)
    assert opens == pytest.approx(0, abs=1e-10)


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_two_balls_bounce_by_their_velocities_before_the_step(order):
    masses, before, e = np.array([0.5, 0.2]), np.array([1.0, -0.6]), 0.7
    rows = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]])
    problem = carom.ContactProblem(0.01)
    for k in order:
        problem.add_body(masses[k] * np.eye(3), [before[k], 0, 0], [before[k], 0, 0])
    sign = -1 if order[0] == 0 else 1  # the gap grows where the second ball runs ahead of the first
    problem.add_contact(0, sign * rows, friction=0.0, restitution=e, other=1, other_jacobian=-sign * rows)
    velocity = carom.solve(problem).velocity[::3][list(order)]
    part = (1 + e) * (before[0] - before[1]) / masses.sum()
    assert velocity == pytest.approx([before[0] - part * masses[1], before[1] + part * masses[0]], rel=1e-8)


@pytest.mark.parametrize("rigid", [True, False])
@pytest.mark.parametrize("belt", [[0.5, 0, 0], [-0.2, 0.4, 0]])
def test_a_surface_that_moves_takes_along_what_lies_on_it(belt, rigid):
    contact = {} if rigid else {"stiffness": 1e6, "relative_slip": 1e-9}
    problem, v = carom.ContactProblem(0.01), np.zeros(3)
    for _ in range(100):
        problem.reset(0.01)
        problem.add_body(3 * np.eye(3), v - [0, 0, G * 0.01])
        problem.add_contact(0, np.eye(3), friction=0.4, surface_velocity=belt, **contact)
        v = carom.solve(problem).velocity
    assert np.allclose(v[:2], belt[:2], atol=1e-6)
    assert one_contact(surface_velocity=[0, 0, 0.25]) == pytest.approx(0.25)
    assert one_contact(surface_velocity=[0, 0, 0.25], gap=0.005) == pytest.approx(-0.25)


def test_a_wrench_contact_without_second_friction_has_the_first_in_all_directions():
    for heading in np.linspace(0, 6, 7):
        velocities = []
        for options in ({}, {"second_friction": 0.3}):
            problem = carom.ContactProblem(0.01)
            problem.add_body(2 * np.eye(3), [np.cos(heading), np.sin(heading), -0.5])
            problem.add_constraint(0, np.eye(3), carom.WrenchContact(0.3, shape="elliptic", **options))
            velocities.append(carom.solve(problem, tolerance=1e-12).velocity)
        assert np.linalg.norm(velocities[0]) == pytest.approx(1 - 0.3 * 0.5, abs=1e-9)
        assert np.allclose(velocities[0], velocities[1], atol=1e-10)
    problem = carom.ContactProblem(0.01)
    problem.add_body(2 * np.eye(3), [0, 1.0, -0.5])
    problem.add_constraint(0, np.eye(3), carom.WrenchContact(0.3, shape="elliptic", second_friction=0.0))
    assert carom.solve(problem).velocity[1] == pytest.approx(1.0)


def test_the_plain_call_is_coulombs_law():
    problem = carom.ContactProblem(0.01)
    problem.add_body(np.eye(3), [1.0, 0, -0.1])
    problem.add_contact(0, np.eye(3), friction=0.5)
    right = [1 - 0.05, 0, 0]
    assert carom.solve(problem).velocity == pytest.approx(right, abs=1e-8)
    assert carom.solve(problem, law=None).velocity == pytest.approx(right, abs=1e-8)
    assert carom.Solver().solve(problem).velocity == pytest.approx(right, abs=1e-8)
    assert carom.solve_batch([problem] * 2)[1].velocity == pytest.approx(right, abs=1e-8)
    assert carom.solve(problem, law="convex").velocity[2] == pytest.approx(0.5 * (1 - 0.05) / 1.25, rel=0.05)
    solution = carom.solve(problem)
    assert carom.certify(problem, solution.velocity, solution.impulse).natural_map_error < 1e-7
    assert carom.certify(problem, solution.velocity, solution.impulse).law == "coulomb"
    assert carom.certify(problem, solution.velocity, solution.impulse, law="convex").natural_map_error > 1e-2
