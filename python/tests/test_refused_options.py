# SPDX-License-Identifier: BSD-3-Clause
"""An option that cannot act beside the others is refused with its address."""
import numpy as np
import pytest

import carom

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
