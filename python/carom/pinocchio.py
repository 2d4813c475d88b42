# SPDX-License-Identifier: BSD-3-Clause
"""Time steps of Pinocchio's models with rigid contact under Coulomb's law, joint limits and dry friction of joints.

    import carom.pinocchio, pinocchio

    stepper = carom.pinocchio.Stepper()
    foot = model.getFrameId("foot")
    while time < 2:
        contacts = [carom.pinocchio.Contact(foot, gap=height(q), friction=0.7)]
        answer = stepper.step(model, data, q, v, tau, 0.002, contacts)
        q, v = answer.configuration, answer.velocity

Pinocchio computes M, the bias forces and the Jacobians; carom computes velocities and impulses of all contacts and joints at
once: (M + dt D + dt^2 K)(v+ - v) = dt (tau - nle) - dt^2 K v + J^T gamma, then q+ = integrate(q, dt v+). Names are those of
the C++ adapter, carom/adapters/pinocchio.hpp. Each kinematic tree of a model is one body of the ContactProblem.
"""
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pinocchio  # type: ignore[import-untyped]

import carom

__all__ = ["Contact", "Effort", "Step", "Stepper", "contacts_of", "step"]

FAST = 100.0
"""Speed of a joint [m/s, rad/s] at which it must be able to reach a limit in a step, for the limit to be posed."""


@dataclass
class Contact:
    """A point of a frame of a model that touches the world, or another frame. Several points of a frame are several contacts."""

    frame: int = 0
    """Frame on the side to which the normal points, below model.nframes."""
    other: int = 0
    """Frame at the start of the normal; 0 is the world."""
    normal: npt.ArrayLike = (0.0, 0.0, 1.0)
    """(3,) in the world's axes [-], of any length but zero."""
    gap: float = 0.0
    """At the start of the step [m]; negative in penetration."""
    friction: float = 0.0
    """[-], >= 0."""
    restitution: float = 0.0
    """Newton's [-], in [0, 1]."""
    correction: float = 0.0
    """Share of a penetration that a step removes [-], in [0, 1]."""
    point: npt.ArrayLike | None = None
    """(3,) in the world [m]; None: the origin of frame."""
    joint: int | None = None
    """In the place of frame and other: the joint that the point moves with, below model.njoints. It needs a point."""
    other_joint: int = 0
    """With joint: that at the start of the normal; 0 is the world."""


@dataclass
class Effort:
    """Forces of the joints, linear in the change of velocity: torque - dt K v+ - D (v+ - v). None counts as zero.

    A servo with gains K and D is stable for any step if both are given, with torque = K (q_wanted - q) - D v.
    """

    torque: npt.ArrayLike | None = None
    """(nv,) [N, N m]."""
    stiffness: npt.ArrayLike | None = None
    """The diagonal of K, (nv,) [N/m, N m], >= 0."""
    damping: npt.ArrayLike | None = None
    """The diagonal of D, (nv,) [N s/m, N m s], >= 0."""


@dataclass
class Step:
    """What a step has led to."""

    configuration: np.ndarray
    """q after the step (nq,)."""
    velocity: np.ndarray
    """v after the step (nv,) [m/s, rad/s]."""
    forces: np.ndarray
    """Of the contacts on their frames (contacts, 3) [N], the mean over the step, in the world's axes."""
    joint_efforts: np.ndarray
    """Of limits and dry friction of the joints (nv,) [N, N m], the mean over the step."""
    axes: np.ndarray
    """Of the contacts, rows (t1, t2, n) in the world's axes (contacts, 3, 3)."""
    points: np.ndarray
    """Of the contacts, in the world (contacts, 3) [m]."""
    solution: "carom.Solution"
    """Of the problem, with status, residual and derivatives."""
    problem: "carom.ContactProblem"
    """For carom.certify() and carom.write()."""
    _sides: list[tuple[int, int]]

    def joint_forces(self, model: Any, data: Any) -> Any:
        """The contacts as forces by joints, in the axes of each about its origin, the form of pinocchio.aba and rnea.

        data: that of the step. Returns a pinocchio.StdVec_Force of model.njoints.
        """
        forces = pinocchio.StdVec_Force()
        for _ in range(model.njoints):
            forces.append(pinocchio.Force.Zero())
        for (own, other), force, point in zip(self._sides, self.forces, self.points):
            wrench = pinocchio.Force(force, np.cross(point, force))
            if own > 0:
                forces[own] += data.oMi[own].actInv(wrench)
            if other > 0:
                forces[other] -= data.oMi[other].actInv(wrench)
        return forces


