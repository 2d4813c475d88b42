# SPDX-License-Identifier: BSD-3-Clause
"""Steps through the times of impacts, and their derivatives, against exact motions and differences of them."""
import numpy as np
import pytest

import carom


def roll(ball, q, v, step, duration):
    """The end, and the derivative of (q, v) there by (q, v) at the start."""
    total = np.eye(2 * len(q))
    for _ in range(round(duration / step)):
        made = ball.step(q, v, step)
        assert made.status == "converged"
        q, v, total = made.q, made.velocity, made.matrix @ total
    return q, v, total


@pytest.mark.parametrize("step", [0.013, 0.01, 0.001])
@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e3])
@pytest.mark.parametrize("restitution", [1.0, 0.6])
def test_a_ball_comes_back_from_a_wall(step, scale, restitution):
    # z(T) = e (|v| T - z0): dz/dz0 = -e, dz/dv0 = -e T, whatever the step.
    duration = 91 * 0.013 if step == 0.013 else 1.0
    ball = carom.ImpactStepDerivative([2.0], [[3.0]], restitution=restitution)
    q, v, total = roll(ball, np.array([0.5 * scale]), np.array([-scale]), step, duration)
    assert q[0] == pytest.approx(restitution * scale * (duration - 0.5), rel=1e-9)
    assert np.allclose(total, [[-restitution, -restitution * duration], [0, -restitution]], atol=1e-9)


def test_a_ball_comes_back_in_any_direction_through_several_steps_in_reverse():
    rng = np.random.default_rng(5)
    for _ in range(10):
        normal = rng.normal(size=3)
        normal /= np.linalg.norm(normal)
        offset, q, v = rng.normal(), rng.normal(size=3), rng.normal(size=3)
        q += normal * (0.4 - normal @ q - offset)  # 0.4 from the wall
        v += normal * (-1.3 - normal @ v)
        wall = carom.ImpactStepDerivative(np.full(3, 0.7), [normal], [offset])
        steps, duration = [], 1.0
        for _ in range(25):
            steps.append(wall.step(q, v, duration / 25))
            q, v = steps[-1].q, steps[-1].velocity
        mirror = np.eye(3) - 2 * np.outer(normal, normal)
        bar = rng.normal(size=3)
        q_bar, v_bar = bar, np.zeros(3)
        for made in reversed(steps):
            change = made.pull_back(q_bar, v_bar)
            q_bar, v_bar = change.q, change.velocity
        assert np.allclose(q_bar, mirror @ bar, atol=1e-10)
        assert np.allclose(v_bar, duration * mirror @ bar, atol=1e-10)


def test_a_falling_ball_has_the_differences_of_its_parabolas():
    gravity, e, duration = 9.81, 0.8, 0.7

    def flight(z, v, e=e):
        """Exactly, through one bounce."""
        impact = (v + np.sqrt(v * v + 2 * gravity * z)) / gravity
        speed, rest = e * (gravity * impact - v), duration - impact
        return np.array([speed * rest - gravity / 2 * rest**2, speed - gravity * rest])

    z, v, h = 1.0, 0.3, 1e-6
    ball = carom.ImpactStepDerivative([1.5], [[1.0]], force=[-1.5 * gravity], restitution=e)
    q, speed, total = roll(ball, np.array([z]), np.array([v]), 0.01, duration)
    assert np.allclose([q[0], speed[0]], flight(z, v), atol=1e-9)
    differences = np.stack(
        [(flight(z + h, v) - flight(z - h, v)) / (2 * h), (flight(z, v + h) - flight(z, v - h)) / (2 * h)], axis=1
    )
    assert np.allclose(total, differences, atol=1e-7)
    # By the restitution, in one step that spans the bounce.
    made = ball.step([z], [v], duration)
    by_e = (flight(z, v, e + h) - flight(z, v, e - h)) / (2 * h)
    assert np.allclose(made.by_restitution, by_e, atol=1e-7)
    assert made.pull_back([1.0], [0.0]).restitution == pytest.approx(by_e[0], abs=1e-7)
    assert np.allclose(made.push_forward(restitution=1.0).q, by_e[0], atol=1e-7)
    assert len(made.impact_times) == 1
    assert made.impact_times[0] == pytest.approx((v + np.sqrt(v * v + 2 * gravity * z)) / gravity, abs=1e-9)


