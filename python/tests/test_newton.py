# SPDX-License-Identifier: BSD-3-Clause
"""carom.newton beside closed forms and Newton's own coordinates. Skipped where the package newton is not installed."""
import warnings

import numpy as np
import pytest

newton = pytest.importorskip("newton")
warp = pytest.importorskip("warp")
from carom import newton as layer  # noqa: E402
from carom._newton_joints import Joints, matrices, rotate  # noqa: E402
from test_examples import load  # noqa: E402

G = 9.81
UNIT = warp.quat_identity()


@pytest.fixture(autouse=True)
def quiet():
    warp.config.quiet = True
    warp.set_device("cpu")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def turn(axis, angle):
    return warp.quat_from_axis_angle(warp.vec3(*axis), float(angle))


def at(*place, turned=UNIT):
    return warp.transform(warp.vec3(*place), turned)


def surface(mu=0.5, restitution=0.0, **other):
    return newton.ModelBuilder.ShapeConfig(mu=mu, restitution=restitution, **other)


class World:
    """A model and its states; step() takes one after the other."""

    def __init__(self, builder, **settings):
        self.model = builder.finalize(device="cpu")
        self.solver = layer.SolverCarom(self.model, **settings)
        self.state, self.other = self.model.state(), self.model.state()
        newton.eval_fk(self.model, self.model.joint_q, self.model.joint_qd, self.state)
        self.pipeline = newton.CollisionPipeline(self.model)
        self.contacts = self.pipeline.contacts()
        self.control = self.model.control()

    def step(self, count=1, dt=0.002, force=None, observables=None):
        for _ in range(count):
            self.state.clear_forces()
            if force is not None:
                self.state.body_f.assign(np.asarray(force, dtype=np.float32))
            if self.model.shape_count:
                self.pipeline.collide(self.state, self.contacts)
            self.solver.step(self.state, self.other, self.control, self.contacts, dt, observables=observables)
            self.state, self.other = self.other, self.state
        assert all(s is None or s.converged for s in self.solver.solutions)
        return self

    @property
    def pose(self):
        return self.state.body_q.numpy().astype(float)

    @property
    def twist(self):
        return self.state.body_qd.numpy().astype(float)


def slope(heading, mu):
    down = turn((0, 0, 1), heading) * turn((0, 1, 0), np.pi / 6)  # x goes down by 30 degrees, towards the heading
    builder = newton.ModelBuilder()
    builder.add_shape_plane(plane=None, xform=warp.transform(warp.vec3(0.0), down), width=0.0, length=0.0, cfg=surface(mu))
    box = builder.add_body(xform=warp.transform(warp.quat_rotate(down, warp.vec3(0.0, 0.0, 0.1)), down))
    builder.add_shape_box(box, hx=0.2, hy=0.2, hz=0.1, cfg=surface(mu))
    return World(builder), np.array(warp.quat_rotate(down, warp.vec3(1.0, 0.0, 0.0)))


@pytest.mark.parametrize("heading", [0, 0.3, np.pi / 4, 2.0])
def test_a_box_on_a_slope_slides_by_closed_form_whatever_the_heading(heading):
    world, down = slope(heading, 0.3)
    world.step(500)
    assert np.allclose(world.twist[0, :3], G * (0.5 - 0.3 * np.sqrt(0.75)) * down, rtol=0, atol=1e-4)
    assert np.allclose(world.twist[0, 3:], 0, atol=1e-4)


@pytest.mark.parametrize("heading", [0, np.pi / 4, 2.0])
def test_a_box_on_a_slope_sticks(heading):
    world, _ = slope(heading, 0.6)  # tan 30 degrees is 0.577
    start = world.pose
    world.step(500)
    assert np.abs(world.twist).max() < 1e-6 and np.abs(world.pose - start).max() < 1e-5


