# SPDX-License-Identifier: BSD-3-Clause
"""The contact problems of a step of Newton, one for each world, and what their answers say about forces.

Bodies have Newton's numbers, and the world has -1: arrays over bodies have a last row for it.
"""
from typing import Any

import numpy as np

import carom
from carom._newton_joints import Array, Pose, conjugate, cross, rotate, turn_by

ROUNDING = 8 * float(np.finfo(np.float32).eps)
"""Error of a gap that Newton finds in floats, relative to where the contact is [-]. Smaller gaps count as zero: else a body at
rest would fall and be lifted by what is rounded."""
FAST = 100.0
"""Speed of a coordinate [m/s, rad/s] at which it must be able to reach a limit in a step, for the limit to be posed."""
UNLIMITED = 1e6
"""What Newton's builder writes where an effort has no limit [N, N m]."""


class Part:
    """A world, or all of them together: its bodies, its joints and its solver."""

    def __init__(self, solver: "carom.Solver") -> None:
        self.solver = solver
        self.solution: carom.Solution | None = None
        self.bodies = np.zeros(0, dtype=int)
        self.joints: list[tuple[int, Array]] = []  # number and its locked slots
        self.motors: list[tuple[int, int]] = []  # number and slot
        self.frictions: list[tuple[int, int]] = []
        self.distances: list[int] = []
        self.acts = np.zeros(0, dtype=bool)
        self.touching, self.calm = np.zeros((0, 2), dtype=int), False  # shapes of the last contacts; no impact


class Contacts:
    """Newton's contacts as carom's: a body that moves, another or the world, a point, a normal from the other to the body."""

    def __init__(self, solver: Any, step: "Step", contacts: Any) -> None:
        count = min(int(contacts.rigid_contact_count.numpy()[0]), contacts.rigid_contact_max)

        def of(name: str) -> Array:
            return np.asarray(getattr(contacts, f"rigid_contact_{name}").numpy()[:count])

        shapes = [of("shape0").astype(int), of("shape1").astype(int)]
        first, second = (np.where(s >= 0, np.append(solver._shape_body, -1)[s], -1) for s in shapes)
        movable = solver._movable
        self.number = np.flatnonzero((first != second) & (movable[first] | movable[second]))
        first, second, shape0, shape1 = (array[self.number] for array in (first, second, *shapes))
        normal = of("normal")[self.number].astype(float)
        touch = [step.position[b] + rotate(step.turn[b], (of(f"point{k}") + of(f"offset{k}"))[self.number].astype(float))
                 for k, b in enumerate((first, second))]
        self.gap = ((touch[1] - touch[0]) * normal).sum(1)
        self.point = (touch[0] + touch[1]) / 2
        self.gap[np.abs(self.gap) <= ROUNDING * np.abs(self.point).max(1, initial=0.0)] = 0.0
        speed = [step.twist[b, :3] + cross(step.twist[b, 3:], self.point - step.centre[b]) for b in (first, second)]
        belt = contacts.rigid_contact_surface_velocity
        slides = belt.numpy()[:count][self.number].astype(float) if belt is not None else np.zeros((len(normal), 3))
        # The body is that of shape1, if that moves; else that of shape0, and everything is seen from there.
        swapped = ~movable[second]
        turned = swapped[:, None]
        self.body, self.other = np.where(swapped, first, second), np.where(swapped | ~movable[first], -1, first)
        self.normal = np.where(turned, -normal, normal)
        given = np.where(turned, speed[1], np.where(movable[first][:, None], 0.0, speed[0]))
        surface = given + np.where(turned, slides, -slides)
        self.friction = self._mean(solver._mu, shape0, shape1)
        scale = contacts.rigid_contact_friction
        if scale is not None:
            factor = scale.numpy()[:count][self.number]
            self.friction = self.friction * np.where(factor > 0, factor, 1)
        self.restitution = self._mean(solver._restitution, shape0, shape1)
        self.torsional, self.rolling = (self._mean(m, shape0, shape1) for m in (solver._mu_torsional, solver._mu_rolling))
        self.part, self.shapes = solver._part[self.body], np.stack([shape0, shape1], axis=1)
        self.first, self.first_sign = first, np.where(swapped, 1.0, -1.0)  # of the body's impulse, on shape0's
        near = self._near(step, (first, second), speed)
        order = np.lexsort((shape1[near], shape0[near], self.part[near]))
        kept = np.flatnonzero(near)[order]
        for name in ("number", "gap", "point", "body", "other", "normal", "friction", "restitution", "torsional", "rolling",
                     "part", "shapes", "first", "first_sign"):
            setattr(self, name, getattr(self, name)[kept])
        self.axes = np.asarray(carom.ContactProblem.contact_frames(self.normal)).reshape(-1, 3, 3)
        self.surface = (self.axes @ surface[kept][:, :, None])[..., 0]

    @staticmethod
    def _mean(numbers: Array, a: Array, b: Array) -> Array:
        """The mean of two shapes, or the number of the one that there is."""
        padded = np.append(numbers, 0.0)
        return np.asarray((padded[a] + padded[b]) / np.maximum((a >= 0).astype(int) + (b >= 0), 1))

    def _near(self, step: "Step", bodies: tuple[Array, Array], speed: list[Array]) -> Array:
        """Which could close within the step: bodies may become twice as fast as the fastest of their world."""
        fastest = np.zeros(int(self.part.max(initial=0)) + 1)
        for b, before in zip(bodies, speed):
            free = step.free[b, :3] + cross(step.free[b, 3:], self.point - step.centre[b])
            for velocity in (before, free):
                np.maximum.at(fastest, self.part, np.linalg.norm(velocity, axis=1))
        return np.asarray(self.gap <= 4 * step.dt * fastest[self.part])


