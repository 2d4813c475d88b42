# SPDX-License-Identifier: BSD-3-Clause
"""Contact physics: frictional contact, impacts, certificates, derivatives.

    import carom, numpy as np

    problem = carom.ContactProblem(0.01)                       # a time step of 10 ms
    block = problem.add_body(2 * np.eye(3), [0.02, 0, -0.0981])
    problem.add_contact(block, np.eye(3), friction=0.5)
    solution = carom.solve(problem)
    print(solution.velocity, solution.impulse, solution.residual)

Arrays are numpy arrays of doubles; anything that numpy makes one of is taken. Units are SI.
carom.torch, carom.jax, carom.mujoco, carom.newton and carom.pinocchio are imported when they are first used.
"""
from typing import TYPE_CHECKING, Any

try:
    from carom import _core

    _in_main_interpreter = _core._is_main_interpreter()
except ImportError as fault:
    if "subinterpreters" not in str(fault):  # the words of Python 3.12 and later, which refuses isolated interpreters itself
        raise
    _in_main_interpreter = False
if not _in_main_interpreter:
    raise ImportError("carom works in the main interpreter of a process only, not in sub-interpreters: its types are "
                      "shared by all of them")

from carom._core import (
    AnswerChange,
    Batch,
    BatchGradients,
    BatchSolution,
    Bilateral,
    Certificate,
    ContactProblem,
    DryFriction,
    FrictionCone,
    Gradients,
    Impact,
    ImpactChange,
    ImpactGradients,
    ImpactStep,
    ImpactStepDerivative,
    ImpulseProblem,
    ImpulseSolution,
    JointLimit,
    Motor,
    Outcomes,
    Recorder,
    Solution,
    Solver,
    StateChange,
    Tendon,
    Uniqueness,
    WrenchContact,
    __version__,
    certify,
    classify,
    impact,
    outcomes,
    project,
    read,
    solve,
    solve_batch,
    write,
)

try:
    from carom._core import Simulation, simulate
except ImportError:  # built without the reader of JSON
    from carom._without import Simulation, simulate

if not TYPE_CHECKING:  # a checker of types is told by `import carom.torch`, and so need not read torch and jax

    def __getattr__(name: str) -> Any:
        """The layers: what they import takes seconds, and may not be installed."""
        if name in ("jax", "mujoco", "newton", "pinocchio", "torch"):
            import importlib

            return importlib.import_module(f"carom.{name}")
        raise AttributeError(f"module 'carom' has no attribute {name!r}")


__all__ = [
    "AnswerChange",
    "Batch",
    "BatchGradients",
    "BatchSolution",
    "Bilateral",
    "Certificate",
    "ContactProblem",
    "DryFriction",
    "FrictionCone",
    "Gradients",
    "Impact",
    "ImpactChange",
    "ImpactGradients",
    "ImpactStep",
    "ImpactStepDerivative",
    "ImpulseProblem",
    "ImpulseSolution",
    "JointLimit",
    "Motor",
    "Outcomes",
    "Recorder",
    "Simulation",
    "Solution",
    "Solver",
    "StateChange",
    "Tendon",
    "Uniqueness",
    "WrenchContact",
    "__version__",
    "certify",
    "classify",
    "impact",
    "outcomes",
    "project",
    "read",
    "simulate",
    "solve",
    "solve_batch",
    "write",
]
