# SPDX-License-Identifier: BSD-3-Clause
"""Gradients agree with differences of solves, and forwards with backwards."""
import copy

import numpy as np
import pytest

import carom
from conftest import build, random_numbers

CONSTRAINTS = [
    (0, np.linspace(1, 2, 6), carom.Motor(velocity_gain=5.0, wanted_velocity=1.0)),
    (1, np.linspace(-1, 1, 6), carom.DryFriction(effort_limit=1e4)),
    (1, np.eye(6)[:2] + 0.1, carom.Bilateral(stiffness=1e3)),
    (0, np.linspace(2, -1, 6), carom.JointLimit(gap=-0.01)),
]


# Laws and whether contacts are rigid, and the tolerance to which their solvers go.
LAWS = {
    "convex": ({"law": "convex"}, 1e-15),
    "coulomb": ({"law": "coulomb"}, 1e-13),
    "rigid": ({"law": "coulomb", "rigid": True}, 1e-13),
    "rigid convex": ({"law": "convex", "rigid": True}, 1e-13),
}


def solve(numbers, constraints=(), law="convex"):
    settings, tolerance = LAWS[law]
    return carom.solve(build(numbers, constraints=constraints), tolerance=tolerance, **settings)


def entries(numbers, name):
    """(array, indices) of all numbers of a name; the matrices of a list one after the other."""
    arrays = numbers[name] if isinstance(numbers[name], list) else [numbers[name]]
    for array in arrays:
        if array is None:
            continue
        for index in np.ndindex(array.shape):
            yield array, index


@pytest.mark.parametrize("constraints", [(), CONSTRAINTS], ids=["contacts", "constraints"])
@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize("law", LAWS)
def test_gradients_are_those_of_differences(seed, constraints, law):
    rng = np.random.default_rng(100 + seed)
    numbers = random_numbers(seed)
    by_velocity, by_impulse = rng.normal(size=12), rng.normal(size=(3, 3))

    def value():
        solution = solve(numbers, constraints, law)
        return by_velocity @ solution.velocity + (by_impulse * solution.impulse).sum()

    solution = solve(numbers, constraints, law)
    assert len(solution.one_sided) == 0
    gradients = solution.pull_back(by_velocity, by_impulse)
    for name in ["free_velocity", "friction", "gap", "stiffness", "dissipation_time", "jacobian", "other_jacobian", "mass"]:
        exact = getattr(gradients, name)
        exact = [array for array in exact if array is not None] if isinstance(exact, list) else [exact]
        flat = np.concatenate([array.ravel() for array in exact])
        found = []
        for array, index in entries(numbers, name):
            step = 1e-6 * max(1.0, abs(array[index])) if name != "gap" else 1e-8
            symmetric = name == "mass" and index[0] != index[1]
            before = array.copy()
            ends = []
            for sign in (1, -1):
                array[index] += sign * step
                if symmetric:
                    array[index[::-1]] += sign * step
                ends.append(value())
                array[...] = before
            found.append((ends[0] - ends[1]) / (2 * step) / (2 if symmetric else 1))
        scale = max(np.abs(flat).max(), 1e-9)
        assert np.abs(flat - np.array(found)).max() < 1e-5 * scale + 1e-9, name


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize("law", LAWS)
def test_forwards_is_the_transpose_of_backwards(seed, law):
    rng = np.random.default_rng(seed)
    solution = solve(random_numbers(seed), CONSTRAINTS, law)
    by_velocity, by_impulse = rng.normal(size=12), rng.normal(size=(3, 3))
    symmetric = [a + a.T for a in rng.normal(size=(2, 6, 6))]
    change = {
        "free_velocity": rng.normal(size=12),
        "friction": rng.normal(size=3),
        "gap": rng.normal(size=3),
        "stiffness": rng.normal(size=3),
        "dissipation_time": rng.normal(size=3),
        "regularization": np.repeat(rng.normal(size=(3, 1)), 3, axis=1),
        "bias": rng.normal(size=(3, 3)),
        "mass": symmetric,
        "jacobian": list(rng.normal(size=(3, 3, 6))),
        "other_jacobian": [None, None, rng.normal(size=(3, 6))],
    }
    moved = solution.push_forward(**change)
    forwards = by_velocity @ moved.velocity + (by_impulse * moved.impulse).sum()
    gradients = solution.pull_back(by_velocity, by_impulse)
    backwards = 0.0
    for name, given in change.items():
        gradient = getattr(gradients, name)
        if isinstance(gradient, list):
            backwards += sum((g * d).sum() for g, d in zip(gradient, given) if d is not None)
        else:
            backwards += (gradient * given).sum()
    assert forwards == pytest.approx(backwards, rel=1e-9)