class Step:
    """The contact problems of a step, and their answers."""

    def __init__(self, solver: Any, state: Any, control: Any, contacts: Any, dt: float) -> None:
        carom.ContactProblem(dt)  # refuses what is no time step
        self.solver, self.dt = solver, dt
        self.pose, twist = solver._exact(state)
        self.twist = np.vstack([twist, np.zeros(6)])
        self.position = np.vstack([self.pose[:, :3], np.zeros(3)])
        self.turn = np.vstack([self.pose[:, 3:], [0, 0, 0, 1.0]])
        self.centre = self.position + rotate(self.turn, np.vstack([solver._com, np.zeros(3)]))
        self.given = np.where(solver._movable[:, None], 0.0, self.twist)  # of what moves as it is told
        self._pose_joints()
        force = np.zeros((solver.body_count + 1, 6))
        if state.body_f is not None:
            force[:-1] += state.body_f.numpy()
        self._add_joint_forces(force, control)
        self._find_free(force)
        self.contact_capacity = contacts.rigid_contact_max if contacts is not None else 0
        self.contacts = Contacts(solver, self, contacts) if contacts is not None else None
        self._pose_motors(control)
        self.places: list[list[tuple[int, Any, float]]] = [[] for _ in solver._parts]  # joint, slots, sign of a constraint
        self.impulse = np.zeros((len(self.contacts.body) if self.contacts is not None else 0, 6))  # on the body, about the point

    def _pose_joints(self) -> None:
        solver, joints = self.solver, self.solver._joints
        if joints.hold_nothing:
            self.error = self.coordinate = self.rate = self.given_rate = np.zeros((joints.count, 6))
            self.child_rows = self.parent_rows = np.zeros((joints.count, 6, 6))
            return
        now = joints.pose(self.position, self.turn)
        self.joint_pose: Pose = now
        self.child_rows = now.rows(self.centre[joints.child])
        self.parent_rows = -now.rows(self.centre[joints.parent])

        def rate(twist: Array) -> Array:
            return np.asarray((self.child_rows @ twist[joints.child][:, :, None]
                               + self.parent_rows @ twist[joints.parent][:, :, None])[..., 0])

        self.rate, self.given_rate = rate(self.twist), rate(self.given)
        # By how much rows that turn with the bodies miss: what the errors are after a step with the velocities before, less
        # what the rows say. Without it bodies on joints would leave their circles by their tangents.
        ahead = turn_by(self.turn, self.dt * self.twist[:, 3:])
        arm = rotate(ahead, np.vstack([solver._com, np.zeros(3)]))
        after = joints.pose(self.centre + self.dt * self.twist[:, :3] - arm, ahead)
        bend = after.value - now.value - self.dt * self.rate
        self.error = now.value + (bend + self.dt * self.given_rate) / solver.correction
        self.coordinate = now.value.copy()
        turns = 2 * np.pi * np.round((now.value - solver._middle) / (2 * np.pi))
        self.coordinate -= np.where(solver._winds, turns, 0.0)

    def _add_joint_forces(self, force: Array, control: Any) -> None:
        """Forces of the joints' degrees of freedom, on both bodies; of free joints, on the child alone."""
        solver, joints = self.solver, self.solver._joints
        self.joint_wrench = np.zeros((joints.count, 6))  # on the child
        if control.joint_f is None or not joints.count:
            return
        efforts = np.append(control.joint_f.numpy().astype(float), 0.0)
        effort = np.where(joints.dof >= 0, efforts[joints.dof], 0.0)[:, None]
        self.joint_wrench = (effort @ self.child_rows)[:, 0]
        on_parent = (effort @ self.parent_rows)[:, 0]
        np.add.at(force, joints.parent[joints.parent >= 0], on_parent[joints.parent >= 0])
        for j in solver._free_joints:
            self.joint_wrench[j] = efforts[solver._dof_start[j]:solver._dof_start[j] + 6]
        np.add.at(force, joints.child, self.joint_wrench)

    def _find_free(self, force: Array) -> None:
        """The velocities without contacts and joints. Free turning keeps its energy: Euler's equations at the middle of the
        step, by Newton's method."""
        solver, dt, own = self.solver, self.dt, self.solver._movable
        self.free = self.twist.copy()
        some = np.flatnonzero(own)
        bad = np.flatnonzero(~np.isfinite(force[some]).all(1))
        if len(bad):
            b = some[bad[0]]
            raise ValueError(f"carom.newton: body {b} ('{solver.model.body_label[b]}'): force: expected finite numbers, got "
                             f"{force[b].tolist()}")
        mass, inertia = solver._mass[some, None], solver._inertia[some]
        self.free[some, :3] += dt * (force[some, :3] / mass + solver._body_gravity[some])
        back = conjugate(self.turn[some])
        before, moment = rotate(back, self.twist[some, 3:]), rotate(back, force[some, 3:])
        after = before.copy()
        for _ in range(4):
            middle = (before + after) / 2
            momentum = (inertia @ middle[:, :, None])[..., 0]
            miss = (inertia @ (after - before)[:, :, None])[..., 0] + dt * (cross(middle, momentum) - moment)
            slope = inertia + dt / 2 * (_skew(middle) @ inertia - _skew(momentum))
            after = after - np.linalg.solve(slope, miss[:, :, None])[..., 0]
        self.free[some, 3:] = rotate(self.turn[some], after)

    def _pose_motors(self, control: Any) -> None:
        """Gains and aims of what drives, springs, damps and loads the coordinates, as one motor each."""
        solver, joints = self.solver, self.solver._joints
        if joints.hold_nothing:
            return
        q = self.coordinate

        def aims(array: Any, index: Array) -> Array:
            numbers = np.zeros(1) if array is None else np.append(array.numpy().astype(float), 0.0)
            return np.where(index >= 0, numbers[index] if len(numbers) > 1 else 0.0, 0.0)

        drive_error = np.where(joints.coordinate >= 0, q - aims(control.joint_target_q, joints.coordinate), 0.0)
        wrapped = drive_error - 2 * np.pi * np.round(drive_error / (2 * np.pi))
        drive_error = np.where(solver._turns_freely, wrapped, drive_error)
        drive_speed = aims(control.joint_target_qd, joints.dof)
        inertial = solver._armature / self.dt
        self.drive = _motors(solver._drive, drive_error, solver._drive_damping, solver._drive_damping * drive_speed)
        self.passive = _motors(solver._spring, q - solver._rest, solver._damping + inertial, inertial * self.rate)
        self.merged = _motors(solver._drive + solver._spring, 0.0, solver._drive_damping + solver._damping + inertial,
                              solver._drive_damping * drive_speed + inertial * self.rate,
                              solver._drive * drive_error + solver._spring * (q - solver._rest))

    def solve(self) -> Array:
        """The velocities after the step (bodies, 6)."""
        solver, after = self.solver, self.twist[:-1].copy()
        some = [p for p, part in enumerate(solver._parts) if len(part.bodies)]
        for part in solver._parts:
            part.solution = None
        problems = [self._problem(p) for p in some]
        solvers = [solver._parts[p].solver for p in some]
        guesses = [self._guess(p) for p in some]
        each = map if solver._pool is None or len(some) < 2 else solver._pool.map
        solutions = list(each(lambda s, problem, guess: s.solve(problem, guess), solvers, problems, guesses))
        for p, solution in zip(some, solutions):
            part = solver._parts[p]
            velocity = solution.velocity
            if solution.status == "not_finite" or not np.isfinite(velocity).all():
                part.solver, part.calm = solver._new_solver(), False
                raise ValueError(f"carom.newton: world {p}: the answer is not finite: {solution!r}")
            part.solution = solution
            after[part.bodies] = velocity.reshape(-1, 6)
            part.calm = self._is_calm(part.bodies, after)
            self._keep_impulses(p, solution)
        return after

    def _guess(self, p: int) -> Array | None:
        """None, and the solver begins at its last answer, where the same shapes touch as before and nothing struck; else the
        velocities. Impulses of an impact would stay as stresses in what comes to rest."""
        part, touching = self.solver._parts[p], np.zeros((0, 2), dtype=int)
        if self.contacts is not None:
            touching = self.contacts.shapes[self.contacts.part == p]
        same = part.touching.shape == touching.shape and np.array_equal(part.touching, touching)
        part.touching = touching
        return None if same and part.calm else self.twist[part.bodies].ravel()

    def _is_calm(self, some: Array, after: Array) -> bool:
        """Whether velocities change no more than twice as much as they would without contacts and joints."""
        change = np.stack([after[some] - self.twist[some], self.free[some] - self.twist[some]])
        turned = rotate(conjugate(self.turn[some]), change[..., 3:])
        energies = (self.solver._mass[some] * (change[..., :3] ** 2).sum(-1)
                    + (turned * (self.solver._inertia[some] @ turned[..., None])[..., 0]).sum(-1)).sum(-1)
        return bool(energies[0] <= 4 * energies[1])

    def _problem(self, p: int) -> "carom.ContactProblem":
        solver, part = self.solver, self.solver._parts[p]
        some = part.bodies
        try:
            problem = carom.ContactProblem(self.dt)
            problem.add_rigid_bodies(solver._mass[some], solver._inertia[some], self.free[some], self.centre[some],
                                     rotation=self.turn[some][:, [3, 0, 1, 2]], velocity=self.twist[some])
            self._add_joints(problem, p)
            if self.contacts is not None:
                self._add_contacts(problem, p, self.contacts)
        except ValueError as fault:
            raise ValueError(f"carom.newton: world {p}: {fault}") from None
        return problem

    def _add(self, problem: "carom.ContactProblem", p: int, j: int, slots: Any, law: Any, sign: float = 1.0) -> None:
        """Adds rows of a joint, with those of its bodies that move."""
        solver, joints = self.solver, self.solver._joints
        child, parent = solver._local[joints.child[j]], solver._local[joints.parent[j]]
        if not solver._by_child[j]:
            problem.add_constraint(parent, sign * self.parent_rows[j, slots], law)
        elif not solver._by_parent[j]:
            problem.add_constraint(child, sign * self.child_rows[j, slots], law)
        else:
            problem.add_constraint(child, sign * self.child_rows[j, slots], law, parent, sign * self.parent_rows[j, slots])
        self.places[p].append((j, slots, sign))

    def _add_joints(self, problem: "carom.ContactProblem", p: int) -> None:
        solver, part, dt, given = self.solver, self.solver._parts[p], self.dt, self.given_rate
        for j, slots in part.joints:
            self._add(problem, p, j, slots, carom.Bilateral(self.error[j, slots], correction=solver.correction))
        for j, k in part.motors:
            limit = solver._effort_limit[j, k] if solver._effort_limit[j, k] < UNLIMITED else None
            if solver._apart[j, k]:
                self._add(problem, p, j, k, _motor(self.drive, j, k, limit, dt * given[j, k], given[j, k]))
                self._add(problem, p, j, k, _motor(self.passive, j, k, None, dt * given[j, k], given[j, k]))
            else:
                driven = solver._drive[j, k] + solver._drive_damping[j, k] > 0
                self._add(problem, p, j, k, _motor(self.merged, j, k, limit if driven else None, dt * given[j, k], given[j, k]))
        for j, k in part.frictions:
            self._add_friction(problem, p, j, k)
        reach = self.dt * (FAST + 3 * np.abs(self.rate))
        for bound, sign in ((solver._lower, 1.0), (solver._upper, -1.0)):
            gap = sign * (self.coordinate - bound)
            for j, k in np.argwhere(part.acts[:, None] & solver._limited & (gap < reach)):
                self._add(problem, p, int(j), int(k), self._limit(gap[j, k], sign * given[j, k]), sign)
        for j in part.distances:
            self._add_distance(problem, p, j)

    def _limit(self, gap: float, given: float) -> "carom.JointLimit":
        """A limit that also moves by what bodies do that move as they are told."""
        share = self.solver.correction
        closes = (gap if gap > 0 else share * gap) + self.dt * given
        return carom.JointLimit(gap=closes if closes > 0 else closes / share, correction=share)

    def _add_friction(self, problem: "carom.ContactProblem", p: int, j: int, k: int) -> None:
        limit, given = self.solver._friction[j, k], self.given_rate[j, k]
        if given == 0:
            self._add(problem, p, j, k, carom.DryFriction(limit))
            return
        # Beside a body that moves as it is told: a motor that is stiff enough to stick at this speed.
        row = self.child_rows[j, k] if self.solver._by_child[j] else self.parent_rows[j, k]
        body = self.solver._joints.child[j] if self.solver._by_child[j] else self.solver._joints.parent[j]
        inertia = (row[:3] @ row[:3]) * self.solver._mass[body] + np.trace(self.solver._inertia[body]) * (row[3:] @ row[3:])
        law = carom.Motor(wanted_velocity=-given, velocity_gain=1e6 * inertia / self.dt, effort_limit=limit, near_rigid=0.0)
        self._add(problem, p, j, k, law)

    def _add_distance(self, problem: "carom.ContactProblem", p: int, j: int) -> None:
        """A rope, a strut or a rod between the anchors: the row of their distance takes the place of the first slot's."""
        apart = self.joint_pose.apart[j]
        length = float(np.linalg.norm(apart))
        if length == 0:
            return
        joints, u, start = self.solver._joints, apart / length, self.solver._dof_start[j]
        arms = [self.joint_pose.anchor[j] - self.centre[joints.child[j]],
                self.joint_pose.anchor[j] - apart - self.centre[joints.parent[j]]]
        self.child_rows[j, 0] = np.concatenate([u, cross(arms[0], u)])
        self.parent_rows[j, 0] = -np.concatenate([u, cross(arms[1], u)])
        given = float(self.child_rows[j, 0] @ self.given[joints.child[j]] + self.parent_rows[j, 0] @ self.given[joints.parent[j]])
        lower, upper = (float(bound[start]) for bound in self.solver._distance_limits)
        if 0 <= lower == upper:
            error = length - upper + self.dt * given / self.solver.correction
            self._add(problem, p, j, 0, carom.Bilateral(error, correction=self.solver.correction))
            return
        if lower >= 0:
            self._add(problem, p, j, 0, self._limit(length - lower, given))
        if upper >= 0:
            self._add(problem, p, j, 0, self._limit(upper - length, -given), -1.0)

    def _add_contacts(self, problem: "carom.ContactProblem", p: int, contacts: Contacts) -> None:
        solver = self.solver
        start, stop = np.searchsorted(contacts.part, [p, p + 1])
        some = slice(start, stop)
        body, other = solver._local[contacts.body[some]], solver._local[contacts.other[some]]
        if solver.rolling:
            for i in range(start, stop):
                self._add_rolling(problem, contacts, i)
            return
        options: dict[str, Any] = {}
        if contacts.surface[some].any():
            options["surface_velocity"] = contacts.surface[some]
        if solver.enable_restitution:
            options["restitution"] = contacts.restitution[some]
        problem.add_contacts(body, friction=contacts.friction[some], gap=contacts.gap[some], other=other,
                             point=contacts.point[some], normal=contacts.normal[some], correction=solver.correction, **options)

    def _add_rolling(self, problem: "carom.ContactProblem", contacts: Contacts, i: int) -> None:
        axes, solver = contacts.axes[i], self.solver

        def rows(body: int) -> Array:
            arm = contacts.point[i] - self.centre[body]
            return np.block([[axes, cross(arm, axes)], [np.zeros((3, 3)), axes]])

        law = carom.WrenchContact(float(contacts.friction[i]), float(contacts.gap[i]), shape="rolling",
                                  rolling_friction=float(contacts.rolling[i]), torsional_friction=float(contacts.torsional[i]),
                                  surface_velocity=contacts.surface[i], correction=solver.correction)
        body, other = contacts.body[i], contacts.other[i]
        second = () if other < 0 else (solver._local[other], -rows(other))
        problem.add_constraint(solver._local[body], rows(body), law, *second)

    def _keep_impulses(self, p: int, solution: "carom.Solution") -> None:
        contacts = self.contacts
        if contacts is None:
            return
        start, stop = np.searchsorted(contacts.part, [p, p + 1])
        if self.solver.rolling:
            joints = len(self.places[p])
            rows = np.array(solution.constraint_impulses[joints:]).reshape(-1, 6)
        else:
            rows = np.hstack([solution.impulse, np.zeros((stop - start, 3))])
        to_world = contacts.axes[start:stop].transpose(0, 2, 1)
        self.impulse[start:stop, :3] = (to_world @ rows[:, :3, None])[..., 0]
        self.impulse[start:stop, 3:] = (to_world @ rows[:, 3:, None])[..., 0]

    def contact_forces(self) -> Array:
        """Newton's rows (contacts, 6): force and moment on the body of shape0, about its centre of mass."""
        forces = np.zeros((self.contact_capacity, 6), dtype=np.float32)
        if self.contacts is not None:
            contacts = self.contacts
            on_first = contacts.first_sign[:, None] * self.impulse / self.dt
            moment = on_first[:, 3:] + cross(contacts.point - self.centre[contacts.first], on_first[:, :3])
            forces[contacts.number] = np.hstack([on_first[:, :3], moment])
        return forces

    def parent_forces(self) -> Array:
        """(bodies, 6): what the joint to its parent does to a body, force and moment about its centre of mass."""
        joints = self.solver._joints
        forces = np.zeros((self.solver.body_count + 1, 6))
        own = np.flatnonzero(joints.angles >= 0)
        np.add.at(forces, joints.child[own], self.joint_wrench[own])
        for p, part in enumerate(self.solver._parts):
            if part.solution is None:
                continue
            for (j, slots, sign), impulse in zip(self.places[p], part.solution.constraint_impulses):
                forces[joints.child[j]] += sign * np.ravel(impulse) @ np.atleast_2d(self.child_rows[j, slots]) / self.dt
        forces[~self.solver._movable] = 0
        return forces[:-1]


