# SPDX-License-Identifier: BSD-3-Clause
"""Nearest points of cones, and impacts, against closed forms and numpy."""
import json
import subprocess

import numpy as np
import pytest

import carom


def test_nearest_points_are_the_best_of_a_grid():
    rng = np.random.default_rng(0)
    cone, weights = carom.FrictionCone(0.6), np.array([2.0, 0.5])
    angle, height = np.meshgrid(np.linspace(0, 2 * np.pi, 181), np.linspace(0, 4, 401))
    surface = np.stack([0.6 * height * np.cos(angle), 0.6 * height * np.sin(angle), height], axis=-1)
    metric = np.array([2.0, 2.0, 0.5])
    for y in rng.normal(size=(30, 3)):
        point = carom.project(cone, weights, y)
        assert cone.contains(point, slack=1e-12)
        best = ((surface - y) ** 2 @ metric).min()
        inside = bool(cone.contains(y))
        assert (point - y) ** 2 @ metric <= (0 if inside else best) + 1e-12


def test_leading_axes_broadcast():
    rng = np.random.default_rng(1)
    y, weights, friction = rng.normal(size=(4, 1, 3)), rng.uniform(1, 2, (5, 2)), rng.uniform(0, 1, (4, 5))
    cones = carom.FrictionCone(friction)
    points = carom.project(cones, weights, y)
    assert points.shape == (4, 5, 3) and cones.region(weights, y).shape == (4, 5)
    assert cones.derivative(weights, y).shape == (4, 5, 3, 3) and cones.contains(points, slack=1e-12).all()
    for i in range(4):
        for k in range(5):
            assert np.array_equal(points[i, k], carom.project(carom.FrictionCone(friction[i, k]), weights[k], y[i, 0]))
    full = np.concatenate([weights[:, :1], weights], axis=1)
    assert np.array_equal(points, cones.project(full, y))
    assert carom.project(carom.FrictionCone(1.0), None, np.zeros((0, 3))).shape == (0, 3)
    assert np.array_equal(cones.friction, friction) and carom.FrictionCone(0.5).friction == 0.5


def test_regions_and_derivatives():
    cone = carom.FrictionCone(0.5)
    y = np.array([[0.1, 0, 1], [1, 0, 1], [0.1, 0, -1]])
    assert cone.region(None, y).tolist() == ["stick", "slide", "separate"]
    slopes = cone.derivative([1.0, 2.0], y)
    for k in range(3):
        for i in range(3):
            step = 1e-6 * np.eye(3)[i]
            found = (cone.project([1.0, 2.0], y[k] + step) - cone.project([1.0, 2.0], y[k] - step)) / 2e-6
            assert np.allclose(slopes[k][:, i], found, atol=1e-8)


def test_a_cradle_hands_its_velocity_on():
    normals = [[-1, 1, 0], [0, -1, 1]]
    impact = carom.impact(np.eye(3), normals, [1, 0, 0])
    assert np.allclose(impact.velocity, [0, 0, 1]) and impact.sequence == [0, 1] and impact.status == "resolved"
    assert np.allclose(impact.momentum, [1, 0, 0] + impact.impulses @ np.array(normals))
    assert impact.kinetic_energy == pytest.approx(0.5)
    plastic = carom.impact([1, 1, 1], normals, [1, 0, 0], law="plastic")
    assert np.allclose(plastic.velocity, 1 / 3)
    half = carom.impact([1, 1, 1], normals, [1, 0, 0], restitution=0.5)
    assert half.kinetic_energy == pytest.approx(1 / 6 + 0.25 * (1 / 2 - 1 / 6))
    same = carom.impact([1, 1, 1], normals, [1, 0, 0], law="restitution", restitution=0.5)
    assert np.array_equal(half.velocity, same.velocity)
    for order in ["most_infeasible", "least_infeasible", "sweep", [0, 1], (1, 0), np.array([0, 1])]:
        assert np.allclose(carom.impact([1, 1, 1], normals, [1, 0, 0], order=order).velocity, [0, 0, 1])


def test_impulses_belong_to_the_normals_as_given():
    rng = np.random.default_rng(2)
    for _ in range(20):
        root = rng.normal(size=(4, 4))
        mass, normals, velocity = root @ root.T + np.eye(4), rng.normal(size=(3, 4)) * [[1], [10], [0.1]], rng.normal(size=4)
        impact = carom.impact(mass, normals, velocity)
        assert np.allclose(mass @ velocity + impact.impulses @ normals, impact.momentum)
        assert np.allclose(mass @ impact.velocity, impact.momentum)
        assert impact.kinetic_energy == pytest.approx(velocity @ mass @ velocity / 2)
        assert (normals @ impact.velocity > -1e-9).all()


