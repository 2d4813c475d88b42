# SPDX-License-Identifier: BSD-3-Clause
"""carom.pinocchio beside closed forms, Pinocchio's own dynamics and scenes posed by hand. Skipped where the package pin is
not installed."""
import carom
import numpy as np
import pytest

pinocchio = pytest.importorskip("pinocchio")
from carom import pinocchio as layer  # noqa: E402

G = 9.81


def cubes(count=1, size=0.2, mass=2.0):
    """Cubes on free joints of their own, and the frames of their lower corners."""
    model, corners = pinocchio.Model(), []
    for i in range(count):
        joint = model.addJoint(0, pinocchio.JointModelFreeFlyer(), pinocchio.SE3.Identity(), f"cube_{i}")
        model.appendBodyToJoint(joint, pinocchio.Inertia.FromBox(mass, size, size, size), pinocchio.SE3.Identity())
        for k in range(4):
            corner = size / 2 * np.array([1 if k & 1 else -1, 1 if k & 2 else -1, -1])
            corners.append(model.addFrame(pinocchio.Frame(f"{i}_{k}", joint, 0, pinocchio.SE3(np.eye(3), corner),
                                                          pinocchio.FrameType.OP_FRAME)))
    return model, corners


def tilted(heading, angle=np.pi / 6):
    """The rotation of a slope whose x goes down towards the heading."""
    return pinocchio.utils.rotate("z", heading) @ pinocchio.utils.rotate("y", angle)


@pytest.mark.parametrize("heading", [0, 0.4, np.pi / 4, 2.5])
@pytest.mark.parametrize("friction", [0.3, 0.6])
def test_a_cube_on_a_slope_slides_and_sticks_by_closed_form(heading, friction):
    model, corners = cubes()
    data, turn = model.createData(), tilted(heading)
    q, v = np.zeros(7), np.zeros(6)
    q[:3], q[3:] = turn @ [0, 0, 0.1], pinocchio.Quaternion(turn).coeffs()
    stepper = layer.Stepper()
    contacts = [layer.Contact(c, normal=turn[:, 2], friction=friction) for c in corners]
    for _ in range(200):
        answer = stepper.step(model, data, q, v, np.zeros(6), 0.005, contacts)
        q, v = answer.configuration, answer.velocity
    speed = G * (0.5 - friction * np.sqrt(0.75)) if friction == 0.3 else 0.0
    assert answer.solution.converged
    assert np.allclose(v, [speed, 0, 0, 0, 0, 0], rtol=0, atol=1e-8)  # along the cube's own axes
    total = answer.forces.sum(0)
    assert total @ turn[:, 2] == pytest.approx(2 * G * np.sqrt(0.75), rel=1e-8)
    assert -total @ turn[:, 0] == pytest.approx(min(friction * np.sqrt(0.75), 0.5) * 2 * G, rel=1e-7)


def test_without_contacts_a_step_is_that_of_aba():
    model = pinocchio.buildSampleModelHumanoidRandom()
    data, rng = model.createData(), np.random.default_rng(1)
    q, v, tau = pinocchio.neutral(model), rng.normal(size=model.nv), rng.normal(size=model.nv)
    answer = layer.Stepper(limits=False, dry_friction=False).step(model, data, q, v, tau, 0.01)
    free = v + 0.01 * pinocchio.aba(model, model.createData(), q, v, tau)
    assert np.allclose(answer.velocity, free, rtol=1e-10, atol=1e-10)
    assert np.allclose(answer.configuration, pinocchio.integrate(model, q, 0.01 * free), rtol=1e-10, atol=1e-10)
    assert not answer.joint_efforts.any() and answer.forces.shape == (0, 3)