@pytest.mark.parametrize("law", LAWS)
def test_a_contact_that_moves_nothing_has_no_gradients_and_spoils_none(law):
    settings, tolerance = LAWS[law]

    def drop(height_speed, idle):
        problem = carom.ContactProblem(time_step=0.01)
        problem.add_body(np.eye(3), np.array([0.0, 0.0, height_speed]))
        problem.add_contact(0, np.eye(3), friction=0.5)
        if idle:
            problem.add_contact(0, np.zeros((3, 3)), friction=0.5)
        return carom.solve(problem, tolerance=tolerance, **settings)

    alone, beside = drop(-1.0, False), drop(-1.0, True)
    by_velocity = np.array([0.0, 0.0, 1.0])
    expected, found = alone.pull_back(by_velocity), beside.pull_back(by_velocity)
    assert found.free_velocity == pytest.approx(expected.free_velocity, abs=1e-12)
    for name in ["friction", "gap", "stiffness", "dissipation_time"]:
        assert getattr(found, name)[0] == pytest.approx(getattr(expected, name)[0], abs=1e-12), name
        assert getattr(found, name)[1] == 0, name
    assert np.isfinite(found.mass[0]).all()
    assert np.abs(found.jacobian[1]).max() <= 1e-12
    forwards = beside.push_forward(free_velocity=np.array([0.0, 0.0, 1.0]))
    assert forwards.velocity[2] == pytest.approx(expected.free_velocity[2], abs=1e-12)


def test_given_regularization_and_bias_have_gradients():
    numbers = random_numbers(7)
    numbers |= {
        "regularization": np.full((3, 3), 2e-3),
        "bias": np.array([[0.01, 0, 0.2], [0, 0.02, 0.1], [0, 0, 0.3]]),
        "stiffness": [None] * 3,
    }
    by_impulse = np.arange(9.0).reshape(3, 3)

    def value(given):
        return (by_impulse * solve(given).impulse).sum()

    gradients = solve(numbers).pull_back(impulse_bar=by_impulse)
    assert not gradients.gap.any() and not gradients.stiffness.any()
    for c in range(3):
        for rows, exact in [([0, 1], gradients.regularization[c, :2].sum()), ([2], gradients.regularization[c, 2])]:
            ends = []
            for sign in (1, -1):
                moved = copy.deepcopy(numbers)
                moved["regularization"][c, rows] += sign * 1e-8
                ends.append(value(moved))
            assert (ends[0] - ends[1]) / 2e-8 == pytest.approx(exact, rel=1e-4, abs=1e-4)
        for row in range(3):
            ends = []
            for sign in (1, -1):
                moved = copy.deepcopy(numbers)
                moved["bias"][c, row] += sign * 1e-6
                ends.append(value(moved))
            assert (ends[0] - ends[1]) / 2e-6 == pytest.approx(gradients.bias[c, row], rel=1e-4, abs=1e-6)


