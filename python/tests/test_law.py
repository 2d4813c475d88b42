# SPDX-License-Identifier: BSD-3-Clause
"""Answers obey the law, as numpy alone computes it from the data."""
import copy

import numpy as np
import pytest

import carom
from conftest import build, random_mass, random_numbers


def stacked(numbers):
    """Mass matrix and Jacobian of all bodies and contacts."""
    sizes = [len(mass) for mass in numbers["mass"]]
    mass = np.zeros((sum(sizes), sum(sizes)))
    mass[: sizes[0], : sizes[0]], mass[sizes[0] :, sizes[0] :] = numbers["mass"]
    rows = []
    for k, jacobian in enumerate(numbers["jacobian"]):
        row = np.zeros((3, sum(sizes)))
        other = numbers["other_jacobian"][k]
        on_second = other is None and k % 2 == 1
        row[:, sizes[0] * on_second : sizes[0] * on_second + jacobian.shape[1]] = jacobian
        if other is not None:
            row[:, sizes[0] :] = other
        rows.append(row)
    return mass, np.array(rows)


def nearest(impulse, friction):
    """The nearest point of Coulomb's cone in N s, from its three regions."""
    tangent, normal = np.linalg.norm(impulse[:2]), impulse[2]
    if tangent <= friction * normal:
        return impulse
    if friction * tangent <= -normal:
        return np.zeros(3)
    along = (friction * tangent + normal) / (1 + friction**2)
    return np.append(friction * along * impulse[:2] / tangent, along)


@pytest.mark.parametrize("seed", range(8))
@pytest.mark.parametrize("law", ["convex", "coulomb"])
@pytest.mark.parametrize("rigid", [False, True])
def test_momentum_balances_and_impulses_obey_the_law(seed, law, rigid):
    numbers = random_numbers(seed)
    regularization = np.full((3, 3), 1e-3)
    bias = np.array([[0, 0, 0.1], [0, 0, -0.2], [0, 0, 0.3]])
    numbers |= {"regularization": regularization, "bias": bias, "stiffness": [None] * 3}
    solution = carom.solve(build(numbers), law=law, rigid=rigid, tolerance=1e-11)
    assert solution.status == "converged" and solution.converged
    mass, jacobian = stacked(numbers)
    velocity, impulse = solution.velocity, solution.impulse
    gained = mass @ (velocity - numbers["free_velocity"])
    pushed = np.einsum("krn,kr->n", jacobian, impulse)
    scale = np.abs(mass @ velocity).max() + np.abs(pushed).max()
    assert np.abs(gained - pushed).max() < 1e-9 * scale
    assert np.allclose(solution.contact_velocity, jacobian @ velocity, rtol=0, atol=1e-12)
    for k in range(3):
        slip = jacobian[k] @ velocity - bias[k] + (0 if rigid else regularization[k] * impulse[k])
        if law == "coulomb":
            slip[2] += numbers["friction"][k] * np.linalg.norm(slip[:2])
        gap = impulse[k] - nearest(impulse[k] - slip, numbers["friction"][k])
        assert np.linalg.norm(gap) < 1e-8 * (1 + np.linalg.norm(impulse[k]))


def test_a_block_that_slides_loses_what_coulomb_says():
    problem = carom.ContactProblem(0.01)
    problem.add_body(2 * np.eye(3), [1.0, 0, -9.81 * 0.01])
    problem.add_contact(0, np.eye(3), friction=0.5)
    solution = carom.solve(problem, law="coulomb", rigid=True)
    assert np.allclose(solution.velocity, [1 - 0.5 * 9.81 * 0.01, 0, 0], rtol=0, atol=1e-9)
    assert np.allclose(solution.impulse, [[-0.5 * 2 * 9.81 * 0.01, 0, 2 * 9.81 * 0.01]], rtol=0, atol=1e-8)


def test_stiffness_and_gap_are_those_of_a_spring_in_the_step():
    step, stiffness, mass, gap = 0.01, 1e3, 2.0, -1e-3
    problem = carom.ContactProblem(step)
    problem.add_body(mass * np.eye(3), [0, 0, -0.1])
    problem.add_contact(0, np.eye(3), friction=0, gap=gap, stiffness=stiffness)
    velocity = carom.solve(problem, tolerance=1e-13).velocity[2]
    # m (v + 0.1) = -dt k (gap + dt v)
    assert velocity == pytest.approx((-mass * 0.1 - step * stiffness * gap) / (mass + step**2 * stiffness), rel=1e-10)