def test_the_forces_that_come_back_balance_by_rnea():
    """M (v+ - v)/dt + nle = tau + what contacts and joints do."""
    model = pinocchio.buildSampleModelHumanoidRandom()
    data, rng, dt = model.createData(), np.random.default_rng(2), 0.01
    q, v, tau = pinocchio.neutral(model), 0.3 * rng.normal(size=model.nv), rng.normal(size=model.nv)
    assert (model.lowerDryFrictionLimit < 0).all() and (model.upperDryFrictionLimit > 0).all()  # each direction has its own
    pinocchio.framesForwardKinematics(model, data, q)
    frames = [f for f in range(model.nframes) if model.frames[f].parentJoint in (5, 9, 20, 3)][:6]
    contacts = [layer.Contact(f, friction=0.6, normal=rng.normal(size=3)) for f in frames]
    contacts.append(layer.Contact(joint=12, other_joint=25, point=rng.normal(size=3), friction=0.4))
    effort = layer.Effort(tau, stiffness=np.full(model.nv, 50.0), damping=np.full(model.nv, 2.0))
    answer = layer.step(model, data, q, v, effort, dt, contacts)
    assert answer.solution.converged and np.abs(answer.forces).max() > 1
    assert (answer.joint_efforts[:6] >= model.lowerDryFrictionLimit[:6] - 1e-9).all()  # of the free joint, which has no other
    assert (answer.joint_efforts[:6] <= model.upperDryFrictionLimit[:6] + 1e-9).all()
    given = tau - dt * 50 * answer.velocity - 2 * (answer.velocity - v) + answer.joint_efforts
    needed = pinocchio.rnea(model, model.createData(), q, v, (answer.velocity - v) / dt, answer.joint_forces(model, data))
    assert np.allclose(needed, given, rtol=0, atol=1e-8 * np.abs(needed).max())
    for c, force, axes in zip(contacts, answer.forces, answer.axes):
        t1, t2, n = axes @ force
        assert n >= -1e-9 and np.hypot(t1, t2) <= c.friction * n + 1e-6 * np.abs(answer.forces).max()


def pendulum(lower=-0.5, upper=1.0):
    model = pinocchio.Model()
    joint = model.addJoint(0, pinocchio.JointModelRX(), pinocchio.SE3.Identity(), "hinge")
    model.appendBodyToJoint(joint, pinocchio.Inertia(2.0, np.array([0, 0, -0.5]), 0.1 * np.eye(3)), pinocchio.SE3.Identity())
    model.lowerPositionLimit, model.upperPositionLimit = np.array([lower]), np.array([upper])
    return model


def test_a_pendulum_with_a_limit_and_with_dry_friction():
    model = pendulum()
    data, q, v, stepper = model.createData(), np.array([0.9]), np.zeros(1), layer.Stepper()
    lowest = q[0]
    for _ in range(2000):
        answer = stepper.step(model, data, q, v, np.zeros(1), 0.002)
        q, v = answer.configuration, answer.velocity
        lowest = min(lowest, q[0])
    assert -0.5 - 1e-6 < lowest < -0.5 + 1e-6  # it meets the lower limit and goes no further
    leaning = layer.Stepper()
    q, v, torque = np.array([0.9]), np.zeros(1), np.array([12.0])
    for _ in range(1000):
        answer = leaning.step(model, data, q, v, torque, 0.002)
        q, v = answer.configuration, answer.velocity
    assert q[0] == pytest.approx(1.0, abs=1e-6) and abs(v[0]) < 1e-8
    assert answer.joint_efforts[0] == pytest.approx(2 * G * 0.5 * np.sin(1.0) - 12, rel=1e-6)
    model.upperDryFrictionLimit, model.lowerDryFrictionLimit = np.array([2.0]), np.array([-2.0])
    held = layer.step(model, data, np.array([0.15]), np.zeros(1), np.zeros(1), 0.01)  # 9.81 sin 0.15 = 1.47
    assert abs(held.velocity[0]) < 1e-9 and held.joint_efforts[0] == pytest.approx(G * np.sin(0.15), rel=1e-6)
    model.upperDryFrictionLimit = np.array([1.0])  # which acts against a motion downwards
    slow = layer.step(model, data, np.array([0.15]), np.zeros(1), np.zeros(1), 0.01)
    assert slow.velocity[0] == pytest.approx(-0.01 * (G * np.sin(0.15) - 1) / 0.6, rel=1e-7)
    model.upperDryFrictionLimit = np.array([2.0])
    slips = layer.step(model, data, np.array([0.9]), np.zeros(1), np.zeros(1), 0.01)
    assert slips.velocity[0] == pytest.approx(-0.01 * (G * np.sin(0.9) - 2) / 0.6, rel=1e-8)


