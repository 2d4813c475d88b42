# SPDX-License-Identifier: BSD-3-Clause
"""Gradients by the numbers of constraints are those of differences of solves."""

import copy

import numpy as np
import pytest

import carom
from conftest import build, random_numbers

WRENCH = {"gap": -1e-3, "stiffness": 5e3, "dissipation_time": 0.01, "friction": 0.3}
ROLLING = WRENCH | {"rolling_friction": 0.02, "torsional_friction": 0.03}
# A law, its numbers, how many rows it has, and what is fixed. The two motors are within and at the
# limit of their efforts, and so are the two tendons.
LAWS = {
    "joint limit": (
        carom.JointLimit,
        {"gap": -0.01, "stiffness": 2e3, "dissipation_time": 0.02},
        1,
        {},
    ),
    "stiff joint limit": (carom.JointLimit, {"gap": -0.01, "stiffness": 1e9}, 1, {}),
    "rigid joint limit": (carom.JointLimit, {"gap": -0.01}, 1, {"correction": 0.5}),
    "open joint limit": (carom.JointLimit, {"gap": 0.01}, 1, {}),
    "rope": (carom.Tendon, {"stretch": -0.01}, 1, {}),
    "joint": (carom.Bilateral, {"error": [0.01, -0.02, 0.03]}, 3, {}),
    "rigid rolling": (
        carom.WrenchContact,
        {"gap": 1e-3, "friction": 0.3, "rolling_friction": 0.02, "torsional_friction": 0.03},
        6,
        {"shape": "rolling"},
    ),
    "dry friction": (carom.DryFriction, {"effort_limit": 20.0}, 1, {}),
    "motor": (
        carom.Motor,
        {
            "position_error": 0.1,
            "wanted_velocity": 1.0,
            "position_gain": 50.0,
            "velocity_gain": 5.0,
        },
        1,
        {},
    ),
    "weak motor": (
        carom.Motor,
        {"wanted_velocity": 1.0, "velocity_gain": 40.0, "effort_limit": 3.0},
        1,
        {},
    ),
    "tendon": (carom.Tendon, {"stretch": 0.05, "stiffness": 1e3, "dissipation_time": 0.01}, 1, {}),
    "slipping tendon": (
        carom.Tendon,
        {"stretch": 0.05, "stiffness": 1e3, "tension_limit": 10.0},
        1,
        {},
    ),
    "bilateral": (
        carom.Bilateral,
        {"error": [0.01, -0.02, 0.03], "stiffness": 1e3, "dissipation_time": 0.01},
        3,
        {},
    ),
    "friction": (carom.WrenchContact, WRENCH, 3, {"shape": "friction"}),
    "elliptic": (carom.WrenchContact, WRENCH | {"second_friction": 0.5}, 3, {"shape": "elliptic"}),
    "torsional": (
        carom.WrenchContact,
        WRENCH | {"torsional_friction": 0.03},
        4,
        {"shape": "torsional"},
    ),
    "spinless rolling": (
        carom.WrenchContact,
        WRENCH | {"rolling_friction": 0.02},
        5,
        {"shape": "spinless_rolling"},
    ),
    "rolling": (carom.WrenchContact, ROLLING, 6, {"shape": "rolling"}),
}
SETTINGS = {
    "convex": ({"law": "convex"}, 1e-15),
    "coulomb": ({"law": "coulomb"}, 1e-13),
    "rigid": ({"law": "coulomb", "rigid": True}, 1e-13),
}


SPEEDS = {carom.Tendon: 2.0, carom.DryFriction: 3.0}


class Case:
    """A step with one constraint, between two bodies or on one."""

    def __init__(self, name, seed, two):
        rng = np.random.default_rng(seed)
        law, numbers, rows, self.fixed = LAWS[name]
        self.joint = name == "joint"
        self.law, self.two = law, two
        self.numbers = {key: np.array(value, dtype=float) for key, value in numbers.items()}
        self.step = random_numbers(seed, contacts=2)
        self.numbers["jacobian"] = rng.normal(size=(rows, 6))
        if two:
            self.numbers["other_jacobian"] = rng.normal(size=(rows, 6))
        self.aim(
            np.array([0.3, -0.2, -2.5, 0.4, 0.3, -0.5])[:rows] if rows > 1 else SPEEDS.get(law, -5)
        )
        self.by_velocity = rng.normal(size=12)
        self.by_impulse = rng.normal(size=6 + rows)

    def aim(self, speeds):
        """Turns the Jacobian so that its rows move at these speeds if nothing acts."""
        free, start = self.step["free_velocity"], 6 if self.two else 0
        moving = self.numbers["jacobian"] @ free[:6]
        if self.two:
            moving = moving + self.numbers["other_jacobian"] @ free[6:]
        name, part = ("other_jacobian", free[start:]) if self.two else ("jacobian", free[:6])
        self.numbers[name] += np.outer(speeds - moving, part) / (part @ part)

    def solve(self, law):
        numbers = dict(self.numbers)
        jacobian, other = numbers.pop("jacobian"), numbers.pop("other_jacobian", None)
        problem = build(self.step)
        problem.add_constraint(
            0, jacobian, self.law(**numbers, **self.fixed), 1 if self.two else None, other
        )
        settings, tolerance = SETTINGS[law]
        return carom.solve(problem, tolerance=tolerance, **settings)

    def loss(self, law):
        """R of a rigid joint is 1e-8 of its inverse mass: SapSolver, in velocities, has its impulses to 8 digits."""
        return 1000 if self.joint and law == "convex" else 1

    def value(self, law):
        solution = self.solve(law)
        return self.by_velocity @ solution.velocity + self.by_impulse @ solution.stacked_impulse

    def difference(self, law, name, index):
        """The quotient of a central difference."""
        numbers = self.numbers
        step = (2e-3 if name == "error" else 2e-5) * max(abs(numbers[name][index]), 0.3 if self.joint and name != "error" else 1e-2)
        ends = []
        for sign in (1, -1):
            self.numbers = copy.deepcopy(numbers)
            self.numbers[name][index] += sign * step
            ends.append(self.value(law))
        self.numbers = numbers
        return (ends[0] - ends[1]) / (2 * step)