def step(model: Any, data: Any, configuration: npt.ArrayLike, velocity: npt.ArrayLike, effort: "npt.ArrayLike | Effort",
         time_step: float, contacts: Sequence[Contact] = (), law: str = "coulomb", tolerance: float = 1e-10) -> Step:
    """Advances by a step, as Stepper(law, tolerance).step(...): without a guess of the impulses."""
    return Stepper(law, tolerance).step(model, data, configuration, velocity, effort, time_step, contacts)


def contacts_of(model: Any, geometry_model: Any, geometry_data: Any, friction: float = 0.5, restitution: float = 0.0,
                correction: float = 0.2) -> list[Contact]:
    """The contacts that Pinocchio's collision detection has found.

    geometry_data: after pinocchio.computeCollisions with stop_at_first_collision False, or after computeContactPatches too:
    then every corner of a patch is a contact, else every point. A rigid contact keeps its gap at zero, where rounding would
    decide whether it is there: give the requests a security_margin, no less than what bodies approach in a step.
    friction, restitution, correction: those of Contact, for all.
    """
    found = []
    for k, pair in enumerate(geometry_model.collisionPairs):
        result, patches = geometry_data.collisionResults[k], geometry_data.contactPatchResults[k]
        if not geometry_data.activeCollisionPairs[k] or not result.numContacts():
            continue
        first, second = (geometry_model.geometryObjects[i].parentJoint for i in (pair.first, pair.second))
        if first == second:
            continue
        points: list[tuple[Any, Any, Any]] = []  # on the first, on the second, normal
        for i in range(patches.numContactPatches()):
            patch = patches.getContactPatch(i)
            points += [(patch.getPointShape1(p), patch.getPointShape2(p), patch.getNormal()) for p in range(patch.size())]
        if not points:
            for contact in result.getContacts():
                points.append((contact.getNearestPoint1(), contact.getNearestPoint2(), contact.normal))
        for start, end, normal in points:
            gap = float(np.dot(normal, np.subtract(end, start)))
            found.append(Contact(0, 0, np.array(normal), gap, friction, restitution, correction, (np.array(start) + end) / 2,
                                 joint=second, other_joint=first))
    return found


class Stepper:
    """Takes steps one after the other; where the same touches, the answer of one is the guess of the next.

    law: 'coulomb' or 'convex', as in carom.solve(). tolerance [-], > 0: natural map error at which a solve ends. limits: whether
    the position limits of joints with one coordinate hold, rigidly; those of other joints are not read. dry_friction: whether
    the joints' dry friction holds up to its limit. correction [-], in [0, 1]: the share of an excess over a limit that a step
    takes back.
    """

    def __init__(self, law: str = "coulomb", tolerance: float = 1e-10, limits: bool = True, dry_friction: bool = True,
                 correction: float = 0.2) -> None:
        if not 0 <= correction <= 1:
            raise ValueError(f"correction: expected a number in [0, 1], got {correction}")
        self._solver = carom.Solver(law=law, tolerance=tolerance)
        self._limits, self._dry_friction, self._correction = limits, dry_friction, correction
        self._last: list[tuple[Any, ...]] = []

    def step(self, model: Any, data: Any, configuration: npt.ArrayLike, velocity: npt.ArrayLike,
             effort: "npt.ArrayLike | Effort", time_step: float, contacts: Sequence[Contact] = ()) -> Step:
        """Advances by time_step [s], > 0.

        data: of the model; afterwards M, J, oMi and nle are those before the step. configuration: q (nq,), with unit
        quaternions. velocity: v (nv,) [m/s, rad/s]. effort: the joints' torques (nv,) [N, N m], or an Effort. contacts: points
        that touch, or may touch within the step.

        Returns the Step. Where the answer is not finite q and v are those before. ValueError: what makes no sense, with its
        index, such as "contact 3: frame: expected a number below 40, got 41".
        """
        posed = _Posed(model, data, configuration, velocity, effort, float(time_step), contacts, self._dry_friction)
        if self._limits:
            posed.add_limits(self._correction)
        posed.add_dry_friction()
        same, self._last = posed.names == self._last, posed.names
        solution = self._solver.solve(posed.problem, None if same else posed.problem.free_velocity)
        return posed.answer(solution)