def test_outcomes_are_one_where_the_classification_says_so():
    normals = [[-1, 1, 0], [0, -1, 1]]
    equal = carom.classify([1, 1, 1], normals)
    assert equal.unique and equal.reason == "dihedral m=3" and equal.components == ["A2"]
    assert len(carom.outcomes([1, 1, 1], normals, [1, 0, -1])) == 1
    unequal = carom.classify([1, 2, 1], normals)
    assert not unequal.unique and unequal.reason == "unknown"
    all_of = carom.outcomes([1, 2, 1], normals, [1, 0, -1])
    # Either contact first, or both together.
    assert len(all_of) == 3 and all_of.complete and all_of.indeterminacy > 0
    assert np.allclose(all_of[2].velocity, [-1, 0, 1])
    for one in all_of:
        assert one.kinetic_energy == pytest.approx(1.0) and (np.array(normals) @ one.velocity > -1e-9).all()
    with pytest.raises(IndexError):
        all_of[3]


def turn(axis, angle):
    """A rotation matrix."""
    x, y, z = np.array(axis) / np.linalg.norm(axis)
    cross = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def landing(points, rotation=np.eye(3), mass=1.0, scale=1.0):
    """A unit cube over points of its underside: mass matrix, normals and the velocity of falling at 3 m/s, all times scale."""
    matrix = mass * np.diag([1, 1, 1, *(scale**2 / 6 * np.ones(3))])
    up = rotation[:, 2]
    normals = [[*up, *np.cross(rotation @ np.array([x * scale, y * scale, -scale / 2]), up)] for x, y in points]
    return matrix, np.array(normals), np.array([*(-3 * scale * up), 0, 0, 0])


SQUARE = np.array([(x, y) for x in (-1, 1) for y in (-1, 1)])


@pytest.mark.parametrize("spread", [0.5, 0.49, 0.375, 0.1])
@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e4])
@pytest.mark.parametrize("rotation", [np.eye(3), turn([1, -2, 0.5], 0.7)], ids=["upright", "turned"])
def test_a_cube_that_lands_flat_rises_flat(spread, scale, rotation):
    for mass in (1.0, 1e-6):
        matrix, normals, velocity = landing(spread * SQUARE, rotation, mass, scale)
        for options, e in [({}, 1), ({"restitution": 0.5}, 0.5), ({"law": "simultaneous"}, 1), ({"law": "plastic"}, 0),
                           ({"law": "simultaneous", "restitution": 0.3}, 0.3), ({"order": "simultaneous"}, 1)]:
            impact = carom.impact(matrix, normals, velocity, **options)
            assert impact.status == "resolved"
            assert np.allclose(impact.velocity[:3], -e * velocity[:3], atol=1e-12 * scale)
            assert np.abs(impact.velocity[3:]).max() < 1e-12
            assert np.allclose(impact.impulses, impact.impulses[0], rtol=1e-9)  # four feet push alike
            assert impact.kinetic_energy == pytest.approx(e * e * 4.5 * mass * scale**2, rel=1e-12)
    found = carom.outcomes(matrix, normals, velocity)
    assert found.complete and any(np.allclose(one.velocity, -velocity, atol=1e-9 * scale) for one in found.outcomes)
    # The order decides, and the answer says so.
    impact = carom.impact(matrix, normals, velocity)
    assert impact.unique is False and 0.1 < impact.indeterminacy <= 2
    assert carom.impact(matrix, normals, velocity, law="plastic").unique is True


@pytest.mark.parametrize("corners", [2, 3, 5, 6])
def test_feet_in_any_number_and_order_let_a_body_rise_flat(corners):
    rng = np.random.default_rng(corners)
    angles = 2 * np.pi * np.arange(corners) / corners + 0.2
    points = 0.3 * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    for _ in range(5):
        matrix, normals, velocity = landing(rng.permutation(points), turn(rng.normal(size=3), rng.uniform(0, 3)))
        impact = carom.impact(matrix, normals * rng.uniform(1e-3, 1e3, (corners, 1)), velocity)
        assert np.allclose(impact.velocity, -velocity, atol=1e-12)
    mixed = np.concatenate([0.5 * SQUARE, 0.4 * np.array([[1, 0], [-1, 0], [0, 1], [0, -1]]), [[0, 0]]])
    matrix, normals, velocity = landing(mixed)
    assert np.allclose(carom.impact(matrix, normals, velocity).velocity, -velocity, atol=1e-12)