def test_friction_and_restitution_are_means_of_the_shapes():
    builder = newton.ModelBuilder()
    builder.add_ground_plane(cfg=surface(0.2, 0.4))
    for x, mu, restitution in [(0, 0.6, 0.8), (2, 0.2, 0.4)]:
        ball = builder.add_body(xform=at(x, 0, 1.0))
        builder.add_shape_sphere(ball, radius=0.1, cfg=surface(mu, restitution))
    world = World(builder, enable_restitution=True)
    speed = -world.step(200).twist[:, 2]
    while (world.step().twist[:, 2] < 0).any():
        speed = np.where(world.twist[:, 2] < 0, -world.twist[:, 2], speed)
    assert np.allclose(world.twist[:, 2] / speed, [0.6, 0.4], atol=1e-4)


@pytest.mark.parametrize("restitution", [0.0, 0.5])
def test_a_box_bounces_as_it_should(restitution):
    builder = newton.ModelBuilder()
    builder.add_ground_plane(cfg=surface(0.5, restitution))
    box = builder.add_body(xform=at(0, 0, 0.6))
    builder.add_shape_box(box, hx=0.2, hy=0.3, hz=0.1, cfg=surface(0.5, restitution))
    world, heights = World(builder, enable_restitution=True), []
    for _ in range(600):
        heights.append(world.step().pose[0, 2] - 0.1)
    struck = int(np.argmin(heights[:250]))
    assert max(heights[struck:]) == pytest.approx(restitution**2 * 0.5, abs=0.01)
    assert min(heights) > -1e-4


def pendulum(amplitude, **settings):
    builder = newton.ModelBuilder()
    link = builder.add_link()
    builder.add_shape_box(link, hx=0.05, hy=0.05, hz=0.5)
    hinge = builder.add_joint_revolute(-1, link, axis=(1, 0, 0), parent_xform=at(0, 0, 3), child_xform=at(0, 0, 0.5))
    builder.add_articulation([hinge])
    builder.joint_q[-1] = amplitude
    return World(builder, **settings)


def test_a_pendulum_has_its_period_and_keeps_its_energy():
    world = pendulum(1.0)
    mass, inertia = world.model.body_mass.numpy()[0], world.model.body_inertia.numpy()[0, 0, 0]
    angles, energies, dt = [], [], 0.005
    for _ in range(1200):
        world.step(dt=dt)
        angles.append(world.state.joint_q.numpy()[0])
        v = world.twist[0]
        energies.append(mass * G * (world.pose[0, 2] - 2.5) + mass / 2 * v[:3] @ v[:3] + inertia / 2 * v[3:] @ v[3:])
    angles, start = np.array(angles), mass * G * 0.5 * (1 - np.cos(1.0))
    down = np.flatnonzero((angles[:-1] > 0) & (angles[1:] <= 0))
    crossed = dt * (down + angles[down] / (angles[down] - angles[down + 1]))
    mean, x = 1.0, np.cos(0.5)  # the period by the mean of Gauss
    while abs(mean - x) > 1e-15:
        mean, x = (mean + x) / 2, np.sqrt(mean * x)
    period = 2 * np.pi * np.sqrt((inertia + mass / 4) / (mass * G / 2)) / mean
    assert np.diff(crossed).mean() == pytest.approx(period, rel=1e-4)
    assert np.abs(np.array(energies) / start - 1).max() < 0.015 and abs(np.mean(energies[-350:]) / start - 1) < 2e-3


def test_a_free_body_keeps_momentum_and_energy():
    builder = newton.ModelBuilder(gravity=(0, 0, 0))
    box = builder.add_body(xform=at(0, 0, 0))
    builder.add_shape_box(box, hx=0.1, hy=0.2, hz=0.4)
    world = World(builder)
    world.state.body_qd.assign(np.array([[0.3, 0, 0, 0.01, 8.0, 0.02]], dtype=np.float32))  # about the middle axis: it flips
    inertia = world.model.body_inertia.numpy()[0].astype(float)

    def kept():
        to_world = matrices(world.pose[:, 3:])[0]
        w = to_world.T @ world.twist[0, 3:]
        return np.append(to_world @ inertia @ w, w @ inertia @ w)

    start, least = kept(), 8.0
    for _ in range(600):
        least = min(least, world.step(dt=0.005).twist[0, 4])
    assert np.allclose(kept(), start, rtol=0, atol=2e-3 * np.abs(start).max()) and least < 8.0
    assert world.twist[0, 0] == pytest.approx(0.3, abs=1e-6)
    world.state.body_qd.assign(np.array([[0, 0, 0, 100.0, 200.0, 150.0]], dtype=np.float32))  # more than a radian a step
    start = kept()
    assert kept()[3] > 0 and np.isclose(world.step(50, dt=0.005) and kept()[3], start[3], rtol=1e-4)


