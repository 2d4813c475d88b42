# SPDX-License-Identifier: BSD-3-Clause
"""What the plain call does: Coulomb's law, rigid contacts and joints; and an option acts or is refused."""
import numpy as np
import pytest

import carom

G = 9.81


def skew(a):
    x, y, z = a
    return np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]], float)


def turn_by(vector):
    """A rotation matrix, by Rodrigues' formula."""
    angle = np.linalg.norm(vector)
    if angle == 0:
        return np.eye(3)
    k = skew(np.asarray(vector) / angle)
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


def point_rows(frame, arm):
    """Rows (t1, t2, n) of a frame times the velocity of a point of a free body (velocity, spin)."""
    return np.hstack([frame, -frame @ skew(arm)])


class Box:
    """A free box that is stepped in time."""

    def __init__(self, mass, size, position, velocity=(0, 0, 0)):
        a, b, c = size
        self.mass, self.size = mass, np.asarray(size, float)
        self.inertia = mass / 12 * np.diag([b * b + c * c, a * a + c * c, a * a + b * b])
        self.x, self.turn = np.array(position, float), np.eye(3)
        self.v, self.w = np.array(velocity, float), np.zeros(3)

    def matrix(self):
        result = np.zeros((6, 6))
        result[:3, :3] = self.mass * np.eye(3)
        result[3:, 3:] = self.turn @ self.inertia @ self.turn.T
        return result

    def free(self, step, gravity):
        inertia = self.turn @ self.inertia @ self.turn.T
        spin = self.w - step * np.linalg.solve(inertia, np.cross(self.w, inertia @ self.w))
        return np.concatenate([self.v + step * np.asarray(gravity), spin])

    def corners(self):
        signs = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
        return [self.turn @ (sign * self.size / 2) for sign in signs]

    def move(self, velocity, step):
        self.v, self.w = velocity[:3].copy(), velocity[3:].copy()
        self.x = self.x + step * self.v
        self.turn = turn_by(self.w * step) @ self.turn


def frame_of(normal):
    """Axes (t1, t2, n) of a plane."""
    normal = np.asarray(normal, float) / np.linalg.norm(normal)
    first = np.cross(normal, [1.0, 0.3, -0.2])
    first /= np.linalg.norm(first)
    return np.array([first, np.cross(normal, first), normal])


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


def welded(masses, side, step, duration, law=None, error=0.0, up=(0, 0, 1), order=1):
    """Cubes stacked along `up` and welded to one another: how far the farthest goes, and the last speed."""
    frame = frame_of(up)
    boxes = [Box(m, (side,) * 3, (side / 2 + k * side) * frame[2]) for k, m in enumerate(masses)]
    for k, box in enumerate(boxes):
        box.turn = frame.T
        box.x = box.x + error * frame[0] * (k % 2)
    start = [box.x for box in boxes]
    problem, solver = carom.ContactProblem(step), carom.Solver(**({"law": law} if law else {}))
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
    gone, _ = welded(masses, side, 0.005, 0.1, law, up=up, order=order)
    assert gone <= 1e-6 * side


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
        assert carom.solve(problem).velocity[0] == pytest.approx(expected, abs=1e-10), repr(law)
    for law, expected in [
        (carom.Tendon(0.0), 0.0),
        (carom.Tendon(-0.02), 2.0),
        (carom.Tendon(0.02, correction=0.25), -0.5),
        (carom.Tendon(0.0, tension_limit=force), 3.0 - step * force / scale),
    ]:
        problem = carom.ContactProblem(step)
        problem.add_body([[scale]], [3.0])
        problem.add_constraint(0, [1.0], law)
        assert carom.solve(problem).velocity[0] == pytest.approx(expected, abs=1e-10), repr(law)
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