def test_a_contact_between_stick_and_slide_is_one_sided():
    problem = carom.ContactProblem(0.01)
    problem.add_body(np.eye(3), [0.5, 0, -1.0])
    problem.add_contact(0, np.eye(3), friction=0.5, regularization=1.0, bias=[0, 0, 0])
    problem.add_body(np.eye(3), [0.1, 0, -1.0])
    problem.add_contact(1, np.eye(3), friction=0.5, regularization=1.0, bias=[0, 0, 0])
    solution = carom.solve(problem, tolerance=1e-14)
    assert solution.one_sided.tolist() == [0] and solution.index == 0


def test_the_index_tells_an_answer_between_two_others():
    """W = [[1, 0.5], [0.5, 0.26]] and mu = 1: slip presses the contact into the ground, as in Painleve's paradox.

    With the free velocity (1, 0.1) it can stay open, slide or stick, each in closed form; the indices sum to one."""
    soft, free = 1e-6, np.array([1.0, 0.0, -4.0])
    jacobian = np.array([[1.0, 0, 0], [0, 1.0, 0], [0.5, 0, 0.1]])
    problem = carom.ContactProblem(0.01)
    problem.add_body(np.eye(3), free)
    problem.add_contact(0, jacobian, friction=1.0, regularization=soft, bias=[0, 0, 0])
    slide = 0.1 / (0.5 - 0.26 - soft)
    stick = np.linalg.solve([[1 + soft, 0.5], [0.5, 0.26 + soft]], [-1, -0.1])
    answers = [(np.zeros(3), 1), (np.array([-slide, 0, slide]), -1), (np.array([stick[0], 0, stick[1]]), 1)]
    for impulse, _ in answers:
        solution = carom.solve(problem, guess=free + jacobian.T @ impulse)
        indices = [index for exact, index in answers if np.allclose(solution.impulse, exact, rtol=1e-6, atol=1e-7)]
        assert solution.converged and [solution.index] == indices
    assert carom.solve(problem, law="convex").index == 1


def test_a_rigid_block_slides_as_its_closed_form_says():
    """v = v* - mu g dt along a slide, whatever the mass; an open gap closes at gap / dt."""
    time_step, gravity, friction, mass = 0.01, 9.81, 0.3, 2.0
    problem = carom.ContactProblem(time_step)
    problem.add_body(mass * np.eye(3), [1.0, 0, -gravity * time_step])
    problem.add_contact(0, np.eye(3), friction=friction, rigid=True)
    problem.add_body(mass * np.eye(3), [0, 0, -gravity * time_step])
    problem.add_contact(1, np.eye(3), friction=0, gap=5e-4, rigid=True)
    solution = carom.solve(problem, law="coulomb", tolerance=1e-13)
    gradients = solution.pull_back([1, 0, 0, 0, 0, 0])
    assert gradients.friction[0] == pytest.approx(-gravity * time_step, rel=1e-10)
    assert gradients.free_velocity[:3] == pytest.approx([1, 0, friction], rel=1e-10, abs=1e-12)
    assert abs(np.trace(gradients.mass[0])) < 1e-12 and not gradients.stiffness.any()
    closing = solution.pull_back([0, 0, 0, 0, 0, 1])  # the open gap closes within the step
    assert closing.gap == pytest.approx([0, -1 / time_step], rel=1e-10)


def test_a_rigid_slide_under_the_convex_law_lifts_as_its_closed_form_says():
    """v_n = mu v_t, so that v_t = (a + mu b)/(1 + mu^2) of v* = (a, 0, b), whatever the mass."""
    friction, free = 0.3, np.array([1.0, 0, -0.5])
    problem = carom.ContactProblem(0.01)
    problem.add_body(2 * np.eye(3), free)
    problem.add_contact(0, np.eye(3), friction=friction, rigid=True)
    problem.add_body(np.eye(3), [1.0, 0, -0.5])
    problem.add_contact(1, np.eye(3), friction=friction, stiffness=1e3)  # one that gives way, beside it
    solution = carom.solve(problem, law="convex", tolerance=1e-13)
    share = 1 + friction**2
    assert solution.velocity[0] == pytest.approx((free[0] + friction * free[2]) / share, rel=1e-10)
    gradients = solution.pull_back([1, 0, 0, 0, 0, 0])
    by_friction = (free[2] * share - 2 * friction * (free[0] + friction * free[2])) / share**2
    assert gradients.friction == pytest.approx([by_friction, 0], rel=1e-9)
    assert gradients.free_velocity[:3] == pytest.approx([1 / share, 0, friction / share], rel=1e-9, abs=1e-12)
    assert not gradients.regularization[0].any() and abs(np.trace(gradients.mass[0])) < 1e-9