def _motors(stiffness: Array, error: Any, damping: Array, driving: Array, pulling: Any = None) -> tuple[Array, Array, Array, Array]:
    """(position gain, position error, velocity gain, wanted velocity) of springs and dampers together."""
    pulling = stiffness * error if pulling is None else pulling
    stiff, damped = np.where(stiffness > 0, stiffness, 1.0), np.where(damping > 0, damping, 1.0)
    return stiffness, np.where(stiffness > 0, pulling / stiff, 0.0), damping, np.where(damping > 0, driving / damped, 0.0)


def _motor(gains: tuple[Array, Array, Array, Array], j: int, k: int, limit: float | None, ahead: float, given: float) -> "carom.Motor":
    """A motor; ahead and given: what bodies that move as they are told add to position and velocity."""
    stiffness, error, damping, wanted = (array[j, k] for array in gains)
    return carom.Motor(error + ahead if stiffness > 0 else 0.0, wanted - given if damping > 0 else 0.0, stiffness, damping, limit,
                       near_rigid=0.0)


def _skew(v: Array) -> Array:
    """The matrices of v x (n, 3, 3)."""
    matrix = np.zeros((len(v), 3, 3))
    matrix[:, 0, 1], matrix[:, 0, 2], matrix[:, 1, 2] = -v[:, 2], v[:, 1], -v[:, 0]
    return matrix - matrix.transpose(0, 2, 1)
