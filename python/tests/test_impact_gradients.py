# SPDX-License-Identifier: BSD-3-Clause
"""Derivatives of impacts, against closed forms, differences of the impacts, and each other."""
import numpy as np
import pytest

import carom

LINE = [[-1, 1, 0], [0, -1, 1]]  # three balls in line
PAIR = [[-1, 1]]


def by_velocity(impact):
    """d velocity after / d velocity before."""
    size = len(impact.velocity)
    return np.stack([impact.push_forward(velocity=axis).velocity for axis in np.eye(size)], axis=1)


def test_two_equal_balls_exchange_changes():
    impact = carom.impact(np.eye(2), PAIR, [1, -0.5])
    assert np.abs(by_velocity(impact) - [[0, 1], [1, 0]]).max() < 1e-15
    assert np.abs(impact.pull_back([1, 0]).velocity - [0, 1]).max() < 1e-15
    assert np.abs(impact.pull_back([0, 1]).velocity - [1, 0]).max() < 1e-15
    assert len(impact.one_sided) == 0 and impact.one_sided.dtype == np.int64


def test_two_balls_of_any_mass():
    m1, m2, v1, v2, e = 2.0, 3.0, 1.0, -0.5, 0.4
    gradients = carom.impact([m1, m2], PAIR, [v1, v2], restitution=e).pull_back([1, 0])
    by_m1 = (1 + e) * m2 * (v1 - v2) / (m1 + m2) ** 2
    assert np.allclose(gradients.velocity, [(m1 - e * m2) / (m1 + m2), (1 + e) * m2 / (m1 + m2)], atol=1e-14)
    assert np.allclose(np.diag(gradients.mass_matrix), [by_m1, -by_m1 * m1 / m2], atol=1e-14)
    assert gradients.restitution == pytest.approx(m2 * (v2 - v1) / (m1 + m2), abs=1e-14)
    assert repr(gradients) == "ImpactGradients(velocities=2, contacts=1)"


@pytest.mark.parametrize("count", [2, 3, 5, 8])
def test_a_cradle_reverses_changes(count):
    normals = np.eye(count)[1:] - np.eye(count)[:-1]
    impact = carom.impact(np.eye(count), normals, np.arange(count, 0, -1.0) ** 2)
    assert np.abs(by_velocity(impact) - np.eye(count)[::-1]).max() < 1e-13


def test_a_disc_strikes_a_wall_aslant():
    angle, velocity = 0.7, np.array([-2.0, 0.3])
    normal, turned = np.array([np.cos(angle), np.sin(angle)]), np.array([-np.sin(angle), np.cos(angle)])
    impact = carom.impact(1.7 * np.eye(2), [normal], velocity)
    expected = -2 * (velocity @ turned * normal + velocity @ normal * turned)
    assert np.allclose(impact.push_forward(normals=[turned]).velocity, expected, atol=1e-14)
    assert np.abs(impact.push_forward(normals=[normal]).velocity).max() < 1e-14  # its length does not matter
    assert np.abs(impact.push_forward(mass_matrix=np.eye(2)).velocity).max() < 1e-14


def test_restitution_of_a_whole_impact():
    for restitution in [0.0, 0.3, 1.0]:
        impact = carom.impact(np.eye(3), LINE, [1, 0, 0], restitution=restitution)
        # ((1 - R), (1 - R), (1 + 2 R))/3
        assert np.allclose(impact.push_forward(restitution=1).velocity, np.array([-1, -1, 2]) / 3, atol=1e-14)
    assert carom.impact(np.eye(3), LINE, [1, 0, 0], law="plastic").pull_back([1, 0, 0]).restitution == 0


@pytest.mark.parametrize(
    "law, order",
    [(law, order) for law in ("elastic", "restitution") for order in (None, "most_infeasible", "least_infeasible", "sweep")]
    + [("plastic", None), ("simultaneous", None), ("restitution", "simultaneous")],
)
def test_derivatives_are_differences_and_transposes(law, order):
    rng = np.random.default_rng(7)
    compared = 0
    for _ in range(40):
        size = int(rng.integers(2, 6))
        contacts = int(rng.integers(1, size + 1))
        root = rng.normal(size=(size, size))
        data = {
            "mass_matrix": root @ root.T + np.eye(size),
            "normals": rng.normal(size=(contacts, size)),
            "velocity": rng.normal(size=size),
        }
        change = {name: rng.normal(size=value.shape) for name, value in data.items()}
        change["mass_matrix"] = change["mass_matrix"] + change["mass_matrix"].T
        if law == "restitution":
            data["restitution"], change["restitution"] = 0.6, rng.normal()
        step = 1e-6
        at = carom.impact(**data, law=law, order=order)
        ends = [
            carom.impact(**{name: data[name] + sign * step * change[name] for name in data}, law=law, order=order)
            for sign in (1, -1)
        ]
        active = [(e.sequence, (e.impulses > 0).tolist(), e.status) for e in [at, *ends]]
        if active[1] != active[0] or active[2] != active[0] or len(at.one_sided):
            continue
        compared += 1
        pushed = at.push_forward(**change).velocity
        slope = (ends[0].velocity - ends[1].velocity) / (2 * step)
        assert np.allclose(pushed, slope, rtol=1e-6, atol=1e-6 * (1 + np.abs(slope).max()))
        bar = rng.normal(size=size)
        gradients = at.pull_back(bar)
        product = sum(np.sum(getattr(gradients, name) * change[name]) for name in change)
        assert product == pytest.approx(bar @ pushed, rel=1e-9, abs=1e-9)
        assert gradients.normals.shape == (contacts, size) and gradients.mass_matrix.shape == (size, size)
        assert np.array_equal(gradients.mass_matrix, gradients.mass_matrix.T)
    assert compared > 20


