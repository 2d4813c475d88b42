# SPDX-License-Identifier: BSD-3-Clause
"""carom.mujoco beside MuJoCo's own steps. Skipped where the package mujoco is not installed."""
import numpy as np
import pytest

mujoco = pytest.importorskip("mujoco")
import carom  # noqa: E402
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
    with pytest.raises(ValueError, match="Euler"):
        model = model_of(SLOPE, option=' integrator="RK4"')
        layer.step(model, mujoco.MjData(model))
    with pytest.raises(ValueError, match="margin"):
        layer.give_margin(model_of(SLOPE), -1)
    with pytest.raises(ValueError, match="correction"):
        layer.Stepper(correction=2)
    model = model_of(SLOPE)
    model.opt.o_margin = 1e-3
    model.opt.o_friction[:] = [0.5, 0.6, 0.005, 0.0001, 0.0001]
    model.opt.enableflags |= mujoco.mjtEnableBit.mjENBL_OVERRIDE
    with pytest.raises(ValueError, match="contact 0"):
        layer.step(model, mujoco.MjData(model))
    model = model_of(SLOPE)
    data = mujoco.MjData(model)
    data.qvel[0] = np.nan
    assert isinstance(layer.step(model, data), carom.Solution)  # MuJoCo resets such data
