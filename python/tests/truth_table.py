# SPDX-License-Identifier: BSD-3-Clause
"""Scenes whose outcome and whose gradients are known in closed form.

Each is derived in docs/derivations/gradients.md. A scene is one function of truth_steps.py,
truth_mechanisms.py or truth_impacts.py that gives its data, its outcomes and their gradients as
plain formulas, and the same scene as bodies and contacts for carom. No number of the formulas
comes from carom.

The formulas of outcomes and the numbers of models also take complex data. The derivative by a
datum p is then Im f(p + ih)/h, exact to rounding, and leads from masses, Jacobians and bounds to
the data of a scene.
"""

import dataclasses
import types
from collections.abc import Callable

import numpy as np

import carom

Data = types.SimpleNamespace
IMAGINARY_STEP = 1e-30


@dataclasses.dataclass
class Scene:
    """A scene by its formulas; an outcome is a number, a datum has a name."""

    name: str
    data: dict[str, float]
    outcomes: Callable  # Data -> list of numbers
    gradients: Callable  # Data -> one dict per outcome: datum -> derivative; a missing one is zero
    model: Callable  # Data -> Step or Impacts
    about: str = ""


@dataclasses.dataclass
class Block:
    """A contact, or a constraint if it has a law: where it acts, and its numbers."""

    jacobian: object
    numbers: dict
    body: int = 0
    other: int | None = None
    other_jacobian: object = None
    law: type | None = None
    fixed: dict = dataclasses.field(default_factory=dict)  # what no gradient is asked for


@dataclasses.dataclass
class Step:
    """A step of bodies, and which of its velocities and impulses are outcomes."""

    time_step: float
    bodies: list  # (mass matrix, free velocity)
    contacts: list
    constraints: list = dataclasses.field(default_factory=list)
    law: str = "coulomb"
    rigid: bool = True
    outcomes: list = dataclasses.field(default_factory=list)  # of velocity(), impulse(), effort()


@dataclasses.dataclass
class Impacts:
    """Impacts one after the other, (mass matrix, normals, restitution or None) each."""

    velocity: object
    stages: list
    outcomes: list  # entries of the last velocity


def velocity(index, factor=1.0):
    """An entry of the velocities of a step, stacked over its bodies."""
    return "velocity", index, 0, factor


def impulse(contact, row):
    """An entry of a contact's impulse, row 2 the normal one."""
    return "impulse", contact, row, 1.0


def effort(constraint, row=0):
    """An entry of a constraint's impulse."""
    return "effort", constraint, row, 1.0


def moved(data, name):
    """Data with an imaginary part in one of them."""
    return Data(**(data | {name: data[name] + 1j * IMAGINARY_STEP}))


def complex_step(function, data, name):
    """Derivative of an array of numbers by one of the data, exact to rounding."""
    return np.imag(np.asarray(function(moved(data, name)), dtype=complex)) / IMAGINARY_STEP


def real(numbers):
    """An array of doubles out of numbers that may be complex."""
    return np.real(np.asarray(numbers, dtype=complex))


def contact_problem(step):
    """The step as a problem of carom."""
    problem = carom.ContactProblem(step.time_step)
    for mass, free_velocity in step.bodies:
        problem.add_body(real(mass), real(free_velocity))
    for block in step.contacts:
        numbers = {name: real(value) for name, value in block.numbers.items()}
        other = None if block.other is None else real(block.other_jacobian)
        problem.add_contact(
            block.body,
            real(block.jacobian),
            **numbers,
            **block.fixed,
            other=block.other,
            other_jacobian=other,
        )
    for block in step.constraints:
        numbers = {name: real(value) for name, value in block.numbers.items()}
        other = None if block.other is None else real(block.other_jacobian)
        law = block.law(**numbers, **block.fixed)
        problem.add_constraint(
            block.body, real(block.jacobian), law, other=block.other, other_jacobian=other
        )
    return problem


def step_parts(step):
    """Every array that a step is made of, under the place of its gradient."""
    parts = {("free_velocity",): np.concatenate([np.asarray(v) for _, v in step.bodies])}
    for b, (mass, _) in enumerate(step.bodies):
        parts["mass", b] = np.asarray(mass)
    for c, block in enumerate(step.contacts):
        parts["jacobian", c] = np.asarray(block.jacobian)
        if block.other is not None:
            parts["other_jacobian", c] = np.asarray(block.other_jacobian)
        for name, value in block.numbers.items():
            parts[name, c] = np.asarray(value)
    for c, block in enumerate(step.constraints):
        parts["constraints", c, "jacobian"] = np.asarray(block.jacobian)
        if block.other is not None:
            parts["constraints", c, "other_jacobian"] = np.asarray(block.other_jacobian)
        for name, value in block.numbers.items():
            parts["constraints", c, name] = np.asarray(value)
    return parts