@pytest.mark.parametrize("two", [False, True], ids=["one body", "two bodies"])
@pytest.mark.parametrize("seed", [4, 5])
@pytest.mark.parametrize("law", SETTINGS)
@pytest.mark.parametrize("name", LAWS)
def test_gradients_by_constraints_are_those_of_differences(name, law, seed, two):
    case = Case(name, seed, two)
    solution = case.solve(law)
    assert solution.constraint_impulses[0].any() and len(solution.one_sided) == 0
    gradients = solution.pull_back(case.by_velocity, case.by_impulse).constraints
    assert len(gradients) == 1
    assert ("other_jacobian" in gradients[0]) == two
    for number, given in case.numbers.items():
        exact = gradients[0][number].reshape(given.shape)
        found = np.array([case.difference(law, number, i) for i in np.ndindex(given.shape)])
        size = max(np.abs(exact).max(), 0.1 * abs(case.value(law)) / max(np.abs(given).max(), 1e-2))
        assert np.abs(found.reshape(given.shape) - exact).max() < case.loss(law) * 1e-5 * size, number


@pytest.mark.parametrize("two", [False, True], ids=["one body", "two bodies"])
@pytest.mark.parametrize("law", SETTINGS)
@pytest.mark.parametrize("name", LAWS)
def test_forwards_is_the_transpose_of_backwards(name, law, two):
    case = Case(name, 4, two)
    solution = case.solve(law)
    rng = np.random.default_rng(17)
    gradients = solution.pull_back(case.by_velocity, case.by_impulse)
    masses = [a + a.T for a in rng.normal(size=(2, 6, 6))]
    for number, gradient in gradients.constraints[0].items():
        change = rng.normal(size=gradient.shape)
        moved = solution.push_forward(constraints=[{number: change}])
        assert moved.stacked_impulse.shape == case.by_impulse.shape
        forwards = case.by_velocity @ moved.velocity + case.by_impulse @ moved.stacked_impulse
        backwards = (gradient * change).sum()
        size = np.linalg.norm(case.by_velocity) * np.linalg.norm(moved.velocity)
        size += np.linalg.norm(case.by_impulse) * np.linalg.norm(moved.stacked_impulse)
        assert abs(forwards - backwards) < case.loss(law) ** 2 * 1e-11 * (size + 1e-9), number
    # All at once, with masses, which the inverse masses of the rows follow, too.
    changes = {key: rng.normal(size=g.shape) for key, g in gradients.constraints[0].items()}
    moved = solution.push_forward(mass=masses, constraints=[changes])
    forwards = case.by_velocity @ moved.velocity + case.by_impulse @ moved.stacked_impulse
    backwards = sum((gradients.constraints[0][key] * d).sum() for key, d in changes.items())
    backwards += sum((g * d).sum() for g, d in zip(gradients.mass, masses))
    assert forwards == pytest.approx(backwards, rel=case.loss(law) ** 2 * 1e-9)
    assert np.array_equal(moved.constraint_impulses[0], moved.stacked_impulse[6:])


@pytest.mark.parametrize("law", ["convex", "coulomb"])
def test_changes_of_several_constraints_add_up(law):
    problem = build(random_numbers(1))
    problem.add_constraint(0, np.ones(6), carom.Motor(velocity_gain=5.0, wanted_velocity=1.0))
    problem.add_constraint(1, np.ones(6), carom.JointLimit(gap=-0.01, correction=0.2))
    solution = carom.solve(problem, law=law, tolerance=1e-14)
    motor, limit = {"wanted_velocity": [1.0]}, {"gap": [1e-3]}
    nothing = solution.push_forward(constraints=[None, {}]).velocity
    assert not nothing.any()
    one, other, both = (
        solution.push_forward(constraints=changes).velocity
        for changes in ([motor, None], [None, limit], [motor, limit])
    )
    assert one.any() and other.any()
    assert np.allclose(both, one + other, rtol=1e-12, atol=1e-15)


