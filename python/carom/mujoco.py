# SPDX-License-Identifier: BSD-3-Clause
"""MuJoCo with rigid contact under Coulomb's law.

    import carom.mujoco, mujoco

    model = mujoco.MjModel.from_xml_path("gripper.xml")
    data = mujoco.MjData(model)
    stepper = carom.mujoco.Stepper()
    while data.time < 2:
        stepper.step(model, data)                              # in the place of mujoco.mj_step

MuJoCo finds the contacts and computes everything but the forces of the constraints. Contacts are rigid and obey
Coulomb's law, whatever solref and solimp say. Limits and equalities are rigid too, and friction of joints and tendons
holds without creep up to its loss. Other laws can be asked for, MuJoCo's own among them.

MuJoCo knows contacts only within the margin of the geometries, and a rigid contact has to be known before it closes: a
Stepper therefore widens the margins of the model to what its geometries may approach each other in a step.
"""
import copy
import os
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import mujoco
import numpy as np
import numpy.typing

from carom._core import MujocoAnswer as Answer
from carom._core import MujocoSolver

__all__ = ["Answer", "Batch", "Stepper", "give_margin", "step"]

_EULER = int(mujoco.mjtIntegrator.mjINT_EULER)
_IMPLICIT = (int(mujoco.mjtIntegrator.mjINT_IMPLICIT), int(mujoco.mjtIntegrator.mjINT_IMPLICITFAST))
_EXPLICIT_DAMPING = int(mujoco.mjtDisableBit.mjDSBL_EULERDAMP)
_STATE = mujoco.mjtState.mjSTATE_INTEGRATION


def give_margin(model: Any, margin: float) -> None:
    """Widens the margin of every geometry and pair to `margin` [m], >= 0, at the least."""
    if not 0 <= margin < np.inf:
        raise ValueError(f"margin: expected a finite number >= 0, got {margin}")
    model.geom_margin[:] = np.maximum(model.geom_margin, margin)
    model.pair_margin[:] = np.maximum(model.pair_margin, margin)


def step(model: Any, data: Any, tolerance: float = 1e-8, correction: float = 0.2) -> Answer:
    """Advances by a step, as Stepper(tolerance, correction).step(model, data): without a guess of the impulses."""
    return Stepper(tolerance, correction).step(model, data)


class Stepper:
    """Takes steps one after the other; the answer of one is the guess of the next.

    tolerance [-]: residual at which a solve ends, > 0. correction [-], in [0, 1]: the share of a penetration that a step
    takes back, and of the error of an equality. law: "rigid"; "coulomb", the same with limits, equalities and friction of
    joints as MuJoCo has them; "soft_coulomb", with MuJoCo's softness of contacts as well; "soft", MuJoCo's own law, solved
    to the tolerance. margin [m]: None widens the margins of the model's geometries from step to step to what they may
    approach each other, unless contacts are soft: those push from the margin on. A number leaves the margins as they are,
    and widens them to that once, as give_margin() does.
    """

    def __init__(self, tolerance: float = 1e-8, correction: float = 0.2, law: str = "rigid",
                 margin: "float | None" = None) -> None:
        self._solver = MujocoSolver(law, tolerance, correction)
        self._margin = 0.0 if margin is None and law in ("soft", "soft_coulomb") else margin
        self._model: Any = None

    def step(self, model: Any, data: Any) -> Answer:
        """Advances by a step of model.opt.timestep. model, data: of the package mujoco.

        The integrators Euler, implicitfast and implicit are known; the last one is taken as implicitfast. Returns the
        answer: answer.impulse has a row (t1, t2, n) [N s] for each plain contact that acts, in the order of data.contact.
        Where it is not finite nothing moves. ValueError: another integrator, or a contact whose friction no force carries.
        """
        options = model.opt
        implicit = _is_implicit(options)
        integration = 2 if implicit else not options.disableflags & _EXPLICIT_DAMPING
        if self._margin is not None and self._model is not model:
            give_margin(model, self._margin)
            self._model = model
        before = data.qpos.copy()
        answer = None
        try:
            for margins in (0,) if self._margin is not None else (1, 2):
                mujoco.mj_step1(model, data)
                mujoco.mj_fwdActuation(model, data)
                mujoco.mj_fwdAcceleration(model, data)
                if implicit:
                    _derive_forces(model, data)
                answer = self._solver.solve(model, data, integration, margins)
                if answer is not None:
                    break
        except BaseException:
            data.qpos[:] = before  # mj_step1() makes quaternions of unit length
            raise
        assert answer is not None  # the second time margins are wide enough
        if answer.status == "not_finite":
            data.qpos[:] = before
            return answer
        mujoco.mj_sensorAcc(model, data)
        if implicit:
            _integrate(model, data)
        else:
            mujoco.mj_Euler(model, data)
        return answer