def test_constraints_do_what_their_names_say():
    step = 0.01
    for law, expected in [
        (carom.Motor(velocity_gain=1e6, wanted_velocity=2.0, near_rigid=0), (3 + 2e4) / (3 + 1e4)),
        (carom.Motor(velocity_gain=1e6, wanted_velocity=2.0, effort_limit=5.0, near_rigid=0), 1 + step * 5.0 / 3),
        (carom.JointLimit(gap=0.0), 1.0),
        (carom.DryFriction(effort_limit=30.0), 1 - step * 30.0 / 3),
        (carom.Tendon(stretch=0.1, stiffness=1e9, tension_limit=7.0), 1 - step * 7.0 / 3),
        (carom.Bilateral(), 0.0),
    ]:
        problem = carom.ContactProblem(step)
        problem.add_body([[3.0]], [1.0])
        assert problem.add_constraint(0, [1.0], law) == 0
        solution = carom.solve(problem, tolerance=1e-10)
        assert solution.converged, repr(law)
        assert solution.velocity[0] == pytest.approx(expected, abs=2e-5), repr(law)
        (impulse,), (speed,) = solution.constraint_impulses, solution.constraint_velocities
        assert impulse[0] == pytest.approx(3 * (solution.velocity[0] - 1), abs=1e-9)
        assert speed[0] == pytest.approx(solution.velocity[0])
        assert solution.impulse.shape == (0, 3)


def test_a_wrench_contact_stops_a_ball_from_rolling():
    radius, mass, step = 0.1, 2.0, 0.01
    inertia = np.diag([0.4 * mass * radius**2] * 3 + [mass] * 3)
    rows = np.zeros((6, 6))
    rows[:3, 3:] = np.eye(3)
    rows[0, 1], rows[1, 0] = -radius, radius
    rows[3:, :3] = np.eye(3)
    free = np.array([0, 0.1, 0, 0.01, 0, -9.81 * step])
    rolls = carom.ContactProblem(step)
    rolls.add_body(inertia, free)
    rolls.add_constraint(0, rows[:3], carom.WrenchContact(friction=0.8, shape="friction"))
    stops = carom.ContactProblem(step)
    stops.add_body(inertia, free)
    stops.add_constraint(0, rows, carom.WrenchContact(friction=0.8, rolling_friction=0.1))
    assert abs(carom.solve(rolls).velocity[1]) > 0.05
    assert abs(carom.solve(stops).velocity[1]) < 1e-2


def test_contacts_and_constraints_have_numbers_of_their_own():
    problem = carom.ContactProblem(0.01)
    problem.add_body(np.eye(3), [0, 0, -1])
    assert problem.add_constraint(0, [1, 0, 0], carom.DryFriction(1.0)) == 0
    assert problem.add_contact(0, np.eye(3)) == 0
    assert problem.add_constraint(0, [0, 1, 0], carom.DryFriction(1.0)) == 1
    with pytest.raises(ValueError, match=r"^contact 1: friction: expected a finite number >= 0, got -0.2$"):
        problem.add_contact(0, np.eye(3), friction=-0.2)
    with pytest.raises(ValueError, match=r"^constraint 2: effort limit: expected a number >= 0, got -1$"):
        problem.add_constraint(0, [1, 0, 0], carom.DryFriction(-1.0))
    solution = carom.solve(problem)
    assert solution.impulse.shape == (1, 3)
    assert len(solution.constraint_impulses) == 2 and solution.stacked_impulse.shape == (5,)
    assert np.array_equal(solution.stacked_impulse[1:4], solution.impulse[0])


def test_a_solver_keeps_the_last_answer_as_its_guess():
    numbers = random_numbers(3)
    problem = build(numbers)
    for law, rigid in [("convex", False), ("coulomb", False), ("coulomb", True)]:
        solver = carom.Solver(law=law, rigid=rigid)
        first, second = solver.solve(problem), solver.solve(problem)
        assert second.converged and second.iterations <= first.iterations
        assert np.allclose(first.velocity, second.velocity, rtol=0, atol=1e-6)
        again = carom.solve(problem, law=law, rigid=rigid, guess=first)
        assert again.converged and again.iterations <= first.iterations