def test_bad_numbers_for_gradients_are_refused():
    problem = build(random_numbers(0))
    solution = carom.solve(problem)
    for wrong in [np.ones(11), np.ones((12, 1)), "a", np.full(12, np.nan)]:
        with pytest.raises(ValueError, match="^velocity_bar"):
            solution.pull_back(wrong)
    with pytest.raises(ValueError, match="^friction"):
        solution.push_forward(friction=[1.0])
    with pytest.raises(ValueError, match="^mass"):
        solution.push_forward(mass=[np.eye(6)])


@pytest.mark.parametrize("law", ["coulomb", "convex"])
def test_gradients_by_restitution_and_approach_are_differences(law):
    rng = np.random.default_rng(31)
    compared = 0
    for k in range(30):
        data = {"restitution": rng.uniform(0.1, 0.9, 2), "approach": rng.uniform(0.5, 2, 2)}
        gaps = [0.0, rng.choice([0.0, 0.002, 5.0])]  # the last stays open
        jacobians = [rng.normal(size=(3, 3)) for _ in range(2)]
        root = rng.normal(size=(3, 3))
        mass, free = root @ root.T + np.eye(3), rng.normal(size=3)

        def solved(restitution, approach):
            problem = carom.ContactProblem(0.01)
            problem.add_body(mass, free)
            for c in range(2):
                problem.add_contact(0, jacobians[c], friction=0.3, gap=gaps[c], rigid=True, restitution=restitution[c],
                                    approach=approach[c])
            return carom.solve(problem, law=law, tolerance=1e-13)

        solution, h = solved(**data), 1e-6
        change = {name: rng.normal(size=2) for name in data}
        ends = [solved(**{name: data[name] + s * h * change[name] for name in data}) for s in (1, -1)]
        if not all(s.converged for s in [solution, *ends]) or len(solution.one_sided):
            continue
        slope = (ends[0].velocity - ends[1].velocity) / (2 * h)
        pushed = solution.push_forward(**change).velocity
        if np.abs(slope - pushed).max() > 1e-5 * (1 + np.abs(slope).max()):
            # A contact may have changed between stick, slide and open within the difference.
            halves = [(e.velocity - solution.velocity) / (s * h) for e, s in zip(ends, (1, -1))]
            assert np.abs(halves[0] - halves[1]).max() > 1e-5
            continue
        bar = rng.normal(size=3)
        gradients = solution.pull_back(bar)
        assert sum(getattr(gradients, name) @ change[name] for name in change) == pytest.approx(bar @ pushed, abs=1e-9)
        compared += bool(np.abs(pushed).max() > 1e-3)
        if gaps[1] == 5.0:
            assert gradients.restitution[1] == 0 and gradients.approach[1] == 0
    assert compared > 8