def test_a_stack_carries_its_weight_and_cubes_that_touch_nothing_fly():
    model, corners = cubes(3)
    data, v = model.createData(), np.zeros(18)
    q = pinocchio.neutral(model)
    for i, z in enumerate((0.1, 0.3, 2.0)):
        q[7 * i + 2] = z
    contacts = [layer.Contact(c, friction=0.5) for c in corners[:4]]
    contacts += [layer.Contact(c, other=corners[0], friction=0.5) for c in corners[4:8]]
    stepper = layer.Stepper()
    for _ in range(20):
        answer = stepper.step(model, data, q, v, np.zeros(18), 0.005, contacts)
        q, v = answer.configuration, answer.velocity
    assert np.allclose(answer.forces[:4].sum(0), [0, 0, 4 * G], atol=1e-6)
    assert np.allclose(answer.forces[4:].sum(0), [0, 0, 2 * G], atol=1e-6)
    assert np.abs(v[:12]).max() < 1e-8 and v[14] == pytest.approx(-G * 0.1)


@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_a_gap_closes_and_no_further_and_restitution_gives_its_share_back(restitution):
    model, corners = cubes()
    data, q, v = model.createData(), pinocchio.neutral(model), np.zeros(6)
    q[2], stepper, before, after = 0.35, layer.Stepper(), None, None
    for _ in range(300):
        contacts = [layer.Contact(c, gap=q[2] - 0.1, friction=0.5, restitution=restitution) for c in corners]
        answer = stepper.step(model, data, q, v, np.zeros(6), 0.001, contacts)
        if before is None and v[2] < 0 <= answer.velocity[2] + 1e-12:
            before, after = v[2], answer.velocity[2]
        q, v = answer.configuration, answer.velocity
    assert q[2] > 0.1 - 1e-9
    assert after == pytest.approx(-restitution * before, rel=1e-6, abs=1e-9)


def test_the_same_scene_posed_by_hand():
    model, corners = cubes(2)
    data, rng = model.createData(), np.random.default_rng(5)
    q, v = pinocchio.integrate(model, pinocchio.neutral(model), rng.normal(size=12)), rng.normal(size=12)
    points, normals = rng.normal(size=(5, 3)), rng.normal(size=(5, 3))
    sides = [(1, 0), (2, 0), (1, 2), (2, 1), (0, 2)]
    contacts = [layer.Contact(joint=a, other_joint=b, point=p, normal=n, friction=0.4, gap=1e-3)
                for (a, b), p, n in zip(sides, points, normals)]
    answer = layer.step(model, data, q, v, np.zeros(12), 0.01, contacts)
    turns = [pinocchio.Quaternion(q[7 * i + 3:7 * i + 7]).toRotationMatrix() for i in (0, 1)]
    centres = np.array([q[:3], q[7:10]])
    moments = 2 * 0.2**2 / 6 * np.eye(3)
    by_hand = carom.ContactProblem(0.01)
    spin = [t @ v[6 * i + 3:6 * i + 6] for i, t in enumerate(turns)]
    carried = [v[6 * i:6 * i + 3] - 0.01 * np.cross(v[6 * i + 3:6 * i + 6], v[6 * i:6 * i + 3]) for i in (0, 1)]  # the axes turn
    linear = [t @ c + 0.01 * np.array([0, 0, -G]) for t, c in zip(turns, carried)]
    by_hand.add_rigid_bodies(2.0, np.array([moments, moments]), np.hstack([linear, spin]), centres, rotation=np.array(turns))
    flips = np.array([-1.0 if a == 0 else 1.0 for a, _ in sides])
    body = [a - 1 if a else b - 1 for a, b in sides]
    other = [-1 if 0 in side else side[1] - 1 for side in sides]
    by_hand.add_contacts(body, other=other, point=points, normal=normals * flips[:, None], friction=0.4, gap=1e-3)
    solution = carom.solve(by_hand, tolerance=1e-10)
    for i, t in enumerate(turns):
        expected = solution.velocity[6 * i:6 * i + 6]
        assert np.allclose(t @ answer.velocity[6 * i:6 * i + 3], expected[:3], atol=1e-7)
        assert np.allclose(t @ answer.velocity[6 * i + 3:6 * i + 6], expected[3:], atol=1e-7)
    assert (solution.impulse[:, 2] > 1e-4).sum() == 4


