# SPDX-License-Identifier: BSD-3-Clause
"""MuJoCo with rigid contact under Coulomb's law.

    import carom.mujoco, mujoco

    model = mujoco.MjModel.from_xml_path("gripper.xml")
    data = mujoco.MjData(model)
    carom.mujoco.give_margin(model, 1e-3)
    while data.time < 2:
        carom.mujoco.step(model, data)                         # in the place of mujoco.mj_step

MuJoCo finds the contacts and computes everything but the forces of the constraints. Contacts are rigid and obey
Coulomb's law, whatever solref and solimp say. Limits and equalities are rigid too, and friction of joints and tendons
holds without creep up to its loss.

MuJoCo knows contacts only within the margin of the geometries, and a rigid contact keeps its gap at zero, where rounding
would decide whether it is there: give the geometries a margin, no less than what bodies approach in a step.
"""
from typing import Any

import mujoco
import numpy as np

import carom

__all__ = ["Stepper", "give_margin", "step"]


def give_margin(model: Any, margin: float) -> None:
    """Widens the margin of every geometry and pair to `margin` [m], >= 0, at the least."""
    if not 0 <= margin < np.inf:
        raise ValueError(f"margin: expected a finite number >= 0, got {margin}")
    model.geom_margin[:] = np.maximum(model.geom_margin, margin)
    model.pair_margin[:] = np.maximum(model.pair_margin, margin)


def step(model: Any, data: Any, tolerance: float = 1e-8, correction: float = 0.2) -> "carom.Solution":
    """Advances by a step, as Stepper(tolerance, correction).step(model, data): without a guess of the impulses."""
    return Stepper(tolerance, correction).step(model, data)


class Stepper:
    """Takes steps one after the other; the answer of one is the guess of the next.

    tolerance [-]: natural map error at which a solve ends, > 0. correction [-], in [0, 1]: the share of a penetration
    that a step takes back, and of the error of an equality.
    """

    def __init__(self, tolerance: float = 1e-8, correction: float = 0.2) -> None:
        if not 0 <= correction <= 1:
            raise ValueError(f"correction: expected a number in [0, 1], got {correction}")
        self._correction = correction
        self._solver = carom.Solver(tolerance=tolerance)

    def step(self, model: Any, data: Any) -> "carom.Solution":
        """Advances by a step of model.opt.timestep. model, data: of the package mujoco.

        Returns the answer: solution.impulse has a row (t1, t2, n) [N s] for each plain contact that acts, in the order of
        data.contact. Where it is not finite nothing moves. ValueError: another integrator than Euler's, or a contact
        whose friction differs along its two tangents.
        """
        if model.opt.integrator != mujoco.mjtIntegrator.mjINT_EULER:
            raise ValueError("carom.mujoco: expected Euler's integrator (<option integrator=\"Euler\"/>)")
        mujoco.mj_step1(model, data)
        mujoco.mj_fwdActuation(model, data)
        mujoco.mj_fwdAcceleration(model, data)
        posed = _Posed(model, data, self._correction)
        solution = self._solver.solve(posed.problem)
        if solution.status == "not_finite":
            return solution
        posed.write(solution)
        mujoco.mj_sensorAcc(model, data)
        mujoco.mj_Euler(model, data)
        return solution


