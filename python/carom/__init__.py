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
    Bilateral,
    ContactProblem,
    DryFriction,
    JointLimit,
    Motor,
    Solution,
    Solver,
    Tendon,
    WrenchContact,
    __version__,
    solve,
)

__all__ = [
    "Bilateral",
    "ContactProblem",
    "DryFriction",
    "JointLimit",
    "Motor",
    "Solution",
    "Solver",
    "Tendon",
    "WrenchContact",
    "__version__",
    "solve",
]