def test_a_hopeless_problem_is_a_status():
    problem = carom.ContactProblem(0.01)
    problem.add_body(np.eye(3), [0, 0, 0])
    up, down = np.eye(3), np.diag([1.0, 1.0, -1.0])
    problem.add_contact(0, up, bias=[0, 0, 1.0], rigid=True)
    problem.add_contact(0, down, bias=[0, 0, 1.0], rigid=True)
    solution = carom.solve(problem, law="coulomb")
    assert solution.status in ("infeasible", "no_progress", "iteration_limit")
    assert not solution.converged and np.isfinite(solution.velocity).all()


def test_a_deadline_and_a_limit_of_iterations_are_statuses():
    rng = np.random.default_rng(1)
    problem = carom.ContactProblem(0.01)
    for b in range(60):
        problem.add_body(random_mass(rng, 6), rng.normal(size=6))
    for k in range(180):
        problem.add_contact(k % 60, rng.normal(size=(3, 6)), other=(k + 1) % 60, other_jacobian=rng.normal(size=(3, 6)))
    assert carom.solve(problem, deadline=1e-9).status == "deadline"
    assert carom.solve(problem, iteration_limit=0).status == "iteration_limit"
    late = carom.solve(problem, law="coulomb", rigid=True, deadline=1e-6)
    assert late.status == "deadline" and np.isfinite(late.impulse).all()


def test_a_solution_keeps_the_problem_that_it_solved():
    numbers = random_numbers(5)
    problem = build(numbers)
    solution = carom.solve(problem, tolerance=1e-12)
    before = solution.pull_back(np.ones(12)).friction
    problem.reset(0.02)
    problem.add_body([[1.0]], [1.0])
    assert np.array_equal(solution.pull_back(np.ones(12)).friction, before)
    assert solution.impulse.shape == (3, 3)
    assert problem.time_step == 0.02 and problem.velocity_count == 1


def test_a_copy_changes_alone():
    problem = build(random_numbers(6))
    other, deep = copy.copy(problem), copy.deepcopy(problem)
    other.add_contact(0, np.eye(3, 6))
    problem.reset(0.02)
    assert (other.contact_count, deep.contact_count, problem.contact_count) == (4, 3, 0)
    assert deep.copy().time_step == 0.01


def test_results_are_fresh_arrays():
    solution = carom.solve(build(random_numbers(1)))
    first = solution.velocity
    first[:] = 7
    assert not np.array_equal(first, solution.velocity)
    for array in (solution.velocity, solution.impulse, solution.contact_velocity):
        assert array.dtype == np.float64 and array.flags.c_contiguous and array.flags.writeable


def test_certify_agrees_with_the_solver():
    problem = build(random_numbers(2))
    solution = carom.solve(problem, law="convex")
    certificate = carom.certify(problem, solution.velocity, solution.impulse, law="convex")
    assert certificate.residual <= 1e-8 and certificate.error_bound < 1e-6
    assert certificate.error_bound == pytest.approx(solution.error_bound, rel=0.5, abs=1e-12)
    wrong = solution.impulse
    wrong[1] *= 2
    judged = carom.certify(problem, impulse=wrong, law="convex")
    assert judged.worst_contact == 1 and judged.natural_map_error > 1e-3
    exact = carom.solve(problem)
    alone = carom.certify(problem, impulse=exact.impulse)
    assert alone.residual == pytest.approx(exact.residual, rel=1e-3, abs=1e-13)
    assert alone.dissipation_angle < 1e-5 and alone.error_bound == np.inf
    by_velocity = carom.certify(problem, velocity=solution.velocity, law="convex")
    assert by_velocity.natural_map_error < 1e-6
    assert carom.certify(problem, np.full(12, np.nan), solution.impulse, law="convex").residual == np.inf


def test_the_error_bound_holds():
    numbers = random_numbers(4)
    problem, (mass, _) = build(numbers), stacked(numbers)
    exact = carom.solve(problem, law="convex", tolerance=1e-14).velocity
    for limit in range(4):
        rough = carom.solve(problem, law="convex", tolerance=1e-14, iteration_limit=limit)
        error = rough.velocity - exact
        assert np.sqrt(error @ mass @ error) <= rough.error_bound * (1 + 1e-6) + 1e-12