class _Posed:
    """The contact problem of an instant."""

    def __init__(self, model: Any, data: Any, configuration: npt.ArrayLike, velocity: npt.ArrayLike, effort: Any, time_step: float,
                 contacts: Sequence[Contact], dry_friction: bool) -> None:
        self.model, self.data, self.h = model, data, time_step
        effort = effort if isinstance(effort, Effort) else Effort(effort)
        if len(model.mimicking_joints):
            raise ValueError(f"joint {model.mimicking_joints[0]}: expected a joint that moves by itself, got one that mimics another")
        self.q = _vector("configuration", configuration, model.nq)
        self.v = _vector("velocity", velocity, model.nv)
        if not pinocchio.isNormalized(model, self.q, 1e-6):
            raise ValueError("configuration: expected unit quaternions and unit circles, got another length")
        self.problem = carom.ContactProblem(time_step)
        pinocchio.crba(model, data, self.q, pinocchio.Convention.WORLD)
        pinocchio.nonLinearEffects(model, data, self.q, self.v)
        pinocchio.computeJointJacobians(model, data, self.q)
        # Friction between two limits is that of their mean difference, about a torque in the middle.
        lower, upper = (np.array(limit) * dry_friction for limit in (model.lowerDryFrictionLimit, model.upperDryFrictionLimit))
        self.dry, self.offset = (upper - lower) / 2, (upper + lower) / 2
        self._add_trees(effort)
        self.names: list[tuple[Any, ...]] = []  # of what is added, in order
        self.rows: list[tuple[int, float]] = []  # degree of freedom and sign of each constraint
        count = len(contacts)
        self.points, self.axes = np.zeros((count, 3)), np.zeros((count, 3, 3))
        self.sides: list[tuple[int, int]] = []
        for number, contact in enumerate(contacts):
            self._add_contact(number, contact)

    def _add_trees(self, effort: Effort) -> None:
        model, data, h = self.model, self.data, self.h
        roots = [0] + [int(model.supports[j].tolist()[1]) for j in range(1, model.njoints)]
        self.tree_of_joint = np.full(model.njoints, -1)
        self.trees: list[np.ndarray] = []  # degrees of freedom
        self.tree_of_dof, self.place = np.zeros(model.nv, dtype=int), np.zeros(model.nv, dtype=int)
        mass = np.triu(data.M) + np.triu(data.M, 1).T
        torque, stiffness, damping = (
            np.zeros(model.nv) if value is None else _vector(name, value, model.nv, least)
            for name, value, least in (("torque", effort.torque, -np.inf), ("stiffness", effort.stiffness, 0.0),
                                       ("damping", effort.damping, 0.0)))
        mass[np.diag_indices(model.nv)] += h * damping + h * h * stiffness
        change = h * (torque + self.offset - data.nle) - h * h * stiffness * self.v
        for root in [j for j in range(1, model.njoints) if roots[j] == j]:
            members = [j for j in range(1, model.njoints) if roots[j] == root]
            dofs = np.concatenate([np.arange(model.nvs[j]) + model.idx_vs[j] for j in members])
            tree = len(self.trees)
            self.tree_of_joint[members], self.tree_of_dof[dofs], self.place[dofs] = tree, tree, np.arange(len(dofs))
            self.trees.append(dofs)
            own = mass[np.ix_(dofs, dofs)]
            try:
                np.linalg.cholesky(own)
                free = self.v[dofs] + np.linalg.solve(own, change[dofs])
            except np.linalg.LinAlgError:
                free = np.full(len(dofs), np.nan)
            if not np.isfinite(free).all():
                raise ValueError(f"tree {tree}: expected a positive definite mass matrix and finite forces, got others")
            self.problem.add_body(own, free, self.v[dofs])

    def _joints_of(self, number: int, contact: Contact) -> tuple[int, int]:
        model = self.model
        if contact.joint is None:
            for name, frame in (("frame", contact.frame), ("other", contact.other)):
                if not 0 <= frame < model.nframes:
                    raise ValueError(f"contact {number}: {name}: expected a number below {model.nframes}, got {frame}")
            own, other = (int(model.frames[int(f)].parentJoint) for f in (contact.frame, contact.other))
        else:
            own, other = int(contact.joint), int(contact.other_joint)
            for name, joint in (("joint", own), ("other joint", other)):
                if not 0 <= joint < model.njoints:
                    raise ValueError(f"contact {number}: {name}: expected a number below {model.njoints}, got {joint}")
            if contact.point is None:
                raise ValueError(f"contact {number}: point: expected one, as the contact is on a joint, got none")
        if own == other:
            what = f"a frame of another joint than that of frame, got {contact.other}"
            if contact.joint is not None:
                what = f"another joint than {own}, got the same"
            raise ValueError(f"contact {number}: other: expected {what}")
        return own, other

    def _add_contact(self, number: int, contact: Contact) -> None:
        own, other = self._joints_of(number, contact)
        normal = _vector(f"contact {number}: normal", contact.normal, 3)
        if not np.linalg.norm(normal) > 0:
            raise ValueError(f"contact {number}: normal: expected a length > 0, got 0")
        if contact.point is None:
            frame = self.model.frames[int(contact.frame)]
            point = self.data.oMi[own].act(frame.placement.translation)
        else:
            point = _vector(f"contact {number}: point", contact.point, 3)
        axes = np.asarray(carom.ContactProblem.contact_frames(normal[None]))[0]
        rows = np.zeros((3, self.model.nv))
        for joint, sign in ((own, 1.0), (other, -1.0)):
            if joint > 0:
                jacobian = pinocchio.getJointJacobian(self.model, self.data, joint, pinocchio.ReferenceFrame.WORLD)
                rows += sign * axes @ (jacobian[:3] + np.cross(jacobian[3:], point, axis=0))
        trees = list(dict.fromkeys(int(self.tree_of_joint[j]) for j in (own, other) if j > 0))
        parts = [rows[:, self.trees[t]] for t in trees]
        two = len(trees) == 2
        self.problem.add_contact(trees[0], parts[0], contact.friction, contact.gap, correction=contact.correction,
                                 other=trees[1] if two else None, other_jacobian=parts[1] if two else None,
                                 restitution=contact.restitution if contact.restitution else None)
        self.points[number], self.axes[number] = point, axes
        self.sides.append((own, other))
        self.names.append((own, other, int(contact.frame), int(contact.other)))

    def _add_row(self, kind: str, dof: int, law: Any, sign: float = 1.0) -> None:
        tree = int(self.tree_of_dof[dof])
        row = np.zeros(len(self.trees[tree]))
        row[self.place[dof]] = sign
        self.problem.add_constraint(tree, row, law)
        self.rows.append((dof, sign))
        self.names.append((kind, dof))

    def add_limits(self, correction: float) -> None:
        """Of joints with one coordinate, where they could be reached."""
        model = self.model
        for j in range(1, model.njoints):
            if model.nqs[j] != 1 or model.nvs[j] != 1:
                continue
            at, dof = model.idx_qs[j], model.idx_vs[j]
            reach = self.h * (FAST + 3 * abs(self.v[dof]))
            for kind, sign, bound in (("lower", 1.0, model.lowerPositionLimit[at]), ("upper", -1.0, model.upperPositionLimit[at])):
                gap = sign * (self.q[at] - bound)
                if gap < reach:
                    self._add_row(kind, dof, carom.JointLimit(float(gap), correction=correction), sign)

    def add_dry_friction(self) -> None:
        """Up to the model's limits, of each direction."""
        for dof in np.flatnonzero(self.dry):
            self._add_row("friction", int(dof), carom.DryFriction(float(self.dry[dof])))

    def answer(self, solution: "carom.Solution") -> Step:
        """Moves the model, and gives the forces."""
        q, v, forces, efforts = self.q.copy(), self.v.copy(), np.zeros((len(self.sides), 3)), np.zeros(self.model.nv)
        after = np.asarray(solution.velocity)
        if solution.status != "not_finite" and np.isfinite(after).all():
            v[np.concatenate(self.trees) if self.trees else []] = after
            q = pinocchio.integrate(self.model, self.q, self.h * v)
            forces = np.einsum("kij,ki->kj", self.axes, np.asarray(solution.impulse)) / self.h
            efforts += self.offset
            for (dof, sign), impulse in zip(self.rows, solution.constraint_impulses):
                efforts[dof] += sign * float(impulse[0]) / self.h
        return Step(q, v, forces, efforts, self.axes, self.points, solution, self.problem, self.sides)


def _vector(item: str, numbers: npt.ArrayLike, size: int, least: float = -np.inf) -> np.ndarray:
    """An array of `size` finite numbers, each no less than `least`."""
    vector = np.array(numbers, dtype=float).ravel()
    if vector.size != size:
        raise ValueError(f"{item} entries: expected {size}, got {vector.size}")
    for i in np.flatnonzero(~(np.isfinite(vector) & (vector >= least)))[:1]:
        expected = "a finite number" if not np.isfinite(vector[i]) else f"a number >= {least:g}"
        raise ValueError(f"{item} entry {i}: expected {expected}, got {vector[i]:g}")
    return vector
