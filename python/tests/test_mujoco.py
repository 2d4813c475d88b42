# SPDX-License-Identifier: BSD-3-Clause
"""carom.mujoco beside MuJoCo's own steps. Skipped where the package mujoco is not installed."""
import copy

import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")
import carom.mujoco as layer  # noqa: E402

HEAD = '<mujoco><option timestep="0.002" cone="{cone}"{option}/><default><geom friction="{friction}" condim="{condim}"/></default>'


def model_of(body, cone="elliptic", friction="0.7 0.005 0.0001", condim=3, option="", margin=1e-3):
    model = mujoco.MjModel.from_xml_string(
        HEAD.format(cone=cone, friction=friction, condim=condim, option=option) + body + "</mujoco>")
    layer.give_margin(model, margin)
    return model


def grasp():
    pads = "".join(
        f'<body pos="{0.014 * side} 0 0.1"><joint name="{name}" type="slide" axis="{-side} 0 0" damping="20"/>'
        '<geom type="box" size="0.01 0.03 0.02" mass="0.1"/></body>' for side, name in ((-1, "left"), (1, "right")))
    return ("<worldbody>" + pads + '<body pos="0 0 0.1"><freejoint/><geom type="capsule" size="0.004 0.02" euler="90 0 0" '
            'mass="0.045"/></body></worldbody><actuator><motor joint="left"/><motor joint="right"/></actuator>')


SLOPE = '<worldbody><geom type="plane" size="30 30 1"/><body pos="0 0 0.05"><freejoint/><geom type="box" size="0.1 0.1 0.05" mass="2"/></body></worldbody>'


def creep(take_step, model):
    """Speed of a capsule of 45 g that is held by 12 N, over 1 s after 0.5 s [um/s]."""
    data = mujoco.MjData(model)
    data.ctrl[:] = 12
    for i in range(750):
        if i == 250:
            start = data.qpos[4]
        take_step(model, data)
    return (start - data.qpos[4]) / 1.0 * 1e6


@pytest.mark.parametrize("cone", ["elliptic", "pyramidal"])
def test_a_grasp_does_not_creep(cone):
    stepper = layer.Stepper()
    assert abs(creep(stepper.step, model_of(grasp(), cone))) < 1e-5
    theirs = model_of(grasp(), cone, margin=0)
    assert creep(mujoco.mj_step, theirs) > 10  # MuJoCo's own law creeps


@pytest.mark.parametrize("heading", [0.0, 0.4, np.pi / 4])
@pytest.mark.parametrize("angle", [np.radians(20), np.radians(35)])
def test_a_block_obeys_the_angle_of_friction_at_every_heading(angle, heading):
    model = model_of(SLOPE, friction="0.5 0.005 0.0001")
    pull = 9.81 * np.sin(angle)
    model.opt.gravity[:] = [pull * np.cos(heading), pull * np.sin(heading), -9.81 * np.cos(angle)]
    data = mujoco.MjData(model)
    stepper = layer.Stepper()
    for _ in range(100):
        assert stepper.step(model, data).converged
    expected = max(0.0, np.sin(angle) - 0.5 * np.cos(angle)) * 9.81 * 0.2
    speed = data.qvel[0] * np.cos(heading) + data.qvel[1] * np.sin(heading)
    assert abs(speed - expected) < 1e-6
    assert abs(data.qpos[2] - 0.05) < 1e-9


@pytest.mark.parametrize("cone", ["elliptic", "pyramidal"])
@pytest.mark.parametrize("condim", [1, 3, 4, 6])
def test_forces_are_those_that_move_the_bodies(cone, condim):
    model = model_of(SLOPE, cone, "0.5 0.01 0.01", condim)
    data = mujoco.MjData(model)
    data.qvel[:] = [0.4, 0.1, 0, 0, 0, 3]
    for _ in range(20):
        layer.step(model, data)
    assert data.ncon == 4
    pushed, constraint = np.zeros(model.nv), data.qfrc_constraint.copy()
    mujoco.mj_mulJacTVec(model, data, pushed, data.efc_force)
    assert np.allclose(pushed, constraint, atol=1e-6)
    wrench = np.zeros(6)
    weight = 0.0
    for i in range(data.ncon):
        mujoco.mj_contactForce(model, data, i, wrench)
        weight += wrench[0]
        assert np.hypot(wrench[1], wrench[2]) <= 0.5 * wrench[0] + 1e-6
    assert abs(weight - 2 * 9.81) < 1e-5