def test_limits_hold():
    builder = newton.ModelBuilder()
    links = [builder.add_link() for _ in range(2)]
    for link in links:
        builder.add_shape_box(link, hx=0.05, hy=0.05, hz=0.25)
    arm = builder.add_joint_revolute(-1, links[0], axis=(0, 1, 0), parent_xform=at(0, 0, 2), child_xform=at(0, 0, -0.25),
                                     limit_lower=-0.7, limit_upper=0.4)
    slide = builder.add_joint_prismatic(-1, links[1], axis=(0, 0, 1), parent_xform=at(1, 0, 2), limit_lower=-0.3, limit_upper=0.1)
    builder.add_articulation([arm])
    builder.add_articulation([slide])
    builder.joint_q[-2] = 0.01  # falls to the side of the upper limit
    world = World(builder)
    extremes = np.array([world.step().state.joint_q.numpy() for _ in range(1000)])
    assert extremes[:, 0].max() < 0.4 + 1e-4 and extremes[:, 1].min() > -0.3 - 1e-4
    assert np.allclose(world.state.joint_q.numpy(), [0.4, -0.3], atol=1e-4) and np.abs(world.twist).max() < 1e-4


def slider(**dof):
    builder = newton.ModelBuilder()
    link = builder.add_link(mass=2.0, inertia=warp.mat33(np.eye(3)))
    builder.add_articulation([builder.add_joint_prismatic(-1, link, axis=(0, 0, 1), **dof)])
    return World(builder)


def test_drives_springs_armature_and_friction_of_a_joint():
    stiff = slider(target_ke=1e6, target_kd=1e4, target_pos=0.5).step(500)  # far beyond what an explicit step could take
    assert stiff.state.joint_q.numpy()[0] == pytest.approx(0.5 - 2 * G / 1e6, abs=1e-6)
    heavy = slider(armature=3.0).step(100)
    assert heavy.twist[0, 2] == pytest.approx(-G * 2 / (2 + 3) * 0.2, rel=1e-5)
    damped = slider(damping=4.0).step(250)
    assert damped.twist[0, 2] == pytest.approx(-2 * G / 4.0 * (1 - np.exp(-2 * 0.5)), rel=2e-3)
    held, slipping = slider(friction=20.0).step(100), slider(friction=10.0).step(100)
    assert abs(held.twist[0, 2]) < 1e-6 and slipping.twist[0, 2] == pytest.approx(-(G - 5) * 0.2, rel=1e-5)
    weak = slider(target_ke=1e6, target_pos=0.5, effort_limit=10.0, armature=3.0).step(100)
    assert weak.twist[0, 2] == pytest.approx(-(2 * G - 10) / 5 * 0.2, rel=1e-5)
    pushed = slider()
    pushed.control.joint_f.assign(np.array([2 * G + 4], dtype=np.float32))
    assert pushed.step(100).twist[0, 2] == pytest.approx(2 * 0.2, rel=1e-5)


def stack(worlds=1):
    one = newton.ModelBuilder()
    for k in range(3):
        box = one.add_body(xform=at(0.01 * k, 0, 0.1 + 0.2 * k))
        one.add_shape_box(box, hx=0.15, hy=0.1, hz=0.1, cfg=surface(0.5))
    builder = newton.ModelBuilder()
    builder.replicate(one, worlds)
    builder.add_ground_plane()
    return builder


