# SPDX-License-Identifier: BSD-3-Clause
"""Contact physics: frictional contact, impacts, certificates, derivatives.

    import carom, numpy as np

    problem = carom.ContactProblem(0.01)                       # a time step of 10 ms
    block = problem.add_body(2 * np.eye(3), [0.02, 0, -0.0981])
    problem.add_contact(block, np.eye(3), friction=0.5, stiffness=1e6)
    solution = carom.solve(problem)
    print(solution.velocity, solution.impulse, solution.error_bound)

Arrays are numpy arrays of doubles; anything that numpy makes one of is taken. Units are SI.
"""
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
    ImpulseProblem,
    ImpulseSolution,
    JointLimit,
    Motor,
    Outcomes,
    Solution,
    Solver,
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
    "ImpulseProblem",
    "ImpulseSolution",
    "JointLimit",
    "Motor",
    "Outcomes",
    "Simulation",
    "Solution",
    "Solver",
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