def test_without_contacts_it_is_mujoco():
    model = model_of('<worldbody><body pos="0 0 1"><joint type="hinge" axis="0 1 0" damping="0.1"/>'
                     '<geom type="capsule" size="0.02 0.2" mass="1" pos="0.2 0 0"/></body></worldbody>')
    ours, theirs = mujoco.MjData(model), mujoco.MjData(model)
    for _ in range(100):
        layer.step(model, ours)
        mujoco.mj_step(model, theirs)
    assert np.allclose(ours.qpos, theirs.qpos, atol=1e-12) and ours.time == theirs.time


def test_limits_equalities_and_friction_of_joints_hold():
    model = model_of('<worldbody><body pos="0 0 1"><joint name="a" type="slide" axis="0 0 1" range="-0.01 1" limited="true"/>'
                     '<geom size="0.02" mass="1"/></body><body pos="1 0 1"><joint name="b" type="slide" axis="0 0 1"/>'
                     '<geom size="0.02" mass="1"/></body><body pos="2 0 1"><joint type="slide" axis="0 0 1" frictionloss="12"/>'
                     '<geom size="0.02" mass="1"/></body></worldbody><equality><joint joint1="b" joint2="a"/></equality>')
    data = mujoco.MjData(model)
    stepper = layer.Stepper()
    for _ in range(500):
        stepper.step(model, data)
    assert -0.0102 < data.qpos[0] < -0.0098
    assert abs(data.qpos[1] - data.qpos[0]) < 2e-4
    assert abs(data.qpos[2]) < 1e-4


def test_what_it_cannot_do_is_said():
    with pytest.raises(ValueError, match="law"):
        layer.Stepper(law="hard")
    with pytest.raises(ValueError, match="implicitfast"):
        model = model_of(SLOPE, option=' integrator="RK4"')
        layer.step(model, mujoco.MjData(model))
    with pytest.raises(ValueError, match="margin"):
        layer.give_margin(model_of(SLOPE), -1)
    with pytest.raises(ValueError, match="correction"):
        layer.Stepper(correction=2)
    model = model_of(SLOPE)
    data = mujoco.MjData(model)
    data.qvel[0] = np.nan
    assert isinstance(layer.step(model, data), layer.Answer)  # MuJoCo resets such data


def fall_onto_ground(damping, option="", ground="plane", speed=-1.0):
    """A sphere of 0.1 kg on a slide, 2 mm above the ground."""
    return model_of(f'<worldbody><geom type="{ground}" size="1 1 1"/><body pos="0 0 0.052"><joint type="slide" axis="0 0 1" '
                    f'damping="{damping}"/><geom size="0.05" mass="0.1"/></body></worldbody>', option=option)


@pytest.mark.parametrize("option", ["", ' integrator="implicitfast"', ' integrator="implicit"'])
@pytest.mark.parametrize("damping", [0, 1, 20])
def test_damped_joints_do_not_sink(damping, option):
    model = fall_onto_ground(damping, option)
    data = mujoco.MjData(model)
    data.qvel[0] = -1
    stepper = layer.Stepper()
    for _ in range(40):
        assert stepper.step(model, data).converged
        assert data.qpos[0] > -0.002 - 1e-9
    assert abs(data.qvel[0]) < 1e-9