def test_a_stack_carries_its_weight():
    world = World(stack())
    seen = world.solver.observables({"contact_f", "body_qdd", "body_parent_f"}, contacts=world.contacts)
    world.step(100, observables=seen)
    weight = G * world.model.body_mass.numpy().astype(float)
    first = world.model.shape_body.numpy()[world.contacts.rigid_contact_shape0.numpy()]
    second = world.model.shape_body.numpy()[world.contacts.rigid_contact_shape1.numpy()]
    force = seen.contact_f.numpy().astype(float)
    for lower in range(-1, 2):  # what a box, or the ground, bears: all that is above it
        on_lower = force[(first == lower) & (second == lower + 1)].sum(0) - force[(second == lower) & (first == lower + 1)].sum(0)
        assert np.allclose(on_lower[:3], [0, 0, -weight[lower + 1:].sum()], rtol=1e-4, atol=1e-2 * weight[0])
    assert np.abs(seen.body_qdd.numpy()).max() < 1e-2 and np.abs(world.twist).max() < 1e-5
    assert np.abs(seen.body_parent_f.numpy()).max() == 0


def test_update_contacts_writes_what_the_observable_has():
    builder = stack()
    world = World(builder)
    with pytest.raises(ValueError, match='"force"'):
        world.solver.update_contacts(world.contacts)
    world.model.request_contact_attributes("force")
    world.contacts = world.pipeline.contacts()
    with pytest.raises(ValueError, match="before"):
        world.solver.update_contacts(world.contacts)
    seen = world.solver.observables({"contact_f"}, contacts=world.contacts)
    world.step(50, observables=seen)
    world.solver.update_contacts(world.contacts)
    force = world.contacts.force.numpy()
    assert np.abs(force).max() > 10 and np.array_equal(force, seen.contact_f.numpy())
    # About the centre of mass of body 0: r x f of a point that Newton knows, as friction and normal act there.
    shape0, body = world.contacts.rigid_contact_shape0.numpy(), world.model.shape_body.numpy()
    for i in np.flatnonzero(np.abs(force[:, 2]) > 1):
        b = body[shape0[i]]
        pose = world.other.body_q.numpy().astype(float)[b] if b >= 0 else np.array([0, 0, 0, 0, 0, 0, 1.0])
        local = world.contacts.rigid_contact_point0.numpy()[i] + world.contacts.rigid_contact_offset0.numpy()[i]
        arm = rotate(pose[3:], local.astype(float)) + (pose[:3] if b < 0 else 0)
        assert np.allclose(force[i, 3:], np.cross(arm, force[i, :3]), atol=1e-3 * np.abs(force[i]).max())


def test_many_worlds_are_each_what_it_is_alone():
    alone = World(stack()).step(60)
    for threads in (1, 2):
        many = World(stack(3), threads=threads).step(60)
        assert [s.velocity.size for s in many.solver.solutions] == [18, 18, 18]
        assert all(np.array_equal(many.pose[3 * w:3 * w + 3], alone.pose) for w in range(3))
        assert all(np.array_equal(many.twist[3 * w:3 * w + 3], alone.twist) for w in range(3))
    many.model.set_gravity((0.0, 0.0, 0.0), world=1)
    many.solver.notify_model_changed(newton.ModelFlags.MODEL_PROPERTIES)
    falls = many.twist
    many.step(1, force=np.tile([0, 0, 500.0, 0, 0, 0], (9, 1)))
    risen = many.twist - falls
    assert risen[3:6, 2] == pytest.approx(500 / many.model.body_mass.numpy()[0] * 0.002, rel=1e-3)