class Batch:
    """Many data of one model, which are stepped together on several threads.

        batch = carom.mujoco.Batch(model, 256)
        for _ in range(1000):
            batch.step(policy(batch.qpos, batch.qvel))
        batch.data[3]                                          # an mjData, as everything else of MuJoCo takes it

    count: of the data, >= 0, each at the model's reference. threads: None for as many as the process may use. options: as
    Stepper's. The batch keeps copies of the model: later changes of the model do not reach it. Each of the data has the
    same bits as if it were stepped alone.
    """

    def __init__(self, model: Any, count: int, threads: "int | None" = None, **options: Any) -> None:
        if count < 0:
            raise ValueError(f"count: expected a number >= 0, got {count}")
        if threads is not None and threads < 1:
            raise ValueError(f"threads: expected a number >= 1, got {threads}")
        self._models = [copy.copy(model) for _ in range(count)]  # their margins differ
        self.data = [mujoco.MjData(own) for own in self._models]
        self._steppers = [Stepper(**options) for _ in range(count)]
        self._threads = max(1, min(threads or os.cpu_count() or 1, count))
        self._pool = ThreadPoolExecutor(self._threads)

    def __len__(self) -> int:
        return len(self.data)

    @property
    def qpos(self) -> "numpy.typing.NDArray[np.float64]":
        """(count, nq) [m, rad], a fresh array."""
        return np.array([data.qpos for data in self.data])

    @property
    def qvel(self) -> "numpy.typing.NDArray[np.float64]":
        """(count, nv) [m/s, rad/s], a fresh array."""
        return np.array([data.qvel for data in self.data])

    def step(self, ctrl: "numpy.typing.ArrayLike | None" = None) -> "list[Answer]":
        """Advances all data by a step. ctrl: (count, nu) or (nu,), as data.ctrl; None leaves it. Returns their answers.

        ValueError: as Stepper.step(), of the first of the data that has a fault; the others have made their step.
        """
        if ctrl is not None and self.data:
            for data, own in zip(self.data, np.broadcast_to(ctrl, (len(self), self.data[0].ctrl.size))):
                data.ctrl[:] = own
        bounds = np.linspace(0, len(self), self._threads + 1).astype(int)
        parts = self._pool.map(self._step_part, bounds[:-1], bounds[1:])
        answers = [answer for part in parts for answer in part]
        for answer in answers:
            if isinstance(answer, Exception):
                raise answer
        return answers

    def _step_part(self, first: int, last: int) -> "list[Any]":
        answers: "list[Any]" = []
        for i in range(first, last):
            try:
                answers.append(self._steppers[i].step(self._models[i], self.data[i]))
            except ValueError as fault:
                answers.append(fault)
        return answers


def _is_implicit(options: Any) -> bool:
    integrator = options.integrator
    if integrator == _EULER:
        return False
    if integrator in _IMPLICIT:
        return True
    raise ValueError('carom.mujoco: expected the integrator Euler, implicitfast or implicit, such as '
                     f'<option integrator="implicitfast"/>, got {mujoco.mjtIntegrator(integrator).name}')


def _integrate(model: Any, data: Any) -> None:
    """Advances by implicitfast, whatever the model's integrator is."""
    integrator = model.opt.integrator
    model.opt.integrator = _IMPLICIT[1]
    try:
        mujoco.mj_implicit(model, data)
    finally:
        model.opt.integrator = integrator


def _derive_forces(model: Any, data: Any) -> None:
    """Writes data.qDeriv, the derivative of the forces by the velocity, which MuJoCo computes only in its step."""
    state = np.empty(mujoco.mj_stateSize(model, _STATE))
    mujoco.mj_getState(model, data, state, _STATE)
    data.qfrc_constraint[:] = 0
    _integrate(model, data)
    mujoco.mj_setState(model, data, state, _STATE)