def test_bad_changes_of_constraints_are_refused():
    problem = build(random_numbers(1))
    problem.add_constraint(0, np.ones(6), carom.DryFriction(effort_limit=1.0))
    solution = carom.solve(problem)
    for wrong, message in [
        ([], "^constraints: expected a list of 1 dicts"),
        (3, "^constraints: expected a list of 1 dicts"),
        ([5.0], "^constraints 0: expected a dict or None"),
        ([{"effort": [1.0]}], "^constraints 0: expected names among effort_limit, jacobian, got"),
        ([{1: [1.0]}], "^constraints 0: expected names among"),
        ([{"other_jacobian": np.ones((1, 6))}], "^constraints 0: expected names among"),
        ([{"effort_limit": [1.0, 2.0]}], "^constraints 0: effort_limit"),
        ([{"effort_limit": [np.nan]}], "^constraints 0: effort_limit"),
        ([{"jacobian": np.ones((2, 6))}], "^constraints 0: jacobian"),
        ([{"jacobian": np.full((1, 6), np.inf)}], "^constraints 0: jacobian"),
    ]:
        with pytest.raises(ValueError, match=message):
            solution.push_forward(constraints=wrong)


@pytest.mark.parametrize(
    "name, active", [("weak motor", "effort_limit"), ("slipping tendon", "tension_limit")]
)
def test_bounds_that_hold_have_gradients(name, active):
    """The sweep above meets both sides: these bounds hold, and the spring behind them is mute."""
    case = Case(name, 3, False)
    for law in SETTINGS:
        gradients = case.solve(law).pull_back(case.by_velocity).constraints[0]
        assert abs(gradients[active]) > 0
        assert not any(gradients[other] for other in gradients if other.endswith("gain"))


def test_gradients_of_constraints_keep_their_order():
    problem = build(random_numbers(1))
    problem.add_constraint(0, np.ones(6), carom.JointLimit(gap=-0.01))
    problem.add_constraint(1, np.ones(6), carom.DryFriction(effort_limit=1.0))
    gradients = carom.solve(problem).pull_back(np.ones(12)).constraints
    assert "gap" in gradients[0] and "effort_limit" in gradients[1]
    assert build(random_numbers(1)).constraint_count == 0
    assert carom.solve(build(random_numbers(1))).pull_back(np.ones(12)).constraints == []


@pytest.mark.parametrize("law", ["convex", "coulomb"])
def test_an_effort_without_limit_has_no_gradient_by_it(law):
    problem = build(random_numbers(1))
    problem.add_constraint(0, np.ones(6), carom.Motor(velocity_gain=5.0, wanted_velocity=1.0))
    gradients = carom.solve(problem, law=law).pull_back(np.ones(12)).constraints[0]
    assert gradients["effort_limit"] == 0 and gradients["wanted_velocity"] != 0


# What takes an overlap out follows what presses the bodies together, so the velocities that the step
# adds and begins with have slopes by it, of contacts of every shape, between two bodies or one.
@pytest.mark.parametrize("shape", [None, "friction", "torsional", "rolling"])
@pytest.mark.parametrize("two", [False, True])
def test_an_overlap_has_slopes_by_the_velocities_that_press(shape, two):
    rows = {None: 3, "friction": 3, "torsional": 4, "rolling": 6}[shape]
    jacobian = np.zeros((rows, 6))
    jacobian[:rows] = np.eye(6)[:rows]
    if rows == 4:
        jacobian[3] = np.eye(6)[5]
    numbers = {"free_velocity": np.zeros(12), "velocity": np.zeros(12)}
    numbers["free_velocity"][[2, 8]] = [-0.0981, 0.05]
    moments = {"torsional_friction": 0.01} if rows > 3 else {}
    moments |= {"rolling_friction": 0.01} if rows == 6 else {}

    def step(free_velocity, velocity):
        problem = carom.ContactProblem(0.01)
        for k in range(2):
            own = slice(6 * k, 6 * k + 6)
            problem.add_body((1.0 + k) * np.eye(6), free_velocity[own], velocity[own])
        other = (1, -jacobian) if two else ()
        if shape is None:
            pair = dict(zip(("other", "other_jacobian"), other))
            problem.add_contact(0, jacobian, gap=-0.05, friction=0.5, **pair)
        else:
            law = carom.WrenchContact(shape=shape, gap=-0.05, friction=0.5, **moments)
            problem.add_constraint(0, jacobian, law, *other)
        return carom.solve(problem, tolerance=1e-12)

    weights = np.arange(1.0, 13.0)
    here = step(**numbers)
    pulled = here.pull_back(weights)
    for name in numbers:
        change = np.zeros(12)
        change[2] = 1
        moved = [step(**(numbers | {name: numbers[name] + h * change})).velocity for h in (1e-5, -1e-5)]
        slope = (moved[0] - moved[1]) / 2e-5
        assert slope[2] != 0
        assert getattr(pulled, name) @ change == pytest.approx(weights @ slope, rel=1e-6, abs=1e-7)
        forwards = here.push_forward(**{name: change})
        assert forwards.velocity == pytest.approx(slope, abs=1e-7)
