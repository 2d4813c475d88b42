# SPDX-License-Identifier: BSD-3-Clause
"""What the tests share: random steps, and paths of the repository."""
import os
import pathlib
import shutil

import numpy as np
import pytest

import carom

ROOT = pathlib.Path(__file__).resolve().parents[2]
DATA = ROOT / "examples" / "data"


def random_mass(rng, size):
    """A symmetric positive definite matrix."""
    root = rng.normal(size=(size, size))
    return root @ root.T + size * np.eye(size)


def random_numbers(seed, contacts=3, size=6):
    """The numbers of a step with two bodies, whose last contact joins them."""
    rng = np.random.default_rng(seed)
    return {
        "mass": [random_mass(rng, size), random_mass(rng, size)],
        "free_velocity": rng.normal(size=2 * size),
        "jacobian": [rng.normal(size=(3, size)) for _ in range(contacts)],
        "other_jacobian": [None] * (contacts - 1) + [rng.normal(size=(3, size))],
        "friction": rng.uniform(0.2, 0.8, contacts),
        "gap": rng.uniform(-3e-3, -1e-3, contacts),
        "stiffness": rng.uniform(1e3, 1e4, contacts),
        "dissipation_time": rng.uniform(0, 0.02, contacts),
    }


def build(numbers, time_step=0.01, constraints=()):
    """A problem out of numbers; contacts stand on body 0 and 1 in turn, the last joins both."""
    problem = carom.ContactProblem(time_step)
    start = 0
    for mass in numbers["mass"]:
        size = len(mass)
        problem.add_body(mass, numbers["free_velocity"][start : start + size])
        start += size
    for k, jacobian in enumerate(numbers["jacobian"]):
        other = numbers["other_jacobian"][k]
        weighted, biased = "regularization" in numbers, "bias" in numbers
        problem.add_contact(
            0 if other is not None else k % 2,
            jacobian,
            friction=numbers["friction"][k],
            gap=None if biased else numbers["gap"][k],
            stiffness=None if weighted else numbers["stiffness"][k],
            dissipation_time=None if weighted and biased else numbers["dissipation_time"][k],
            regularization=numbers["regularization"][k] if weighted else None,
            bias=numbers["bias"][k] if biased else None,
            other=1 if other is not None else None,
            other_jacobian=other,
        )
    for body, jacobian, law in constraints:
        problem.add_constraint(body, jacobian, law)
    return problem


@pytest.fixture(scope="session")
def program():
    """The carom program, where one has been built or CAROM_PROGRAM names it."""
    places = [os.environ.get("CAROM_PROGRAM"), ROOT / "build/release/bin/carom", shutil.which("carom")]
    for place in places:
        if place and pathlib.Path(place).is_file():
            return str(place)
    pytest.skip("the carom program has not been built")