def at_place(gradients, place):
    """The gradient of carom by one of step_parts()."""
    found = getattr(gradients, place[0])
    for key in place[1:]:
        found = found[key]
    return np.asarray(found)


def impulse_row(step, kind, index, row):
    """Where an impulse stands in those of all blocks, contacts before constraints."""
    if kind == "impulse":
        return 3 * index + row
    rows = [len(np.atleast_2d(block.jacobian)) for block in step.constraints]
    return 3 * len(step.contacts) + sum(rows[:index]) + row


def solve_step(scene):
    """Outcomes of carom, and their gradients by all data."""
    step = scene.model(Data(**scene.data))
    solution = carom.solve(
        contact_problem(step), law=step.law, rigid=step.rigid, tolerance=1e-15, iteration_limit=500
    )
    slopes = {
        name: {
            place: np.imag(np.asarray(part, dtype=complex)) / IMAGINARY_STEP
            for place, part in step_parts(scene.model(moved(scene.data, name))).items()
        }
        for name in scene.data
    }
    values, gradients = [], []
    for kind, index, row, factor in step.outcomes:
        by_velocity = np.zeros_like(solution.velocity)
        by_impulse = np.zeros_like(solution.stacked_impulse)
        if kind == "velocity":
            by_velocity[index] = factor
        else:
            by_impulse[impulse_row(step, kind, index, row)] = factor
        values.append(by_velocity @ solution.velocity + by_impulse @ solution.stacked_impulse)
        found = solution.pull_back(by_velocity, by_impulse)
        gradients.append(
            {
                name: sum(
                    float((at_place(found, place) * slope).sum())
                    for place, slope in by.items()
                    if slope.any()
                )
                for name, by in slopes.items()
            }
        )
    return values, gradients


def solve_impacts(scene):
    """The same of impacts, from the last to the first."""
    model = scene.model(Data(**scene.data))
    ends, speeds = [], real(model.velocity)
    for mass, normals, restitution in model.stages:
        share = {} if restitution is None else {"restitution": float(np.real(restitution))}
        ends.append(carom.impact(real(mass), real(normals), speeds, **share))
        speeds = ends[-1].velocity
    changes = {name: scene.model(moved(scene.data, name)) for name in scene.data}
    gradients = []
    for index in model.outcomes:
        bar = np.eye(len(speeds))[index]
        sums = dict.fromkeys(scene.data, 0.0)
        for k in reversed(range(len(ends))):
            found = ends[k].pull_back(bar)
            for name, change in changes.items():
                mass, normals, restitution = change.stages[k]
                sums[name] += (np.asarray(found.mass_matrix) * np.imag(mass)).sum() / IMAGINARY_STEP
                sums[name] += (np.asarray(found.normals) * np.imag(normals)).sum() / IMAGINARY_STEP
                if restitution is not None:
                    sums[name] += float(found.restitution) * np.imag(restitution) / IMAGINARY_STEP
            bar = np.asarray(found.velocity)
        for name, change in changes.items():
            sums[name] += bar @ np.imag(np.asarray(change.velocity, dtype=complex)) / IMAGINARY_STEP
        gradients.append(sums)
    return [speeds[index] for index in model.outcomes], gradients


def solve_with_carom(scene):
    """Outcomes, and one dict of gradients per outcome, as carom finds them."""
    model = scene.model(Data(**scene.data))
    return solve_impacts(scene) if isinstance(model, Impacts) else solve_step(scene)


def exact(scene):
    """The same by the formulas."""
    data = Data(**scene.data)
    given = scene.gradients(data)
    gradients = [{name: float(by.get(name, 0.0)) for name in scene.data} for by in given]
    return [float(value) for value in scene.outcomes(data)], gradients


def natural_size(scene, values, name, derivative):
    """What an error of a derivative is measured by: it, or an outcome per datum."""
    largest = max(abs(value) for value in values)
    return max(abs(derivative), largest / max(abs(scene.data[name]), 1e-3))


def all_scenes():
    """The table, in the order of the document."""
    import truth_impacts
    import truth_mechanisms
    import truth_steps

    scenes = []
    for make in truth_impacts.SCENES + truth_steps.SCENES + truth_mechanisms.SCENES:
        scene = make()
        scene.about = make.__doc__
        scenes.append(scene)
    return scenes