def test_a_bounce_has_the_slopes_of_newtons_law():
    for direction in ([0, 0, 1], [0.6, 0, 0.8], [-0.48, 0.64, 0.6]):
        for approach, restitution in [(2.0, 0.7), (1e-3, 1.0), (500.0, 0.0)]:
            normal = np.array(direction)
            tangent = np.linalg.svd(normal[None])[2][1:]
            problem = carom.ContactProblem(0.01)
            problem.add_body(np.eye(3), -approach * normal)
            problem.add_contact(0, [*tangent, normal], friction=0.0, rigid=True, restitution=restitution, approach=approach)
            solution = carom.solve(problem, law="coulomb", tolerance=1e-13)
            gradients = solution.pull_back(normal)
            assert gradients.restitution[0] == pytest.approx(approach, rel=1e-12)
            assert gradients.approach[0] == pytest.approx(restitution, rel=1e-12)
            assert gradients.gap[0] == 0
            change = solution.push_forward(restitution=[0.1], approach=[0.2])
            expected = 0.1 * approach + 0.2 * restitution
            assert np.allclose(change.velocity, expected * normal, atol=1e-12 * approach)


def test_batches_have_gradients_by_restitution_and_approach():
    problems = []
    for approach in (1.0, 2.0):
        problem = carom.ContactProblem(0.01)
        problem.add_body(np.eye(3), [0, 0, -approach])
        problem.add_contact(0, np.eye(3), friction=0.0, rigid=True, restitution=0.5, approach=approach)
        problems.append(problem)
    gradients = carom.solve_batch(carom.Batch(problems), law="coulomb", tolerance=1e-12).pull_back(np.tile([0, 0, 1.0], (2, 1)))
    assert np.allclose(gradients.restitution, [[1], [2]]) and np.allclose(gradients.approach, 0.5)


def test_the_gradient_of_an_approach_reaches_the_velocities_of_bodies():
    rng = np.random.default_rng(41)
    jacobians = [rng.normal(size=(3, 3)) for _ in range(2)]
    data = {"velocity": rng.normal(size=6), "restitution": np.array([0.6])}
    if jacobians[0][2] @ data["velocity"][:3] + jacobians[1][2] @ data["velocity"][3:] > 0:
        data["velocity"] *= -1  # they approach

    def solved(velocity, restitution, jacobian=jacobians):
        problem = carom.ContactProblem(0.01)
        for b in range(2):
            problem.add_body(np.eye(3), data["velocity"][3 * b : 3 * b + 3], velocity=velocity[3 * b : 3 * b + 3])
        problem.add_contact(0, jacobian[0], other=1, other_jacobian=jacobian[1], friction=0.2, restitution=restitution[0])
        return carom.solve(problem, law="coulomb", tolerance=1e-13)

    solution, h, bar = solved(**data), 1e-6, rng.normal(size=6)
    gradients = solution.pull_back(bar)
    assert np.abs(gradients.velocity).max() > 1e-3
    change = rng.normal(size=6)
    slope = sum(s * solved(data["velocity"] + s * h * change, data["restitution"]).velocity for s in (1, -1)) / (2 * h)
    assert np.allclose(solution.push_forward(velocity=change).velocity, slope, atol=1e-6)
    assert gradients.velocity @ change == pytest.approx(bar @ slope, abs=1e-6)
    turned = rng.normal(size=(3, 3))
    ends = [solved(**data, jacobian=[jacobians[0] + s * h * turned, jacobians[1]]).velocity for s in (1, -1)]
    slope = (ends[0] - ends[1]) / (2 * h)
    assert np.sum(gradients.jacobian[0] * turned) == pytest.approx(bar @ slope, abs=1e-5)


def test_a_chain_of_bounces_has_its_slope_without_an_approach():
    step, e, z, v = 0.01, 0.8, 0.055, -1.0
    made = []
    for _ in range(20):
        problem = carom.ContactProblem(step)
        problem.add_body(np.eye(3), [0, 0, v], velocity=[0, 0, v])
        problem.add_contact(0, np.eye(3), friction=0.0, gap=z, restitution=e)
        made.append(carom.solve(problem, tolerance=1e-13))
        v = made[-1].velocity[2]
        z += step * v
    by_v = 1.0
    for s in reversed(made):
        gradients = s.pull_back([0, 0, by_v])
        by_v = gradients.free_velocity[2] + gradients.velocity[2]
    assert by_v == pytest.approx(-e)