@pytest.mark.parametrize("integrator", ["implicitfast", "implicit"])
def test_an_implicit_step_without_contact_is_that_of_implicitfast(integrator):
    body = ('<worldbody><body pos="0 0 1"><joint type="hinge" axis="0 1 0" damping="0.3"/><geom type="capsule" size="0.02 0.2" '
            'mass="1" pos="0.2 0 0"/></body></worldbody><actuator><general joint="h" biastype="affine" biasprm="0 0 -2"/></actuator>')
    body = body.replace('type="hinge"', 'name="h" type="hinge"')
    model, reference = (model_of(body, option=f' integrator="{name}"') for name in (integrator, "implicitfast"))
    ours, theirs = mujoco.MjData(model), mujoco.MjData(reference)
    stepper = layer.Stepper()
    for _ in range(100):
        stepper.step(model, ours)
        mujoco.mj_step(reference, theirs)
    assert np.allclose(ours.qpos, theirs.qpos, atol=1e-12)
    assert model.opt.integrator == getattr(mujoco.mjtIntegrator, "mjINT_" + integrator.upper())


@pytest.mark.parametrize("law", ["rigid", "coulomb", "soft_coulomb", "soft"])
def test_laws_of_limits(law):
    """A slide that gravity holds at its limit: rigid there, or as deep as MuJoCo's own softness."""
    model = model_of('<worldbody><body pos="0 0 1"><joint type="slide" axis="0 0 1" range="-0.01 1" limited="true"/>'
                     '<geom size="0.02" mass="1"/></body></worldbody>')
    ours, theirs = mujoco.MjData(model), mujoco.MjData(model)
    stepper = layer.Stepper(law=law)
    for _ in range(1500):
        stepper.step(model, ours)
        mujoco.mj_step(model, theirs)
    assert theirs.qpos[0] < -0.0101
    assert abs(ours.qpos[0] - (-0.01 if law == "rigid" else theirs.qpos[0])) < 1e-6


def test_the_soft_law_is_that_of_mujoco():
    model = model_of(SLOPE, friction="0.7 0.005 0.0001")
    model.opt.gravity[:] = [3, 1, -9]
    model.opt.iterations, model.opt.tolerance = 100, 1e-14
    ours, theirs = mujoco.MjData(model), mujoco.MjData(model)
    stepper = layer.Stepper(tolerance=1e-12, law="soft", margin=0)
    for _ in range(50):
        stepper.step(model, ours)
        mujoco.mj_step(model, theirs)
        assert np.allclose(ours.qacc, theirs.qacc, atol=1e-6)
    assert theirs.ncon == 4


@pytest.mark.parametrize("law", ["soft", "soft_coulomb"])
def test_soft_contacts_keep_the_margins_from_which_they_push(law):
    model = model_of('<worldbody><geom type="plane" size="9 9 1"/><body pos="0 0 0.2"><freejoint/><geom size="0.1"/></body>'
                     '</worldbody>', margin=0)
    data = mujoco.MjData(model)
    data.qvel[2] = -20
    stepper = layer.Stepper(law=law)
    for _ in range(5):
        stepper.step(model, data)
        assert not model.geom_margin.any()


@pytest.mark.parametrize("friction", [(0.2, 0.6), (0.6, 0.2)])
def test_friction_may_differ_along_the_two_tangents(friction):
    model = model_of(SLOPE)
    model.opt.o_margin = 1e-3
    model.opt.o_friction[:] = [*friction, 0.005, 0.0001, 0.0001]
    model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_OVERRIDE
    data = mujoco.MjData(model)
    data.qvel[:2] = 1.0, 1.0
    before = data.qvel[:2].copy()
    stepper = layer.Stepper()
    for _ in range(20):
        assert stepper.step(model, data).converged
    tangent = np.array(data.contact.frame).reshape(-1, 3, 3)[0, 1:, :2]
    lost = np.abs(tangent @ (before - data.qvel[:2]))
    # Of a slip along (1, 1) the impulse on the ellipse is along mu_i^2 slip_i.
    assert (lost[0] > lost[1]) == (friction[0] > friction[1])