def test_an_order_that_is_given_is_kept():
    matrix, normals, velocity = landing(0.375 * SQUARE)
    for order in ["most_infeasible", "sweep", [0, 1, 2, 3]]:
        assert np.abs(carom.impact(matrix, normals, velocity, order=order).velocity[3:]).max() > 0.1
    tipped = velocity + [0, 0, 0, 1e-3, 2e-3, 0]  # nothing is symmetric
    default = carom.impact(matrix, normals, tipped)
    first = carom.impact(matrix, normals, tipped, order="most_infeasible")
    assert np.array_equal(default.velocity, first.velocity)
    with pytest.raises(ValueError, match="order: expected None with the simultaneous law"):
        carom.impact(matrix, normals, velocity, law="simultaneous", order="sweep")


def test_impacts_say_whether_they_could_end_otherwise():
    line = [[-1, 1, 0], [0, -1, 1]]
    cradle = carom.impact(np.eye(3), line, [1, 0, 0])
    assert cradle.unique is True and cradle.indeterminacy == 0
    assert repr(cradle) == "Impact(status='resolved', kinetic_energy=0.5, reflections=2)"
    masses, velocity = [1.0, 2.0, 1.0], [1, 0.4, -1]
    several = carom.impact(masses, line, velocity)
    found = carom.outcomes(masses, line, velocity)
    assert several.unique is False and several.indeterminacy == pytest.approx(found.indeterminacy)
    assert "unique=False, indeterminacy=" in repr(several)
    assert found[0].unique is False and found[0].indeterminacy == found.indeterminacy
    lossy = carom.impact(masses, line, velocity, restitution=0.5)
    assert lossy.unique is False and 0 < lossy.indeterminacy < several.indeterminacy
    # Three equal balls have one outcome by any order, and the simultaneous law another.
    parted = carom.impact(np.eye(3), line, [2, 0, -1], law="simultaneous")
    assert np.allclose(parted.velocity, np.array([-4, 2, 5]) / 3)
    assert parted.unique is False and parted.indeterminacy == pytest.approx(np.sqrt(2 / 15))
    # Twelve balls of two masses: too many orders to try in milliseconds.
    masses = np.resize([1.0, 2.0], 12)
    many = carom.impact(masses, np.eye(12)[1:] - np.eye(12)[:-1], np.arange(12, 0, -1.0))
    assert many.unique in (None, False)
    assert carom.impact(np.eye(2), [[1, 0], [-1, 0]], [2, 3]).unique is None  # wedged


def test_impacts_are_those_of_the_program(program, tmp_path):
    rng = np.random.default_rng(3)
    for k in range(6):
        masses, normals, velocity = rng.uniform(1, 3, 4), rng.normal(size=(3, 4)), rng.normal(size=4)
        document = {"mass_matrix": np.diag(masses).tolist(), "normals": normals.tolist(), "velocity": velocity.tolist()}
        file = tmp_path / f"{k}.json"
        file.write_text(json.dumps(document))
        printed = json.loads(subprocess.run([program, "impact", str(file), "--json"], capture_output=True, text=True).stdout)
        impact = carom.impact(np.diag(masses), normals, velocity)
        assert np.allclose(impact.velocity, printed["outcomes"][0]["velocity"], rtol=1e-12, atol=1e-12)
        assert np.allclose(impact.impulses, printed["outcomes"][0]["impulses"], rtol=1e-10, atol=1e-10)
        assert impact.sequence == printed["outcomes"][0]["sequence"]


def test_a_ball_bounces_as_the_closed_form_says():
    run = carom.simulate("bouncing_ball", {"height": 1.0}, 0.01, 2.0, progress=False)
    first = np.sqrt(2 / 9.81)
    assert run.status == "converged"
    assert np.allclose(run.impact_times, first * np.array([1, 3]), atol=1e-9)
    assert run.time[0] == 0 and run.time[-1] == pytest.approx(2.0) and run.q.shape == (len(run.time), 1)
    assert run.energy_error_max < 1e-9 and run.momentum.shape == run.q.shape and run.velocity.shape == (1,)


def test_simulations_are_those_of_the_program(program, tmp_path):
    parameters = {"masses": [1, 1, 1], "radius": 0.1, "gaps": [0.5, 0], "velocities": [1, 0, 0]}
    file = tmp_path / "cradle.json"
    file.write_text(json.dumps({"system": "cradle", "parameters": parameters, "time_step": 0.1, "duration": 1}))
    printed = json.loads(subprocess.run([program, "simulate", str(file)], capture_output=True, text=True).stdout)
    run = carom.simulate("cradle", parameters | {"masses": np.ones(3)}, 0.1, 1.0, progress=False)
    assert np.allclose(run.impact_times, printed["impact_times"], rtol=1e-12)
    assert np.allclose(run.q[-1], printed["final"]["q"], rtol=1e-12, atol=1e-12)
    assert run.reflections == printed["reflections"]