AXES = [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
D6 = newton.ModelBuilder.JointDofConfig


def mechanism(seed=0):
    """Joints of all kinds with random frames, from a body that moves to another, and the world."""
    rng = np.random.default_rng(seed)

    def frame():
        q = rng.normal(size=4)
        return warp.transform(warp.vec3(*rng.normal(size=3)), warp.quat(*(q / np.linalg.norm(q))))

    builder = newton.ModelBuilder()

    def axes(count):
        return [D6(axis=a) for a in [AXES[k] for k in rng.permutation(3)[:count]]]

    kinds = [lambda p, c, f: builder.add_joint_fixed(p, c, **f), lambda p, c, f: builder.add_joint_revolute(p, c, axis=AXES[0], **f),
             lambda p, c, f: builder.add_joint_prismatic(p, c, axis=AXES[1], **f), lambda p, c, f: builder.add_joint_ball(p, c, **f)]
    for along, about in [(0, 2), (1, 2), (0, 3), (2, 1), (3, 0), (3, 3), (1, 1)]:
        kinds.append(lambda p, c, f, m=along, n=about: builder.add_joint_d6(p, c, linear_axes=axes(m), angular_axes=axes(n), **f))
    for add in kinds:
        for parent in (-1, builder.add_link(mass=1.0, inertia=warp.mat33(np.eye(3)), com=warp.vec3(0.1, -0.2, 0.3))):
            child = builder.add_link(mass=1.0, inertia=warp.mat33(np.eye(3)), com=warp.vec3(0.2, 0.1, -0.1))
            joints = [builder.add_joint_free(parent)] if parent >= 0 else []
            builder.add_articulation([*joints, add(parent, child, {"parent_xform": frame(), "child_xform": frame()})])
    return builder.finalize(device="cpu")


def bodies_of(state):
    pose = state.body_q.numpy().astype(float)
    turns = pose[:, 3:] / np.linalg.norm(pose[:, 3:], axis=1)[:, None]
    return np.vstack([pose[:, :3], np.zeros(3)]), np.vstack([turns, [0, 0, 0, 1.0]])


def draw_state(model, seed=1):
    rng = np.random.default_rng(seed)
    q = rng.uniform(-1.2, 1.2, model.joint_coord_count)
    for j, kind in enumerate(model.joint_type.numpy()):
        start = model.joint_q_start.numpy()[j] + (3 if kind == int(newton.JointType.FREE) else 0)
        if kind in (int(newton.JointType.FREE), int(newton.JointType.BALL)):
            q[start:start + 4] /= np.linalg.norm(q[start:start + 4])
    state = model.state()
    state.joint_q.assign(q.astype(np.float32))
    state.joint_qd.assign(rng.normal(size=model.joint_dof_count).astype(np.float32))
    newton.eval_fk(model, state.joint_q, state.joint_qd, state)
    return state


def test_coordinates_and_their_rates_are_those_of_newton():
    model = mechanism()
    joints, state = Joints(model), draw_state(model)
    position, turns = bodies_of(state)
    pose = joints.pose(position, turns)
    known = joints.coordinate >= 0
    difference = pose.value[known] - state.joint_q.numpy()[joints.coordinate[known]]
    assert known.sum() == 48 and np.abs(difference - 2 * np.pi * np.round(difference / (2 * np.pi))).max() < 1e-5
    assert joints.locked.sum() == 2 * (6 + 5 + 5 + 3 + 4 + 3 + 3 + 3 + 3 + 0 + 4) and np.abs(pose.value[joints.locked]).max() < 1e-5
    centre = position + rotate(turns, np.vstack([model.body_com.numpy(), np.zeros(3)]))
    twist = np.vstack([state.body_qd.numpy(), np.zeros(6)]).astype(float)
    rate = ((pose.rows(centre[joints.child]) @ twist[joints.child][..., None])
            - (pose.rows(centre[joints.parent]) @ twist[joints.parent][..., None]))[..., 0]
    dofs = joints.dof >= 0
    assert np.allclose(rate[dofs], state.joint_qd.numpy()[joints.dof[dofs]], atol=2e-5)
    assert np.abs(rate[joints.locked]).max() < 2e-5


def test_joints_of_all_kinds_hold_together():
    model = mechanism()
    solver, joints = layer.SolverCarom(model), Joints(model)
    state, other = draw_state(model), model.state()
    worst = 0.0
    for _ in range(200):
        state.clear_forces()
        solver.step(state, other, None, None, 0.002)
        state, other = other, state
        assert solver.solutions[0].converged
        worst = max(worst, np.abs(joints.pose(*bodies_of(state)).value[joints.locked]).max())
    assert worst < 2e-4


def test_a_loop_of_bars_stays_closed():
    builder = newton.ModelBuilder()
    bars = [builder.add_link(xform=at(*p)) for p in [(0, 0, -0.5), (0.5, 0, -1.0), (1.0, 0, -0.5)]]
    for bar, size in zip(bars, [(0.02, 0.02, 0.5), (0.5, 0.02, 0.02), (0.02, 0.02, 0.5)]):
        builder.add_shape_box(bar, hx=size[0], hy=size[1], hz=size[2], cfg=newton.ModelBuilder.ShapeConfig(has_shape_collision=False))
    hinge = {"axis": (0, 1, 0)}
    chain = [builder.add_joint_revolute(-1, bars[0], child_xform=at(0, 0, 0.5), **hinge),
             builder.add_joint_revolute(bars[0], bars[1], parent_xform=at(0, 0, -0.5), child_xform=at(-0.5, 0, 0), **hinge),
             builder.add_joint_revolute(bars[1], bars[2], parent_xform=at(0.5, 0, 0), child_xform=at(0, 0, -0.5), **hinge)]
    builder.add_articulation(chain)
    builder.add_joint_revolute(-1, bars[2], parent_xform=at(1, 0, 0), child_xform=at(0, 0, 0.5), **hinge)
    world = World(builder)
    world.state.body_qd.assign(np.array([[-0.5, 0, 0, 0, 1, 0], [-1, 0, 0, 0, 0, 0], [-0.5, 0, 0, 0, 1, 0]], dtype=np.float32))
    joints, worst, moved = Joints(world.model), 0.0, 0.0
    for _ in range(500):
        world.step()
        value = joints.pose(*bodies_of(world.state)).value
        worst, moved = max(worst, np.abs(value[joints.locked]).max()), max(moved, abs(world.pose[1, 0] - 0.5))
    assert worst < 1e-5 and moved > 0.1
    assert abs(world.twist[1, 3:]).max() < 1e-4  # the coupler of a parallelogram does not turn


def test_a_rope_and_a_rod_between_bodies():
    builder = newton.ModelBuilder()
    ends = [builder.add_link(xform=at(x, 0, 0), mass=1.0, inertia=warp.mat33(0.1 * np.eye(3))) for x in (0.5, 3.0)]
    builder.add_articulation([builder.add_joint_distance(-1, ends[0], min_distance=-1.0, max_distance=1.0)])
    builder.add_articulation([builder.add_joint_distance(-1, ends[1], parent_xform=at(2, 0, 0), min_distance=1.0, max_distance=1.0)])
    world = World(builder)
    for state in (world.state, world.other):
        state.body_q.assign(np.array([[0.5, 0, 0, 0, 0, 0, 1], [3, 0, 0, 0, 0, 0, 1]], dtype=np.float32))
    lengths = np.array([np.linalg.norm(world.step().pose[:, :3] - [[0, 0, 0], [2, 0, 0]], axis=1) for _ in range(400)])
    assert lengths[:, 0].max() < 1 + 2e-3 and lengths[:100, 0].min() < 0.9
    assert np.abs(lengths[:, 1] - 1).max() < 2e-3 and world.pose[:, 2].min() < -0.3


def test_what_moves_as_it_is_told_carries_what_touches_it():
    builder = newton.ModelBuilder()
    plate = builder.add_link(xform=at(0, 0, 0), is_kinematic=True)
    builder.add_shape_box(plate, hx=2, hy=1, hz=0.1, cfg=surface(0.4))
    box = builder.add_body(xform=at(0, 0, 0.2))
    builder.add_shape_box(box, hx=0.1, hy=0.1, hz=0.1, cfg=surface(0.4))
    bob = builder.add_link(xform=at(0, 3, 0))
    builder.add_shape_box(bob, hx=0.1, hy=0.1, hz=0.1)
    driven = builder.add_link(xform=at(0, -3, 0), mass=2.0, inertia=warp.mat33(np.eye(3)))
    free = builder.add_joint_free(plate)
    held = builder.add_joint_prismatic(plate, bob, axis=(0, 0, 1), parent_xform=at(0, 3, 0), friction=1e4)
    servo = builder.add_joint_prismatic(plate, driven, axis=(0, 0, 1), parent_xform=at(0, -3, 0), target_ke=1e5, target_kd=1e3,
                                        target_pos=0.1, damping=10.0, armature=0.5)
    builder.add_articulation([free, held, servo])
    world = World(builder)
    for step in range(300):
        for state in (world.state, world.other):
            pose, twist = state.body_q.numpy().copy(), state.body_qd.numpy().copy()
            pose[0, :3], twist[0] = np.array([0.5, 0, 0.2]) * 0.002 * step, [0.5, 0, 0.2, 0, 0, 0]
            state.body_q.assign(pose)
            state.body_qd.assign(twist)
        world.step()
        if step == 24:  # 50 ms: friction has not brought it to the plate's speed yet
            assert world.twist[1, 0] == pytest.approx(0.4 * (G * 0.05 + 0.2), rel=1e-3)
    assert np.allclose(world.twist[1:], [0.5, 0, 0.2, 0, 0, 0], atol=1e-3)
    assert np.allclose(world.pose[2, :3], [0.5 * 0.6, 3, 0.2 * 0.6], atol=2e-3)
    assert np.allclose(world.pose[3, :3], [0.5 * 0.6, -3, 0.1 - 2 * G / 1e5 + 0.2 * 0.6], atol=2e-3)


def test_a_ball_that_resists_rolling_slows_down_by_closed_form():
    builder = newton.ModelBuilder()
    builder.add_ground_plane(cfg=surface(0.5, mu_rolling=0.01, mu_torsional=0.0))
    ball = builder.add_body(xform=at(0, 0, 0.2))
    builder.add_shape_sphere(ball, radius=0.2, cfg=surface(0.5, mu_rolling=0.01, mu_torsional=0.0))
    worlds = [World(builder, rolling=rolling) for rolling in (True, False)]
    for world in worlds:
        world.state.body_qd.assign(np.array([[1.0, 0, 0, 0, 5.0, 0]], dtype=np.float32))
        world.step(250)
    assert worlds[0].twist[0, 0] == pytest.approx(1 - 5 / 7 * G * 0.01 / 0.2 * 0.5, rel=1e-3)
    assert worlds[1].twist[0, 0] == pytest.approx(1, rel=1e-4)


def test_forces_of_joints_and_of_bodies():
    world = pendulum(0.0)
    seen = world.solver.observables({"body_parent_f", "body_qdd"})
    world.step(5, observables=seen)
    weight = world.model.body_mass.numpy()[0] * G
    assert np.allclose(seen.body_parent_f.numpy()[0], [0, 0, weight, 0, 0, 0], atol=1e-3 * weight)
    builder = newton.ModelBuilder(gravity=(0, 0, 0))
    for x in (0, 3):
        builder.add_body(xform=at(x, 0, 0), mass=2.0, inertia=warp.mat33(0.5 * np.eye(3)), com=warp.vec3(0.0, 0.3, 0.0))
    both = World(builder)
    wrench = np.array([1.0, 2, 3, 0.1, 0.2, 0.3])
    both.control.joint_f.assign(np.concatenate([np.zeros(6), wrench]).astype(np.float32))
    seen = both.solver.observables({"body_qdd"})
    both.step(1, force=np.vstack([wrench, np.zeros(6)]), observables=seen)
    assert np.allclose(both.twist, 0.002 * wrench / [2, 2, 2, 0.5, 0.5, 0.5], rtol=1e-4)
    assert np.allclose(seen.body_qdd.numpy(), wrench / [2, 2, 2, 0.5, 0.5, 0.5], rtol=1e-4)


def test_what_it_cannot_do_is_said():
    builder = newton.ModelBuilder()
    builder.add_particle(warp.vec3(0.0), warp.vec3(0.0), 1.0)
    with pytest.raises(ValueError, match="rigid bodies.*1 particles"):
        layer.SolverCarom(builder.finalize(device="cpu"))
    for dof, message in [({"target_ke": 5.0}, "ball without limits")]:
        builder = newton.ModelBuilder()
        link = builder.add_link(mass=1.0, inertia=warp.mat33(np.eye(3)))
        builder.add_articulation([builder.add_joint_ball(-1, link, label="hip")])
        model = builder.finalize(device="cpu")
        for name, value in dof.items():
            getattr(model, f"joint_{name}").fill_(value)
        with pytest.raises(ValueError, match=f"joint 0 \\('hip'\\).*{message}"):
            layer.SolverCarom(model)
    model = stack().finalize(device="cpu")
    for settings, message in [({"correction": 0}, "correction"), ({"law": "x"}, "law"), ({"tolerance": -1}, "tolerance"),
                              ({"rolling": True, "enable_restitution": True}, "either")]:
        with pytest.raises(ValueError, match=message):
            layer.SolverCarom(model, **settings)


def test_bad_numbers_leave_the_state_and_say_where():
    world = World(stack()).step(10)
    before = world.pose
    twist = world.state.body_qd.numpy().copy()
    twist[1, 2] = np.nan
    world.state.body_qd.assign(twist)
    with pytest.raises(ValueError, match="body 1 .*velocity: expected finite"):
        world.step()
    assert np.array_equal(world.other.body_q.numpy(), before.astype(np.float32))
    world.state.body_qd.zero_()
    with pytest.raises(ValueError, match="body 2 .*force: expected finite"):
        world.step(force=[[0] * 6, [0] * 6, [np.inf] * 6])
    with pytest.raises(ValueError, match="time step: expected"):
        world.step(dt=0.0)
    world.model.shape_material_mu.fill_(-0.5)
    world.solver.notify_model_changed(newton.ModelFlags.SHAPE_PROPERTIES)
    with pytest.raises(ValueError, match="world 0: contact 0: friction: expected a finite number >= 0, got -0.5"):
        world.step()
    assert np.array_equal(world.other.body_q.numpy(), before.astype(np.float32))
    world.model.shape_material_mu.fill_(0.5)
    world.solver.notify_model_changed(newton.ModelFlags.SHAPE_PROPERTIES)
    assert np.abs(world.step(20).twist).max() < 1e-4
    with pytest.raises(ValueError, match="graph"), warp.ScopedCapture():
        world.solver.step(world.state, world.other, None, None, 0.002)


def test_masses_that_change_are_read_again():
    world = World(stack()).step(5)
    world.model.body_mass.fill_(3.0)
    world.solver.notify_model_changed(newton.ModelFlags.BODY_INERTIAL_PROPERTIES)
    seen = world.solver.observables({"contact_f"}, contacts=world.contacts)
    world.step(60, observables=seen)
    shapes = world.model.shape_body.numpy()
    ground = shapes[world.contacts.rigid_contact_shape0.numpy()] == -1, shapes[world.contacts.rigid_contact_shape1.numpy()] == -1
    force = seen.contact_f.numpy()
    count = world.contacts.rigid_contact_count.numpy()[0]
    pressed = force[:count][ground[0][:count], 2].sum() - force[:count][ground[1][:count], 2].sum()
    assert abs(pressed) == pytest.approx(9 * G, rel=1e-3)


def test_one_of_newtons_examples_with_its_own_tests():
    measured = load("newton_examples").run("basic_joints", layer.SolverCarom)
    assert measured.failed == "" and measured.anchor < 1e-5 and measured.angle < 1e-5 and len(measured.seconds) == 1000