REFUSED_CONTACTS = [
    ("restitution", {"restitution": 1.0, "approach": 1.0, "stiffness": 1e3}),
    ("restitution", {"restitution": 0.5, "compliance": "step"}),
    ("restitution", {"restitution": 0.5, "regularization": 1e-3}),
    (r"restitution: expected a number in \[0, 1\], got 1.2", {"restitution": 1.2, "approach": 1.0}),
    (r"restitution: expected a number in \[0, 1\], got -0.1", {"restitution": -0.1, "approach": 1.0}),
    (r"restitution: expected a number in \[0, 1\], got nan", {"restitution": np.nan, "approach": 1.0}),
    ("restitution", {"restitution": 0.5, "approach": 1.0, "bias": [0, 0, 1]}),
    ("approach: .*velocity before the step", {"restitution": 1.0}),
    ("approach: expected a finite number >= 0", {"restitution": 1.0, "approach": -1.0}),
    ("approach: expected a finite number >= 0", {"restitution": 1.0, "approach": np.inf}),
    ("approach", {"approach": 1.0}),
    ("approach", {"approach": 1.0, "rigid": True}),
    ("approach", {"approach": 1.0, "stiffness": 1e3}),
    ("stiffness", {"rigid": True, "stiffness": 1e3}),
    ("regularization", {"rigid": True, "regularization": 1e-3}),
    ("compliance", {"rigid": True, "compliance": "step"}),
    ("rigid", {"rigid": False}),
    ("stiffness", {"stiffness": 1e3, "compliance": "step"}),
    ("stiffness", {"stiffness": 1e3, "regularization": 1e-3}),
    ("compliance", {"compliance": "step", "regularization": 1e-3}),
    ("compliance: expected 'step' or None, got 'soft'", {"compliance": "soft"}),
    ("compliance", {"compliance": 3}),
    ("dissipation time", {"dissipation_time": 0.01}),
    ("dissipation time", {"dissipation_time": 0.01, "rigid": True}),
    ("dissipation time", {"dissipation_time": 0.01, "regularization": 1e-3, "bias": [0, 0, 0]}),
    ("near-rigid factor", {"near_rigid": 0.5}),
    ("near-rigid factor", {"near_rigid": 0.5, "regularization": 1e-3}),
    ("near-rigid factor", {"near_rigid": 0.0, "compliance": "step"}),
    ("relative slip", {"relative_slip": 1e-4}),
    ("relative slip", {"relative_slip": 1e-4, "rigid": True}),
    ("relative slip", {"relative_slip": 1e-4, "regularization": 1e-3}),
    ("gap", {"gap": 0.01, "bias": [0, 0, 0]}),
    ("surface velocity", {"surface_velocity": [1, 0, 0], "bias": [0, 0, 0]}),
    ("surface velocity entry 1: expected a finite number", {"surface_velocity": [0, np.nan, 0]}),
    ("surface velocity", {"surface_velocity": [1, 0]}),
    ("correction", {"correction": 0.5, "stiffness": 1e3}),
    ("correction", {"correction": 0.5, "compliance": "step"}),
    ("correction", {"correction": 0.5, "bias": [0, 0, 0]}),
    (r"correction: expected a number in \[0, 1\], got 2", {"correction": 2.0}),
]


@pytest.mark.parametrize("address, options", REFUSED_CONTACTS)
def test_an_option_of_a_contact_that_cannot_act_is_refused(address, options):
    problem = carom.ContactProblem(0.01)
    problem.add_body(np.eye(3), [0, 0, -1.0])
    problem.add_contact(0, np.eye(3))
    with pytest.raises(ValueError, match=f"^contact 1: {address}"):
        problem.add_contact(0, np.eye(3), **options)
    assert problem.contact_count == 1