@pytest.mark.parametrize("speed", [1.0, 10.0, 100.0])
@pytest.mark.parametrize("size", [0.01, 1.0])
def test_margins_are_as_wide_as_speeds_ask(speed, size):
    model = model_of(f'<worldbody><geom type="plane" size="9 9 1"/><body pos="0 0 {4 * size}"><freejoint/>'
                     f'<geom size="{size}" mass="1"/></body></worldbody>', margin=0)
    data = mujoco.MjData(model)
    data.qvel[2] = -speed * size
    stepper = layer.Stepper()
    for _ in range(round(4 / speed / 0.002) + 10):
        stepper.step(model, data)
        assert data.qpos[2] > size * (1 - 1e-6)
    assert model.geom_margin[1] < 0.1 * size  # narrow again at rest


def test_a_turntable_that_comes_to_rest_is_solved_for_ever():
    """Friction that a body's spin obeys to rounding makes it smaller from step to step, down to numbers without a square."""
    model = model_of('<worldbody><body><joint type="hinge" axis="0 1 0" frictionloss="0.1" damping="0.5"/>'
                     '<geom type="capsule" size="0.03 0.1" mass="1"/></body></worldbody>')
    data = mujoco.MjData(model)
    data.qvel[0] = 5
    stepper = layer.Stepper()
    assert all(stepper.step(model, data).converged for _ in range(2000))


def test_a_contact_whose_normal_moves_nothing_carries_nothing():
    model = model_of('<worldbody><geom type="plane" size="9 9 1"/><body pos="0 0 0.04"><joint type="slide" axis="1 0 0"/>'
                     '<joint type="slide" axis="0 1 0"/><geom size="0.05" mass="1"/></body></worldbody>')
    data = mujoco.MjData(model)
    data.qvel[:] = 1, 2
    assert layer.step(model, data).converged
    assert np.allclose(data.qvel, [1, 2], atol=1e-12) and data.ncon == 1


@pytest.mark.parametrize("threads", [1, 3])
def test_a_batch_has_the_bits_of_steps_alone(threads):
    model = model_of(SLOPE, friction="0.3 0.005 0.0001")
    model.opt.gravity[:] = [4, 1, -9]
    batch = layer.Batch(model, 5, threads=threads, tolerance=1e-10)
    alone = []
    for i, data in enumerate(batch.data):
        data.qvel[:3] = i, -i, 0.1 * i
        own = copy.copy(model)  # margins follow the speed
        alone.append((own, mujoco.MjData(own), layer.Stepper(tolerance=1e-10)))
        alone[i][1].qvel[:] = data.qvel
    for _ in range(30):
        assert all(answer.converged for answer in batch.step())
        for own, data, stepper in alone:
            stepper.step(own, data)
    assert len(batch) == 5 and batch.qpos.shape == (5, 7)
    assert np.ptp(batch.qpos[:, 0]) > 0.01
    for i, (_, data, _) in enumerate(alone):
        assert np.array_equal(batch.qpos[i], data.qpos) and np.array_equal(batch.qvel[i], data.qvel)


def test_a_batch_takes_controls_and_says_what_is_wrong():
    model = model_of(grasp())
    batch = layer.Batch(model, 2)
    batch.step([12, 12])
    assert all(np.array_equal(data.ctrl, [12, 12]) for data in batch.data)
    batch.step([[1, 2], [3, 4]])
    assert np.array_equal(batch.data[1].ctrl, [3, 4])
    with pytest.raises(ValueError):
        batch.step(np.zeros((3, 2)))
    with pytest.raises(ValueError, match="count"):
        layer.Batch(model, -1)
    with pytest.raises(ValueError, match="threads"):
        layer.Batch(model, 1, threads=0)
    assert layer.Batch(model, 0).step() == []
    with pytest.raises(ValueError, match="RK4"):
        layer.Batch(model_of(SLOPE, option=' integrator="RK4"'), 3).step()
