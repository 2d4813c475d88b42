# SPDX-License-Identifier: BSD-3-Clause
"""A solver for Newton: rigid contact under Coulomb's law, and joints that neither give way nor drift.

    import carom.newton, newton

    solver = carom.newton.SolverCarom(model)                    # in the place of newton.solvers.SolverXPBD(model)
    contacts = model.contacts()
    while time < 2:
        model.collide(state, contacts)
        solver.step(state, following, control, contacts, 0.002)
        state, following = following, state

Newton finds the contacts, carom computes how the bodies go on. It is solved on the processor, so the model is one of
newton's device "cpu".
"""
import concurrent.futures
import os
from collections.abc import Callable
from typing import Any

import newton
import numpy as np
import warp

import carom
from carom._newton_joints import Array, Joints, rotate, turn_by
from carom._newton_step import UNLIMITED, Part, Step

__all__ = ["SolverCarom"]

class SolverCarom(newton.solvers.SolverBase):
    """Steps of Newton's rigid bodies in maximal coordinates, body_q and body_qd.

    law: 'coulomb' or 'convex', as in carom.solve(). tolerance [-], > 0: natural map error at which a solve ends. correction
    [-], in (0, 1]: the share of a penetration, and of the error of a joint, that a step takes back. enable_restitution: whether
    contacts bounce, by the mean of their shapes' restitution. rolling: whether contacts also resist spinning and rolling, by
    the means of mu_torsional and mu_rolling [m]; without restitution. write_joints: whether joint_q and joint_qd are written
    too. threads: how many solve the worlds of the model; None: as many as there are processors.

    Every world of the model is a problem of its own, unless a body that moves belongs to all. Contacts are rigid, with the mean
    friction of their shapes, and obey law; an open gap may close and no further. Joints are rigid and so are their limits:
    joint_limit_ke and joint_limit_kd are not read, nor joint_velocity_limit. Drives, springs, damping and armature are taken at
    the end of the step, so that any gain is stable; joint_effort_limit bounds a drive, joint_friction holds without creep.
    Kinematic bodies and those without mass move as they are told.

    ValueError: a model of another device than the processor, with particles, or with a joint, a tendon or a body that is not
    supported, which the sentence names.
    """

    SUPPORTED_OBSERVABLES = frozenset({
        newton.solvers.SolverBase.ObservableKind.BODY_QDD, newton.solvers.SolverBase.ObservableKind.BODY_PARENT_F,
        newton.solvers.SolverBase.ObservableKind.CONTACT_F})

    def __init__(self, model: newton.Model, *, law: str = "coulomb", tolerance: float = 1e-8, correction: float = 0.2,
                 enable_restitution: bool = False, rolling: bool = False, write_joints: bool = True,
                 threads: int | None = None) -> None:
        super().__init__(model=model)
        if not 0 < correction <= 1:
            raise ValueError(f"carom.newton: correction: expected a number in (0, 1], got {correction}")
        if enable_restitution and rolling:
            raise ValueError("carom.newton: expected either enable_restitution or rolling, got both")
        _refuse(model)
        self.correction, self.enable_restitution, self.rolling = correction, enable_restitution, rolling
        self.write_joints = write_joints
        self._new_solver: Callable[[], carom.Solver] = lambda: carom.Solver(law=law, tolerance=tolerance)
        self._new_solver()  # says now what it does not accept
        threads = threads if threads is not None else os.cpu_count() or 1
        self._pool = concurrent.futures.ThreadPoolExecutor(threads) if threads > 1 else None  # starts its threads when needed
        self._read_bodies()
        self._read_joints()
        self._read_shapes()
        self._forget()

    @property
    def solutions(self) -> list["carom.Solution | None"]:
        """The solutions of the last step, one of each world, None where nothing moves. Status and residual are there."""
        return [part.solution for part in self._parts]

    def notify_model_changed(self, flags: "newton.ModelFlags | int") -> None:
        """Reads again what has changed, whatever the flags name. ValueError: as in the constructor."""
        _refuse(self.model)
        self._read_bodies()
        self._read_joints()
        self._read_shapes()

    def reset(self, state: newton.State, world_mask: Any = None, flags: Any = None) -> None:
        """Forgets the last step, whose answer is the guess of the next."""
        super().reset(state, world_mask, flags)
        self._forget()

    def _forget(self) -> None:
        self._written: tuple[Array, Array, Array, Array] | None = None
        self._contact_forces: tuple[Array, int] | None = None
        for part in self._parts:
            part.solver, part.calm = self._new_solver(), False

    # What is read of the model.

    def _read_bodies(self) -> None:
        model: Any = self.model
        self.body_count = int(model.body_count)
        self._mass = model.body_mass.numpy().astype(float)
        self._inertia = model.body_inertia.numpy().astype(float).reshape(-1, 3, 3)
        self._com = model.body_com.numpy().astype(float)
        flags = model.body_flags.numpy()
        self._kinematic = (flags & int(newton.BodyFlags.KINEMATIC)) != 0
        self._movable = np.append((model.body_inv_mass.numpy() > 0) & ~self._kinematic, False)  # the world does not move
        self._gravity = model.gravity.numpy().astype(float)
        world = model.body_world.numpy().astype(int)
        own = np.flatnonzero(self._movable[:-1])
        for b in own:
            if not np.linalg.eigvalsh((self._inertia[b] + self._inertia[b].T) / 2)[0] > 0:
                raise ValueError(f"carom.newton: body {b} ('{model.body_label[b]}'): expected a positive definite inertia, got "
                                 f"{self._inertia[b].tolist()}")
        shared = bool((world[own] < 0).any())
        self._part = np.append(np.where(shared, 0, np.maximum(world, 0)), -1)
        count = 1 if shared else max(int(model.world_count), 1)
        self._body_gravity = self._gravity[world if len(self._gravity) > 1 else np.zeros_like(world)]
        self._local = np.full(self.body_count + 1, -1)
        bodies = [own[self._part[own] == p] for p in range(count)]
        for some in bodies:
            self._local[some] = np.arange(len(some))
        old = getattr(self, "_parts", [])
        if len(old) != count:
            old = [Part(self._new_solver()) for _ in range(count)]
        for part, some in zip(old, bodies):
            part.bodies = some
        self._parts: list[Part] = old

    def _read_joints(self) -> None:
        model: Any = self.model
        joints = Joints(model)
        self._joints = joints
        slots = joints.dof >= 0

        def by_slot(name: str) -> Array:
            """A number of each degree of freedom, by slots."""
            numbers = getattr(model, f"joint_{name}").numpy().astype(float)
            return np.asarray(np.where(slots, np.append(numbers, 0.0)[joints.dof], 0.0))

        self._drive, self._drive_damping = by_slot("target_ke"), by_slot("target_kd")
        self._spring, self._damping = by_slot("stiffness"), by_slot("damping")
        self._armature, self._friction = by_slot("armature"), by_slot("friction")
        self._effort_limit = by_slot("effort_limit")
        self._lower, self._upper = by_slot("limit_lower"), by_slot("limit_upper")
        self._limited = (joints.coordinate >= 0) & (self._lower <= self._upper)
        rest = np.append(model.joint_rest_q.numpy().astype(float), 0.0)
        self._rest = np.where(joints.coordinate >= 0, rest[joints.coordinate], 0.0)
        for j in joints.balls:
            if (self._drive[j] + self._spring[j]).any() or (self._lower[j, 3:] > -1e6).any() or (self._upper[j, 3:] < 1e6).any():
                raise ValueError(f"carom.newton: {joints.label[j]}: expected a ball without limits and springs, got some")
        # The middle of limits that are finite: there the angle of a hinge has its branch.
        finite = self._limited & (np.abs(self._lower) < 1e6) & (np.abs(self._upper) < 1e6)
        self._middle = np.where(finite, (self._lower + self._upper) / 2, 0.0)
        self._winds = (np.arange(6) >= 3) & (joints.coordinate >= 0)
        self._turns_freely = self._winds & ~finite
        child, parent = self._movable[joints.child], self._movable[joints.parent] & (joints.parent >= 0)
        self._by_parent, self._by_child = parent, child
        acts = joints.enabled & (child | parent)
        of = np.where(child, self._part[joints.child], self._part[joints.parent])
        passive = self._spring + self._damping + self._armature
        driven = self._drive + self._drive_damping
        # A drive with an effort limit of its own, beside what has none, is a motor of its own.
        self._apart = (driven > 0) & (passive > 0) & (self._effort_limit < UNLIMITED)
        for p, part in enumerate(self._parts):
            some = acts & (of == p)
            part.joints = [(int(j), np.flatnonzero(joints.locked[j])) for j in np.flatnonzero(some & joints.locked.any(1))]
            part.motors = [(int(j), int(k)) for j, k in np.argwhere(some[:, None] & (driven + passive > 0))]
            part.frictions = [(int(j), int(k)) for j, k in np.argwhere(some[:, None] & (self._friction > 0))]
            part.distances = [int(j) for j in joints.distances if some[j]]
            part.acts = some
        self._distance_limits = model.joint_limit_lower.numpy().astype(float), model.joint_limit_upper.numpy().astype(float)
        self._dof_start = model.joint_qd_start.numpy().astype(int)
        free = (joints.type == int(newton.JointType.FREE)) | (joints.type == int(newton.JointType.DISTANCE))
        self._free_joints = np.flatnonzero(free & joints.enabled)

    def _read_shapes(self) -> None:
        model: Any = self.model

        def of(name: str) -> Array:
            array = getattr(model, f"shape_{name}")
            return np.asarray(np.zeros(0) if array is None else array.numpy(), dtype=float)

        self._shape_body = of("body").astype(int)
        self._mu, self._restitution = of("material_mu"), of("material_restitution")
        self._mu_torsional, self._mu_rolling = of("material_mu_torsional"), of("material_mu_rolling")

    # A step.

    def step(self, state_in: newton.State, state_out: newton.State, control: "newton.Control | None",
             contacts: "newton.Contacts | None", dt: float, *,
             observables: "newton.solvers.SolverBase.Observables | None" = None) -> None:
        """Advances by dt [s], > 0, from state_in to state_out, which may be the same.

        control: None stands for that of the model. contacts: those of state_in, as model.collide() finds them, or None.
        observables: of self.observables(); body_qdd, body_parent_f and contact_f are supported. ValueError: numbers that make no
        sense, with carom's address of what they are; then state_out is what state_in is.
        """
        self.validate_observables(observables, contacts)
        if self.model.device.is_capturing:
            raise ValueError("carom.newton: expected a step outside of a graph, as it is not made of Warp's kernels, got a capture")
        if contacts is not None and contacts.rigid_contact_body_pair_reduced:
            raise ValueError("carom.newton: expected contacts without body_pair_reduction, got reduced ones")
        if not self.body_count:
            return
        if control is None:
            control = self.model.control(clone_variables=False)
        try:
            step = Step(self, state_in, control, contacts, float(dt))
            after = step.solve()
        except ValueError:
            _copy(state_in, state_out)
            raise
        self._write(step, after, state_out)
        self._contact_forces = step.contact_forces(), step.contact_capacity
        if contacts is not None and observables is not None and observables.contact_f is not None:
            _assign_rows(observables.contact_f, self._contact_forces[0])
        wanted = observables.body_qdd if observables is not None else None
        for array in (wanted, getattr(state_out, "body_qdd", None)):
            if array is not None:
                array.assign(((after - step.twist[:-1]) / step.dt).astype(np.float32))
        wanted = observables.body_parent_f if observables is not None else None
        for array in (wanted, getattr(state_out, "body_parent_f", None)):
            if array is not None:
                array.assign(step.parent_forces().astype(np.float32))

    def update_contacts(self, contacts: newton.Contacts, state: "newton.State | None" = None) -> None:
        """Writes the forces of the last step to contacts.force: force [N] and moment [N m] that act on the body of shape0, about
        its centre of mass, along the axes of the world.

        contacts: those of that step, made with the attribute "force". Newton's newer way is observables() with contact_f.
        ValueError: no such attribute, no step before, or other contacts.
        """
        if contacts.force is None:
            raise ValueError('carom.newton: expected contacts with the attribute "force", got none: '
                             'model.request_contact_attributes("force") before model.contacts()')
        if self._contact_forces is None:
            raise ValueError("carom.newton: expected a step before update_contacts(), got none")
        if self._contact_forces[1] != contacts.rigid_contact_max:
            raise ValueError(f"carom.newton: expected the contacts of the last step, of which {self._contact_forces[1]} have room, "
                             f"got {contacts.rigid_contact_max}")
        _assign_rows(contacts.force, self._contact_forces[0])

    def _write(self, step: Step, after: Array, state_out: Any) -> None:
        """Moves the bodies; what is kept in doubles goes on from there, if the next step begins with these floats."""
        dt, centre, turn = step.dt, step.centre[:-1], step.turn[:-1]
        new_turn = turn_by(turn, dt * after[:, 3:])
        position = centre + dt * after[:, :3] - rotate(new_turn, self._com)
        pose, twist = np.concatenate([position, new_turn], axis=1), after.copy()
        still = self._kinematic | ~np.any(after, axis=1)
        pose[still], twist[self._kinematic] = step.pose[still], step.twist[:-1][self._kinematic]
        floats = pose.astype(np.float32), twist.astype(np.float32)
        state_out.body_q.assign(floats[0])
        state_out.body_qd.assign(floats[1])
        self._written = (*floats, pose, twist)
        if self.write_joints and self.model.joint_count and state_out.joint_q is not None:
            newton.eval_ik(self.model, state_out, state_out.joint_q, state_out.joint_qd)

    def _exact(self, state: Any) -> tuple[Array, Array]:
        """body_q and body_qd in doubles, those of the last step where the floats are still those."""
        pose, twist = state.body_q.numpy(), state.body_qd.numpy()
        exact = pose.astype(float), twist.astype(float)
        for array, name in zip(exact, ("pose", "velocity")):
            bad = np.flatnonzero(~np.isfinite(array).all(1))
            if len(bad):
                raise ValueError(f"carom.newton: body {bad[0]} ('{self.model.body_label[bad[0]]}'): {name}: expected finite "
                                 f"numbers, got {array[bad[0]].tolist()}")
        length = np.linalg.norm(exact[0][:, 3:], axis=1)
        bad = np.flatnonzero(~(np.abs(length - 1) < 1e-2))
        if len(bad):
            raise ValueError(f"carom.newton: body {bad[0]} ('{self.model.body_label[bad[0]]}'): rotation: expected a unit "
                             f"quaternion, got one of length {length[bad[0]]}")
        exact[0][:, 3:] /= length[:, None]
        if self._written is not None and self._written[0].shape == pose.shape:
            same = (self._written[0] == pose).all(1) & (self._written[1] == twist).all(1)
            exact[0][same], exact[1][same] = self._written[2][same], self._written[3][same]
        return exact


