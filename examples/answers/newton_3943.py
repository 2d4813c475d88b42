# SPDX-License-Identifier: BSD-3-Clause
"""Which friction coefficient holds a patch of cloth in a pinch for ever?

https://github.com/newton-physics/newton/issues/3943 (Newton 1.5.0, SolverVBD): friction that fades out below a slip
speed eps is zero at rest, so that under a tangential load W a contact creeps at W eps/(2 mu N). Two pads that overlap
a cloth by 5.5 mm lose it at every coefficient up to mu = 64.

The right answer is a threshold: a load below mu N per pad is held, at rest, for ever. Here a patch of 5 g is pinched
with 0.5 N per pad (the thread gives no force); eps = 1 cm/s in the column of the fading law is this project's choice.
"""

import carom
import numpy as np
from rows import Row, show

MASS, PAD, LOAD, STEP, FADE = 0.005, 0.1, 0.5, 0.005, 0.01
WEIGHT = 9.81 * MASS


def fall(friction: float, seconds: float, direction: np.ndarray, load: float = LOAD) -> tuple[float, float]:
    """(way [m], speed [m/s]) of the patch along its weight, a direction in the pads' plane, after some seconds."""
    frame = np.array([[0, 1, 0], [0, 0, 1], [1, 0, 0]], float)  # rows (t1, t2, n): the pads move along x
    problem, solver = carom.ContactProblem(STEP), carom.Solver(tolerance=1e-12)
    velocity, way = np.zeros(5), np.zeros(3)
    for _ in range(round(seconds / STEP)):
        problem.reset(STEP)
        patch = problem.add_body(MASS * np.eye(3), velocity[:3] + STEP * 9.81 * direction)
        for side, speed in ((1, velocity[3]), (-1, velocity[4])):  # a pad left of the patch, one right of it
            pad = problem.add_body([[PAD]], [speed + STEP * load / PAD])  # pushed towards the patch
            problem.add_contact(patch, side * frame, friction, other=pad, other_jacobian=[[0], [0], [-1]])
        velocity = solver.solve(problem).velocity
        way += STEP * velocity[:3]
    return float(way @ direction), float(velocity[:3] @ direction)


def main(directions: tuple[float, ...] = (90.0, 30.0)) -> list[Row]:
    rows = []
    for degrees in directions:
        down = np.array([0, np.cos(np.radians(degrees)), -np.sin(np.radians(degrees))])
        for friction in (0.1, 0.5, 4.0, 64.0):
            creep = WEIGHT * FADE / (2 * friction * LOAD)
            rows.append(
                Row(
                    f"mu = {friction:g}: sinks in 5 s, weight at {degrees:g} deg [mm]",
                    0.0,
                    1e3 * fall(friction, 5.0, down)[0],
                    {"fading law": 5e3 * creep},
                )
            )
        for friction in (0.02, 0.04):  # 2 mu N < W: it slides out
            rows.append(
                Row(
                    f"mu = {friction:g}: speed after 0.2 s, weight at {degrees:g} deg [m/s]",
                    0.2 * (9.81 - 2 * friction * LOAD / MASS),
                    fall(friction, 0.2, down)[1],
                )
            )
    return show(f"A patch of 5 g between two pads, held from mu = {WEIGHT / (2 * LOAD):.3f} on", rows)


if __name__ == "__main__":
    main()