class _Posed:
    """The contact problem of an instant: trees of joints are bodies; those that a row of more than two trees joins are one."""

    def __init__(self, model: Any, data: Any, correction: float) -> None:
        self.model, self.data, self.correction = model, data, correction
        self.h = model.opt.timestep
        self.rows = self._rows()
        self._find_bodies()
        self.problem = carom.ContactProblem(self.h)
        free = data.qvel + self.h * data.qacc_smooth
        self.inertia = self._inertia()
        for dofs in self.bodies:
            self.problem.add_body(self.inertia[np.ix_(dofs, dofs)], free[dofs])
        self.places: list[tuple[str, int, int, int]] = []  # kind, number of the block, first row of MuJoCo's, its contact
        row = 0
        while row < data.nefc:
            row = self._add(row)

    def _rows(self) -> np.ndarray:
        """J of all of MuJoCo's constraints, dense (nefc, nv)."""
        model, data = self.model, self.data
        if not mujoco.mj_isSparse(model):
            return np.array(data.efc_J).reshape(data.nefc, model.nv)
        rows = np.zeros((data.nefc, model.nv))
        numbers, columns = np.array(data.efc_J).ravel(), np.array(data.efc_J_colind).ravel()
        for i in range(data.nefc):
            part = slice(data.efc_J_rowadr[i], data.efc_J_rowadr[i] + data.efc_J_rownnz[i])
            rows[i, columns[part]] = numbers[part]
        return rows

    def _find_bodies(self) -> None:
        trees = np.array(self.model.dof_treeid)
        owner = list(range(self.model.ntree))
        for row in self.rows:
            joined = {owner[t] for t in trees[row != 0]}
            if len(joined) > 2:
                owner = [min(joined) if t in joined else t for t in owner]
        groups = np.array([owner[t] for t in trees], dtype=int)
        self.bodies = [np.flatnonzero(groups == g) for g in sorted(set(groups))]

    def _inertia(self) -> np.ndarray:
        """M, dense (nv, nv)."""
        inertia = np.empty((self.model.nv, self.model.nv))
        for i, unit in enumerate(np.eye(self.model.nv)):
            mujoco.mj_mulM(self.model, self.data, inertia[i], unit)
        return (inertia + inertia.T) / 2

    def _sides(self, jacobian: np.ndarray) -> tuple[int, np.ndarray, dict[str, Any]]:
        """(body, its J, the other body and its J if there is one) of rows."""
        touched = [b for b, dofs in enumerate(self.bodies) if np.any(jacobian[:, dofs])] or [0]
        first = jacobian[:, self.bodies[touched[0]]]
        if len(touched) == 1:
            return touched[0], first, {}
        return touched[0], first, {"other": touched[1], "other_jacobian": jacobian[:, self.bodies[touched[1]]]}

    def _add(self, row: int) -> int:
        """Adds what begins at a row of MuJoCo's constraints. Returns the row after it."""
        data, kinds = self.data, mujoco.mjtConstraint
        kind = kinds(int(data.efc_type[row]))
        if kind in (kinds.mjCNSTR_CONTACT_FRICTIONLESS, kinds.mjCNSTR_CONTACT_PYRAMIDAL, kinds.mjCNSTR_CONTACT_ELLIPTIC):
            number = int(data.efc_id[row])
            self._add_contact(row, number)
            dimension = data.contact[number].dim
            return row + (2 * (dimension - 1) if kind == kinds.mjCNSTR_CONTACT_PYRAMIDAL else dimension)
        if kind == kinds.mjCNSTR_EQUALITY:
            law = carom.Bilateral(error=float(data.efc_pos[row]), correction=self.correction)
        elif kind in (kinds.mjCNSTR_FRICTION_DOF, kinds.mjCNSTR_FRICTION_TENDON):
            law = carom.DryFriction(effort_limit=float(data.efc_frictionloss[row]))
        else:
            law = carom.JointLimit(gap=float(data.efc_pos[row]), correction=self.correction)
        body, first, other = self._sides(self.rows[row:row + 1])
        self.places.append(("constraint", self.problem.add_constraint(body, first, law, **other), row, -1))
        return row + 1

    def _add_contact(self, row: int, number: int) -> None:
        contact = self.data.contact[number]
        friction = np.array(contact.friction)
        if contact.dim > 1 and friction[0] != friction[1]:
            raise ValueError(f"carom.mujoco: contact {number}: expected equal friction along both tangents, "
                             f"got {friction[0]} and {friction[1]}")
        mu = float(friction[0]) if contact.dim > 1 else 0.0
        frame = np.array(contact.frame).reshape(3, 3)
        linear, angular = np.zeros((3, self.model.nv)), np.zeros((3, self.model.nv))
        for geom, sign in zip(contact.geom, (-1, 1)):
            moved, turned = np.zeros_like(linear), np.zeros_like(angular)
            mujoco.mj_jac(self.model, self.data, moved, turned, contact.pos, self.model.geom_bodyid[geom])
            linear += sign * moved
            angular += sign * turned
        order = [1, 2, 0]  # MuJoCo has the normal first
        gap = float(contact.dist)
        if contact.dim < 4:
            body, first, other = self._sides(frame[order] @ linear)
            self.places.append(("contact", self.problem.add_contact(body, first, mu, gap, correction=self.correction, **other),
                                row, number))
            return
        turns = frame[[0]] if contact.dim == 4 else frame[[1, 2, 0]]
        law = carom.WrenchContact(mu, gap, shape="torsional" if contact.dim == 4 else "rolling",
                                  torsional_friction=float(friction[2]),
                                  rolling_friction=float(friction[3]) if contact.dim == 6 else 0.0,
                                  correction=self.correction)
        body, first, other = self._sides(np.vstack([frame[order] @ linear, turns @ angular]))
        self.places.append(("wrench", self.problem.add_constraint(body, first, law, **other), row, number))

    def write(self, solution: "carom.Solution") -> None:
        """Writes accelerations and forces where MuJoCo's own solver does."""
        data = self.data
        after = np.empty(self.model.nv)
        starts = np.cumsum([0, *(len(dofs) for dofs in self.bodies)])
        for b, dofs in enumerate(self.bodies):
            after[dofs] = solution.velocity[starts[b]:starts[b + 1]]
        data.qacc[:] = (after - data.qvel) / self.h
        data.qfrc_constraint[:] = self.inertia @ (data.qacc - data.qacc_smooth)
        data.qacc_warmstart[:] = data.qacc
        for kind, number, row, contact in self.places:
            if kind == "constraint":
                data.efc_force[row] = np.ravel(solution.constraint_impulses[number])[0] / self.h
            elif kind == "contact":
                t1, t2, n = solution.impulse[number] / self.h
                self._write_contact(row, contact, np.array([n, t1, t2]))
            else:
                t1, t2, n, *turns = np.ravel(solution.constraint_impulses[number]) / self.h
                spin = turns if len(turns) == 1 else [turns[2], turns[0], turns[1]]
                self._write_contact(row, contact, np.array([n, t1, t2, *spin]))

    def _write_contact(self, row: int, number: int, force: np.ndarray) -> None:
        """Forces in MuJoCo's order, normal first, as its cone has them."""
        contact = self.data.contact[number]
        force = force[:contact.dim]
        if self.data.efc_type[row] != int(mujoco.mjtConstraint.mjCNSTR_CONTACT_PYRAMIDAL):
            self.data.efc_force[row:row + contact.dim] = force
            return
        # What mju_decodePyramid() reads as this force; outside of the pyramid some facets are negative.
        friction = np.array(contact.friction)[:contact.dim - 1]
        share = np.divide(force[1:], friction, out=np.zeros(contact.dim - 1), where=friction > 0)
        normal = force[0] / (contact.dim - 1)
        facets = np.column_stack([normal + share, normal - share]).ravel() / 2
        self.data.efc_force[row:row + len(facets)] = facets