def _assign_rows(array: Any, rows: Array) -> None:
    """Writes the first rows of an array of Warp, zero after them."""
    numbers = np.zeros((array.shape[0], 6), dtype=np.float32)
    numbers[:len(rows)] = rows
    array.assign(numbers)


def _copy(state_in: newton.State, state_out: newton.State) -> None:
    """Makes a state what another is."""
    for name in ("body_q", "body_qd", "joint_q", "joint_qd"):
        source, target = getattr(state_in, name), getattr(state_out, name)
        if source is not None and target is not None and source is not target:
            warp.copy(target, source)


def _refuse(model: newton.Model) -> None:
    """ValueError: a model that carom cannot step."""
    if not model.device.is_cpu:
        raise ValueError(f'carom.newton: expected a model on the processor, newton\'s device "cpu", got {model.device}')
    if model.particle_count:
        raise ValueError(f"carom.newton: expected a model of rigid bodies, got one with {model.particle_count} particles")
    if model.tendon_count:
        raise ValueError(f"carom.newton: expected a model without tendons, got one with {model.tendon_count}")
    if model.constraint_mimic_count:
        raise ValueError(f"carom.newton: expected joints that move by themselves, got {model.constraint_mimic_count} mimic constraints")
    named = getattr(model, "mujoco", None)
    enabled = getattr(named, "equality_constraint_enabled", None)
    if enabled is not None and enabled.numpy().any():
        raise ValueError(f"carom.newton: expected a model without equality constraints of MuJoCo, got {int(enabled.numpy().sum())}")
