# SPDX-License-Identifier: BSD-3-Clause
"""The child: one bundled problem by one solver, to one residual, written as JSON to a file.

    problem_child.py FILE SOLVER TARGET ANSWER

The solver's own tolerance is lowered by factors of ten, from the target times ten on, until the residual of
problem_data.py is reached; the time is the shortest of six runs that reach it. Pinocchio's is its ADMM solver, from
zero, on the matrix W + R, which it gets made; its Gauss-Seidel stops by a measure of its own and is not here."""

import json
import pathlib
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import numpy as np  # noqa: E402
import problem_data  # noqa: E402


def carom_solver(path, problem):
    import carom
    given = carom.read(path)

    def solve(tolerance):
        solver, start = carom.Solver(law="convex", tolerance=tolerance), np.zeros(given.velocity_count)
        solver.solve(given, guess=start)  # memory grows
        begin = time.perf_counter()
        solution = solver.solve(given, guess=start)
        seconds = time.perf_counter() - begin
        return solution.impulse.ravel(), seconds, solution.iterations
    return solve


def pinocchio_solver(path, problem):
    import pinocchio as pin
    model = pin.Model()
    models, data = pin.StdVec_ConstraintModel(), pin.StdVec_ConstraintData()
    for friction in problem.friction:
        contact = pin.PointContactConstraintModel(model, 0)
        contact.setFriction(float(friction))
        models.append(pin.ConstraintModel(contact))
    for one in models:
        data.append(one.createData())
    matrix = problem.delassus + np.diag(problem.compliance)

    def solve(tolerance):
        settings = pin.ADMMSolverSettings()
        settings.max_iterations, settings.solve_ncp = 100000, False
        for name in ("absolute_feasibility_tol", "relative_feasibility_tol", "absolute_complementarity_tol",
                     "relative_complementarity_tol"):
            setattr(settings, name, tolerance)
        solver, result = pin.ADMMConstraintSolver(problem.bias.size), pin.ADMMSolverResult()
        operator = pin.DelassusOperatorDense(matrix)
        begin = time.perf_counter()
        solver.solve(operator, problem.bias, models, data, settings, result)
        seconds = time.perf_counter() - begin
        return np.array(result.retrieveConstraintImpulses()).ravel(), seconds, result.iterations
    return solve


SOLVERS = {"carom": carom_solver, "pinocchio": pinocchio_solver}


def main(arguments):
    path, name, target, answer = arguments
    target = float(target)
    problem = problem_data.read(path)
    solve = SOLVERS[name](path, problem)
    best = None
    for k in range(6):
        impulse, seconds, iterations = solve(target * 10.0 ** (1 - k))
        reached = problem_data.residual(problem, np.asarray(impulse, float))
        best = reached if best is None else min(best, reached)
        if reached <= target:
            seconds = min([seconds] + [solve(target * 10.0 ** (1 - k))[1] for _ in range(5)])
            result = {"seconds": seconds, "residual": reached, "iterations": int(iterations)}
            break
    else:
        result = {"missed": best if np.isfinite(best) else None}
    pathlib.Path(answer).write_text(json.dumps(result), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