def ground_and_cube(tilt=0.0):
    coal = pytest.importorskip("coal")
    model, _ = cubes()
    scene = pinocchio.GeometryModel()
    ground = pinocchio.GeometryObject("ground", 0, 0, pinocchio.SE3(tilted(0.0, tilt), np.zeros(3)), coal.Halfspace(np.array([0, 0, 1.0]), 0.0))
    cube = pinocchio.GeometryObject("cube", 1, 0, pinocchio.SE3.Identity(), coal.Box(0.2, 0.2, 0.2))
    scene.addCollisionPair(pinocchio.CollisionPair(scene.addGeometryObject(ground), scene.addGeometryObject(cube)))
    found = scene.createData()
    for request in found.collisionRequests:
        request.security_margin, request.num_max_contacts = 0.01, 10
    return model, scene, found


@pytest.mark.parametrize("tilt, friction", [(0.0, 0.5), (np.pi / 6, 0.3)])
def test_contacts_of_collision_detection(tilt, friction):
    model, scene, found = ground_and_cube(tilt)
    data, q, v, stepper = model.createData(), pinocchio.neutral(model), np.zeros(6), layer.Stepper()
    turn = tilted(0.0, tilt)
    q[:3], q[3:] = turn @ [0, 0, 0.103], pinocchio.Quaternion(turn).coeffs()
    for _ in range(200):
        pinocchio.computeCollisions(model, data, scene, found, q, False)
        pinocchio.computeContactPatches(scene, found)
        contacts = layer.contacts_of(model, scene, found, friction=friction)
        answer = stepper.step(model, data, q, v, np.zeros(6), 0.005, contacts)
        q, v = answer.configuration, answer.velocity
    assert len(contacts) == 4 and abs((turn.T @ q[:3])[2] - 0.1) < 1e-6
    normal = answer.forces.sum(0) @ turn[:, 2]
    assert normal == pytest.approx(2 * G * np.cos(tilt), rel=1e-5)
    landed = np.sqrt(2 * 0.003 / (G * np.cos(tilt)))  # it falls 3 mm first, and its landing costs friction times that speed
    slide = G * (np.sin(tilt) - friction * np.cos(tilt))
    expected = max(0.0, G * np.sin(tilt) * landed - friction * G * np.cos(tilt) * landed + slide * (1.0 - landed))
    assert v[0] == pytest.approx(expected, abs=0.03)
    pinocchio.computeCollisions(model, data, scene, found, q + np.array([0, 0, 1.0, 0, 0, 0, 0]), False)
    assert layer.contacts_of(model, scene, found) == []