def test_normals_count_as_long_as_they_were_given():
    short = carom.impact(np.eye(3), LINE, [1, 0, 0]).pull_back([0, 0, 1])
    long = carom.impact(np.eye(3), 10 * np.array(LINE), [1, 0, 0]).pull_back([0, 0, 1])
    assert np.allclose(short.normals, 10 * long.normals, atol=1e-15)


def test_contacts_whose_side_matters_are_named():
    assert carom.impact(np.eye(3), LINE, [1, 0, 0]).one_sided.tolist() == [0]  # two balls stay at rest, touching
    assert carom.impact(np.eye(3), LINE, [4, 2, 1]).one_sided.tolist() == []
    assert carom.impact(np.eye(3), LINE, [3, 2, 1]).one_sided.tolist() == [0, 1]  # as fast as each other
    # A ball between two others, under 100 degrees: either may be struck first.
    a, b = np.cos(np.radians(50)), np.sin(np.radians(50))
    normals = [[-a, -b, a, b, 0, 0], [-a, b, 0, 0, a, -b]]
    both = carom.impact(np.eye(6), normals, [1, 0, 0, 0, 0, 0])
    assert both.one_sided.tolist() == [0, 1]
    sides = [by_velocity(carom.impact(np.eye(6), normals, [1, y, 0, 0, 0, 0])) for y in (0.01, -0.01)]
    assert np.abs(sides[0] - sides[1]).max() > 0.1
    first = carom.impact(np.eye(6), normals, [1, 0, 0, 0, 0, 0], order="most_infeasible")
    assert first.one_sided.tolist() == [0, 1]
    assert min(np.abs(by_velocity(first) - side).max() for side in sides) < 1e-12
    # Both at once: the reflection about their common face, as the simultaneous law does everywhere.
    rows = np.array(normals)
    face = np.eye(6) - 2 * rows.T @ np.linalg.solve(rows @ rows.T, rows)
    assert np.abs(by_velocity(both) - face).max() < 1e-12
    at_once = carom.impact(np.eye(6), normals, [1, 0.01, 0, 0, 0, 0], law="simultaneous")
    assert np.abs(by_velocity(at_once) - face).max() < 1e-12 and at_once.one_sided.tolist() == []


def test_a_wedge_rests():
    impact = carom.impact(np.eye(2), [[1, 0], [-1, 0]], [2, 3])
    assert impact.status == "wedged"
    assert np.allclose(by_velocity(impact), [[0, 0], [0, 1]], atol=1e-15)


def test_a_diagonal_of_masses():
    impact = carom.impact([2.0, 3.0], PAIR, [1, 0])
    full = carom.impact(np.diag([2.0, 3.0]), PAIR, [1, 0])
    assert np.allclose(impact.pull_back([1, 2]).mass_matrix, full.pull_back([1, 2]).mass_matrix, atol=1e-15)
    one, other = impact.push_forward(mass_matrix=[1, 0.5]), full.push_forward(mass_matrix=np.diag([1, 0.5]))
    assert np.allclose(one.velocity, other.velocity, atol=1e-15) and np.abs(one.velocity).max() > 0.1


IMPACT = carom.impact(np.eye(2), PAIR, [1, 0])


@pytest.mark.parametrize(
    "message, ask",
    [
        (r"velocity_bar: expected shape \(2,\)", lambda: IMPACT.pull_back([1, 0, 0])),
        ("velocity_bar", lambda: IMPACT.pull_back(None)),
        ("velocity_bar", lambda: IMPACT.pull_back([1, np.nan])),
        ("velocity_bar", lambda: IMPACT.pull_back("fast")),
        ("velocity: expected shape", lambda: IMPACT.push_forward(velocity=[1])),
        (r"normals: expected shape \(1, 2\)", lambda: IMPACT.push_forward(normals=[1, 0])),
        ("normals", lambda: IMPACT.push_forward(normals=[[np.inf, 0]])),
        (r"mass matrix: expected shape \(2, 2\)", lambda: IMPACT.push_forward(mass_matrix=np.eye(3))),
        ("mass matrix", lambda: IMPACT.push_forward(mass_matrix=[1, 2, 3])),
        ("restitution", lambda: IMPACT.push_forward(restitution="much")),
        ("restitution", lambda: IMPACT.push_forward(restitution=np.nan)),
        (r"one of outcomes\(\)", lambda: carom.outcomes(np.eye(2), PAIR, [1, 0])[0].pull_back([1, 0])),
        (r"one of outcomes\(\)", lambda: carom.outcomes(np.eye(2), PAIR, [1, 0])[0].one_sided),
    ],
)
def test_what_cannot_be_read_is_named(message, ask):
    with pytest.raises(ValueError, match=message):
        ask()