Limit, Tendon, Bilateral, Wrench = carom.JointLimit, carom.Tendon, carom.Bilateral, carom.WrenchContact
REFUSED_CONSTRAINTS = [
    ("dissipation time", 1, lambda: Limit(0.0, dissipation_time=0.1)),
    ("near-rigid factor", 1, lambda: Limit(0.0, near_rigid=0.5)),
    ("stiffness", 1, lambda: Limit(0.0, stiffness=1e3, compliance="step")),
    ("correction", 1, lambda: Limit(0.0, stiffness=1e3, correction=0.5)),
    ("correction", 1, lambda: Limit(0.0, correction=-0.1)),
    ("dissipation time", 1, lambda: Tendon(0.0, dissipation_time=0.1)),
    ("near-rigid factor", 1, lambda: Tendon(0.0, near_rigid=0.0)),
    ("correction", 1, lambda: Tendon(0.0, compliance="step", correction=0.5)),
    ("dissipation time", 1, lambda: Bilateral(dissipation_time=0.1)),
    ("near-rigid factor", 1, lambda: Bilateral(near_rigid=2.0)),
    ("stiffness", 1, lambda: Bilateral(stiffness=1e3, compliance="step")),
    ("correction", 1, lambda: Bilateral(stiffness=1e3, correction=0.5)),
    ("relative slip", 1, lambda: carom.DryFriction(1.0, relative_slip=-1.0)),
    ("position error", 1, lambda: carom.Motor(position_error=0.1, velocity_gain=1.0)),
    ("wanted velocity", 1, lambda: carom.Motor(wanted_velocity=0.1, position_gain=1.0)),
    ("dissipation time", 6, lambda: Wrench(dissipation_time=0.1)),
    ("correction", 6, lambda: Wrench(stiffness=1e3, correction=0.1)),
    ("second friction", 6, lambda: Wrench(second_friction=0.5)),
    ("rolling friction", 4, lambda: Wrench(shape="torsional", rolling_friction=0.1)),
    ("rolling friction", 3, lambda: Wrench(shape="friction", rolling_friction=0.1)),
    ("torsional friction", 5, lambda: Wrench(shape="spinless_rolling", torsional_friction=0.1)),
    ("torsional friction", 3, lambda: Wrench(shape="elliptic", torsional_friction=0.1)),
]


@pytest.mark.parametrize("address, rows, law", REFUSED_CONSTRAINTS)
def test_an_option_of_a_constraint_that_cannot_act_is_refused(address, rows, law):
    problem = carom.ContactProblem(0.01)
    problem.add_body(np.eye(6), np.zeros(6))
    with pytest.raises(ValueError, match=f"^constraint 0: {address}"):
        problem.add_constraint(0, np.eye(6)[:rows], law())
    assert problem.constraint_count == 0


def test_numbers_of_a_batch_that_cannot_act_are_refused():
    def pattern(**options):
        problem = carom.ContactProblem(0.01)
        problem.add_body(np.eye(3), [0, 0, -1.0], [0, 0, -1.0])
        problem.add_contact(0, np.eye(3), **options)
        return problem

    one, triple = np.full((2, 1), 1e-3), np.full((2, 1, 3), 1e-3)
    for address, options, given in [
        ("stiffness", {"rigid": True}, {"stiffness": one}),
        ("stiffness", {"restitution": 0.5}, {"stiffness": one}),
        ("stiffness", {"regularization": 1e-3}, {"stiffness": one}),
        ("stiffness", {}, {"stiffness": one, "regularization": triple}),
        ("regularization", {"rigid": True}, {"regularization": triple}),
        ("dissipation time", {}, {"dissipation_time": one}),
        ("gap", {"bias": [0, 0, 0]}, {"gap": one}),
        ("gap", {}, {"gap": one, "bias": triple}),
        ("bias", {"restitution": 0.5}, {"bias": triple}),
    ]:
        with pytest.raises(ValueError, match=f"^problem 0: contact 0: {address}"):
            carom.Batch.like(pattern(**options), 2, **given)
    # A stiffness makes what has none give way, in a batch as in add_contact().
    soft = carom.solve_batch(carom.Batch.like(pattern(), 2, stiffness=[[1e2], [1e3]]))
    for solution, stiffness in zip(soft, (1e2, 1e3)):
        assert solution.velocity[2] == pytest.approx(carom.solve(pattern(stiffness=stiffness)).velocity[2], rel=1e-9)
    # The approach of each is that of its own Jacobian.
    turned = carom.Batch.like(pattern(restitution=0.5), 2, jacobian=[np.array([np.eye(3), 2 * np.eye(3)])])
    assert [s.contact_velocity[0, 2] for s in carom.solve_batch(turned)] == pytest.approx([0.5, 1.0])


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