def test_a_robot_that_stands_has_its_weight_on_its_feet():
    """A trunk on three legs with a knee each, on servos."""
    model = pinocchio.Model()
    trunk = model.addJoint(0, pinocchio.JointModelFreeFlyer(), pinocchio.SE3.Identity(), "trunk")
    model.appendBodyToJoint(trunk, pinocchio.Inertia.FromBox(6.0, 0.3, 0.3, 0.1), pinocchio.SE3.Identity())
    feet = []
    for k in range(3):
        place = pinocchio.SE3(pinocchio.utils.rotate("z", 2 * np.pi * k / 3), np.zeros(3))
        hip = model.addJoint(trunk, pinocchio.JointModelRY(), place * pinocchio.SE3(np.eye(3), np.array([0.2, 0, 0])), f"hip_{k}")
        knee = model.addJoint(hip, pinocchio.JointModelRY(), pinocchio.SE3(np.eye(3), np.array([0, 0, -0.25])), f"knee_{k}")
        for joint in (hip, knee):
            model.appendBodyToJoint(joint, pinocchio.Inertia(0.5, np.array([0, 0, -0.12]), 0.003 * np.eye(3)), pinocchio.SE3.Identity())
        feet.append(model.addFrame(pinocchio.Frame(f"foot_{k}", knee, 0, pinocchio.SE3(np.eye(3), np.array([0, 0, -0.25])),
                                                   pinocchio.FrameType.OP_FRAME)))
    model.lowerPositionLimit, model.upperPositionLimit = np.full(model.nq, -3.0), np.full(model.nq, 3.0)
    bent = np.tile([-0.4, 0.8], 3)
    q = np.concatenate([[0, 0, 0.5 * np.cos(0.4), 0, 0, 0, 1], bent])
    v, data, stepper = np.zeros(model.nv), model.createData(), layer.Stepper()
    stiffness, damping = np.append(np.zeros(6), np.full(6, 400.0)), np.append(np.zeros(6), np.full(6, 20.0))
    start, upward, steps = None, 0.0, 500
    for k in range(steps):
        pinocchio.framesForwardKinematics(model, data, q)
        places = np.array([data.oMf[f].translation for f in feet])
        start = places if start is None else start
        torque = np.append(np.zeros(6), 400 * (bent - q[7:])) - damping * v
        contacts = [layer.Contact(f, gap=p[2], friction=0.8, correction=0.2) for f, p in zip(feet, places)]
        answer = stepper.step(model, data, q, v, layer.Effort(torque, stiffness, damping), 0.002, contacts)
        q, v = answer.configuration, answer.velocity
        assert answer.solution.converged
        upward = answer.forces[:, 2].sum()
    assert upward == pytest.approx(9.0 * G, rel=1e-3)
    assert np.abs(places - start).max() < 2e-3 and np.abs(v).max() < 1e-2


def test_what_makes_no_sense_is_named_and_nothing_moves():
    model, corners = cubes(2)
    data, q, v, zero = model.createData(), pinocchio.neutral(model), np.zeros(12), np.zeros(12)
    q[9] = 1

    def refused(message, contacts=(), **changed):
        given = {"configuration": q, "velocity": v, "effort": zero, "time_step": 0.01} | changed
        with pytest.raises(ValueError, match=message):
            layer.step(model, data, contacts=contacts, **given)

    refused("configuration entries: expected 14, got 3", configuration=np.zeros(3))
    refused("configuration: expected unit quaternions", configuration=np.zeros(14))
    refused("velocity entry 3: expected a finite number, got nan", velocity=np.append([0, 0, 0, np.nan], np.zeros(8)))
    refused("torque entries: expected 12, got 1", effort=[1.0])
    refused("damping entry 1: expected a number >= 0, got -1", effort=layer.Effort(damping=[0, -1.0] + [0] * 10))
    refused("time step", time_step=-1)
    good = layer.Contact(corners[0])
    frames = model.nframes
    refused(f"contact 1: frame: expected a number below {frames}, got 99", [good, layer.Contact(99)])
    refused("contact 0: other: expected a frame of another joint", [layer.Contact(corners[0], other=corners[1])])
    refused("contact 1: friction: expected a finite number >= 0, got -1", [good, layer.Contact(corners[4], friction=-1)])
    refused("contact 0: normal: expected a length > 0", [layer.Contact(corners[0], normal=[0, 0, 0])])
    refused("contact 0: point: expected one", [layer.Contact(joint=1)])
    refused("contact 0: joint: expected a number below 3, got 7", [layer.Contact(joint=7, point=[0, 0, 0])])
    with pytest.raises(ValueError, match="correction"):
        layer.Stepper(correction=2)
    with pytest.raises(ValueError, match="tolerance"):
        layer.Stepper(tolerance=0)
    assert layer.step(model, data, q, v, zero, 0.01).velocity[2] == pytest.approx(-0.0981)
