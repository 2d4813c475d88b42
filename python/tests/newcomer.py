# SPDX-License-Identifier: BSD-3-Clause
"""The first ten lines of a new user, run on every wheel: a block of 2 kg that is pushed and held by friction."""
import carom
import numpy as np

problem = carom.ContactProblem(0.01)  # one time step of 10 ms
block = problem.add_body(2 * np.eye(3), [0.02, 0, -0.0981])
problem.add_contact(block, np.eye(3), friction=0.5)
solution = carom.solve(problem)
assert solution.status == "converged", solution
assert np.abs(solution.velocity).max() < 1e-12, solution.velocity  # 0.02 m/s is less than 0.5 of 0.0981
assert abs(np.ravel(solution.impulse)[2] - 2 * 0.0981) < 1e-9, solution.impulse  # [N·s], along the normal
print(solution)