def test_two_balls_and_a_wall_push_forward_as_they_differ():
    # Masses 2 and 3 in line before a wall at 0; gaps x0 and x1 - x0 - 1.
    line = carom.ImpactStepDerivative([2.0, 3.0], [[1, 0], [-1, 1]], [0, -1], restitution=0.9)
    q, v = np.array([0.3, 2.0]), np.array([-1.0, -2.0])

    def end(q, v):
        line.restart()
        made = line.step(q, v, 1.1)
        return np.concatenate([made.q, made.velocity]), made

    _, made = end(q, v)
    assert len(made.impact_times) >= 2 and made.one_sided == 0
    rng, h = np.random.default_rng(2), 1e-6
    for _ in range(5):
        dq, dv = rng.normal(size=2), rng.normal(size=2)
        slope = (end(q + h * dq, v + h * dv)[0] - end(q - h * dq, v - h * dv)[0]) / (2 * h)
        change = made.push_forward(dq, dv)
        assert np.allclose(np.concatenate([change.q, change.velocity]), slope, atol=1e-6)
        bar = rng.normal(size=4)
        gradient = made.pull_back(bar[:2], bar[2:])
        assert gradient.q @ dq + gradient.velocity @ dv == pytest.approx(bar @ slope, abs=1e-5)


def test_a_step_that_starts_elsewhere_starts_afresh_and_one_that_goes_on_rests():
    ball = carom.ImpactStepDerivative([1.0], [[1.0]], force=[-9.81], restitution=0.5)
    q, v = np.array([0.1]), np.array([0.0])
    for _ in range(200):
        made = ball.step(q, v, 0.01)
        q, v = made.q, made.velocity
    assert abs(q[0]) < 1e-6 and abs(v[0]) < 1e-6  # at rest, held
    high = ball.step([1.0], [0.0], 0.1)
    assert high.q[0] == pytest.approx(1 - 9.81 / 2 * 0.01)
    assert repr(high) == "ImpactStep(status='converged', impacts=0, derivative_status='linearized')"


def test_steps_without_a_derivative_say_why():
    graze = carom.ImpactStepDerivative(np.ones(2), [[0, 1.0]], force=[0, -2.0])
    up = graze.step([0, 1.0], [1.0, -2.0 * 0], 1.0)  # touches the wall just at the end
    assert up.derivative_status in ("linearized", "grazing", "boundary")
    with pytest.raises(ValueError, match="mass matrix"):
        carom.ImpactStepDerivative([[1, 2], [0, 1]], [[0, 1.0]])
    with pytest.raises(ValueError, match="normals: expected shape"):
        carom.ImpactStepDerivative([1.0, 1.0], [[1.0]])
    with pytest.raises(ValueError, match="normal 0: expected a non-zero vector"):
        carom.ImpactStepDerivative([1.0, 1.0], [[0.0, 0.0]])
    with pytest.raises(ValueError, match="restitution: expected a number in"):
        carom.ImpactStepDerivative([1.0], [[1.0]], restitution=1.2)
    ball = carom.ImpactStepDerivative([1.0], [[1.0]])
    for message, ask in [
        ("q: expected shape", lambda: ball.step([1.0, 2.0], [0.0], 0.1)),
        ("velocity 0|velocity entry 0", lambda: ball.step([1.0], [np.nan], 0.1)),
        ("time_step: expected a finite number > 0", lambda: ball.step([1.0], [0.0], 0.0)),
        ("velocity_bar: expected shape", lambda: ball.step([1.0], [0.0], 0.1).pull_back([1.0], [1.0, 2.0])),
    ]:
        with pytest.raises(ValueError, match=message):
            ask()


def test_the_slope_of_a_chain_of_contact_steps_leaves_the_time_of_the_impact_where_it_is():
    # The steps themselves: z_next = z + dt v_next with v_next = -e v in the step that closes. The step in which that
    # happens is fixed, so dz(T)/dz0 = +1 and the time before it counts for v as it is.
    step, e, z, v = 0.01, 1.0, 0.505, -1.0
    made, at = [], z
    for _ in range(100):
        problem = carom.ContactProblem(step)
        problem.add_body(np.eye(3), [0, 0, v])
        problem.add_contact(0, np.eye(3), friction=0.0, gap=at, rigid=True, restitution=e, approach=max(-v, 0.0))
        made.append(carom.solve(problem, law="coulomb", tolerance=1e-13))
        v = made[-1].velocity[2]
        at += step * v
    by_z, by_v = 1.0, 0.0
    bounced = next(k for k, s in enumerate(made) if s.velocity[2] > 0)
    for k in reversed(range(100)):
        gradients = made[k].pull_back([0, 0, by_v + step * by_z])
        by_z += gradients.gap[0]
        by_v = gradients.free_velocity[2] - gradients.approach[0]
    assert by_z == 1.0
    assert by_v == pytest.approx(step * bounced - e * step * (100 - bounced))
